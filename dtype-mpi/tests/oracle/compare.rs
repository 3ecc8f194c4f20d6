//! Compares one type in both libraries, quantity by quantity.

use std::fmt::Debug;

use dtype_mpi::{Contents, Datatype, Layout as Sent, SendBuffer};
use dtype_runtime::Type;
use dtype_runtime::types::{BoundsRule, Combiner};
use dtype_test_support::model::Tree;

use crate::library::Library;
use crate::packing::Job;
use crate::{mpich, openmpi};

/// The quantities compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Quantity {
    /// Whether the library accepts the call.
    Made,
    Size,
    /// Lower bound and extent.
    Bounds,
    /// True lower bound and true extent.
    TrueBounds,
    /// Envelopes and contents at every level.
    Contents,
    /// The bytes of `MPI_Pack`.
    Packed,
    /// The memory after `MPI_Unpack`.
    Unpacked,
    /// The packed bytes and the unpacked memory of a type that safe functions pass to the library.
    Trusted,
    /// Bytes inside basic datatypes that are not part of the value, packed and unpacked.
    Padding,
    /// The MPI datatype decoded to a type.
    Back,
    /// The library's bounds and the bounds in the naive model of it.
    Model,
}

/// A difference: the quantity, and both values in words.
pub(crate) type Difference = (Quantity, String);

/// The type in the engine, with the library's rules for bounds.
pub(crate) fn ours(ty: &Type, library: Library) -> Type {
    match library {
        Library::OpenMpi => ty.clone(),
        Library::Mpich => {
            ty.with_bounds_rule(BoundsRule::Mpich).expect("small types do not overflow")
        }
    }
}

/// Size; lower bound and extent; true lower bound and true extent.
pub(crate) type Layout = (i64, (i64, i64), (i64, i64));

/// All differences between the engine and the library. `count` instances are packed, unless packing is `avoided`.
pub(crate) fn compare(
    tree: &Tree,
    ty: &Type,
    library: Library,
    count: usize,
    avoided: &[Quantity],
) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut note = |quantity, ours: &dyn Debug, theirs: &dyn Debug| {
        found.push((quantity, format!("here {ours:?}, there {theirs:?}")));
    };
    let datatype = match Datatype::new(ty) {
        Ok(datatype) => datatype,
        Err(error) => {
            note(Quantity::Made, &"made", &error);
            return found;
        }
    };
    let ours = ours(ty, library);

    let size = datatype.size().unwrap();
    if size != ours.size().cast_signed() {
        note(Quantity::Size, &ours.size(), &size);
    }
    let bounds = datatype.extent().unwrap();
    if bounds != (ours.lb(), ours.extent()) {
        note(Quantity::Bounds, &(ours.lb(), ours.extent()), &bounds);
    }
    let true_bounds = datatype.true_extent().unwrap();
    if true_bounds != (ours.true_lb(), ours.true_extent()) {
        note(Quantity::TrueBounds, &(ours.true_lb(), ours.true_extent()), &true_bounds);
    }
    let expected = model(tree, library);
    if (size, bounds, true_bounds) != expected {
        note(Quantity::Model, &expected, &(size, bounds, true_bounds));
    }

    if let Err((at, ours, theirs)) = levels(ty, &datatype) {
        note(Quantity::Contents, &format!("{at}: {ours}"), &theirs);
    }
    match datatype.to_type() {
        Ok(back) => {
            if let Err(problem) = same(ty, &back) {
                note(Quantity::Back, &problem, &back);
            }
        }
        Err(error) => note(Quantity::Back, &ty, &error),
    }

    let trusted = is_trusted(&ours);
    if trusted || !avoided.contains(&Quantity::Packed) {
        let job = Job { datatype: &datatype, ours: &ours, library, count };
        for (quantity, here, there) in job.run((size, bounds, true_bounds)) {
            note(quantity, &here, &there);
            if trusted && matches!(quantity, Quantity::Packed | Quantity::Unpacked) {
                note(Quantity::Trusted, &here, &there);
            }
        }
    }
    found
}

/// Whether a safe buffer can be made of instances, so that the library copies their data. Such data must not differ, whatever
/// the classes of the type explain.
pub(crate) fn is_trusted(ours: &Type) -> bool {
    let Ok(layout) = Sent::new(ours) else { return false };
    let reach = ours.true_lb().unsigned_abs().max(ours.true_ub().unsigned_abs());
    let reach = usize::try_from(reach).expect("everything here is small");
    ours.size() > 0 && SendBuffer::from_layout(&layout, &vec![0_u8; 2 * reach], reach, 1).is_ok()
}

/// Size, bounds and true bounds by the naive model of the library.
pub(crate) fn model(tree: &Tree, library: Library) -> Layout {
    match library {
        Library::OpenMpi => {
            let shape = openmpi::shape(tree);
            (shape.size, shape.bounds(), shape.true_bounds())
        }
        Library::Mpich => {
            let shape = mpich::shape(tree);
            (shape.size, shape.bounds(), shape.true_bounds())
        }
    }
}

/// Compares envelopes and contents on both sides, level by level.
fn levels(ty: &Type, datatype: &Datatype) -> Result<(), (&'static str, String, String)> {
    let envelope = ty.envelope();
    let differ = |ours: &dyn Debug, theirs: &dyn Debug| {
        Err((envelope.combiner.name(), format!("{ours:?}"), format!("{theirs:?}")))
    };
    match datatype.envelope() {
        Ok(theirs) if theirs == envelope => {}
        theirs => return differ(&envelope, &theirs),
    }
    if envelope.combiner == Combiner::Named {
        return Ok(());
    }
    let ours = ty.contents().expect("everything here is small");
    let theirs = match datatype.contents() {
        Ok(theirs) => theirs,
        error => return differ(&ours, &error),
    };
    let Contents { combiner, integers, addresses, large_counts, datatypes } = &theirs;
    if (combiner, integers, addresses, large_counts)
        != (&ours.combiner, &ours.integers, &ours.addresses, &ours.large_counts)
    {
        return differ(&ours, &theirs);
    }
    for (ty, datatype) in ours.datatypes.iter().zip(datatypes) {
        levels(ty, datatype)?;
    }
    Ok(())
}

/// Checks that the same calls made both types, and that both have the same layout.
fn same(a: &Type, b: &Type) -> Result<(), String> {
    let layout = |ty: &Type| (ty.size(), ty.lb(), ty.ub(), ty.true_lb(), ty.true_ub());
    if layout(a) != layout(b) || a.signature() != b.signature() {
        return Err(format!("{a:?}"));
    }
    if !a.type_map().eq(b.type_map()) {
        return Err("another type map".into());
    }
    calls(a, b)
}

fn calls(a: &Type, b: &Type) -> Result<(), String> {
    if a.envelope() != b.envelope() {
        return Err(format!("{:?}", a.envelope()));
    }
    let (a, b) = match (a.contents(), b.contents()) {
        (Ok(a), Ok(b)) => (a, b),
        (a, b) if a.as_ref().err() == b.as_ref().err() => return Ok(()),
        (a, _) => return Err(format!("{a:?}")),
    };
    if (&a.integers, &a.addresses, &a.large_counts) != (&b.integers, &b.addresses, &b.large_counts)
    {
        return Err(format!("{a:?}"));
    }
    a.datatypes.iter().zip(&b.datatypes).try_for_each(|(a, b)| calls(a, b))
}
