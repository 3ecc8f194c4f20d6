//! Layouts that have kernels of their own, in sizes that fill several groups of threads.

use std::ops::Range;

use dtype_gpu::PrepareOn;
use dtype_runtime::{Basic, Buffer, BufferMut, Committed, Error, Type};

use super::devices::{Guarded, queue};

/// Bytes without a pattern that a wrong distance would hide.
pub(crate) fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_u32;
    let step = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_le_bytes()[1]
    };
    std::iter::repeat_with(step).take(len).collect()
}

/// Packs and unpacks ranges of the packed bytes of `count` instances as the host does. The memory starts `past.0` bytes past
/// an address that 16 divides, and the packed bytes of a range start `past.1` bytes past one.
pub(crate) fn compare(
    name: &str,
    ty: &Type,
    count: usize,
    past: (usize, usize),
    ranges: &[Range<usize>],
) {
    let Some(queue) = queue(name) else { return };
    let committed = ty.commit();
    let packing = committed.prepare_on(queue.device()).unwrap();
    let span = committed.span(count).unwrap();
    let (first, memory) = (span.start as i64, noise((span.end - span.start) as usize));
    let size = committed.packed_size(count).unwrap();
    let mut expected = vec![0; size];
    committed.pack(Buffer::new(&memory).origin(-first), count, &mut expected).unwrap();
    let mut stream = noise(size + 1);
    stream.remove(0);
    for range in ranges.iter().cloned().chain([0..size]) {
        let name = format!("{name}: {range:?} of {size}, {past:?}");
        let wide = range.start as u64..range.end as u64;
        let device_memory = Guarded::new(&queue, &memory, past.0);
        let packed = Guarded::new(&queue, &vec![0; range.len()], past.1);
        let origin = device_memory.at(0) as i64 - first;
        let to = (&packed.buffer, packed.at(0) as u64);
        packing
            .pack_range(&queue, (&device_memory.buffer, origin), count, wide.clone(), to)
            .unwrap();
        assert!(packed.bytes(&queue) == expected[range.clone()], "pack {name}");

        let packed = Guarded::new(&queue, &stream[range.clone()], past.1);
        let from = (&packed.buffer, packed.at(0) as u64);
        let to = (&device_memory.buffer, origin);
        packing.unpack_range(&queue, from, count, wide, to).unwrap();
        let unpacked = unpacked_on_host(&committed, &memory, first, count, &stream, range);
        assert!(device_memory.bytes(&queue) == unpacked, "unpack {name}");
    }
}

fn unpacked_on_host(
    committed: &Committed,
    memory: &[u8],
    first: i64,
    count: usize,
    stream: &[u8],
    range: Range<usize>,
) -> Vec<u8> {
    let mut unpacked = memory.to_vec();
    let to = BufferMut::new(&mut unpacked).origin(-first);
    let mut unpacker = committed.unpacker(to, count).unwrap();
    unpacker.set_position(range.start as u64).unwrap();
    unpacker.unpack(&stream[range]).unwrap();
    unpacked
}

/// A name, the displacement and the length of each block of a record, the distance between records, and their number.
type Records<'a> = (&'a str, &'a [(i64, u64)], i64, usize);

/// Records of blocks, displacement and length, at a distance.
fn record(blocks: &[(i64, u64)], extent: i64) -> Result<Type, Error> {
    let (displacements, lengths): (Vec<_>, Vec<_>) = blocks.iter().copied().unzip();
    let fields = Type::hindexed(&lengths, &displacements, &Type::basic(Basic::U8))?;
    Type::resized(&fields, 0, extent)
}

#[test]
fn records() -> Result<(), Error> {
    let layouts: [Records<'_>; 12] = [
        ("1 + 8 of 16", &[(0, 1), (8, 8)], 16, 2000),
        ("13 of 16", &[(0, 13)], 16, 2000),
        ("6 of 8", &[(0, 6)], 8, 3000),
        ("53 of 56", &[(3, 53)], 56, 500),
        ("5 + 3 of 11, the last ones first", &[(8, 3), (0, 5)], 11, 1501),
        ("199 + 7 of 240", &[(0, 199), (200, 7)], 240, 170),
        ("24 + 8 of 256", &[(0, 24), (248, 8)], 256, 100),
        ("1 of 3", &[(1, 1)], 3, 5000),
        ("4 + 2 of 8, in front of the origin", &[(-8, 4), (-3, 2)], 8, 1100),
        ("12 of 16", &[(0, 12)], 16, 1500),
        ("12 + 8 + 4 of 32", &[(0, 12), (16, 8), (24, 4)], 32, 800),
        ("16 + 16 of 48, the last ones first", &[(32, 16), (0, 16)], 48, 400),
    ];
    for (name, blocks, extent, count) in layouts {
        let ty = record(blocks, extent)?;
        let size = ty.size() as usize;
        let ranges = [1..size * count - 1, size..size * (count - 1), 2 * size - 1..2 * size + 1];
        compare(name, &ty, count, (0, 0), &ranges);
        compare(name, &ty, count, (5, 3), &ranges);
    }
    Ok(())
}

#[test]
fn strided_blocks() -> Result<(), Error> {
    let double = Type::basic(Basic::F64);
    let column = Type::vector(100, 1, 33, &double)?;
    compare("a column", &column, 1, (0, 0), &[8..792, 3..795]);
    let columns = Type::resized(&column, 0, 8)?;
    compare("columns", &columns, 33, (0, 0), &[1000..20_000]);
    let face =
        Type::subarray(&[20, 30, 40], &[18, 28, 2], &[1, 1, 37], dtype_runtime::Order::C, &double)?;
    compare("a face", &face, 2, (0, 8), &[77..6005]);
    compare("a face of odd addresses", &face, 2, (1, 2), &[77..6005]);
    let back = Type::hvector(50, 3, -100, &Type::basic(Basic::F32))?;
    compare("blocks backwards", &back, 3, (0, 0), &[13..1700]);
    compare("bytes without a gap", &Type::contiguous(100, &double)?, 7, (1, 2), &[3..5000]);
    Ok(())
}

