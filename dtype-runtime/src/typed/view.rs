//! Records in memory as bytes, and bytes as records, without a copy.
//!
//! This is possible for types whose packed records *are* their memory: all bytes of a value are data, and
//! they lie in the order of the type map. For them, [`view`] returns what [`unpack`](crate::unpack) would
//! return, and [`bytes_of`] what [`pack`](crate::pack) would return.
//!
//! ```text
//! #[repr(C)] struct A { x: f64, y: [u32; 2] }    x x x x x x x x y y y y y y y y    yes
//! #[repr(C)] struct B { x: u32, y: u8 }          x x x x y . . .                    no: padding
//! struct C { x: u8, y: u16, z: u8 }              y y x z                            no: reordered
//! ```

use super::layout::Layout;
use super::{refuse_skipped_fields, validate, whole_records};
use crate::datatype::Datatype;
use crate::error::Error;
use crate::kernel::Pack;
use crate::typemap::{Node, TypeMap};

/// Returns the records in `bytes`, where they lie: in a memory-mapped file, in a receive buffer.
///
/// `bytes` are records as they lie in the memory of a machine with this byte order, as [`bytes_of`] returns
/// them. The result equals what [`unpack`](crate::unpack) returns.
///
/// A type with padding, with skipped fields, or whose fields the compiler has reordered does not compile here. `#[repr(C)]`
/// keeps the fields in order, also for programs that other compilers have built. For the others, [`Packed`](crate::Packed)
/// reads packed bytes in place, and [`view_memory`] the memory of an array. Only `cargo build` reports such a type, and not
/// `cargo check`, because the layout is not part of the bounds of a trait.
///
/// # Errors
///
/// - [`Error::PartialRecord`] if the length is not a multiple of the record size;
/// - [`Error::Misaligned`] if `bytes` does not begin at a multiple of the alignment of `T`;
/// - [`Error::InvalidValue`] if a record has an invalid `bool`, `char`, `NonZero` or enum;
/// - [`Error::CheckFailed`] if the function of `#[dtype(check = …)]`, or a type of this crate, refuses a record.
///
/// The checks read all records; they cost nothing for types that accept all bytes.
///
/// Bytes that a value does not use, such as those after the end of a [`FixedStr`](crate::FixedStr), stay as they are.
///
/// ```
/// #[derive(dtype_runtime::Datatype)]
/// #[repr(C)]
/// struct Sample {
///     time: f64,
///     values: [f32; 2],
/// }
///
/// let samples = [Sample { time: 0.5, values: [1.0, 2.0] }];
/// let bytes: &[u8] = dtype_runtime::bytes_of(&samples);
/// assert_eq!(bytes, dtype_runtime::pack(&samples));
///
/// let same: &[Sample] = dtype_runtime::view(bytes)?;
/// assert_eq!(same[0].values, [1.0, 2.0]);
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
pub fn view<T: Datatype>(bytes: &[u8]) -> Result<&[T], Error> {
    const { refuse_other_memory::<T>() }
    if bytes.is_empty() {
        return Ok(&[]);
    }
    let count = records_in_place::<T>(bytes)?;
    // SAFETY: `bytes` is aligned for `T` and as long as `count` values. `refuse_other_memory` leaves types of
    // which every byte is data, in the order of the map, and the validation accepted the bytes as packed
    // records: by the promise of `Datatype` they are `count` values. None of their bytes changes through a
    // shared reference. The result borrows `bytes`.
    Ok(unsafe { core::slice::from_raw_parts(bytes.as_ptr().cast(), count) })
}

