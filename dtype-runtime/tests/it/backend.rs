//! Memory reached through a backend that counts its calls, and makes its copies late and in a shuffled order: the
//! bytes are those of the naive reference.

#![allow(clippy::cast_possible_truncation, reason = "everything here is small")]

use crate::case::Case;
use crate::fragments::{fragments, lengths, shuffled};
use crate::model::{config, trees, trees_with_lists};
use dtype_runtime::convertor::{Backend, StridedCopies, StridedCopy};
use dtype_runtime::{Basic, Buffer, Error, Type};
use proptest::prelude::*;

/// A memory that is reached only by copies, which are queued while the pieces come and made at the end.
#[derive(Debug, Default)]
struct Delayed {
    memory: Vec<u8>,
    /// The state of the random order of the copies.
    seed: u64,
    calls: usize,
    pieces: usize,
    bytes: usize,
    /// The number of blocks after which the device is lost, until it is repaired.
    fails_after: Option<usize>,
}

/// The device is lost.
#[derive(Debug, PartialEq)]
struct Lost {
    /// The number of blocks copied before.
    after: usize,
}

impl Delayed {
    fn new(memory: &[u8], seed: u64) -> Self {
        Self { memory: memory.to_vec(), seed, ..Self::default() }
    }

    /// Takes the pieces, checks each of them, and calls `copy` for each block, in a shuffled order.
    fn run(
        &mut self,
        pieces: &StridedCopies<'_>,
        fragment: usize,
        mut copy: impl FnMut(&mut [u8], std::ops::Range<usize>),
    ) -> Result<(), Lost> {
        assert_eq!(pieces.bytes(), fragment);
        assert!(fragment > 0);
        self.calls += 1;
        let mut queue: Vec<StridedCopy> = Vec::new();
        pieces.for_each(|piece| queue.push(piece));
        self.pieces += queue.len();
        let mut blocks = Vec::new();
        for piece in queue {
            assert!(
                piece.len > 0 && piece.count > 0 && piece.fragment_stride >= piece.len,
                "{piece:?}"
            );
            assert_eq!(piece.blocks().len(), piece.count);
            if let (Some(pitch), true) = (piece.pitch(), piece.count > 1) {
                // The same copy as rows.
                let rows = (0..piece.count as u64).map(|row| piece.memory_offset + row * pitch);
                assert!(piece.blocks().map(|block| block.0).eq(rows));
                assert!(pitch >= piece.len as u64);
            }
            blocks.extend(piece.blocks().map(|(offset, place)| (offset, place, piece.len)));
        }
        let mut named = vec![false; fragment];
        for (index, (offset, place, len)) in shuffled(blocks, self.seed).into_iter().enumerate() {
            if self.fails_after == Some(index) {
                return Err(Lost { after: index });
            }
            let at = usize::try_from(offset).unwrap();
            for byte in &mut named[place..place + len] {
                assert!(!std::mem::replace(byte, true), "a byte of the fragment comes twice");
            }
            copy(&mut self.memory[at..at + len], place..place + len);
            self.bytes += len;
        }
        assert!(named.iter().all(|named| *named), "a byte of the fragment does not come");
        Ok(())
    }
}

impl Backend for Delayed {
    type Error = Lost;

    fn size(&self) -> u64 {
        self.memory.len() as u64
    }

    fn read(&mut self, pieces: &StridedCopies<'_>, fragment: &mut [u8]) -> Result<(), Lost> {
        self.run(pieces, fragment.len(), |block, place| fragment[place].copy_from_slice(block))
    }

