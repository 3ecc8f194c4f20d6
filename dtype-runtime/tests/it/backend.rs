//! Memory behind a backend that counts its calls, and copies its blocks late and in a shuffled order. The bytes are those of
//! the naive reference.

#![allow(clippy::cast_possible_truncation, reason = "everything here is small")]

use crate::fragments::{fragments, lengths, shuffled};
use dtype_runtime::convertor::{Backend, Checksum, Fragment};
use dtype_runtime::{Basic, Buffer, Error, Type};
use dtype_test_support::case::Case;
use dtype_test_support::model::{config, trees, trees_with_lists};
use proptest::prelude::*;

/// Memory that only copies can reach. All copies are made at the end of a call.
#[derive(Debug, Default)]
struct Delayed {
    memory: Vec<u8>,
    /// The state of the random order of the copies.
    seed: u64,
    calls: usize,
    blocks: usize,
    bytes: usize,
    flushes: usize,
    /// The number of blocks after which the device fails, until it is repaired.
    fails_after: Option<usize>,
}

/// The error of a device that has failed.
#[derive(Debug, PartialEq)]
struct Lost {
    /// The number of blocks copied before.
    after: usize,
}

impl std::fmt::Display for Lost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "lost after {} blocks", self.after)
    }
}

impl std::error::Error for Lost {}

impl Delayed {
    fn new(memory: &[u8], seed: u64) -> Self {
        Self { memory: memory.to_vec(), seed, ..Self::default() }
    }

    /// Checks the blocks, and calls `copy` for each, in a shuffled order.
    fn run(
        &mut self,
        fragment: &Fragment<'_>,
        packed: usize,
        mut copy: impl FnMut(&mut [u8], std::ops::Range<usize>),
    ) -> Result<(), Lost> {
        assert_eq!((fragment.len(), fragment.is_empty()), (packed, false));
        self.calls += 1;
        let blocks: Vec<_> = fragment.blocks().collect();
        self.blocks += blocks.len();
        let mut next = 0;
        for (_, place) in &blocks {
            assert!(place.start == next && place.end > next, "{place:?} after {next}");
            next = place.end;
        }
        assert_eq!(next, packed, "the blocks are not the fragment");
        for (index, (offset, place)) in shuffled(blocks, self.seed).into_iter().enumerate() {
            if self.fails_after == Some(index) {
                return Err(Lost { after: index });
            }
            let at = usize::try_from(offset).unwrap();
            self.bytes += place.len();
            copy(&mut self.memory[at..at + place.len()], place);
        }
        Ok(())
    }
}

impl Backend for Delayed {
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

    fn flush(&mut self) -> Result<(), Lost> {
        self.flushes += 1;
        Ok(())
    }
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn packing_through_a_backend(
        tree in trees_with_lists(4),
        count in 0_usize..6,
        lengths in lengths(),
        seed: u64,
    ) {
        let case = Case::new(&tree, count);
        let Case { committed, memory, .. } = &case;
        let (origin, expected) = (case.origin as u64, case.packed());
        let mut device = Delayed::new(memory, seed);
        let mut packer = committed.packer_with(&mut device, i128::from(origin), count).unwrap();
        let pieces = fragments(expected.len(), &lengths);
        for piece in shuffled(pieces.clone(), seed) {
            packer.set_position(piece.start as u64).unwrap();
            prop_assert_eq!(packer.remaining(), (expected.len() - piece.start) as u64);
            prop_assert!(!packer.is_complete());
            let mut out = vec![0xA5; piece.len() + 2];
            let room = piece.len();
            prop_assert_eq!(packer.pack(&mut out[1..=room]), Ok(room));
            prop_assert_eq!(packer.position(), piece.end as u64);
            prop_assert_eq!(&out[1..=room], &expected[piece]);
            prop_assert_eq!((out[0], out[room + 1]), (0xA5, 0xA5));
        }
        // One more call at the end of the stream.
        let end = expected.len() as u64;
        packer.set_position(end).unwrap();
        prop_assert_eq!((packer.pack(&mut [0; 3]), packer.is_complete()), (Ok(0), true));
        prop_assert_eq!(packer.set_position(end + 1), Err(Error::Position { position: end + 1, end }));
        let sender = committed.packer(Buffer::new(memory).origin(case.origin as i64), count).unwrap();
        prop_assert_eq!(packer.signature_hash(), sender.signature_hash());
        prop_assert_eq!((device.calls, device.bytes), (pieces.len(), expected.len()));
        prop_assert_eq!(&device.memory, memory);

        // A single call has the segments of the type as its blocks.
        let mut device = Delayed::new(memory, seed);
        let mut whole = vec![0; expected.len() + 5];
        let mut packer = committed.packer_with(&mut device, i128::from(origin), count).unwrap();
        prop_assert_eq!(packer.pack(&mut whole), Ok(expected.len()));
        prop_assert_eq!(&whole[..expected.len()], &expected);
        let segments = committed.iov(count, 0..end).unwrap().count();
        prop_assert_eq!(device.blocks, segments);
    }

