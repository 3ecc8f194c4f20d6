//! The naive model of MPICH's bounds. As in MPICH's sources, a constructor computes them from the bounds of its parts, and
//! never from the type map.

use std::cell::Cell;

use dtype_runtime::Basic;
use dtype_runtime::types::{Distribution, Order};
use dtype_test_support::model::Tree;

use crate::array::{Share, fastest_first};

/// The properties of a type in MPICH. MPICH takes types of one object for the same type, so each object has a number here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shape {
    object: u64,
    pub(crate) size: i64,
    lb: i64,
    ub: i64,
    true_lb: i64,
    true_ub: i64,
    align: i64,
}

/// A type without data. How it was made does not matter.
const EMPTY: Shape = Shape { object: 0, size: 0, lb: 0, ub: 0, true_lb: 0, true_ub: 0, align: 1 };

/// A property of MPICH that the engine's rules for MPICH leave out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Quirk {
    /// Blocks of length zero have bounds.
    EmptyBlocks,
    /// A member without data counts with its displacement in the true bounds of a structure.
    MembersWithoutData,
    /// A binary128 is aligned as a byte.
    Binary128,
    /// Two equal numbers are a complex number, and `MPI_2INTEGER` is `MPI_2INT`.
    Pairs,
}

thread_local! {
    static OBJECTS: Cell<u64> = const { Cell::new(1000) };
    static WITHOUT: Cell<Option<Quirk>> = const { Cell::new(None) };
}

fn has(quirk: Quirk) -> bool {
    WITHOUT.get() != Some(quirk)
}

/// Whether the bounds of the type depend on the property.
pub(crate) fn depends_on(quirk: Quirk, tree: &Tree) -> bool {
    let layout = |shape: Shape| (shape.size, shape.bounds(), shape.true_bounds());
    let with = layout(shape(tree));
    WITHOUT.set(Some(quirk));
    let without = layout(shape(tree));
    WITHOUT.set(None);
    with != without
}

fn new_object() -> u64 {
    OBJECTS.set(OBJECTS.get() + 1);
    OBJECTS.get()
}

impl Shape {
    fn extent(&self) -> i64 {
        self.ub - self.lb
    }

    /// Lower bound and extent.
    pub(crate) fn bounds(&self) -> (i64, i64) {
        (self.lb, self.extent())
    }

    /// True lower bound and true extent.
    pub(crate) fn true_bounds(&self) -> (i64, i64) {
        (self.true_lb, self.true_ub - self.true_lb)
    }
}

/// The hull of blocks at byte displacements: the least lower bound and the greatest upper bound. A block of length zero counts,
/// and ends where it begins.
fn hull(blocks: &[(i64, i64, Shape)]) -> Shape {
    let mut whole: Option<Shape> = None;
    for &(length, at, old) in blocks {
        let last = (length - 1) * old.extent();
        let (least, greatest) = if old.extent() > 0 { (at, at + last) } else { (at + last, at) };
        let (size, align) = (length * old.size, old.align);
        let (lb, ub) = (old.lb + least, old.ub + greatest);
        let (true_lb, true_ub) = (old.true_lb + least, old.true_ub + greatest);
        whole = Some(match whole {
            None => Shape { object: new_object(), size, lb, ub, true_lb, true_ub, align },
            Some(all) => Shape {
                object: all.object,
                size: all.size + size,
                lb: all.lb.min(lb),
                ub: all.ub.max(ub),
                true_lb: all.true_lb.min(true_lb),
                true_ub: all.true_ub.max(true_ub),
                align: all.align.max(align),
            },
        });
    }
    whole.unwrap_or(EMPTY)
}

/// Blocks of one length. One block of one instance at 0 is the old type itself.
fn blocks(starts: &[i64], length: i64, old: Shape) -> Shape {
    let nothing = length == 0 && !has(Quirk::EmptyBlocks);
    if starts.is_empty() || old.size == 0 || nothing {
        EMPTY
    } else if (starts, length) == (&[0], 1) {
        old
    } else {
        hull(&starts.iter().map(|&at| (length, at, old)).collect::<Vec<_>>())
    }
}

fn contiguous(count: i64, old: Shape) -> Shape {
    if count == 0 { EMPTY } else { blocks(&[0], count, old) }
}

fn hvector(count: i64, length: i64, stride: i64, old: Shape) -> Shape {
    blocks(&(0..count).map(|i| i * stride).collect::<Vec<_>>(), length, old)
}

