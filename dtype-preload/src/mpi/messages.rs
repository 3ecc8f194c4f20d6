//! Sends and receives.

use std::ffi::{c_int, c_void};

use super::abi::{Word, abi};
use super::buffers::Buffer;
use super::exported::{exported, world};
use super::freed;
use super::library::library;
use super::part::{Direction, Part};
use super::requests::{self, Operation, Placed};
use super::status::{Statuses, class};
use crate::original::originals;

/// A count of elements or bytes: `int`, or `MPI_Count`.
pub(super) trait Count: Copy + Into<i64> + From<c_int> {}
impl Count for c_int {}
impl Count for i64 {}

/// Packed bytes as an argument. A [`Part`] is never larger.
pub(super) fn bytes<N: Count>(size: usize) -> N {
    N::from(c_int::try_from(size).unwrap_or(c_int::MAX))
}

/// Whether packed bytes may be sent in the place of elements.
#[inline]
fn is_sent(size: usize, rank: c_int) -> bool {
    library().is_some_and(|library| size <= library.longest_send) && rank != abi().proc_null
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
        if !is_sent(part.size, rank) {
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

    /// The buffer, as elements for the library.
    fn argument<N: Count>(&self) -> (*mut c_void, N, Word) {
        (self.buffer.as_ptr().cast(), bytes(self.part.size), abi().packed)
    }
}

/// Makes a blocking call that receives. `call` gets the elements that the library receives, and the status.
///
/// # Safety
///
/// The arguments must be those of a call of the program, in which `packed` has the place of the elements.
#[inline]
unsafe fn receive<N: Count>(
    packed: Option<Packed>,
    elements: (*mut c_void, N, Word),
    status: *mut c_void,
    call: impl FnOnce((*mut c_void, N, Word), *mut c_void) -> c_int,
) -> c_int {
    let Some(packed) = packed else {
        let code = call(elements, status);
        freed::settle();
        return code;
    };
    let mut statuses = Statuses::new(status, 1);
    let code = call(packed.argument(), statuses.argument());
    // SAFETY: the library has written the status, and so many bytes.
    unsafe {
        let len = statuses.received(0, class(code), packed.part.size);
        packed.part.unpack(packed.buffer.bytes(len));
    }
    freed::settle();
    code
}

/// Makes a call that makes a request. `call` gets the elements that the library sends or receives.
///
/// # Safety
///
/// As for [`receive`].
unsafe fn begin<N: Count>(
    packed: Option<Packed>,
    kind: (Direction, bool),
    elements: (*mut c_void, N, Word),
    request: *const c_void,
    call: impl FnOnce((*mut c_void, N, Word)) -> c_int,
) -> c_int {
    let Some(packed) = packed else { return call(elements) };
    let code = call(packed.argument());
    if code != 0 {
        return code;
    }
    // SAFETY: the library has written the request.
    let handle = unsafe { abi().read(request, 0) };
    let (direction, is_persistent) = kind;
    let is_send = direction == Direction::Send;
    if is_send && !is_persistent && is_complete(handle) {
        return code;
    }
    let at = packed.buffer.as_ptr();
    let mut operation = Operation::new(vec![packed.buffer], true, is_persistent);
    let parts = if is_send { &mut operation.sends } else { &mut operation.receives };
    parts.push(Placed { part: packed.part, at });
    requests::record(handle, operation);
    code
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
    unsafe extern "C" fn(*mut c_void, N, Word, c_int, c_int, Word, *mut c_void) -> c_int;
type Recv<N> = unsafe extern "C" fn(*mut c_void, N, Word, c_int, c_int, Word, *mut c_void) -> c_int;
type Mrecv<N> = unsafe extern "C" fn(*mut c_void, N, Word, *mut c_void, *mut c_void) -> c_int;
type Sendrecv<N> = unsafe extern "C" fn(
    *mut c_void,
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
    // SAFETY: the caller's arguments, or packed bytes in the place of the elements.
    unsafe {
        let Some(packed) = Packed::to_send(elements, count, datatype, rank, true) else {
            return original(elements, count, datatype, rank, tag, communicator);
        };
        let (elements, count, datatype) = packed.argument();
        original(elements, count, datatype, rank, tag, communicator)
    }
}

unsafe fn isend<N: Count>(
    original: Isend<N>,
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
        let packed = Packed::to_send(elements, count, datatype, rank, true);
        let (kind, elements) = ((Direction::Send, false), (elements, count, datatype));
        begin(packed, kind, elements, request, |(elements, count, datatype)| {
            original(elements, count, datatype, rank, tag, communicator, request)
        })
    }
}

unsafe fn send_init<N: Count>(
    original: Isend<N>,
    elements: *mut c_void,
    count: N,
    datatype: Word,
    rank: c_int,
    tag: c_int,
    communicator: Word,
    request: *mut c_void,
) -> c_int {
    // SAFETY: as above. The buffer is filled when the operation starts.
    unsafe {
        let packed = Packed::to_send(elements, count, datatype, rank, false);
        let (kind, elements) = ((Direction::Send, true), (elements, count, datatype));
        begin(packed, kind, elements, request, |(elements, count, datatype)| {
            original(elements, count, datatype, rank, tag, communicator, request)
        })
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
    // SAFETY: as above.
    unsafe {
        let packed = Packed::to_receive(elements, count, datatype, rank);
        let elements = (elements, count, datatype);
        receive(packed, elements, status, |(elements, count, datatype), status| {
            original(elements, count, datatype, rank, tag, communicator, status)
        })
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
    // SAFETY: as above.
    unsafe {
        let packed = Packed::to_receive(elements, count, datatype, rank);
        let (kind, elements) = ((Direction::Receive, false), (elements, count, datatype));
        begin(packed, kind, elements, request, |(elements, count, datatype)| {
            original(elements, count, datatype, rank, tag, communicator, request)
        })
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
        let packed = Packed::to_receive(elements, count, datatype, rank);
        let (kind, elements) = ((Direction::Receive, true), (elements, count, datatype));
        begin(packed, kind, elements, request, |(elements, count, datatype)| {
            original(elements, count, datatype, rank, tag, communicator, request)
        })
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
        let packed = Packed::to_receive(elements, count, datatype, MATCHED);
        let elements = (elements, count, datatype);
        receive(packed, elements, status, |(elements, count, datatype), status| {
            original(elements, count, datatype, message, status)
        })
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
        let packed = Packed::to_receive(elements, count, datatype, MATCHED);
        let (kind, elements) = ((Direction::Receive, false), (elements, count, datatype));
        begin(packed, kind, elements, request, |(elements, count, datatype)| {
            original(elements, count, datatype, message, request)
        })
    }
}

unsafe fn sendrecv<N: Count>(
    original: Sendrecv<N>,
    sent: *mut c_void,
    sent_count: N,
    sent_datatype: Word,
    rank: c_int,
    tag: c_int,
    elements: *mut c_void,
    count: N,
    datatype: Word,
    source: c_int,
    source_tag: c_int,
    communicator: Word,
    status: *mut c_void,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let to_send = Packed::to_send(sent, sent_count, sent_datatype, rank, true);
        let to_receive = Packed::to_receive(elements, count, datatype, source);
        let sent = to_send.as_ref().map_or((sent, sent_count, sent_datatype), Packed::argument);
        let (sent, sent_count, sent_datatype) = sent;
        let elements = (elements, count, datatype);
        receive(to_receive, elements, status, |(elements, count, datatype), status| {
            original(
                sent,
                sent_count,
                sent_datatype,
                rank,
                tag,
                elements,
                count,
                datatype,
                source,
                source_tag,
                communicator,
                status,
            )
        })
    }
}

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
    // SAFETY: as above.
    unsafe {
        let packed = Packed::to_receive(elements, count, datatype, source)
            .filter(|packed| is_sent(packed.part.size, rank))
            .filter(|packed| packed.part.pack(packed.buffer.as_ptr()).is_some());
        let elements = (elements, count, datatype);
        receive(packed, elements, status, |(elements, count, datatype), status| {
            original(elements, count, datatype, rank, tag, source, source_tag, communicator, status)
        })
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
    (elements: *mut c_void, count: Count, datatype: Word, rank: c_int, tag: c_int, communicator: Word,
        request: *mut c_void) = isend, on communicator:
    "Isend", "Issend", "Irsend", "Ibsend"
}
alike! {
    (elements: *mut c_void, count: Count, datatype: Word, rank: c_int, tag: c_int, communicator: Word,
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
    both "Sendrecv"(sent: *mut c_void, sent_count: Count, sent_datatype: Word, rank: c_int, tag: c_int,
        elements: *mut c_void, count: Count, datatype: Word, source: c_int, source_tag: c_int, communicator: Word,
        status: *mut c_void) = sendrecv, on communicator;
    both "Sendrecv_replace"(elements: *mut c_void, count: Count, datatype: Word, rank: c_int, tag: c_int, source: c_int,
        source_tag: c_int, communicator: Word, status: *mut c_void) = sendrecv_replace, on communicator;
}
