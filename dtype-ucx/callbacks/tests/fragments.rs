//! The table of callbacks, called as UCX calls it: for fragments of any size, order and alignment, of length 0, and with more
//! room than the message needs.

use std::ffi::c_void;
use std::panic;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use dtype_runtime::{Basic, Committed, Type};
use dtype_ucp_generic::{Generic, Instances, Message, Operations, Status};
use proptest::prelude::*;

/// A context that counts its messages.
struct Context {
    committed: Committed,
    started: AtomicUsize,
    finished: &'static AtomicUsize,
}

struct Counted {
    instances: Instances,
    finished: &'static AtomicUsize,
}

impl Generic for Context {
    type Message = Counted;

    unsafe fn start_pack(&self, buffer: *const u8, count: usize) -> Option<Counted> {
        self.started.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the tests pass buffers that contain the elements.
        let instances = unsafe { Instances::to_pack(&self.committed, buffer, count) }.ok()?;
        Some(Counted { instances, finished: self.finished })
    }

    unsafe fn start_unpack(&self, buffer: *mut u8, count: usize) -> Option<Counted> {
        self.started.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the tests pass buffers that contain the elements.
        let instances = unsafe { Instances::to_unpack(&self.committed, buffer, count) }.ok()?;
        Some(Counted { instances, finished: self.finished })
    }
}

impl Message for Counted {
    fn packed_size(&self) -> usize {
        self.instances.packed_size()
    }

    unsafe fn pack(&mut self, offset: usize, out: *mut u8, room: usize) -> usize {
        // SAFETY: the caller's promise.
        unsafe { self.instances.pack(offset, out, room) }
    }

    unsafe fn unpack(
        &mut self,
        offset: usize,
        packed: *const u8,
        len: usize,
    ) -> Result<(), Status> {
        // SAFETY: the caller's promise.
        unsafe { self.instances.unpack(offset, packed, len) }
    }

    fn finish(self) {
        self.finished.fetch_add(1, Ordering::Relaxed);
    }
}

const OPERATIONS: Operations = Operations::of::<Context>();

fn counter() -> &'static AtomicUsize {
    Box::leak(Box::new(AtomicUsize::new(0)))
}

fn context(ty: &Type) -> Context {
    Context { committed: ty.commit(), started: AtomicUsize::new(0), finished: counter() }
}

fn address(context: &Context) -> *mut c_void {
    ptr::from_ref(context).cast_mut().cast()
}

/// {i8 at 0, f64 at 8} of 16 bytes, three i16 a row apart, or a list of blocks.
fn types() -> [Type; 3] {
    let [i8, i16, f64] = [Basic::I8, Basic::I16, Basic::F64].map(Type::basic);
    [
        Type::structure(&[1, 1], &[0, 8], &[i8, f64]).unwrap(),
        Type::vector(3, 1, 7, &i16).unwrap(),
        Type::indexed(&[1, 3, 2], &[0, 5, 11], &i16).unwrap(),
    ]
}

