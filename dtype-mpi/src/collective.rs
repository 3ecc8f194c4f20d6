//! Collective operations on elements that are packed and unpacked by this crate.

use dtype_runtime::{Datatype as Described, Type};
use mpi::Rank;
use mpi::traits::CommunicatorCollectives;

use crate::cache;
use crate::error::Error;
use crate::operation::Operation;
use crate::raw::OnCommunicator;
use crate::raw::collective::{Block, Parts, Room};
use crate::signature;
use crate::values::{self, Memory};

/// Elements from all ranks, in rank order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gathered<T> {
    /// The elements of all ranks.
    pub elements: Vec<T>,
    /// The number of elements from each rank.
    pub counts: Vec<usize>,
}

impl<T> Gathered<T> {
    /// The elements from one rank; `None` if the communicator has no such rank, or if the counts do not fit the
    /// elements.
    pub fn from_rank(&self, rank: Rank) -> Option<&[T]> {
        let rank = usize::try_from(rank).ok()?;
        let count = *self.counts.get(rank)?;
        let mut before = self.counts[..rank].iter();
        let start = before.try_fold(0_usize, |sum, &count| sum.checked_add(count))?;
        self.elements.get(start..start.checked_add(count)?)
    }

    /// The elements from each rank, in rank order.
    pub fn by_rank(&self) -> impl Iterator<Item = &[T]> {
        let mut rest = &self.elements[..];
        self.counts.iter().map(move |&count| {
            let (first, others) = rest.split_at(count.min(rest.len()));
            rest = others;
            first
        })
    }
}

/// Collective operations on any `#[derive(Datatype)]` type, with any number of elements from each rank
/// (MPI-4.1 chapter 6).
///
/// The arguments come in MPI's order, with the root last. All ranks of the communicator call the same function, with elements
/// of the same type signature. One or two short collective operations compare the arguments and the signatures before the data
/// are sent. If they do not match, or if a rank refuses its own arguments, every rank gets an error and nothing is sent.
/// Received bytes are checked before they become values. If they are invalid, only the rank that received them gets an error;
/// the other ranks continue.
///
/// The comparison protects against mistakes. A rank that calls the library directly can announce less than it sends. Open MPI
/// 4.1 and 5.0 may then overwrite whatever follows the memory for the message, and only then report the error.
///
/// The operations work on the ranks of one group: on an intercommunicator they return [`Error::Intercommunicator`],
/// and nothing is sent.
///
/// For types where any bytes are valid values, [`SendBuffer`](crate::SendBuffer), [`ReceiveBuffer`](crate::ReceiveBuffer)
/// and the functions of the [`mpi`] crate avoid the comparison.
///
/// ```
/// use dtype_mpi::traits::*;
/// use mpi::traits::*;
///
/// let universe = mpi::initialize().expect("MPI runs once");
/// let world = universe.world();
/// // Two particles for rank 0, none for the others.
/// let particles = [([0.0_f64; 3], true), ([1.0; 3], false)];
/// let counts: Vec<usize> = (0..world.size()).map(|rank| if rank == 0 { 2 } else { 0 }).collect();
/// let arrived = world.all_to_all_packed(&particles, &counts)?;
/// if world.rank() == 0 {
///     assert_eq!(arrived.elements.len(), 2 * arrived.counts.len());
/// }
/// # Ok::<(), dtype_mpi::Error>(())
/// ```
pub trait PackedCollectives: CommunicatorCollectives {
    /// Replaces every rank's elements with the root's (`MPI_Bcast`).
    ///
    /// # Errors
    ///
    /// [`Error::Root`], [`Error::Mismatch`] for different roots, [`Error::Elements`] for different types; [`Error::Type`] for
    /// bytes that are not valid values, and [`Error::Allocation`]; [`Error::Peer`] for an error at another rank;
    /// [`Error::NotRunning`], [`Error::Thread`], [`Error::Call`]. The elements are unchanged.
    fn broadcast_packed<T: Described>(
        &self,
        elements: &mut Vec<T>,
        root: Rank,
    ) -> Result<(), Error> {
        let on = OnCommunicator::begin("MPI_Bcast", self)?;
        let meeting = Meeting::new::<T>(&on, Some(root), elements.len())?;
        let count = meeting.count_at(root);
        if meeting.rank == root {
            return broadcast_from_root(&on, &meeting, elements);
        }
        *elements =
            receive(&on, &meeting, count, |room, block| on.broadcast(room, count, block, root))?;
        Ok(())
    }

