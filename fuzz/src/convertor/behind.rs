//! Memory that only a backend accesses.

use std::ops::Range;

use arbitrary::Arbitrary;
use dtype_runtime::convertor::{Backend, Fragment, Through};
use dtype_runtime::{Error, Packer, Type, Unpacker};

use super::layout::Layout;

/// A call. With a number, the device fails after that number of blocks, until it is repaired.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) enum Call {
    Pack(u16, Option<u8>),
    PlacePacker(u16),
    Unpack(u16, Option<u8>),
    PlaceUnpacker(u16),
}

/// A device that copies its blocks once it knows all of them, the last block first.
#[derive(Debug)]
struct Device {
    memory: Vec<u8>,
    fails_after: Option<u8>,
}

/// The error of a device that has failed.
#[derive(Debug, PartialEq)]
struct Lost;

impl Device {
    fn new(memory: &[u8]) -> Self {
        Self { memory: memory.to_vec(), fails_after: None }
    }

    /// Checks that the blocks are those of the fragment, and has each of them copied.
    fn run(
        &mut self,
        fragment: &Fragment<'_>,
        packed: usize,
        mut copy: impl FnMut(&mut [u8], Range<usize>),
    ) -> Result<(), Lost> {
        assert_eq!(fragment.len(), packed);
        assert!(packed > 0, "a fragment without bytes");
        let blocks: Vec<_> = fragment.blocks().collect();
        let mut next = 0;
        for (_, place) in &blocks {
            assert!(place.start == next && place.end > next, "each byte of the fragment in order");
            next = place.end;
        }
        assert_eq!(next, packed);
        for (number, (offset, place)) in blocks.into_iter().rev().enumerate() {
            if self.fails_after.is_some_and(|after| number >= after.into()) {
                return Err(Lost);
            }
            let offset = offset as usize;
            copy(&mut self.memory[offset..offset + place.len()], place);
        }
        Ok(())
    }
}

impl Backend for Device {
    type Error = Lost;

    fn size(&self) -> u64 {
        self.memory.len() as u64
    }

    fn read(&mut self, fragment: &Fragment<'_>, packed: &mut [u8]) -> Result<(), Lost> {
        self.run(fragment, packed.len(), |block, place| packed[place].copy_from_slice(block))
    }

    fn write(&mut self, fragment: &Fragment<'_>, packed: &[u8]) -> Result<(), Lost> {
        self.run(fragment, packed.len(), |block, place| block.copy_from_slice(&packed[place]))
    }
}

/// A packer of the source's bytes, and an unpacker to the target's, each in a device.
#[derive(Debug)]
pub(super) struct Behind<'a> {
    layout: &'a Layout,
    packer: Packer<'static, Through<Device>>,
    /// `None` where the layout cannot be unpacked.
    unpacker: Option<Unpacker<'static, Through<Device>>>,
    /// The expected memory of the unpacker.
    wanted: Vec<u8>,
    /// The positions of the packer and the unpacker.
    positions: [usize; 2],
    steps: usize,
}

impl<'a> Behind<'a> {
    pub(super) fn new(layout: &'a Layout) -> Self {
        let Layout { committed, memory, origin, count, .. } = layout;
        let (origin, wanted) = (*origin as u64, layout.untouched());
        let packer =
            committed.packer_with(Device::new(memory), i128::from(origin), *count).unwrap();
        let all = Type::contiguous(*count as u64, committed.as_type()).unwrap();
        assert_eq!(packer.signature_hash(), all.signature_hash());
        let unpacker = committed.unpacker_with(Device::new(&wanted), i128::from(origin), *count);
        let unpacker = match unpacker {
            Ok(unpacker) => Some(unpacker),
            Err(error) => {
                assert_eq!(error, Error::Overlap { count: *count as u64 });
                None
            }
        };
        assert_eq!(unpacker.is_none(), layout.overlaps);
        Self { layout, packer, unpacker, wanted, positions: [0; 2], steps: 0 }
    }

    pub(super) fn step(&mut self, call: Call) {
        let Self { layout, packer, unpacker, wanted, positions, steps } = self;
        let (packed, end) = (&layout.packed, layout.packed.len());
        let [source, target] = positions;
        *steps += 1;
        match (call, unpacker) {
            (Call::Pack(room, fails_after), _) => {
                let room = usize::from(room) % (end + 8);
                let number = room.min(end - *source);
                let mut out = vec![0xA5; room + 2];
                packer.backend_mut().fails_after = fails_after;
                let mut result = packer.pack(&mut out[1..=room]);
                if result == Err(Lost) {
                    assert_eq!(packer.position(), *source as u64);
                    packer.backend_mut().fails_after = None;
                    result = packer.pack(&mut out[1..=room]);
                }
                assert_eq!(result, Ok(number));
                assert_eq!(out[1..=number], packed[*source..*source + number]);
                assert_eq!(out[0], 0xA5);
                assert_eq!(out[number + 1..], vec![0xA5; room + 1 - number]);
                assert_eq!(packer.backend().memory, layout.memory);
                *source += number;
            }
            (Call::PlacePacker(to), _) => {
                let to = layout.position(to);
                place(&packer.set_position(to as u64), to, end, source);
            }
            (Call::Unpack(number, fails_after), Some(unpacker)) => {
                let number = usize::from(number) % (end + 8);
                let byte = |position: usize| (position * 7 + *steps * 101) as u8;
                let bytes: Vec<u8> = (*target..*target + number).map(byte).collect();
                let number = number.min(end - *target);
                unpacker.backend_mut().fails_after = fails_after;
                let mut result = unpacker.unpack(&bytes);
                if result == Err(Lost) {
                    assert_eq!(unpacker.position(), *target as u64);
                    unpacker.backend_mut().fails_after = None;
                    result = unpacker.unpack(&bytes);
                }
                assert_eq!(result, Ok(number));
                (*target..*target + number).for_each(|i| wanted[layout.place(i)] = byte(i));
                assert_eq!(unpacker.backend().memory, *wanted);
                *target += number;
            }
            (Call::PlaceUnpacker(to), Some(unpacker)) => {
                let to = layout.position(to);
                place(&unpacker.set_position(to as u64), to, end, target);
            }
            (Call::Unpack(..) | Call::PlaceUnpacker(_), None) => {}
        }
        assert_eq!(self.packer.position(), self.positions[0] as u64);
        assert_eq!(self.packer.is_complete(), self.positions[0] == end);
        if let Some(unpacker) = &self.unpacker {
            let left = end - self.positions[1];
            let at = (unpacker.position(), unpacker.remaining());
            assert_eq!(at, (self.positions[1] as u64, left as u64));
        }
    }
}

/// Checks that setting a position succeeds if the position is valid, and is refused otherwise.
fn place(result: &Result<(), Error>, to: usize, end: usize, position: &mut usize) {
    if to > end {
        let refused = Error::Position { position: to as u64, end: end as u64 };
        assert_eq!(*result, Err(refused));
    } else {
        assert_eq!(*result, Ok(()));
        *position = to;
    }
}
