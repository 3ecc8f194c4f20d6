//! The datatype of a dtype's items.

use dtype_runtime::{Basic, Error, Type};

use crate::dtype::{Dtype, Kind};

impl Dtype {
    /// The datatype of an item: its fields in the order of the dtype, each at its offset, and the item size as the extent. A text
    /// is its characters or bytes. A number that only another machine has, and raw bytes, are [`Basic::Byte`]s. A datatype has no
    /// byte order: pass that of the dtype as the representation.
    ///
    /// # Errors
    ///
    /// [`Error::TooDeep`], [`Error::TooManyEntries`].
    ///
    /// ```
    /// use dtype_npy::Dtype;
    /// let dtype = Dtype::parse("[('id', '<u2'), ('', 'V6'), ('at', '<f8', (3,))]").unwrap();
    /// let ty = dtype.datatype()?;
    /// assert_eq!((ty.size(), ty.extent(), ty.true_extent()), (2 + 24, 32, 32));
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn datatype(&self) -> Result<Type, Error> {
        match self.kind() {
            Kind::Array { lengths, element } => {
                // An array of dtypes has at most `i64::MAX` bytes, but elements without bytes can be any number.
                let count = lengths.iter().fold(1_u64, |all, length| all.saturating_mul(*length));
                Type::contiguous(count, &element.datatype()?)
            }
            Kind::Structure { fields } => {
                let types = fields.iter().map(|field| field.dtype.datatype());
                let types = types.collect::<Result<Vec<_>, _>>()?;
                // No offset or size of a dtype exceeds `i64::MAX`.
                let offsets = fields.iter().map(|field| field.offset.cast_signed());
                let offsets: Vec<i64> = offsets.collect();
                let all = Type::structure(&vec![1; types.len()], &offsets, &types)?;
                Type::resized(&all, 0, self.itemsize().cast_signed())
            }
            Kind::Scalar { .. } => {
                let basic = self.basic().unwrap_or(Basic::Byte);
                let one = Type::basic(basic);
                match self.itemsize() / basic.size() as u64 {
                    1 => Ok(one),
                    count => Type::contiguous(count, &one),
                }
            }
        }
    }
}
