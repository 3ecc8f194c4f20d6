//! The driver's library, a device's primary context, and the errors of both.

use std::ffi::{CStr, c_char, c_int};
use std::ptr;
use std::sync::{Arc, OnceLock};

use cudarc::driver::sys::{self, CUdevice_attribute};

use crate::error::Error;

/// A device's primary context, retained.
#[derive(Debug)]
pub(super) struct Context {
    handle: sys::CUcontext,
    device: sys::CUdevice,
    pub(super) name: String,
    /// The compute capability: 90 is 9.0.
    pub(super) capability: u32,
}

// SAFETY: contexts of the driver may be used from any thread, by several at a time.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    pub(super) fn new(number: u32) -> Result<Self, Error> {
        const NAME: c_int = 256;
        let devices = count()?;
        if number >= devices {
            return Err(no_device(format!("device {number} of {devices}")));
        }
        let mut device = 0;
        // SAFETY: the driver is initialized, and the number is that of a device.
        check("cuDeviceGet", unsafe { sys::cuDeviceGet(&raw mut device, number as c_int) })?;
        let mut name = [0; NAME as usize];
        // SAFETY: the buffer has the length that is passed to the call; the name in it ends with a zero.
        check("cuDeviceGetName", unsafe { sys::cuDeviceGetName(name.as_mut_ptr(), NAME, device) })?;
        // SAFETY: as above.
        let name = unsafe { text(name.as_ptr()) };
        let major =
            attribute(device, CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor =
            attribute(device, CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        let mut handle = ptr::null_mut();
        // SAFETY: the device is one of the driver's. Dropping `Self` releases the context.
        check("cuDevicePrimaryCtxRetain", unsafe {
            sys::cuDevicePrimaryCtxRetain(&raw mut handle, device)
        })?;
        Ok(Self { handle, device, name, capability: 10 * major + minor })
    }

    /// Whether a handle is this context's.
    pub(super) fn has_handle(&self, handle: sys::CUcontext) -> bool {
        self.handle == handle
    }

    /// Makes the context current for this thread.
    pub(super) fn bind(self: &Arc<Self>) -> Result<&Arc<Self>, Error> {
        // SAFETY: the context is retained.
        check("cuCtxSetCurrent", unsafe { sys::cuCtxSetCurrent(self.handle) })?;
        Ok(self)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context was retained once, and nothing of this crate uses it after this.
        let _ = unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) };
    }
}

/// The number of devices.
pub(super) fn count() -> Result<u32, Error> {
    static INITIALIZED: OnceLock<Result<(), Error>> = OnceLock::new();
    let initialize = || {
        // SAFETY: the library's initializers are those of NVIDIA's driver, which have no preconditions.
        if !unsafe { sys::is_culib_present() } {
            return Err(no_device("libcuda cannot be loaded"));
        }
        // SAFETY: this call comes before all others, as required.
        check("cuInit", unsafe { sys::cuInit(0) }).map_err(|error| no_device(error.to_string()))
    };
    INITIALIZED.get_or_init(initialize).clone()?;
    let mut number = 0;
    // SAFETY: the driver is initialized.
    check("cuDeviceGetCount", unsafe { sys::cuDeviceGetCount(&raw mut number) })?;
    Ok(u32::try_from(number).unwrap_or(0))
}

fn attribute(device: sys::CUdevice, which: CUdevice_attribute) -> Result<u32, Error> {
    let mut value = 0;
    // SAFETY: the device is one of the driver's.
    check("cuDeviceGetAttribute", unsafe {
        sys::cuDeviceGetAttribute(&raw mut value, which, device)
    })?;
    Ok(u32::try_from(value).unwrap_or(0))
}

fn no_device(reason: impl Into<String>) -> Error {
    Error::NoDevice { driver: "CUDA", reason: reason.into() }
}

/// The error of a call, with the driver's description. The driver's library must be loaded.
pub(super) fn check(call: &'static str, result: sys::CUresult) -> Result<(), Error> {
    if result == sys::CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    let mut message = ptr::null();
    // SAFETY: the library is loaded, because one of its calls has returned a result.
    let described = unsafe { sys::cuGetErrorString(result, &raw mut message) };
    let message = if described == sys::CUresult::CUDA_SUCCESS && !message.is_null() {
        // SAFETY: the driver's descriptions are constants that end with a zero.
        unsafe { text(message) }
    } else {
        format!("{result:?}")
    };
    Err(Error::Driver { call, code: result as i32, message })
}

/// # Safety
///
/// The text must end with a zero.
unsafe fn text(pointer: *const c_char) -> String {
    // SAFETY: guaranteed by the caller.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}
