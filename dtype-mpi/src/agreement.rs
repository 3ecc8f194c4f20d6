//! Checks that the library's datatype names the same bytes as the type from which it was made.
//!
//! Equal sizes and bounds are not enough. Libraries have defects in rare types: for a row of types with a negative extent, for
//! example, MPICH accesses the data at other displacements although the bounds are right. For a stride of −1 byte, Open MPI
//! computes wrong bounds, which a resized type around it hides. So the bounds of every part are compared, and types with a
//! property that all known defects share are refused. `tests/oracle` compares the other types with the library's own packing,
//! on random types.

use dtype_runtime::types::{Combiner, Named};
use dtype_runtime::{Basic, Type};

use crate::error::Error;
use crate::raw::Datatype;

/// What the parts visited so far say about a type.
#[derive(Clone, Debug)]
pub(crate) struct Agreement {
    /// Why the library may name other bytes.
    doubt: Option<Error>,
    /// Whether the type is basic data in any number of dimensions, of which libraries copy every byte: of a long double, MPICH
    /// leaves out 6 of the 16 bytes.
    is_grid: bool,
}

impl Agreement {
    /// The state before the first part.
    pub(crate) fn new() -> Self {
        Self { doubt: None, is_grid: true }
    }

    /// Adds a part and its datatype, with its constructor and its own parts. Requires a session.
    pub(crate) fn see(
        &mut self,
        (ty, datatype): (&Type, &Datatype),
        combiner: Combiner,
        parts: &[(&Type, &Datatype)],
    ) -> Result<(), Error> {
        self.is_grid &= is_of_grid(ty, combiner);
        if self.doubt.is_none() {
            let seen = data_bounds(ty, datatype).and_then(|()| check_parts(ty, combiner, parts));
            self.doubt = match seen {
                Err(error @ (Error::Bounds { .. } | Error::LibraryDefect { .. })) => Some(error),
                seen => return seen,
            };
        }
        Ok(())
    }

    /// An error if the library may name other bytes.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.doubt.clone().map_or(Ok(()), Err)
    }

    /// Whether the library is known to copy every byte that the type names, and no other.
    pub(crate) fn is_sure(&self) -> bool {
        self.doubt.is_none() && self.is_grid
    }
}

/// Whether a type made by this constructor may be part of a grid.
fn is_of_grid(ty: &Type, combiner: Combiner) -> bool {
    use Basic::{CxxLongDoubleComplex, LongDouble, LongDoubleComplex};
    match combiner {
        Combiner::Contiguous
        | Combiner::Vector
        | Combiner::Hvector
        | Combiner::IndexedBlock
        | Combiner::Subarray
        | Combiner::Dup => true,
        Combiner::Named => match ty.named() {
            Some(Named::Basic(basic)) => {
                !matches!(basic, LongDouble | LongDoubleComplex | CxxLongDoubleComplex)
            }
            _ => false,
        },
        _ => false,
    }
}

/// Checks the size and all bounds. Requires a session.
pub(crate) fn bounds(ty: &Type, datatype: &Datatype) -> Result<(), Error> {
    extent(ty, datatype)?;
    data_bounds(ty, datatype)
}

/// Checks the lower bound and the extent. Requires a session.
fn extent(ty: &Type, datatype: &Datatype) -> Result<(), Error> {
    let (lb, extent) = datatype.bounds()?;
    same("lower bound", ty.lb(), lb)?;
    same("extent", ty.extent(), extent)
}

/// Checks the size and the bounds of the data. Requires a session.
fn data_bounds(ty: &Type, datatype: &Datatype) -> Result<(), Error> {
    let size = i64::try_from(ty.size()).unwrap_or(i64::MAX);
    same("size", size, datatype.packed_size()?)?;
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

/// Checks the type's extent, and its parts, whose data were compared earlier. Requires a session.
fn check_parts(ty: &Type, combiner: Combiner, parts: &[(&Type, &Datatype)]) -> Result<(), Error> {
    let defect = |what| Err(Error::LibraryDefect { combiner: combiner.name(), what });
    if ty.extent() < 0 {
        // Open MPI also allocates too little for several instances in collective operations.
        return defect("with a negative extent");
    }
    for &(part, datatype) in parts {
        // A resized type replaces the bounds of its part. For a struct of resized parts, MPICH computes other bounds.
        if !(matches!(combiner, Combiner::Resized) && is_full_structure(part)) {
            extent(part, datatype)?;
        }
        let is_marker = matches!(part.named(), Some(Named::LbMarker | Named::UbMarker));
        if part.size() == 0 && !is_marker {
            return defect("with a part without data");
        }
    }
    Ok(())
}

/// Whether the type is a structure without empty blocks.
fn is_full_structure(ty: &Type) -> bool {
    ty.contents().is_ok_and(|contents| {
        matches!(contents.combiner, Combiner::Structure)
            && contents.integers.iter().all(|&length| length > 0)
            && contents.large_counts.is_empty()
    })
}
