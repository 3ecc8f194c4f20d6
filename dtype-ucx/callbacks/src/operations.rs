//! The table of functions, and the traits that they call.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// The result of a call to UCX (`ucs_status_t`): 0 or a negative error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Status(pub i8);

impl Status {
    /// `UCS_OK`.
    pub const OK: Self = Self(0);
    /// `UCS_ERR_NO_MEMORY`.
    pub const NO_MEMORY: Self = Self(-4);
    /// `UCS_ERR_INVALID_PARAM`.
    pub const INVALID_PARAM: Self = Self(-5);
}

/// The functions of a generic datatype (`ucp_generic_dt_ops_t`). `ucp_dt_create_generic` copies them.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Operations {
    /// Starts to pack a message: context, buffer, count. Returns the message's state.
    pub start_pack: unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> *mut c_void,
    /// Starts to unpack a message.
    pub start_unpack: unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> *mut c_void,
    /// The packed size in bytes of a message that is packed.
    pub packed_size: unsafe extern "C" fn(*mut c_void) -> usize,
    /// Packs a fragment: state, offset in the packed bytes, destination, room. Returns the number of bytes written.
    pub pack: unsafe extern "C" fn(*mut c_void, usize, *mut c_void, usize) -> usize,
    /// Unpacks a fragment: state, offset, source, length.
    pub unpack: unsafe extern "C" fn(*mut c_void, usize, *const c_void, usize) -> Status,
    /// Ends a message. The state is not used again.
    pub finish: unsafe extern "C" fn(*mut c_void),
}

/// The target of a generic datatype's context.
pub trait Generic: Sync {
    /// A started message.
    type Message: Message;

    /// Starts to pack `count` elements at `buffer`. `None` if that is not possible; the message is then empty.
    ///
    /// # Safety
    ///
    /// The elements must be initialised and readable, and not be written, until the message is finished.
    unsafe fn start_pack(&self, buffer: *const u8, count: usize) -> Option<Self::Message>;

    /// Starts to unpack into `count` elements at `buffer`. `None` if that is not possible; the receive then fails with
    /// [`Status::NO_MEMORY`], unless the message is empty.
    ///
    /// # Safety
    ///
    /// The elements must be writable, and not be accessed by anything else, until the message is finished.
    unsafe fn start_unpack(&self, buffer: *mut u8, count: usize) -> Option<Self::Message>;
}

/// A message between its start and its finish.
pub trait Message: Send {
    /// Packed bytes of the message.
    fn packed_size(&self) -> usize;

    /// Packs bytes from `offset` on, at most `room` of them, to `out`, and returns the number written: none in a message that
    /// is only unpacked.
    ///
    /// # Safety
    ///
    /// The message was started by [`Generic::start_pack`]; `out` must be writable for `room` bytes, or for the rest of
    /// the message, whichever is less, and must not overlap the elements.
    unsafe fn pack(&mut self, offset: usize, out: *mut u8, room: usize) -> usize {
        let _ = (offset, out, room);
        0
    }

    /// Unpacks `len` bytes at `offset`.
    ///
    /// # Errors
    ///
    /// The status with which the receive is to fail: [`Status::INVALID_PARAM`] for a message that is only packed.
    ///
    /// # Safety
    ///
    /// The message was started by [`Generic::start_unpack`]; `packed` must be initialised and readable for `len` bytes,
    /// and must not overlap the elements.
    unsafe fn unpack(
        &mut self,
        offset: usize,
        packed: *const u8,
        len: usize,
    ) -> Result<(), Status> {
        let _ = (offset, packed, len);
        Err(Status::INVALID_PARAM)
    }

    /// Ends the message, which is dropped.
    fn finish(self)
    where
        Self: Sized,
    {
    }
}

impl Operations {
    /// The functions for contexts of type `G`.
    ///
    /// The code that passes them to UCX guarantees: the context given with them points to a `G` that lives until the datatype
    /// is destroyed and the last message with it is finished; and the buffer and the count of each message fit the type,
    /// as the `start` functions of [`Generic`] require.
    pub const fn of<G: Generic>() -> Self {
        Self {
            start_pack: start_pack::<G>,
            start_unpack: start_unpack::<G>,
            packed_size: packed_size::<G::Message>,
            pack: pack::<G::Message>,
            unpack: unpack::<G::Message>,
            finish: finish::<G::Message>,
        }
    }