/// Blocks with individual lengths; blocks of length zero do not count.
fn hindexed(list: &[(i64, i64)], old: Shape) -> Shape {
    let equal = list.windows(2).all(|pair| pair[0].0 == pair[1].0);
    if old.size == 0 || list.iter().all(|block| block.0 == 0) {
        EMPTY
    } else if equal {
        blocks(&list.iter().map(|block| block.1).collect::<Vec<_>>(), list[0].0, old)
    } else {
        let counted = list.iter().filter(|block| block.0 > 0);
        hull(&counted.map(|&(length, at)| (length, at, old)).collect::<Vec<_>>())
    }
}

fn resized(old: Shape, lb: i64, extent: i64) -> Shape {
    if (old.lb, old.extent()) == (lb, extent) {
        old
    } else {
        Shape { object: new_object(), lb, ub: lb + extent, ..old }
    }
}

fn structure(members: &[(i64, i64, Shape)]) -> Shape {
    if members.iter().map(|(length, _, old)| length * old.size).sum::<i64>() == 0 {
        return EMPTY;
    }
    if members.windows(2).all(|pair| pair[0].2.object == pair[1].2.object) {
        let list: Vec<(i64, i64)> = members.iter().map(|&(n, at, _)| (n, at)).collect();
        return hindexed(&list, members[0].2);
    }
    let counted: Vec<_> = members.iter().copied().filter(|member| member.0 > 0).collect();
    let mut whole = hull(&counted);
    if !has(Quirk::MembersWithoutData) {
        let data: Vec<_> = counted.iter().copied().filter(|member| member.2.size > 0).collect();
        let data = hull(&data);
        (whole.true_lb, whole.true_ub) = (data.true_lb, data.true_ub);
    }
    // As in C: the remainder of a negative extent is negative, and the padding exceeds the alignment.
    let rest = whole.extent() % whole.align;
    Shape { ub: whole.ub + if rest == 0 { 0 } else { whole.align - rest }, ..whole }
}

/// The object of a basic datatype. Integers of one width, for example, are one object, whatever their sign and language.
fn basic(basic: Basic) -> Shape {
    use Basic as B;
    let same = match basic {
        B::I16 | B::U16 | B::Short | B::UnsignedShort | B::Integer2 => B::I16,
        B::I32 | B::U32 | B::Int | B::Unsigned | B::Logical | B::Integer | B::Integer4 => B::I32,
        B::I64
        | B::U64
        | B::Aint
        | B::Offset
        | B::Count
        | B::Long
        | B::UnsignedLong
        | B::LongLong
        | B::UnsignedLongLong
        | B::Integer8 => B::I64,
        B::F32 | B::Real | B::Real4 => B::F32,
        B::F64 | B::DoublePrecision | B::Real8 => B::F64,
        B::C32 | B::CxxFloatComplex | B::Complex | B::Complex8 => B::C32,
        B::C64 | B::CxxDoubleComplex | B::DoubleComplex | B::Complex16 => B::C64,
        B::LongDoubleComplex | B::CxxLongDoubleComplex => B::LongDoubleComplex,
        other => other,
    };
    // Without a counterpart in C, the type is bytes.
    let bytes = matches!(basic, B::Real16 | B::Complex32) && has(Quirk::Binary128);
    let align = if bytes { 1 } else { basic.align() as i64 };
    let size = basic.size() as i64;
    Shape { object: same as u64, size, lb: 0, ub: size, true_lb: 0, true_ub: size, align }
}

