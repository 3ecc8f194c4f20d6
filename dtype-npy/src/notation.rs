//! The NumPy dtype for the bytes of a layout.

mod builder;

use core::fmt;

use crate::dtype::Dtype;
use crate::options::{NumpyLayout, NumpyOptions};
use builder::Builder;
use dtype_runtime::Datatype;
use dtype_runtime::outline::Outline;
use dtype_runtime::{Flags, Type};

/// Why NumPy has no dtype for a layout.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NumpyError {
    /// The data of an instance do not lie within an item of one extent, wherever it starts. (Items of a NumPy array follow one
    /// another without gaps.)
    #[error(
        "no dtype: data from {true_lb} to {true_ub}, and instances of {extent} bytes from {lb} on"
    )]
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
    /// Fields overlap: a byte is named more than once.
    #[error("no dtype: fields overlap")]
    Overlap,
    /// An item is larger than memory can address.
    #[error("no dtype: an item of more than {} bytes", i64::MAX)]
    TooLarge,
    /// The dtype would have more fields than the limit.
    #[error("no dtype: more than {limit} fields")]
    TooManyFields {
        /// The limit.
        limit: usize,
    },
}

/// A NumPy dtype, and the start of its items. Its `Display` is the expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumpyDtype {
    /// The Python expression, in which `np` is NumPy.
    pub expression: String,
    /// Displacement in bytes from the origin of an instance to the start of its item: 0, or the lower bound if only an item
    /// that starts there contains all data. In a buffer whose first byte is at displacement 0, the first item starts at this
    /// offset.
    pub start: i64,
    /// Bytes of an item.
    pub itemsize: u64,
}

impl fmt::Display for NumpyDtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.expression)
    }
}

/// The maximum number of names in a dtype, in all its structures together.
const MAX_NAMES: usize = 1 << 14;

impl NumpyDtype {
    /// A Python expression for the NumPy dtype in which one item is one instance: `np.frombuffer` reads instances
    /// from memory, or from packed bytes.
    ///
    /// A structure is a dict of names, formats, offsets and the item size, its members `f0`, `f1` and so on;
    /// instances that follow each other at their extent are a subarray; blocks with gaps between them are fields
    /// with the number of the block, `b0`, `b1` and so on. The order is the order of the packed stream.
    ///
    /// `char` and wide characters of four bytes are `U1`, other characters `S1`, and Fortran logicals are integers. Values for
    /// which NumPy has no number are raw bytes (`V` and their number), and so are values whose format depends on the machine:
    /// 128-bit integers, `bf16`, `long double`, binary128, and the complex numbers of these and of `f16`.
    ///
    /// In [memory](NumpyLayout::Memory) an item has as many bytes as the extent, and starts at the origin or at
    /// the lower bound: [`start`](Self::start).
    ///
    /// # Errors
    ///
    /// [`NumpyError::TooManyFields`] and, in memory only, [`NumpyError::OutsideExtent`] and [`NumpyError::Overlap`].
    ///
    /// ```
    /// use dtype_npy::{NumpyDtype, NumpyOptions};
    /// use dtype_runtime::{Basic, Type};
    /// # if cfg!(target_endian = "big") { return Ok(()) }
    /// let [f64, u8] = [Basic::F64, Basic::U8].map(Type::basic);
    /// let t = Type::structure(&[3, 1], &[0, 24], &[f64, u8])?;
    /// assert_eq!(
    ///     NumpyDtype::of_type(&t, &NumpyOptions::memory())?.expression,
    ///     "np.dtype({'names': ['f0', 'f1'], 'formats': [('<f8', (3,)), 'u1'], \
    ///      'offsets': [0, 24], 'itemsize': 32})"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_type(ty: &Type, options: &NumpyOptions) -> Result<Self, NumpyError> {
        dtype(ty, Outline::Type(ty), *options, (&|_, _| None, &|_| None))
    }

    /// As [`of_type`](Self::of_type), with names for the members of structures: `name` is called with a structure and the index
    /// of a member, and returns the member's name, or `None` for the default. If an earlier member has the name, a number is
    /// appended. `own` is called with a part, and returns its dtype if that is not the dtype of its own parts: a string's, for
    /// example. A dtype of another size than the part is ignored.
    ///
    /// # Errors
    ///
    /// The errors of [`of_type`](Self::of_type).
    ///
    /// ```
    /// use dtype_npy::{NumpyDtype, NumpyOptions};
    /// use dtype_runtime::{Basic, Type};
    /// # if cfg!(target_endian = "big") { return Ok(()) }
    /// let [f64, u8] = [Basic::F64, Basic::U8].map(Type::basic);
    /// let t = Type::structure(&[3, 1], &[0, 24], &[f64, u8])?;
    /// let names = ["position", "kind"];
    /// assert_eq!(
    ///     NumpyDtype::of_type_with(
    ///         &t,
    ///         &NumpyOptions::memory(),
    ///         |_, member| Some(names[member].into()),
    ///         |_| None
    ///     )?
    ///     .expression,
    ///     "np.dtype({'names': ['position', 'kind'], 'formats': [('<f8', (3,)), 'u1'], \
    ///      'offsets': [0, 24], 'itemsize': 32})"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_type_with(
        ty: &Type,
        options: &NumpyOptions,
        name: impl Fn(&Type, usize) -> Option<String>,
        own: impl Fn(&Type) -> Option<Dtype>,
    ) -> Result<Self, NumpyError> {
        dtype(ty, Outline::Type(ty), *options, (&name, &own))
    }
}