    /// As [`broadcast_packed`](Self::broadcast_packed), into a slice of the same length as the root's. Padding and
    /// skipped fields are unchanged.
    ///
    /// # Errors
    ///
    /// As [`broadcast_packed`](Self::broadcast_packed), and [`Error::Mismatch`] for different numbers of elements.
    fn broadcast_packed_into<T: Described>(
        &self,
        elements: &mut [T],
        root: Rank,
    ) -> Result<(), Error> {
        let on = OnCommunicator::begin("MPI_Bcast", self)?;
        let meeting = Meeting::new::<T>(&on, Some(root), elements.len())?;
        meeting.same_counts()?;
        if meeting.rank == root {
            return broadcast_from_root(&on, &meeting, elements);
        }
        let count = elements.len();
        let mut bytes = meeting.agree(&on, room_for::<T>(count))?;
        if let Some(block) = meeting.block {
            // SAFETY: the vector is not used otherwise until the call returns.
            let room = unsafe { Room::new(bytes.as_mut_ptr(), bytes.len()) };
            on.broadcast(&room, count, block, root)?;
        }
        dtype_runtime::unpack_into(&bytes, elements)?;
        Ok(())
    }

    /// Gathers all ranks' elements at the root; `None` elsewhere (`MPI_Gatherv`).
    ///
    /// # Errors
    ///
    /// As [`broadcast_packed`](Self::broadcast_packed), and [`Error::Count`] for more elements than the library
    /// can count, 2³¹ − 1 before MPI-4.
    fn gather_packed<T: Described>(
        &self,
        elements: &[T],
        root: Rank,
    ) -> Result<Option<Gathered<T>>, Error> {
        let call = "MPI_Gatherv";
        let on = OnCommunicator::begin(call, self)?;
        let meeting = Meeting::new::<T>(&on, Some(root), elements.len())?;
        let counts = meeting.counts();
        let parts = Parts::new(call, &counts)?;
        let packed = values::packed(elements);
        if meeting.rank != root {
            meeting.agree(&on, Ok(()))?;
            if let Some(block) = meeting.block {
                on.gather(&packed, block, None, root)?;
            }
            return Ok(None);
        }
        let elements = receive(&on, &meeting, parts.total(), |room, block| {
            on.gather(&packed, block, Some((&parts, room)), root)
        })?;
        Ok(Some(Gathered { elements, counts }))
    }

    /// Gathers all ranks' elements at all ranks (`MPI_Allgatherv`).
    ///
    /// # Errors
    ///
    /// As [`gather_packed`](Self::gather_packed).
    fn all_gather_packed<T: Described>(&self, elements: &[T]) -> Result<Gathered<T>, Error> {
        let call = "MPI_Allgatherv";
        let on = OnCommunicator::begin(call, self)?;
        let meeting = Meeting::new::<T>(&on, None, elements.len())?;
        let counts = meeting.counts();
        let parts = Parts::new(call, &counts)?;
        let packed = values::packed(elements);
        let elements = receive(&on, &meeting, parts.total(), |room, block| {
            on.gather_to_all(&packed, block, (&parts, room))
        })?;
        Ok(Gathered { elements, counts })
    }

