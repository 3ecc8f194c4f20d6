//! Exchanges parts of a grid between ranks, all at the same time: halos, and all-to-all by layouts.
//!
//! Every part is packed here, into memory of the exchange. So the grid is not borrowed while messages are in transit, and
//! several parts of one grid are received at once. The messages use nonblocking requests, because no alternative was clearly
//! faster with six messages to and from each rank in shared memory: persistent requests take 0.87 to 1.6 times as long, and the
//! same time from 4 KiB on; `MPI_Neighbor_alltoallw` takes 1.0 to 1.3 times as long.

#[cfg(feature = "gpu")]
mod device;
mod halo;
mod matching;

use std::fmt;

use dtype_runtime::{Committed, Datatype as Described, Type};
use mpi::topology::CartesianCommunicator;
use mpi::traits::CommunicatorCollectives;
use mpi::{Rank, Tag};

use crate::collective::{PackedCollectives, agree};
use crate::error::Error;
use crate::instances::Instances;
use crate::raw::point_to_point::{Pending, check_receivable, room_to_receive};
use crate::raw::{Later, OnCommunicator};

use halo::halo_parts;
use matching::{announce, check_matched};

#[cfg(feature = "gpu")]
pub use device::{DeviceExchange, DeviceStarted};

/// Instances of a type in the memory of a grid, and the rank that they are sent to or received from.
#[derive(Clone, Debug)]
pub struct Part {
    rank: Rank,
    tag: Tag,
    instances: Instances,
    origin: usize,
    count: usize,
}

impl Part {
    /// One instance, with displacement 0 at the start of the memory, as in a [`Type::subarray`] of the grid.
    ///
    /// The tag, from 0 to 32767, distinguishes the parts between two ranks: a sent part is received in the part with the same
    /// tag. Parts with one tag arrive in the order in which they are sent.
    pub fn new(rank: Rank, tag: Tag, ty: &Type) -> Self {
        Self { rank, tag, instances: Instances::new(ty.commit()), origin: 0, count: 1 }
    }

    /// Sets the origin: displacement 0 of the first instance is this many bytes into the memory.
    #[must_use]
    pub fn origin(mut self, bytes: usize) -> Self {
        self.origin = bytes;
        self
    }

    /// Sets the number of instances. Each starts one extent after the one before.
    #[must_use]
    pub fn count(mut self, instances: usize) -> Self {
        self.count = instances;
        self
    }

    fn committed(&self) -> &Committed {
        self.instances.committed()
    }
}

/// Which ranks of a Cartesian grid are the neighbours of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbours {
    /// The ranks across a face: 4 in two dimensions, 6 in three. The border then has no corners and edges; a stencil along the
    /// axes needs none.
    Faces,
    /// The ranks across faces, edges and corners: 8 in two dimensions, 26 in three.
    All,
}

/// Messages between this rank and others, each of which is a part of one grid in memory. An exchange is made once and can be
/// performed any number of times.
///
/// [`run`](Self::run) sends and receives all parts, and returns when all have arrived. Between [`start`](Self::start) and
/// [`finish`](Started::finish), a program can compute what does not depend on the parts; the grid is not borrowed then.
///
/// The parts are messages on the communicator with the tags of the parts. Other messages between the same ranks need other
/// tags, or another communicator.
///
/// ```
/// use dtype_mpi::{Exchange, Neighbours};
/// use dtype_runtime::{Basic, Type};
/// use mpi::traits::*;
///
/// let universe = mpi::initialize().expect("MPI runs once");
/// let world = universe.world();
/// let cartesian = world.create_cartesian_communicator(&[world.size(), 1, 1], &[true; 3], false).unwrap();
///
/// // 4 × 4 × 4 cells in each rank, with a border of one cell around them.
/// let f64s = Type::basic(Basic::F64);
/// let mut exchange = Exchange::halo(&cartesian, &[6, 6, 6], 1, &f64s, Neighbours::Faces)?;
/// let mut grid = vec![f64::from(world.rank()); 6 * 6 * 6];
/// exchange.run(&mut grid)?;
/// // The cell in the middle of the first plane came from the rank before this one.
/// let before = (world.rank() + world.size() - 1) % world.size();
/// assert_eq!(grid[2 * 6 + 2], f64::from(before));
/// # Ok::<(), dtype_mpi::Error>(())
/// ```
pub struct Exchange<'c> {
    on: Later<'c>,
    sends: Vec<Prepared<'c>>,
    receives: Vec<Prepared<'c>>,
}

