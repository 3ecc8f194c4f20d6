//! Arrays that are distributed over processes (`darray`): built from the simpler constructors, with their original arguments.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::bounds::{BoundsRule, Interval};
use super::parts::Outcome;
use super::parts::{Parts, same_length};
use super::walk::{Sink, block, repeat, run};
use super::{Constructor, Type};
use crate::error::Error;

/// How an array lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// The last index runs fastest (`MPI_ORDER_C`).
    C,
    /// The first index runs fastest (`MPI_ORDER_FORTRAN`).
    Fortran,
}

/// How a dimension of an array is distributed over processes (MPI-4.1 section 5.1.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Distribution {
    /// Not distributed: there is one process in this dimension (`MPI_DISTRIBUTE_NONE`).
    None,
    /// One block for each process (`MPI_DISTRIBUTE_BLOCK`), of the given number of elements. `None`
    /// (`MPI_DISTRIBUTE_DFLT_DARG`) makes all blocks equal, except that the last ones may be shorter.
    Block(Option<u64>),
    /// Blocks of the given number of elements, dealt out round-robin (`MPI_DISTRIBUTE_CYCLIC`); `None` is
    /// one element.
    ///
    /// A block length of 19 is valid here, but the MPI-5.0 ABI reads the number 19 as the default: a darray with
    /// this block length has no [`contents`](Type::contents). `Block(Some(19))` has the same limit.
    Cyclic(Option<u64>),
}

/// The arguments of a `darray`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Darray {
    pub(crate) size: u64,
    pub(crate) rank: u64,
    pub(crate) gsizes: Box<[u64]>,
    pub(crate) distributions: Box<[Distribution]>,
    pub(crate) psizes: Box<[u64]>,
    pub(crate) order: Order,
    /// The numbers that follow from the arguments.
    pub(super) nest: Nest,
}

impl Type {
    /// The part of an array of `gsizes` elements that belongs to process `rank` of `size` processes. The array is
    /// distributed over a grid of `psizes` processes (MPI-4.1 section 5.1.4). The grid is in C order, whatever the
    /// order of the array. The bounds span the whole array.
    ///
    /// A distribution over blocks of exactly 19 elements can be made, packed and marshalled, but its
    /// [`contents`](Self::contents) are an error: the MPI-5.0 ABI uses the number 19 for the default.
    ///
    /// # Errors
    ///
    /// [`Error::ArgumentLengths`] when the arrays differ in length; [`Error::ArgumentRange`] when there are no
    /// dimensions, a size is zero, the grid does not have `size` processes, `rank` is not one of them, a dimension
    /// that is not distributed has more than one process, or the blocks of a block distribution do not cover the
    /// dimension; [`Error::Overflow`], [`Error::TooDeep`], [`Error::TooManyEntries`].
    ///
    /// ```
    /// use dtype_runtime::types::{Distribution, Order};
    /// use dtype_runtime::{Basic, Type};
    /// // Ten elements dealt out to three processes in pairs: the second gets 2, 3, 8, 9.
    /// let pairs = [Distribution::Cyclic(Some(2))];
    /// let u8s = Type::basic(Basic::U8);
    /// let t = Type::darray(3, 1, &[10], &pairs, &[3], Order::C, &u8s)?.commit();
    /// let mut out = [0; 4];
    /// t.pack(b"0123456789", 1, &mut out)?;
    /// assert_eq!(&out, b"2389");
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Type_create_darray")]
    pub fn darray(
        size: u64,
        rank: u64,
        gsizes: &[u64],
        distributions: &[Distribution],
        psizes: &[u64],
        order: Order,
        old: &Self,
    ) -> Result<Self, Error> {
        let call = "darray";
        let ndims = dimensions(call, gsizes.len())?;
        same_length(call, "array_of_distribs", ndims, distributions.len())?;
        same_length(call, "array_of_psizes", ndims, psizes.len())?;
        let mut processes = 1_u64;
        for i in 0..ndims {
            within(call, "array_of_gsizes", Some(i), gsizes[i], 1, u64::MAX)?;
            within(call, "array_of_psizes", Some(i), psizes[i], 1, u64::MAX)?;
            processes = processes
                .checked_mul(psizes[i])
                .ok_or(Error::Overflow { call, quantity: "number of processes" })?;
        }
        within(call, "size", None, size, processes, processes)?;
        within(call, "rank", None, rank, 0, size - 1)?;

        let mut shares = Vec::with_capacity(ndims);
        // The coordinates in the grid: the last one changes fastest.
        let (mut rank_left, mut processes_left) = (rank, size);
        for n in 0..ndims {
            let (i, coordinate) = match order {
                Order::C => {
                    let i = ndims - 1 - n;
                    let coordinate = rank_left % psizes[i];
                    rank_left /= psizes[i];
                    (i, coordinate)
                }
                Order::Fortran => {
                    processes_left /= psizes[n];
                    let coordinate = rank_left / processes_left;
                    rank_left %= processes_left;
                    (n, coordinate)
                }
            };
            match Share::of(i, distributions[i], gsizes[i], psizes[i], coordinate) {
                Ok(share) => shares.push(share),
                Err(error) => {
                    // Errors of the faster dimensions come first.
                    Nest::of(shares, old).build(old)?;
                    return Err(error);
                }
            }
        }
        let nest = Nest::of(shares, old);
        let (mut parts, extent) = if let Some(known) = nest.outcome(old) {
            known
        } else {
            let built = nest.build(old)?;
            let mut parts = Parts::copy_of(call, &built)?;
            // A process may have no elements of the array; then `old` is not part of the type that was built.
            parts.inherit(old)?;
            (parts, built.extent())
        };
        parts.bounds.set(0, extent);
        let [gsizes, psizes] = [gsizes, psizes].map(Box::from);
        let distributions = distributions.into();
        let arguments = Box::new(Darray { size, rank, gsizes, distributions, psizes, order, nest });
        parts.finish(|| Constructor::Darray { arguments, old: old.clone() })
    }
}