    /// Divides the root's elements among the ranks, `counts[i]` of them for rank i (`MPI_Scatterv`). The elements
    /// and counts of the other ranks are ignored.
    ///
    /// # Errors
    ///
    /// As [`gather_packed`](Self::gather_packed), and [`Error::Counts`] at the root, when the counts are not one
    /// for each rank, or their sum is not the number of elements.
    fn scatter_packed<T: Described>(
        &self,
        elements: &[T],
        counts: &[usize],
        root: Rank,
    ) -> Result<Vec<T>, Error> {
        let call = "MPI_Scatterv";
        let on = OnCommunicator::begin(call, self)?;
        let meeting = Meeting::new::<T>(&on, Some(root), 0)?;
        if meeting.rank != root {
            meeting.agree(&on, Ok(()))?;
            let count = own_count(&on, root, None)?;
            return receive(&on, &meeting, count, |room, block| {
                on.scatter(None, block, (count, room), root)
            });
        }
        let checked = check_counts(counts, elements.len(), meeting.size);
        let parts = meeting.agree(&on, checked.and_then(|()| Parts::new(call, counts)))?;
        let count = own_count(&on, root, Some(counts))?;
        let packed = values::packed(elements);
        receive(&on, &meeting, count, |room, block| {
            on.scatter(Some((&parts, &packed)), block, (count, room), root)
        })
    }

    /// Sends `counts[i]` of the elements from each rank to rank i, with the elements for rank 0 first
    /// (`MPI_Alltoallv`).
    ///
    /// # Errors
    ///
    /// As [`gather_packed`](Self::gather_packed), and [`Error::Counts`] when the counts are not one for each rank,
    /// or their sum is not the number of elements.
    fn all_to_all_packed<T: Described>(
        &self,
        elements: &[T],
        counts: &[usize],
    ) -> Result<Gathered<T>, Error> {
        let call = "MPI_Alltoallv";
        let on = OnCommunicator::begin(call, self)?;
        let meeting = Meeting::new::<T>(&on, None, elements.len())?;
        let checked = check_counts(counts, elements.len(), meeting.size);
        let parts = meeting.agree(&on, checked.and_then(|()| Parts::new(call, counts)))?;
        let own: Vec<i64> = counts.iter().map(|&count| announce(count)).collect();
        let counts: Vec<usize> = on.all_to_all(&own)?.into_iter().map(announced).collect();
        let to = Parts::new(call, &counts);
        let to = meeting.agree(&on, to)?;
        let packed = values::packed(elements);
        let elements = receive(&on, &meeting, to.total(), |room, block| {
            on.exchange((&parts, &packed), block, (&to, room))
        })?;
        Ok(Gathered { elements, counts })
    }

    /// Combines all ranks' elements one by one, at the root; `None` elsewhere (`MPI_Reduce`).
    ///
    /// # Errors
    ///
    /// As [`broadcast_packed`](Self::broadcast_packed), and [`Error::Mismatch`] for different numbers of elements;
    /// [`Error::Count`] for more than 2³¹ − 1; [`Error::Panic`] when the function panicked at this rank, or
    /// [`Error::Peer`] when it did at another.
    fn reduce_packed<T: Described>(
        &self,
        elements: &[T],
        operation: &Operation<'_, T>,
        root: Rank,
    ) -> Result<Option<Vec<T>>, Error> {
        let on = OnCommunicator::begin("MPI_Reduce", self)?;
        let meeting = Meeting::new::<T>(&on, Some(root), elements.len())?;
        let bytes = reduce(&on, &meeting, elements, operation, Some(root))?;
        if meeting.rank != root {
            return Ok(None);
        }
        values::unpack_vec(&bytes, elements.len()).map(Some)
    }

    /// Combines all ranks' elements one by one, at all ranks (`MPI_Allreduce`).
    ///
    /// # Errors
    ///
    /// As [`reduce_packed`](Self::reduce_packed).
    fn all_reduce_packed<T: Described>(
        &self,
        elements: &[T],
        operation: &Operation<'_, T>,
    ) -> Result<Vec<T>, Error> {
        let on = OnCommunicator::begin("MPI_Allreduce", self)?;
        let meeting = Meeting::new::<T>(&on, None, elements.len())?;
        let bytes = reduce(&on, &meeting, elements, operation, None)?;
        values::unpack_vec(&bytes, elements.len())
    }
}

impl<C: CommunicatorCollectives> PackedCollectives for C {}

/// What ranks tell each other before a collective operation.
struct Meeting {
    rank: Rank,
    size: Rank,
    /// By rank: the root, the number of elements, and the hash of the elements' type signature.
    said: Vec<[i64; 3]>,
    /// `None` for elements without data.
    block: Option<Block>,
}

