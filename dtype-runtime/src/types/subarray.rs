//! Parts of multidimensional arrays (`subarray`). They are built from the simpler constructors, and keep their original
//! arguments.

use alloc::boxed::Box;

use super::array::{Order, dimensions, within};
use super::parts::{Parts, same_length};
use super::{Constructor, Type};
use crate::error::Error;

const CALL: &str = "subarray";

/// The arguments of a `subarray`.
#[derive(Clone)]
pub(crate) struct Subarray {
    /// The sizes of the array, the sizes of the part, and the start of the part.
    numbers: Box<[u64]>,
    pub(crate) order: Order,
}

impl Type {
    /// The part of an array of `sizes` elements that begins at `starts` and has `subsizes` elements
    /// (MPI-4.1 section 5.1.3). Its bounds span the whole array, whatever the bounds of `old`.
    ///
    /// # Errors
    ///
    /// [`Error::ArgumentLengths`] when the arrays differ in length; [`Error::ArgumentRange`] when there are no
    /// dimensions, a size is zero, or the part does not lie within the array; [`Error::Overflow`],
    /// [`Error::TooDeep`], [`Error::TooManyEntries`].
    ///
    /// ```
    /// use dtype_runtime::types::Order;
    /// use dtype_runtime::{Basic, Type};
    /// let t = Type::subarray(&[4, 6], &[2, 3], &[1, 2], Order::C, &Type::basic(Basic::I8))?;
    /// assert_eq!((t.size(), t.extent()), (6, 24));
    /// assert_eq!((t.true_lb(), t.true_extent()), (8, 9));
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Type_create_subarray")]
    pub fn subarray(
        sizes: &[u64],
        subsizes: &[u64],
        starts: &[u64],
        order: Order,
        old: &Self,
    ) -> Result<Self, Error> {
        let ndims = dimensions(CALL, sizes.len())?;
        same_length(CALL, "array_of_subsizes", ndims, subsizes.len())?;
        same_length(CALL, "array_of_starts", ndims, starts.len())?;
        for i in 0..ndims {
            within(CALL, "array_of_sizes", Some(i), sizes[i], 1, u64::MAX)?;
            within(CALL, "array_of_subsizes", Some(i), subsizes[i], 1, sizes[i])?;
            within(CALL, "array_of_starts", Some(i), starts[i], 0, sizes[i] - subsizes[i])?;
        }
        let numbers = [sizes, subsizes, starts].concat().into();
        let arguments = Subarray { numbers, order };
        let (built, extent) = arguments.build(old)?;
        let mut parts = Parts::copy_of(CALL, &built)?;
        parts.bounds.set(0, extent);
        parts.finish(|| Constructor::Subarray { arguments, built, old: old.clone() })
    }
}

impl Subarray {
    /// The sizes, the subsizes and the starts.
    pub(crate) fn lists(&self) -> [&[u64]; 3] {
        let (sizes, others) = self.numbers.split_at(self.numbers.len() / 3);
        let (subsizes, starts) = others.split_at(others.len() / 2);
        [sizes, subsizes, starts]
    }

    /// The part, made by simpler constructors, and the extent of the whole array.
    ///
    /// For a part of 2 × 3 elements, starting at (1, 2), in an array of 4 × 6 elements with an `old` of extent 8, these are the
    /// calls, the fastest dimension first:
    ///
    /// ```text
    /// contiguous(3, old)                            a row of the part: 3 elements
    /// hvector(2, 1, 6 · 8, row)                     its 2 rows, with the stride of the whole array
    /// structure([1], [2 · 8 + 1 · 48], [rows])      moved to the start
    /// ```
    fn build(&self, old: &Type) -> Result<(Type, i64), Error> {
        let overflow = |quantity| Error::Overflow { call: CALL, quantity };
        let times = |bytes: i64, n: u64| {
            i64::try_from(n).ok().and_then(|n| bytes.checked_mul(n)).ok_or(overflow("extent"))
        };
        let [sizes, subsizes, starts] = self.lists();
        let (mut part, mut stride, mut start) = (old.clone(), old.extent(), 0_i64);
        for (n, i) in self.order.fastest_first(sizes.len()).enumerate() {
            part = if n == 0 {
                Type::contiguous(subsizes[i], &part)?
            } else {
                Type::hvector(subsizes[i], 1, stride, &part)?
            };
            let offset = times(stride, starts[i])?;
            start = start.checked_add(offset).ok_or(overflow("displacement"))?;
            stride = times(stride, sizes[i])?;
        }
        Ok((Type::structure(&[1], &[start], &[part])?, stride))
    }
}
