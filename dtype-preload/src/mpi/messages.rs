//! Sends and receives.

use std::ffi::{c_int, c_void};

use super::abi::{Word, abi};
use super::buffers::Buffer;
use super::exported::{exported, world};
use super::library::library;
use super::part::{Direction, Part};
use super::requests::{self, Operation, Placed};
use super::status::Statuses;
use crate::original::originals;

/// A count of elements or bytes: `int`, or `MPI_Count`.
pub(super) trait Count: Copy + Into<i64> + From<c_int> {}
impl Count for c_int {}
impl Count for i64 {}

/// Packed bytes as an argument. A [`Part`] is never larger.
pub(super) fn bytes<N: Count>(size: usize) -> N {
    N::from(c_int::try_from(size).unwrap_or(c_int::MAX))
}

/// Elements, and a buffer for their packed bytes.
struct Packed {
    part: Part,
    buffer: Buffer,
}

impl Packed {
    /// Packs elements to be sent; `None` if they are left to the library. With `now` false, only makes a buffer.
    ///
    /// # Safety
    ///
    /// The arguments must be those of a send of the program.
    #[inline]
    unsafe fn to_send<N: Count>(
        elements: *const c_void,
        count: N,
        datatype: Word,
        rank: c_int,
        now: bool,
    ) -> Option<Self> {
        // SAFETY: guaranteed by the caller.
        let part = unsafe { Part::new(elements, count.into(), datatype, Direction::Send) }?;
        if part.size > library()?.longest_send || rank == abi().proc_null {
            return None;
        }
        let buffer = Buffer::new(part.size)?;
        if now {
            // SAFETY: the program's elements; the buffer has room for their bytes.
            unsafe { part.pack(buffer.as_ptr()) }?;
        }
        Some(Self { part, buffer })
    }

    /// A buffer for elements to be received; `None` if they are left to the library.
    ///
    /// # Safety
    ///
    /// The arguments must be those of a receive of the program.
    #[inline]
    unsafe fn to_receive<N: Count>(
        elements: *const c_void,
        count: N,
        datatype: Word,
        rank: c_int,
    ) -> Option<Self> {
        // SAFETY: guaranteed by the caller.
        let part = unsafe { Part::new(elements, count.into(), datatype, Direction::Receive) }?;
        // No process sends anything, and the library may give the handle of the request to others as well.
        if rank == abi().proc_null {
            return None;
        }
        let buffer = Buffer::new(part.size)?;
        Some(Self { part, buffer })
    }

    fn at(&self) -> *mut c_void {
        self.buffer.as_ptr().cast()
    }

    fn len<N: Count>(&self) -> N {
        bytes(self.part.size)
    }

    /// Unpacks what a blocking receive got.
    ///
    /// # Safety
    ///
    /// The library must have received into the buffer, and written the status.
    unsafe fn received(&self, code: c_int, statuses: &mut Statuses) {
        if code == 0 {
            // SAFETY: guaranteed by the caller; the library has written so many bytes.
            unsafe {
                let len = statuses.received(0).unwrap_or(0).min(self.part.size);
                self.part.unpack(self.buffer.bytes(len));
            }
        }
    }

    /// Records what is still to be done for a request that the library has made.
    ///
    /// # Safety
    ///
    /// The library must have written the request.
    unsafe fn record(
        self,
        direction: Direction,
        is_persistent: bool,
        code: c_int,
        request: *const c_void,
    ) {
        if code != 0 {
            return;
        }
        // SAFETY: guaranteed by the caller.
        let handle = unsafe { abi().read(request, 0) };
        let is_send = direction == Direction::Send;
        if is_send && !is_persistent && is_complete(handle) {
            return;
        }
        let at = self.buffer.as_ptr();
        let mut operation = Operation::new(vec![self.buffer], true, is_persistent);
        if is_send {
            operation.sends.push(Placed { part: self.part, at });
        } else {
            operation.receives.push(Placed { part: self.part, at });
        }
        requests::record(handle, operation);
    }
}

