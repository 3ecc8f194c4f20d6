//! The differences that are explained: each a property of the type, with what it spoils and how often it may
//! come up.

use Quantity::*;

use crate::compare::{Quantity, model, ours};
use crate::library::Library;
use crate::model::Tree;
use crate::mpich;

/// A peer's defect, or a deliberate difference.
pub(crate) struct Class {
    pub(crate) name: &'static str,
    pub(crate) library: Library,
    /// The types that it may apply to, in percent.
    pub(crate) allowance: f64,
    /// What is not compared for these types. Where `Packed` or `Unpacked` is among them, the library's call
    /// is not made, because some of these calls end the process.
    pub(crate) spoils: &'static [Quantity],
    pub(crate) applies: fn(&Tree) -> bool,
    pub(crate) why: &'static str,
}

/// The parts of a type.
pub(crate) fn parts(tree: &Tree) -> Vec<&Tree> {
    match tree {
        Tree::Basic(_)
        | Tree::LbMarker
        | Tree::UbMarker
        | Tree::Pair(_)
        | Tree::ValueIndex(..)
        | Tree::F90Real(..)
        | Tree::F90Complex(..)
        | Tree::F90Integer(_) => Vec::new(),
        Tree::Contiguous(_, old)
        | Tree::Vector(_, _, _, old)
        | Tree::Hvector(_, _, _, old)
        | Tree::Resized(old, _, _)
        | Tree::Dup(old)
        | Tree::Indexed(_, old)
        | Tree::Hindexed(_, old)
        | Tree::IndexedBlock(_, _, old)
        | Tree::HindexedBlock(_, _, old)
        | Tree::Subarray(_, _, old)
        | Tree::Darray(_, _, _, old) => vec![old],
        Tree::Structure(members) => members.iter().map(|member| &member.2).collect(),
    }
}

/// Whether it holds of the type or of a part of it.
fn somewhere(tree: &Tree, holds: &dyn Fn(&Tree) -> bool) -> bool {
    holds(tree) || parts(tree).into_iter().any(|part| somewhere(part, holds))
}

fn is_marker(tree: &Tree) -> bool {
    matches!(tree, Tree::LbMarker | Tree::UbMarker)
}

/// Whether the library's bounds are not those that the engine has by the library's rules.
fn has_other_bounds(tree: &Tree, library: Library) -> bool {
    let ty = ours(&tree.build().expect("small types do not overflow"), library);
    let (bounds, true_bounds) = ((ty.lb(), ty.extent()), (ty.true_lb(), ty.true_extent()));
    model(tree, library) != (ty.size().cast_signed(), bounds, true_bounds)
}

/// Whether there is no data in it, for one reason or another.
fn is_empty(tree: &Tree) -> bool {
    tree.map().data.is_empty()
}

/// Whether the type or a part of it, other than a marker, has no data.
pub(crate) fn has_hollow_part(tree: &Tree) -> bool {
    somewhere(tree, &|part| !is_marker(part) && is_empty(part))
}

/// A type other than a marker that has no data, and has bounds in Open MPI that it should not have; or one
/// that such a type is a part of.
fn bounds_of_nothing(tree: &Tree) -> bool {
    let without = |tree: &Tree| !is_marker(tree) && tree.map().data.is_empty();
    (without(tree) || parts(tree).into_iter().any(without))
        && has_other_bounds(tree, Library::OpenMpi)
}

/// Neighbouring blocks −1 bytes apart.
fn stride_of_minus_one(tree: &Tree) -> bool {
    match tree {
        Tree::Vector(count, length, stride, old) => {
            *count > 1 && *length > 0 && stride * old.map().extent() == -1
        }
        Tree::Hvector(count, length, stride, _) => *count > 1 && *length > 0 && *stride == -1,
        _ => false,
    }
}

/// A type with data that ends in the padding of its parts, or of some of them.
fn padded_twice(tree: &Tree) -> bool {
    !tree.map().has_ub_marker()
        && parts(tree).into_iter().all(|part| is_marker(part) || !part.map().data.is_empty())
        && !stride_of_minus_one(tree)
        && has_other_bounds(tree, Library::OpenMpi)
}

/// Blocks of no instances of a type that has data.
fn blocks_of_nothing(tree: &Tree) -> bool {
    match tree {
        Tree::Vector(count, 0, _, old) | Tree::Hvector(count, 0, _, old) => {
            *count > 0 && mpich::shape(old).size > 0
        }
        Tree::IndexedBlock(0, places, old) | Tree::HindexedBlock(0, places, old) => {
            !places.is_empty() && mpich::shape(old).size > 0
        }
        _ => false,
    }
}

pub(crate) const CLASSES: &[Class] = &[
    Class {
        name: "blocks of nothing",
        library: Library::Mpich,
        allowance: 5.0,
        spoils: &[Bounds, TrueBounds, Packed, Unpacked],
        applies: |tree| somewhere(tree, &blocks_of_nothing),
        why: "blocks of length zero have bounds, and packing them divides by their size",
    },
    Class {
        name: "bounds of nothing",
        library: Library::Mpich,
        allowance: 5.0,
        spoils: &[Bounds, TrueBounds, Packed, Unpacked],
        applies: |tree| {
            somewhere(tree, &|part| {
                (is_empty(part) || parts(part).into_iter().any(is_empty))
                    && has_other_bounds(part, Library::Mpich)
            })
        },
        why: "resizing a type without data gives it bounds, and as a member of a structure it counts with its place",
    },
    Class {
        name: "one object",
        library: Library::Mpich,
        allowance: 5.0,
        spoils: &[Bounds, TrueBounds, Packed, Unpacked],
        applies: |tree| {
            somewhere(tree, &|part| {
                !is_empty(part) && !parts(part).into_iter().any(is_empty)
                    && has_other_bounds(part, Library::Mpich)
            })
        },
        why: "TODO",
    },
    Class {
        name: "darray of nothing",
        library: Library::OpenMpi,
        allowance: 5.0,
        spoils: &[Made],
        applies: |tree| {
            somewhere(
                tree,
                &|part| matches!(part, Tree::Darray(_, _, _, old) if old.map().data.is_empty()),
            )
        },
        why: "a darray of a type without data is refused",
    },
    Class {
        name: "stride of −1 bytes",
        library: Library::OpenMpi,
        allowance: 1.5,
        spoils: &[Bounds, TrueBounds, Packed, Unpacked],
        applies: |tree| somewhere(tree, &stride_of_minus_one),
        why: "the number means the natural extent inside the library",
    },
    Class {
        name: "padding of parts",
        library: Library::OpenMpi,
        allowance: 3.5,
        spoils: &[Bounds, TrueBounds, Packed, Unpacked],
        applies: |tree| somewhere(tree, &padded_twice),
        why: "the padding of a part, or of the blocks so far, counts where a block is out of line",
    },
    Class {
        name: "bounds of nothing",
        library: Library::OpenMpi,
        allowance: 3.5,
        spoils: &[Bounds, TrueBounds, Packed, Unpacked],
        applies: |tree| is_marker(tree) || somewhere(tree, &bounds_of_nothing),
        why: "a part without data counts with its place, or with the ends of the address space",
    },
];

/// The classes that a type belongs to.
pub(crate) fn classes(tree: &Tree, library: Library) -> Vec<usize> {
    let applies = |class: &Class| class.library == library && (class.applies)(tree);
    (0..CLASSES.len()).filter(|&i| applies(&CLASSES[i])).collect()
}
