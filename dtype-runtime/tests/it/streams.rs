//! Streams of slices: values that are checked, parts, positions, checksums, threads, and the traits of other
//! crates.

#![allow(clippy::cast_possible_truncation, reason = "everything here is small")]

#[cfg(feature = "std")]
use std::io::{Seek, SeekFrom, Write};

use crate::polynomial::Polynomial;
use dtype_runtime::convertor::{Checksum, Segment};
use dtype_runtime::{Basic, Datatype, Error, Packer, Type, Unpacker, pack};

/// A record with padding, a skipped field, and values for which some bits are invalid.
#[derive(Datatype, Clone, Debug, PartialEq)]
struct Checked {
    letter: char,
    #[dtype(skip)]
    skipped: u16,
    flag: bool,
    numbers: [u16; 2],
}

fn checked(n: u32) -> Checked {
    let letter = char::from_u32(97 + n % 26).unwrap();
    Checked { letter, skipped: 7, flag: n % 2 == 1, numbers: [n as u16, (n >> 8) as u16] }
}

#[test]
fn values_are_checked_as_a_whole_and_written_as_a_whole() {
    let items: Vec<Checked> = (0..20).map(checked).collect();
    let bytes = pack(&items);
    assert_eq!(bytes.len(), 20 * 9);
    for length in [1, 2, 4, 8, 9, 10, 31, 200] {
        let mut target =
            vec![Checked { letter: 'x', skipped: 9, flag: false, numbers: [0; 2] }; 20];
        let mut unpacker = Unpacker::new(&mut target);
        for piece in bytes.chunks(length) {
            assert_eq!(unpacker.unpack(piece), Ok(piece.len()));
        }
        assert!(unpacker.is_complete());
        let wanted: Vec<Checked> =
            items.iter().map(|item| Checked { skipped: 9, ..item.clone() }).collect();
        assert_eq!(target, wanted);
    }
}

#[test]
fn a_wrong_value_changes_nothing_and_can_be_sent_again() {
    let items: Vec<Checked> = (0..5).map(checked).collect();
    let bytes = pack(&items);
    let mut wrong = bytes.clone();
    wrong[3 * 9 + 4] = 2;
    for length in [3, 9, 14, 45] {
        let mut target = vec![checked(99); 5];
        let mut unpacker = Unpacker::new(&mut target);
        let mut at = 0;
        let refused = loop {
            let piece = &wrong[at..wrong.len().min(at + length)];
            match unpacker.unpack(piece) {
                Ok(number) => at += number,
                Err(error) => break error,
            }
        };
        assert_eq!(refused.to_string(), "record 3, field flag: 0x2 is not a valid bool");
        assert_eq!(unpacker.position(), at as u64);
        let start = at - at % 9;
        unpacker.set_position(start as u64).unwrap();
        assert_eq!(unpacker.unpack(&bytes[start..]), Ok(bytes.len() - start));
        drop(unpacker);
        assert!(target.iter().zip(&items).all(|(a, b)| (a.letter, a.flag) == (b.letter, b.flag)));
    }
    // No byte before the wrong value in the same piece is written.
    let mut target = vec![checked(99); 5];
    assert!(Unpacker::new(&mut target).unpack(&wrong).is_err());
    assert_eq!(target, vec![checked(99); 5]);
    #[cfg(feature = "std")]
    {
        let error = Unpacker::new(&mut target).write(&wrong).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
    }
}

#[test]
fn positions_inside_values_that_are_checked() {
    let mut target = vec![checked(0); 4];
    let mut unpacker = Unpacker::new(&mut target);
    let inside = |position| Err(Error::InsideRecord { position, record: 9 });
    assert_eq!(unpacker.set_position(10), inside(10));
    assert_eq!(unpacker.set_position(27), Ok(()));
    let last = pack(&[checked(1)]);
    assert_eq!(unpacker.unpack(&last[..5]), Ok(5));
    assert_eq!(unpacker.set_position(28), inside(28));
    assert_eq!(unpacker.unpack(&last[5..]), Ok(4));
    // Setting a position before a value is complete discards the value.
    assert_eq!(unpacker.set_position(9), Ok(()));
    assert_eq!(unpacker.unpack(&last[..5]), Ok(5));
    assert_eq!(unpacker.set_position(9), Ok(()));
    let (front, back) = unpacker.split_at(18).unwrap();
    assert_eq!((front.remaining(), back.remaining()), (9, 18));
    assert_eq!(front.split_at(17).err(), inside(17).err());
    assert_eq!(back.split_at(17).err(), Some(Error::Position { position: 17, end: 36 }));
    assert_eq!(target[3].letter, 'b');
}