impl Meeting {
    fn new<T: Described>(
        on: &OnCommunicator<'_>,
        root: Option<Rank>,
        count: usize,
    ) -> Result<Self, Error> {
        let (rank, size) = on.ranks()?;
        let element = T::TYPE_MAP.size();
        let signature = T::TYPE_MAP.signature_hash().cast_signed();
        let said = on.all_gather([root.map_or(0, i64::from), announce(count), signature])?;
        let meeting = Self { rank, size, said, block: None };
        meeting.same(0, "the root")?;
        if let Some(rank) = meeting.different(2) {
            return Err(other_elements::<T>(on, rank)?);
        }
        if let Some(root) = root
            && !(0..size).contains(&root)
        {
            return Err(Error::Root { root, last: size - 1 });
        }
        if element == 0 {
            return Ok(meeting);
        }
        let block = cache::block(element);
        let block = meeting.agree(on, block)?;
        Ok(Self { block: Some(block), ..meeting })
    }

    /// A rank that gave another number than this rank, if not all ranks gave the same. All ranks see the same numbers, so
    /// either each of them finds such a rank, or none does.
    fn different(&self, which: usize) -> Option<usize> {
        let first = self.said[0][which];
        let other = self.said.iter().position(|said| said[which] != first)?;
        Some(if self.own(which) == first { other } else { 0 })
    }

    fn own(&self, which: usize) -> i64 {
        usize::try_from(self.rank).map_or(0, |rank| self.said[rank][which])
    }

    /// Checks that all ranks gave the same number.
    fn same(&self, which: usize, argument: &'static str) -> Result<(), Error> {
        let Some(rank) = self.different(which) else { return Ok(()) };
        let (ours, theirs) = (self.own(which), self.said[rank][which]);
        Err(Error::Mismatch { rank: rank_of(rank), argument, ours, theirs })
    }

    fn same_counts(&self) -> Result<(), Error> {
        self.same(1, "the number of elements")
    }

    fn counts(&self) -> Vec<usize> {
        self.said.iter().map(|said| announced(said[1])).collect()
    }

    fn count_at(&self, rank: Rank) -> usize {
        usize::try_from(rank).map_or(0, |rank| self.counts()[rank])
    }

    fn agree<R>(&self, on: &OnCommunicator<'_>, own: Result<R, Error>) -> Result<R, Error> {
        agree(on, self.rank, own)
    }
}

/// Checks that all ranks are ready. If one is not, every rank gets an error.
pub(crate) fn agree<R>(
    on: &OnCommunicator<'_>,
    rank: Rank,
    own: Result<R, Error>,
) -> Result<R, Error> {
    let refusing = on.greatest(if own.is_ok() { -1 } else { rank })?;
    let own = own?;
    if refusing >= 0 {
        return Err(Error::Peer { rank: refusing });
    }
    Ok(own)
}

fn rank_of(index: usize) -> Rank {
    Rank::try_from(index).unwrap_or(Rank::MAX)
}

/// The error for elements of another type at another rank. All ranks call this, because each of them found such a rank.
fn other_elements<T: Described>(on: &OnCommunicator<'_>, rank: usize) -> Result<Error, Error> {
    let all = on.all_gather(signature::text(&Type::of::<T>().signature()))?;
    let (own, _) = on.ranks()?;
    let text = |rank: usize| all.get(rank).map_or_else(String::new, signature::read);
    let ours = usize::try_from(own).map_or_else(|_| String::new(), text);
    Ok(Error::Elements { rank: rank_of(rank), ours, theirs: text(rank) })
}

/// A number of elements as ranks announce it. The bits are the same, because there can be any number of elements without data.
fn announce(count: usize) -> i64 {
    (count as u64).cast_signed()
}

/// The number of elements that a rank announced. If this machine cannot address as many, the greatest number, which no memory
/// can hold.
fn announced(number: i64) -> usize {
    usize::try_from(number.cast_unsigned()).unwrap_or(usize::MAX)
}

