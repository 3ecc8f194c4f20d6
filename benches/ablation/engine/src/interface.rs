//! The library's interface: one symbol, a table of C functions.

use core::{fmt, slice};

use crate::class::{Class, Work};
use crate::layouts::Layout;
use crate::records;
use crate::timed::Timed;

/// The name of the symbol, an [`Engine`].
pub const SYMBOL: &str = "DTYPE_ABLATION_ENGINE";

/// The functions of a build. A panic in one of them aborts.
///
/// A subject must come from `open` of the same build. During a call, nothing else may use it or its buffers. The buffers must
/// have the lengths that `sizes` returns, and the memory must be aligned to 16 bytes.
#[derive(Debug)]
#[repr(C)]
pub struct Engine {
    /// Makes the type with this index of the class. The same seed gives the same type.
    pub open: extern "C" fn(Class, u64, usize) -> *mut Subject,
    /// The lengths of the buffers for this number of instances.
    pub sizes: unsafe extern "C" fn(*const Subject, usize) -> Sizes,
    /// Writes the values of the instances to memory that is all zeros.
    pub fill: unsafe extern "C" fn(*const Subject, Buffers, u64),
    /// Does the work this number of times. The memory must be zeros or have the values of `fill`. Before unpacking, the packed
    /// bytes must be those that packing wrote.
    pub run: unsafe extern "C" fn(*const Subject, Work, Buffers, u32),
    /// Frees the subject.
    pub close: unsafe extern "C" fn(*mut Subject),
}

/// The lengths of the buffers, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Sizes {
    /// From the start of the memory to the end of the last instance.
    pub memory: usize,
    /// All packed bytes.
    pub packed: usize,
}

/// The memory of some instances, and a buffer for their packed bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Buffers {
    /// The number of instances.
    pub count: usize,
    /// The memory.
    pub memory: *mut u8,
    /// The packed bytes.
    pub packed: *mut u8,
}

/// A type of a class.
pub struct Subject(Box<dyn Timed>);

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject").finish_non_exhaustive()
    }
}

/// A type's description for the report.
pub fn name(class: Class, seed: u64, index: usize) -> String {
    if class.is_dynamic() {
        Layout::new(class, seed, index).name
    } else {
        records::ALL[index].0.to_owned()
    }
}

/// The library's only symbol.
#[unsafe(no_mangle)]
pub(crate) static DTYPE_ABLATION_ENGINE: Engine = Engine { open, sizes, fill, run, close };

extern "C" fn open(class: Class, seed: u64, index: usize) -> *mut Subject {
    let timed = if class.is_dynamic() {
        Layout::new(class, seed, index).commit()
    } else {
        records::ALL[index].1()
    };
    Box::into_raw(Box::new(Subject(timed)))
}

unsafe extern "C" fn sizes(subject: *const Subject, count: usize) -> Sizes {
    // SAFETY: the subject comes from `open`.
    unsafe { &*subject }.0.sizes(count)
}

unsafe extern "C" fn fill(subject: *const Subject, buffers: Buffers, seed: u64) {
    // SAFETY: the caller lends both buffers to this subject.
    let (timed, memory, _) = unsafe { parts(subject, buffers) };
    // SAFETY: the memory is aligned, and the caller has zeroed it.
    unsafe { timed.fill(memory, seed) };
}

unsafe extern "C" fn run(subject: *const Subject, work: Work, buffers: Buffers, repetitions: u32) {
    // SAFETY: the caller lends both buffers to this subject.
    let (timed, memory, packed) = unsafe { parts(subject, buffers) };
    // SAFETY: the memory is aligned, and has zeros or valid values; packed bytes come from valid values.
    unsafe { timed.run(work, memory, packed, buffers.count, repetitions) };
}

unsafe extern "C" fn close(subject: *mut Subject) {
    // SAFETY: the subject comes from `open`, which leaked it.
    drop(unsafe { Box::from_raw(subject) });
}

/// The type, its memory, and the packed bytes.
///
/// # Safety
///
/// As for the functions of [`Engine`], for as long as `'a`.
unsafe fn parts<'a>(
    subject: *const Subject,
    buffers: Buffers,
) -> (&'a dyn Timed, &'a mut [u8], &'a mut [u8]) {
    // SAFETY: the subject comes from `open`.
    let Subject(timed) = unsafe { &*subject };
    let Sizes { memory, packed } = timed.sizes(buffers.count);
    // SAFETY: a buffer of this length, which nothing else uses.
    let memory = unsafe { slice::from_raw_parts_mut(buffers.memory, memory) };
    // SAFETY: a buffer of this length, which is not the memory, and which nothing else uses.
    let packed = unsafe { slice::from_raw_parts_mut(buffers.packed, packed) };
    (&**timed, memory, packed)
}
