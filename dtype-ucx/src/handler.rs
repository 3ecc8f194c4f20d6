//! A handler for active messages, as the program owns it.

use std::fmt;

use crate::active::ActiveMessage;
use crate::error::Error;
use crate::mode::{RunsIn, ThreadMode};
use crate::operation;
use crate::worker::Worker;

/// A handler for active messages: from [`Worker::handle_active`]. Dropping it removes the handler.
#[must_use = "the handler is removed when this is dropped"]
pub struct Handler<M: ThreadMode> {
    /// The worker whose handler this is; `None` if the handler is kept.
    worker: Option<Worker<M>>,
    id: u8,
}

impl<M: ThreadMode> Worker<M> {
    /// Registers a function to be called for each active message with this id that a peer sends to this worker
    /// ([`Endpoint::send_active`](crate::Endpoint::send_active)), until the result is dropped.
    ///
    /// [`progress`](Self::progress), and all functions that block, call the function for each message, in the order of arrival.
    /// They do so outside UCX, so a handler may do anything, including sending and receiving. While one handler runs, no other
    /// handler of the worker runs, so it must not wait for another handler. If the function does not receive a message, the
    /// message is refused when the function returns; the sender sees no difference. Messages with an id without a handler are
    /// refused, too, and UCX logs a warning.
    ///
    /// If the function panics, it stays registered. The panic resumes in the call that has called it: in `progress`, or in a
    /// function that blocks. Before that, a function that blocks stops waiting, cancels what it can, and takes back the memory
    /// that was lent to UCX, within the worker's [time limit](Worker::time_limit), as a [scope](Worker::scope) does.
    ///
    /// A function that owns a clone of its worker keeps the worker alive as long as it is registered. It need not own one: each
    /// message [gives access to the worker](ActiveMessage::worker).
    ///
    /// # Errors
    ///
    /// [`Error::HandlerExists`] if the worker has a handler for this id; [`Error::Call`] if there is no memory.
    ///
    /// ```
    /// use std::cell::RefCell;
    /// use std::rc::Rc;
    /// use dtype_runtime::Datatype;
    /// use dtype_ucx::{Context, Error, Single};
    ///
    /// #[derive(Datatype, Clone, Debug, PartialEq)]
    /// struct Step {
    ///     time: f64,
    ///     last: bool,
    /// }
    /// # let worker = Context::with_settings([("TLS", "self")])?.worker::<Single>()?;
    /// # let peer = worker.connect(&worker.address()?)?;
    /// let came = Rc::new(RefCell::new(Vec::new()));
    /// let mine = came.clone();
    /// let handler = worker.handle_active(7, move |message| {
    ///     let step: Step = message.header_as().expect("a step");
    ///     let cells = message.recv::<(u8, f32)>().expect("cells");
    ///     mine.borrow_mut().push((step, cells));
    /// })?;
    ///
    /// let (step, cells) = (Step { time: 0.5, last: true }, vec![(1, 0.25); 10]);
    /// peer.send_active(7, &step, &cells)?;
    /// while came.borrow().is_empty() {
    ///     worker.progress();
    /// }
    /// assert_eq!(came.take(), [(step, cells)]);
    /// drop(handler);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias = "ucp_worker_set_am_recv_handler")]
    pub fn handle_active<F>(&self, id: u8, mut function: F) -> Result<Handler<M>, Error>
    where
        F: FnMut(ActiveMessage<'_, M>) + RunsIn<M> + 'static,
    {
        self.handlers()
            .set(id, move |worker, message| function(ActiveMessage::new(worker, message)))?;
        Ok(Handler { worker: Some(self.clone()), id })
    }
}

impl<M: ThreadMode> Handler<M> {
    /// The id of the messages.
    pub fn id(&self) -> u8 {
        self.id
    }

    /// Keeps the handler until the worker is destroyed.
    pub fn keep(mut self) {
        self.worker = None;
    }
}

impl<M: ThreadMode> Drop for Handler<M> {
    fn drop(&mut self) {
        if let Some(worker) = &self.worker {
            worker.handlers().remove(self.id);
            operation::wake();
        }
    }
}

impl<M: ThreadMode> fmt::Debug for Handler<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handler").field("id", &self.id).finish_non_exhaustive()
    }
}
