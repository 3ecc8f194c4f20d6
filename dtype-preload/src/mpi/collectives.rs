//! Collective operations that move data.
//!
//! Each rank packs its own elements, and the library moves bytes. The other ranks may do otherwise: the standard only demands
//! that the type signatures match, and packed bytes match all. So a rank decides alone which of its elements are packed.

use std::cell::OnceCell;
use std::ffi::{c_int, c_void};

use super::abi::{Word, abi};
use super::buffers::Buffer;
use super::exported::exported;
use super::freed;
use super::library::library;
use super::messages::{self, bytes, is_complete};
use super::neighbours::{Ask, Neighbours, ask, neighbours};
use super::part::{Direction, Part};
use super::requests::{self, Operation, Placed};
use super::status::Statuses;
use super::types;
use crate::original::originals;

originals! {
    static RANK = c"PMPI_Comm_rank": Ask;
    static SIZE = c"PMPI_Comm_size": Ask;
    static TEST_INTER = c"PMPI_Comm_test_inter": Ask;
}

/// Which ranks send, and which receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    All,
    ToRoot,
    FromRoot,
    Neighbours,
}

/// The numbers of ranks that this one sends to and receives from; `None` where it does not.
#[derive(Clone, Copy, Debug)]
struct Role {
    to: Option<usize>,
    from: Option<usize>,
    /// Whether elements that are received may be left as they are.
    keeps: bool,
}

/// A displacement: `int`, or `MPI_Aint`.
trait Displacement: Copy + TryInto<isize> + TryFrom<usize> + Send + Sync + 'static {}
impl Displacement for c_int {}
impl Displacement for isize {}

/// A call of the program, in whose arguments packed bytes replace elements.
struct Call {
    shape: Shape,
    communicator: Word,
    root: c_int,
    role: OnceCell<Option<Role>>,
    /// Whether the rank's own elements are among those that it receives.
    is_in_place: bool,
    operation: Operation,
}

impl Call {
    /// `buffers` are the addresses of the arguments. The library reports if they are the same, so the call is then left to it.
    fn new(
        shape: Shape,
        communicator: Word,
        root: c_int,
        is_persistent: bool,
        buffers: &[*mut c_void],
    ) -> Self {
        let communicator = abi().handle(communicator);
        let is_left = library().is_none_or(|library| library.longest_send != usize::MAX)
            || communicator == abi().comm_null
            || matches!(buffers, [from, to] if from == to);
        let role = if is_left { OnceCell::from(None) } else { OnceCell::new() };
        let operation = Operation::new(Vec::new(), false, is_persistent);
        Self { shape, communicator, root, role, is_in_place: false, operation }
    }

    fn role(&self) -> Option<Role> {
        *self.role.get_or_init(|| {
            // MPICH chooses its algorithms for two groups by the number of elements, so all ranks must have the same elements.
            if ask(&TEST_INTER, self.communicator)? != 0 {
                return None;
            }
            let rank = ask(&RANK, self.communicator)?;
            let all = usize::try_from(ask(&SIZE, self.communicator)?).ok();
            let root = all.filter(|_| self.root == rank);
            Some(match self.shape {
                Shape::All => Role { to: all, from: all, keeps: false },
                Shape::ToRoot => Role { to: all, from: root, keeps: false },
                Shape::FromRoot => Role { to: root, from: all, keeps: false },
                Shape::Neighbours => {
                    let Neighbours { to, from, some_are_absent } =
                        neighbours(self.communicator, rank)?;
                    Role { to: Some(to), from: Some(from), keeps: some_are_absent }
                }
            })
        })
    }

    /// The number of ranks at the other end of a side; `None` if the side's arguments are not used, or left to the library.
    fn ranks(&mut self, direction: Direction, elements: *mut c_void) -> Option<usize> {
        if elements.addr() == abi().in_place {
            self.is_in_place = true;
            return None;
        }
        match direction {
            Direction::Send => self.role()?.to,
            Direction::Receive => self.role()?.from,
        }
    }