impl fmt::Debug for Exchange<'_> {
    /// Without the packed bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange")
            .field("sends", &self.sends.len())
            .field("receives", &self.receives.len())
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}

/// A part, and memory for its packed bytes, which is kept between rounds.
struct Prepared<'c> {
    part: Part,
    bytes: usize,
    buffer: Vec<u8>,
    /// The message in transit, with the memory.
    pending: Option<Pending<'c>>,
}

impl<'c> Exchange<'c> {
    /// An exchange within one grid. All ranks of the communicator must call this together, even ranks without parts.
    ///
    /// Received parts must not overlap each other or sent parts. The ranks compare which parts they send and receive, and the
    /// type signatures of the parts.
    ///
    /// # Errors
    ///
    /// [`Error::Type`] with [`OutOfBounds`](dtype_runtime::Error::OutOfBounds) for a part that can lie in no memory;
    /// [`Error::Overlap`]; [`Error::Rank`]; [`Error::Tag`]; [`Error::Unmatched`] if two ranks do not send and receive the same
    /// number of parts with a tag; [`Error::Elements`] for parts with different type signatures; [`Error::Peer`] at the other
    /// ranks. [`Error::Type`] for a type that is too large; [`Error::Count`] for a part of more bytes than the library can
    /// count; [`Error::Allocation`]; [`Error::Intercommunicator`]; [`Error::NotRunning`], [`Error::Thread`], [`Error::Call`].
    pub fn new<C: CommunicatorCollectives>(
        communicator: &'c C,
        sends: Vec<Part>,
        receives: Vec<Part>,
    ) -> Result<Self, Error> {
        let disjoint =
            check_reach(&sends, &receives).and_then(|()| check_disjoint(&sends, &receives));
        Self::checked(communicator, sends, receives, disjoint)
    }

    /// An exchange from one memory into another, for [`run_between`](Self::run_between). With a part for each rank, it is the
    /// operation of `MPI_Alltoallw`; with a part for each neighbour, that of `MPI_Neighbor_alltoallw`. Otherwise as
    /// [`new`](Self::new); only received parts must not overlap each other.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    ///
    /// ```
    /// use dtype_mpi::{Exchange, Part};
    /// use dtype_runtime::{Basic, Type};
    /// use mpi::traits::*;
    ///
    /// let universe = mpi::initialize().expect("MPI runs once");
    /// let world = universe.world();
    /// let size = world.size() as usize;
    ///
    /// // Column i of a matrix of three rows becomes row i of another one, at rank i.
    /// let numbers = Type::basic(Basic::I32);
    /// let column = Type::vector(3, 1, size as i64, &numbers)?;
    /// let row = Type::contiguous(3, &numbers)?;
    /// let sends = (0..world.size()).map(|to| Part::new(to, 0, &column).origin(to as usize * 4));
    /// let receives = (0..world.size()).map(|from| Part::new(from, 0, &row).origin(from as usize * 12));
    /// let mut exchange = Exchange::between(&world, sends.collect(), receives.collect())?;
    ///
    /// let matrix = vec![world.rank(); 3 * size];
    /// let mut rows = vec![-1; 3 * size];
    /// exchange.run_between(&matrix, &mut rows)?;
    /// assert_eq!(rows[..3], [0; 3]);
    /// # Ok::<(), dtype_mpi::Error>(())
    /// ```
    #[doc(alias = "MPI_Alltoallw")]
    #[doc(alias = "MPI_Neighbor_alltoallw")]
    pub fn between<C: CommunicatorCollectives>(
        communicator: &'c C,
        sends: Vec<Part>,
        receives: Vec<Part>,
    ) -> Result<Self, Error> {
        let disjoint = check_reach(&sends, &receives).and_then(|()| check_disjoint(&[], &receives));
        Self::checked(communicator, sends, receives, disjoint)
    }