originals! {
    static GET_STATUS = c"PMPI_Request_get_status":
        unsafe extern "C" fn(Word, *mut c_int, *mut c_void) -> c_int;
}

/// Whether a request that is not persistent is complete, so that the library needs its buffer no longer. Many sends are, when
/// they return.
pub(super) fn is_complete(request: Word) -> bool {
    let mut flag = 0;
    let mut statuses = Statuses::ignored();
    let ask = GET_STATUS.get();
    // SAFETY: a request that the library has just made.
    let code = ask.map(|ask| unsafe { ask(request, &raw mut flag, statuses.argument()) });
    code == Some(0) && flag != 0
}

type Send<N> = unsafe extern "C" fn(*const c_void, N, Word, c_int, c_int, Word) -> c_int;
type Isend<N> =
    unsafe extern "C" fn(*const c_void, N, Word, c_int, c_int, Word, *mut c_void) -> c_int;
type Recv<N> = unsafe extern "C" fn(*mut c_void, N, Word, c_int, c_int, Word, *mut c_void) -> c_int;
type Mrecv<N> = unsafe extern "C" fn(*mut c_void, N, Word, *mut c_void, *mut c_void) -> c_int;

#[inline]
unsafe fn send<N: Count>(
    original: Send<N>,
    elements: *const c_void,
    count: N,
    datatype: Word,
    rank: c_int,
    tag: c_int,
    communicator: Word,
) -> c_int {
    // SAFETY: the caller's arguments, and packed bytes.
    unsafe {
        match Packed::to_send(elements, count, datatype, rank, true) {
            None => original(elements, count, datatype, rank, tag, communicator),
            Some(packed) => {
                original(packed.at(), packed.len(), abi().packed, rank, tag, communicator)
            }
        }
    }
}

unsafe fn isend<N: Count>(
    original: Isend<N>,
    elements: *const c_void,
    count: N,
    datatype: Word,
    rank: c_int,
    tag: c_int,
    communicator: Word,
    request: *mut c_void,
) -> c_int {
    // SAFETY: the caller's arguments, and packed bytes.
    unsafe {
        let Some(packed) = Packed::to_send(elements, count, datatype, rank, true) else {
            return original(elements, count, datatype, rank, tag, communicator, request);
        };
        let (at, len) = (packed.at(), packed.len());
        let code = original(at, len, abi().packed, rank, tag, communicator, request);
        packed.record(Direction::Send, false, code, request);
        code
    }
}

unsafe fn send_init<N: Count>(
    original: Isend<N>,
    elements: *const c_void,
    count: N,
    datatype: Word,
    rank: c_int,
    tag: c_int,
    communicator: Word,
    request: *mut c_void,
) -> c_int {
    // SAFETY: the caller's arguments, and a buffer that is filled when the operation starts.
    unsafe {
        let Some(packed) = Packed::to_send(elements, count, datatype, rank, false) else {
            return original(elements, count, datatype, rank, tag, communicator, request);
        };
        let (at, len) = (packed.at(), packed.len());
        let code = original(at, len, abi().packed, rank, tag, communicator, request);
        packed.record(Direction::Send, true, code, request);
        code
    }
}

#[inline]
unsafe fn recv<N: Count>(
    original: Recv<N>,
    elements: *mut c_void,
    count: N,
    datatype: Word,
    rank: c_int,
    tag: c_int,
    communicator: Word,
    status: *mut c_void,
) -> c_int {
    // SAFETY: the caller's arguments, and a buffer for the packed bytes.
    unsafe {
        let Some(packed) = Packed::to_receive(elements, count, datatype, rank) else {
            return original(elements, count, datatype, rank, tag, communicator, status);
        };
        let (mut statuses, at, len) = (Statuses::new(status, 1), packed.at(), packed.len());
        let code = original(at, len, abi().packed, rank, tag, communicator, statuses.argument());
        packed.received(code, &mut statuses);
        code
    }
}