    #[test]
    fn unpacking_through_a_backend(
        tree in trees_with_lists(4),
        count in 0_usize..6,
        lengths in lengths(),
        seed: u64,
    ) {
        let case = Case::new(&tree, count);
        let (committed, origin) = (&case.committed, case.origin as u64);
        let (packed, mut wanted) = (case.stream(), case.blank());
        let mut device = Delayed::new(&wanted, seed);
        let unpacker = committed.unpacker_with(&mut device, i128::from(origin), count);
        if case.overlaps() {
            prop_assert_eq!(unpacker.err(), Some(case.overlap()));
            return Ok(());
        }
        let mut unpacker = unpacker.unwrap();
        let pieces = fragments(packed.len(), &lengths);
        for piece in shuffled(pieces.clone(), seed) {
            unpacker.set_position(piece.start as u64).unwrap();
            prop_assert_eq!(unpacker.unpack(&packed[piece.clone()]), Ok(piece.len()));
            prop_assert_eq!(unpacker.position(), piece.end as u64);
            case.write(&packed, piece, &mut wanted);
            // The gaps, and the places of bytes that have not arrived, are unchanged after every step.
            prop_assert_eq!(&unpacker.backend().memory, &wanted);
        }
        let end = packed.len() as u64;
        unpacker.set_position(end).unwrap();
        prop_assert_eq!((unpacker.unpack(&[1; 3]), unpacker.remaining()), (Ok(0), 0));
        prop_assert!(unpacker.set_position(end + 1).is_err());
        prop_assert_eq!((device.calls, device.bytes), (pieces.len(), packed.len()));
    }

    #[test]
    fn what_a_backend_does_not_do_is_done_again(
        tree in trees(),
        count in 1_usize..6,
        length in 1_usize..60,
        fails_after in 0_usize..30,
        seed: u64,
    ) {
        let case = Case::new(&tree, count);
        let Case { committed, memory, .. } = &case;
        let (origin, expected) = (case.origin as u64, case.packed());
        let device = Delayed::new(memory, seed);
        let mut packer = committed.packer_with(device, i128::from(origin), count).unwrap();
        let mut all = Vec::new();
        let mut out = vec![0; length];
        while !packer.is_complete() {
            let position = packer.position();
            packer.backend_mut().fails_after = Some(fails_after);
            if packer.pack(&mut out).is_err_and(|lost| lost == Lost { after: fails_after }) {
                prop_assert_eq!(packer.position(), position);
                packer.backend_mut().fails_after = None;
                prop_assert!(packer.pack(&mut out).is_ok());
            }
            let number = packer.position() - position;
            all.extend_from_slice(&out[..number as usize]);
        }
        prop_assert_eq!(&all, &expected);

        if case.overlaps() {
            return Ok(());
        }
        let blank = Delayed::new(&case.blank(), seed);
        let mut unpacker = committed.unpacker_with(blank, i128::from(origin), count).unwrap();
        for piece in all.chunks(length) {
            let position = unpacker.position();
            unpacker.backend_mut().fails_after = Some(fails_after);
            if unpacker.unpack(piece).is_err() {
                prop_assert_eq!(unpacker.position(), position);
                unpacker.backend_mut().fails_after = None;
                prop_assert_eq!(unpacker.unpack(piece), Ok(piece.len()));
            }
        }
        prop_assert_eq!(unpacker.into_backend().memory, case.unpacked(&expected));
    }
}

#[test]
fn a_failing_backend_leaves_the_position() {
    let column = Type::vector(4, 1, 2, &Type::basic(Basic::U8)).unwrap().commit();
    let device = Delayed { fails_after: Some(1), ..Delayed::new(b"a.b.c.d.", 7) };
    let mut packer = column.packer_with(device, 0, 1).unwrap();
    packer.set_position(1).unwrap();
    assert_eq!(packer.pack(&mut [0; 2]), Err(Lost { after: 1 }));
    assert_eq!((packer.position(), packer.remaining()), (1, 3));
    packer.backend_mut().fails_after = None;
    let mut out = [0; 2];
    assert_eq!((packer.pack(&mut out), &out), (Ok(2), b"bc"));
}

