//! Lists in plans: which blocks are merged, which form a list has, and that no block is lost.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "everything that is packed here is small"
)]

use dtype_runtime::plan::{Op, Plan, items};
use dtype_runtime::{Basic, Buffer, BufferMut, Type};
use dtype_test_support::numbers::Numbers;

/// Numbers without a pattern, the same at each call.
fn random(count: usize) -> impl Iterator<Item = u64> {
    let mut numbers = Numbers(1);
    (0..count).map(move |_| numbers.next())
}

/// Blocks in ascending order with gaps between, of lengths from `lengths`.
fn irregular(count: usize, lengths: &[u64]) -> Vec<(u64, i64)> {
    let mut at = 0;
    random(count)
        .map(|number| {
            let length = lengths[number as usize % lengths.len()];
            let start = at;
            at += length as i64 + 1 + ((number >> 32) % 50) as i64;
            (length, start)
        })
        .collect()
}

fn bytes(blocks: &[(u64, i64)]) -> Type {
    let (lengths, places): (Vec<u64>, Vec<i64>) = blocks.iter().copied().unzip();
    Type::hindexed(&lengths, &places, &Type::basic(Basic::U8)).unwrap()
}

/// The blocks that a plan names for one instance, in order.
fn expand(plan: &Plan, ops: &[Op], shift: i64, out: &mut Vec<(u64, i64)>) {
    for (op, body) in items(ops) {
        match op {
            Op::Blocks(all) => {
                out.extend((0..all.count).map(|i| (all.len, shift + all.block(i))));
            }
            Op::List(list) => out.extend(plan.blocks_of(list).map(|(at, len)| (len, shift + at))),
            Op::Loop { count, stride, .. } => {
                for iteration in 0..*count as i64 {
                    expand(plan, body, shift + iteration * stride, out);
                }
            }
            _ => panic!("nothing is converted: {plan:?}"),
        }
    }
}

fn blocks_of(plan: &Plan) -> Vec<(u64, i64)> {
    let mut out = Vec::new();
    expand(plan, plan.ops(), 0, &mut out);
    out
}

/// Commits blocks. Checks that the plan names all of them, and that they are packed and unpacked in order. Returns a word for
/// each operation: the number of its blocks, and its kind.
fn committed(blocks: &[(u64, i64)]) -> Vec<String> {
    let ty = bytes(blocks);
    // A gap between instances keeps their blocks from being joined.
    let committed = Type::resized(&ty, ty.lb(), ty.extent() + 1).unwrap().commit();
    let plan = committed.plan();
    assert_eq!(blocks_of(plan), blocks);

    let least = blocks.iter().map(|block| block.1).min().unwrap();
    let end = blocks.iter().map(|block| block.1 + block.0 as i64).max().unwrap();
    if end - least < 1 << 24 {
        let memory: Vec<u8> = random((end - least) as usize).map(|n| n as u8).collect();
        let range = |(length, at): (u64, i64)| {
            let start = (at - least) as usize;
            start..start + length as usize
        };
        let expected: Vec<u8> =
            blocks.iter().flat_map(|block| &memory[range(*block)]).copied().collect();
        let mut packed = vec![0xA5; expected.len() + 1];
        let origin = memory.as_ptr().wrapping_offset(-(least as isize));
        // SAFETY: the memory holds all blocks, relative to displacement 0.
        let length = unsafe { committed.pack_raw(origin, 1, &mut packed) };
        assert_eq!((length, packed.pop()), (Ok(expected.len()), Some(0xA5)));
        assert!(packed == expected);
        let mut back = vec![0x5A; memory.len()];
        let mut wanted = back.clone();
        for block in blocks {
            wanted[range(*block)].copy_from_slice(&memory[range(*block)]);
        }
        let origin = back.as_mut_ptr().wrapping_offset(-(least as isize));
        // SAFETY: as above.
        unsafe { committed.unpack_raw(&packed, origin, 1) }.unwrap();
        assert!(back == wanted);
        // A copy from memory to memory.
        back.fill(0x5A);
        let from = memory.as_ptr().wrapping_offset(-(least as isize));
        // SAFETY: as above, in both memories.
        unsafe { committed.copy_raw(from, origin, 1) }.unwrap();
        assert!(back == wanted);
    }

    let form = |op: &Op| match op {
        Op::Blocks(all) => format!("{}", all.count),
        Op::List(list) if list.block_len().is_some() => format!("list of {}", list.count()),
        Op::List(list) => format!("varied list of {}", list.count()),
        Op::Loop { count, .. } => format!("{count} times"),
        _ => "elements".to_owned(),
    };
    plan.ops().iter().map(form).collect()
}

