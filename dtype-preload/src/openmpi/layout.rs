//! Structures of Open MPI 4.1 and 5.0, up to the fields that are read or written here.
//!
//! `tests/it/layout.rs` compares them with Open MPI's headers. Before anything is accessed, `supported.rs` compares them with
//! what a library says about itself.

use std::ffi::{c_char, c_int, c_void};

/// The function of a convertor that packs or unpacks (`convertor_advance_fct_t`).
pub type Advance =
    unsafe extern "C" fn(*mut Convertor, *mut libc::iovec, *mut u32, *mut usize) -> i32;

/// The front of every object (`opal_object_t`).
#[derive(Debug)]
#[repr(C)]
pub struct Object {
    /// The class.
    pub class: *const Class,
    /// The number of references.
    pub references: i32,
}

/// A class of objects (`opal_class_t`).
#[derive(Debug)]
#[repr(C)]
pub struct Class {
    /// The datatype's name.
    pub name: *const c_char,
    parent: *const Class,
    construct: *const c_void,
    destruct: *const c_void,
    initialized: c_int,
    depth: c_int,
    construct_array: *const c_void,
    destruct_array: *const c_void,
    /// The size of an object in bytes.
    pub size: usize,
}

/// A description (`dt_type_desc_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Description {
    /// The number of entries that there is room for.
    pub length: usize,
    /// The number of entries, without the one that ends the description.
    pub used: usize,
    /// The entries.
    pub entries: *mut Entry,
}

/// The front of each entry (`ddt_elem_id_description`).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Head {
    /// Flags.
    pub flags: u16,
    /// 0 for a loop, 1 for the end of one, otherwise a basic type.
    pub kind: u16,
}

/// Blocks of a basic type (`ddt_elem_desc`).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Elem {
    /// The front.
    pub head: Head,
    /// The number of blocks.
    pub count: u32,
    /// The number of elements in a block.
    pub blocklen: usize,
    /// Bytes from one block to the next.
    pub extent: isize,
    /// The displacement of the first block.
    pub disp: isize,
}

/// The start of a loop (`ddt_loop_desc`).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Loop {
    /// The front.
    pub head: Head,
    /// The number of entries from here to the end of the loop.
    pub items: u32,
    /// The number of iterations.
    pub loops: u32,
    /// Not used.
    pub unused: usize,
    /// Bytes from one iteration to the next.
    pub extent: isize,
}

/// An entry of a description (`dt_elem_desc_t`).
#[derive(Clone, Copy)]
#[repr(C)]
pub union Entry {
    /// The front of each entry.
    pub head: Head,
    /// Valid if the kind is that of a basic type.
    pub elem: Elem,
    /// Valid if the kind is 0.
    pub start: Loop,
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // SAFETY: all variants start with a head.
        unsafe { self.head }.fmt(f)
    }
}

/// A datatype (`opal_datatype_t`).
#[derive(Debug)]
#[repr(C)]
pub struct Datatype {
    /// The front.
    pub object: Object,
    /// `OPAL_DATATYPE_FLAG_…`.
    pub flags: u16,
    /// The number of a predefined type.
    pub id: u16,
    basic_types: u32,
    /// Packed bytes.
    pub size: usize,
    /// The displacement of the first byte of data.
    pub true_lb: isize,
    /// One past the last byte of data.
    pub true_ub: isize,
    /// The lower bound.
    pub lb: isize,
    /// The upper bound.
    pub ub: isize,
    elements: usize,
    align: u32,
    loops: u32,
    /// The name of a predefined type.
    pub name: [c_char; 64],
    /// The description.
    pub desc: Description,
    /// The optimized description.
    pub opt_desc: Description,
    types: *mut usize,
}

/// The bit of [`Datatype::flags`] for a type that was committed, or copied from such a type.
pub const COMMITTED: u32 = 0x4;
/// The bit of [`Datatype::flags`] and [`Convertor::flags`] for data in order without gaps between them.
pub const CONTIGUOUS: u32 = 0x10;
/// The bit for data without gaps, even between elements.
pub const NO_GAPS: u32 = 0x20;

/// A convertor (`opal_convertor_t`), up to its static stack.
#[derive(Debug)]
#[repr(C)]
pub struct Convertor {
    /// The front.
    pub object: Object,
    /// The architecture of the other process.
    pub remote_arch: u32,
    /// `CONVERTOR_…` flags, and the flags of the datatype.
    pub flags: u32,
    /// The number of packed bytes in this process.
    pub local_size: usize,
    /// The number of packed bytes in the other process.
    pub remote_size: usize,
    /// The type.
    pub datatype: *const Datatype,
    /// The description in use.
    pub description: *const Description,
    /// The number of elements.
    pub count: usize,
    /// The number of entries that the stack has room for.
    pub stack_size: u32,
    /// The program's buffer.
    pub base: *mut u8,
    /// The stack.
    pub stack: *mut c_void,
    /// The function that packs or unpacks.
    pub advance: Option<Advance>,
    /// Properties of the remote architecture.
    pub master: *mut c_void,
    /// The index of the top of the stack.
    pub stack_position: u32,
    /// Bytes of an element that is not complete.
    pub partial_length: usize,
    /// The number of packed bytes converted so far.
    pub converted: usize,
    checksum: u32,
    checksum_1: u32,
    checksum_2: usize,
    /// The stack that is used if it has enough room.
    pub static_stack: [StackEntry; 5],
}

/// An entry of a convertor's stack (`dt_stack_t`).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct StackEntry {
    index: i32,
    kind: i16,
    padding: i16,
    count: usize,
    disp: isize,
}

/// `CONVERTOR_RECV`.
pub const RECEIVE: u32 = 0x0002_0000;
/// `CONVERTOR_SEND`.
pub const SEND: u32 = 0x0004_0000;
/// `CONVERTOR_HOMOGENEOUS`.
pub const HOMOGENEOUS: u32 = 0x0008_0000;
/// `CONVERTOR_NO_OP`.
pub const NO_OP: u32 = 0x0010_0000;
/// `CONVERTOR_COMPLETED`.
pub const COMPLETED: u32 = 0x0800_0000;
/// Flags that a convertor must not have: `CONVERTOR_NO_OP`, `_WITH_CHECKSUM`, `_CUDA`, `_CUDA_ASYNC`, `_COMPLETED` and
/// `_CUDA_UNIFIED`.
pub const OTHER_PATHS: u32 =
    NO_OP | 0x0020_0000 | 0x0040_0000 | 0x0080_0000 | COMPLETED | 0x1000_0000;
/// The flags that a convertor keeps when it is prepared again (`CONVERTOR_TYPE_MASK`), without the direction.
pub const KEPT: u32 = 0x10FF_0000 & !(SEND | RECEIVE | NO_OP);

/// The sizes that an `opal_convertor_t` may have: without and with the fields for device memory.
pub const CONVERTOR_SIZES: [usize; 2] = [size_of::<Convertor>(), size_of::<Convertor>() + 16];
