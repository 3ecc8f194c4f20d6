//! The differences that are explained: each a property of the type, with what it spoils and how often it may
//! come up.

use Quantity::*;

use crate::compare::Quantity;
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
fn parts(tree: &Tree) -> Vec<&Tree> {
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

/// A type other than a marker itself that has markers and no data.
fn bounds_without_data(tree: &Tree) -> bool {
    let map = tree.map();
    !is_marker(tree) && map.data.is_empty() && map.has_markers()
}

/// Copies of a type that has neither data nor markers.
fn copies_of_nothing(tree: &Tree) -> bool {
    let copies = match tree {
        Tree::Contiguous(count, _) => *count > 0,
        Tree::Vector(count, length, _, _) | Tree::Hvector(count, length, _, _) => {
            *count > 0 && *length > 0
        }
        Tree::Indexed(list, _) | Tree::Hindexed(list, _) => list.iter().any(|block| block.0 > 0),
        Tree::IndexedBlock(length, places, _) | Tree::HindexedBlock(length, places, _) => {
            *length > 0 && !places.is_empty()
        }
        _ => false,
    };
    copies && parts(tree).into_iter().any(|part| part.map().data.is_empty())
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

/// The blocks of a type that adds one to another: instances, displacement in bytes, type.
fn blocks(tree: &Tree) -> Vec<(u64, i64, &Tree)> {
    match tree {
        Tree::Indexed(list, old) => {
            let extent = old.map().extent();
            list.iter().map(|&(n, at)| (n, at * extent, &**old)).collect()
        }
        Tree::Hindexed(list, old) => list.iter().map(|&(n, at)| (n, at, &**old)).collect(),
        Tree::IndexedBlock(n, places, old) => {
            let extent = old.map().extent();
            places.iter().map(|at| (*n, at * extent, &**old)).collect()
        }
        Tree::HindexedBlock(n, places, old) => {
            places.iter().map(|&at| (*n, at, &**old)).collect()
        }
        Tree::Structure(members) => {
            members.iter().map(|(n, at, member)| (*n, *at, member)).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether padding after each block gives another upper bound than padding after the last.
fn padded_early(tree: &Tree) -> bool {
    let blocks = blocks(tree);
    let mut ub: Option<i64> = None;
    for end in 1..=blocks.len() {
        // The type of the blocks so far, whose bounds are the standard's.
        let so_far = Tree::Structure(
            blocks[..end].iter().map(|&(n, at, old)| (n, at, old.clone())).collect(),
        )
        .map();
        if so_far.data.is_empty() || so_far.has_ub_marker() {
            continue;
        }
        let mut next = ub.unwrap_or(i64::MIN).max(so_far.true_ub());
        while (next - so_far.lb()) % so_far.align() != 0 {
            next += 1;
        }
        ub = Some(next);
    }
    let whole = tree.map();
    !whole.has_ub_marker() && ub.is_some_and(|ub| ub != whole.ub())
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
        name: "darray of nothing",
        library: Library::OpenMpi,
        allowance: 5.0,
        spoils: &[Made],
        applies: |tree| somewhere(tree, &|part| matches!(part, Tree::Darray(_, _, _, old) if old.map().data.is_empty())),
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
        name: "padding between blocks",
        library: Library::OpenMpi,
        allowance: 1.5,
        spoils: &[Bounds, TrueBounds, Packed, Unpacked],
        applies: |tree| somewhere(tree, &padded_early),
        why: "the extent is padded after each block and not once, which adds up for blocks out of order at places out of line",
    },
    Class {
        name: "copies of nothing",
        library: Library::OpenMpi,
        allowance: 1.5,
        spoils: &[Bounds, TrueBounds, Packed, Unpacked],
        applies: |tree| somewhere(tree, &copies_of_nothing),
        why: "the places of instances without data count",
    },
    Class {
        name: "bounds without data",
        library: Library::OpenMpi,
        allowance: 5.0,
        spoils: &[Bounds, TrueBounds, Packed, Unpacked],
        applies: |tree| is_marker(tree) || somewhere(tree, &bounds_without_data),
        why: "the true bounds of a type without data are the ends of the address space, and reach what has it as a part",
    },
];

/// The classes that a type belongs to.
pub(crate) fn classes(tree: &Tree, library: Library) -> Vec<usize> {
    let applies = |class: &Class| class.library == library && (class.applies)(tree);
    (0..CLASSES.len()).filter(|&i| applies(&CLASSES[i])).collect()
}