unsafe fn irecv<N: Count>(
    original: Recv<N>,
    elements: *mut c_void,
    count: N,
    datatype: Word,
    rank: c_int,
    tag: c_int,
    communicator: Word,
    request: *mut c_void,
) -> c_int {
    // SAFETY: the caller's arguments, and a buffer for the packed bytes.
    unsafe {
        let Some(packed) = Packed::to_receive(elements, count, datatype, rank) else {
            return original(elements, count, datatype, rank, tag, communicator, request);
        };
        let (at, len) = (packed.at(), packed.len());
        let code = original(at, len, abi().packed, rank, tag, communicator, request);
        packed.record(Direction::Receive, false, code, request);
        code
    }
}

unsafe fn recv_init<N: Count>(
    original: Recv<N>,
    elements: *mut c_void,
    count: N,
    datatype: Word,
    rank: c_int,
    tag: c_int,
    communicator: Word,
    request: *mut c_void,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let Some(packed) = Packed::to_receive(elements, count, datatype, rank) else {
            return original(elements, count, datatype, rank, tag, communicator, request);
        };
        let (at, len) = (packed.at(), packed.len());
        let code = original(at, len, abi().packed, rank, tag, communicator, request);
        packed.record(Direction::Receive, true, code, request);
        code
    }
}

/// A rank that is not `MPI_PROC_NULL`, for messages that were matched already.
const MATCHED: c_int = 0;

unsafe fn mrecv<N: Count>(
    original: Mrecv<N>,
    elements: *mut c_void,
    count: N,
    datatype: Word,
    message: *mut c_void,
    status: *mut c_void,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let Some(packed) = Packed::to_receive(elements, count, datatype, MATCHED) else {
            return original(elements, count, datatype, message, status);
        };
        let (mut statuses, at, len) = (Statuses::new(status, 1), packed.at(), packed.len());
        let code = original(at, len, abi().packed, message, statuses.argument());
        packed.received(code, &mut statuses);
        code
    }
}

unsafe fn imrecv<N: Count>(
    original: Mrecv<N>,
    elements: *mut c_void,
    count: N,
    datatype: Word,
    message: *mut c_void,
    request: *mut c_void,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let Some(packed) = Packed::to_receive(elements, count, datatype, MATCHED) else {
            return original(elements, count, datatype, message, request);
        };
        let code = original(packed.at(), packed.len(), abi().packed, message, request);
        packed.record(Direction::Receive, false, code, request);
        code
    }
}

type Sendrecv<N> = unsafe extern "C" fn(
    *const c_void,
    N,
    Word,
    c_int,
    c_int,
    *mut c_void,
    N,
    Word,
    c_int,
    c_int,
    Word,
    *mut c_void,
) -> c_int;

unsafe fn sendrecv<N: Count>(
    original: Sendrecv<N>,
    elements: *const c_void,
    count: N,
    datatype: Word,
    rank: c_int,
    tag: c_int,
    into: *mut c_void,
    into_count: N,
    into_datatype: Word,
    source: c_int,
    source_tag: c_int,
    communicator: Word,
    status: *mut c_void,
) -> c_int {
    // SAFETY: the caller's arguments, and packed bytes.
    unsafe {
        let sent = Packed::to_send(elements, count, datatype, rank, true);
        let received = Packed::to_receive(into, into_count, into_datatype, source);
        let (elements, count, datatype) = match &sent {
            None => (elements, count, datatype),
            Some(packed) => (packed.at().cast_const(), packed.len(), abi().packed),
        };
        let Some(packed) = received else {
            return original(
                elements,
                count,
                datatype,
                rank,
                tag,
                into,
                into_count,
                into_datatype,
                source,
                source_tag,
                communicator,
                status,
            );
        };
        let mut statuses = Statuses::new(status, 1);
        let code = original(
            elements,
            count,
            datatype,
            rank,
            tag,
            packed.at(),
            packed.len(),
            abi().packed,
            source,
            source_tag,
            communicator,
            statuses.argument(),
        );
        packed.received(code, &mut statuses);
        code
    }
}

