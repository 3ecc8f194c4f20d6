//! The differences that are explained: each a property of the type, with what it spoils and how often it may
//! come up.

use Quantity::{Bounds, Made, Packed, Padding, TrueBounds, Unpacked};
use dtype_runtime::Basic;
use dtype_runtime::types::{Distribution, Order, Pair};

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
    /// What may differ for these types; everything else is compared.
    pub(crate) spoils: &'static [Quantity],
    /// What is not asked of the library. With other bounds the instances lie elsewhere, and some of these calls
    /// read and write anywhere or end the process.
    pub(crate) avoids: &'static [Quantity],
    pub(crate) applies: fn(&Tree) -> bool,
    /// A type of this class that does differ.
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
    parts(tree).into_iter().all(|part| is_marker(part) || !part.map().data.is_empty())
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

/// Several instances of one type in a row, nothing else.
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

/// A type with data everywhere that has other bounds in MPICH than in the engine, by MPICH's rules.
fn differs_by_itself(tree: &Tree) -> bool {
    !has_hollow_part(tree) && has_other_bounds(tree, Library::Mpich)
}

fn is_binary128(tree: &Tree) -> bool {
    matches!(tree, Tree::Basic(Basic::Real16 | Basic::Complex32))
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
        applies: |tree| somewhere(tree, &blocks_of_nothing),
        example: || Tree::Vector(3, 0, 5, Box::new(leaf(Basic::I32))),
        why: "blocks of length zero have bounds, and packing what has them divides by zero",
    },
    Class {
        name: "bounds of nothing",
        library: Library::Mpich,
        allowance: 1.5,
        spoils: &[Bounds, TrueBounds],
        avoids: &[Packed],
        applies: |tree| {
            somewhere(tree, &|part| {
                (is_empty(part) || parts(part).into_iter().any(is_empty))
                    && has_other_bounds(part, Library::Mpich)
            })
        },
        example: || {
            Tree::Structure(vec![(3, -8, Tree::Structure(Vec::new())), (1, 16, leaf(Basic::I32))])
        },
        why: "a member of a structure that has no data counts with its place, also in the true bounds",
    },
    Class {
        name: "binary128",
        library: Library::Mpich,
        allowance: 1.5,
        spoils: &[Bounds, TrueBounds],
        avoids: &[Packed],
        applies: |tree| {
            somewhere(tree, &|part| differs_by_itself(part) && somewhere(part, &is_binary128))
        },
        example: || Tree::Structure(vec![(1, 0, leaf(Basic::Real16)), (1, 16, leaf(Basic::I32))]),
        why: "the library aligns MPI_REAL16 and MPI_COMPLEX32 as bytes",
    },
    Class {
        name: "shares of one short block",
        library: Library::Mpich,
        allowance: 1.5,
        spoils: &[Bounds, TrueBounds],
        avoids: &[Packed],
        applies: |tree| {
            somewhere(tree, &|part| matches!(part, Tree::Darray(..)) && differs_by_itself(part))
        },
        example: || {
            let pairs = Distribution::Cyclic(Some(2));
            Tree::Darray(
                vec![(1, pairs, 2), (5, pairs, 2)],
                vec![0, 1],
                Order::C,
                Box::new(leaf(Basic::I32)),
            )
        },
        why: "the whole blocks of a cyclic share count with their place where there are none",
    },
    Class {
        name: "pairs of equal numbers",
        library: Library::Mpich,
        allowance: 0.5,
        spoils: &[Bounds, TrueBounds],
        avoids: &[Packed],
        applies: |tree| {
            somewhere(tree, &|part| {
                differs_by_itself(part)
                    && !somewhere(part, &is_binary128)
                    && !somewhere(part, &|part| matches!(part, Tree::Darray(..)))
            })
        },
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
        applies: |tree| row(tree).is_some_and(|(n, old)| n > 1 && mpich::shape(old).bounds().1 < 0),
        example: || {
            Tree::Contiguous(3, Box::new(Tree::Resized(Box::new(Tree::Pair(Pair::TwoInt)), 0, -8)))
        },
        why: "the instances of a row of types with a negative extent are looked for in the wrong places",
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
];

/// The classes that a type belongs to.
pub(crate) fn classes(tree: &Tree, library: Library) -> Vec<usize> {
    let applies = |class: &Class| class.library == library && (class.applies)(tree);
    (0..CLASSES.len()).filter(|&i| applies(&CLASSES[i])).collect()
}
