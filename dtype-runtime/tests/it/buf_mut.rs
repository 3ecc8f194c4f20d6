//! Unpackers as `bytes::BufMut`, which write memory without a copy, compared with the naive reference.

#![allow(clippy::cast_possible_truncation, reason = "everything here is small")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::fragments::{fragments, lengths, shuffled};
use bytes::{Buf, BufMut};
use dtype_runtime::{Basic, Buffer, BufferMut, Error, Packer, Type, Unpacker, pack};
use dtype_test_support::case::Case;
use dtype_test_support::model::{config, trees, trees_with_lists};
use proptest::prelude::*;

/// Writes as many of `bytes` as fit into the chunk at the position, and returns the chunk's length.
fn write_chunk(target: &mut impl BufMut, bytes: &[u8]) -> usize {
    let remaining = target.remaining_mut();
    let chunk = target.chunk_mut();
    let len = chunk.len();
    assert!(len <= remaining && (len == 0) == (remaining == 0));
    let bytes = &bytes[..len.min(bytes.len())];
    chunk[..bytes.len()].copy_from_slice(bytes);
    // SAFETY: these bytes were just written.
    unsafe { target.advance_mut(bytes.len()) };
    assert_eq!(target.remaining_mut(), remaining - bytes.len());
    len
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn chunks_are_the_memory_at_every_position(
        tree in trees_with_lists(4),
        count in 0_usize..5,
        part: usize,
        most in 1_usize..40,
    ) {
        let case = Case::new(&tree, count);
        let Case { committed, bytes, origin, .. } = &case;
        if case.overlaps() || bytes.len() > 3000 {
            return Ok(());
        }
        let packed = case.stream();
        let end = part % (bytes.len() + 1);
        // At each position, the chunk extends to the end of the adjacent bytes or of the part.
        let mut target = case.blank();
        let base = target.as_ptr().addr();
        let unpacker = committed.unpacker(BufferMut::new(&mut target).origin(*origin as i64), count).unwrap();
        let (mut front, back) = unpacker.split_at(end as u64).unwrap();
        let mut run = 0;
        for position in (0..end).rev() {
            let next = bytes.get(position + 1).copied().filter(|_| position + 1 < end);
            run = if next == Some(bytes[position] + 1) { run + 1 } else { 1 };
            front.set_position(position as u64).unwrap();
            let mut buffer = front.buf_mut().unwrap();
            let chunk = buffer.chunk_mut();
            prop_assert_eq!(chunk.as_mut_ptr().addr() - base, case.at(bytes[position]));
            prop_assert_eq!(chunk.len(), run);
        }
        drop((front, back));
        prop_assert!(target.iter().all(|byte| *byte == 0x5A), "lending a chunk writes nothing");

        // Only some bytes of each chunk are written. The gaps and the bytes after the part are unchanged.
        let unpacker = committed.unpacker(BufferMut::new(&mut target).origin(*origin as i64), count).unwrap();
        let (mut front, mut back) = unpacker.split_at(end as u64).unwrap();
        let mut buffer = front.buf_mut().unwrap();
        let mut at = 0;
        while buffer.has_remaining_mut() {
            let fragment = &packed[at..end.min(at + most)];
            at += write_chunk(&mut buffer, fragment).min(fragment.len());
        }
        prop_assert_eq!((at, write_chunk(&mut buffer, &[1])), (end, 0));
        prop_assert!(front.is_complete());
        prop_assert_eq!(back.position(), end as u64);
        let mut rest = back.buf_mut().unwrap();
        prop_assert_eq!(rest.remaining_mut(), packed.len() - end);
        // The other part is written to, too.
        rest.put_slice(&packed[end..][..usize::from(end < packed.len())]);
        drop((front, back));
        let mut wanted = case.blank();
        case.write(&packed, 0..packed.len().min(end + 1), &mut wanted);
        prop_assert_eq!(&target, &wanted);
    }

    #[test]
    fn fragments_are_put(
        tree in trees(),
        count in 0_usize..5,
        lengths in lengths(),
        seed: u64,
    ) {
        let case = Case::new(&tree, count);
        let Case { committed, origin, .. } = &case;
        if case.overlaps() {
            return Ok(());
        }
        let packed = case.stream();
        let wanted = case.unpacked(&packed);
        let mut target = case.blank();
        let mut unpacker = committed.unpacker(BufferMut::new(&mut target).origin(*origin as i64), count).unwrap();
        for (number, piece) in shuffled(fragments(packed.len(), &lengths), seed).into_iter().enumerate() {
            unpacker.set_position(piece.start as u64).unwrap();
            let mut buffer = unpacker.buf_mut().unwrap();
            prop_assert_eq!(buffer.remaining_mut(), packed.len() - piece.start);
            let source = &packed[piece.clone()];
            match number % 3 {
                0 => buffer.put_slice(source),
                1 => {
                    let (a, b) = source.split_at(source.len() / 2);
                    buffer.put(a.chain(b));
                }
                _ => {
                    // The same as the trait's provided method.
                    let mut rest = source;
                    while !rest.is_empty() {
                        let number = write_chunk(&mut buffer, rest).min(rest.len());
                        rest = &rest[number..];
                    }
                }
            }
            prop_assert_eq!(unpacker.position(), piece.end as u64);
        }
        drop(unpacker);
        prop_assert_eq!(&target, &wanted);

        // From one memory to another, without packing.
        let mut again = case.blank();
        let mut unpacker = committed.unpacker(BufferMut::new(&mut again).origin(*origin as i64), count).unwrap();
        let packer = committed.packer(Buffer::new(&target).origin(*origin as i64), count).unwrap();
        unpacker.buf_mut().unwrap().put(packer);
        prop_assert!(unpacker.is_complete());
        drop(unpacker);
        prop_assert_eq!(&again, &wanted);
    }
}

