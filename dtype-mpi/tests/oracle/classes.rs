//! The explained differences. Each is a property of a type, with the quantities in which such a type may differ, and with its
//! maximum frequency.

use Quantity::{Bounds, Made, Packed, Padding, TrueBounds, Unpacked};
use dtype_runtime::Basic;
use dtype_runtime::types::{Distribution, Order, Pair};
use dtype_test_support::model::Tree;

use crate::compare::{Quantity, model};
use crate::library::Library;
use crate::mpich::{self, Quirk};

/// A peer's defect, or a deliberate difference.
pub(crate) struct Class {
    pub(crate) name: &'static str,
    pub(crate) library: Library,
    /// The maximum share of the types that may have the property, in percent.
    pub(crate) allowance: f64,
    /// The quantities that may differ for these types. All others are compared.
    pub(crate) spoils: &'static [Quantity],
    /// The quantities that the test does not query. With other bounds the instances have other displacements, and some of these
    /// calls access arbitrary memory or end the process.
    pub(crate) avoids: &'static [Quantity],
    pub(crate) applies: fn(&Tree) -> bool,
    /// A type of this class for which the libraries differ.
    pub(crate) example: fn() -> Tree,
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
        Tree::Ucp(fields, _) => fields.iter().map(|field| &field.2).collect(),
    }
}

/// Whether the type or a part of it satisfies `holds`.
fn somewhere(tree: &Tree, holds: &dyn Fn(&Tree) -> bool) -> bool {
    holds(tree) || parts(tree).into_iter().any(|part| somewhere(part, holds))
}

fn is_marker(tree: &Tree) -> bool {
    matches!(tree, Tree::LbMarker | Tree::UbMarker)
}

/// Whether Open MPI's bounds differ from the standard's, by the naive models of both.
fn has_other_bounds(tree: &Tree) -> bool {
    let map = tree.map();
    let bounds = (map.lb(), map.extent());
    let true_bounds = (map.true_lb(), map.true_ub() - map.true_lb());
    model(tree, Library::OpenMpi) != (map.size() as i64, bounds, true_bounds)
}

/// Whether the bounds of the type, or of a part of it, depend on this property of MPICH.
fn depends(quirk: Quirk, tree: &Tree) -> bool {
    somewhere(tree, &|part| mpich::depends_on(quirk, part))
}

/// Whether the type has no data.
fn is_empty(tree: &Tree) -> bool {
    tree.map().data.is_empty()
}

/// Whether the type or a part of it, other than a marker, has no data.
pub(crate) fn has_hollow_part(tree: &Tree) -> bool {
    somewhere(tree, &|part| !is_marker(part) && is_empty(part))
}