/// What one process has of one dimension, in elements: `whole` blocks of `length` elements, the first at `start`,
/// with a stride of `step`, and after them a block of `rest` elements, if `rest` is not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Share {
    global: u64,
    start: u64,
    length: u64,
    step: u64,
    whole: u64,
    rest: u64,
}

impl Share {
    /// The stride where there is one block at most: greater than any dimension.
    const NO_STEP: u64 = u64::MAX;

    /// Whether blocks are dealt out in turn, with a distance that a dimension can have.
    fn is_cyclic(&self) -> bool {
        self.step != Self::NO_STEP
    }

    fn of(
        index: usize,
        distribution: Distribution,
        global: u64,
        processes: u64,
        coordinate: u64,
    ) -> Result<Self, Error> {
        let call = "darray";
        let darg = |value, least| {
            within(call, "array_of_dargs", Some(index), value, least, u64::MAX).map(|()| value)
        };
        let length = match distribution {
            Distribution::None => {
                within(call, "array_of_psizes", Some(index), processes, 1, 1)?;
                global
            }
            Distribution::Block(None) => global.div_ceil(processes),
            // All the blocks together must cover the dimension.
            Distribution::Block(Some(length)) => darg(length, global.div_ceil(processes))?,
            Distribution::Cyclic(length) => darg(length.unwrap_or(1), 1)?,
        };
        let step = match distribution {
            Distribution::Cyclic(_) => length.saturating_mul(processes),
            Distribution::None | Distribution::Block(_) => Self::NO_STEP,
        };
        let start = length.saturating_mul(coordinate);
        let left = global.saturating_sub(start);
        // Blocks begin at 0, step, 2 · step, … of the remaining elements.
        let blocks = left.div_ceil(step);
        let last = left - blocks.saturating_sub(1) * step;
        let (whole, rest) = match last {
            _ if blocks == 0 => (0, 0),
            last if last >= length => (blocks, 0),
            last => (blocks - 1, last),
        };
        Ok(Self { global, start, length, step, whole, rest })
    }

    fn build(&self, old: &Type) -> Result<Type, Error> {
        let overflow = || Error::Overflow { call: "darray", quantity: "extent" };
        let bytes = |elements: u64| {
            i64::try_from(elements)
                .ok()
                .and_then(|elements| elements.checked_mul(old.extent()))
                .ok_or_else(overflow)
        };
        let mut types = Vec::new();
        let mut displacements = Vec::new();
        if self.whole > 0 {
            let step = if self.whole > 1 { bytes(self.step)? } else { 0 };
            types.push(Type::hvector(self.whole, self.length, step, old)?);
            displacements.push(bytes(self.start)?);
        }
        if self.rest > 0 {
            // This follows the whole blocks, all of which are within the dimension.
            let start = self.start + if self.whole > 0 { self.whole * self.step } else { 0 };
            types.push(Type::contiguous(self.rest, old)?);
            displacements.push(bytes(start)?);
        }
        let ones = [1, 1];
        // Two different constructors made the parts, so no two of them are equal.
        let share = Type::structure_by(&ones[..types.len()], &displacements, &types, |_| false)?;
        Type::resized(&share, 0, bytes(self.global)?)
    }
}

