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
use super::types::is_left;
use crate::original::originals;

/// A count of elements or bytes: `int`, or `MPI_Count`.
pub(super) trait Count: Copy + Into<i64> + From<c_int> + TryFrom<i64> {}
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

    /// The packed bytes, or the elements that are left to the library.
    fn or<N: Count>(
        packed: Option<&Self>,
        elements: (*mut c_void, N, Word),
    ) -> (*mut c_void, N, Word) {
        packed.map_or(elements, Self::argument)
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
    // SAFETY: the library has written the status, and that many bytes.
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
#[inline]
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

/// A rank that is not `MPI_PROC_NULL`, for messages that were matched already.
const MATCHED: c_int = 0;

exported! {
    both ["Send" "Ssend" "Rsend" "Bsend"]
        (elements: *mut c_void, count: Count, datatype: Word, rank: c_int, tag: c_int, communicator: Word),
        on communicator, [is_left(datatype, count)] |library| {
            let packed = Packed::to_send(elements, count, datatype, rank, true);
            let (elements, count, datatype) = Packed::or(packed.as_ref(), (elements, count, datatype));
            library(elements, count, datatype, rank, tag, communicator)
        };
    both ["Isend" "Issend" "Irsend" "Ibsend"]
        (elements: *mut c_void, count: Count, datatype: Word, rank: c_int, tag: c_int, communicator: Word,
            request: *mut c_void),
        on communicator, [is_left(datatype, count)] |library| {
            let packed = Packed::to_send(elements, count, datatype, rank, true);
            begin(packed, (Direction::Send, false), (elements, count, datatype), request, |(elements, count, datatype)| {
                library(elements, count, datatype, rank, tag, communicator, request)
            })
        };
    both ["Send_init" "Ssend_init" "Rsend_init" "Bsend_init"]
        (elements: *mut c_void, count: Count, datatype: Word, rank: c_int, tag: c_int, communicator: Word,
            request: *mut c_void),
        on communicator, [is_left(datatype, count)] |library| {
            // The buffer is filled when the operation starts.
            let packed = Packed::to_send(elements, count, datatype, rank, false);
            begin(packed, (Direction::Send, true), (elements, count, datatype), request, |(elements, count, datatype)| {
                library(elements, count, datatype, rank, tag, communicator, request)
            })
        };
    both ["Recv"]
        (elements: *mut c_void, count: Count, datatype: Word, rank: c_int, tag: c_int, communicator: Word,
            status: *mut c_void),
        on communicator, [is_left(datatype, count) && freed::are_none()] |library| {
            let packed = Packed::to_receive(elements, count, datatype, rank);
            receive(packed, (elements, count, datatype), status, |(elements, count, datatype), status| {
                library(elements, count, datatype, rank, tag, communicator, status)
            })
        };
    both ["Irecv"]
        (elements: *mut c_void, count: Count, datatype: Word, rank: c_int, tag: c_int, communicator: Word,
            request: *mut c_void),
        on communicator, [is_left(datatype, count)] |library| {
            let packed = Packed::to_receive(elements, count, datatype, rank);
            begin(packed, (Direction::Receive, false), (elements, count, datatype), request, |(elements, count, datatype)| {
                library(elements, count, datatype, rank, tag, communicator, request)
            })
        };
    both ["Recv_init"]
        (elements: *mut c_void, count: Count, datatype: Word, rank: c_int, tag: c_int, communicator: Word,
            request: *mut c_void),
        on communicator, [is_left(datatype, count)] |library| {
            let packed = Packed::to_receive(elements, count, datatype, rank);
            begin(packed, (Direction::Receive, true), (elements, count, datatype), request, |(elements, count, datatype)| {
                library(elements, count, datatype, rank, tag, communicator, request)
            })
        };
    both ["Mrecv"]
        (elements: *mut c_void, count: Count, datatype: Word, message: *mut c_void, status: *mut c_void),
        on world(), [is_left(datatype, count) && freed::are_none()] |library| {
            let packed = Packed::to_receive(elements, count, datatype, MATCHED);
            receive(packed, (elements, count, datatype), status, |(elements, count, datatype), status| {
                library(elements, count, datatype, message, status)
            })
        };
    both ["Imrecv"]
        (elements: *mut c_void, count: Count, datatype: Word, message: *mut c_void, request: *mut c_void),
        on world(), [is_left(datatype, count)] |library| {
            let packed = Packed::to_receive(elements, count, datatype, MATCHED);
            begin(packed, (Direction::Receive, false), (elements, count, datatype), request, |(elements, count, datatype)| {
                library(elements, count, datatype, message, request)
            })
        };
    both ["Sendrecv"]
        (sent: *mut c_void, sent_count: Count, sent_type: Word, rank: c_int, tag: c_int, elements: *mut c_void,
            count: Count, datatype: Word, source: c_int, source_tag: c_int, communicator: Word, status: *mut c_void),
        on communicator, [is_left(datatype, count) && is_left(sent_type, sent_count) && freed::are_none()]
        |library| {
            let to_send = Packed::to_send(sent, sent_count, sent_type, rank, true);
            let packed = Packed::to_receive(elements, count, datatype, source);
            let (sent, sent_count, sent_type) = Packed::or(to_send.as_ref(), (sent, sent_count, sent_type));
            receive(packed, (elements, count, datatype), status, |(elements, count, datatype), status| {
                library(sent, sent_count, sent_type, rank, tag, elements, count, datatype, source, source_tag,
                    communicator, status)
            })
        };
    both ["Sendrecv_replace"]
        (elements: *mut c_void, count: Count, datatype: Word, rank: c_int, tag: c_int, source: c_int,
            source_tag: c_int, communicator: Word, status: *mut c_void),
        on communicator, [is_left(datatype, count) && freed::are_none()] |library| {
            let packed = Packed::to_receive(elements, count, datatype, source)
                .filter(|packed| is_sent(packed.part.size, rank))
                .filter(|packed| packed.part.pack(packed.buffer.as_ptr()).is_some());
            receive(packed, (elements, count, datatype), status, |(elements, count, datatype), status| {
                library(elements, count, datatype, rank, tag, source, source_tag, communicator, status)
            })
        };
}
