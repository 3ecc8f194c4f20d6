//! Fragments by Open MPI's own engine: MPI has no call that packs a part of an instance.

use std::ffi::{CStr, c_void};
use std::mem;

use anyhow::{Result, ensure};
use dtype_benches::peer::FRAGMENT;
use dtype_runtime::Type;
use mpi::ffi::MPI_Datatype;

/// `opal_convertor_create`: the architecture of the other process, and an unused mode.
type Create = unsafe extern "C" fn(i32, i32) -> *mut c_void;
/// `opal_convertor_prepare_for_send` and `_recv`: their arguments are the convertor, the type, the number of instances, and the
/// address of the first one.
type Prepare = unsafe extern "C" fn(*mut c_void, *const c_void, usize, *const c_void) -> i32;
/// `opal_convertor_pack` and `_unpack`: the convertor, blocks of packed bytes, the number of blocks, and the number of bytes.
/// Both numbers are updated. The function returns 1 after the last byte, and a negative number if it fails.
type Advance = unsafe extern "C" fn(*mut c_void, *mut libc::iovec, *mut u32, *mut usize) -> i32;

/// How many levels of a type the convertor has room for. For more levels, the convertor allocates memory that only a function
/// that the library does not export could free.
const DEEPEST: usize = 4;

/// A convertor in one direction.
pub(crate) struct Convertor {
    raw: *mut c_void,
    prepare: Prepare,
    advance: Advance,
}

impl Convertor {
    /// A convertor that packs instances of the type.
    pub(crate) fn packing(ty: &Type) -> Result<Self> {
        // SAFETY: the functions have these types.
        unsafe { Self::new(ty, c"opal_convertor_prepare_for_send", c"opal_convertor_pack") }
    }

    /// A convertor that unpacks instances of the type.
    pub(crate) fn unpacking(ty: &Type) -> Result<Self> {
        // SAFETY: the functions have these types.
        unsafe { Self::new(ty, c"opal_convertor_prepare_for_recv", c"opal_convertor_unpack") }
    }

    /// # Safety
    ///
    /// `prepare` must name a [`Prepare`], and `advance` an [`Advance`].
    unsafe fn new(ty: &Type, prepare: &CStr, advance: &CStr) -> Result<Self> {
        let depth = depth(ty);
        ensure!(depth <= DEEPEST, "a type of {depth} levels, for which the convertor allocates");
        let architecture = symbol(c"opal_local_arch")?.cast::<i32>();
        // SAFETY: the first function has the type `Create`, and the caller promises the types of the others.
        let (create, prepare, advance) = unsafe {
            (
                mem::transmute::<*mut c_void, Create>(symbol(c"opal_convertor_create")?),
                mem::transmute::<*mut c_void, Prepare>(symbol(prepare)?),
                mem::transmute::<*mut c_void, Advance>(symbol(advance)?),
            )
        };
        // SAFETY: MPI was initialised before any datatype was made, and the symbol is an `int32_t`.
        let convertor = unsafe { create(*architecture, 0) };
        ensure!(!convertor.is_null(), "opal_convertor_create fails");
        Ok(Self { raw: convertor, prepare, advance })
    }

    /// Packs or unpacks all instances, and returns the number of packed bytes. The number is too small if the library fails.
    ///
    /// # Safety
    ///
    /// The datatype must be committed, and made of the type that the convertor was made for. `count` instances must lie at
    /// `first`, valid for writes, and have as many packed bytes as `packed`.
    pub(crate) unsafe fn run(
        &mut self,
        datatype: MPI_Datatype,
        count: usize,
        first: *mut u8,
        packed: &mut [u8],
    ) -> usize {
        // SAFETY: an Open MPI datatype begins with the engine's type, and the caller promises the rest.
        let code = unsafe { (self.prepare)(self.raw, engine_type(datatype), count, first.cast()) };
        if code != 0 {
            return 0;
        }
        let mut done = 0;
        for fragment in packed.chunks_mut(FRAGMENT) {
            let (mut blocks, mut bytes) = (1, fragment.len());
            let mut block =
                libc::iovec { iov_base: fragment.as_mut_ptr().cast(), iov_len: fragment.len() };
            // SAFETY: the convertor is prepared, and the block has the length of the fragment.
            let code = unsafe {
                (self.advance)(self.raw, &raw mut block, &raw mut blocks, &raw mut bytes)
            };
            if code < 0 {
                break;
            }
            done += bytes;
        }
        done
    }
}

/// The symbol's address.
fn symbol(name: &CStr) -> Result<*mut c_void> {
    // SAFETY: the name ends with a zero.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    ensure!(!found.is_null(), "the library exports no {}", name.to_string_lossy());
    Ok(found)
}

/// The engine's type, which is the beginning of Open MPI's datatype.
fn engine_type(datatype: MPI_Datatype) -> *const c_void {
    // SAFETY: a library that exports the functions above uses pointers as datatypes. For a smaller handle, the call panics.
    unsafe { mem::transmute_copy::<MPI_Datatype, *const c_void>(&datatype) }
}

/// How many levels of calls make the type.
fn depth(ty: &Type) -> usize {
    ty.call().map_or(0, |call| 1 + call.types().map(|part| depth(part)).max().unwrap_or(0))
}