    /// The halo exchange of a grid that is divided among the ranks of a Cartesian communicator, in as many dimensions.
    ///
    /// `sizes` are the numbers of elements of this rank's part of the grid along each dimension, with the border, in C order:
    /// the last one is contiguous in memory. `width` is the number of elements of the border on each side. The outermost
    /// elements inside the border are sent to the neighbours, and the neighbours' elements are received into the border. In a
    /// dimension that is not periodic, the border at the end of the grid is unchanged.
    ///
    /// # Errors
    ///
    /// [`Error::Halo`] for sizes that are not one for each dimension, or less than three borders; otherwise as
    /// [`new`](Self::new), with [`Error::Elements`] for neighbours whose faces have other sizes.
    pub fn halo(
        cartesian: &'c CartesianCommunicator,
        sizes: &[usize],
        width: usize,
        element: &Type,
        neighbours: Neighbours,
    ) -> Result<Self, Error> {
        let parts = halo_parts(cartesian, sizes, width, element, neighbours);
        let (sends, receives) = agree_on(cartesian, parts)?;
        Self::new(cartesian, sends, receives)
    }

    /// The halo exchange of a grid of `T`s: as [`halo`](Self::halo), of whole elements. Any `#[derive(Datatype)]` type can be
    /// exchanged: with padding, skipped fields, `bool`s, enums and checks. What arrives is checked before it is written.
    ///
    /// # Errors
    ///
    /// As [`halo`](Self::halo).
    ///
    /// ```
    /// use dtype_mpi::{Exchange, Neighbours};
    /// use mpi::traits::*;
    ///
    /// #[derive(dtype_runtime::Datatype, Clone, Debug, PartialEq)]
    /// struct Cell {
    ///     density: f64,
    ///     is_wall: bool,
    /// }
    ///
    /// let universe = mpi::initialize().expect("MPI runs once");
    /// let world = universe.world();
    /// let ring = world.create_cartesian_communicator(&[world.size()], &[true], false).unwrap();
    /// let mut exchange = Exchange::halo_of::<Cell>(&ring, &[6], 1, Neighbours::Faces)?;
    /// let mut cells = vec![Cell { density: f64::from(world.rank()), is_wall: true }; 6];
    /// exchange.run(&mut cells)?;
    /// assert_eq!(cells[5].density, f64::from((world.rank() + 1) % world.size()));
    /// # Ok::<(), dtype_mpi::Error>(())
    /// ```
    pub fn halo_of<T: Described>(
        cartesian: &'c CartesianCommunicator,
        sizes: &[usize],
        width: usize,
        neighbours: Neighbours,
    ) -> Result<Self, Error> {
        Self::halo(cartesian, sizes, width, &Type::of_record::<T>(), neighbours)
    }

    fn checked<C: CommunicatorCollectives>(
        communicator: &'c C,
        sends: Vec<Part>,
        receives: Vec<Part>,
        disjoint: Result<(), Error>,
    ) -> Result<Self, Error> {
        let prepared =
            disjoint.and_then(|()| Ok((announce(communicator, &sends)?, prepare(sends)?)));
        let ((announced, counts), sends) = agree_on(communicator, prepared)?;
        let arriving = communicator.all_to_all_packed(&announced, &counts)?;
        let by_rank = arriving.by_rank().collect::<Vec<_>>();
        let matched = check_matched(&by_rank, &receives).and_then(|()| prepare(receives));
        let receives = agree_on(communicator, matched)?;
        let on = OnCommunicator::begin("MPI_Isend", communicator)?.later();
        Ok(Self { on, sends, receives })
    }

    /// Packed bytes that this rank sends in one exchange.
    pub fn bytes(&self) -> u64 {
        self.sends.iter().map(|send| send.bytes as u64).sum()
    }

