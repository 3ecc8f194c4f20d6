//! The naive model of Open MPI's bounds. As in Open MPI's sources, parts are added to a datatype one by one, and each updates
//! the bounds.

use dtype_runtime::types::{Distribution, Order};
use dtype_test_support::model::Tree;

use crate::array::{Share, fastest_first};

/// The properties of a type in Open MPI.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shape {
    pub(crate) size: i64,
    lb: i64,
    ub: i64,
    user_lb: bool,
    user_ub: bool,
    true_lb: i64,
    true_ub: i64,
    align: i64,
    marker: Marker,
}

/// The pseudo-datatypes that mark bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Marker {
    No,
    Lb,
    Ub,
}

/// A datatype before anything is added.
const NEW: Shape = Shape {
    size: 0,
    lb: i64::MAX,
    ub: i64::MIN,
    user_lb: false,
    user_ub: false,
    true_lb: i64::MAX,
    true_ub: i64::MIN,
    align: 1,
    marker: Marker::No,
};

/// The empty datatype.
const NULL: Shape = Shape { lb: 0, ub: 0, true_lb: 0, true_ub: 0, ..NEW };

impl Shape {
    fn extent(&self) -> i64 {
        self.ub.wrapping_sub(self.lb)
    }

    /// Lower bound and extent.
    pub(crate) fn bounds(&self) -> (i64, i64) {
        (self.lb, self.extent())
    }

    /// True lower bound and true extent.
    pub(crate) fn true_bounds(&self) -> (i64, i64) {
        (self.true_lb, self.true_ub.wrapping_sub(self.true_lb))
    }

    /// Adds `count` instances at distances of `stride` bytes, the first at `at`.
    fn add(&mut self, part: &Self, count: i64, at: i64, stride: i64) {
        if count == 0 {
            return;
        }
        match part.marker {
            Marker::No => {}
            Marker::Lb => return self.add_lb(at),
            Marker::Ub => return self.add_ub(at),
        }
        // −1 stands for the datatype's own extent.
        let stride = if stride == -1 { part.extent() } else { stride };
        let last = at.wrapping_add(stride.wrapping_mul(count - 1));
        let lb = part.lb.wrapping_add(at.min(last));
        let ub = part.ub.wrapping_add(at.max(last));
        let true_lb = lb.wrapping_sub(part.lb.wrapping_sub(part.true_lb));
        let true_ub = ub.wrapping_sub(part.ub.wrapping_sub(part.true_ub));
        let (true_lb, true_ub) = (true_lb.min(true_ub), true_lb.max(true_ub));
        self.lb = match (self.user_lb, part.user_lb) {
            (true, false) => self.lb,
            (false, true) => lb,
            _ => self.lb.min(lb),
        };
        self.ub = match (self.user_ub, part.user_ub) {
            (true, false) => self.ub,
            (false, true) => ub,
            _ => self.ub.max(ub),
        };
        self.user_lb |= part.user_lb;
        self.user_ub |= part.user_ub;
        self.align = self.align.max(part.align);
        if !self.user_ub {
            let rest = self.extent() % self.align;
            if rest != 0 {
                self.ub = self.ub.wrapping_add(self.align - rest);
            }
        }
        if part.size == 0 {
            return;
        }
        self.size += count * part.size;
        self.true_lb = self.true_lb.min(true_lb);
        self.true_ub = self.true_ub.max(true_ub);
    }

    fn add_lb(&mut self, at: i64) {
        self.lb = if self.user_lb { self.lb.min(at) } else { at };
        self.user_lb = true;
    }

    fn add_ub(&mut self, at: i64) {
        self.ub = if self.user_ub { self.ub.max(at) } else { at };
        self.user_ub = true;
    }
}

fn contiguous(count: i64, old: Shape) -> Shape {
    if old.size == 0 { NULL } else { hvector(1, count, 0, old) }
}

fn hvector(count: i64, length: i64, stride: i64, old: Shape) -> Shape {
    if count == 0 || length == 0 {
        return NULL;
    }
    let mut whole = NEW;
    if count == 1 || old.extent().wrapping_mul(length) == stride {
        whole.add(&old, count * length, 0, old.extent());
    } else if length == 1 {
        whole.add(&old, count, 0, stride);
    } else {
        let mut block = NEW;
        block.add(&old, length, 0, old.extent());
        whole.add(&block, count, 0, stride);
    }
    whole
}

/// Blocks of one type at displacements in units of `unit` bytes; adjacent blocks are merged.
fn blocks(list: &[(i64, i64)], unit: i64, old: Shape) -> Shape {
    let mut counted = list.iter().copied().filter(|block| block.0 > 0);
    let Some((mut length, mut place)) = counted.next() else { return NULL };
    // The extent of an instance in units.
    let width = if unit == 1 { old.extent() } else { 1 };
    let mut whole = NEW;
    for (n, next) in counted {
        if next == place.wrapping_add(width.wrapping_mul(length)) {
            length += n;
        } else {
            whole.add(&old, length, place.wrapping_mul(unit), old.extent());
            (length, place) = (n, next);
        }
    }
    whole.add(&old, length, place.wrapping_mul(unit), old.extent());
    whole
}