/// A type that has no data, is no marker, and has bounds in Open MPI that it should not have; or a type that contains such a
/// type.
fn bounds_of_nothing(tree: &Tree) -> bool {
    let without = |tree: &Tree| !is_marker(tree) && tree.map().data.is_empty();
    (without(tree) || parts(tree).into_iter().any(without)) && has_other_bounds(tree)
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

/// A type whose data end in the padding of some of its parts.
fn padded_twice(tree: &Tree) -> bool {
    parts(tree).into_iter().all(|part| is_marker(part) || !part.map().data.is_empty())
        && !stride_of_minus_one(tree)
        && has_other_bounds(tree)
}

/// A row: several adjacent instances of one type, and nothing else.
fn row(tree: &Tree) -> Option<(u64, &Tree)> {
    match tree {
        Tree::Dup(old) => row(old),
        Tree::Contiguous(n, old) | Tree::Vector(1, n, _, old) | Tree::Hvector(1, n, _, old) => {
            Some((*n, old))
        }
        Tree::Indexed(list, old) | Tree::Hindexed(list, old) if list.len() == 1 => {
            Some((list[0].0, old))
        }
        Tree::IndexedBlock(n, places, old) | Tree::HindexedBlock(n, places, old)
            if places.len() == 1 =>
        {
            Some((*n, old))
        }
        Tree::Structure(members) if members.len() == 1 => Some((members[0].0, &members[0].2)),
        _ => None,
    }
}

/// The longest block of each old type, in instances.
fn blocks(tree: &Tree) -> Vec<(u64, &Tree)> {
    match tree {
        Tree::Contiguous(n, old)
        | Tree::Vector(_, n, _, old)
        | Tree::Hvector(_, n, _, old)
        | Tree::IndexedBlock(n, _, old)
        | Tree::HindexedBlock(n, _, old) => vec![(*n, old)],
        Tree::Indexed(list, old) | Tree::Hindexed(list, old) => {
            vec![(list.iter().map(|block| block.0).max().unwrap_or(0), old)]
        }
        Tree::Structure(members) => members.iter().map(|member| (member.0, &member.2)).collect(),
        // The elements of all dimensions, which are no fewer than the elements of a block.
        Tree::Subarray(_, _, old) | Tree::Darray(_, _, _, old) => {
            vec![(tree.map().size().checked_div(old.map().size()).unwrap_or(0) as u64, old)]
        }
        _ => parts(tree).into_iter().map(|part| (1, part)).collect(),
    }
}

/// A row of instances with a negative extent.
fn runs_backwards(tree: &Tree) -> bool {
    row(tree).is_some_and(|(n, old)| n > 1 && mpich::shape(old).bounds().1 < 0)
}

/// A structure with one run of data whose extent is not its size. Another part has markers but no data, and moves a bound.
fn ends_in_nothing(tree: &Tree) -> bool {
    let Tree::Structure(members) = tree else { return false };
    let hollow = |ty: &Tree| !is_marker(ty) && is_empty(ty) && somewhere(ty, &is_marker);
    let without = members.iter().filter(|(_, _, ty)| !hollow(ty)).cloned().collect();
    let without = Tree::Structure(without).map();
    let map = tree.map();
    (without.lb(), without.extent()) != (map.lb(), map.extent())
        && map.true_ub() - map.true_lb() == map.size() as i64
        && map.extent() != map.size() as i64
}

fn is_long_double(tree: &Tree) -> bool {
    match tree {
        Tree::Basic(basic) => matches!(
            basic,
            Basic::LongDouble | Basic::LongDoubleComplex | Basic::CxxLongDoubleComplex
        ),
        Tree::Pair(pair) => *pair == Pair::LongDoubleInt,
        _ => false,
    }
}

fn leaf(basic: Basic) -> Tree {
    Tree::Basic(basic)
}

pub(crate) const CLASSES: &[Class] = &[
    Class {
        name: "blocks of nothing",
        library: Library::Mpich,
        allowance: 1.5,
        spoils: &[Bounds, TrueBounds],
        avoids: &[Packed],
        applies: |tree| depends(Quirk::EmptyBlocks, tree),
        example: || Tree::Vector(3, 0, 5, Box::new(leaf(Basic::I32))),
        why: "blocks of length zero have bounds, and packing what has them divides by zero",
    },
    Class {
        name: "places of nothing",
        library: Library::Mpich,
        allowance: 1.5,
        spoils: &[TrueBounds],
        avoids: &[],
        applies: |tree| depends(Quirk::MembersWithoutData, tree),
        example: || {
            let nothing = Tree::Structure(Vec::new());
            Tree::Structure(vec![(3, -8, nothing), (1, 16, leaf(Basic::I32))])
        },
        why: "the place of a member without data counts in the true bounds, as do the whole blocks that a cyclic share has none of",
    },
    Class {
        name: "binary128",
        library: Library::Mpich,
        allowance: 1.5,
        spoils: &[Bounds, TrueBounds],
        avoids: &[Packed],
        applies: |tree| depends(Quirk::Binary128, tree),
        example: || Tree::Structure(vec![(1, 0, leaf(Basic::Real16)), (1, 16, leaf(Basic::I32))]),
        why: "the library aligns MPI_REAL16 and MPI_COMPLEX32 as bytes",
    },
    Class {
        name: "pairs of equal numbers",
        library: Library::Mpich,
        allowance: 0.5,
        spoils: &[Bounds, TrueBounds],
        avoids: &[Packed],
        applies: |tree| depends(Quirk::Pairs, tree),
        example: || {
            let pair = Tree::Pair(Pair::TwoReal);
            Tree::Structure(vec![(1, 0, pair), (1, 9, leaf(Basic::Complex))])
        },
        why: "MPI_2REAL is a complex number there, and MPI_2INTEGER is MPI_2INT: one type, two here",
    },
    Class {
        name: "rows that run backwards",
        library: Library::Mpich,
        allowance: 1.5,
        spoils: &[Packed, Unpacked],
        avoids: &[],
        applies: |tree| {
            let of_rows =
                |part: &Tree| blocks(part).iter().any(|&(n, old)| n > 1 && runs_backwards(old));
            runs_backwards(tree) || somewhere(tree, &of_rows)
        },
        example: || {
            Tree::Contiguous(3, Box::new(Tree::Resized(Box::new(Tree::Pair(Pair::TwoInt)), 0, -8)))
        },
        why: "the instances of a row of types with a negative extent, or of a block of such rows, are looked for at wrong displacements",
    },
    Class {
        name: "long double",
        library: Library::Mpich,
        allowance: 25.0,
        spoils: &[Padding],
        avoids: &[],
        applies: |tree| somewhere(tree, &is_long_double),
        example: || Tree::Vector(2, 1, 2, Box::new(leaf(Basic::LongDouble))),
        why: "10 of its 16 bytes are copied; those are compared",
    },
    Class {
        name: "darray of nothing",
        library: Library::OpenMpi,
        allowance: 1.5,
        spoils: &[Made],
        avoids: &[],
        applies: |tree| {
            somewhere(tree, &|part| matches!(part, Tree::Darray(_, _, _, old) if is_empty(old)))
        },
        example: || {
            let nothing = Box::new(Tree::Structure(Vec::new()));
            Tree::Darray(vec![(2, Distribution::None, 1)], vec![0], Order::C, nothing)
        },
        why: "a darray of a type without data is refused",
    },
    Class {
        name: "stride of −1 bytes",
        library: Library::OpenMpi,
        allowance: 1.5,
        spoils: &[Bounds, TrueBounds, Packed, Unpacked],
        avoids: &[Packed],
        applies: |tree| somewhere(tree, &stride_of_minus_one),
        example: || Tree::Vector(4, 1, -1, Box::new(leaf(Basic::I8))),
        why: "the number means the natural extent inside the library",
    },
    Class {
        name: "padding of parts",
        library: Library::OpenMpi,
        allowance: 3.0,
        spoils: &[Bounds, TrueBounds, Packed, Unpacked],
        avoids: &[Packed],
        applies: |tree| somewhere(tree, &padded_twice),
        example: || Tree::HindexedBlock(2, vec![72, 50, -7], Box::new(leaf(Basic::I32))),
        why: "the padding of a part, or of the blocks so far, counts where a block is out of line",
    },
    Class {
        name: "bounds of nothing",
        library: Library::OpenMpi,
        allowance: 2.0,
        spoils: &[Bounds, TrueBounds, Packed, Unpacked],
        avoids: &[Packed],
        applies: |tree| is_marker(tree) || somewhere(tree, &bounds_of_nothing),
        example: || Tree::Vector(1, 2, 1, Box::new(Tree::Structure(Vec::new()))),
        why: "a part without data counts with its place, or with the ends of the address space",
    },
    Class {
        name: "gap after nothing",
        library: Library::OpenMpi,
        allowance: 1.5,
        spoils: &[Packed, Unpacked],
        avoids: &[],
        applies: |tree| somewhere(tree, &ends_in_nothing),
        example: || {
            let marker = Tree::Contiguous(4, Box::new(Tree::LbMarker));
            Tree::Structure(vec![(1, 48, Tree::Pair(Pair::FloatInt)), (4, -8, marker)])
        },
        why: "a part without data that moves a bound leaves the flag that there is no gap, and the next instance is looked for right after the data",
    },
];

/// The classes of a type.
pub(crate) fn classes(tree: &Tree, library: Library) -> Vec<usize> {
    let applies = |class: &Class| class.library == library && (class.applies)(tree);
    (0..CLASSES.len()).filter(|&i| applies(&CLASSES[i])).collect()
}