    /// Exchanges the parts within one grid.
    ///
    /// The elements of the grid must have the data that the parts name, at the same bytes: a part of `f64` is for a slice of
    /// `f64`, or of structs and arrays with an `f64` there. A slice of `u8` takes any part. If some bytes are not values of an
    /// element (a `bool`, an enum), the received parts must be made of whole elements,
    /// [`Type::of_record::<T>()`](Type::of_record), which are checked when they arrive. Padding is neither sent nor written.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start) and [`finish`](Started::finish). What is wrong with the grid is found before anything is sent.
    pub fn run<T: Described>(&mut self, grid: &mut [T]) -> Result<(), Error> {
        let ready = self.check_receives(grid).and_then(|()| self.check_sends(grid));
        self.begin_in(ready, grid)?.finish(grid)
    }

    /// Exchanges the parts from one memory into another.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn run_between<T: Described, U: Described>(
        &mut self,
        from: &[T],
        into: &mut [U],
    ) -> Result<(), Error> {
        let ready = self.check_receives(into).and_then(|()| self.check_sends(from));
        self.begin_in(ready, from)?.finish(into)
    }

    /// Starts to receive all parts, packs the ones to be sent, and starts to send them.
    ///
    /// All ranks start the same number of rounds, and each of them counts, whatever becomes of it. A rank with an error tells
    /// the other ranks that it sends nothing in this round. The next start, or the end of the exchange, first waits for the
    /// messages of such a round, and discards them. It does the same after a panic between `start` and
    /// [`finish`](Started::finish) that the program catches.
    ///
    /// # Errors
    ///
    /// [`Error::Type`] with [`OutOfBounds`](dtype_runtime::Error::OutOfBounds) for a part outside of the memory;
    /// [`Error::Memory`] for elements without the data of a part; [`Error::Allocation`]; [`Error::NotRunning`],
    /// [`Error::Thread`], [`Error::Call`].
    pub fn start<T: Described>(&mut self, grid: &[T]) -> Result<Started<'_, 'c>, Error> {
        let ready = self.check_sends(grid);
        self.begin_in(ready, grid)
    }

    fn begin_in<T: Described>(
        &mut self,
        ready: Result<(), Error>,
        grid: &[T],
    ) -> Result<Started<'_, 'c>, Error> {
        self.begin(ready, |_, part, packed| {
            part.instances.packer(grid, part.origin, part.count)?.pack(packed);
            Ok(())
        })
    }

    /// Begins a round, if this rank is ready. `pack` gets the index of each part to be sent, and memory for its packed bytes.
    fn begin(
        &mut self,
        ready: Result<(), Error>,
        mut pack: impl FnMut(usize, &Part, &mut [u8]) -> Result<(), Error>,
    ) -> Result<Started<'_, 'c>, Error> {
        let on = self.on.begin("MPI_Isend")?;
        self.discard();
        if let Err(error) = ready.and_then(|()| self.reserve()) {
            self.refuse(&on);
            return Err(error);
        }
        for receive in &mut self.receives {
            let buffer = std::mem::take(&mut receive.buffer);
            let Prepared { part, bytes, pending, .. } = receive;
            *pending = Some(on.start_receive(buffer, *bytes, part.rank, part.tag)?);
        }
        for (index, send) in self.sends.iter_mut().enumerate() {
            let mut packed = std::mem::take(&mut send.buffer);
            let Prepared { part, bytes, pending, .. } = send;
            packed.resize(*bytes, 0);
            pack(index, part, &mut packed)?;
            *pending = Some(on.start_send(packed, part.rank, part.tag)?);
        }
        Ok(Started { exchange: self })
    }

    fn check_sends<T: Described>(&self, grid: &[T]) -> Result<(), Error> {
        let mut parts = self.sends.iter().map(|send| &send.part);
        parts.try_for_each(|part| part.instances.check(grid, part.origin, part.count).map(drop))
    }

    fn check_receives<T: Described>(&self, grid: &[T]) -> Result<(), Error> {
        let mut parts = self.receives.iter().map(|receive| &receive.part);
        parts.try_for_each(|part| {
            part.instances.check_write(grid, part.origin, part.count).map(drop)
        })
    }

    /// Allocates memory for the packed bytes of all parts.
    fn reserve(&mut self) -> Result<(), Error> {
        let receives = self.receives.iter_mut().map(|part| (part, true));
        for (Prepared { bytes, buffer, .. }, is_received) in
            self.sends.iter_mut().map(|part| (part, false)).chain(receives)
        {
            let bytes = if is_received { room_to_receive(*bytes) } else { *bytes };
            let more = bytes.saturating_sub(buffer.len());
            buffer.try_reserve_exact(more).map_err(|_| Error::Allocation { bytes })?;
        }
        Ok(())
    }

    /// Takes part in a round without data: starts to send a message of a wrong length for each part, and to receive what will be
    /// discarded. Without it, the other ranks would wait for this rank's parts, and the next round would receive theirs.
    fn refuse(&mut self, on: &OnCommunicator<'c>) {
        for Prepared { part, pending, .. } in &mut self.receives {
            *pending = on.start_receive(Vec::new(), 0, part.rank, part.tag).ok();
        }
        for Prepared { part, bytes, pending, .. } in &mut self.sends {
            let refusal = vec![0; refusal_bytes(*bytes)];
            *pending = on.start_send(refusal, part.rank, part.tag).ok();
        }
    }

    /// Waits for the messages in transit, and discards the received ones.
    fn discard(&mut self) {
        let _ = self.complete(|_, _, _| Ok(()));
    }

    /// Waits for all messages, and passes the received ones with their indices to `take`. If `take` panics, the other messages
    /// stay in transit.
    fn complete(
        &mut self,
        mut take: impl FnMut(usize, &Prepared<'c>, Result<Rank, Error>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut result = Ok(());
        for (index, receive) in self.receives.iter_mut().enumerate() {
            let Some(pending) = receive.pending.take() else { continue };
            let came = pending.wait().map(|(bytes, message)| {
                receive.buffer = bytes;
                message.source
            });
            result = result.and(take(index, receive, came));
        }
        for send in &mut self.sends {
            let Some(pending) = send.pending.take() else { continue };
            result = result.and(pending.wait().map(|(bytes, _)| send.buffer = bytes));
        }
        result
    }
}

