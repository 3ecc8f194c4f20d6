//! NVRTC, the compiler of CUDA's kernels, loaded when the first kernel is compiled.

use std::ffi::{CString, c_char, c_int};
use std::fmt;
use std::ptr;
use std::sync::OnceLock;

use cudarc::nvrtc::sys;

use crate::error::Error;
use crate::source::{Dialect, Source};

/// Compiles a kernel for devices of a compute capability: 90 is 9.0. It needs no driver and no device.
///
/// The library is `libnvrtc` of CUDA 12 or 13, from the system's library directories or those in `LD_LIBRARY_PATH`. If the
/// library is older than the device, it produces PTX for the newest capability that it knows, which the driver translates.
///
/// # Errors
///
/// [`Error::NoDevice`] if there is no library; [`Error::Compile`] with the compiler's log. A kernel that spills registers is
/// compiled, and the log mentions them.
pub fn compile(source: &Source, capability: u32) -> Result<Image, Error> {
    let text = source.text(Dialect::CudaCpp);
    let known = capabilities()?;
    let (option, is_ptx) = if known.contains(&capability) {
        (format!("--gpu-architecture=sm_{capability}"), false)
    } else {
        let newest = known.into_iter().filter(|&known| known < capability).max();
        (format!("--gpu-architecture=compute_{}", newest.unwrap_or(capability)), true)
    };
    let refused = |log: String| Error::Compile { kernel: source.name.into(), log };
    let program = Program::new(&text).map_err(&refused)?;
    // Kernels come with functions that not all of them call: warning 177 is disabled.
    let compiled = program.compile(&[
        &option,
        "--std=c++17",
        "--diag-suppress=177",
        "--ptxas-options=--warn-on-spills",
    ]);
    let log = program.log();
    compiled.map_err(|message| refused(if log.is_empty() { message } else { log.clone() }))?;
    let bytes = program.image(is_ptx).map_err(&refused)?;
    Ok(Image { bytes, log })
}

/// A compiled kernel. Only [`compile`] makes one, because the driver, which gets no length, trusts the data.
///
/// ```compile_fail
/// let image = dtype_gpu::cuda::nvrtc::Image { bytes: vec![], log: String::new() };
/// ```
#[derive(Clone)]
pub struct Image {
    bytes: Vec<u8>,
    /// The compiler's warnings.
    pub log: String,
}

impl Image {
    /// The data for the driver to load: a binary, or PTX followed by a zero.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Image").field("len", &self.bytes.len()).finish_non_exhaustive()
    }
}

/// Whether the library can be loaded.
pub fn is_present() -> bool {
    static PRESENT: OnceLock<bool> = OnceLock::new();
    // SAFETY: the library's initializers are those of NVIDIA's compiler, which have no preconditions.
    *PRESENT.get_or_init(|| unsafe { sys::is_culib_present() })
}

/// The compute capabilities that the library compiles for.
fn capabilities() -> Result<Vec<u32>, Error> {
    if !is_present() {
        return Err(Error::NoDevice {
            driver: "CUDA",
            reason: "libnvrtc, the compiler of the kernels, cannot be loaded".into(),
        });
    }
    let failed = |log| Error::Compile { kernel: String::new(), log };
    let mut number: c_int = 0;
    // SAFETY: the library is there, and the pointer points to an int.
    check(unsafe { sys::nvrtcGetNumSupportedArchs(&raw mut number) }).map_err(failed)?;
    let mut known: Vec<c_int> = vec![0; usize::try_from(number).unwrap_or(0)];
    // SAFETY: the array has the length that the library returned.
    check(unsafe { sys::nvrtcGetSupportedArchs(known.as_mut_ptr()) }).map_err(failed)?;
    Ok(known.into_iter().filter_map(|known| u32::try_from(known).ok()).collect())
}

fn check(result: sys::nvrtcResult) -> Result<(), String> {
    if result == sys::nvrtcResult::NVRTC_SUCCESS { Ok(()) } else { Err(format!("{result:?}")) }
}

/// A program of the library. It exists only if the library is loaded.
struct Program(sys::nvrtcProgram);

impl Program {
    fn new(text: &str) -> Result<Self, String> {
        let text = CString::new(text).map_err(|error| error.to_string())?;
        let mut program = ptr::null_mut();
        // SAFETY: the text ends with a zero, is copied by the call, and there are no headers.
        check(unsafe {
            sys::nvrtcCreateProgram(
                &raw mut program,
                text.as_ptr(),
                c"kernel.cu".as_ptr(),
                0,
                ptr::null(),
                ptr::null(),
            )
        })?;
        Ok(Self(program))
    }

    fn compile(&self, options: &[&str]) -> Result<(), String> {
        let options: Vec<CString> = options
            .iter()
            .map(|&option| CString::new(option).map_err(|error| error.to_string()))
            .collect::<Result<_, _>>()?;
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let number = c_int::try_from(pointers.len()).map_err(|error| error.to_string())?;
        // SAFETY: the program is alive, and so are the options; their number is passed to the call.
        check(unsafe { sys::nvrtcCompileProgram(self.0, number, pointers.as_ptr()) })
    }

    /// The compiler's log, without the zero at the end.
    fn log(&self) -> String {
        let mut len = 0;
        // SAFETY: the program is alive.
        if check(unsafe { sys::nvrtcGetProgramLogSize(self.0, &raw mut len) }).is_err() {
            return String::new();
        }
        let mut log = vec![0_u8; len];
        // SAFETY: the buffer has the length that the library returned.
        if check(unsafe { sys::nvrtcGetProgramLog(self.0, log.as_mut_ptr().cast()) }).is_err() {
            return String::new();
        }
        String::from_utf8_lossy(&log).trim_matches(['\0', '\n', ' ']).to_owned()
    }

    fn image(&self, is_ptx: bool) -> Result<Vec<u8>, String> {
        let mut len = 0;
        // SAFETY: the program is alive.
        check(unsafe {
            if is_ptx {
                sys::nvrtcGetPTXSize(self.0, &raw mut len)
            } else {
                sys::nvrtcGetCUBINSize(self.0, &raw mut len)
            }
        })?;
        let mut image = vec![0_u8; len];
        // SAFETY: the program is alive, and the buffer has the length that the library returned.
        check(unsafe {
            let to = image.as_mut_ptr().cast();
            if is_ptx { sys::nvrtcGetPTX(self.0, to) } else { sys::nvrtcGetCUBIN(self.0, to) }
        })?;
        Ok(image)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: the program is alive and not used after this.
        let _ = unsafe { sys::nvrtcDestroyProgram(&raw mut self.0) };
    }
}