/// Returns the records in `bytes`, where they lie, padding included: the memory of records of a program with the same
/// layout, such as an array of C structs.
///
/// As [`view`], for types with padding and in any order of fields; for types that `view` accepts, the result is the same.
/// A type that skips fields does not compile here, because any bytes would become their values.
///
/// # Errors
///
/// - [`Error::PartialRecord`] if the length is not a multiple of the size of `T`;
/// - [`Error::Misaligned`] if `bytes` does not begin at a multiple of the alignment of `T`;
/// - [`Error::InvalidValue`] and [`Error::CheckFailed`] as for [`view`].
///
/// ```
/// #[derive(dtype_runtime::Datatype)]
/// #[repr(C)]
/// struct Sample {
///     value: u32,
///     valid: bool,
/// }
///
/// let mut samples = [Sample { value: 7, valid: true }, Sample { value: 8, valid: false }];
/// // Bytes from elsewhere have no uninitialised padding.
/// let bytes: &[u8] = dtype_runtime::zero_gaps(&mut samples);
/// let same: &[Sample] = dtype_runtime::view_memory(bytes)?;
/// assert!(same[0].valid && same[1].value == 8);
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
pub fn view_memory<T: Datatype>(bytes: &[u8]) -> Result<&[T], Error> {
    const {
        super::layout::assert_stride::<T>();
        refuse_skipped_fields::<T>(
            "this type skips fields, and any bytes would become their values: use `unpack_into`",
        );
    }
    let (actual, record) = (bytes.len(), size_of::<T>());
    let rest = actual.checked_rem(record).unwrap_or(actual);
    if rest != 0 {
        return Err(Error::PartialRecord { actual: actual as u64, record: record as u64 });
    }
    if bytes.is_empty() {
        return Ok(&[]);
    }
    check_alignment::<T>(bytes)?;
    let count = actual.checked_div(record).unwrap_or(0);
    if const { T::TYPE_MAP.is_restricted() } {
        /// The number of packed bytes to check at a time.
        const BATCH: usize = 4096;
        let size = T::TYPE_MAP.size();
        let batch = BATCH.checked_div(size).unwrap_or(1).max(1);
        let mut packed = alloc::vec![0; batch.min(count) * size];
        for first in (0..count).step_by(batch) {
            let number = batch.min(count - first);
            let packed = &mut packed[..number * size];
            let memory = bytes[first * record..(first + number) * record].as_ptr();
            // SAFETY: the bytes are the memory of `number` records, initialised, of which `Pack` only reads those that
            // the map names; none of them needs an alignment. `packed` has room for them, and was allocated here.
            unsafe {
                Layout::<T>::execute::<Pack>(memory.cast_mut(), packed.as_mut_ptr(), number);
            }
            validate::validate::<T>(packed, number).map_err(|error| error.records_later(first))?;
        }
    }
    // SAFETY: `bytes` is aligned for `T` and as long as `count` values. The type skips no fields, so what the map does not
    // name is padding, which may be anything. The validation accepted the bytes that it names, or any will do: by the
    // promise of `Datatype` they are `count` values. The result borrows `bytes`, which do not change meanwhile.
    Ok(unsafe { core::slice::from_raw_parts(bytes.as_ptr().cast(), count) })
}

/// Returns the records in `bytes`, where they lie, to read and write them.
///
/// # Errors
///
/// As for [`view`].
///
/// ```
/// let mut bytes = [1, 0, 0, 1];
/// let flags = dtype_runtime::view_mut::<[bool; 2]>(&mut bytes)?;
/// flags[1] = [true, true];
/// assert_eq!(bytes, [1, 0, 1, 1]);
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
pub fn view_mut<T: Datatype>(bytes: &mut [u8]) -> Result<&mut [T], Error> {
    const { refuse_other_memory::<T>() }
    if bytes.is_empty() {
        return Ok(&mut []);
    }
    let count = records_in_place::<T>(bytes)?;
    // SAFETY: as in `view`, and `bytes` is borrowed exclusively. Whatever values are written, all their bytes
    // are data and so are initialised, by the promise of `Datatype`: `bytes` remain bytes.
    Ok(unsafe { core::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), count) })
}

/// Returns the memory of the records as bytes, which equal what [`pack`](crate::pack) returns.
///
/// A type with padding, with skipped fields, or whose fields the compiler has reordered does not compile
/// here: [`pack`](crate::pack) them, or clear the padding with [`zero_gaps`](crate::zero_gaps).
///
/// ```
/// let bytes = dtype_runtime::bytes_of(&[[1_u8, 2], [3, 4]]);
/// assert_eq!(bytes, [1, 2, 3, 4]);
/// ```
pub fn bytes_of<T: Datatype>(items: &[T]) -> &[u8] {
    const { refuse_other_memory::<T>() }
    // SAFETY: every byte of the items is data, so by the promise of `Datatype` it is initialised and does not
    // change through a shared reference. The result borrows the items.
    unsafe { core::slice::from_raw_parts(items.as_ptr().cast(), size_of_val(items)) }
}

/// Returns the memory of the records as bytes to overwrite, for example to read a file straight into them.
///
/// A type that [`bytes_of`] refuses does not compile here, nor does a type for which some bytes are not a
/// value, such as `bool`: use [`unpack_into`](crate::unpack_into), which checks them.
///
/// ```
/// use std::io::Read;
///
/// let mut numbers = [[0_u16; 2]; 2];
/// let mut file: &[u8] = &[7; 8];
/// file.read_exact(dtype_runtime::bytes_of_mut(&mut numbers))?;
/// assert_eq!(numbers, [[0x0707, 0x0707]; 2]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn bytes_of_mut<T: Datatype>(items: &mut [T]) -> &mut [u8] {
    const {
        refuse_other_memory::<T>();
        assert!(
            !T::TYPE_MAP.is_restricted(),
            "some bytes are not a value of this type: use `unpack_into`, which checks them"
        );
    }
    // SAFETY: as in `bytes_of`, and the items are borrowed exclusively. Whatever bytes are written, they make
    // values by the promise of `Datatype`, because every byte is data and the map is not restricted.
    unsafe { core::slice::from_raw_parts_mut(items.as_mut_ptr().cast(), size_of_val(items)) }
}