    /// The functions for messages that the program makes before it calls UCX, and keeps: the buffer that it passes is
    /// the address of an `M`, whose fragments are packed or unpacked. Context and count are not used.
    ///
    /// Nothing is allocated for a message, and a cancelled receive, for which UCX does not call `finish`, leaks nothing.
    /// [`Message::finish`] is never called.
    ///
    /// The code that passes the functions to UCX guarantees: the buffer of each message points to an `M`, which nothing else
    /// accesses until UCX has completed the request; and its memory fits the direction of the message, as the functions
    /// of [`Message`] require.
    pub const fn in_place<M: Message>() -> Self {
        Self {
            start_pack: start_pack_in_place,
            start_unpack: start_unpack_in_place,
            packed_size: packed_size::<M>,
            pack: pack::<M>,
            unpack: unpack::<M>,
            finish: finish_in_place,
        }
    }
}

/// Runs code that a foreign caller called; `on_panic` is its result if it panics.
fn contain<R>(on_panic: R, run: impl FnOnce() -> R) -> R {
    // Whatever was left half done is not looked at again, or is the caller's memory.
    catch_unwind(AssertUnwindSafe(run)).unwrap_or(on_panic)
}

/// The state of a message: a box, or null.
fn into_state<M: Message>(message: Option<M>) -> *mut c_void {
    message.map_or(ptr::null_mut(), |message| Box::into_raw(Box::new(message)).cast())
}

unsafe extern "C" fn start_pack<G: Generic>(
    context: *mut c_void,
    buffer: *const c_void,
    count: usize,
) -> *mut c_void {
    contain(ptr::null_mut(), || {
        // SAFETY: the context is a `G`, and the program guarantees the elements (`Operations::of`).
        into_state(unsafe { (*context.cast::<G>()).start_pack(buffer.cast(), count) })
    })
}

unsafe extern "C" fn start_unpack<G: Generic>(
    context: *mut c_void,
    buffer: *mut c_void,
    count: usize,
) -> *mut c_void {
    contain(ptr::null_mut(), || {
        // SAFETY: as above.
        into_state(unsafe { (*context.cast::<G>()).start_unpack(buffer.cast(), count) })
    })
}

unsafe extern "C" fn packed_size<M: Message>(state: *mut c_void) -> usize {
    // SAFETY: UCX passes the state that a start function returned, and not after `finish`: a box of `into_state`, or the
    // message that the program keeps (`Operations::in_place`).
    let message = unsafe { state.cast::<M>().as_ref() };
    message.map_or(0, |message| contain(0, || message.packed_size()))
}

unsafe extern "C" fn pack<M: Message>(
    state: *mut c_void,
    offset: usize,
    out: *mut c_void,
    room: usize,
) -> usize {
    // SAFETY: as above; UCX makes one call for a message at a time.
    let Some(message) = (unsafe { state.cast::<M>().as_mut() }) else { return 0 };
    contain(0, || {
        let room = room.min(message.packed_size().saturating_sub(offset));
        if room == 0 {
            return 0;
        }
        // SAFETY: UCX passes a fragment with this room, outside the program's elements.
        unsafe { message.pack(offset, out.cast(), room) }
    })
}

unsafe extern "C" fn unpack<M: Message>(
    state: *mut c_void,
    offset: usize,
    packed: *const c_void,
    len: usize,
) -> Status {
    if len == 0 {
        return Status::OK;
    }
    // SAFETY: as in `pack`.
    let Some(message) = (unsafe { state.cast::<M>().as_mut() }) else { return Status::NO_MEMORY };
    contain(Status::INVALID_PARAM, || {
        // SAFETY: UCX passes a fragment of this length, outside the program's elements.
        match unsafe { message.unpack(offset, packed.cast(), len) } {
            Ok(()) => Status::OK,
            Err(status) => status,
        }
    })
}

unsafe extern "C" fn finish<M: Message>(state: *mut c_void) {
    if state.is_null() {
        return;
    }
    contain((), || {
        // SAFETY: the box of `into_state`; UCX does not use the state again.
        let message = unsafe { Box::from_raw(state.cast::<M>()) };
        message.finish();
    });
}

unsafe extern "C" fn start_pack_in_place(
    _: *mut c_void,
    message: *const c_void,
    _: usize,
) -> *mut c_void {
    message.cast_mut()
}

unsafe extern "C" fn start_unpack_in_place(
    _: *mut c_void,
    message: *mut c_void,
    _: usize,
) -> *mut c_void {
    message
}

/// The program keeps the message.
unsafe extern "C" fn finish_in_place(_: *mut c_void) {}