fn resized(old: Shape, lb: i64, extent: i64) -> Shape {
    Shape { lb, ub: lb.wrapping_add(extent), user_lb: true, user_ub: true, ..old }
}

pub(crate) fn shape(tree: &Tree) -> Shape {
    let signed = |n: u64| n as i64;
    match tree {
        Tree::Ucp(..) => unreachable!("no library has it"),
        Tree::LbMarker => Shape { marker: Marker::Lb, ..NULL },
        Tree::UbMarker => Shape { marker: Marker::Ub, ..NULL },
        Tree::Basic(_)
        | Tree::Pair(_)
        | Tree::ValueIndex(..)
        | Tree::F90Real(..)
        | Tree::F90Complex(..)
        | Tree::F90Integer(..) => {
            let map = tree.map();
            let (size, align) = (map.size() as i64, map.align());
            Shape { size, lb: 0, ub: map.ub(), true_lb: 0, true_ub: map.true_ub(), align, ..NEW }
        }
        Tree::Contiguous(count, old) => contiguous(signed(*count), shape(old)),
        Tree::Vector(count, length, stride, old) => {
            let old = shape(old);
            hvector(signed(*count), signed(*length), stride.wrapping_mul(old.extent()), old)
        }
        Tree::Hvector(count, length, stride, old) => {
            hvector(signed(*count), signed(*length), *stride, shape(old))
        }
        Tree::Structure(members) => {
            if members.iter().all(|member| member.0 == 0) {
                return NULL;
            }
            let mut whole = NEW;
            for (length, at, member) in members.iter().filter(|member| member.0 > 0) {
                let part = shape(member);
                whole.add(&part, signed(*length), *at, part.extent());
            }
            whole
        }
        Tree::Resized(old, lb, extent) => resized(shape(old), *lb, *extent),
        Tree::Dup(old) => shape(old),
        Tree::Indexed(list, old) | Tree::Hindexed(list, old) => {
            let old = shape(old);
            let unit = if matches!(tree, Tree::Indexed(..)) { old.extent() } else { 1 };
            let list: Vec<(i64, i64)> = list.iter().map(|&(n, at)| (signed(n), at)).collect();
            if old.size == 0 { NULL } else { blocks(&list, unit, old) }
        }
        Tree::IndexedBlock(length, places, old) | Tree::HindexedBlock(length, places, old) => {
            let old = shape(old);
            let unit = if matches!(tree, Tree::IndexedBlock(..)) { old.extent() } else { 1 };
            let list: Vec<(i64, i64)> = places.iter().map(|&at| (signed(*length), at)).collect();
            blocks(&list, unit, old)
        }
        Tree::Subarray(dimensions, order, old) => subarray(dimensions, *order, shape(old)),
        Tree::Darray(dimensions, coordinates, order, old) => {
            darray(dimensions, coordinates, *order, shape(old))
        }
    }
}

fn subarray(dimensions: &[(u64, u64, u64)], order: Order, old: Shape) -> Shape {
    let (mut part, mut stride, mut start) = (old, old.extent(), 0_i64);
    for (n, i) in fastest_first(dimensions.len(), order).into_iter().enumerate() {
        let (size, subsize, begin) = dimensions[i];
        part = if n == 0 {
            contiguous(subsize as i64, part)
        } else {
            hvector(subsize as i64, 1, stride, part)
        };
        start = start.wrapping_add(stride.wrapping_mul(begin as i64));
        stride = stride.wrapping_mul(size as i64);
    }
    let mut whole = NEW;
    whole.add(&part, 1, start, part.extent());
    resized(whole, 0, stride)
}

fn darray(
    dimensions: &[(u64, Distribution, u64)],
    coordinates: &[u64],
    order: Order,
    old: Shape,
) -> Shape {
    let (mut part, mut stride, mut start) = (old, old.extent(), 0_i64);
    for (n, i) in fastest_first(dimensions.len(), order).into_iter().enumerate() {
        let (size, distribution, processes) = dimensions[i];
        let (size, processes, at) = (size as i64, processes as i64, coordinates[i] as i64);
        let Share { cyclic, length, begin, mine } = Share::of(size, distribution, processes, at);
        if cyclic {
            let (whole, rest) = (mine / length, mine % length);
            let step = stride.wrapping_mul(processes * length);
            let from = part;
            part = hvector(whole, length, step, from);
            if rest > 0 {
                let mut both = NEW;
                both.add(&part, 1, 0, part.extent());
                both.add(&from, rest, step.wrapping_mul(whole), from.extent());
                part = both;
            }
        } else {
            part = if n == 0 { contiguous(mine, part) } else { hvector(mine, 1, stride, part) };
        }
        part = resized(part, 0, stride.wrapping_mul(size));
        if mine > 0 {
            start = start.wrapping_add(stride.wrapping_mul(begin));
        }
        stride = stride.wrapping_mul(size);
    }
    let mut whole = NEW;
    whole.add(&part, 1, start, part.extent());
    resized(whole, 0, stride)
}