    /// Puts the packed bytes of a side one after the other. `None`, with nothing changed, if there are none, or too many.
    ///
    /// # Safety
    ///
    /// The parts must have been made of a call of the program.
    unsafe fn place(&mut self, direction: Direction, parts: Vec<Option<Part>>) -> Option<*mut u8> {
        let size = parts.iter().flatten().map(|part| part.size).sum();
        c_int::try_from(size).ok().filter(|&size| size > 0)?;
        let buffer = Buffer::new(size)?;
        let (start, mut at) = (buffer.as_ptr(), buffer.as_ptr());
        // What is received in place, or perhaps not at all, must be there before.
        let is_packed = direction == Direction::Send || self.is_in_place || self.role()?.keeps;
        let mut placed = Vec::new();
        for part in parts.into_iter().flatten() {
            // Intel MPI sends a part of what is there when a persistent operation is made, not when it starts.
            if is_packed {
                // SAFETY: the program's elements; the buffer has room for the bytes of all parts.
                unsafe { part.pack(at) }?;
            }
            let size = part.size;
            placed.push(Placed { part, at });
            at = at.wrapping_add(size);
        }
        if is_packed && self.operation.is_persistent {
            self.operation.sends.extend(placed.iter().cloned());
        }
        if direction == Direction::Receive {
            self.operation.receives.extend(placed);
        }
        self.operation.buffers.push(buffer);
        Some(start)
    }

    /// A block of elements of each of the ranks, one after the other, or a single block.
    unsafe fn blocks<N: messages::Count>(
        &mut self,
        direction: Direction,
        is_one: bool,
        (elements, count, datatype): (&mut *mut c_void, &mut N, &mut Word),
    ) -> Option<()> {
        // SAFETY: the caller's arguments.
        unsafe {
            if !abi().is_derived(abi().handle(*datatype)) {
                self.is_in_place |= elements.addr() == abi().in_place;
                return None;
            }
            let ranks = self.ranks(direction, *elements)?;
            let blocks = if is_one { 1 } else { ranks };
            let all = (*count).into().checked_mul(i64::try_from(blocks).ok()?)?;
            let part = Part::new(*elements, all, *datatype, direction)?;
            let size = part.size / blocks;
            *elements = self.place(direction, vec![Some(part)])?.cast();
            (*count, *datatype) = (bytes(size), abi().packed);
        }
        Some(())
    }

    /// The only side of a broadcast.
    unsafe fn root_or_leaf<N: messages::Count>(
        &mut self,
        _: Direction,
        side: (&mut *mut c_void, &mut N, &mut Word),
    ) -> Option<()> {
        if !abi().is_derived(abi().handle(*side.2)) {
            return None;
        }
        let is_root = self.role()?.to.is_some();
        let direction = if is_root { Direction::Send } else { Direction::Receive };
        // SAFETY: the caller's arguments.
        unsafe { self.blocks(direction, true, side) }
    }

    /// A single block.
    unsafe fn one<N: messages::Count>(
        &mut self,
        direction: Direction,
        side: (&mut *mut c_void, &mut N, &mut Word),
    ) -> Option<()> {
        // SAFETY: the caller's arguments.
        unsafe { self.blocks(direction, true, side) }
    }

    /// A block for each rank.
    unsafe fn each<N: messages::Count>(
        &mut self,
        direction: Direction,
        side: (&mut *mut c_void, &mut N, &mut Word),
    ) -> Option<()> {
        // SAFETY: the caller's arguments.
        unsafe { self.blocks(direction, false, side) }
    }

    /// Blocks of given lengths at given places, in elements.
    unsafe fn list(
        &mut self,
        direction: Direction,
        (elements, counts, places, datatype): (
            &mut *mut c_void,
            &mut *const c_int,
            &mut *const c_int,
            &mut Word,
        ),
    ) -> Option<()> {
        // SAFETY: the caller's arguments: arrays with an element for each rank.
        unsafe {
            if !abi().is_derived(abi().handle(*datatype)) {
                self.is_in_place |= elements.addr() == abi().in_place;
                return None;
            }
            let ranks = self.ranks(direction, *elements)?;
            let all: i64 = (0..ranks).map(|rank| i64::from(*counts.add(rank))).sum();
            if types::is_left(*datatype, all) {
                return None;
            }
            let entry = types::find(*datatype, usize::try_from(all).ok()?)?;
            let extent = isize::try_from(entry.native()?.compiled.committed.extent()).ok()?;
            let part = |rank: usize| {
                let count = usize::try_from(*counts.add(rank)).ok()?;
                let start = elements.wrapping_byte_offset(extent * *places.add(rank) as isize);
                let part = || Part::of(entry.clone(), start, count, direction);
                if count == 0 { Some(None) } else { part().map(Some) }
            };
            let parts = (0..ranks).map(part).collect::<Option<Vec<_>>>()?;
            let arrays = arrays(&parts);
            *elements = self.place(direction, parts)?.cast();
            *datatype = abi().packed;
            self.keep(arrays?, counts, places);
        }
        Some(())
    }