#[test]
fn the_parts_of_a_stream_stay_apart() {
    let mut numbers = [0_u16; 8];
    let (mut front, mut back) = Unpacker::new(&mut numbers).split_at(5).unwrap();
    let refused = Error::OutsidePart { position: 4, start: 5, end: 16 };
    assert_eq!(back.set_position(4), Err(refused.clone()));
    assert_eq!(
        refused.to_string(),
        "position 4 is outside this part of the packed stream, 5 to 16"
    );
    assert_eq!(front.set_position(6), Err(Error::Position { position: 6, end: 5 }));
    assert_eq!(back.unpack(&[2; 12]), Ok(11));
    assert_eq!(front.unpack(&[1; 12]), Ok(5));
    assert_eq!((front.set_position(0), back.set_position(5)), (Ok(()), Ok(())));
    // A part of a part can be split, too.
    back.set_position(9).unwrap();
    let (mut middle, mut last) = back.split_at(12).unwrap();
    assert_eq!(middle.set_position(5), Ok(()));
    assert!(middle.set_position(13).is_err() && middle.set_position(4).is_err());
    assert!(last.set_position(11).is_err() && last.set_position(16).is_ok());
    assert_eq!(pack(&numbers), [&[1; 5][..], &[2; 11]].concat());
}

#[test]
fn slices_without_data() {
    assert_eq!(Unpacker::new::<bool>(&mut []).unpack(&[1]), Ok(0));
    #[cfg(feature = "rayon")]
    assert_eq!(Unpacker::new::<bool>(&mut []).par_unpack(&[1]), Ok(0));
    let (mut front, back) = Unpacker::new::<char>(&mut []).split_at(0).unwrap();
    assert_eq!((front.unpack(&[]), front.set_position(0)), (Ok(0), Ok(())));
    assert!(back.is_complete() && back.split_at(1).is_err());
    let mut nothing = [[true; 0]; 3];
    assert_eq!(Unpacker::new(&mut nothing).unpack(&[1]), Ok(0));
}

/// The single piece is found without a walk of all instances.
#[test]
fn instances_that_touch_are_one_piece() {
    let number = Type::basic(Basic::U32).commit();
    let (count, end) = (usize::MAX >> 3, (usize::MAX >> 3) as u64 * 4);
    let pieces: Vec<Segment> = number.iov(count, 3..end - 1).unwrap().collect();
    assert_eq!(pieces, [Segment { disp: 3, len: end - 4 }]);
    let items = vec![0_u16; if cfg!(miri) { 1 << 10 } else { 1 << 20 }];
    assert_eq!(Packer::new(&items).chunk().len(), 2 * items.len());
}

type Odd = ((u8, u16), (u16, u8, u32), (u8, u64));
type Wide = (Odd, (u8, Odd), (Odd, u8), (u16, Odd), (Odd, u32), (u8, u8, Odd), (Odd, Odd, u8));
/// More runs than a constant has room for, without a repetition.
type Wider = (Wide, u8, Wide, u16, Wide);