/// Everything that one process has: the shares of all dimensions, nested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Nest {
    /// The innermost first.
    layers: Box<[Layer]>,
    /// The displacements of the first element and of the last.
    ends: (i64, i64),
    extent: i64,
    /// Number of elements.
    elements: u64,
    is_run: bool,
    /// Whether a number has wrapped around.
    overflow: bool,
}

/// A share, and what is known about one element of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layer {
    share: Share,
    extent: i64,
    size: u64,
    /// The displacement of the data, if the data are one run.
    run: Option<i64>,
}

impl Layer {
    fn bytes(&self, elements: u64) -> i64 {
        self.extent.wrapping_mul(elements.cast_signed())
    }

    /// The position of the shorter block in the dimension, in elements.
    fn rest_at(&self) -> u64 {
        let Share { start, whole, step, .. } = self.share;
        start.wrapping_add(if whole > 0 { whole.wrapping_mul(step) } else { 0 })
    }

    /// The displacement of the data of the whole blocks, from the first block, if the data are one run.
    fn run_of_whole(&self) -> Option<i64> {
        let Share { whole, length, step, .. } = self.share;
        let touch = whole == 1 || self.size.wrapping_mul(length).cast_signed() == self.bytes(step);
        self.run_of(length).filter(|_| touch)
    }

    /// The displacement of the data of `number` neighbours, if the data are one run.
    fn run_of(&self, number: u64) -> Option<i64> {
        self.run.filter(|_| number == 1 || self.extent == self.size.cast_signed())
    }

    /// The displacement of the data of the share, if the data are one run.
    fn run_of_all(&self) -> Option<i64> {
        let Share { start, whole, rest, length, .. } = self.share;
        let first = self.bytes(start);
        let after = self.bytes(self.rest_at());
        let end = first.wrapping_add(self.size.wrapping_mul(whole * length).cast_signed());
        match (whole > 0, rest > 0) {
            (true, true) => self
                .run_of_whole()
                .filter(|_| self.run_of(rest).is_some() && end == after)
                .map(|run| run.wrapping_add(first)),
            (true, false) => self.run_of_whole().map(|run| run.wrapping_add(first)),
            (false, true) => self.run_of(rest).map(|run| run.wrapping_add(after)),
            (false, false) => None,
        }
    }
}

impl Nest {
    /// The nest of these shares, innermost first.
    fn of(shares: Vec<Share>, old: &Type) -> Self {
        let (mut extent, mut size, mut elements) = (old.extent(), old.size(), 1_u64);
        let (mut ends, mut overflow) = ((0_i64, 0_i64), false);
        let mut place = old.is_run().then(|| old.true_lb());
        let layers = shares.into_iter().map(|share| {
            let layer = Layer { share, extent, size, run: place };
            let Share { global, start, length, step, whole, rest } = share;
            // At most the number in the dimension.
            let number = whole * length + rest;
            let last = if rest > 0 {
                layer.rest_at().wrapping_add(rest - 1)
            } else {
                start
                    .wrapping_add(whole.saturating_sub(1).wrapping_mul(step))
                    .wrapping_add(length)
                    .wrapping_sub(1)
            };
            let (first, last) = (layer.bytes(start), layer.bytes(last));
            ends = (ends.0.wrapping_add(first.min(last)), ends.1.wrapping_add(first.max(last)));
            let (whole_extent, too_far) = extent.overflowing_mul(global.cast_signed());
            let (product, too_many) = elements.overflowing_mul(number);
            overflow |= too_far | too_many | i64::try_from(global).is_err();
            place = layer.run_of_all();
            (extent, size, elements) = (whole_extent, size.wrapping_mul(number), product);
            layer
        });
        let layers = layers.collect();
        Self { layers, ends, extent, elements, is_run: place.is_some(), overflow }
    }

