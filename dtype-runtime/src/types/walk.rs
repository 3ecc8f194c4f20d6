//! The walk over the tree of constructors, and its outputs.
//!
//! Every view of a type comes from this walk: the description, entry by entry, and the plan, which commit compiles during the
//! walk, without an intermediate list of entries.

use super::blocks::{BlockList, Lengths};
use super::{Constructor, Elem, Level, Member, Type};
use crate::basic::Basic;

/// An output of the walk: data and loops in the order of the type map.
pub(crate) trait Sink {
    /// Whether only the bytes of the data matter. If so, a run of any basic datatypes is passed as a single list of
    /// [`Basic::U8`] elements.
    const BYTES: bool;

    /// A loop that has started and not ended.
    type Open;

    /// Adds data: a run of bytes if only those matter, otherwise a single value.
    fn elem(&mut self, elem: Elem);

    /// Adds repeated data.
    fn elems(&mut self, elems: impl Iterator<Item = Elem> + Clone) {
        elems.for_each(|elem| self.elem(elem));
    }

    /// Starts a loop. The loop must not be empty.
    fn begin(&mut self) -> Self::Open;

    /// Ends the innermost loop, which is repeated `loops` times with a stride of `extent` bytes.
    fn end(&mut self, open: Self::Open, loops: u64, extent: i64);
}

/// Writes the data of `ty` at displacement `base`.
///
/// Intermediate sums and products may wrap, if the data lie on the far side of the origin or if there are no data. The final
/// displacements were checked when the type was made.
pub(crate) fn walk<S: Sink>(ty: &Type, base: i64, sink: &mut S) {
    if ty.size() == 0 {
        return;
    }
    if S::BYTES && ty.is_run() {
        return sink.elem(bytes(ty, 1, base));
    }
    match ty.constructor() {
        Constructor::Basic(basic) | Constructor::Fortran { basic, .. } => {
            let extent = basic.size() as i64;
            sink.elem(Elem { basic: *basic, count: 1, disp: base, extent });
        }
        Constructor::LbMarker | Constructor::UbMarker => {}
        Constructor::Contiguous { count, old } => block(*count, old, base, sink),
        Constructor::Vector { unit, count, blocklength, stride, old } => {
            let stride = stride.wrapping_mul(unit.bytes(old));
            repeat(*count, stride, sink, |sink| block(*blocklength, old, base, sink));
        }
        Constructor::Blocks { unit, lengths, displacements, old } => {
            let (lengths, unit) = (lengths.as_slice(), unit.bytes(old));
            list(&BlockList { lengths, displacements, unit, old }, base, sink);
        }
        Constructor::Structure { members } => {
            for Member { blocklength, displacement, ty } in members {
                block(*blocklength, ty, base.wrapping_add(*displacement), sink);
            }
        }
        Constructor::Dup { old }
        | Constructor::Resized { old }
        | Constructor::Pair { built: old, .. }
        | Constructor::Subarray { built: old, .. }
        | Constructor::Darray { built: old, .. } => walk(old, base, sink),
    }
}

fn list<S: Sink>(list: &BlockList<'_>, base: i64, sink: &mut S) {
    let &BlockList { displacements, unit, old, .. } = list;
    let place = move |at: i64| base.wrapping_add(at.wrapping_mul(unit));
    if !(S::BYTES && old.is_run() && touches(old)) {
        return list.blocks().for_each(|(length, at)| block(length, old, place(at), sink));
    }
    let (size, first) = (old.size(), old.true_lb());
    let run = move |length, at| run(length * size, place(at).wrapping_add(first));
    match list.lengths {
        Lengths::Same(0) => {}
        Lengths::Same(length) => sink.elems(displacements.iter().map(|at| run(length, *at))),
        Lengths::Each(_) => sink.elems(list.blocks().map(|(length, at)| run(length, at))),
    }
}

/// A run of bytes.
fn run(length: u64, disp: i64) -> Elem {
    Elem { basic: Basic::U8, count: length, disp, extent: 1 }
}

/// `count` instances of `old`, one after another. Writes nothing if there are no data.
fn block<S: Sink>(count: u64, old: &Type, base: i64, sink: &mut S) {
    if count == 0 || old.size() == 0 {
        return;
    }
    if S::BYTES && old.is_run() && (count == 1 || touches(old)) {
        return sink.elem(bytes(old, count, base));
    }
    repeat(count, old.extent(), sink, |sink| walk(old, base, sink));
}

fn repeat<S: Sink>(loops: u64, extent: i64, sink: &mut S, body: impl FnOnce(&mut S)) {
    if loops == 1 {
        return body(sink);
    }
    let open = sink.begin();
    body(sink);
    sink.end(open, loops, extent);
}

impl Type {
    /// The data of one instance as blocks at equal distances, or as a single block, if the outermost constructors are enough to
    /// tell; `None` otherwise. A fast equivalent of [`walk`] and the compiler; the test
    /// `blocks_at_equal_distances_need_no_compiler` compares them.
    #[inline(always)]
    pub(crate) fn as_level(&self) -> Option<Level> {
        let (mut ty, mut at) = (self, 0_i64);
        if ty.size() == 0 {
            return None;
        }
        loop {
            if ty.is_run() {
                let (base, length) = (at.wrapping_add(ty.true_lb()), ty.size());
                return Some(Level { base, length, count: 1, stride: 0 });
            }
            let (count, blocklength, stride, old) = match ty.constructor() {
                Constructor::Dup { old }
                | Constructor::Resized { old }
                | Constructor::Subarray { built: old, .. } => {
                    ty = old;
                    continue;
                }
                Constructor::Structure { members } => {
                    let [Member { blocklength: 1, displacement, ty: only }] = &**members else {
                        return None;
                    };
                    (ty, at) = (only, at.wrapping_add(*displacement));
                    continue;
                }
                Constructor::Contiguous { count, old } => (*count, 1, old.extent(), old),
                Constructor::Vector { unit, count, blocklength, stride, old } => {
                    (*count, *blocklength, stride.wrapping_mul(unit.bytes(old)), old)
                }
                _ => return None,
            };
            if !old.is_run() || blocklength > 1 && !touches(old) {
                return None;
            }
            return Some(Level {
                base: at.wrapping_add(old.true_lb()),
                length: blocklength * old.size(),
                count,
                stride,
            });
        }
    }
}

/// Whether one instance, if it is a run, ends where the next one starts.
fn touches(ty: &Type) -> bool {
    i128::from(ty.extent()) == i128::from(ty.size())
}

/// `count` instances, which together are one run, as bytes.
fn bytes(ty: &Type, count: u64, base: i64) -> Elem {
    run(ty.size() * count, base.wrapping_add(ty.true_lb()))
}
