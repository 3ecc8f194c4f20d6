//! Moving a worker, with all that belongs to it, to another thread.

use crate::endpoint::Endpoint;
use crate::mode::Serialized;
use crate::worker::Worker;

/// A worker and its endpoints on their way to another thread, from [`Worker::detach`]. Dropping this drops the worker and the
/// endpoints.
#[derive(Debug)]
#[must_use = "the worker is in it"]
pub struct Detached {
    // Each endpoint owns the worker, too.
    endpoints: Vec<Endpoint<Serialized>>,
    worker: Worker<Serialized>,
}

// SAFETY: nothing else refers to the worker (`detach`), so only the thread that has this uses it, as UCX requires of such a
// worker. The worker's operations have only data that can be sent (`Operation`), and its handlers only functions that can be
// sent (`RunsIn`).
unsafe impl Send for Detached {}

impl Worker<Serialized> {
    /// Takes the worker and its endpoints out of this thread, so that another thread can use them.
    ///
    /// # Errors
    ///
    /// The worker and the endpoints, unchanged, if anything else belongs to the worker: another clone of it, an endpoint, a
    /// request, [`Events`](crate::Events), or a [`Handler`](crate::Handler) that is not [kept](crate::Handler::keep). Also if
    /// one of the endpoints belongs to another worker.
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
        // Only this thread has clones, so their number cannot change meanwhile.
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
