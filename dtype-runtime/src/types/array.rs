//! Arrays that are distributed over processes (`darray`). They are built from the simpler constructors, and keep their original
//! arguments.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::parts::{Parts, same_length};
use super::{Constructor, Member, Type};
use crate::error::Error;

/// How an array lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// The last index changes fastest (`MPI_ORDER_C`).
    C,
    /// The first index changes fastest (`MPI_ORDER_FORTRAN`).
    Fortran,
}

impl Order {
    /// The indices of the dimensions, the fastest one first.
    pub(super) fn fastest_first(self, ndims: usize) -> impl Iterator<Item = usize> {
        (0..ndims).map(move |n| if self == Self::C { ndims - 1 - n } else { n })
    }
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
#[derive(Clone)]
pub(crate) struct Darray {
    pub(crate) size: u64,
    pub(crate) rank: u64,
    pub(crate) gsizes: Box<[u64]>,
    pub(crate) distributions: Box<[Distribution]>,
    pub(crate) psizes: Box<[u64]>,
    pub(crate) order: Order,
    /// Whether the last block of this process in a cyclic distribution has fewer elements. MPICH then makes a structure of the
    /// whole blocks and that last one, even if there are no whole blocks.
    pub(super) ends_in_shorter_block: bool,
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

        let (mut built, mut ends_in_shorter_block) = (old.clone(), false);
        for i in order.fastest_first(ndims) {
            // The last coordinate in the grid changes fastest.
            let coordinate = rank / psizes[i + 1..].iter().product::<u64>() % psizes[i];
            let share = Share::new(i, distributions[i], gsizes[i], psizes[i], coordinate)?;
            built = share.build(&built)?;
            ends_in_shorter_block |= share.is_cyclic() && share.rest > 0;
        }
        let mut parts = Parts::copy_of(call, &built)?;
        // A process may have no elements of the array; then `old` is not part of the type that was built.
        parts.inherit(old)?;
        parts.bounds.set(0, built.extent());
        let [gsizes, psizes] = [gsizes, psizes].map(Box::from);
        let distributions = distributions.into();
        let arguments =
            Darray { size, rank, gsizes, distributions, psizes, order, ends_in_shorter_block };
        let (arguments, old) = (Box::new(arguments), old.clone());
        parts.finish(|| Constructor::Darray { arguments, built, old })
    }
}

/// A process's share of one dimension, in elements: `whole` blocks of `length` elements, the first at `start`, with a stride of
/// `step`; after them a block of `rest` elements, unless `rest` is 0.
struct Share {
    global: u64,
    start: u64,
    length: u64,
    step: u64,
    whole: u64,
    rest: u64,
}

impl Share {
    /// The stride if there is at most one block: greater than any dimension.
    const NO_STEP: u64 = u64::MAX;

    /// Whether there may be several blocks, dealt out in turn.
    fn is_cyclic(&self) -> bool {
        self.step != Self::NO_STEP
    }

    fn new(
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
            // All blocks together must cover the dimension.
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
        let mut members = Vec::new();
        let mut add = |ty, start| {
            let displacement = bytes(start)?;
            members.push(Member { blocklength: 1, displacement, ty });
            Ok::<_, Error>(())
        };
        if self.whole > 0 {
            let step = if self.whole > 1 { bytes(self.step)? } else { 0 };
            add(Type::hvector(self.whole, self.length, step, old)?, self.start)?;
        }
        if self.rest > 0 {
            // This block follows the whole blocks, which all lie within the dimension.
            let start = self.start + if self.whole > 0 { self.whole * self.step } else { 0 };
            add(Type::contiguous(self.rest, old)?, start)?;
        }
        // One part is an hvector, the other contiguous, so comparing them is useless.
        let share = Type::structure_of(members.into(), |_| false)?;
        Type::resized(&share, 0, bytes(self.global)?)
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
