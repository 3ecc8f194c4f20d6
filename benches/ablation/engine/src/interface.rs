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
/// A subject must come from `open` of the same build. Buffers must have the lengths that `sizes` returns, memory an alignment of
/// 16 bytes, and nothing else may use either during a call.
#[derive(Debug)]
#[repr(C)]
pub struct Engine {
    /// Makes a type: the one with this index of the class, for this seed.
    pub open: extern "C" fn(Class, u64, usize) -> *mut Subject,
    /// What this number of instances takes.
    pub sizes: unsafe extern "C" fn(*const Subject, usize) -> Sizes,
    /// Writes the instances' values. The memory must be zeros.
    pub fill: unsafe extern "C" fn(*const Subject, Buffers, u64),
    /// Repeats the work. The memory must be zeros or values of `fill`, and the packed bytes, to unpack, what packing wrote.
    pub run: unsafe extern "C" fn(*const Subject, Work, Buffers, u32),
    /// Frees the type.
    pub close: unsafe extern "C" fn(*mut Subject),
}

/// Bytes that instances take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Sizes {
    /// From the memory's start to the end of the last instance.
    pub memory: usize,
    /// When packed.
    pub packed: usize,
}

/// Where instances are, and their packed bytes.
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

/// What a type is made of.
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
    // SAFETY: the memory is aligned, and zeros.
    unsafe { timed.fill(memory, seed) };
}

unsafe extern "C" fn run(subject: *const Subject, work: Work, buffers: Buffers, repetitions: u32) {
    // SAFETY: the caller lends both buffers to this subject.
    let (timed, memory, packed) = unsafe { parts(subject, buffers) };
    // SAFETY: the memory is aligned, and zeros or values; unpacked are values.
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
    // SAFETY: another one.
    let packed = unsafe { slice::from_raw_parts_mut(buffers.packed, packed) };
    (&**timed, memory, packed)
}