/// The packed bytes in fragments of at most `most` bytes. Each call offers `excess` bytes more.
fn pack(context: &Context, memory: &[u8], count: usize, most: usize, excess: usize) -> Vec<u8> {
    // SAFETY: the memory holds `count` elements, and each destination has the offered room, or room for all that is left.
    unsafe {
        let state = (OPERATIONS.start_pack)(address(context), memory.as_ptr().cast(), count);
        let size = (OPERATIONS.packed_size)(state);
        let mut packed = Vec::new();
        while packed.len() < size {
            let mut out = vec![0xEE; most.min(size - packed.len()) + 1];
            // One byte further on, and so misaligned.
            let at = out.as_mut_ptr().add(1);
            let room = if excess > 0 { (out.len() - 1).max(size) + excess } else { out.len() - 1 };
            let room = if most < size - packed.len() { out.len() - 1 } else { room };
            let written = (OPERATIONS.pack)(state, packed.len(), at.cast(), room);
            assert!(written > 0 && written < out.len());
            assert_eq!(out[0], 0xEE);
            packed.extend_from_slice(&out[1..=written]);
            assert_eq!((OPERATIONS.pack)(state, packed.len(), ptr::null_mut(), 0), 0);
        }
        assert_eq!((OPERATIONS.pack)(state, size, ptr::null_mut(), usize::MAX), 0);
        assert_eq!((OPERATIONS.pack)(state, size + 5, ptr::null_mut(), 7), 0);
        (OPERATIONS.finish)(state);
        packed
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]

    #[test]
    fn fragments_in_any_order_make_the_same_memory(
        which in 0_usize..3,
        count in 1_usize..20,
        most in 1_usize..40,
        excess in 0_usize..3,
        seed: u64,
    ) {
        let ty = &types()[which];
        let context = context(ty);
        let span = count * usize::try_from(ty.extent()).unwrap() + 8;
        let memory: Vec<u8> = (0..span).map(|at| (at * 37 + 1).to_le_bytes()[0]).collect();
        let whole = context.committed.pack_to_vec(&memory, count).unwrap();
        prop_assert_eq!(&pack(&context, &memory, count, most, excess), &whole);

        let mut expected = vec![0x55; span];
        context.committed.unpack(&whole, &mut expected, count).unwrap();
        let mut found = vec![0x55; span];
        let mut fragments: Vec<(usize, &[u8])> =
            whole.chunks(most).enumerate().map(|(i, part)| (i * most, part)).collect();
        // Shuffles the fragments.
        let len = fragments.len();
        fragments.rotate_left(usize::try_from(seed % len as u64).unwrap());
        if seed % 2 == 0 {
            fragments.reverse();
        }
        // SAFETY: the memory has room for the elements.
        unsafe {
            let state = (OPERATIONS.start_unpack)(address(&context), found.as_mut_ptr().cast(), count);
            for (offset, part) in fragments {
                let status = (OPERATIONS.unpack)(state, offset, part.as_ptr().cast(), part.len());
                prop_assert_eq!(status, Status::OK);
                prop_assert_eq!((OPERATIONS.unpack)(state, offset, ptr::null(), 0), Status::OK);
            }
            (OPERATIONS.finish)(state);
        }
        prop_assert_eq!(found, expected);
        prop_assert_eq!(context.finished.load(Ordering::Relaxed), 2);
    }
}

#[test]
fn fragments_outside_the_message_are_refused() {
    let context = context(&types()[0]);
    let mut memory = [0x55_u8; 32];
    let bytes = [1_u8; 64];
    // SAFETY: the memory has room for two elements, and the bytes are at least as many as the lengths.
    unsafe {
        let state = (OPERATIONS.start_unpack)(address(&context), memory.as_mut_ptr().cast(), 2);
        assert_eq!((OPERATIONS.packed_size)(state), 18);
        for (offset, len) in [(0, 19), (18, 1), (17, 2), (usize::MAX, 2), (100, 1)] {
            let status = (OPERATIONS.unpack)(state, offset, bytes.as_ptr().cast(), len);
            assert_eq!(status, Status::INVALID_PARAM, "{offset} {len}");
        }
        (OPERATIONS.finish)(state);
    }
    assert_eq!(memory, [0x55; 32]);
}