impl Drop for Exchange<'_> {
    /// Waits for the messages of a round that an error or a panic has interrupted. If the thread is still panicking, their memory
    /// is leaked, and the receives stay posted: another exchange would take their messages for its own.
    fn drop(&mut self) {
        if std::thread::panicking() {
            for part in self.receives.iter_mut().chain(&mut self.sends) {
                std::mem::forget(part.pending.take());
            }
        } else {
            self.discard();
        }
    }
}

/// An exchange in progress.
///
/// Dropping it also waits, and discards what arrives, so that the next exchange does not receive it. If the thread is
/// panicking, the next [`start`](Exchange::start) does this instead.
#[must_use = "dropping it waits"]
#[derive(Debug)]
pub struct Started<'e, 'c> {
    exchange: &'e mut Exchange<'c>,
}

impl Started<'_, '_> {
    /// Waits until all parts have arrived, writes them, and waits until all parts have been sent.
    ///
    /// # Errors
    ///
    /// [`Error::Peer`] for a part that another rank did not send, because it had an error. [`Error::Type`] with
    /// [`OutOfBounds`](dtype_runtime::Error::OutOfBounds) for a part outside of the memory; [`Error::Memory`] for elements
    /// without the data of a part; [`Error::Unchecked`] for a part that names some data of elements that must be checked;
    /// [`Error::Type`] with [`InvalidValue`](dtype_runtime::Error::InvalidValue) or
    /// [`CheckFailed`](dtype_runtime::Error::CheckFailed) for a part with bytes that are not values. [`Error::Truncated`] and
    /// [`Error::Short`] for a message of another length that was sent with the tag of a part; [`Error::NotRunning`],
    /// [`Error::Thread`], [`Error::Call`]. In all cases, all messages have completed, and the other parts are written.
    pub fn finish<T: Described>(self, grid: &mut [T]) -> Result<(), Error> {
        self.exchange.complete(|_, receive, came| {
            let (packed, part) = (receive.arrived(came)?, &receive.part);
            part.instances.write(packed, grid, part.origin, part.count)
        })
    }
}

impl Drop for Started<'_, '_> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.exchange.discard();
        }
    }
}