    /// Blocks of given lengths and types at given places, in bytes.
    unsafe fn types<D: Displacement>(
        &mut self,
        direction: Direction,
        (elements, counts, places, datatypes): (
            &mut *mut c_void,
            &mut *const c_int,
            &mut *const D,
            &mut *const c_void,
        ),
    ) -> Option<()> {
        // SAFETY: the caller's arguments: arrays with an element for each rank.
        unsafe {
            let ranks = self.ranks(direction, *elements)?;
            let mut gains = false;
            let mut part = |rank: usize| {
                let count = usize::try_from(*counts.add(rank)).ok()?;
                let start = elements.wrapping_byte_offset((*places.add(rank)).try_into().ok()?);
                let datatype = abi().read(*datatypes, rank);
                if count == 0 {
                    return Some(None);
                }
                gains |= !types::is_left(datatype, count as i64);
                let entry = types::find_any(datatype, count)?;
                Part::of(entry, start, count, direction).map(Some)
            };
            let parts = (0..ranks).map(&mut part).collect::<Option<Vec<_>>>()?;
            let arrays = arrays(&parts).filter(|_| gains)?;
            *elements = self.place(direction, parts)?.cast();
            let mut handles = vec![0; ranks];
            let start: *mut c_void = handles.as_mut_ptr().cast();
            for rank in 0..ranks {
                abi().write(start.wrapping_byte_add(rank * abi().handle), abi().packed);
            }
            *datatypes = start;
            self.operation.kept.push(Box::new(handles));
            self.keep(arrays, counts, places);
        }
        Some(())
    }

    /// Replaces arrays of the call. The new ones live as long as the operation.
    fn keep<D: Displacement>(
        &mut self,
        (lengths, starts): (Vec<c_int>, Vec<D>),
        counts: &mut *const c_int,
        places: &mut *const D,
    ) {
        (*counts, *places) = (lengths.as_ptr(), starts.as_ptr());
        self.operation.kept.push(Box::new((lengths, starts)));
    }

    /// Ends a blocking call.
    ///
    /// # Safety
    ///
    /// The library must have returned the code.
    unsafe fn end(self, code: c_int) -> c_int {
        if code == 0 {
            // SAFETY: the operation is complete, and is no message, so no status is read.
            unsafe { self.operation.complete(&mut Statuses::ignored(), 0, 0) };
        }
        freed::settle();
        code
    }

    /// Records what is still to be done for the request of another call.
    ///
    /// # Safety
    ///
    /// The library must have returned the code, and written the request if the code is 0.
    unsafe fn record(self, code: c_int, request: *mut c_void) -> c_int {
        if code != 0 || self.operation.buffers.is_empty() {
            return code;
        }
        // SAFETY: guaranteed by the caller.
        let handle = unsafe { abi().read(request, 0) };
        // A library may give the same handle to all requests that are complete.
        if !self.operation.is_persistent && is_complete(handle) {
            // SAFETY: as above.
            return unsafe { self.end(code) };
        }
        requests::record(handle, self.operation);
        code
    }
}

/// The lengths and the starts in bytes of the packed parts.
fn arrays<D: Displacement>(parts: &[Option<Part>]) -> Option<(Vec<c_int>, Vec<D>)> {
    let mut start = 0;
    let each = |part: &Option<Part>| {
        let size = part.as_ref().map_or(0, |part| part.size);
        let pair = (c_int::try_from(size).ok()?, D::try_from(start).ok()?);
        start += size;
        Some(pair)
    };
    Some(parts.iter().map(each).collect::<Option<Vec<_>>>()?.into_iter().unzip())
}

