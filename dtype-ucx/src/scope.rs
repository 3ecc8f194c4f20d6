//! Several messages at the same time, from and into borrowed memory.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::elements::{Elements, ElementsMut};
use crate::endpoint::Endpoint;
use crate::error::{Error, check};
use crate::header::Header;
use crate::mode::ThreadMode;
use crate::operation::{self, Operation, Outcome};
use crate::outbound::Outbound;
use crate::raw;
use crate::request::Handle;
use crate::tagged::{Received, Tags, received};
use crate::worker::Worker;

/// Starts messages that borrow what they are sent from or received into: from [`Worker::scope`].
pub struct Scope<'env, M: ThreadMode> {
    worker: Worker<M>,
    started: RefCell<Vec<Entry<'env, M>>>,
    /// `'env` is what the caller of [`Worker::scope`] says, and neither longer nor shorter.
    env: PhantomData<&'env mut &'env ()>,
}

/// A message that was started in a scope.
struct Entry<'env, M: ThreadMode> {
    message: Message<'env>,
    // Frees the request; the operation has completed by then.
    handle: Handle<M>,
    /// Whether its result was returned.
    settled: bool,
}

enum Message<'env> {
    Outgoing { operation: Arc<Operation<Outbound<'env>>>, call: &'static str },
    Incoming(Arc<Operation<ElementsMut<'env>>>),
}

impl Message<'_> {
    fn outcome(&self) -> Option<Outcome> {
        match self {
            Self::Outgoing { operation, .. } => operation.outcome(),
            Self::Incoming(operation) => operation.outcome(),
        }
    }
}

/// A message that was started in a scope. Its result can be waited for here, or is part of the scope's.
#[derive(Clone, Copy)]
pub struct Scoped<'s, 'env, M: ThreadMode> {
    scope: &'s Scope<'env, M>,
    index: usize,
}

impl<M: ThreadMode> Worker<M> {
    /// Calls a function that starts messages, and waits until all of them have completed.
    ///
    /// The messages may borrow anything that outlives the scope. UCX may use it until this function returns, however the
    /// scope is left: if the function returns an error or panics, the receives that no message has matched are
    /// cancelled, and all other messages are waited for, as UCX cannot take them back.
    ///
    /// # Errors
    ///
    /// The function's error, or else the first error of a message that was not returned by [`Scoped::wait`].
    ///
    /// ```
    /// # use dtype_ucx::{Context, Error, Single};
    /// # let worker = Context::with_settings([("TLS", "self")])?.worker::<Single>()?;
    /// # let (left, right) = (worker.connect(&worker.address()?)?, worker.connect(&worker.address()?)?);
    /// let faces = [[(1_u8, 0.5_f64); 100], [(2, 0.25); 100]];
    /// let mut halos = [[(0, 0.0); 100]; 2];
    /// let [from_left, from_right] = &mut halos;
    /// worker.scope(|scope| {
    ///     scope.recv_into(1, from_left)?;
    ///     scope.recv_into(2, from_right)?;
    ///     scope.send(&left, 2, &faces[0])?;
    ///     scope.send(&right, 1, &faces[1])?;
    ///     Ok(())
    /// })?;
    /// assert_eq!(halos, [faces[1], faces[0]]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn scope<'env, R>(
        &self,
        start: impl FnOnce(&Scope<'env, M>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let scope =
            Scope { worker: self.clone(), started: RefCell::new(Vec::new()), env: PhantomData };
        // `'env` is a parameter of this function, so it outlives the call: what the messages borrow stays borrowed until
        // the guard has waited for them.
        let left = Left(&scope);
        let result = start(&scope)?;
        // Nothing is cancelled: the guard finds all of them complete.
        scope.finish()?;
        drop(left);
        self.resume_panic();
        Ok(result)
    }
}

/// Cancels what can be cancelled when a scope is left, and waits for the rest. It lies on the stack of
/// [`Worker::scope`], so it cannot be leaked by the function that the scope calls.
struct Left<'a, 'env, M: ThreadMode>(&'a Scope<'env, M>);

impl<M: ThreadMode> Drop for Left<'_, '_, M> {
    fn drop(&mut self) {
        let started = self.0.started.borrow();
        for entry in started.iter().filter(|entry| entry.message.outcome().is_none()) {
            entry.handle.cancel();
        }
        for entry in started.iter() {
            self.0.worker.wait(|| entry.message.outcome());
        }
    }
}