/// Memory for the packed bytes of `count` elements.
fn room_for<T: Described>(count: usize) -> Result<Vec<u8>, Error> {
    let bytes = dtype_runtime::packed_size::<T>(count);
    let mut room = Vec::new();
    room.try_reserve_exact(bytes).map_err(|_| Error::Allocation { bytes })?;
    room.resize(bytes, 0);
    Ok(room)
}

/// The root's part in a broadcast.
fn broadcast_from_root<T: Described>(
    on: &OnCommunicator<'_>,
    meeting: &Meeting,
    elements: &[T],
) -> Result<(), Error> {
    meeting.agree(on, Ok(()))?;
    let Some(block) = meeting.block else { return Ok(()) };
    on.broadcast_own(&values::packed(elements), block)
}

/// Receives elements. `fill` fills their packed bytes, if all ranks could allocate memory for theirs.
fn receive<T: Described>(
    on: &OnCommunicator<'_>,
    meeting: &Meeting,
    count: usize,
    fill: impl FnOnce(&Room, Block) -> Result<(), Error>,
) -> Result<Vec<T>, Error> {
    let bytes = dtype_runtime::packed_size::<T>(count);
    let mut asked = false;
    // Some libraries do not report when a peer sends less than it announced.
    let received = values::receive_vec_or_zeros(count, |memory| {
        asked = true;
        let room = match memory {
            Memory::Elements(_) => Ok(Vec::new()),
            Memory::Bytes => room_for::<T>(count),
        };
        let mut own = meeting.agree(on, room)?;
        let Some(block) = meeting.block else { return Ok(own) };
        let at = match memory {
            Memory::Elements(at) => at,
            Memory::Bytes => own.as_mut_ptr(),
        };
        // SAFETY: there is room for the packed bytes of all elements, any bytes may be written there, and no other
        // code accesses them before the call returns.
        let room = unsafe { Room::new(at, bytes) };
        fill(&room, block)?;
        Ok(own)
    });
    // If the memory for the elements could not be allocated, the other ranks do not know that yet.
    if asked { received } else { meeting.agree(on, received) }
}

/// The number of elements for this rank.
fn own_count(
    on: &OnCommunicator<'_>,
    root: Rank,
    counts: Option<&[usize]>,
) -> Result<usize, Error> {
    let (_, size) = on.ranks()?;
    let mut all = vec![0; usize::try_from(size).unwrap_or(0)];
    if let Some(counts) = counts {
        for (count, all) in counts.iter().zip(&mut all) {
            *all = announce(*count);
        }
    }
    let own = on.all_to_all(&all)?;
    let at_root = usize::try_from(root).ok().and_then(|root| own.get(root).copied()).unwrap_or(0);
    Ok(announced(at_root))
}

fn check_counts(counts: &[usize], elements: usize, ranks: Rank) -> Result<(), Error> {
    let sum = counts.iter().try_fold(0_usize, |sum, &count| sum.checked_add(count));
    if usize::try_from(ranks) == Ok(counts.len()) && sum == Some(elements) {
        return Ok(());
    }
    let sum = sum.map_or(u64::MAX, |sum| sum as u64);
    Err(Error::Counts { counts: counts.len(), sum, elements, ranks })
}

fn reduce<T: Described>(
    on: &OnCommunicator<'_>,
    meeting: &Meeting,
    elements: &[T],
    operation: &Operation<'_, T>,
    root: Option<Rank>,
) -> Result<Vec<u8>, Error> {
    meeting.same_counts()?;
    let (Some(function), Some(_)) = (operation.function(), meeting.block) else {
        return Ok(Vec::new());
    };
    let packed = values::packed(elements);
    // Discards the failure of an earlier call, if any.
    drop(function.failure());
    // SAFETY: the operation is borrowed, and the block is that of the operation.
    let reduced = unsafe { on.reduce(&packed, function.block(), function.handle(), root) };
    let failed = function.failure().map_or(Ok(()), Err);
    let reduced = reduced.and_then(|bytes| failed.map(|()| bytes));
    meeting.agree(on, reduced)
}