pub(crate) fn shape(tree: &Tree) -> Shape {
    let signed = |n: u64| n as i64;
    match tree {
        Tree::Basic(leaf) => basic(*leaf),
        Tree::LbMarker | Tree::UbMarker => EMPTY,
        Tree::Pair(pair) => {
            let map = tree.map();
            let (value, index) = pair.parts();
            // Two equal numbers are a complex number, and the pairs of two integers are one type.
            let object = match (value, index) {
                _ if !has(Quirk::Pairs) => 400 + *pair as u64,
                (Basic::Real, _) => Basic::C32 as u64,
                (Basic::DoublePrecision, _) => Basic::C64 as u64,
                (Basic::Int | Basic::Integer, _) => 200,
                _ => 300 + value as u64,
            };
            let (size, ub) = (map.size() as i64, map.ub());
            Shape {
                object,
                size,
                lb: 0,
                ub,
                true_lb: 0,
                true_ub: map.true_ub(),
                align: map.align(),
            }
        }
        Tree::ValueIndex(..) | Tree::Ucp(..) => unreachable!("no library has it"),
        Tree::F90Real(..) | Tree::F90Complex(..) | Tree::F90Integer(..) => {
            basic(tree.map().data[0].0)
        }
        Tree::Contiguous(count, old) => contiguous(signed(*count), shape(old)),
        Tree::Vector(count, length, stride, old) => {
            let old = shape(old);
            hvector(signed(*count), signed(*length), stride * old.extent(), old)
        }
        Tree::Hvector(count, length, stride, old) => {
            hvector(signed(*count), signed(*length), *stride, shape(old))
        }
        Tree::Structure(members) => {
            let mut parts = Vec::new();
            let (mut lb, mut ub) = (None, None);
            for (length, at, member) in members {
                match member {
                    Tree::LbMarker => lb = Some(*at),
                    Tree::UbMarker => ub = Some(*at),
                    _ => parts.push((signed(*length), *at, shape(member))),
                }
            }
            let whole = structure(&parts);
            if lb.is_none() && ub.is_none() {
                return whole;
            }
            let (lb, ub) = (lb.unwrap_or(whole.lb), ub.unwrap_or(whole.ub));
            resized(whole, lb, ub - lb)
        }
        Tree::Resized(old, lb, extent) => resized(shape(old), *lb, *extent),
        Tree::Dup(old) => shape(old),
        Tree::Indexed(list, old) => {
            let old = shape(old);
            let list: Vec<(i64, i64)> =
                list.iter().map(|&(n, at)| (signed(n), at * old.extent())).collect();
            hindexed(&list, old)
        }
        Tree::Hindexed(list, old) => {
            let list: Vec<(i64, i64)> = list.iter().map(|&(n, at)| (signed(n), at)).collect();
            hindexed(&list, shape(old))
        }
        Tree::IndexedBlock(length, places, old) => {
            let old = shape(old);
            let starts: Vec<i64> = places.iter().map(|at| at * old.extent()).collect();
            blocks(&starts, signed(*length), old)
        }
        Tree::HindexedBlock(length, places, old) => blocks(places, signed(*length), shape(old)),
        Tree::Subarray(dimensions, order, old) => subarray(dimensions, *order, shape(old)),
        Tree::Darray(dimensions, coordinates, order, old) => {
            darray(dimensions, coordinates, *order, shape(old))
        }
    }
}

fn subarray(dimensions: &[(u64, u64, u64)], order: Order, old: Shape) -> Shape {
    let (mut part, mut stride, mut start) = (old, old.extent(), 0);
    for (n, i) in fastest_first(dimensions.len(), order).into_iter().enumerate() {
        let (size, subsize, begin) = dimensions[i];
        part = if n == 0 {
            contiguous(subsize as i64, part)
        } else {
            hvector(subsize as i64, 1, stride, part)
        };
        start += stride * begin as i64;
        stride *= size as i64;
    }
    resized(blocks(&[start], 1, part), 0, stride)
}

fn darray(
    dimensions: &[(u64, Distribution, u64)],
    coordinates: &[u64],
    order: Order,
    old: Shape,
) -> Shape {
    let (mut part, mut stride, mut start) = (old, old.extent(), 0);
    for (n, i) in fastest_first(dimensions.len(), order).into_iter().enumerate() {
        let (size, distribution, processes) = dimensions[i];
        let (size, processes, at) = (size as i64, processes as i64, coordinates[i] as i64);
        let extent = part.extent();
        let Share { cyclic, length, begin, mine } = Share::of(size, distribution, processes, at);
        if cyclic {
            let (whole, rest) = (mine / length, mine % length);
            let step = processes * length * stride;
            let from = part;
            part = hvector(whole, length, step, from);
            if rest > 0 {
                part = structure(&[(1, 0, part), (rest, whole * step, from)]);
            }
            if n == 0 {
                part = resized(blocks(&[begin * stride], 1, part), 0, stride * size);
            } else if mine > 0 {
                start += begin * stride;
            }
        } else {
            part = if n == 0 { contiguous(mine, part) } else { hvector(mine, 1, stride, part) };
            if mine > 0 {
                start += begin * stride;
            }
        }
        part = resized(part, 0, size * extent);
        stride *= size;
    }
    resized(blocks(&[start], 1, part), 0, stride)
}
