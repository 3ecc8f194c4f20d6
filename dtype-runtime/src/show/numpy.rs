//! The dtype of NumPy that reads the same bytes.

mod expression;

use alloc::format;
use alloc::string::String;
use core::fmt;

use super::source::Source;
use crate::datatype::Datatype;
use crate::representation::ByteOrder;
use crate::types::Type;
use expression::Writer;

/// Which bytes NumPy is to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NumpyLayout {
    /// Memory: instances an extent apart, with their gaps.
    #[default]
    Memory,
    /// The packed stream.
    Packed,
}

/// What a dtype is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumpyOptions {
    /// Memory or the packed stream.
    pub layout: NumpyLayout,
    /// In which order the bytes of each value are.
    pub order: ByteOrder,
}

impl Default for NumpyOptions {
    /// Memory of this machine.
    fn default() -> Self {
        Self { layout: NumpyLayout::Memory, order: ByteOrder::NATIVE }
    }
}

/// NumPy has no dtype for a layout.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NumpyError {
    /// There is no place where an item of the extent's bytes could start so that all data of an instance are in it; a
    /// NumPy array has its items one behind the other.
    OutsideExtent {
        /// The lower bound.
        lb: i64,
        /// Bytes from one instance to the next.
        extent: i64,
        /// Displacement in bytes of the first byte of data.
        true_lb: i64,
        /// One past the last byte of data.
        true_ub: i64,
    },
    /// A byte is named more than once.
    Overlap,
    /// The dtype would have more fields than are written.
    TooManyFields {
        /// The most that are.
        limit: usize,
    },
}

impl fmt::Display for NumpyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutsideExtent { lb, extent, true_lb, true_ub } => write!(
                f,
                "no dtype: data from {true_lb} to {true_ub}, and instances of {extent} bytes from {lb} on"
            ),
            Self::Overlap => f.write_str("no dtype: a byte is named more than once"),
            Self::TooManyFields { limit } => write!(f, "no dtype: more than {limit} fields"),
        }
    }
}

impl core::error::Error for NumpyError {}

/// A dtype of NumPy, and where its items are. Its `Display` is the expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumpyDtype {
    /// The Python expression, which takes `np` for NumPy.
    pub expression: String,
    /// Displacement in bytes from the origin of an instance to the start of its item: 0, or the lower bound where only
    /// from there on all data are in an item. In a buffer whose first byte is at displacement 0, the first item is
    /// that many bytes behind it.
    pub start: i64,
    /// Bytes of an item.
    pub itemsize: u64,
}

impl fmt::Display for NumpyDtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.expression)
    }
}

/// So many names a dtype may have, in all its structures together.
const MOST_NAMES: usize = 1 << 14;

impl Type {
    /// A Python expression for the NumPy dtype of which one item is one instance: `np.frombuffer` reads instances from
    /// memory, or from packed bytes.
    ///
    /// A structure is a dict of names, formats, offsets and the item size, its members `f0`, `f1` and so on; instances
    /// that follow each other at their extent are a subarray; blocks with gaps between are fields with the number of
    /// the block, `b0`, `b1` and so on. The order is that of the packed stream.
    ///
    /// `char` and wide characters of four bytes are `U1`, other characters `S1`, logicals of Fortran integers. What
    /// NumPy has no number for is raw bytes, `V` and their number, as are values in formats that depend on the machine:
    /// integers of 128 bits, `bf16`, `long double`, binary128, and the complex numbers of these and of `f16`.
    ///
    /// In [memory](NumpyLayout::Memory) an item has the extent's bytes, and starts at the origin or at the lower bound:
    /// [`NumpyDtype::start`].
    ///
    /// # Errors
    ///
    /// [`NumpyError::TooManyFields`] and, in memory only, [`NumpyError::OutsideExtent`] and [`NumpyError::Overlap`].
    ///
    /// ```
    /// use dtype_runtime::show::NumpyOptions;
    /// use dtype_runtime::{Basic, Type};
    /// # if cfg!(target_endian = "big") { return Ok(()) }
    /// let [f64, u8] = [Basic::F64, Basic::U8].map(Type::basic);
    /// let t = Type::structure(&[3, 1], &[0, 24], &[f64, u8])?;
    /// assert_eq!(
    ///     t.numpy_dtype(&NumpyOptions::default())?.expression,
    ///     "np.dtype({'names': ['f0', 'f1'], 'formats': [('<f8', (3,)), 'u1'], \
    ///      'offsets': [0, 24], 'itemsize': 32})"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn numpy_dtype(&self, options: &NumpyOptions) -> Result<NumpyDtype, NumpyError> {
        dtype(self, Source::Type(self), options)
    }
}

/// As [`Type::numpy_dtype`], of a Rust type, with the names of its fields.
///
/// # Errors
///
/// Those of [`Type::numpy_dtype`].
///
/// ```
/// use dtype_runtime::Datatype;
/// use dtype_runtime::show::{NumpyLayout, NumpyOptions, numpy_dtype};
///
/// #[derive(Datatype)]
/// #[repr(C)]
/// struct Particle {
///     charge: i8,
///     position: [f32; 3],
/// }
///
/// # if cfg!(target_endian = "big") { return Ok(()) }
/// let packed = NumpyOptions { layout: NumpyLayout::Packed, ..NumpyOptions::default() };
/// assert_eq!(
///     numpy_dtype::<Particle>(&packed)?.expression,
///     "np.dtype({'names': ['charge', 'position'], 'formats': ['i1', ('<f4', (3,))], \
///      'offsets': [0, 1], 'itemsize': 13})"
/// );
/// # Ok::<(), dtype_runtime::show::NumpyError>(())
/// ```
pub fn numpy_dtype<T: Datatype>(options: &NumpyOptions) -> Result<NumpyDtype, NumpyError> {
    dtype(&Type::of::<T>(), Source::Map(T::TYPE_MAP), options)
}

fn dtype(ty: &Type, source: Source<'_>, options: &NumpyOptions) -> Result<NumpyDtype, NumpyError> {
    let mut writer = Writer { order: options.order, names: 0 };
    let (expression, start, itemsize) = match options.layout {
        NumpyLayout::Packed => (writer.packed(source)?, 0, ty.size()),
        NumpyLayout::Memory => {
            let (lb, extent) = (ty.lb(), ty.extent());
            let (true_lb, true_ub) = (ty.true_lb(), ty.true_ub());
            let fits = |start: i64| {
                let end = i128::from(start) + i128::from(extent);
                ty.size() == 0 || start <= true_lb && i128::from(true_ub) <= end
            };
            let start = [0, lb].into_iter().find(|start| fits(*start) && extent >= 0);
            let Some(start) = start else {
                return Err(NumpyError::OutsideExtent { lb, extent, true_lb, true_ub });
            };
            if ty.self_overlap() {
                return Err(NumpyError::Overlap);
            }
            let itemsize = extent.unsigned_abs();
            (writer.memory(source, start.into(), itemsize.into())?, start, itemsize)
        }
    };
    Ok(NumpyDtype { expression: format!("np.dtype({expression})"), start, itemsize })
}
