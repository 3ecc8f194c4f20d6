//! The walk over the tree of constructors, and its outputs.
//!
//! Every view of a type comes from here: the description, entry by entry, and the plan, which commit compiles
//! during the walk, without an intermediate list of entries.

use super::blocks::{Kept, Lengths};
use super::{Constructor, Elem, Level, Member, Type};
use crate::basic::Basic;

/// For so few runs, preparing for many would take longer than the rest of the work.
const FEW: usize = 8;

/// An output of the walk: data and loops in the order of the type map.
pub(crate) trait Sink {
    /// Whether only the bytes of the data matter. Then anything that is one run, of whatever basic datatypes, is
    /// passed as a single list of [`Basic::U8`] elements.
    const BYTES: bool;

    /// A loop that has started and not ended.
    type Open;

    /// Adds data: a run of bytes if only those matter, otherwise a single value.
    fn elem(&mut self, elem: Elem);

    /// Adds repeated data.
    fn elems(&mut self, elems: impl Iterator<Item = Elem>) {
        elems.for_each(|elem| self.elem(elem));
    }

    /// Adds runs of bytes with these lengths, none of them zero, at these displacements. About `more` runs follow.
    fn runs(&mut self, lengths: &[u64], displacements: &[i64], _more: usize) {
        let runs = lengths.iter().zip(displacements);
        self.elems(runs.map(|(length, displacement)| run(*length, *displacement)));
    }

    /// As [`runs`](Self::runs), with runs of one length.
    fn equal_runs(&mut self, length: u64, displacements: &[i64], _more: usize) {
        self.elems(displacements.iter().map(|displacement| run(length, *displacement)));
    }

    /// Starts a loop. The loop must not be empty.
    fn begin(&mut self) -> Self::Open;

    /// Ends the innermost loop, which is repeated `loops` times with a stride of `extent` bytes.
    fn end(&mut self, open: Self::Open, loops: u64, extent: i64);
}

/// Writes the data of `ty` at displacement `base`.
///
/// Intermediate sums and products may not fit, if the data lie on the far side of the origin or if there are no
/// data; the final displacements were checked when the type was made.
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
        Constructor::Vector { count, blocklength, stride, old } => {
            let stride = stride.wrapping_mul(old.extent());
            repeat(*count, stride, sink, |sink| block(*blocklength, old, base, sink));
        }
        Constructor::Hvector { count, blocklength, stride, old } => {
            repeat(*count, *stride, sink, |sink| block(*blocklength, old, base, sink));
        }
        Constructor::Indexed { blocklengths, displacements, old } => {
            list((Lengths::Each(blocklengths), displacements), old.extent(), old, base, sink);
        }
        Constructor::Hindexed { blocklengths, displacements, old } => {
            list((Lengths::Each(blocklengths), displacements), 1, old, base, sink);
        }
        Constructor::IndexedBlock { blocklength, displacements, old } => {
            list((Lengths::Same(*blocklength), displacements), old.extent(), old, base, sink);
        }
        Constructor::HindexedBlock { blocklength, displacements, old } => {
            list((Lengths::Same(*blocklength), displacements), 1, old, base, sink);
        }
        Constructor::Structure { members } => {
            for Member { blocklength, displacement, ty } in members {
                block(*blocklength, ty, base.wrapping_add(*displacement), sink);
            }
        }
        Constructor::Subarray { arguments, old } => arguments.walk(old, base, sink),
        Constructor::Darray { arguments, old } => arguments.nest.walk(old, base, sink),
        Constructor::Dup { old }
        | Constructor::Resized { old }
        | Constructor::Pair { built: old, .. } => walk(old, base, sink),
    }
}

/// Blocks of these lengths at these displacements; the displacements count in units of `unit` bytes.
fn list<S: Sink>(
    (lengths, displacements): Kept<'_>,
    unit: i64,
    old: &Type,
    base: i64,
    sink: &mut S,
) {
    if S::BYTES && old.is_run() && touches(old) {
        return list_of_runs((lengths, displacements), unit, old, base, sink);
    }
    let mut add = |length, displacement: i64| {
        block(length, old, base.wrapping_add(displacement.wrapping_mul(unit)), sink);
    };
    lengths.with(displacements).for_each(|(length, place)| add(length, place));
}