impl Prepared<'_> {
    /// The packed bytes of a message that was received, if it is the part.
    fn arrived(&self, came: Result<Rank, Error>) -> Result<&[u8], Error> {
        let (tag, packed) = (self.part.tag, &self.buffer);
        let source_rank = match came {
            Ok(source) => source,
            Err(Error::Truncated { source_rank, bytes, capacity: 0, .. })
                if bytes == refusal_bytes(0) as u64 =>
            {
                return Err(Error::Peer { rank: source_rank });
            }
            Err(error) => return Err(error),
        };
        if packed.len() == self.bytes {
            return Ok(packed);
        }
        if packed.len() == refusal_bytes(self.bytes) {
            return Err(Error::Peer { rank: source_rank });
        }
        let (bytes, expected) = (packed.len() as u64, self.bytes as u64);
        Err(Error::Short { source_rank, tag, bytes, expected })
    }
}

/// The length of the message that a rank sends instead of a part of `bytes` bytes, if it sends no data.
fn refusal_bytes(bytes: usize) -> usize {
    usize::from(bytes == 0)
}

fn prepare<'c>(parts: Vec<Part>) -> Result<Vec<Prepared<'c>>, Error> {
    let prepared = parts.into_iter().map(|part| {
        let bytes = part.committed().packed_size(part.count)?;
        // Refused here by all ranks: a rank that refused it once messages are in transit would leave others blocked.
        check_receivable(bytes)?;
        Ok(Prepared { part, bytes, buffer: Vec::new(), pending: None })
    });
    prepared.collect()
}

/// Checks that each part can lie in a memory.
fn check_reach(sends: &[Part], receives: &[Part]) -> Result<(), Error> {
    for part in sends.iter().chain(receives) {
        part.committed().check_span(isize::MAX as u64, part.origin as i128, part.count)?;
    }
    Ok(())
}

/// Checks that no byte of a received part is in another part.
fn check_disjoint(sends: &[Part], receives: &[Part]) -> Result<(), Error> {
    struct Segment {
        start: i128,
        end: i128,
        is_sent: bool,
        index: usize,
    }
    let mut segments = Vec::new();
    let (sends, receives) = (sends.iter().enumerate(), receives.iter().enumerate());
    let parts = sends.map(|part| (true, part)).chain(receives.map(|part| (false, part)));
    for (is_sent, (index, part)) in parts {
        let (committed, Part { origin, count, .. }) = (part.committed(), part);
        let iov = committed.iov(*count, 0..committed.packed_size(*count)? as u64)?;
        let number = usize::try_from(iov.segments()).unwrap_or(usize::MAX);
        let bytes = number.saturating_mul(size_of::<Segment>());
        segments.try_reserve(number).map_err(|_| Error::Allocation { bytes })?;
        segments.extend(iov.map(|segment| {
            let start = *origin as i128 + i128::from(segment.disp);
            Segment { start, end: start + i128::from(segment.len), is_sent, index }
        }));
    }
    segments.sort_unstable_by_key(|segment| (segment.start, segment.is_sent, segment.index));
    // Of the segments seen so far, those that reach furthest: a received one and a sent one.
    let mut furthest: [Option<&Segment>; 2] = [None; 2];
    for segment in &segments {
        for other in furthest.into_iter().flatten().filter(|other| other.end > segment.start) {
            if segment.is_sent && other.is_sent {
                continue;
            }
            let (received, other) =
                if segment.is_sent { (other, segment) } else { (segment, other) };
            let byte = i64::try_from(segment.start).unwrap_or(i64::MAX);
            let (received, is_sent, other) = (received.index, other.is_sent, other.index);
            return Err(Error::Overlap { received, other, is_sent, byte });
        }
        let same = &mut furthest[usize::from(segment.is_sent)];
        if same.is_none_or(|other| other.end < segment.end) {
            *same = Some(segment);
        }
    }
    Ok(())
}

/// Whether all ranks are ready, as [`agree`].
fn agree_on<C: CommunicatorCollectives, R>(
    communicator: &C,
    own: Result<R, Error>,
) -> Result<R, Error> {
    let on = OnCommunicator::begin("MPI_Allreduce", communicator)?;
    let (rank, _) = on.ranks()?;
    agree(&on, rank, own)
}
