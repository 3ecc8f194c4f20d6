//! Moving a worker, with all that belongs to it, to another thread.

use crate::endpoint::Endpoint;
use crate::mode::Serialized;
use crate::worker::Worker;

/// A worker and its endpoints, on their way to another thread: from [`Worker::detach`]. Dropping it drops them.
#[derive(Debug)]
#[must_use = "the worker is in it"]
pub struct Detached {
    // Each endpoint owns the worker, too.
    endpoints: Vec<Endpoint<Serialized>>,
    worker: Worker<Serialized>,
}

// SAFETY: nothing else has the worker (`detach`), so the thread that has this is the only one that uses it, as UCX requires of
// such a worker. Its operations have data that can be sent (`Operation`), and its handlers have functions that can (`RunsIn`).
unsafe impl Send for Detached {}

impl Worker<Serialized> {
    /// Takes the worker and its endpoints out of this thread, so that another one can use them.
    ///
    /// # Errors
    ///
    /// Both, unchanged, if they are not all that there is: if there is another clone of the worker, endpoint, request,
    /// [`Events`](crate::Events) or [`Handler`](crate::Handler) that is not [kept](crate::Handler::keep), or one of the endpoints
    /// is another worker's.
    ///
    /// ```
    /// use dtype_ucx::{Context, Error, Serialized};
    /// # let context = Context::with_settings([("TLS", "self")])?;
    /// let worker = context.worker::<Serialized>()?;
    /// let peer = worker.connect(&worker.address()?)?;
    /// peer.send(7, &[(1_u8, 0.5_f64)])?;
    ///
    /// let detached = worker.detach(vec![peer]).expect("nothing else");
    /// let thread = std::thread::spawn(move || {
    ///     let (worker, _peers) = detached.attach();
    ///     worker.recv::<(u8, f64)>(7)
    /// });
    /// assert_eq!(thread.join().unwrap()?.0, [(1, 0.5)]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn detach(
        self,
        endpoints: Vec<Endpoint<Serialized>>,
    ) -> Result<Detached, (Self, Vec<Endpoint<Serialized>>)> {
        // Only this thread has clones, so their number does not change.
        let all = endpoints.iter().all(|endpoint| endpoint.worker().is(&self))
            && self.owners() == 1 + endpoints.len();
        if all { Ok(Detached { endpoints, worker: self }) } else { Err((self, endpoints)) }
    }
}

impl Detached {
    /// The worker and its endpoints, in the order in which they were given, for this thread.
    pub fn attach(self) -> (Worker<Serialized>, Vec<Endpoint<Serialized>>) {
        (self.worker, self.endpoints)
    }
}
