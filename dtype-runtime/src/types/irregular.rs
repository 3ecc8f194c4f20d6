//! The constructors for blocks at individual displacements, such as `indexed`.

use super::blocks::{BlockList, Lengths};
use super::parts::{Parts, same_length};
use super::{Constructor, Type, Unit};
use crate::error::Error;

impl Type {
    /// Blocks of `old` at irregular displacements: block `i` has `blocklengths[i]` instances and starts
    /// `displacements[i]` extents of `old` from the origin (MPI-4.1 section 5.1.2). Blocks of length
    /// zero have no effect.
    ///
    /// # Errors
    ///
    /// [`Error::ArgumentLengths`] when the two arrays differ in length; [`Error::Overflow`],
    /// [`Error::TooDeep`], [`Error::TooManyEntries`].
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// // The upper triangle of a 3 × 3 matrix, row by row.
    /// let t = Type::indexed(&[3, 2, 1], &[0, 4, 8], &Type::basic(Basic::U8))?.commit();
    /// let mut out = [0; 6];
    /// t.pack(b"abc.ef..i", 1, &mut out)?;
    /// assert_eq!(&out, b"abcefi");
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Type_indexed")]
    pub fn indexed(blocklengths: &[u64], displacements: &[i64], old: &Self) -> Result<Self, Error> {
        block_list("indexed", Lengths::Each(blocklengths), displacements, Unit::Extent, old)
    }

    /// As [`indexed`](Self::indexed), with the displacements in bytes.
    ///
    /// # Errors
    ///
    /// As [`indexed`](Self::indexed).
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let t = Type::hindexed(&[2, 1], &[0, 100], &Type::basic(Basic::I32))?;
    /// assert_eq!((t.size(), t.extent()), (12, 104));
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Type_create_hindexed")]
    pub fn hindexed(
        blocklengths: &[u64],
        displacements: &[i64],
        old: &Self,
    ) -> Result<Self, Error> {
        block_list("hindexed", Lengths::Each(blocklengths), displacements, Unit::Byte, old)
    }

    /// As [`indexed`](Self::indexed), with all blocks of one length.
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`], [`Error::TooDeep`], [`Error::TooManyEntries`].
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let t = Type::indexed_block(1, &[4, 0, 2], &Type::basic(Basic::U8))?.commit();
    /// let mut out = [0; 3];
    /// t.pack(b"abcde", 1, &mut out)?;
    /// assert_eq!(&out, b"eac");
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Type_create_indexed_block")]
    pub fn indexed_block(
        blocklength: u64,
        displacements: &[i64],
        old: &Self,
    ) -> Result<Self, Error> {
        block_list("indexed_block", Lengths::Same(blocklength), displacements, Unit::Extent, old)
    }

    /// As [`indexed_block`](Self::indexed_block), with the displacements in bytes.
    ///
    /// # Errors
    ///
    /// As [`indexed_block`](Self::indexed_block).
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let t = Type::hindexed_block(2, &[-8, 8], &Type::basic(Basic::I32))?;
    /// assert_eq!((t.lb(), t.ub()), (-8, 16));
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Type_create_hindexed_block")]
    pub fn hindexed_block(
        blocklength: u64,
        displacements: &[i64],
        old: &Self,
    ) -> Result<Self, Error> {
        block_list("hindexed_block", Lengths::Same(blocklength), displacements, Unit::Byte, old)
    }
}

fn block_list(
    call: &'static str,
    lengths: Lengths<&[u64]>,
    displacements: &[i64],
    unit: Unit,
    old: &Type,
) -> Result<Type, Error> {
    let mut parts = Parts::new(call);
    if let Lengths::Each(lengths) = lengths {
        same_length(call, "array_of_displacements", lengths.len(), displacements.len())?;
    }
    let list = BlockList { lengths, displacements, unit: unit.bytes(old), old };
    parts.add_list(&list)?;
    parts.finish(|| Constructor::Blocks {
        unit,
        lengths: match lengths {
            Lengths::Each(lengths) => Lengths::Each(lengths.into()),
            Lengths::Same(length) => Lengths::Same(length),
        },
        displacements: displacements.into(),
        old: old.clone(),
    })
}