/// [`Dtype::of`](crate::Dtype::of) as an expression of Python, with the names of the fields. An item in memory is an element
/// of a slice: it has the size of `T`, also if the type is resized.
///
/// # Errors
///
/// The errors of [`NumpyDtype::of_type`].
///
/// ```
/// use dtype_runtime::Datatype;
/// use dtype_npy::{NumpyOptions, numpy_dtype};
///
/// #[derive(Datatype)]
/// #[repr(C)]
/// struct Particle {
///     charge: i8,
///     position: [f32; 3],
/// }
///
/// # if cfg!(target_endian = "big") { return Ok(()) }
/// let packed = NumpyOptions::packed();
/// assert_eq!(
///     numpy_dtype::<Particle>(&packed)?.expression,
///     "np.dtype({'names': ['charge', 'position'], 'formats': ['i1', ('<f4', (3,))], \
///      'offsets': [0, 1], 'itemsize': 13})"
/// );
/// # Ok::<(), dtype_npy::NumpyError>(())
/// ```
pub fn numpy_dtype<T: Datatype>(options: &NumpyOptions) -> Result<NumpyDtype, NumpyError> {
    dtype(&Type::of_record::<T>(), Outline::Map(T::TYPE_MAP), *options, (&|_, _| None, &|_| None))
}

/// The name of a structure's member, and the dtype of a part, where a caller has them.
type Own<'a> = (&'a dyn Fn(&Type, usize) -> Option<String>, &'a dyn Fn(&Type) -> Option<Dtype>);

fn dtype(
    ty: &Type,
    outline: Outline<'_>,
    options: NumpyOptions,
    (name, own): Own<'_>,
) -> Result<NumpyDtype, NumpyError> {
    let mut builder = Builder { options, names: 0, name, own };
    let (dtype, start) = match options.layout {
        NumpyLayout::Packed => (builder.packed(outline)?, 0),
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
            if ty.flags().contains(Flags::OVERLAP) {
                return Err(NumpyError::Overlap);
            }
            (builder.memory(outline, start.into(), extent.into())?, start)
        }
    };
    let expression = format!("np.dtype({})", dtype.expression());
    Ok(NumpyDtype { expression, start, itemsize: dtype.itemsize() })
}
