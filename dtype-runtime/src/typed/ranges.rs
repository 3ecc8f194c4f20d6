//! Which bytes of a value are data and which are not, as constants.

use core::fmt;
use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::ops::Range;

use crate::commit::ConstantOps;
use crate::convertor::Iov;
use crate::datatype::Datatype;
use crate::plan::Op;

/// Ranges of bytes within a value, in ascending order, with at least one byte between two of them.
///
/// Repeated ranges are stored once, so the ranges of `[T; 1_000_000]` take no more memory than the ranges
/// of `[T; 2]`.
#[derive(Clone, Copy)]
pub struct ByteRanges {
    ops: &'static [Op],
}

/// The bytes of a `T` that hold data: initialised in every value, and written by unpacking.
///
/// It is a `const fn`, so the result can be a constant:
///
/// ```
/// use dtype_runtime::{runs, ByteRanges};
///
/// const RUNS: ByteRanges = runs::<(u64, [(u16, u8); 2])>();
/// const { assert!(RUNS.len() == 14) };
/// ```
///
/// A type with padding and more than 1024 separate ranges or 4096 fields, not counting repetitions, does
/// not compile.
///
/// ```
/// # use dtype_runtime::runs;
/// #[repr(C)]
/// #[derive(dtype_runtime::Datatype)]
/// struct Sample {
///     value: f64,
///     flag: bool,
/// }
/// assert!(runs::<Sample>().iter().eq([0..9]));
/// ```
pub const fn runs<T: Datatype>() -> ByteRanges {
    ByteRanges { ops: const { data_ops::<T>() } }
}

/// The bytes of a `T` that hold no data: padding and skipped fields.
///
/// Together with [`runs`], they cover all bytes of a value.
///
/// ```
/// # use dtype_runtime::gaps;
/// #[repr(C)]
/// #[derive(dtype_runtime::Datatype)]
/// struct Sample {
///     flag: bool,
///     value: f64,
/// }
/// assert!(gaps::<Sample>().iter().eq([1..8]));
/// ```
pub const fn gaps<T: Datatype>() -> ByteRanges {
    ByteRanges { ops: const { gap_ops::<T>() } }
}

/// The programs of a type in two sizes, because in a generic type, the length of a constant cannot depend on its value.
struct Programs<T>(PhantomData<T>);

impl<T: Datatype> Programs<T> {
    const DATA: &'static ConstantOps<64> = &ConstantOps::data(T::TYPE_MAP);
    const MANY_DATA: &'static ConstantOps<1024> = &ConstantOps::data(T::TYPE_MAP);
    const GAPS: &'static ConstantOps<64> = &ConstantOps::gaps(T::TYPE_MAP);
    const MANY_GAPS: &'static ConstantOps<1024> = &ConstantOps::gaps(T::TYPE_MAP);
}

const fn data_ops<T: Datatype>() -> &'static [Op] {
    match Programs::<T>::DATA.ops() {
        Some(ops) => ops,
        None => many_data_ops::<T>(),
    }
}

// Separate functions, so that the large programs are computed only when needed.
const fn many_data_ops<T: Datatype>() -> &'static [Op] {
    match Programs::<T>::MANY_DATA.ops() {
        Some(ops) => ops,
        None => panic!("a type with more than 1024 separate ranges of data, or 4096 fields"),
    }
}

const fn gap_ops<T: Datatype>() -> &'static [Op] {
    match Programs::<T>::GAPS.ops() {
        Some(ops) => ops,
        None => many_gap_ops::<T>(),
    }
}

const fn many_gap_ops<T: Datatype>() -> &'static [Op] {
    match Programs::<T>::MANY_GAPS.ops() {
        Some(ops) => ops,
        None => panic!("a type with more than 1024 separate gaps, or 4096 fields"),
    }
}

impl ByteRanges {
    /// Number of bytes in all ranges.
    #[expect(clippy::cast_possible_truncation, reason = "bytes of one object")]
    pub const fn len(&self) -> usize {
        total(self.ops) as usize
    }

    /// Whether the ranges have no bytes.
    pub const fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// The ranges, in ascending order.
    pub fn iter(&self) -> ByteRangesIter {
        ByteRangesIter { pieces: Iov::of_program(self.ops, total(self.ops)) }
    }

    pub(crate) const fn ops(&self) -> &'static [Op] {
        self.ops
    }
}

impl fmt::Debug for ByteRanges {
    /// The ranges, or the first 64 if there are more.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 64;
        let mut ranges = self.iter();
        let mut list = f.debug_list();
        list.entries(ranges.by_ref().take(SHOWN));
        if ranges.next().is_some() { list.finish_non_exhaustive() } else { list.finish() }
    }
}

impl IntoIterator for ByteRanges {
    type Item = Range<usize>;
    type IntoIter = ByteRangesIter;

    fn into_iter(self) -> ByteRangesIter {
        self.iter()
    }
}

impl IntoIterator for &ByteRanges {
    type Item = Range<usize>;
    type IntoIter = ByteRangesIter;

    fn into_iter(self) -> ByteRangesIter {
        self.iter()
    }
}

const fn total(ops: &[Op]) -> u64 {
    let mut sum = 0;
    let mut i = 0;
    while i < ops.len() {
        match ops[i] {
            Op::Blocks(blocks) => {
                sum += blocks.len * blocks.count;
                i += 1;
            }
            // These exist only in plans made at run time.
            Op::List(_) | Op::Elements(_) => i += 1,
            Op::Loop { count, items, .. } => {
                let body = ops.split_at(i + 1).1.split_at(items).0;
                sum += count * total(body);
                i += items + 1;
            }
        }
    }
    sum
}

/// Iterator over [`ByteRanges`].
#[derive(Clone, Debug)]
pub struct ByteRangesIter {
    /// The pieces of a stream that would be packed by these operations.
    pieces: Iov<'static>,
}

impl Iterator for ByteRangesIter {
    type Item = Range<usize>;

    #[expect(clippy::cast_possible_truncation, reason = "offsets inside an object")]
    fn next(&mut self) -> Option<Range<usize>> {
        let piece = self.pieces.next()?;
        let start = piece.disp.cast_unsigned() as usize;
        Some(start..start + piece.len as usize)
    }
}

impl FusedIterator for ByteRangesIter {}
