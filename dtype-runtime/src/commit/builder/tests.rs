//! Tests of what the compiler merges, and that the bytes stay the same.

use super::*;
use crate::plan::items;
use crate::{Basic, Type};
use alloc::vec;
use alloc::vec::Vec;
use dtype_test_support::numbers::Numbers;

fn program(write: impl FnOnce(&mut Builder<'_>)) -> Vec<Op> {
    let mut ops = vec![Op::NONE; 64];
    let mut at = Position::START;
    let mut builder = Builder::new(&mut ops, &mut at);
    write(&mut builder);
    let len = builder.finish().unwrap();
    ops.truncate(len);
    ops
}

fn blocks(disp: i64, len: u64, count: u64, stride: i64) -> Op {
    Op::Blocks(Blocks { disp, len, count, stride })
}

fn run(disp: i64, len: u64) -> Op {
    blocks(disp, len, 1, 0)
}

#[test]
fn runs_that_touch_become_one() {
    let ops = program(|b| {
        b.run(0, 4);
        b.run(4, 2);
        b.run(6, 0);
        b.run(6, 10);
    });
    assert_eq!(ops, [run(0, 16)]);
    let ops = program(|b| {
        b.run(0, 4);
        b.blocks(Blocks { disp: 4, len: 4, count: 3, stride: 10 });
    });
    assert_eq!(ops, [run(0, 8), blocks(14, 4, 2, 10)]);
}

#[test]
fn equal_blocks_at_equal_distances_become_one_operation() {
    let ops = program(|b| [0, 10, 20, 30].into_iter().for_each(|disp| b.run(disp, 4)));
    assert_eq!(ops, [blocks(0, 4, 4, 10)]);
    // Backwards, at one displacement, and in two directions.
    let ops = program(|b| [9, 6, 3, 3, 3, 6].into_iter().for_each(|disp| b.run(disp, 1)));
    assert_eq!(ops, [blocks(9, 1, 3, -3), blocks(3, 1, 2, 0), run(6, 1)]);
}

#[test]
fn a_counted_operation_gives_up_its_last_block_to_what_touches_it() {
    let ops = program(|b| {
        b.run(0, 4);
        b.run(8, 4);
        b.run(12, 4);
    });
    assert_eq!(ops, [run(0, 4), run(8, 8)]);
}

#[test]
fn loops_over_one_run_fold() {
    let ops = program(|b| {
        let outer = b.begin_loop();
        let inner = b.begin_loop();
        b.run(3, 2);
        b.end_loop(inner, 4, 5);
        b.end_loop(outer, 3, 20);
    });
    assert_eq!(ops, [blocks(3, 2, 12, 5)]);
    let ops = program(|b| {
        let outer = b.begin_loop();
        b.run(0, 2);
        b.run(2, 6);
        b.end_loop(outer, 3, 8);
    });
    assert_eq!(ops, [run(0, 24)]);
    // Two dimensions stay a loop.
    let ops = program(|b| {
        let outer = b.begin_loop();
        b.blocks(Blocks { disp: 0, len: 2, count: 4, stride: 5 });
        b.end_loop(outer, 3, 21);
    });
    assert_eq!(ops, [Op::Loop { count: 3, stride: 21, items: 1 }, blocks(0, 2, 4, 5)]);
}

#[test]
fn the_end_of_a_repetition_is_joined_to_the_start_of_the_next() {
    // Runs of 4 bytes at 0 and 8, extent 12: the second run and the first run of the next iteration are one run of 8.
    let ops = program(|b| {
        let outer = b.begin_loop();
        b.run(0, 4);
        b.run(8, 4);
        b.end_loop(outer, 10, 12);
    });
    assert_eq!(ops, [run(0, 4), blocks(8, 8, 9, 12), run(116, 4)]);
    // The same with a run between the two.
    let ops = program(|b| {
        let outer = b.begin_loop();
        b.run(0, 1);
        b.run(2, 3);
        b.run(7, 9);
        b.end_loop(outer, 5, 16);
    });
    let seam = [run(2, 3), run(7, 10)];
    let steady = [Op::Loop { count: 4, stride: 16, items: 2 }, seam[0], seam[1]];
    let last = [run(66, 3), run(71, 9)];
    assert_eq!(ops, [&[run(0, 1)], &steady[..], &last].concat());
}

#[test]
fn the_longest_body_that_is_rotated() {
    // Two blocks at each end, and runs between them. The last block ends where the next iteration starts.
    let ops = |runs: i64| {
        program(|b| {
            let open = b.begin_loop();
            b.blocks(Blocks { disp: 0, len: 4, count: 2, stride: 6 });
            (0..runs).for_each(|i| b.run(20 + 3 * i * i, 1 + (i % 2).cast_unsigned()));
            b.blocks(Blocks { disp: 1000, len: 4, count: 2, stride: 8 });
            b.end_loop(open, 3, 1012);
        })
    };
    let max = i64::try_from(MAX_ROTATED).unwrap() - 2;
    let (rotated, whole) = (ops(max), ops(max + 1));
    assert_eq!((rotated.len(), whole.len()), (2 * MAX_ROTATED + 3, MAX_ROTATED + 2));
    assert!(matches!((rotated[0], whole[0]), (Op::Blocks(_), Op::Loop { count: 3, .. })));
    assert_eq!(bytes_of_ops(&rotated, 0)[..6], [0, 1, 2, 3, 6, 7]);
}

#[test]
fn a_program_that_does_not_fit_says_so() {
    let mut ops = [Op::NONE; 2];
    let mut at = Position::START;
    let mut builder = Builder::new(&mut ops, &mut at);
    let open = builder.begin_loop();
    builder.run(0, 1);
    builder.run(5, 2);
    builder.end_loop(open, 3, 10);
    assert_eq!(builder.finish(), None);
}

#[test]
fn compilation_stays_linear_in_nested_loops_that_touch() {
    // The iterations touch at each level, so each loop could be rotated; but the plan must not double in size at each level.
    let mut ty =
        Type::structure(&[1, 1], &[0, 2], &[Type::basic(Basic::U8), Type::basic(Basic::U8)])
            .unwrap();
    for _ in 0..15 {
        let two = Type::contiguous(3, &ty).unwrap();
        let extent = two.extent();
        let parts = [two.clone(), two];
        ty = Type::structure(&[1, 1], &[0, extent + 1], &parts).unwrap();
        if ty.description().entries().len() > 5000 {
            break;
        }
    }
    let entries = ty.description().entries().len();
    assert!(ty.commit().plan().ops().len() <= 6 * entries);
}

#[test]
fn what_has_no_bytes_adds_nothing() {
    let ops = program(|b| {
        b.run(0, 4);
        b.run(9, 0);
        b.blocks(Blocks { disp: 50, len: 4, count: 0, stride: 8 });
        let empty = b.begin_loop();
        b.run(70, 0);
        b.end_loop(empty, 3, 9);
        let never = b.begin_loop();
        b.run(80, 1);
        b.run(90, 2);
        b.end_loop(never, 0, 20);
        b.run(4, 4);
    });
    assert_eq!(ops, [run(0, 8)]);
}

#[test]
fn a_body_that_is_rotated_is_short_and_repeated() {
    // The distances are all different, and so are the lengths of neighbours.
    let place = |i: i64| i * (i + 2);
    let len = |i: i64| 1 + u64::from(i % 2 == 0);
    // A single iteration touches nothing; each of several touches the next.
    let ends_touch = |first: i64, items: i64, count| {
        program(|b| {
            (0..first).for_each(|i| b.run(-1000 + place(i), len(i)));
            let open = b.begin_loop();
            (0..items).for_each(|i| b.run(place(i), if i == items - 1 { 3 } else { len(i) }));
            b.end_loop(open, count, place(items - 1) + 3);
        })
    };
    for first in [0, 20] {
        let before = usize::try_from(first).unwrap();
        for items in [2, 5, 16, 17, 18, 30] {
            let body = usize::try_from(items).unwrap();
            assert_eq!(ends_touch(first, items, 1).len(), before + 1 + body);
            let length = if body <= MAX_ROTATED { 2 * body } else { 1 + body };
            let ops = ends_touch(first, items, 9);
            // A body of two runs becomes one run, which needs no loop.
            let folded = usize::from(items == 2);
            assert_eq!(ops.len(), before + length - folded, "{ops:?}");
        }
    }
}

/// Calls of a builder's methods.
#[derive(Debug)]
enum Part {
    Blocks(Blocks),
    Loop(Vec<Part>, u64, i64),
}

/// Parts many of which touch: each other, or themselves in the next iteration.
fn parts(numbers: &mut Numbers, depth: u32) -> Vec<Part> {
    let mut at = numbers.around(10);
    let mut all = Vec::new();
    for _ in 0..=numbers.below(4) {
        at += if numbers.below(2) == 0 { 0 } else { numbers.around(4) };
        let count = numbers.below(4);
        let part = if depth > 0 && numbers.below(3) == 0 {
            let body = parts(numbers, depth - 1);
            let once = bytes_of(&body, 0);
            let stride = match (once.first(), once.last()) {
                (Some(first), Some(last)) if numbers.below(2) == 0 => last + 1 - first,
                _ => numbers.around(20),
            };
            Part::Loop(body, count, stride)
        } else {
            let count = if numbers.below(2) == 0 { 1 } else { count };
            let stride = if count == 1 { 0 } else { numbers.around(6) };
            Part::Blocks(Blocks { disp: at, len: numbers.below(4), count, stride })
        };
        all.push(part);
        at = bytes_of(&all, 0).last().map_or(at, |last| last + 1);
    }
    all
}

fn bytes_of(parts: &[Part], shift: i64) -> Vec<i64> {
    let of = |part: &Part| match part {
        Part::Blocks(blocks) => bytes_of_blocks(blocks, shift),
        Part::Loop(body, count, stride) => {
            (0..count.cast_signed()).flat_map(|n| bytes_of(body, shift + n * stride)).collect()
        }
    };
    parts.iter().flat_map(of).collect()
}

fn bytes_of_blocks(blocks: &Blocks, shift: i64) -> Vec<i64> {
    let block = |n: u64| {
        let start = shift + blocks.disp + n.cast_signed() * blocks.stride;
        start..start + blocks.len.cast_signed()
    };
    (0..blocks.count).flat_map(block).collect()
}

pub(in crate::commit) fn bytes_of_ops(ops: &[Op], shift: i64) -> Vec<i64> {
    let of = |(op, body): (&Op, &[Op])| match op {
        Op::Blocks(blocks) => bytes_of_blocks(blocks, shift),
        Op::Loop { count, stride, .. } => {
            (0..count.cast_signed()).flat_map(|n| bytes_of_ops(body, shift + n * stride)).collect()
        }
        other => panic!("{other:?}"),
    };
    items(ops).flat_map(of).collect()
}

fn write(parts: &[Part], builder: &mut Builder<'_>) {
    for part in parts {
        match part {
            Part::Blocks(blocks) => builder.blocks(*blocks),
            Part::Loop(body, count, stride) => {
                let open = builder.begin_loop();
                write(body, builder);
                builder.end_loop(open, *count, *stride);
            }
        }
    }
}

/// The number of operations that could be merged with the next one, in a body or across iterations.
fn unmerged(ops: &[Op], stride: Option<i64>) -> usize {
    let all: Vec<_> = items(ops).collect();
    let is_one = |pair: &&[(&Op, &[Op])]| match (pair[0].0, pair[1].0) {
        (Op::Blocks(old), Op::Blocks(new)) => {
            let touch = old.last_end() == new.disp && (old.count == 1 || new.count == 1);
            touch || old.followed_by(*new).is_some()
        }
        _ => false,
    };
    let mut number = all.windows(2).filter(is_one).count();
    if let (Some(stride), Some((Op::Blocks(first), _)), Some((Op::Blocks(last), _))) =
        (stride, all.first(), all.last())
        && ops.len() <= MAX_ROTATED
    {
        number += usize::from(last.last_end() == first.disp + stride);
    }
    for (op, body) in all {
        match op {
            Op::Blocks(blocks) => assert!(blocks.len > 0 && *blocks == blocks.normalized()),
            Op::Loop { count, stride, .. } => {
                assert!(*count > 0 && !body.is_empty());
                number += unmerged(body, Some(*stride).filter(|_| *count > 1));
            }
            other => panic!("{other:?}"),
        }
    }
    number
}

#[test]
fn any_blocks_and_loops_keep_their_bytes_and_are_merged() {
    let mut numbers = Numbers(5);
    let cases = if cfg!(miri) { 20 } else { 2000 };
    let (mut operations, mut not_merged) = (0, 0);
    for _ in 0..cases {
        let parts = parts(&mut numbers, 3);
        let expected = bytes_of(&parts, 0);
        let mut ops = vec![Op::NONE; 1000];
        let mut at = Position::START;
        let mut builder = Builder::new(&mut ops, &mut at);
        write(&parts, &mut builder);
        let len = builder.finish().unwrap();
        assert_eq!(bytes_of_ops(&ops[..len], 0), expected, "{parts:?}");
        operations += len;
        not_merged += unmerged(&ops[..len], None);
    }
    // The builder looks back at one operation only, so it misses a merge that only a later merge makes possible.
    assert!(not_merged * 200 < operations, "{not_merged} of {operations}");
}
