//! Bytes on the device beside those of the host's engine.

use anyhow::Result;
use dtype_benches::noise;
use dtype_gpu::Packing;
use dtype_gpu::cuda::Cuda;

use crate::gpu::{GUARD, Gpu, Ready};
use crate::hand::Direction;
use crate::layouts::Layout;

/// What packs or unpacks.
#[derive(Clone, Copy)]
pub(crate) enum Way<'a> {
    Ours(&'a Packing<Cuda>),
    Hand(&'a Ready<'a>),
}

impl Way<'_> {
    /// Queues the move. Instances start at `memory` in the memory's buffer, packed bytes at `packed` in the other one.
    pub(crate) fn queue(
        self,
        gpu: &Gpu,
        direction: Direction,
        memory: usize,
        packed: usize,
        count: usize,
    ) -> Result<()> {
        match (self, direction) {
            (Self::Ours(packing), Direction::Pack) => {
                let (from, to) = ((&gpu.memory, memory as i64), (&gpu.packed, packed as u64));
                Ok(packing.pack(&gpu.queue, from, count, to)?)
            }
            (Self::Ours(packing), Direction::Unpack) => {
                let (from, to) = ((&gpu.packed, packed as u64), (&gpu.memory, memory as i64));
                Ok(packing.unpack(&gpu.queue, from, count, to)?)
            }
            (Self::Hand(ready), _) => {
                ready.launch(gpu, gpu.memory_at(memory), gpu.packed_at(packed), count)
            }
        }
    }
}

/// Bytes without a pattern on the host.
pub(crate) struct Noise {
    before: Vec<u8>,
    after: Vec<u8>,
}

impl Noise {
    pub(crate) fn new(bytes: usize) -> Self {
        let mut noise = [vec![0; bytes], vec![0; bytes]];
        std::thread::scope(|scope| {
            for (seed, bytes) in (1..).zip(&mut noise) {
                scope.spawn(move || noise::fill(bytes, seed));
            }
        });
        let [before, after] = noise;
        Self { before, after }
    }

    /// The most memory that can be checked.
    pub(crate) fn len(&self) -> usize {
        self.before.len() - 2 * GUARD
    }

    /// The number of bytes that are wrong after packing or unpacking on the device, gaps and guard zones included.
    pub(crate) fn wrong(
        &self,
        gpu: &Gpu,
        layout: &Layout,
        count: usize,
        way: Way<'_>,
        direction: Direction,
    ) -> Result<usize> {
        let (span, packed) = (layout.span(count) + 2 * GUARD, layout.ty.size() as usize * count);
        let origin = GUARD + layout.base;
        let memory = &self.before[..span];
        let mut expected = vec![0xEE; packed + 2 * GUARD];
        // SAFETY: the instances lie in `span` bytes behind the guard.
        unsafe {
            let out = &mut expected[GUARD..GUARD + packed];
            layout.ty.pack_raw(memory.as_ptr().add(origin), count, out)?;
        }
        let found = match direction {
            Direction::Pack => {
                gpu.memory.write(&gpu.queue, 0, memory)?;
                gpu.packed.write(&gpu.queue, 0, &vec![0xEE; expected.len()])?;
                way.queue(gpu, direction, origin, GUARD, count)?;
                let mut found = vec![0; expected.len()];
                gpu.packed.read(&gpu.queue, 0, &mut found)?;
                found
            }
            Direction::Unpack => {
                let packed = std::mem::replace(&mut expected, self.after[..span].to_vec());
                gpu.memory.write(&gpu.queue, 0, &expected)?;
                gpu.packed.write(&gpu.queue, 0, &packed)?;
                way.queue(gpu, direction, origin, GUARD, count)?;
                let mut found = vec![0; span];
                gpu.memory.read(&gpu.queue, 0, &mut found)?;
                let packed = &packed[GUARD..packed.len() - GUARD];
                // SAFETY: as above.
                unsafe { layout.ty.unpack_raw(packed, expected.as_mut_ptr().add(origin), count)? };
                found
            }
        };
        if found == expected {
            return Ok(0);
        }
        Ok(found.iter().zip(&expected).filter(|(found, expected)| found != expected).count())
    }
}
