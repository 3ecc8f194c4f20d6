//! Whether the library's datatype names the same bytes as the type from which it was made.
//!
//! Equal sizes and bounds are not enough. Libraries have errors in rare types: in a row of types with a negative
//! extent, for example, MPICH looks for the data at other displacements, and the bounds are right. A stride of −1 byte
//! has wrong bounds in Open MPI, which a resized type around it hides. So the bounds of every part are compared, and
//! what the errors have in common is refused. `tests/oracle` compares what is left with the library's own packing,
//! on random types.

use dtype_runtime::types::{Combiner, Named};
use dtype_runtime::{Basic, Type};

use crate::error::Error;
use crate::raw::Datatype;

/// What is known about the parts of a type that were seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Agreement {
    /// Why the library may name other bytes.
    doubt: Option<Error>,
    /// Whether a library may leave the padding of a basic datatype as it is: MPICH copies 10 of the 16 bytes of a long
    /// double.
    leaves_padding: bool,
}

impl Agreement {
    /// Adds a part and its datatype, with the constructor and the parts of which it is made. Requires a session.
    pub(crate) fn see(
        &mut self,
        (ty, datatype): (&Type, &Datatype),
        combiner: Combiner,
        parts: &[(&Type, &Datatype)],
    ) -> Result<(), Error> {
        use Basic::{CxxLongDoubleComplex, LongDouble, LongDoubleComplex};
        use dtype_runtime::types::Pair::LongDoubleInt;
        self.leaves_padding |= matches!(
            ty.named(),
            Some(
                Named::Basic(LongDouble | LongDoubleComplex | CxxLongDoubleComplex)
                    | Named::Pair(LongDoubleInt)
            )
        );
        if self.doubt.is_none() {
            let seen = data_bounds(ty, datatype).and_then(|()| self::parts(combiner, parts));
            self.doubt = match seen {
                Err(error @ (Error::Bounds { .. } | Error::Doubtful { .. })) => Some(error),
                seen => return seen,
            };
        }
        Ok(())
    }

    /// An error if the library may name other bytes.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.doubt.clone().map_or(Ok(()), Err)
    }

    /// Whether the library copies every byte that the type names, and no other.
    pub(crate) fn is_complete(&self) -> bool {
        self.doubt.is_none() && !self.leaves_padding
    }
}

/// Checks the size and the bounds of one instance and of several. Requires a session.
pub(crate) fn bounds(ty: &Type, datatype: &Datatype) -> Result<(), Error> {
    let (lb, extent) = datatype.bounds()?;
    same("lower bound", ty.lb(), lb)?;
    same("extent", ty.extent(), extent)?;
    data_bounds(ty, datatype)
}

/// Checks the size and the bounds of one instance's data. Requires a session.
fn data_bounds(ty: &Type, datatype: &Datatype) -> Result<(), Error> {
    same("size", ty.size().cast_signed(), datatype.packed_size()?)?;
    // Libraries disagree about the true bounds of a type without data.
    if ty.size() > 0 {
        let (true_lb, true_extent) = datatype.true_bounds()?;
        same("true lower bound", ty.true_lb(), true_lb)?;
        same("true extent", ty.true_extent(), true_extent)?;
    }
    Ok(())
}

fn same(quantity: &'static str, here: i64, library: i64) -> Result<(), Error> {
    if here == library { Ok(()) } else { Err(Error::Bounds { quantity, here, library }) }
}

/// Checks how a constructor places its parts. Requires a session.
fn parts(combiner: Combiner, parts: &[(&Type, &Datatype)]) -> Result<(), Error> {
    let doubt = |parts| Err(Error::Doubtful { combiner: combiner.name(), parts });
    for &(part, datatype) in parts {
        // The new bounds replace others, which a struct of resized parts has in MPICH.
        if !matches!(combiner, Combiner::Resized) {
            bounds(part, datatype)?;
        }
        if part.extent() < 0 {
            return doubt("with a negative extent");
        }
        let is_marker = matches!(part.named(), Some(Named::LbMarker | Named::UbMarker));
        if part.size() == 0 && !is_marker {
            return doubt("without data");
        }
    }
    Ok(())
}