    /// The outcome of the calls of [`build`](Self::build), and the extent, if nothing can overflow: see [`Outcome`].
    /// Fast twin of [`build`](Self::build), kept equal by test
    /// `distributed_arrays_are_what_simpler_constructors_make_of_them`.
    fn outcome(&self, old: &Type) -> Option<(Parts, i64)> {
        let data = old.data()?;
        let near = [old.lb(), old.ub(), data.start, data.end, self.extent];
        let near = near.iter().all(|end| end.unsigned_abs() < Outcome::NEAR);
        if self.overflow || !near || self.elements == 0 || old.bounds_rule() != BoundsRule::Literal
        {
            return None;
        }
        let mut entries = old.entries();
        for Layer { share, .. } in &self.layers {
            // Each kind of block takes one call, and one more as a member; the bounds take one.
            let kinds = u64::from(share.whole > 0) + u64::from(share.rest > 0);
            entries = kinds.saturating_mul(entries.saturating_add(8)).saturating_add(4);
        }
        let outcome = Outcome {
            copies: self.elements,
            data: Interval { start: data.start + self.ends.0, end: data.end + self.ends.1 },
            is_run: self.is_run,
            calls: 3 * self.layers.len() + 1,
            entries: entries.saturating_add(4),
        };
        Some((Parts::of_outcome("darray", old, &outcome)?, self.extent))
    }

    /// Whether a cyclic distribution leaves this process a last block with fewer elements. MPICH makes a structure of
    /// the whole blocks and that one, even if there are no whole blocks.
    pub(super) fn ends_in_a_shorter_block(&self) -> bool {
        self.layers.iter().any(|layer| layer.share.is_cyclic() && layer.share.rest > 0)
    }

    /// The same type, made by simpler constructors.
    pub(super) fn build(&self, old: &Type) -> Result<Type, Error> {
        let mut layers = self.layers.iter();
        layers.try_fold(old.clone(), |built, layer| layer.share.build(&built))
    }

    /// Writes the elements, which have data: the same output as a walk over [`build`](Self::build).
    pub(super) fn walk<S: Sink>(&self, old: &Type, base: i64, sink: &mut S) {
        walk_layers(&self.layers, old, base, sink);
    }
}

/// Writes what is inside these layers; the outermost comes last.
fn walk_layers<S: Sink>(layers: &[Layer], old: &Type, base: i64, sink: &mut S) {
    let Some((layer, inside)) = layers.split_last() else { return super::walk(old, base, sink) };
    let Share { start, length, step, whole, rest, .. } = layer.share;
    let size = |number: u64| layer.size.wrapping_mul(number);
    if S::BYTES
        && let Some(place) = layer.run_of_all()
    {
        return sink.elem(run(size(whole * length + rest), base.wrapping_add(place)));
    }
    if whole > 0 {
        let base = base.wrapping_add(layer.bytes(start));
        match layer.run_of_whole() {
            Some(place) if S::BYTES => {
                sink.elem(run(size(whole * length), base.wrapping_add(place)));
            }
            _ => repeat(whole, layer.bytes(step), sink, |sink| {
                walk_block(length, layer, inside, old, base, sink);
            }),
        }
    }
    if rest > 0 {
        let base = base.wrapping_add(layer.bytes(layer.rest_at()));
        walk_block(rest, layer, inside, old, base, sink);
    }
}

/// Writes neighbours within a layer.
fn walk_block<S: Sink>(
    number: u64,
    layer: &Layer,
    inside: &[Layer],
    old: &Type,
    base: i64,
    sink: &mut S,
) {
    if inside.is_empty() {
        return block(number, old, base, sink);
    }
    match layer.run_of(number) {
        Some(place) if S::BYTES => {
            sink.elem(run(layer.size.wrapping_mul(number), base.wrapping_add(place)));
        }
        _ => repeat(number, layer.extent, sink, |sink| walk_layers(inside, old, base, sink)),
    }
}

/// The number of dimensions, which must not be 0.
pub(super) fn dimensions(call: &'static str, ndims: usize) -> Result<usize, Error> {
    within(call, "ndims", None, ndims as u64, 1, u64::MAX).map(|()| ndims)
}

pub(super) fn within(
    call: &'static str,
    argument: &'static str,
    index: Option<usize>,
    value: u64,
    least: u64,
    greatest: u64,
) -> Result<(), Error> {
    if (least..=greatest).contains(&value) {
        return Ok(());
    }
    Err(Error::ArgumentRange { call, argument, index, value, least, greatest })
}

#[cfg(test)]
mod tests;