    fn write(&mut self, pieces: &StridedCopies<'_>, fragment: &[u8]) -> Result<(), Lost> {
        self.run(pieces, fragment.len(), |block, place| block.copy_from_slice(&fragment[place]))
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
        // One more call at the end, where nothing is left.
        let end = expected.len() as u64;
        packer.set_position(end).unwrap();
        prop_assert_eq!((packer.pack(&mut [0; 3]), packer.is_complete()), (Ok(0), true));
        prop_assert_eq!(packer.set_position(end + 1), Err(Error::Position { position: end + 1, end }));
        let sender = committed.packer(Buffer::new(memory).origin(case.origin as i64), count).unwrap();
        prop_assert_eq!(packer.signature_hash(), sender.signature_hash());
        prop_assert_eq!((device.calls, device.bytes), (pieces.len(), expected.len()));
        prop_assert_eq!(&device.memory, memory);

        // A single call has at most as many pieces as there are segments.
        let mut device = Delayed::new(memory, seed);
        let mut whole = vec![0; expected.len() + 5];
        let mut packer = committed.packer_with(&mut device, i128::from(origin), count).unwrap();
        prop_assert_eq!(packer.pack(&mut whole), Ok(expected.len()));
        prop_assert_eq!(&whole[..expected.len()], &expected);
        let segments = committed.iov(count, 0..end).unwrap().count();
        prop_assert!(device.pieces <= segments, "{} pieces of {segments}", device.pieces);
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
            // The gaps, and the bytes that have not come yet, are unchanged at every step.
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

/// Offset in the memory, bytes and number of the blocks, stride in the memory, offset and stride in the fragment.
fn numbers(copy: &StridedCopy) -> (u64, usize, usize, i64, usize, usize) {
    let StridedCopy {
        memory_offset,
        len,
        count,
        memory_stride,
        fragment_offset,
        fragment_stride,
        ..
    } = *copy;
    (memory_offset, len, count, memory_stride, fragment_offset, fragment_stride)
}

/// The copies of one call for all bytes.
fn pieces_of(ty: &Type, memory: usize, count: usize) -> Vec<StridedCopy> {
    let device = Delayed::new(&vec![0; memory], 1);
    let packer = ty.commit().packer_with(device, 0, count).unwrap();
    let mut all = Vec::new();
    packer.copies(usize::MAX).for_each(|piece| all.push(piece));
    all
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
    // An error that the backend returns while it takes the pieces is passed on, and no piece follows it.
    let mut seen = 0;
    let refused = packer.copies(9).try_for_each(|piece| {
        seen += 1;
        Err(piece.memory_offset)
    });
    assert_eq!((refused, seen), (Err(6), 1));
    let lists = Type::indexed(&[1, 2, 1], &[0, 2, 9], &Type::basic(Basic::U8)).unwrap().commit();
    let packer = lists.packer_with(Delayed::new(&[0; 10], 1), 0, 1).unwrap();
    let mut seen = Vec::new();
    let refused = packer.copies(9).try_for_each(|piece| {
        seen.push(piece.len);
        if seen.len() == 2 { Err("enough") } else { Ok(()) }
    });
    assert_eq!((refused, seen), (Err("enough"), vec![1, 2]));
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
    // So far outside that 128 bits have no room for the distance.
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
fn memory_at_the_end_of_what_can_be_addressed() {
    struct Vast(Vec<StridedCopy>);
    impl Backend for Vast {
        type Error = Error;
        fn size(&self) -> u64 {
            u64::MAX
        }
        fn read(&mut self, pieces: &StridedCopies<'_>, _: &mut [u8]) -> Result<(), Error> {
            pieces.for_each(|piece| self.0.push(piece));
            Ok(())
        }
        fn write(&mut self, pieces: &StridedCopies<'_>, _: &[u8]) -> Result<(), Error> {
            pieces.for_each(|piece| self.0.push(piece));
            Ok(())
        }
    }
    let backwards = Type::hvector(3, 2, -8, &Type::basic(Basic::U8)).unwrap().commit();
    let mut unpacker =
        backwards.unpacker_with(Vast(Vec::new()), i128::from(u64::MAX - 2), 1).unwrap();
    assert_eq!(unpacker.unpack(&[1; 9]), Ok(6));
    let [piece] = unpacker.backend().0[..] else { panic!("{:?}", unpacker.backend().0) };
    assert_eq!(numbers(&piece), (u64::MAX - 2, 2, 3, -8, 0, 2));
    assert_eq!(piece.pitch(), None);
    assert!(piece.blocks().eq([(u64::MAX - 2, 0), (u64::MAX - 10, 2), (u64::MAX - 18, 4)]));
}

#[test]
fn regular_layouts_are_few_pieces() {
    // A field of all records is one piece, with the strides of the records on both sides.
    let fields = [Basic::U8, Basic::U32, Basic::U16].map(Type::basic);
    let record = Type::structure(&[1; 3], &[0, 4, 9], &fields).unwrap();
    let piece = |offset, len, place| (offset, len, 1000, 12, place, 7);
    let pieces = pieces_of(&record, 12_000, 1000);
    let found: Vec<_> = pieces.iter().map(numbers).collect();
    assert_eq!(found, [piece(0, 1, 0), piece(4, 4, 1), piece(9, 2, 5)]);
    assert_eq!(pieces[0].pitch(), Some(12));
    // Contiguous memory is one piece, wherever it is cut.
    let dense = Type::contiguous(3, &Type::basic(Basic::U64)).unwrap().commit();
    let mut packer = dense.packer_with(Delayed::new(&[7; 2400], 3), 0, 100).unwrap();
    packer.set_position(5).unwrap();
    assert_eq!(packer.pack(&mut [0; 2000]), Ok(2000));
    assert_eq!((packer.backend().calls, packer.backend().pieces), (1, 1));

    // Rows of a matrix; a nest of two loops has one piece for each iteration of the shorter loop.
    let [byte, short] = [Basic::U8, Basic::U16].map(Type::basic);
    let rows = Type::vector(100, 3, 7, &short).unwrap();
    assert_eq!(pieces_of(&rows, 2000, 1).len(), 1);
    let few = Type::hvector(4, 1, 1000, &Type::vector(300, 1, 3, &byte).unwrap()).unwrap();
    assert_eq!(pieces_of(&few, 4000, 1).len(), 4);
    let many = Type::hvector(300, 1, 100, &Type::vector(4, 1, 3, &byte).unwrap()).unwrap();
    assert_eq!(pieces_of(&many, 30_000, 1).len(), 4);
}