#[test]
fn a_message_in_place_is_the_state() {
    const IN_PLACE: Operations = Operations::in_place::<Instances>();
    let committed = types()[0].commit();
    let memory: [u8; 32] = std::array::from_fn(|at| at.to_le_bytes()[0]);
    let expected = committed.pack_to_vec(&memory, 2).unwrap();
    let (mut packed, mut copy) = ([0_u8; 18], [0_u8; 32]);
    let none = ptr::null_mut();
    // SAFETY: the memory holds two elements, and the messages live to the end of the block.
    unsafe {
        let mut message = Instances::to_pack(&committed, memory.as_ptr(), 2).unwrap();
        let message = ptr::from_mut(&mut message).cast::<c_void>();
        assert_eq!((IN_PLACE.start_pack)(none, message, 1), message);
        assert_eq!((IN_PLACE.packed_size)(message), 18);
        let at = packed.as_mut_ptr();
        assert_eq!((IN_PLACE.pack)(message, 7, at.add(7).cast(), usize::MAX), 11);
        assert_eq!((IN_PLACE.pack)(message, 0, at.cast(), 7), 7);
        (IN_PLACE.finish)(message);
        // The state is still the same message.
        assert_eq!((IN_PLACE.packed_size)(message), 18);

        let mut message = Instances::to_unpack(&committed, copy.as_mut_ptr(), 2).unwrap();
        let message = ptr::from_mut(&mut message).cast::<c_void>();
        assert_eq!((IN_PLACE.start_unpack)(none, message, 1), message);
        assert_eq!((IN_PLACE.unpack)(message, 0, packed.as_ptr().cast(), 18), Status::OK);
        (IN_PLACE.finish)(message);
    }
    assert_eq!(packed, *expected);
    assert_eq!(committed.pack_to_vec(&copy, 2).unwrap(), expected);
}

#[test]
fn a_message_that_cannot_start_is_empty() {
    // Two elements name the same bytes.
    let twice = Type::resized(&Type::basic(Basic::F64), 0, 4).unwrap();
    let context = context(&twice);
    let mut memory = [0_u8; 16];
    // SAFETY: the memory has room for the elements.
    unsafe {
        let state = (OPERATIONS.start_unpack)(address(&context), memory.as_mut_ptr().cast(), 2);
        assert!(state.is_null());
        assert_eq!((OPERATIONS.packed_size)(state), 0);
        let at = memory.as_mut_ptr().cast::<c_void>();
        assert_eq!((OPERATIONS.unpack)(state, 0, at, 8), Status::NO_MEMORY);
        assert_eq!((OPERATIONS.pack)(state, 0, at, 8), 0);
        (OPERATIONS.finish)(state);
    }
    assert_eq!(context.started.load(Ordering::Relaxed), 1);
    assert_eq!(context.finished.load(Ordering::Relaxed), 0);
}

/// A context that panics in every call.
struct Broken;

impl Generic for Broken {
    type Message = BrokenMessage;

    unsafe fn start_pack(&self, _: *const u8, count: usize) -> Option<BrokenMessage> {
        assert!(count > 0, "a start that panics");
        Some(BrokenMessage)
    }

    unsafe fn start_unpack(&self, _: *mut u8, _: usize) -> Option<BrokenMessage> {
        Some(BrokenMessage)
    }
}

struct BrokenMessage;

impl Message for BrokenMessage {
    fn packed_size(&self) -> usize {
        10
    }

    unsafe fn pack(&mut self, _: usize, _: *mut u8, _: usize) -> usize {
        panic!("a pack that panics")
    }

    unsafe fn unpack(&mut self, _: usize, _: *const u8, _: usize) -> Result<(), Status> {
        panic!("an unpack that panics")
    }

    fn finish(self) {
        panic!("a finish that panics")
    }
}

#[test]
fn no_panic_crosses() {
    const BROKEN: Operations = Operations::of::<Broken>();
    panic::set_hook(Box::new(|_| {}));
    let mut bytes = [0_u8; 10];
    let context = ptr::from_ref(&Broken).cast_mut().cast::<c_void>();
    let at = bytes.as_mut_ptr().cast::<c_void>();
    // SAFETY: no call accesses memory.
    unsafe {
        assert!((BROKEN.start_pack)(context, at, 0).is_null());
        let state = (BROKEN.start_pack)(context, at, 1);
        assert_eq!((BROKEN.pack)(state, 0, at, 10), 0);
        (BROKEN.finish)(state);
        let state = (BROKEN.start_unpack)(context, at, 1);
        assert_eq!((BROKEN.unpack)(state, 0, at, 10), Status::INVALID_PARAM);
        (BROKEN.finish)(state);
    }
    let _ = panic::take_hook();
}