/// Exports the three functions of an operation: the blocking, the nonblocking and the persistent one. After the arguments come
/// the shape, the root, and the sides with their arguments.
macro_rules! collectives {
    () => {};
    (both $names:tt $arguments:tt = $shape:ident($root:expr, $communicator:ident): $($rest:tt)*) => {
        collectives! { @ [both] [<Count: messages::Count>] [, on $communicator] $names $arguments
            = $shape($root, $communicator): $($rest)* }
    };
    (only $($rest:tt)*) => {
        collectives! { @ [] [] [] $($rest)* }
    };
    (
        @ [$($both:ident)?] [$($generics:tt)*] [$($on:tt)*] [$name:literal $nonblocking:literal $persistent:literal]
        ($($argument:ident: $type:ty),* $(,)?) = $shape:ident($root:expr, $communicator:ident):
        $($side:ident $direction:ident($elements:ident, $($other:ident),*)),+;
        $($rest:tt)*
    ) => {
        const _: () = {
            collectives! { @function [$($generics)*] blocking() false end() $shape($root, $communicator)
                ($($argument: $type),*) { $($side $direction($elements, $($other),*))+ } }
            collectives! { @function [$($generics)*] nonblocking(request: *mut c_void) false record(request)
                $shape($root, $communicator) ($($argument: $type),*) { $($side $direction($elements, $($other),*))+ } }
            collectives! { @function [$($generics)*] persistent(info: Word, request: *mut c_void) true record(request)
                $shape($root, $communicator) ($($argument: $type),*) { $($side $direction($elements, $($other),*))+ } }
            exported! {
                $($both)? $name($($argument: $type),*) = blocking $($on)*;
                $($both)? $nonblocking($($argument: $type),*, request: *mut c_void) = nonblocking $($on)*;
                $($both)? $persistent($($argument: $type),*, info: Word, request: *mut c_void) = persistent $($on)*;
            }
        };
        collectives! { $($rest)* }
    };
    (
        @function [$($generics:tt)*] $function:ident($($last:ident: $last_type:ty),*) $is_persistent:literal
        $end:ident($($request:ident)?) $shape:ident($root:expr, $communicator:ident) ($($argument:ident: $type:ty),*)
        { $($side:ident $direction:ident($elements:ident, $($other:ident),*))+ }
    ) => {
        unsafe fn $function $($generics)* (
            original: unsafe extern "C" fn($($type,)* $($last_type),*) -> c_int,
            $($argument: $type,)* $($last: $last_type),*
        ) -> c_int {
            let mut call =
                Call::new(Shape::$shape, $communicator, $root, $is_persistent, &[$($elements),+]);
            // SAFETY: the caller's arguments, in which packed bytes replace elements.
            unsafe {
                $(
                    let (mut $elements, $(mut $other),*) = ($elements, $($other),*);
                    call.$side(Direction::$direction, (&mut $elements, $(&mut $other),*));
                )+
                let code = original($($argument,)* $($last),*);
                call.$end(code $(, $request)?)
            }
        }
    };
}