type SendrecvReplace<N> = unsafe extern "C" fn(
    *mut c_void,
    N,
    Word,
    c_int,
    c_int,
    c_int,
    c_int,
    Word,
    *mut c_void,
) -> c_int;

unsafe fn sendrecv_replace<N: Count>(
    original: SendrecvReplace<N>,
    elements: *mut c_void,
    count: N,
    datatype: Word,
    rank: c_int,
    tag: c_int,
    source: c_int,
    source_tag: c_int,
    communicator: Word,
    status: *mut c_void,
) -> c_int {
    // SAFETY: the caller's arguments, and packed bytes.
    unsafe {
        let packed = Packed::to_receive(elements, count, datatype, source)
            .filter(|packed| {
                library().is_some_and(|library| packed.part.size <= library.longest_send)
            })
            .filter(|packed| packed.part.pack(packed.buffer.as_ptr()).is_some());
        let Some(packed) = packed else {
            return original(
                elements,
                count,
                datatype,
                rank,
                tag,
                source,
                source_tag,
                communicator,
                status,
            );
        };
        let (mut statuses, at, len) = (Statuses::new(status, 1), packed.at(), packed.len());
        let code = original(
            at,
            len,
            abi().packed,
            rank,
            tag,
            source,
            source_tag,
            communicator,
            statuses.argument(),
        );
        packed.received(code, &mut statuses);
        code
    }
}

/// Exports functions with the same arguments.
macro_rules! alike {
    ($arguments:tt = $here:path, on $communicator:ident: $($name:literal),+) => {
        $(alike!(@ $name $arguments = $here, on $communicator);)+
    };
    (@ $name:literal ($($arguments:tt)*) = $here:path, on $communicator:ident) => {
        exported! { both $name($($arguments)*) = $here, on $communicator; }
    };
}

alike! {
    (elements: *const c_void, count: Count, datatype: Word, rank: c_int, tag: c_int, communicator: Word) = send, on communicator:
    "Send", "Ssend", "Rsend", "Bsend"
}
alike! {
    (elements: *const c_void, count: Count, datatype: Word, rank: c_int, tag: c_int, communicator: Word,
        request: *mut c_void) = isend, on communicator:
    "Isend", "Issend", "Irsend", "Ibsend"
}
alike! {
    (elements: *const c_void, count: Count, datatype: Word, rank: c_int, tag: c_int, communicator: Word,
        request: *mut c_void) = send_init, on communicator:
    "Send_init", "Ssend_init", "Rsend_init", "Bsend_init"
}
exported! {
    both "Recv"(elements: *mut c_void, count: Count, datatype: Word, rank: c_int, tag: c_int, communicator: Word,
        status: *mut c_void) = recv, on communicator;
    both "Irecv"(elements: *mut c_void, count: Count, datatype: Word, rank: c_int, tag: c_int, communicator: Word,
        request: *mut c_void) = irecv, on communicator;
    both "Recv_init"(elements: *mut c_void, count: Count, datatype: Word, rank: c_int, tag: c_int, communicator: Word,
        request: *mut c_void) = recv_init, on communicator;
    both "Mrecv"(elements: *mut c_void, count: Count, datatype: Word, message: *mut c_void, status: *mut c_void)
        = mrecv, on world();
    both "Imrecv"(elements: *mut c_void, count: Count, datatype: Word, message: *mut c_void, request: *mut c_void)
        = imrecv, on world();
    both "Sendrecv"(elements: *const c_void, count: Count, datatype: Word, rank: c_int, tag: c_int, into: *mut c_void,
        into_count: Count, into_datatype: Word, source: c_int, source_tag: c_int, communicator: Word,
        status: *mut c_void) = sendrecv, on communicator;
    both "Sendrecv_replace"(elements: *mut c_void, count: Count, datatype: Word, rank: c_int, tag: c_int, source: c_int,
        source_tag: c_int, communicator: Word, status: *mut c_void) = sendrecv_replace, on communicator;
}