/// A list of blocks of one length, more than 32 bits apart, and then other values. The place of a packed byte depends on the
/// sizes of both parts.
#[test]
fn positions_after_a_list_of_distant_blocks() {
    let places: Vec<i64> = (0..40).map(|i| (i * i) << 33).collect();
    let list = Type::hindexed_block(1, &places, &Type::basic(Basic::U32)).unwrap();
    let last = Type::vector(100, 1, 2, &Type::basic(Basic::U8)).unwrap();
    let ty = Type::structure(&[1, 1], &[0, 1 << 60], &[list, last]).unwrap().commit();
    let list = |op: &Op| matches!(op, Op::List(list) if list.block_len() == Some(4));
    assert!(ty.plan().ops().iter().any(list), "{:?}", ty.plan());
    let bytes = (0..100).map(|i| ((1 << 60) + 2 * i, 1));
    let expected: Vec<(i64, u64)> = places.iter().map(|place| (*place, 4)).chain(bytes).collect();
    for first in 0..=40 {
        let pieces = ty.iov(1, 4 * first as u64..260).unwrap();
        assert!(pieces.map(|piece| (piece.disp, piece.len)).eq(expected[first..].iter().copied()));
    }
}

#[test]
fn every_length_alone_and_mixed() {
    for length in 1..200 {
        assert_eq!(committed(&irregular(50, &[length])), ["list of 50"]);
    }
    for least in 1..100 {
        for lengths in
            [&[least, least + 1][..], &[least, 2 * least, 3 * least], &[least, 4 * least]]
        {
            assert_eq!(committed(&irregular(60, lengths)), ["varied list of 60"]);
        }
    }
    assert_eq!(committed(&irregular(99, &[1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144])).len(), 1);
}

#[test]
fn blocks_that_are_few_or_regular_are_no_list() {
    assert_eq!(
        committed(&irregular(10, &[1, 2])).iter().filter(|op| op.contains("list")).count(),
        0
    );
    let regular: Vec<_> = (0..100_000).map(|i| (3, 7 * i)).collect();
    assert_eq!(committed(&regular), ["100000"]);
    let backwards: Vec<_> = (0..5000).map(|i| (8, -24 * i)).collect();
    assert_eq!(committed(&backwards), ["5000"]);
    // Adjacent blocks are one run, whatever their number.
    let touching: Vec<_> = (0..1000).map(|i| (3, 3 * i)).collect();
    let one = bytes(&touching).commit();
    assert_eq!(blocks_of(one.plan()), [(3000, 0)]);
}

#[test]
fn adjacent_blocks_in_a_list_become_one() {
    let whole = irregular(200, &[2, 4, 6]);
    let halves: Vec<_> = whole
        .iter()
        .flat_map(|&(length, at)| [(length / 2, at), (length / 2, at + length as i64 / 2)])
        .collect();
    let (whole, halves) = (bytes(&whole).commit(), bytes(&halves).commit());
    assert_eq!(blocks_of(whole.plan()), blocks_of(halves.plan()));
    assert!(matches!(halves.plan().ops(), [Op::List(list)] if list.count() == 200));
}

