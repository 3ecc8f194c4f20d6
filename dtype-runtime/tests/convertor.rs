//! The convertor: any fragments, in any order, compared with the naive reference.

#![allow(clippy::cast_possible_truncation, reason = "everything here is small")]

mod fragments;
mod memory;
mod model;

use std::io::{IoSlice, IoSliceMut, Read, Write};

use dtype_runtime::{Error, Type};
use fragments::{fragments, lengths, shuffled};
use memory::Memory;
use model::{config, has_duplicates, trees, trees_with_lists};
use proptest::prelude::*;

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn packing_in_fragments(
        tree in trees_with_lists(4),
        count in 0_usize..6,
        lengths in lengths(),
        seed: u64,
    ) {
        let (committed, map) = (tree.build().unwrap().commit(), tree.map());
        let Some(memory) = Memory::new(&map, count) else { return Ok(()) };
        let bytes = map.bytes(count);
        let expected: Vec<u8> = bytes.iter().map(|&at| memory.bytes[memory.at(at)]).collect();
        let packer = committed.packer(&memory.bytes, memory.origin, count).unwrap();

        let mut inorder = packer.clone();
        for piece in fragments(expected.len(), &lengths) {
            prop_assert_eq!(inorder.position(), piece.start as u64);
            prop_assert!(!inorder.is_complete());
            let mut out = vec![0xA5; piece.len() + 2];
            let room = piece.len();
            prop_assert_eq!(inorder.pack(&mut out[1..=room]), room);
            prop_assert_eq!(&out[1..=room], &expected[piece]);
            prop_assert_eq!((out[0], out[room + 1]), (0xA5, 0xA5));
        }
        prop_assert!(inorder.is_complete() && inorder.pack(&mut [0; 3]) == 0);

        let mut anywhere = packer.clone();
        for piece in shuffled(fragments(expected.len(), &lengths), seed) {
            anywhere.set_position(piece.start as u64).unwrap();
            prop_assert_eq!(anywhere.remaining(), (expected.len() - piece.start) as u64);
            let mut out = vec![0; piece.len()];
            anywhere.pack(&mut out);
            prop_assert_eq!(&out, &expected[piece.clone()]);
            // Seeking is the same as streaming, and the stack is that of the position.
            let stack = committed.description().stack(count as u64, piece.end as u64).unwrap();
            prop_assert_eq!(anywhere.stack(), stack);
        }
        let end = expected.len() as u64;
        let refused = Error::Position { position: end + 1, end };
        prop_assert_eq!(anywhere.set_position(end + 1), Err(refused));

        let mut read = Vec::new();
        packer.clone().read_to_end(&mut read).unwrap();
        prop_assert_eq!(&read, &expected);
        let (mut a, mut b, mut c) = ([0; 5], [0; 0], [0; 70]);
        let mut buffers = [&mut a[..], &mut b, &mut c].map(IoSliceMut::new);
        let number = packer.clone().read_vectored(&mut buffers).unwrap();
        prop_assert_eq!(number, expected.len().min(75));
        let read: Vec<u8> = a.iter().chain(&c).copied().take(number).collect();
        prop_assert_eq!(&read, &expected[..number]);
    }

    #[test]
    fn unpacking_in_fragments(
        tree in trees_with_lists(4),
        count in 0_usize..6,
        lengths in lengths(),
        seed: u64,
    ) {
        let (committed, map) = (tree.build().unwrap().commit(), tree.map());
        let Some(memory) = Memory::new(&map, count) else { return Ok(()) };
        let bytes = map.bytes(count);
        let packed: Vec<u8> = (0..bytes.len()).map(|i| (i * 7 + 1) as u8).collect();
        let mut target = vec![0x5A; memory.bytes.len()];
        let unpacker = committed.unpacker(&mut target, memory.origin, count);
        if has_duplicates(&bytes) {
            prop_assert_eq!(unpacker.err(), Some(Error::Overlap { count: count as u64 }));
            return Ok(());
        }
        let mut unpacker = unpacker.unwrap();
        let mut wanted = vec![0x5A; memory.bytes.len()];
        for piece in shuffled(fragments(packed.len(), &lengths), seed) {
            unpacker.set_position(piece.start as u64).unwrap();
            prop_assert_eq!(unpacker.unpack(&packed[piece.clone()]), Ok(piece.len()));
            for i in piece {
                wanted[memory.at(bytes[i])] = packed[i];
            }
        }
        prop_assert!(unpacker.set_position(packed.len() as u64 + 1).is_err());
        drop(unpacker);
        prop_assert_eq!(&target, &wanted);

        // In two parts, on two threads, by way of `Write`.
        let middle = seed as usize % (packed.len() + 1);
        let mut again = vec![0x5A; memory.bytes.len()];
        let unpacker = committed.unpacker(&mut again, memory.origin, count).unwrap();
        let (mut front, mut back) = unpacker.split_at(middle as u64).unwrap();
        std::thread::scope(|scope| {
            let (first, second) = packed.split_at(middle);
            scope.spawn(move || {
                let halves = [&first[..middle / 2], &first[middle / 2..]].map(IoSlice::new);
                let written = front.write_vectored(&halves).unwrap();
                assert_eq!((written, front.is_complete()), (middle, true));
                assert!(middle == 0 || front.set_position(middle as u64 + 1).is_err());
            });
            scope.spawn(move || back.write_all(second).unwrap());
        });
        prop_assert_eq!(&again, &wanted);
    }

    #[test]
    fn copies(tree in trees_with_lists(4), count in 0_usize..6, shift in 0_usize..40) {
        let (committed, map) = (tree.build().unwrap().commit(), tree.map());
        let Some(memory) = Memory::new(&map, count) else { return Ok(()) };
        let bytes = map.bytes(count);
        let mut target = vec![0x5A; memory.bytes.len() + shift];
        let (origin, to) = (memory.origin, memory.origin + shift);
        let result = committed.copy(&memory.bytes, origin, &mut target, to, count);
        if has_duplicates(&bytes) {
            prop_assert_eq!(result, Err(Error::Overlap { count: count as u64 }));
            return Ok(());
        }
        prop_assert_eq!(result, Ok(()));
        let mut wanted = vec![0x5A; target.len()];
        for &at in &bytes {
            wanted[memory.at(at) + shift] = memory.bytes[memory.at(at)];
        }
        prop_assert_eq!(&target, &wanted);

        // In one memory, both ways.
        let mut one = [&memory.bytes[..], &vec![0x11; shift]].concat();
        for (from, to) in [(0, shift), (shift, 0)] {
            let mut wanted = one.clone();
            for &at in &bytes {
                wanted[memory.at(at) + to] = one[memory.at(at) + from];
            }
            committed.copy_within(&mut one, origin + from, origin + to, count).unwrap();
            prop_assert_eq!(&one, &wanted);
        }
    }

    #[test]
    fn transfers(tree in trees(), count in 0_usize..4) {
        let (ty, map) = (tree.build().unwrap(), tree.map());
        let Some(memory) = Memory::new(&map, count) else { return Ok(()) };
        let bytes = map.bytes(count);
        let expected: Vec<u8> = bytes.iter().map(|&at| memory.bytes[memory.at(at)]).collect();
        // To the same basic datatypes one after another, and from there back.
        let types: Vec<Type> = map.data.iter().map(|&(basic, _)| Type::basic(basic)).collect();
        let places: Vec<i64> = map
            .data
            .iter()
            .scan(0, |at, (basic, _)| Some(std::mem::replace(at, *at + basic.size() as i64)))
            .collect();
        let flat = Type::structure(&vec![1; types.len()], &places, &types).unwrap();
        let flat = Type::resized(&flat, 0, map.size() as i64).unwrap().commit();
        let committed = ty.commit();
        let mut dense = vec![0; expected.len()];
        let mut packer = committed.packer(&memory.bytes, memory.origin, count).unwrap();
        let mut unpacker = flat.unpacker(&mut dense, 0, count).unwrap();
        prop_assert_eq!(packer.transfer_to(&mut unpacker), Ok(expected.len() as u64));
        prop_assert!(packer.is_complete() && unpacker.is_complete());
        prop_assert_eq!(&dense, &expected);
        if count > 0 && !map.data.is_empty() {
            // One instance more is another signature.
            let mut packer = committed.packer(&memory.bytes, memory.origin, count - 1).unwrap();
            let mut unpacker = flat.unpacker(&mut dense, 0, count).unwrap();
            let refused = packer.transfer_to(&mut unpacker);
            prop_assert!(matches!(refused, Err(Error::SignatureMismatch { .. })), "{refused:?}");
        }
    }
}
