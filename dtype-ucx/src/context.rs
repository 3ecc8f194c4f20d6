//! The context: UCX's transports, as the environment or the program configures them.

use std::ffi::{c_int, c_uint};
use std::fmt;
use std::ptr;
use std::sync::Arc;

use dtype_ucp_generic::Message;

use crate::config::Config;
use crate::error::{Error, check};
use crate::fragments::{Discarded, Incoming, Outgoing};
use crate::process;
use crate::raw;

/// UCX, set up for a process (`ucp_context_h`). A clone is the same context; it is released with its last
/// [`Worker`](crate::Worker).
///
/// ```
/// use dtype_ucx::{Context, Single};
/// let context = Context::with_settings([("TLS", "self")])?;
/// let worker = context.worker::<Single>()?;
/// let to_myself = worker.connect(&worker.address()?)?;
/// to_myself.send(7, &[(1_u8, 2.5_f64)])?;
/// assert_eq!(worker.recv::<(u8, f64)>(7)?.0, [(1, 2.5)]);
/// # Ok::<(), dtype_ucx::Error>(())
/// ```
#[derive(Clone)]
#[doc(alias = "ucp_context_h")]
pub struct Context {
    inner: Arc<Inner>,
}

struct Inner {
    handle: raw::Context,
    /// The number that addresses and keys use for this context.
    number: u64,
    datatypes: Datatypes,
    /// Whether the context has `UCP_FEATURE_WAKEUP`.
    events: bool,
    /// Whether UCX's new protocols are enabled.
    new_protocols: bool,
}

// SAFETY: the context is made with `mt_workers_shared`, so that any thread may use it.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

/// The generic datatypes that carry all messages. A buffer is the address of an [`Outgoing`] message for the first, of an
/// [`Incoming`] one for the second, and of a [`Discarded`] one for the third.
struct Datatypes {
    outgoing: GenericHandle,
    incoming: GenericHandle,
    discarded: GenericHandle,
}

/// A generic datatype of UCX.
struct GenericHandle(raw::Datatype);

impl GenericHandle {
    /// The datatype whose buffers are addresses of an `M`.
    fn in_place<M: Message>() -> Result<Self, Error> {
        let mut handle = 0;
        let operations = raw::Operations::in_place::<M>();
        // SAFETY: UCX copies the table. Its functions do not use the context, which is null.
        let status = unsafe {
            raw::ucp_dt_create_generic(&raw const operations, ptr::null_mut(), &raw mut handle)
        };
        check("ucp_dt_create_generic", status)?;
        Ok(Self(handle))
    }
}

impl Drop for GenericHandle {
    fn drop(&mut self) {
        // SAFETY: the datatype was made by `in_place`. It belongs to a context whose last worker is destroyed, so no
        // message uses it.
        unsafe { raw::ucp_dt_destroy(self.0) };
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: the handle comes from `ucp_init_version`. Each worker owns the context, so all workers are destroyed.
        unsafe { raw::ucp_cleanup(self.handle) };
    }
}

impl Context {
    /// Sets up UCX with the environment variables `UCX_…`.
    ///
    /// Create the context after a `fork`, not before it.
    ///
    /// # Errors
    ///
    /// [`Error::Call`], for example if no transport can be used.
    #[doc(alias = "ucp_init")]
    pub fn new() -> Result<Self, Error> {
        Self::with_settings([])
    }

    /// Sets up UCX with the environment variables, overridden by these settings: names without `UCX_`, and values. UCX ignores
    /// a name that it does not know.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] if UCX refuses a setting; [`Error::Call`].
    #[doc(alias = "ucp_config_modify")]
    pub fn with_settings<'a>(
        settings: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, Error> {
        Self::set_up(settings, false)
    }

    /// As [`with_settings`](Self::with_settings), for workers that can [sleep until an event](crate::Worker::events). UCX
    /// then uses only transports that can wake a process: shared memory and networks, but not `self`.
    ///
    /// # Errors
    ///
    /// As [`with_settings`](Self::with_settings).
    #[doc(alias = "UCP_FEATURE_WAKEUP")]
    pub fn with_events<'a>(
        settings: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, Error> {
        Self::set_up(settings, true)
    }

    fn set_up<'a>(
        settings: impl IntoIterator<Item = (&'a str, &'a str)>,
        events: bool,
    ) -> Result<Self, Error> {
        let config = Config::read()?;
        for (name, value) in settings {
            config.set(name, value)?;
        }
        let datatypes = Datatypes {
            outgoing: GenericHandle::in_place::<Outgoing<'static>>()?,
            incoming: GenericHandle::in_place::<Incoming<'static>>()?,
            discarded: GenericHandle::in_place::<Discarded>()?,
        };
        let params = raw::Params {
            field_mask: raw::PARAM_FIELD_FEATURES | raw::PARAM_FIELD_MT_WORKERS_SHARED,
            features: raw::FEATURE_TAG
                | raw::FEATURE_RMA
                | raw::FEATURE_AM
                | if events { raw::FEATURE_WAKEUP } else { 0 },
            request_size: 0,
            request_init: ptr::null(),
            request_cleanup: ptr::null(),
            tag_sender_mask: 0,
            mt_workers_shared: c_int::from(true),
        };
        let (major, minor) = raw::API;
        let mut handle = ptr::null_mut();
        // SAFETY: the parameters have the fields of their mask, and the configuration was read. UCX only reads both.
        let status = unsafe {
            raw::ucp_init_version(major, minor, &raw const params, config.handle(), &raw mut handle)
        };
        check("ucp_init", status)?;
        let (number, new_protocols) = (process::fresh(), config.has_new_protocols());
        let inner = Inner { handle, number, datatypes, events, new_protocols };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Whether workers have events.
    pub(crate) fn has_events(&self) -> bool {
        self.inner.events
    }

    /// Whether UCX uses its new protocols.
    pub(crate) fn has_new_protocols(&self) -> bool {
        self.inner.new_protocols
    }

    /// The version of the UCX library: major, minor and release number.
    #[doc(alias = "ucp_get_version")]
    pub fn library_version() -> (u32, u32, u32) {
        let (mut major, mut minor, mut release): (c_uint, c_uint, c_uint) = (0, 0, 0);
        // SAFETY: the function writes the three numbers.
        unsafe { raw::ucp_get_version(&raw mut major, &raw mut minor, &raw mut release) };
        (major, minor, release)
    }

    pub(crate) fn handle(&self) -> raw::Context {
        self.inner.handle
    }

    /// The number that addresses and keys use for this context.
    pub(crate) fn number(&self) -> u64 {
        self.inner.number
    }

    /// The datatype for buffers that are [`Outgoing`] messages.
    pub(crate) fn outgoing(&self) -> raw::Datatype {
        self.inner.datatypes.outgoing.0
    }

    /// The datatype for buffers that are [`Incoming`] messages.
    pub(crate) fn incoming(&self) -> raw::Datatype {
        self.inner.datatypes.incoming.0
    }

    /// The datatype for buffers that are [`Discarded`] messages.
    pub(crate) fn discarded(&self) -> raw::Datatype {
        self.inner.datatypes.discarded.0
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").finish_non_exhaustive()
    }
}