#[test]
fn a_long_regular_stretch_is_taken_out_of_a_list() {
    let mut blocks = irregular(100, &[5]);
    let start = blocks[99].1 + 10_000;
    blocks.extend((0..1000).map(|i| (5, start + 9 * i)));
    let next = start + 20_000;
    blocks.extend(irregular(70, &[1, 2]).iter().map(|&(length, at)| (length, at + next)));
    let ops = committed(&blocks);
    assert_eq!(ops, ["list of 100", "1000", "varied list of 70"]);
    // Short regular stretches stay in the list.
    let mixed: Vec<_> = irregular(100, &[1])
        .iter()
        .flat_map(|&(_, at)| (0..5).map(move |i| (1, 100 * at + 2 * i)))
        .collect();
    assert_eq!(committed(&mixed), ["list of 500"]);
}

#[test]
fn another_length_ends_a_long_list_of_equal_blocks() {
    let mut blocks = irregular(500, &[4]);
    let next = blocks[499].1 + 100;
    blocks.extend(irregular(500, &[1, 2]).iter().map(|&(length, at)| (length, at + next)));
    assert_eq!(committed(&blocks), ["list of 500", "varied list of 500"]);
    // A short list becomes a varied list instead.
    let blocks: Vec<_> = irregular(40, &[4]).into_iter().chain([(9, 100_000)]).collect();
    assert_eq!(committed(&blocks), ["varied list of 41"]);
}

#[test]
fn equal_blocks_at_the_end_are_a_list_of_their_own() {
    for (equal, expected) in [
        (31, &["varied list of 51"][..]),
        (32, &["varied list of 20", "list of 32"]),
        (127, &["varied list of 20", "list of 127"]),
        (128, &["varied list of 20", "list of 128"]),
        (129, &["varied list of 20", "list of 129"]),
    ] {
        let mut blocks = irregular(20, &[1, 2, 3]);
        let end = blocks[19].1 + 9;
        blocks.extend(irregular(equal, &[4]).iter().map(|(length, at)| (*length, end + at)));
        assert_eq!(committed(&blocks), expected);
    }
    // A single block before the list is no list.
    let mut blocks = irregular(40, &[4]);
    blocks.insert(0, (8, -20));
    assert_eq!(committed(&blocks), ["1", "list of 40"]);
}

#[test]
fn any_order_and_any_distance() {
    let mut blocks = irregular(400, &[1, 3]);
    blocks.reverse();
    assert_eq!(committed(&blocks), ["varied list of 400"]);
    // Far from the origin on both sides, and more than 32 bits apart.
    for far in [0, 1 << 40, -(1 << 40)] {
        let there: Vec<_> = irregular(100, &[7]).iter().map(|&(n, at)| (n, at + far)).collect();
        assert_eq!(committed(&there), ["list of 100"]);
        for lengths in [&[8][..], &[8, 16]] {
            let spread: Vec<_> = irregular(100, lengths)
                .iter()
                .zip(random(100))
                .map(|(&(n, at), number)| (n, at * 1000 + far + ((number as i64 & 7) << 35)))
                .collect();
            assert_eq!(committed(&spread).len(), 1);
        }
    }
    // Each of several distant regions with many blocks gets a list of its own.
    let regions: Vec<_> = (0..5)
        .flat_map(|region| {
            irregular(300, &[2]).into_iter().map(move |(n, at)| (n, at + (region << 33)))
        })
        .collect();
    assert!(committed(&regions).iter().all(|op| op.contains("list")));
    assert!(committed(&regions).len() <= 5);
    // Blocks of gigabytes.
    let large: Vec<_> = (0..40).map(|i| (1 << (25 + i % 8), (i * i) << 33)).collect();
    assert_eq!(committed(&large), ["varied list of 40"]);
    let ends: Vec<_> = (0..30).map(|i| (i as u64 + 1, i64::MAX - 40 - i * i * (1 << 50))).collect();
    assert_eq!(committed(&ends), ["varied list of 30"]);
}

