//! Which threads may use a worker.

use std::ffi::c_uint;

use crate::raw;

/// Which threads may use a worker, its endpoints and its requests: [`Single`], [`Serialized`] or [`Multi`].
pub trait ThreadMode: sealed::Sealed + 'static {
    #[doc(hidden)]
    const RAW: c_uint;
    #[doc(hidden)]
    const NAME: &'static str;
}

/// Only the thread that made the worker. Neither it nor its endpoints and requests can leave the thread:
///
/// ```compile_fail
/// fn leave(worker: dtype_ucx::Worker<dtype_ucx::Single>) {
///     std::thread::spawn(move || worker.progress());
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[doc(alias = "UCS_THREAD_MODE_SINGLE")]
pub enum Single {}

/// One thread at a time. A worker can move to another thread together with its endpoints, if nothing else belongs to it
/// ([`Worker::detach`](crate::Worker::detach)). UCX takes no locks.
///
/// The worker by itself cannot leave the thread, because its endpoints and requests may still be there:
///
/// ```compile_fail
/// fn leave(worker: dtype_ucx::Worker<dtype_ucx::Serialized>) {
///     std::thread::spawn(move || worker.progress());
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[doc(alias = "UCS_THREAD_MODE_SERIALIZED")]
pub enum Serialized {}

/// Any threads, at the same time: UCX takes locks.
///
/// ```
/// fn leave(worker: dtype_ucx::Worker<dtype_ucx::Multi>) {
///     std::thread::spawn(move || worker.progress());
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[doc(alias = "UCS_THREAD_MODE_MULTI")]
pub enum Multi {}

impl ThreadMode for Single {
    const RAW: c_uint = raw::THREAD_MODE_SINGLE;
    const NAME: &'static str = "single";
}

impl ThreadMode for Serialized {
    const RAW: c_uint = raw::THREAD_MODE_SERIALIZED;
    const NAME: &'static str = "serialized";
}

impl ThreadMode for Multi {
    const RAW: c_uint = raw::THREAD_MODE_MULTI;
    const NAME: &'static str = "multi";
}

/// Functions that the threads of a worker of mode `M` may call: any functions for [`Single`], those that are `Send` for
/// [`Serialized`] and [`Multi`].
///
/// ```compile_fail
/// use std::{cell::Cell, rc::Rc};
/// use dtype_ucx::{Context, Multi};
/// let worker = Context::new().unwrap().worker::<Multi>().unwrap();
/// let calls = Rc::new(Cell::new(0));
/// worker.handle_active(1, move |_| calls.set(calls.get() + 1));
/// ```
#[diagnostic::on_unimplemented(
    message = "a worker of mode `{M}` cannot have `{Self}` as a handler",
    label = "must be `Send`",
    note = "other threads may call the handlers of a worker that they can use"
)]
pub trait RunsIn<M>: sealed::RunsIn<M> {}

impl<F: sealed::RunsIn<M>, M> RunsIn<M> for F {}

mod sealed {
    /// Other crates cannot implement this trait, because workers rely on the implementations here.
    pub trait RunsIn<M> {}
    impl<F> RunsIn<super::Single> for F {}
    impl<F: Send> RunsIn<super::Serialized> for F {}
    impl<F: Send> RunsIn<super::Multi> for F {}

    pub trait Sealed {}
    impl Sealed for super::Single {}
    impl Sealed for super::Serialized {}
    impl Sealed for super::Multi {}
}
