//! The functions of `dtype.h`, called as a C program calls them: with any numbers, and with handles that live, were released, are
//! of another kind, or NULL.
//!
//! Memory always has its length, so every call is one that a correct library survives. After an error nothing may have been
//! written. What was packed is unpacked and packed again, and the bytes must be the same.

use std::ffi::c_void;
use std::ptr;

#[allow(clippy::wildcard_imports, reason = "most of the functions")]
use dtype_c::*;

/// Bytes of each memory.
const SIZE: usize = 512;

type Handle = *mut c_void;

/// A program that is executed.
struct Program<'a> {
    input: &'a [u8],
    /// NULL, and everything that was made, released or not.
    handles: Vec<Handle>,
    /// Where instances lie, and where packed bytes go.
    memory: *mut u8,
    out: *mut u8,
}

impl Program<'_> {
    fn byte(&mut self) -> u8 {
        self.input.split_off_first().copied().unwrap_or(0)
    }

    /// Mostly small, sometimes at the ends of the range.
    fn number(&mut self) -> i64 {
        match self.byte() {
            255 => i64::MAX,
            254 => i64::MIN,
            253 => 1 << 40,
            252 => -1,
            small => i64::from(small % 16),
        }
    }

    fn size(&mut self) -> usize {
        self.number() as usize
    }

    /// At most as long as a memory.
    fn room(&mut self) -> usize {
        usize::from(self.byte()) * 2
    }

    fn handle<T>(&mut self) -> *mut T {
        let index = usize::from(self.byte()) % self.handles.len();
        self.handles[index].cast()
    }

    /// Some of the next bytes of the input.
    fn bytes(&mut self) -> &[u8] {
        let length = usize::from(self.byte()).min(self.input.len());
        self.input.split_off(..length).unwrap_or_default()
    }

    /// Keeps a new handle.
    fn keep<T>(&mut self, call: impl FnOnce(*mut *mut T) -> dtype_error) -> dtype_error {
        let mut made = ptr::null_mut();
        let error = call(&raw mut made);
        assert!(error == DTYPE_OK || made.is_null(), "an error and a handle");
        if !made.is_null() {
            self.handles.push(made.cast());
        }
        error
    }

    /// What the two memories hold.
    fn snapshot(&self) -> [Vec<u8>; 2] {
        // SAFETY: both have so many bytes, all written before, and no call is in progress.
        [self.memory, self.out].map(|at| unsafe { std::slice::from_raw_parts(at, SIZE) }.to_vec())
    }

    /// One call.
    fn step(&mut self) {
        let before = self.snapshot();
        // SAFETY: handles are NULL or were made by the library. Every other pointer is valid for the length beside it; the
        // memories live until all handles have been released, and only these calls access them.
        let error = unsafe { self.call() };
        assert!((DTYPE_OK..DTYPE_ERROR_INTERNAL).contains(&error), "the code {error}");
        if error != DTYPE_OK {
            assert_eq!(self.snapshot(), before, "an error, and something was written");
        }
    }

    /// # Safety
    ///
    /// The handles must be NULL or made by the library, and the memories live.
    #[expect(clippy::too_many_lines, reason = "one arm for each function")]
    unsafe fn call(&mut self) -> dtype_error {
        let (memory, out): (Handle, Handle) = (self.memory.cast(), self.out.cast());
        let mut done = 0;
        // SAFETY: as the caller guarantees; arrays are as long as the number beside them.
        unsafe {
            match self.byte() % 40 {
                0 => {
                    let code = self.byte().into();
                    self.keep(|out| dtype_type_basic(code, out))
                }
                1 => {
                    let (count, old) = (self.number(), self.handle());
                    self.keep(|out| dtype_type_contiguous(count, old, out))
                }
                2 => {
                    let [count, length, stride] = [(); 3].map(|()| self.number());
                    let old = self.handle();
                    self.keep(|out| dtype_type_vector(count, length, stride, old, out))
                }
                3 => {
                    let [lengths, places] = [(); 2].map(|()| [(); 3].map(|()| self.number()));
                    let types = [(); 3].map(|()| self.handle::<dtype_type>().cast_const());
                    let number = usize::from(self.byte() % 4);
                    let arrays = (lengths.as_ptr(), places.as_ptr(), types.as_ptr());
                    self.keep(|out| dtype_type_struct(number, arrays.0, arrays.1, arrays.2, out))
                }
                4 => {
                    let (old, lb, extent) = (self.handle(), self.number(), self.number());
                    self.keep(|out| dtype_type_resized(old, lb, extent, out))
                }
                5 => {
                    let bytes = self.bytes().to_vec();
                    self.keep(|out| dtype_type_unmarshal(bytes.as_ptr().cast(), bytes.len(), out))
                }
                6 => {
                    let (form, bytes) = (i32::from(self.byte() % 9), self.bytes().to_vec());
                    let text = bytes.as_ptr().cast();
                    self.keep(|out| dtype_type_from_text(text, bytes.len(), form, out))
                }
                7 | 8 => {
                    let (ty, form) = (self.handle(), i32::from(self.byte() % 5));
                    self.keep(|out| dtype_commit_as(ty, form, out))
                }
                9 => {
                    let values = [1_u64, 2, u64::MAX];
                    let field = dtype_values {
                        element: self.number() as u64,
                        count: self.number() as u64,
                        name: c"field".as_ptr(),
                        name_length: 5,
                        values: values.as_ptr(),
                        number: usize::from(self.byte() % 4),
                    };
                    let (of, number) = (self.handle(), usize::from(self.byte() % 2));
                    self.keep(|out| dtype_checked(of, &raw const field, number, out))
                }
                10 | 11 => {
                    let (of, size, count, room) =
                        (self.handle(), self.room(), self.size(), self.room());
                    let error = dtype_pack(of, memory, size, count, out, room, &raw mut done);
                    assert!(error != DTYPE_OK || done <= room);
                    if error == DTYPE_OK {
                        self.again(of, size, count, done);
                    }
                    error
                }
                12 => {
                    let (of, packed, size, count) =
                        (self.handle(), self.room(), self.room(), self.size());
                    dtype_unpack(of, out, packed, memory, size, count)
                }
                13 => {
                    let ([from, to], sizes) =
                        ([(); 2].map(|()| self.handle()), [self.room(), self.room()]);
                    let counts = [self.size(), self.size()];
                    dtype_copy(from, memory, sizes[0], counts[0], to, out, sizes[1], counts[1])
                }
                14 => {
                    let (of, size, count) = (self.handle(), self.room(), self.size());
                    self.keep(|new| dtype_packer_new(of, memory, size, count, new))
                }
                15 => {
                    let (packer, room) = (self.handle(), self.room());
                    dtype_packer_pack(packer, out, room, &raw mut done)
                }
                16 => {
                    let (of, size, count) = (self.handle(), self.room(), self.size());
                    self.keep(|new| dtype_unpacker_new(of, memory, size, count, new))
                }
                17 => {
                    let (unpacker, room) = (self.handle(), self.room());
                    dtype_unpacker_unpack(unpacker, out, room, &raw mut done)
                }
                18 => {
                    let position = self.number() as u64;
                    let error = dtype_packer_seek(self.handle(), position);
                    if error == DTYPE_OK {
                        error
                    } else {
                        dtype_unpacker_seek(self.handle(), position)
                    }
                }
                19 => {
                    let none = iovec { iov_base: ptr::null_mut(), iov_len: 0 };
                    let (mut pieces, mut next) = ([none; 8], 0);
                    let (of, size, count) = (self.handle(), self.room(), self.size());
                    let (position, room) = (self.number() as u64, usize::from(self.byte() % 9));
                    let (to, number, end) = (pieces.as_mut_ptr(), &raw mut done, &raw mut next);
                    dtype_segments(of, memory, size, count, position, to, room, number, end)
                }
                20 => {
                    let ty = self.handle();
                    self.keep(|new| dtype_columns_new(ty, new))
                }
                21 => {
                    let (columns, size, count) = (self.handle(), self.room(), self.size());
                    let arrays: [Handle; 3] = [0, 100, 200].map(|at| out.wrapping_byte_add(at));
                    let (sizes, number) = ([100; 3], usize::from(self.byte() % 4));
                    let (arrays, sizes) = (arrays.as_ptr(), sizes.as_ptr());
                    dtype_columns_split(columns, memory, size, count, arrays, sizes, number)
                }
                22 => {
                    let framing = dtype_framing { tag: 7, flags: (self.byte() % 9).into() };
                    let (of, size, count, room) =
                        (self.handle(), self.room(), self.size(), self.room());
                    let (framing, done) = (&raw const framing, &raw mut done);
                    dtype_encode(of, memory, size, count, framing, out, room, done)
                }
                23 => {
                    let handle = self.handle();
                    release(handle);
                    DTYPE_OK
                }
                24 => {
                    let framing = dtype_framing { tag: 7, flags: (self.byte() % 9).into() };
                    let (of, size, count) = (self.handle(), self.room(), self.size());
                    let framing = &raw const framing;
                    self.keep(|new| dtype_encoder_new(of, memory, size, count, framing, new))
                }
                25 => {
                    let (encoder, room) = (self.handle(), self.room());
                    let to = if self.byte() == 1 { memory } else { out };
                    dtype_encoder_next(encoder, to, room, &raw mut done)
                }
                26 => {
                    let limits = dtype_limits {
                        max_payload_bytes: self.number() as u64,
                        max_records: self.number() as u64,
                        flags: (self.byte() % 5).into(),
                        reserved: 0,
                    };
                    let given = self.byte().is_multiple_of(2);
                    let limits = if given { &raw const limits } else { ptr::null() };
                    self.keep(|new| dtype_decoder_new(limits, new))
                }
                27 => {
                    let (decoder, room) = (self.handle(), self.room());
                    let taken = &raw mut done;
                    let error = self.keep(|new| dtype_decoder_feed(decoder, out, room, taken, new));
                    assert!(done <= room);
                    error
                }
                28 => {
                    let (frame, of, size) = (self.handle(), self.handle(), self.room());
                    let most = self.size();
                    dtype_received_unpack(frame, of, memory, size, most, &raw mut done)
                }
                29 => {
                    let mut info = std::mem::MaybeUninit::<dtype_received_info>::uninit();
                    let error = dtype_received_get_info(self.handle(), info.as_mut_ptr());
                    if error == DTYPE_OK {
                        let info = info.assume_init();
                        assert_eq!(info.count * info.record_size, info.payload_size as u64);
                        // All of the payload can be read.
                        let payload = (info.payload, info.payload_size);
                        let crc = dtype_crc(0, payload.0, payload.1);
                        assert_eq!(dtype_crc(0, payload.0, payload.1), crc);
                    }
                    error
                }
                30 => {
                    let (columns, size, count) = (self.handle(), self.room(), self.size());
                    let arrays: [Handle; 3] = [0, 100, 200].map(|at| out.wrapping_byte_add(at));
                    let (sizes, number) = ([100; 3], usize::from(self.byte() % 4));
                    let (arrays, sizes) = (arrays.as_ptr().cast(), sizes.as_ptr());
                    dtype_columns_join(columns, arrays, sizes, number, memory, size, count)
                }
                31 => {
                    let (ty, form) = (self.handle(), i32::from(self.byte() % 10));
                    dtype_type_text(ty, form, out.cast(), self.room(), &raw mut done)
                }
                32 => dtype_type_marshal(self.handle(), out, self.room(), &raw mut done),
                33 => {
                    let [lengths, places] = [(); 2].map(|()| [(); 3].map(|()| self.number()));
                    let (old, number) = (self.handle(), usize::from(self.byte() % 4));
                    let (form, lengths, places) = (self.byte(), lengths.as_ptr(), places.as_ptr());
                    let length = *lengths;
                    self.keep(|out| match form % 5 {
                        0 => dtype_type_indexed(number, lengths, places, old, out),
                        1 => dtype_type_hindexed(number, lengths, places, old, out),
                        2 => dtype_type_indexed_block(number, length, places, old, out),
                        3 => dtype_type_hindexed_block(number, length, places, old, out),
                        _ => dtype_type_hvector(number as i64, length, *places, old, out),
                    })
                }
                34 => {
                    let [sizes, parts, starts] = [(); 3].map(|()| [(); 3].map(|()| self.number()));
                    let (old, number) = (self.handle(), usize::from(self.byte() % 4));
                    let (order, sizes) = (i32::from(self.byte() % 3), sizes.as_ptr());
                    let (parts, starts) = (parts.as_ptr(), starts.as_ptr());
                    self.keep(|out| {
                        dtype_type_subarray(number, sizes, parts, starts, order, old, out)
                    })
                }
                35 => {
                    let [long_bytes, address_bytes, wide_char_bytes, logical_bytes] =
                        [(); 4].map(|()| self.byte() % 9);
                    let machine = dtype_architecture {
                        order: i32::from(self.byte() % 5),
                        long_bytes,
                        address_bytes,
                        wide_char_bytes,
                        logical_bytes,
                    };
                    let ty = self.handle();
                    self.keep(|out| dtype_commit_for(ty, &raw const machine, out))
                }
                36 => {
                    let (a, b, mut same) = (self.handle(), self.handle(), [false; 3]);
                    let (equal, compatible) = (&raw mut same[0], &raw mut same[1]);
                    let errors =
                        [dtype_type_equal(a, b, equal), dtype_type_compatible(a, b, compatible)];
                    assert_eq!(errors[0], errors[1]);
                    assert!(!same[0] || same[1], "equal, and not compatible");
                    errors[0]
                }
                37 => {
                    let handle: Handle = self.handle();
                    // One more reference, and one less: the object still lives.
                    if dtype_type_retain(handle.cast()) == DTYPE_OK {
                        dtype_type_release(handle.cast());
                        assert_eq!(dtype_type_retain(handle.cast()), DTYPE_OK);
                        dtype_type_release(handle.cast());
                    }
                    let error = dtype_committed_retain(handle.cast());
                    if error == DTYPE_OK {
                        dtype_committed_release(handle.cast());
                    }
                    error
                }
                38 => {
                    let (of, count, position) = (self.handle(), self.size(), self.number() as u64);
                    let mut segments = 0;
                    dtype_packed_size(of, count, &raw mut done);
                    dtype_segment_count(of, count, position, &raw mut segments)
                }
                _ => dtype_decoder_finish(self.handle()),
            }
        }
    }

    /// What was packed to `out` is unpacked over the same data, and packed again.
    ///
    /// # Safety
    ///
    /// As [`call`](Self::call); `of` has just packed so many bytes.
    unsafe fn again(&mut self, of: *mut dtype_committed, size: usize, count: usize, packed: usize) {
        let (memory, out) = (self.memory.cast(), self.out.cast());
        let [_, bytes] = self.snapshot();
        // SAFETY: as the caller guarantees.
        let (error, repacked) = unsafe {
            (
                dtype_unpack(of, out, packed, memory, size, count),
                dtype_pack(of, memory, size, count, out, SIZE, ptr::null_mut()),
            )
        };
        assert_eq!(repacked, DTYPE_OK);
        assert_eq!(self.snapshot()[1], bytes);
        // An overlapping type, or values that the checks refuse.
        assert!(
            matches!(error, DTYPE_OK | DTYPE_ERROR_OVERLAP | DTYPE_ERROR_VALUE),
            "the code {error}"
        );
    }
}

/// Releases an object of any kind. Handles of other kinds, and those without an object, are ignored.
///
/// # Safety
///
/// The handle must be NULL or made by the library.
unsafe fn release(handle: Handle) {
    // SAFETY: as the caller guarantees.
    unsafe {
        dtype_type_release(handle.cast());
        dtype_committed_release(handle.cast());
        dtype_packer_release(handle.cast());
        dtype_unpacker_release(handle.cast());
        dtype_columns_release(handle.cast());
        dtype_encoder_release(handle.cast());
        dtype_decoder_release(handle.cast());
        dtype_received_release(handle.cast());
    }
}

/// Executes a program.
pub fn run(input: &[u8]) {
    let [mut memory, mut out] =
        [(); 2].map(|()| (0..SIZE).map(|i| (i * 31 % 3) as u8).collect::<Vec<_>>());
    let (at, to) = (memory.as_mut_ptr(), out.as_mut_ptr());
    let mut program = Program { input, handles: vec![ptr::null_mut()], memory: at, out: to };
    while !program.input.is_empty() {
        program.step();
    }
    for handle in program.handles {
        // SAFETY: NULL, or made by the library.
        unsafe { release(handle) };
    }
}