/// As [`list`], if each block is one run. Lists of a hundred thousand blocks take this path, so the work that is
/// the same for all blocks is done once.
fn list_of_runs<S: Sink>(
    (lengths, displacements): Kept<'_>,
    unit: i64,
    old: &Type,
    base: i64,
    sink: &mut S,
) {
    let (base, size) = (base.wrapping_add(old.true_lb()), old.size());
    if displacements.len() > FEW {
        return list_of_many_runs((lengths, displacements), unit, (base, size), sink);
    }
    let (mut counts, mut places) = ([0; FEW], [0; FEW]);
    let all = displacements.read(0, &mut places);
    match lengths {
        Lengths::Each(lengths) => _ = lengths.read(0, &mut counts),
        Lengths::Same(length) => counts = [length; FEW],
    }
    let mut number = 0;
    for index in 0..all {
        let (count, place) = (counts[index], places[index]);
        if count > 0 {
            counts[number] = count * size;
            places[number] = base.wrapping_add(place.wrapping_mul(unit));
            number += 1;
        }
    }
    sink.runs(&counts[..number], &places[..number], 0);
}

/// As [`list_of_runs`], for many blocks of elements of `size` bytes: a batch at a time.
#[inline(never)]
fn list_of_many_runs<S: Sink>(
    (lengths, displacements): Kept<'_>,
    unit: i64,
    (base, size): (i64, u64),
    sink: &mut S,
) {
    const AT_ONCE: usize = 128;
    if let Lengths::Same(0) = lengths {
        return;
    }
    let (mut counts, mut places) = ([0; AT_ONCE], [0; AT_ONCE]);
    for from in (0..displacements.len()).step_by(AT_ONCE) {
        let number = displacements.read(from, &mut places);
        let more = displacements.len() - from - number;
        let places = &mut places[..number];
        if unit == 1 {
            for place in &mut *places {
                *place = base.wrapping_add(*place);
            }
        } else {
            for place in &mut *places {
                *place = base.wrapping_add(place.wrapping_mul(unit));
            }
        }
        let all = match lengths {
            Lengths::Same(count) => {
                sink.equal_runs(count * size, places, more);
                continue;
            }
            Lengths::Each(all) => all,
        };
        all.read(from, &mut counts);
        let counts = &mut counts[..number];
        for count in &mut *counts {
            *count *= size;
        }
        if counts.contains(&0) {
            let all = counts.iter().zip(&*places).filter(|(length, _)| **length > 0);
            sink.elems(all.map(|(length, place)| run(*length, *place)));
        } else {
            sink.runs(counts, places, more);
        }
    }
}

/// A run of bytes.
pub(super) fn run(length: u64, disp: i64) -> Elem {
    Elem { basic: Basic::U8, count: length, disp, extent: 1 }
}

/// `count` instances of `old`, one after another. Writes nothing if there are no data.
pub(super) fn block<S: Sink>(count: u64, old: &Type, base: i64, sink: &mut S) {
    if count == 0 || old.size() == 0 {
        return;
    }
    if S::BYTES && old.is_run() && (count == 1 || touches(old)) {
        return sink.elem(bytes(old, count, base));
    }
    repeat(count, old.extent(), sink, |sink| walk(old, base, sink));
}

pub(super) fn repeat<S: Sink>(loops: u64, extent: i64, sink: &mut S, body: impl FnOnce(&mut S)) {
    if loops == 1 {
        return body(sink);
    }
    let open = sink.begin();
    body(sink);
    sink.end(open, loops, extent);
}

impl Type {
    /// The data of one instance as blocks at equal distances, or as a single block, if the outermost constructors
    /// show this; `None` otherwise. Fast twin of [`walk`] and the compiler, kept equal by test
    /// `blocks_at_equal_distances_need_no_compiler`.
    #[inline(always)]
    pub(crate) fn as_level(&self) -> Option<Level> {
        let mut ty = self;
        if ty.size() == 0 {
            return None;
        }
        loop {
            if ty.is_run() {
                let (base, length) = (ty.true_lb(), ty.size());
                return Some(Level { base, length, count: 1, stride: 0 });
            }
            let (count, blocklength, stride, old) = match ty.constructor() {
                Constructor::Dup { old } | Constructor::Resized { old } => {
                    ty = old;
                    continue;
                }
                Constructor::Contiguous { count, old } => (*count, 1, old.extent(), old),
                Constructor::Vector { count, blocklength, stride, old } => {
                    (*count, *blocklength, stride.wrapping_mul(old.extent()), old)
                }
                Constructor::Hvector { count, blocklength, stride, old } => {
                    (*count, *blocklength, *stride, old)
                }
                Constructor::Subarray { arguments, old } => return arguments.as_level(old),
                _ => return None,
            };
            if !old.is_run() || blocklength > 1 && !touches(old) {
                return None;
            }
            return Some(Level {
                base: old.true_lb(),
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
