//! The device that the tests use, and memory with guard zones on it.

use std::sync::OnceLock;

use dtype_gpu::{Buffer, Device, Queue};

use crate::{Tested, open};

/// The device of all tests and a queue of it; `None`, with a line that names the test, where there is none.
pub(crate) fn queue(test: &str) -> Option<Queue<Tested>> {
    static DEVICE: OnceLock<Result<Device<Tested>, dtype_gpu::Error>> = OnceLock::new();
    match DEVICE.get_or_init(|| open().map(Device::new)) {
        Ok(device) => Some(device.queue().unwrap()),
        Err(error) => {
            println!("left out: {test}: {error}");
            None
        }
    }
}

/// Bytes in front of the memory and behind it that must not change.
const GUARD: usize = 37;

const GUARD_BYTE: u8 = 0xC3;

/// A memory of the device between two guard zones.
pub(crate) struct Guarded {
    pub(crate) buffer: Buffer<Tested>,
    len: usize,
    guard: usize,
}

impl Guarded {
    /// A copy of `bytes`. The first of them has an address that is `past` bytes past one that 16 divides.
    pub(crate) fn new(queue: &Queue<Tested>, bytes: &[u8], past: usize) -> Self {
        let guard = GUARD.next_multiple_of(16) + past;
        let mut all = vec![GUARD_BYTE; guard];
        all.extend_from_slice(bytes);
        all.extend([GUARD_BYTE; GUARD]);
        let buffer = queue.device().buffer(all.len()).unwrap();
        buffer.write(queue, 0, &all).unwrap();
        Self { buffer, len: bytes.len(), guard }
    }

    /// The offset of a byte of the memory in the buffer.
    pub(crate) fn at(&self, byte: usize) -> usize {
        self.guard + byte
    }

    /// The bytes, after a check of the guard zones.
    pub(crate) fn bytes(&self, queue: &Queue<Tested>) -> Vec<u8> {
        let mut all = vec![0; self.buffer.len()];
        self.buffer.read(queue, 0, &mut all).unwrap();
        let (front, rest) = all.split_at(self.guard);
        let (bytes, back) = rest.split_at(self.len);
        assert!(
            front.iter().chain(back).all(|byte| *byte == GUARD_BYTE),
            "a guard zone was written"
        );
        bytes.to_vec()
    }
}