#[test]
fn slices_of_values() {
    let items: Vec<(u8, u64)> = (0..50_u8).map(|i| (i, u64::from(i) << 40)).collect();
    let mut target = vec![(0, 0); 50];
    let mut unpacker = Unpacker::new(&mut target);
    let mut source = Packer::new(&items);
    let mut buffer = unpacker.buf_mut().unwrap();
    buffer.put((&mut source).take(123));
    buffer.put_slice(&source.copy_to_bytes(100));
    buffer.put(source);
    assert!(unpacker.is_complete());
    assert_eq!(target, items);
    // The trait's provided methods.
    let mut numbers = [0_u16; 5];
    let mut unpacker = Unpacker::new(&mut numbers);
    unpacker.set_position(1).unwrap();
    let mut buffer = unpacker.buf_mut().unwrap();
    buffer.put_bytes(7, 3);
    buffer.put_u32_ne(0x0505_0505);
    assert_eq!(buffer.remaining_mut(), 2);
    assert_eq!(pack(&numbers), [0, 7, 7, 7, 5, 5, 5, 5, 0, 0]);
}

#[test]
fn bytes_without_room_are_refused_before_anything_is_written() {
    let mut memory = [9_u8; 6];
    let (mut front, _) = Unpacker::new(&mut memory).split_at(4).unwrap();
    front.set_position(1).unwrap();
    let mut buffer = front.buf_mut().unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| buffer.put_slice(&[1; 4]))).is_err());
    let two = (&[1; 2][..]).chain(&[1; 2][..]);
    assert!(catch_unwind(AssertUnwindSafe(|| buffer.put(two))).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| buffer.put_bytes(1, 4))).is_err());
    // SAFETY: all of these are bytes of an array and were initialised before.
    assert!(catch_unwind(AssertUnwindSafe(|| unsafe { buffer.advance_mut(4) })).is_err());
    assert_eq!((buffer.remaining_mut(), front.position()), (3, 1));
    assert_eq!(memory, [9; 6]);
}

#[test]
fn values_that_are_checked_are_not_lent() {
    let mut flags = [(false, 1_u16); 2];
    let mut unpacker = Unpacker::new(&mut flags);
    let error = unpacker.buf_mut().err().unwrap();
    assert_eq!(error, Error::Checked { record: 3 });
    assert_eq!(
        error.to_string(),
        "the memory cannot be lent: each record of 3 packed bytes is checked before it is written"
    );
    let (_, mut back) = unpacker.split_at(3).unwrap();
    assert!(back.buf_mut().is_err());
    assert!(Unpacker::new::<char>(&mut []).buf_mut().is_err());
    // A `bool` that is written as bytes may have any value.
    let flag = Type::basic(Basic::Bool).commit();
    let mut bytes = [0_u8];
    flag.unpacker(&mut bytes, 1).unwrap().buf_mut().unwrap().put_u8(2);
    assert_eq!(bytes, [2]);
}