/// Types whose operations are constants, and one type with too many operations.
#[test]
fn slices_in_fragments() {
    fn same<T: Datatype + Clone>(items: &[T], mut target: Vec<T>) {
        let whole = pack(items);
        // Miri initialises a buffer byte by byte, so one that is a little longer than all bytes is enough.
        for length in if cfg!(miri) { [1, 7, 64, 100, 1000] } else { [1, 7, 64, 1000, 100_000] } {
            let mut packer = Packer::new(items);
            let mut unpacker = Unpacker::new(&mut target);
            let mut buffer = vec![0; length];
            let mut all = Vec::new();
            while !packer.is_complete() {
                let number = packer.pack(&mut buffer);
                all.extend_from_slice(&buffer[..number]);
                assert_eq!(unpacker.unpack(&buffer[..number]), Ok(number));
            }
            assert_eq!(all, whole);
            assert_eq!(pack(&target), whole);
        }
        assert_eq!(Packer::new(items).chunks().collect::<Vec<_>>().concat(), whole);
        let count = items.len() as u64;
        let ty = Type::contiguous(count, &Type::of::<T>()).unwrap();
        assert_eq!(Packer::new(items).signature_hash(), ty.signature_hash());
    }
    #[derive(Datatype, Clone)]
    #[dtype(resize(lb = -8, extent = 100))]
    struct Resized(u8, u32, u8);
    let less = if cfg!(miri) { 10 } else { 1 };
    let items: Vec<(u8, u64)> =
        (0..300 / less).map(|i: u32| (i as u8, u64::from(i) << 20)).collect();
    same(&items, vec![(0, 0); items.len()]);
    let items: Vec<Resized> = (0..100 / less as u8).map(|i| Resized(i, i.into(), !i)).collect();
    same(&items, vec![Resized(0, 0, 0); items.len()]);
    same(&[(), ()], vec![(); 2]);
    same::<u32>(&[], vec![]);
    let rows = 30 / less as usize;
    same(&vec![[1_u32; 40]; rows], vec![[0; 40]; rows]);
    let many: Vec<[(u8, u16); 100]> =
        (0..if cfg!(miri) { 2 } else { 9 }).map(|i| [(i, u16::from(i) << 8); 100]).collect();
    same(&many, vec![[(0, 0); 100]; many.len()]);
    let wide = |i: u8| {
        let j = u16::from(i);
        let odd: Odd = ((i, j), (j, i, 5), (i, 9));
        let wide: Wide =
            (odd, (i, odd), (odd, i), (j, odd), (odd, 77), (i, !i, odd), (odd, odd, i));
        (wide, i, wide, j, wide)
    };
    let items: Vec<Wider> = (0..20 / less as u8).map(wide).collect();
    same(&items, vec![wide(0); items.len()]);
}

/// A position in a list of many blocks, and one in loops around such lists.
#[test]
fn positions_in_long_lists() {
    let (blocks, apart) = if cfg!(miri) { (150_u16, 167) } else { (u16::MAX, 9973) };
    let places: Vec<i64> = (0..blocks.into()).map(|i| 3 * i + i % 7 * (i % 3)).collect();
    let lengths: Vec<u64> = (0..blocks.into()).map(|i| 1 + i % 2).collect();
    let list = Type::indexed(&lengths, &places, &Type::of::<u16>()).unwrap();
    let stride = 16 * i64::from(blocks);
    let looped = Type::hvector(3, 1, stride, &list).unwrap().commit();
    let memory: Vec<u8> = (0..3 * stride).map(|i| (i >> 3 ^ i).to_le_bytes()[0]).collect();
    let mut whole = vec![0; looped.packed_size(1).unwrap()];
    looped.pack(&memory, 1, &mut whole).unwrap();
    let mut packer = looped.packer(&memory, 1).unwrap();
    for position in (0..whole.len()).step_by(apart) {
        packer.set_position(position as u64).unwrap();
        let mut out = vec![0; apart / 30];
        let number = packer.pack(&mut out);
        assert_eq!(&out[..number], &whole[position..position + number]);
    }
}

#[test]
fn a_checksum_runs_across_fragments() {
    let count = if cfg!(miri) { 30 } else { 10_000_u32 };
    let items: Vec<(u8, u64)> = (0..count).map(|i| (i as u8, i.into())).collect();
    let whole = pack(&items);
    let mut expected = Polynomial(0);
    expected.update(&whole);
    for length in [1, 1000, 20_000, 200_000] {
        let mut packer = Packer::new(&items).with_checksum(Polynomial(0));
        let mut target = vec![(0, 0); items.len()];
        let mut unpacker = Unpacker::new(&mut target).with_checksum(Polynomial(0));
        let mut buffer = vec![0; length];
        loop {
            let Ok(bytes) = packer.pack(&mut buffer);
            if bytes == 0 {
                break;
            }
            assert_eq!(unpacker.unpack(&buffer[..bytes]), Ok(bytes));
        }
        assert_eq!((packer.checksum(), unpacker.checksum()), (&expected, &expected));
        assert!(unpacker.stream().is_complete() && packer.into_parts().0.is_complete());
        assert_eq!(target, items);
    }
    // A refused call does not change the sum.
    let mut flags = [false; 2];
    let mut unpacker = Unpacker::new(&mut flags).with_checksum(Polynomial(0));
    assert!(unpacker.unpack(&[1, 2]).is_err());
    assert_eq!(unpacker.unpack(&[1, 1]), Ok(2));
    assert_eq!(unpacker.checksum(), &Polynomial(258));
}

