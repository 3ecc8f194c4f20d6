//! Collective operations that move data.
//!
//! Each rank packs its own elements, and the library moves bytes. The other ranks may do otherwise: the standard only demands
//! that the type signatures match, and packed bytes match all. So a rank decides alone which of its elements are packed.

use std::cell::OnceCell;
use std::ffi::{c_int, c_void};
use std::sync::Arc;

use super::abi::{Word, abi};
use super::buffers::Buffer;
use super::exported::exported;
use super::freed;
use super::library::library;
use super::messages::{self, bytes, is_complete};
use super::neighbours::{Ask, Role, ask, neighbours};
use super::part::{Direction, Part};
use super::requests::{self, Operation, Placed};
use super::status::Statuses;
use super::types::{self, Entry};
use crate::original::originals;

originals! {
    static RANK = c"PMPI_Comm_rank": Ask;
    static SIZE = c"PMPI_Comm_size": Ask;
    static TEST_INTER = c"PMPI_Comm_test_inter": Ask;
}

/// Which ranks send, and which receive. In a broadcast, each does one of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    All,
    ToRoot,
    FromRoot,
    Broadcast,
    Neighbours,
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
        let is_in_place = buffers.iter().any(|buffer| buffer.addr() == abi().in_place);
        Self { shape, communicator, root, role, is_in_place, operation }
    }

    fn role(&self) -> Option<Role> {
        *self.role.get_or_init(|| {
            // MPICH chooses its algorithms for two groups by the number of elements, so all ranks must have the same elements.
            if ask(&TEST_INTER, self.communicator)? != 0 {
                return None;
            }
            let rank = ask(&RANK, self.communicator)?;
            let all = usize::try_from(ask(&SIZE, self.communicator)?).ok()?;
            let root = if self.root == rank { all } else { 0 };
            let (to, from) = match self.shape {
                Shape::All => (all, all),
                Shape::ToRoot => (all, root),
                Shape::FromRoot => (root, all),
                Shape::Broadcast => (root, all - root),
                Shape::Neighbours => return neighbours(self.communicator, rank),
            };
            Some(Role { to, from, keeps: false })
        })
    }

    /// What becomes of a side's elements, and the number of ranks at its other end; `None` if they are left to the library.
    fn side(&self, direction: Direction, elements: *mut c_void) -> Option<(Direction, usize)> {
        let role = self.role().filter(|_| elements.addr() != abi().in_place)?;
        let (direction, ranks) = match direction {
            Direction::Send if self.shape != Shape::Broadcast || role.to > 0 => {
                (direction, role.to)
            }
            _ => (Direction::Receive, role.from),
        };
        (ranks > 0).then_some((direction, ranks))
    }

    /// Puts the packed bytes of a side one after the other. `None`, with nothing changed, if there are none, or too many.
    ///
    /// # Safety
    ///
    /// The parts must have been made of a call of the program.
    unsafe fn place(&mut self, direction: Direction, parts: Vec<Part>) -> Option<*mut c_void> {
        let size = parts.iter().map(|part| part.size).sum();
        c_int::try_from(size).ok().filter(|&size| size > 0)?;
        let buffer = Buffer::new(size)?;
        let mut at = buffer.as_ptr();
        let is_sent = direction == Direction::Send;
        let mut placed = Vec::new();
        for part in parts {
            // What is received in place, or perhaps not at all, must be there before. And Intel MPI sends a part of what is
            // there when a persistent operation is made, not when it starts.
            if is_sent || self.is_in_place || self.role()?.keeps {
                // SAFETY: the program's elements; the buffer has room for the bytes of all parts.
                unsafe { part.pack(at) }?;
            }
            let next = at.wrapping_add(part.size);
            placed.push(Placed { part, at });
            at = next;
        }
        if is_sent || self.is_in_place || self.role()?.keeps {
            self.operation.sends.extend(placed.iter().cloned());
        }
        if !is_sent {
            self.operation.receives.extend(placed);
        }
        let start = buffer.as_ptr().cast();
        self.operation.buffers.push(buffer);
        Some(start)
    }

    /// A single block of elements, or a block for each of the ranks, one after the other.
    ///
    /// # Safety
    ///
    /// The arguments must be the program's, as in the following functions.
    unsafe fn blocks<N: messages::Count>(
        &mut self,
        is_one: bool,
        direction: Direction,
        (elements, count, datatype): (&mut *mut c_void, &mut N, &mut Word),
    ) -> Option<()> {
        if types::is_left(*datatype, i64::MAX) {
            return None;
        }
        let (direction, ranks) = self.side(direction, *elements)?;
        let blocks = if is_one { 1 } else { ranks };
        let all = (*count).into().checked_mul(i64::try_from(blocks).ok()?)?;
        // SAFETY: guaranteed by the caller.
        unsafe {
            let part = Part::new(*elements, all, *datatype, direction)?;
            let size = part.size / blocks;
            *elements = self.place(direction, vec![part])?;
            (*count, *datatype) = (bytes(size), abi().packed);
        }
        Some(())
    }

    /// Blocks of given lengths at given places. `find` gets the rank, the length and the place of each, and returns the type and
    /// the place in bytes. The types do not change.
    unsafe fn several<D: Displacement>(
        &mut self,
        (direction, ranks): (Direction, usize),
        elements: &mut *mut c_void,
        (counts, places): (&mut *const c_int, &mut *const D),
        mut find: impl FnMut(usize, usize, D) -> Option<(Arc<Entry>, isize)>,
    ) -> Option<()> {
        let mut parts = Vec::new();
        let (mut lengths, mut starts, mut start) = (Vec::new(), Vec::new(), 0);
        for rank in 0..ranks {
            // SAFETY: the program's arrays.
            let (count, place) = unsafe { (*counts.add(rank), *places.add(rank)) };
            starts.push(D::try_from(start).ok()?);
            lengths.push(0);
            if count != 0 {
                let count = usize::try_from(count).ok()?;
                let (entry, place) = find(rank, count, place)?;
                let at = elements.wrapping_byte_offset(place);
                let part = Part::of(entry, at, count, direction)?;
                lengths[rank] = c_int::try_from(part.size).ok()?;
                start += part.size;
                parts.push(part);
            }
        }
        // SAFETY: made of the program's arguments.
        *elements = unsafe { self.place(direction, parts) }?;
        (*counts, *places) = (lengths.as_ptr(), starts.as_ptr());
        self.operation.kept.push(Box::new((lengths, starts)));
        Some(())
    }

    /// Blocks of one type, at places in elements.
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
        if types::is_left(*datatype, i64::MAX) {
            return None;
        }
        let side = self.side(direction, *elements)?;
        // SAFETY: guaranteed by the caller.
        unsafe {
            let all: i64 = (0..side.1).map(|rank| i64::from(*counts.add(rank))).sum();
            if types::is_left(*datatype, all) {
                return None;
            }
            let entry = types::find(*datatype, usize::try_from(all).ok()?)?;
            let extent = isize::try_from(entry.native()?.compiled.committed.extent()).ok()?;
            let find = |_, _, place| Some((entry.clone(), extent * place as isize));
            self.several(side, elements, (counts, places), find)?;
        }
        *datatype = abi().packed;
        Some(())
    }

    /// Blocks of different types, at places in bytes.
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
        let side = self.side(direction, *elements)?;
        let before = *datatypes;
        // SAFETY: guaranteed by the caller.
        unsafe {
            let each = |rank| !types::is_left(abi().read(before, rank), *counts.add(rank));
            if !(0..side.1).any(each) {
                return None;
            }
            let find = |rank, count, place: D| {
                Some((types::find_any(abi().read(before, rank), count)?, place.try_into().ok()?))
            };
            self.several(side, elements, (counts, places), find)?;
            let mut handles: Vec<Word> = vec![0; side.1];
            let start: *mut c_void = handles.as_mut_ptr().cast();
            for rank in 0..side.1 {
                abi().write(start.wrapping_byte_add(rank * abi().handle), abi().packed);
            }
            *datatypes = start;
            self.operation.kept.push(Box::new(handles));
        }
        Some(())
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
        $($side:ident $([$is_one:literal])?($direction:ident, $elements:ident, $($other:ident),*)),+;
        $($rest:tt)*
    ) => {
        const _: () = {
            collectives! { @function [$($generics)*] blocking() false end() $shape($root, $communicator)
                ($($argument: $type),*) { $($side $([$is_one])?($direction, $elements, $($other),*))+ } }
            collectives! { @function [$($generics)*] nonblocking(request: *mut c_void) false record(request)
                $shape($root, $communicator) ($($argument: $type),*) { $($side $([$is_one])?($direction, $elements, $($other),*))+ } }
            collectives! { @function [$($generics)*] persistent(info: Word, request: *mut c_void) true record(request)
                $shape($root, $communicator) ($($argument: $type),*) { $($side $([$is_one])?($direction, $elements, $($other),*))+ } }
            exported! {
                $($both)? [$name]($($argument: $type),*) $($on)*, |library| blocking(library, $($argument),*);
                $($both)? [$nonblocking]($($argument: $type),*, request: *mut c_void) $($on)*,
                    |library| nonblocking(library, $($argument),*, request);
                $($both)? [$persistent]($($argument: $type),*, info: Word, request: *mut c_void) $($on)*,
                    |library| persistent(library, $($argument),*, info, request);
            }
        };
        collectives! { $($rest)* }
    };
    (
        @function [$($generics:tt)*] $function:ident($($last:ident: $last_type:ty),*) $is_persistent:literal
        $end:ident($($request:ident)?) $shape:ident($root:expr, $communicator:ident) ($($argument:ident: $type:ty),*)
        { $($side:ident $([$is_one:literal])?($direction:ident, $elements:ident, $($other:ident),*))+ }
    ) => {
        unsafe fn $function $($generics)* (
            original: unsafe extern "C-unwind" fn($($type,)* $($last_type),*) -> c_int,
            $($argument: $type,)* $($last: $last_type),*
        ) -> c_int {
            let mut call =
                Call::new(Shape::$shape, $communicator, $root, $is_persistent, &[$($elements),+]);
            // SAFETY: the caller's arguments, in which packed bytes replace elements.
            unsafe {
                $(
                    let (mut $elements, $(mut $other),*) = ($elements, $($other),*);
                    call.$side($($is_one,)? Direction::$direction, (&mut $elements, $(&mut $other),*));
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
        = Broadcast(root, communicator): blocks[true](Send, elements, count, datatype);
    both ["Gather" "Igather" "Gather_init"]
        (elements: *mut c_void, count: Count, datatype: Word, into: *mut c_void, room: Count, into_type: Word,
            root: c_int, communicator: Word)
        = ToRoot(root, communicator): blocks[true](Send, elements, count, datatype), blocks[false](Receive, into, room, into_type);
    both ["Scatter" "Iscatter" "Scatter_init"]
        (elements: *mut c_void, count: Count, datatype: Word, into: *mut c_void, room: Count, into_type: Word,
            root: c_int, communicator: Word)
        = FromRoot(root, communicator): blocks[false](Send, elements, count, datatype), blocks[true](Receive, into, room, into_type);
    both ["Allgather" "Iallgather" "Allgather_init"]
        (elements: *mut c_void, count: Count, datatype: Word, into: *mut c_void, room: Count, into_type: Word,
            communicator: Word)
        = All(0, communicator): blocks[true](Send, elements, count, datatype), blocks[false](Receive, into, room, into_type);
    both ["Alltoall" "Ialltoall" "Alltoall_init"]
        (elements: *mut c_void, count: Count, datatype: Word, into: *mut c_void, room: Count, into_type: Word,
            communicator: Word)
        = All(0, communicator): blocks[false](Send, elements, count, datatype), blocks[false](Receive, into, room, into_type);
    both ["Neighbor_allgather" "Ineighbor_allgather" "Neighbor_allgather_init"]
        (elements: *mut c_void, count: Count, datatype: Word, into: *mut c_void, room: Count, into_type: Word,
            communicator: Word)
        = Neighbours(0, communicator): blocks[true](Send, elements, count, datatype), blocks[false](Receive, into, room, into_type);
    both ["Neighbor_alltoall" "Ineighbor_alltoall" "Neighbor_alltoall_init"]
        (elements: *mut c_void, count: Count, datatype: Word, into: *mut c_void, room: Count, into_type: Word,
            communicator: Word)
        = Neighbours(0, communicator): blocks[false](Send, elements, count, datatype), blocks[false](Receive, into, room, into_type);
    only ["Gatherv" "Igatherv" "Gatherv_init"]
        (elements: *mut c_void, count: c_int, datatype: Word, into: *mut c_void, rooms: *const c_int,
            places: *const c_int, into_type: Word, root: c_int, communicator: Word)
        = ToRoot(root, communicator): blocks[true](Send, elements, count, datatype), list(Receive, into, rooms, places, into_type);
    only ["Scatterv" "Iscatterv" "Scatterv_init"]
        (elements: *mut c_void, counts: *const c_int, starts: *const c_int, datatype: Word, into: *mut c_void,
            room: c_int, into_type: Word, root: c_int, communicator: Word)
        = FromRoot(root, communicator): list(Send, elements, counts, starts, datatype), blocks[true](Receive, into, room, into_type);
    only ["Allgatherv" "Iallgatherv" "Allgatherv_init"]
        (elements: *mut c_void, count: c_int, datatype: Word, into: *mut c_void, rooms: *const c_int,
            places: *const c_int, into_type: Word, communicator: Word)
        = All(0, communicator): blocks[true](Send, elements, count, datatype), list(Receive, into, rooms, places, into_type);
    only ["Neighbor_allgatherv" "Ineighbor_allgatherv" "Neighbor_allgatherv_init"]
        (elements: *mut c_void, count: c_int, datatype: Word, into: *mut c_void, rooms: *const c_int,
            places: *const c_int, into_type: Word, communicator: Word)
        = Neighbours(0, communicator): blocks[true](Send, elements, count, datatype), list(Receive, into, rooms, places, into_type);
    only ["Alltoallv" "Ialltoallv" "Alltoallv_init"]
        (elements: *mut c_void, counts: *const c_int, starts: *const c_int, datatype: Word, into: *mut c_void,
            rooms: *const c_int, places: *const c_int, into_type: Word, communicator: Word)
        = All(0, communicator): list(Send, elements, counts, starts, datatype), list(Receive, into, rooms, places, into_type);
    only ["Neighbor_alltoallv" "Ineighbor_alltoallv" "Neighbor_alltoallv_init"]
        (elements: *mut c_void, counts: *const c_int, starts: *const c_int, datatype: Word, into: *mut c_void,
            rooms: *const c_int, places: *const c_int, into_type: Word, communicator: Word)
        = Neighbours(0, communicator):
            list(Send, elements, counts, starts, datatype), list(Receive, into, rooms, places, into_type);
    only ["Alltoallw" "Ialltoallw" "Alltoallw_init"]
        (elements: *mut c_void, counts: *const c_int, starts: *const c_int, datatypes: *const c_void, into: *mut c_void,
            rooms: *const c_int, places: *const c_int, into_types: *const c_void, communicator: Word)
        = All(0, communicator): types(Send, elements, counts, starts, datatypes), types(Receive, into, rooms, places, into_types);
    only ["Neighbor_alltoallw" "Ineighbor_alltoallw" "Neighbor_alltoallw_init"]
        (elements: *mut c_void, counts: *const c_int, starts: *const isize, datatypes: *const c_void, into: *mut c_void,
            rooms: *const c_int, places: *const isize, into_types: *const c_void, communicator: Word)
        = Neighbours(0, communicator):
            types(Send, elements, counts, starts, datatypes), types(Receive, into, rooms, places, into_types);
}
