//! The convertor: any fragments, in any order, compared with the naive reference.

#![allow(clippy::cast_possible_truncation, reason = "everything here is small")]

#[cfg(feature = "std")]
use std::io::{IoSlice, IoSliceMut, Read, Write};

use crate::fragments::{fragments, lengths, shuffled};
use dtype_runtime::{Buffer, BufferMut, Error};
use dtype_test_support::case::Case;
use dtype_test_support::model::{config, trees_with_lists};
use proptest::prelude::*;

/// A random type with lists, and a number of instances.
fn cases() -> impl Strategy<Value = Case> {
    let counts = if cfg!(miri) { 1..3_usize } else { 0..6 };
    (trees_with_lists(4), counts).prop_map(|(tree, count)| Case::new(&tree, count))
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn fragments_in_order_are_the_stream(case in cases(), lengths in lengths()) {
        let packed = case.packed();
        let mut packer = case.committed.packer(Buffer::new(&case.memory).origin(case.origin as i64), case.count).unwrap();
        for piece in fragments(packed.len(), &lengths) {
            prop_assert_eq!(packer.position(), piece.start as u64);
            prop_assert!(!packer.is_complete());
            let room = piece.len();
            let mut out = vec![0xA5; room + 2];
            prop_assert_eq!(packer.pack(&mut out[1..=room]), room);
            prop_assert_eq!(&out[1..=room], &packed[piece]);
            prop_assert_eq!((out[0], out[room + 1]), (0xA5, 0xA5));
        }
        prop_assert!(packer.is_complete() && packer.pack(&mut [0; 3]) == 0);
    }

    #[test]
    fn a_packer_continues_from_any_position(
        case in cases(),
        lengths in lengths(),
        seed: u64,
    ) {
        let packed = case.packed();
        let mut packer = case.committed.packer(Buffer::new(&case.memory).origin(case.origin as i64), case.count).unwrap();
        for piece in shuffled(fragments(packed.len(), &lengths), seed) {
            packer.set_position(piece.start as u64).unwrap();
            prop_assert_eq!(packer.remaining(), (packed.len() - piece.start) as u64);
            let mut out = vec![0; piece.len()];
            packer.pack(&mut out);
            prop_assert_eq!(&out, &packed[piece]);
        }
        let end = packed.len() as u64;
        let refused = Error::Position { position: end + 1, end };
        prop_assert_eq!(packer.set_position(end + 1), Err(refused));
    }

    #[test]
    fn the_stack_depends_on_the_position_alone(
        case in cases(),
        lengths in lengths(),
        seed: u64,
    ) {
        let mut packer = case.committed.packer(Buffer::new(&case.memory).origin(case.origin as i64), case.count).unwrap();
        let description = case.committed.description();
        for piece in shuffled(fragments(case.bytes.len(), &lengths), seed) {
            packer.set_position(piece.start as u64).unwrap();
            packer.pack(&mut vec![0; piece.len()]);
            let stack = description.stack(case.count as u64, piece.end as u64).unwrap();
            prop_assert_eq!(packer.stack(), stack);
        }
    }

    #[cfg(feature = "std")]
    #[test]
    fn reading_is_packing(case in cases()) {
        let packed = case.packed();
        let packer = case.committed.packer(Buffer::new(&case.memory).origin(case.origin as i64), case.count).unwrap();
        let mut read = Vec::new();
        packer.clone().read_to_end(&mut read).unwrap();
        prop_assert_eq!(&read, &packed);
        let (mut a, mut b, mut c) = ([0; 5], [0; 0], [0; 70]);
        let mut buffers = [&mut a[..], &mut b, &mut c].map(IoSliceMut::new);
        let number = packer.clone().read_vectored(&mut buffers).unwrap();
        prop_assert_eq!(number, packed.len().min(75));
        let read: Vec<u8> = a.iter().chain(&c).copied().take(number).collect();
        prop_assert_eq!(&read, &packed[..number]);
    }

    #[test]
    fn an_unpacker_continues_from_any_position(
        case in cases(),
        lengths in lengths(),
        seed: u64,
    ) {
        let packed = case.stream();
        let mut target = case.blank();
        let unpacker = case.committed.unpacker(BufferMut::new(&mut target).origin(case.origin as i64), case.count);
        if case.overlaps() {
            prop_assert_eq!(unpacker.err(), Some(case.overlap()));
            return Ok(());
        }
        let mut unpacker = unpacker.unwrap();
        let mut wanted = case.blank();
        for piece in shuffled(fragments(packed.len(), &lengths), seed) {
            unpacker.set_position(piece.start as u64).unwrap();
            prop_assert_eq!(unpacker.unpack(&packed[piece.clone()]), Ok(piece.len()));
            case.write(&packed, piece, &mut wanted);
        }
        prop_assert!(unpacker.set_position(packed.len() as u64 + 1).is_err());
        drop(unpacker);
        prop_assert_eq!(&target, &wanted);
    }

    #[test]
    fn two_threads_write_the_parts_of_a_stream(case in cases(), middle: usize) {
        if case.overlaps() {
            return Ok(());
        }
        let packed = case.stream();
        let middle = middle % (packed.len() + 1);
        let mut target = case.blank();
        let unpacker = case.committed.unpacker(BufferMut::new(&mut target).origin(case.origin as i64), case.count).unwrap();
        let (mut front, mut back) = unpacker.split_at(middle as u64).unwrap();
        std::thread::scope(|scope| {
            let (first, second) = packed.split_at(middle);
            scope.spawn(move || {
                assert_eq!(front.unpack(&first[..middle / 2]), Ok(middle / 2));
                assert_eq!(front.unpack(&first[middle / 2..]), Ok(middle - middle / 2));
                assert!(front.is_complete());
                assert!(middle == 0 || front.set_position(middle as u64 + 1).is_err());
            });
            scope.spawn(move || assert_eq!(back.unpack(second), Ok(second.len())));
        });
        prop_assert_eq!(&target, &case.unpacked(&packed));
    }

    #[cfg(feature = "std")]
    #[test]
    fn writing_is_unpacking(case in cases(), ends: (usize, usize)) {
        if case.overlaps() {
            return Ok(());
        }
        let packed = case.stream();
        let mut target = case.blank();
        let mut unpacker = case.committed.unpacker(BufferMut::new(&mut target).origin(case.origin as i64), case.count).unwrap();
        let middle = ends.0 % (packed.len() + 1);
        let (first, second) = packed.split_at(middle);
        let halves = first.split_at(ends.1 % (middle + 1));
        let halves = [halves.0, halves.1].map(IoSlice::new);
        prop_assert_eq!(unpacker.write_vectored(&halves).unwrap(), middle);
        unpacker.write_all(second).unwrap();
        prop_assert_eq!(&target, &case.unpacked(&packed));
    }

    #[test]
    fn a_copy_moves_the_data_and_nothing_else(case in cases(), shift in 0_usize..40) {
        let mut target = [&case.blank()[..], &vec![0x5A; shift]].concat();
        let mut wanted = target.clone();
        let (origin, to) = (case.origin, case.origin + shift);
        let result = case.committed.copy(Buffer::new(&case.memory).origin(origin as i64), BufferMut::new(&mut target).origin(to as i64), case.count);
        if case.overlaps() {
            prop_assert_eq!(result, Err(case.overlap()));
        } else {
            prop_assert_eq!(result, Ok(()));
            case.write(&case.packed(), 0..case.bytes.len(), &mut wanted[shift..]);
        }
        prop_assert_eq!(&target, &wanted);
    }

    #[test]
    fn a_copy_within_one_memory_goes_either_way(case in cases(), shift in 0_usize..40) {
        if case.overlaps() {
            return Ok(());
        }
        let mut memory = [&case.memory[..], &vec![0x11; shift]].concat();
        for (from, to) in [(0, shift), (shift, 0)] {
            let mut wanted = memory.clone();
            for &at in &case.bytes {
                wanted[case.at(at) + to] = memory[case.at(at) + from];
            }
            let (from, to) = (case.origin + from, case.origin + to);
            case.committed.copy_within(&mut memory, from as i64, to as i64, case.count).unwrap();
            prop_assert_eq!(&memory, &wanted);
        }
    }
}
