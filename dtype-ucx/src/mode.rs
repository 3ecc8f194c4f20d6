//! Which threads may use a worker.

use std::ffi::c_uint;

use crate::raw;

/// Which threads may use a worker, its endpoints and its requests: [`Single`] or [`Multi`].
pub trait ThreadMode: sealed::Sealed {
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

impl ThreadMode for Multi {
    const RAW: c_uint = raw::THREAD_MODE_MULTI;
    const NAME: &'static str = "multi";
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Single {}
    impl Sealed for super::Multi {}
}