collectives! {
    both ["Bcast" "Ibcast" "Bcast_init"]
        (elements: *mut c_void, count: Count, datatype: Word, root: c_int, communicator: Word)
        = FromRoot(root, communicator): root_or_leaf Send(elements, count, datatype);
    both ["Gather" "Igather" "Gather_init"]
        (elements: *mut c_void, count: Count, datatype: Word, into: *mut c_void, room: Count, into_type: Word,
            root: c_int, communicator: Word)
        = ToRoot(root, communicator): one Send(elements, count, datatype), each Receive(into, room, into_type);
    both ["Scatter" "Iscatter" "Scatter_init"]
        (elements: *mut c_void, count: Count, datatype: Word, into: *mut c_void, room: Count, into_type: Word,
            root: c_int, communicator: Word)
        = FromRoot(root, communicator): each Send(elements, count, datatype), one Receive(into, room, into_type);
    both ["Allgather" "Iallgather" "Allgather_init"]
        (elements: *mut c_void, count: Count, datatype: Word, into: *mut c_void, room: Count, into_type: Word,
            communicator: Word)
        = All(0, communicator): one Send(elements, count, datatype), each Receive(into, room, into_type);
    both ["Alltoall" "Ialltoall" "Alltoall_init"]
        (elements: *mut c_void, count: Count, datatype: Word, into: *mut c_void, room: Count, into_type: Word,
            communicator: Word)
        = All(0, communicator): each Send(elements, count, datatype), each Receive(into, room, into_type);
    both ["Neighbor_allgather" "Ineighbor_allgather" "Neighbor_allgather_init"]
        (elements: *mut c_void, count: Count, datatype: Word, into: *mut c_void, room: Count, into_type: Word,
            communicator: Word)
        = Neighbours(0, communicator): one Send(elements, count, datatype), each Receive(into, room, into_type);
    both ["Neighbor_alltoall" "Ineighbor_alltoall" "Neighbor_alltoall_init"]
        (elements: *mut c_void, count: Count, datatype: Word, into: *mut c_void, room: Count, into_type: Word,
            communicator: Word)
        = Neighbours(0, communicator): each Send(elements, count, datatype), each Receive(into, room, into_type);
    only ["Gatherv" "Igatherv" "Gatherv_init"]
        (elements: *mut c_void, count: c_int, datatype: Word, into: *mut c_void, rooms: *const c_int,
            places: *const c_int, into_type: Word, root: c_int, communicator: Word)
        = ToRoot(root, communicator): one Send(elements, count, datatype), list Receive(into, rooms, places, into_type);
    only ["Scatterv" "Iscatterv" "Scatterv_init"]
        (elements: *mut c_void, counts: *const c_int, starts: *const c_int, datatype: Word, into: *mut c_void,
            room: c_int, into_type: Word, root: c_int, communicator: Word)
        = FromRoot(root, communicator): list Send(elements, counts, starts, datatype), one Receive(into, room, into_type);
    only ["Allgatherv" "Iallgatherv" "Allgatherv_init"]
        (elements: *mut c_void, count: c_int, datatype: Word, into: *mut c_void, rooms: *const c_int,
            places: *const c_int, into_type: Word, communicator: Word)
        = All(0, communicator): one Send(elements, count, datatype), list Receive(into, rooms, places, into_type);
    only ["Neighbor_allgatherv" "Ineighbor_allgatherv" "Neighbor_allgatherv_init"]
        (elements: *mut c_void, count: c_int, datatype: Word, into: *mut c_void, rooms: *const c_int,
            places: *const c_int, into_type: Word, communicator: Word)
        = Neighbours(0, communicator): one Send(elements, count, datatype), list Receive(into, rooms, places, into_type);
    only ["Alltoallv" "Ialltoallv" "Alltoallv_init"]
        (elements: *mut c_void, counts: *const c_int, starts: *const c_int, datatype: Word, into: *mut c_void,
            rooms: *const c_int, places: *const c_int, into_type: Word, communicator: Word)
        = All(0, communicator): list Send(elements, counts, starts, datatype), list Receive(into, rooms, places, into_type);
    only ["Neighbor_alltoallv" "Ineighbor_alltoallv" "Neighbor_alltoallv_init"]
        (elements: *mut c_void, counts: *const c_int, starts: *const c_int, datatype: Word, into: *mut c_void,
            rooms: *const c_int, places: *const c_int, into_type: Word, communicator: Word)
        = Neighbours(0, communicator):
            list Send(elements, counts, starts, datatype), list Receive(into, rooms, places, into_type);
    only ["Alltoallw" "Ialltoallw" "Alltoallw_init"]
        (elements: *mut c_void, counts: *const c_int, starts: *const c_int, datatypes: *const c_void, into: *mut c_void,
            rooms: *const c_int, places: *const c_int, into_types: *const c_void, communicator: Word)
        = All(0, communicator): types Send(elements, counts, starts, datatypes), types Receive(into, rooms, places, into_types);
    only ["Neighbor_alltoallw" "Ineighbor_alltoallw" "Neighbor_alltoallw_init"]
        (elements: *mut c_void, counts: *const c_int, starts: *const isize, datatypes: *const c_void, into: *mut c_void,
            rooms: *const c_int, places: *const isize, into_types: *const c_void, communicator: Word)
        = Neighbours(0, communicator):
            types Send(elements, counts, starts, datatypes), types Receive(into, rooms, places, into_types);
}