#[test]
fn transposes() -> Result<(), Error> {
    for (name, basic) in
        [("u16", Basic::U16), ("f32", Basic::F32), ("f64", Basic::F64), ("c64", Basic::C64)]
    {
        let element = Type::basic(basic);
        let size = element.extent();
        let column = Type::vector(77, 1, 70, &element)?;
        let columns = Type::resized(&column, 0, size)?;
        let bytes = size as usize;
        compare(name, &columns, 67, (0, 0), &[bytes..77 * 60 * bytes - 3]);
        let matrix = Type::hvector(67, 1, size, &column)?;
        let matrices = Type::resized(&matrix, 0, 78 * 70 * size)?;
        let one = 77 * 67 * bytes;
        compare(name, &matrices, 3, (16, 16), &[one..3 * one, one - 1..2 * one + 1]);
        compare(name, &matrices, 2, (1, 0), &[]);
    }
    Ok(())
}

/// Blocks of these lengths, in a shuffled order.
fn uneven(lengths: impl Iterator<Item = u64>, basic: Basic) -> Result<Type, Error> {
    let mut next = 0;
    let mut blocks: Vec<_> = lengths
        .map(|len| {
            next += len as i64 + 1;
            (next - len as i64, len)
        })
        .collect();
    let all = blocks.len();
    for i in 0..all {
        blocks.swap(i, i * 37 % all);
    }
    let (displacements, lengths): (Vec<_>, Vec<_>) = blocks.into_iter().unzip();
    Type::indexed(&lengths, &displacements, &Type::basic(basic))
}

#[test]
fn lists() -> Result<(), Error> {
    let short = uneven((0..800).map(|i| i * i % 9), Basic::F64)?;
    let size = short.size() as usize;
    compare(
        "short blocks",
        &short,
        3,
        (0, 8),
        &[8..size, size - 8..size + 8, 4096..8192, 7..size + 99],
    );
    compare("short blocks of odd addresses", &short, 2, (4, 0), &[4096..8192]);
    let long = uneven((0..40).map(|i| 1 + i * 131 % 1500), Basic::U16)?;
    compare("long blocks", &long, 2, (0, 0), &[2..30_000, 3..30_001]);
    let displacements: Vec<i64> = (0..300).map(|i| i * (i + 3)).collect();
    let even = Type::indexed_block(3, &displacements, &Type::basic(Basic::F32))?;
    compare("equal blocks", &even, 3, (0, 0), &[12..3000, 5..4001]);
    Ok(())
}

#[test]
fn structures_of_layouts() -> Result<(), Error> {
    let double = Type::basic(Basic::F64);
    let column = Type::vector(40, 2, 9, &double)?;
    let list = Type::indexed_block(1, &(0..50).map(|i| i * i).collect::<Vec<_>>(), &double)?;
    let uneven = uneven((0..30).map(|i| 1 + i % 4), Basic::F64)?;
    let few = Type::structure(
        &[2, 1, 3],
        &[0, 6000, 30_000],
        &[column.clone(), list.clone(), double.clone()],
    )?;
    let size = few.size() as usize;
    compare("columns and a list", &few, 3, (0, 0), &[8..size + 8, 3..2 * size]);
    let many = Type::structure(&[1, 2, 1], &[0, 6000, 40_000], &[column, uneven, list])?;
    compare("uneven lists among others", &many, 2, (0, 0), &[8..3000, 9..3001]);
    Ok(())
}

#[test]
fn positions_beyond_32_bits() -> Result<(), Error> {
    let Some(queue) = queue("positions_beyond_32_bits") else { return Ok(()) };
    let u16 = Type::basic(Basic::U16);
    // The same two values again and again, in one instance and in many.
    let inside = Type::hvector(1 << 33, 1, 0, &u16)?;
    let inside = Type::structure(&[1, 1], &[0, 64], &[inside, u16.clone()])?;
    let inside = Type::resized(&inside, 0, 0)?;
    let pair = Type::resized(&Type::hvector(2, 1, 64, &u16)?, 0, 0)?;
    let memory = Guarded::new(&queue, &noise(66), 0);
    let bytes = memory.bytes(&queue);
    let (first, last) = (bytes[..2].to_vec(), bytes[64..].to_vec());
    for (ty, count, start, expected) in [
        (&inside, 1, (1 << 34) - 4, [&first[..], &first, &last].concat()),
        (&inside, 2, (2 << 34) - 2, [&first[..], &first, &last].concat()),
        (&pair, 1 << 40, (1 << 42) - 6, [&last[..], &first, &last].concat()),
    ] {
        let packing = ty.commit().prepare_on(queue.device()).unwrap();
        for skip in [0, 1] {
            let expected = &expected[skip..];
            let packed = Guarded::new(&queue, &vec![0; expected.len()], 2);
            let start = start + skip as u64;
            let range = start..start + expected.len() as u64;
            let from = (&memory.buffer, memory.at(0) as i64);
            let to = (&packed.buffer, packed.at(0) as u64);
            packing.pack_range(&queue, from, count, range, to).unwrap();
            assert_eq!(packed.bytes(&queue), expected, "{start} of {count} instances");
        }
    }
    Ok(())
}