/// Merges adjacent blocks.
fn joined(blocks: &[(u64, i64)]) -> Vec<(u64, i64)> {
    let mut out: Vec<(u64, i64)> = Vec::new();
    for &(length, at) in blocks {
        match out.last_mut() {
            Some(last) if last.1 + last.0 as i64 == at => last.0 += length,
            _ => out.push((length, at)),
        }
    }
    out
}

/// Regular stretches of every length around the threshold for their own operation, blocks that touch or overlap,
/// and jumps near the limits of 32 bits, in both directions.
#[test]
fn any_mixture_of_stretches_and_jumps() {
    const TIMES: [usize; 8] = [1, 2, 15, 16, 63, 64, 65, 130];
    const JUMPS: [i64; 8] =
        [0, 1 << 31, 1 << 32, 1 << 33, (1 << 31) - 1, -(1 << 31), -(1 << 32), -9];
    let mut numbers = Numbers(2);
    let mut below = |n: usize| numbers.index(n);
    for _ in 0..if cfg!(miri) { 5 } else { 1000 } {
        let (greatest, is_far, is_split) = (1 + below(9), below(3) == 0, below(4) == 0);
        let (mut blocks, mut at) = (Vec::new(), below(100) as i64 - 50);
        for _ in 0..2 + below(60) {
            let times = if below(6) == 0 { TIMES[below(8)] } else { 1 };
            let (length, gap) = (1 + below(greatest), below(20) as i64 - 2);
            for _ in 0..times {
                if is_split && length > 1 {
                    blocks.extend([(1, at), (length as u64 - 1, at + 1)]);
                } else {
                    blocks.push((length as u64, at));
                }
                at += length as i64 + gap;
            }
            at += if is_far && below(8) == 0 { JUMPS[below(8)] } else { 0 };
        }
        let ty = bytes(&blocks);
        let expected = joined(&blocks);
        assert_eq!(joined(&blocks_of(ty.commit().plan())), expected);
        // The same blocks in a loop.
        let twice = Type::hvector(2, 1, 1 << 40, &ty).unwrap().commit();
        let second = expected.iter().map(|&(length, at)| (length, at + (1 << 40)));
        let both: Vec<_> = expected.iter().copied().chain(second).collect();
        assert_eq!(joined(&blocks_of(twice.plan())), both);
    }
}

#[test]
fn lists_inside_loops_and_between_instances() {
    let inner = bytes(&irregular(60, &[1, 2, 3]));
    let extent = inner.extent();
    let one = blocks_of(inner.commit().plan());
    let turns = |stride: i64, count: i64| -> Vec<(u64, i64)> {
        (0..count).flat_map(|i| one.iter().map(move |&(n, at)| (n, at + i * stride))).collect()
    };
    for stride in [extent + 5, 3 * extent, -(extent + 1), 1 << 35] {
        let looped = Type::hvector(9, 1, stride, &inner).unwrap().commit();
        assert_eq!(blocks_of(looped.plan()), turns(stride, 9));
        let plan = looped.plan().ops();
        assert!(matches!(plan, [Op::Loop { count: 9, .. }, Op::List(_)]), "{plan:?}");
    }
    // Runs that touch from one instance to the next. Loops separate a list from these runs.
    let (u32, grid) = (Type::basic(Basic::U32), Type::vector(3, 1, 2, &Type::basic(Basic::U8)));
    let grid = Type::hvector(2, 1, 7, &grid.unwrap()).unwrap();
    let parts = [u32.clone(), grid.clone(), inner, grid, u32];
    let (last, ones) = (extent + 14, [1; 5]);
    let framed = Type::structure(&ones, &[-20, -14, 0, extent + 2, last], &parts).unwrap();
    let framed = Type::resized(&framed, -20, last + 24).unwrap().commit();
    let plan = framed.plan();
    let of = |ops: &[Op]| ops.iter().filter(|op| matches!(op, Op::List(_))).count();
    assert_eq!(of(plan.ops()), 1);
    let whole: Vec<_> = [(4, -20), (1, -14), (1, -12), (1, -10), (1, -7), (1, -5), (1, -3)]
        .into_iter()
        .chain(one)
        .chain([2, 4, 6, 9, 11, 13].map(|at| (1, extent + at)))
        .chain([(4, last)])
        .collect();
    assert_eq!(blocks_of(plan), whole);
    let span = (last + 24) as usize;
    let memory: Vec<u8> = random(20 * span).map(|n| n as u8).collect();
    let mut packed = vec![0; framed.packed_size(20).unwrap()];
    framed.pack(Buffer::new(&memory).origin(20), 20, &mut packed).unwrap();
    let mut expected = Vec::new();
    for instance in 0..20 {
        for &(length, at) in &whole {
            let start = (at + 20) as usize + instance * span;
            expected.extend_from_slice(&memory[start..start + length as usize]);
        }
    }
    assert!(packed == expected);
    let mut back = vec![0; memory.len()];
    framed.unpack(&packed, BufferMut::new(&mut back).origin(20), 20).unwrap();
    let mut again = vec![0; packed.len()];
    framed.pack(Buffer::new(&back).origin(20), 20, &mut again).unwrap();
    assert!(again == packed);
}