/// A list of buffers has the sum of one buffer with the same bytes.
#[cfg(feature = "std")]
#[test]
fn lists_of_buffers_are_summed() {
    use std::io::{IoSlice, IoSliceMut, Read};
    let items: Vec<(u8, u64)> = (0..20).map(|i| (i, u64::from(i) << 9)).collect();
    let bytes = pack(&items);
    let mut expected = Polynomial(0);
    expected.update(&bytes[..70]);
    let (mut first, mut second) = ([0; 7], [0; 63]);
    let mut packer = Packer::new(&items).with_checksum(Polynomial(0));
    let mut buffers = [IoSliceMut::new(&mut first), IoSliceMut::new(&mut second)];
    assert_eq!(packer.read_vectored(&mut buffers).unwrap(), 70);
    assert_eq!([&first[..], &second].concat(), bytes[..70]);
    let mut target = vec![(0, 0); 20];
    let mut unpacker = Unpacker::new(&mut target).with_checksum(Polynomial(0));
    let buffers = [&bytes[..40], &[], &bytes[40..70]].map(IoSlice::new);
    assert_eq!(unpacker.write_vectored(&buffers).unwrap(), 70);
    assert_eq!((packer.checksum(), unpacker.checksum()), (&expected, &expected));
    assert_eq!(unpacker.stream().position(), 70);
}

/// The buffers before a refused one are accepted. The next call begins with the refused buffer, and returns the error.
#[cfg(feature = "std")]
#[test]
fn lists_of_buffers_end_before_the_first_that_is_refused() {
    use std::io::{ErrorKind, IoSlice};
    let mut flags = [false; 6];
    let mut unpacker = Unpacker::new(&mut flags).with_checksum(Polynomial(0));
    let buffers = [&[1, 0][..], &[1], &[1, 2], &[1]].map(IoSlice::new);
    assert_eq!(unpacker.write_vectored(&buffers).unwrap(), 3);
    let error = unpacker.write_vectored(&buffers[2..]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidData);
    assert_eq!(unpacker.stream().position(), 3);
    assert_eq!(*unpacker.checksum(), Polynomial(257 * 257 + 1));
    drop(unpacker);
    assert_eq!(flags, [true, false, true, false, false, false]);
}

#[cfg(feature = "crc32c")]
#[test]
fn crc_32c_of_the_check_string() {
    let mut packer =
        Packer::new(b"123456789").with_checksum(dtype_runtime::convertor::Crc32c::new());
    let (Ok(_), Ok(_)) = (packer.pack(&mut [0; 4]), packer.pack(&mut [0; 5]));
    assert_eq!(packer.checksum().value(), 0xE306_9283);
}

#[cfg(feature = "rayon")]
#[test]
fn all_cores_do_the_same() {
    let items: Vec<Checked> = (0..400_000).map(checked).collect();
    let bytes = pack(&items);
    let mut packer = Packer::new(&items);
    let mut out = vec![0; bytes.len()];
    packer.set_position(12_345).unwrap();
    let middle = 1_700_001;
    assert_eq!(packer.par_pack(&mut out[12_345..middle]), middle - 12_345);
    assert_eq!(packer.par_pack(&mut out[middle..]), bytes.len() - middle);
    assert!(packer.is_complete() && out[12_345..] == bytes[12_345..]);

    let mut target = vec![checked(0); items.len()];
    let mut unpacker = Unpacker::new(&mut target);
    // The second part ends inside a record, and the third one begins there.
    for part in [&bytes[..1_350_000], &bytes[1_350_000..2_500_005], &bytes[2_500_005..]] {
        assert_eq!(unpacker.par_unpack(part), Ok(part.len()));
    }
    assert!(unpacker.is_complete());
    assert_eq!(pack(&target), bytes);

    // The error names the first wrong record, and nothing is written.
    let mut wrong = bytes.clone();
    for record in [99_000, 40_000, 70_000] {
        wrong[9 * record + 4] = 9;
    }
    let mut target = vec![checked(0); items.len()];
    let error = Unpacker::new(&mut target).par_unpack(&wrong).unwrap_err();
    assert!(matches!(error, Error::InvalidValue { record: 40_000, value: 9, .. }), "{error}");
    assert!(target.iter().all(|item| *item == checked(0)));

    // Columns that interleave, so threads write neighbouring bytes.
    let column = Type::vector(500_000, 1, 3, &Type::of::<u8>()).unwrap();
    let columns = Type::resized(&column, 0, 1).unwrap().commit();
    let packed: Vec<u8> = (0..1_500_000_u32).map(|i| (i % 251) as u8).collect();
    let (mut one, mut many) = (vec![0; 1_500_000], vec![0; 1_500_000]);
    columns.unpack(&packed, &mut one, 3).unwrap();
    columns.unpacker(&mut many, 3).unwrap().par_unpack(&packed).unwrap();
    assert_eq!(one, many);
}