/// The number of records in the bytes, if they are aligned, whole and valid.
fn records_in_place<T: Datatype>(bytes: &[u8]) -> Result<usize, Error> {
    let count = whole_records::<T>(bytes)?;
    check_alignment::<T>(bytes)?;
    validate::validate::<T>(bytes, count)?;
    Ok(count)
}

fn check_alignment<T>(bytes: &[u8]) -> Result<(), Error> {
    let (start, alignment) = (bytes.as_ptr(), align_of::<T>());
    if start.cast::<T>().is_aligned() {
        return Ok(());
    }
    Err(Error::Misaligned { offset: start.addr() % alignment, alignment })
}

/// Refuses, at compile time, types whose packed records are not their memory.
#[track_caller]
const fn refuse_other_memory<T: Datatype>() {
    super::layout::assert_stride::<T>();
    refuse_skipped_fields::<T>(
        "this type skips fields, so its memory is not its packed records: use `pack` and `unpack_into`",
    );
    assert!(
        T::TYPE_MAP.is_dense(),
        "{}",
        Message::new([
            "this type has padding behind its field `",
            before_padding(T::TYPE_MAP),
            "`, so its memory is not its packed records: `pack` makes bytes, `Packed` reads them in place, and \
             `view_memory` reads the memory of an array",
        ])
        .text()
    );
    assert!(
        T::TYPE_MAP.is_packed(),
        "{}",
        Message::new([
            "the field `",
            out_of_order(T::TYPE_MAP),
            "` lies at another place in memory than in the packed record: put `#[repr(C)]` on its struct; or `pack` \
             makes bytes, `Packed` reads them in place, and `view_memory` reads the memory of an array",
        ])
        .text()
    );
}

/// A message of a constant panic, which cannot format values.
struct Message {
    bytes: [u8; Self::MAX],
    len: usize,
}

impl Message {
    /// More than the sentences here and a name of usual length. What exceeds it is left out.
    const MAX: usize = 320;

    const fn new(parts: [&str; 3]) -> Self {
        let (mut all, mut part) = (Self { bytes: [0; Self::MAX], len: 0 }, 0);
        while part < parts.len() {
            let (bytes, mut i) = (parts[part].as_bytes(), 0);
            while i < bytes.len() && all.len < Self::MAX {
                all.bytes[all.len] = bytes[i];
                (all.len, i) = (all.len + 1, i + 1);
            }
            part += 1;
        }
        all
    }

    const fn text(&self) -> &str {
        match core::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            // Cut inside a character.
            Err(_) => "the memory of this type is not its packed records",
        }
    }
}

/// The first field behind which bytes are padding, in a type that is not dense and skips no fields; "" if there is none.
const fn before_padding(map: &TypeMap) -> &'static str {
    match *map.node() {
        Node::Basic { .. } => "",
        Node::Array { element, .. } => before_padding(element),
        Node::Structure { fields, .. } => {
            let mut i = 0;
            while i < fields.len() {
                let end = fields[i].offset() + fields[i].size();
                let (mut is_followed, mut j) = (end == map.stride() || fields[i].size() == 0, 0);
                while j < fields.len() {
                    is_followed |= fields[j].size() > 0 && fields[j].offset() == end;
                    j += 1;
                }
                if !is_followed {
                    return fields[i].name();
                }
                if let Some(inner) = fields[i].map()
                    && !inner.is_dense()
                {
                    return before_padding(inner);
                }
                i += 1;
            }
            ""
        }
    }
}

/// The first field that does not lie at its position in the packed record, in a dense type; "" if there is none.
const fn out_of_order(map: &TypeMap) -> &'static str {
    match *map.node() {
        Node::Basic { .. } => "",
        Node::Array { element, .. } => out_of_order(element),
        Node::Structure { fields, .. } => {
            let (mut position, mut i) = (0, 0);
            while i < fields.len() {
                if let Some(inner) = fields[i].map()
                    && inner.size() > 0
                {
                    if fields[i].offset() != position {
                        return fields[i].name();
                    }
                    if !inner.is_packed() {
                        return out_of_order(inner);
                    }
                    position += inner.size();
                }
                i += 1;
            }
            ""
        }
    }
}