impl<'env, M: ThreadMode> Scope<'env, M> {
    /// Starts to send a message.
    ///
    /// # Errors
    ///
    /// [`Error::OtherWorker`] if the endpoint is not one of the scope's worker; [`Error::ConnectionLost`],
    /// [`Error::Cancelled`], [`Error::Call`], if UCX reports them at once.
    pub fn send<'s>(
        &'s self,
        endpoint: &Endpoint<M>,
        tag: u64,
        elements: impl Into<Elements<'env>>,
    ) -> Result<Scoped<'s, 'env, M>, Error> {
        self.start(endpoint, Outbound::tagged(tag, elements.into()))
    }

    /// Starts to send an active message, as [`Endpoint::send_active`] does. The header is copied.
    ///
    /// # Errors
    ///
    /// Likewise, and [`Error::HeaderTooLong`].
    pub fn send_active<'s>(
        &'s self,
        endpoint: &Endpoint<M>,
        id: u8,
        header: impl Into<Header>,
        elements: impl Into<Elements<'env>>,
    ) -> Result<Scoped<'s, 'env, M>, Error> {
        let outbound = Outbound::active(endpoint, id, header.into(), elements.into())?;
        self.start(endpoint, outbound)
    }

    fn start<'s>(
        &'s self,
        endpoint: &Endpoint<M>,
        outbound: Outbound<'env>,
    ) -> Result<Scoped<'s, 'env, M>, Error> {
        // Only its own worker completes a send, and the scope makes progress with this one.
        if !endpoint.worker().is(&self.worker) {
            return Err(Error::OtherWorker);
        }
        let call = outbound.call();
        // SAFETY: one operation is started, with the callback for sends of these data, which it owns. The elements are
        // borrowed until the scope is left, which waits for the operation.
        let (operation, request) = unsafe {
            let unfinished = self.worker.unfinished();
            Operation::start(unfinished, outbound, |outbound: *mut Outbound<'env>, user_data| {
                (*outbound).start(endpoint, Operation::<Outbound<'env>>::sent, user_data)
            })
        };
        let handle = Handle::new(self.worker.clone(), request);
        Ok(self.keep(Message::Outgoing { operation, call }, handle))
    }

    /// Starts to receive a message into the elements, as [`Worker::recv_into`] does.
    ///
    /// # Errors
    ///
    /// [`Error::Call`], if UCX reports it at once.
    pub fn recv_into<'s>(
        &'s self,
        tags: impl Into<Tags>,
        elements: impl Into<ElementsMut<'env>>,
    ) -> Result<Scoped<'s, 'env, M>, Error> {
        let Tags { tag, mask } = tags.into();
        let incoming = self.worker.context().incoming();
        // SAFETY: one operation is started, with the callback for receives into elements. They are borrowed exclusively
        // until the scope is left, which waits for the operation.
        let (operation, request) = unsafe {
            let unfinished = self.worker.unfinished();
            Operation::start(
                unfinished,
                elements.into(),
                |elements: *mut ElementsMut<'env>, user_data| {
                    let (buffer, count, datatype) = (*elements).arguments(incoming);
                    let callback = Operation::<ElementsMut<'env>>::received;
                    let params = operation::receive_params(datatype, callback, user_data);
                    let (worker, buffer) = (self.worker.handle(), buffer.cast());
                    raw::ucp_tag_recv_nbx(worker, buffer, count, tag, mask, &raw const params)
                },
            )
        };
        let handle = Handle::new(self.worker.clone(), request);
        Ok(self.keep(Message::Incoming(operation), handle))
    }

    fn keep<'s>(&'s self, message: Message<'env>, handle: Handle<M>) -> Scoped<'s, 'env, M> {
        let mut started = self.started.borrow_mut();
        started.push(Entry { message, handle, settled: false });
        Scoped { scope: self, index: started.len() - 1 }
    }

    /// Waits for all messages. Returns the first error that was not returned before.
    fn finish(&self) -> Result<(), Error> {
        let mut result = Ok(());
        let count = self.started.borrow().len();
        for index in 0..count {
            let settled = self.settle(index);
            result = result.and(settled.map(drop));
        }
        result
    }

    /// Waits for a message. Its error is returned once.
    fn settle(&self, index: usize) -> Result<Option<Received>, Error> {
        let outcome = self.worker.wait(|| self.started.borrow()[index].message.outcome());
        let mut started = self.started.borrow_mut();
        let entry = &mut started[index];
        let first = !std::mem::replace(&mut entry.settled, true);
        match &entry.message {
            _ if !first => Ok(None),
            Message::Outgoing { call, .. } => check(call, outcome.status).map(|()| None),
            Message::Incoming(operation) => {
                // SAFETY: it has completed. Only this function uses the data, under an exclusive borrow.
                let elements = unsafe { operation.data_of_completed() };
                // SAFETY: the outcome is that of the receive with these elements.
                unsafe { received("ucp_tag_recv_nbx", outcome, elements) }.map(Some)
            }
        }
    }
}

impl<M: ThreadMode> Scoped<'_, '_, M> {
    /// Waits until the message is sent, or received. For a message that was received, the result has its tag and its
    /// length when it is first waited for, and `None` after that.
    ///
    /// # Errors
    ///
    /// As [`Endpoint::send`], [`Endpoint::send_active`] and [`Worker::recv_into`], when it is first waited for.
    pub fn wait(self) -> Result<Option<Received>, Error> {
        self.scope.settle(self.index)
    }
}

impl<M: ThreadMode> fmt::Debug for Scope<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

impl<M: ThreadMode> fmt::Debug for Scoped<'_, '_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scoped").field("index", &self.index).finish_non_exhaustive()
    }
}