#[cfg(feature = "bytes")]
#[test]
fn a_packer_is_a_buf() {
    use bytes::Buf;
    use std::io::IoSlice;
    let items: Vec<(u8, u64)> = (0..50_u32).map(|i| (i as u8, i.into())).collect();
    let whole = pack(&items);
    assert_eq!(Packer::new(&items).copy_to_bytes(whole.len()), whole);
    let mut packer = Packer::new(&items);
    let mut collected = Vec::new();
    while packer.has_remaining() {
        let piece = Buf::chunk(&packer).to_vec();
        // A part of each piece is taken, and then the rest of it.
        let half = piece.len().div_ceil(2);
        collected.extend_from_slice(&piece[..half]);
        packer.advance(half);
    }
    assert_eq!(collected, whole);
    let packer = Packer::new(&items);
    let mut slices = [IoSlice::new(&[]); 7];
    assert_eq!(packer.chunks_vectored(&mut slices), 7);
    let first = slices.iter().flat_map(|slice| slice.iter().copied()).collect::<Vec<u8>>();
    assert_eq!(first, whole[..first.len()]);
    let mut packer = Packer::new(&items);
    assert_eq!((packer.get_u8(), packer.get_u64_ne(), Buf::remaining(&packer)), (0, 0, 441));
    let mut out = [0xA5; 100];
    packer.copy_to_slice(&mut out);
    assert_eq!((&out[..], Buf::remaining(&packer)), (&whole[9..109], 341));
}

#[cfg(feature = "std")]
#[test]
fn seeking_goes_to_any_position_where_a_value_starts() {
    let items = [(1_u8, true), (2, false), (3, true)];
    let mut packer = Packer::new(&items);
    assert_eq!(packer.seek(SeekFrom::Start(2)).unwrap(), 2);
    assert_eq!(packer.seek(SeekFrom::Current(3)).unwrap(), 5);
    assert_eq!(packer.seek(SeekFrom::End(-4)).unwrap(), 2);
    assert_eq!(packer.stream_position().unwrap(), 2);
    for refused in [SeekFrom::Start(7), SeekFrom::Current(-3), SeekFrom::End(1)] {
        let error = packer.seek(refused).unwrap_err();
        assert_eq!((error.kind(), packer.position()), (std::io::ErrorKind::InvalidInput, 2));
    }
    let mut target = [(0_u8, false); 3];
    let mut unpacker = Unpacker::new(&mut target);
    assert_eq!(unpacker.seek(SeekFrom::End(-2)).unwrap(), 4);
    unpacker.write_all(&[9, 1]).unwrap();
    assert!(unpacker.seek(SeekFrom::Start(3)).is_err(), "inside a value that is checked");
    unpacker.rewind().unwrap();
    unpacker.write_all(&[7, 1]).unwrap();
    assert_eq!(target, [(7, true), (0, false), (9, true)]);
}

#[test]
fn a_stream_is_complete_after_its_last_byte() {
    let items = [1_u32, 2];
    let bytes = pack(&items);
    let (mut packer, mut target) = (Packer::new(&items), [0_u32; 2]);
    let mut unpacker = Unpacker::new(&mut target);
    for (at, byte) in bytes.iter().enumerate() {
        assert!(!packer.is_complete() && !unpacker.is_complete(), "{at}");
        assert_eq!((packer.remaining(), unpacker.remaining()), (8 - at as u64, 8 - at as u64));
        let mut out = [0];
        assert_eq!((packer.pack(&mut out), &out), (1, &[*byte]));
        assert_eq!(unpacker.unpack(&[*byte]), Ok(1));
    }
    assert!(packer.is_complete() && unpacker.is_complete());
    packer.set_position(7).unwrap();
    assert!(!packer.is_complete());
    assert!(unpacker.is_complete() && !packer.is_complete());
}