#[test]
fn a_fragment_reports_its_range_and_its_blocks() {
    let lists = Type::indexed(&[1, 2, 1], &[0, 2, 9], &Type::basic(Basic::U16)).unwrap().commit();
    let mut packer = lists.packer_with(Delayed::new(&[0; 50], 1), 5, 2).unwrap();
    packer.set_position(3).unwrap();
    let fragment = packer.fragment(8);
    assert_eq!((fragment.origin(), fragment.count(), fragment.range()), (5, 2, 3..11));
    assert!(std::ptr::eq(fragment.committed().plan(), lists.plan()), "not the plan of the type");
    // The rest of the first instance's second block, and its last block, which touches the second instance.
    let blocks: Vec<_> = fragment.blocks().collect();
    assert_eq!(blocks, [(10, 0..3), (23, 3..7), (29, 7..8)]);
    assert_eq!(packer.fragment(usize::MAX).range(), 3..16);
    packer.set_position(16).unwrap();
    assert!(packer.fragment(9).is_empty() && packer.fragment(9).blocks().next().is_none());
}

#[test]
fn flush_reaches_the_backend() {
    struct Count(usize);
    impl Checksum for Count {
        fn update(&mut self, bytes: &[u8]) {
            self.0 += bytes.len();
        }
    }
    let bytes = Type::contiguous(2, &Type::basic(Basic::U8)).unwrap().commit();
    let mut unpacker = bytes.unpacker_with(Delayed::new(&[0; 2], 1), 0, 1).unwrap();
    unpacker.unpack(b"a").unwrap();
    unpacker.flush().unwrap();
    assert_eq!(unpacker.backend().flushes, 1);
    let mut summed = unpacker.with_checksum(Count(0));
    summed.unpack(b"b").unwrap();
    summed.flush().unwrap();
    #[cfg(feature = "std")]
    std::io::Write::flush(&mut summed).unwrap();
    let (mut unpacker, Count(summed)) = summed.into_parts();
    #[cfg(feature = "std")]
    std::io::Write::flush(&mut unpacker).unwrap();
    let device = unpacker.into_backend();
    let flushes = if cfg!(feature = "std") { 4 } else { 2 };
    assert_eq!((device.flushes, &device.memory[..], summed), (flushes, &b"ab"[..], 1));
}

#[test]
fn instances_outside_of_the_memory_and_too_many() {
    let ty = Type::vector(2, 1, -1, &Type::basic(Basic::U16)).unwrap().commit();
    let device = || Delayed::new(&[0; 8], 1);
    assert!(ty.packer_with(device(), 2, 1).is_ok());
    assert!(ty.unpacker_with(device(), 6, 1).is_ok());
    let outside = |start, end| Some(Error::OutOfBounds { start, end, len: 8 });
    assert_eq!(ty.packer_with(device(), 1, 1).err(), outside(-1, 3));
    assert_eq!(ty.unpacker_with(device(), 7, 1).err(), outside(5, 9));
    assert_eq!(
        ty.unpacker_with(device(), i128::from(u64::MAX), 1).err(),
        outside((1 << 64) - 3, (1 << 64) + 1)
    );
    let many = ty.packer_with(device(), 2, usize::MAX).err();
    assert_eq!(many, Some(Error::CountTooLarge { count: usize::MAX as u64, size: 4 }));
    // The distance from the memory does not fit 128 bits.
    for extent in [i64::MIN, i64::MAX] {
        let far = Type::resized(&Type::basic(Basic::U8), 0, extent).unwrap().commit();
        for origin in [i128::MIN, -(1 << 64), 0, 1 << 64, i128::MAX] {
            let error = far.packer_with(device(), origin, usize::MAX).err();
            assert!(matches!(error, Some(Error::OutOfBounds { .. })), "{extent} {origin}");
            let error = far.unpacker_with(device(), origin, 2).err();
            assert!(matches!(error, Some(Error::OutOfBounds { .. })), "{extent} {origin}");
        }
    }
}

/// An address that no pointer has on a machine with 63-bit addresses.
#[test]
fn memory_at_the_end_of_the_address_space() {
    struct Vast(Vec<(u64, std::ops::Range<usize>)>);
    impl Backend for Vast {
        type Error = Error;
        fn size(&self) -> u64 {
            u64::MAX
        }
        fn read(&mut self, fragment: &Fragment<'_>, _: &mut [u8]) -> Result<(), Error> {
            self.0.extend(fragment.blocks());
            Ok(())
        }
        fn write(&mut self, fragment: &Fragment<'_>, _: &[u8]) -> Result<(), Error> {
            self.0.extend(fragment.blocks());
            Ok(())
        }
    }
    let backwards = Type::hvector(3, 2, -8, &Type::basic(Basic::U8)).unwrap().commit();
    let origin = i128::from(u64::MAX - 2);
    let mut unpacker = backwards.unpacker_with(Vast(Vec::new()), origin, 1).unwrap();
    assert_eq!(unpacker.unpack(&[1; 9]), Ok(6));
    let blocks = [(u64::MAX - 2, 0..2), (u64::MAX - 10, 2..4), (u64::MAX - 18, 4..6)];
    assert_eq!(unpacker.backend().0, blocks);
}
