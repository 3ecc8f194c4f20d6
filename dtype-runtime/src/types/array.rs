//! Arrays that are distributed over processes.
//!
//! They are built from the simpler constructors, and remember what they were asked for.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::parts::{Parts, same_length};
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
    /// Not at all: there is one process in this dimension (`MPI_DISTRIBUTE_NONE`).
    None,
    /// One block for each process (`MPI_DISTRIBUTE_BLOCK`), of so many elements; without a number, of
    /// as many as make the blocks equal but for the last (`MPI_DISTRIBUTE_DFLT_DARG`).
    Block(Option<u64>),
    /// Blocks of so many elements, dealt out in turn (`MPI_DISTRIBUTE_CYCLIC`); without a number, of
    /// one.
    Cyclic(Option<u64>),
}

impl Distribution {
    /// Whether its argument is the number by which the ABI of MPI-5.0 means the default.
    pub(crate) fn reads_as_default(&self) -> bool {
        const DFLT_DARG: u64 = 19;
        matches!(self, Self::Block(Some(DFLT_DARG)) | Self::Cyclic(Some(DFLT_DARG)))
    }
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
}

impl Type {
    /// The part that process `rank` of `size` processes has of an array of `gsizes` elements, which is
    /// distributed over a grid of `psizes` processes (MPI-4.1 section 5.1.4). The grid is in C order,
    /// whatever the order of the array. The bounds are those of the whole array.
    ///
    /// # Errors
    ///
    /// [`Error::ArgumentLengths`] when the arrays differ in length; [`Error::ArgumentRange`] when there
    /// is no dimension, a size is zero, the grid does not have `size` processes, `rank` is not one of
    /// them, a dimension that is not distributed has more than one, or the blocks of a block
    /// distribution do not cover it; [`Error::Overflow`], [`Error::TooDeep`],
    /// [`Error::TooManyEntries`].
    ///
    /// ```
    /// use dtype_runtime::types::{Distribution, Order};
    /// use dtype_runtime::{Basic, Type};
    /// // Ten elements dealt out to three processes in pairs: the second gets 2, 3, 8, 9.
    /// let pairs = [Distribution::Cyclic(Some(2))];
    /// let u8s = Type::basic(Basic::U8);
    /// let t = Type::darray(3, 1, &[10], &pairs, &[3], Order::C, &u8s)?.commit();
    /// let mut out = [0; 4];
    /// t.pack(b"0123456789", 0, 1, &mut out)?;
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

        let coordinates = coordinates(rank, size, psizes);
        let mut built = old.clone();
        for i in fastest_first(ndims, order) {
            let share = Share::of(i, distributions[i], gsizes[i], psizes[i], coordinates[i])?;
            built = share.build(&built)?;
        }
        let extent = built.extent();
        let [gsizes, psizes] = [gsizes, psizes].map(Box::from);
        let distributions = distributions.into();
        let arguments = Box::new(Darray { size, rank, gsizes, distributions, psizes, order });
        bounded(call, extent, old, &built, |built| Constructor::Darray {
            arguments,
            old: old.clone(),
            built,
        })
    }
}

/// `built` with the bounds 0 and `extent` in the place of its own.
fn bounded(
    call: &'static str,
    extent: i64,
    old: &Type,
    built: &Type,
    constructor: impl FnOnce(Type) -> Constructor,
) -> Result<Type, Error> {
    let mut parts = Parts::copy_of(call, built)?;
    // A process may have nothing of the array, and then there is no `old` in what was built.
    parts.inherit(old)?;
    parts.bounds.set(0, extent);
    parts.finish(|| constructor(built.clone()))
}

/// What one process has of one dimension: blocks of `length` elements, the first at `start`, `step`
/// apart, and perhaps a shorter one behind them.
struct Share {
    global: u64,
    start: u64,
    length: u64,
    step: u64,
    whole: u64,
    rest: u64,
}

impl Share {
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
            Distribution::None | Distribution::Block(_) => u64::MAX,
        };
        let start = length.saturating_mul(coordinate);
        let left = global.saturating_sub(start);
        // Blocks begin at 0, step, 2 · step, … of what is left.
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
        let overflow = Error::Overflow { call: "darray", quantity: "extent" };
        let bytes = |elements: u64| {
            i64::try_from(elements)
                .ok()
                .and_then(|elements| elements.checked_mul(old.extent()))
                .ok_or(overflow.clone())
        };
        let mut types = Vec::new();
        let mut displacements = Vec::new();
        if self.whole > 0 {
            let step = if self.whole > 1 { bytes(self.step)? } else { 0 };
            types.push(Type::hvector(self.whole, self.length, step, old)?);
            displacements.push(bytes(self.start)?);
        }
        if self.rest > 0 {
            // Behind the whole blocks, all of them within the dimension.
            let start = self.start + if self.whole > 0 { self.whole * self.step } else { 0 };
            types.push(Type::contiguous(self.rest, old)?);
            displacements.push(bytes(start)?);
        }
        let ones = [1, 1];
        // A constructor of its own made each: never equal.
        let share = Type::structure_by(&ones[..types.len()], &displacements, &types, |types| {
            types.len() < 2
        })?;
        Type::resized(&share, 0, bytes(self.global)?)
    }
}

/// The place of a process in the grid: the last coordinate changes fastest.
fn coordinates(rank: u64, size: u64, psizes: &[u64]) -> Vec<u64> {
    let (mut rank, mut below) = (rank, size);
    psizes
        .iter()
        .map(|processes| {
            below /= processes;
            let coordinate = rank / below;
            rank %= below;
            coordinate
        })
        .collect()
}

/// The dimensions from the one whose index runs fastest to the slowest.
fn fastest_first(ndims: usize, order: Order) -> impl Iterator<Item = usize> {
    (0..ndims).map(move |n| match order {
        Order::C => ndims - 1 - n,
        Order::Fortran => n,
    })
}

/// The number of dimensions, of which there must be one.
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