#[test]
fn blocks_of_a_list_of_another_plan() {
    let (long, short) = (bytes(&irregular(500, &[1, 2])).commit(), bytes(&[(1, 0)]).commit());
    let [Op::List(list)] = long.plan().ops() else { panic!("no list") };
    assert_eq!(short.plan().blocks_of(list).count(), 0);
    // In the table of ten shorter lists, this list ends where the first one ends.
    let one = bytes(&irregular(100, &[1, 2]));
    let twice = Type::hvector(2, 1, 1 << 20, &one).unwrap();
    let places: Vec<i64> = (0..10).map(|i| i << 24).collect();
    let ten = Type::hindexed_block(1, &places, &twice).unwrap().commit();
    assert_eq!(ten.plan().blocks_of(list).count(), 100);
}

/// Decoding returns the original arguments, whatever form the type stores.
#[test]
fn long_lists_decode_to_their_arguments() {
    for scale in [1, 1 << 20, 1 << 40] {
        let blocks: Vec<_> =
            irregular(300, &[1, 2, 300]).iter().map(|&(n, at)| (n, scale * (at - 999))).collect();
        let contents = bytes(&blocks).contents().unwrap();
        let lengths: Vec<i32> = blocks.iter().map(|block| block.0 as i32).collect();
        let places: Vec<i64> = blocks.iter().map(|block| block.1).collect();
        assert_eq!(&contents.integers[1..], lengths);
        assert_eq!(contents.addresses, places);
    }
}

/// Two adjacent blocks are one longer block. This block must not turn all later blocks into a list of varied lengths.
#[test]
fn a_pair_that_touches_among_equal_blocks() {
    let mut at = 0;
    let places: Vec<i64> = (0..2000)
        .map(|i: i64| {
            at += if i == 700 { 1 } else { 2 + i * i % 7 };
            at
        })
        .collect();
    for element in [Basic::F64, Basic::U8] {
        let ty = Type::indexed_block(1, &places, &Type::basic(element)).unwrap().commit();
        let lists: Vec<(u64, Option<u64>)> = ty
            .plan()
            .ops()
            .iter()
            .filter_map(|op| match op {
                Op::List(list) => Some((list.count(), list.block_len())),
                _ => None,
            })
            .collect();
        let len = Some(element.size() as u64);
        let equal: u64 = lists.iter().filter(|list| list.1 == len).map(|list| list.0).sum();
        assert!(equal > 1900, "{lists:?}");
        assert!(lists.len() < 6, "{lists:?}");
        let blocks: u64 = lists.iter().map(|list| list.0).sum();
        assert!((1990..2000).contains(&blocks), "{lists:?}");
    }
}
