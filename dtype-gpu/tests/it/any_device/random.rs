//! Random types, whole and in fragments.

use std::ops::Range;

use dtype_gpu::PrepareOn;
use dtype_runtime::{Basic, Order, Type};
use dtype_test_support::case::Case;
use dtype_test_support::model::{config, trees, trees_with_lists};
use proptest::prelude::*;

use super::devices::{Guarded, queue};
use super::layouts;

/// Packs and unpacks the packed bytes of a range.
fn compare(case: &Case, range: Range<usize>, past: (usize, usize)) -> Result<(), TestCaseError> {
    let Some(queue) = queue("random types") else { return Ok(()) };
    let packing = case.committed.prepare_on(queue.device()).unwrap();
    let wide = range.start as u64..range.end as u64;

    let memory = Guarded::new(&queue, &case.memory, past.0);
    let packed = Guarded::new(&queue, &vec![0; range.len()], past.1);
    let origin = memory.at(case.origin) as i64;
    let from = (&memory.buffer, origin);
    let to = (&packed.buffer, packed.at(0) as u64);
    packing.pack_range(&queue, from, case.count, wide.clone(), to).unwrap();
    prop_assert_eq!(packed.bytes(&queue), &case.packed()[range.clone()]);
    prop_assert_eq!(memory.bytes(&queue), &case.memory[..]);

    let stream = case.stream();
    let memory = Guarded::new(&queue, &case.blank(), past.0);
    let packed = Guarded::new(&queue, &stream[range.clone()], past.1);
    let from = (&packed.buffer, packed.at(0) as u64);
    let unpacked = packing.unpack_range(&queue, from, case.count, wide, (&memory.buffer, origin));
    if case.overlaps() {
        prop_assert_eq!(unpacked, Err(case.overlap().into()));
        return Ok(());
    }
    unpacked.unwrap();
    let mut expected = case.blank();
    case.write(&stream, range, &mut expected);
    prop_assert_eq!(memory.bytes(&queue), expected);
    Ok(())
}

/// A range of `len` bytes, chosen by two numbers; the whole stream if they are equal.
fn range(len: usize, one: usize, other: usize) -> Range<usize> {
    let (one, other) = (one % (len + 1), other % (len + 1));
    if one == other { 0..len } else { one.min(other)..one.max(other) }
}

/// Blocks of random lengths at random distances: more packed words than a group moves.
fn long_lists() -> impl Strategy<Value = Type> {
    let blocks = proptest::collection::vec((0..40_u64, 1..60_i64), 17..400);
    (blocks, any::<bool>(), 0..BASICS.len()).prop_map(|(blocks, reversed, basic)| {
        let mut next = 0;
        let place = |(len, gap): (u64, i64)| {
            next += gap;
            let at = next;
            next += len as i64;
            (len, at)
        };
        let mut placed: Vec<(u64, i64)> = blocks.into_iter().map(place).collect();
        if reversed {
            placed.reverse();
        }
        let (lengths, places): (Vec<_>, Vec<_>) = placed.into_iter().unzip();
        Type::indexed(&lengths, &places, &Type::basic(BASICS[basic])).unwrap()
    })
}

/// A part of a grid, with more packed words than a group moves.
fn grids() -> impl Strategy<Value = Type> {
    let dimension = || (1..40_u64, 0..40_u64, 0..40_u64);
    ([dimension(), dimension(), dimension()], 0..BASICS.len()).prop_map(|(dimensions, basic)| {
        let parts = dimensions.map(|(part, _, _)| part);
        let starts = dimensions.map(|(_, start, _)| start);
        let all = dimensions.map(|(part, start, rest)| part + start + rest);
        Type::subarray(&all, &parts, &starts, Order::C, &Type::basic(BASICS[basic])).unwrap()
    })
}

const BASICS: [Basic; 5] = [Basic::U8, Basic::U16, Basic::F32, Basic::F64, Basic::C64];

/// How far both sides are past an address that 16 divides.
fn past() -> impl Strategy<Value = (usize, usize)> {
    (0..16_usize, 0..16_usize)
}

proptest! {
    #![proptest_config(config(30))]

    #[test]
    fn large_types(
        ty in prop_oneof![long_lists(), grids()],
        count in 1..3_usize,
        ends: (usize, usize),
        past in past(),
    ) {
        let size = ty.size() as usize * count;
        layouts::compare("large types", &ty, count, past, &[range(size, ends.0, ends.1)]);
    }
}

proptest! {
    #![proptest_config(config(40))]

    #[test]
    fn random_types(tree in trees(), count in 0..4_usize, ends: (usize, usize), past in past()) {
        let case = Case::new(&tree, count);
        compare(&case, 0..case.bytes.len(), (0, 0))?;
        compare(&case, range(case.bytes.len(), ends.0, ends.1), past)?;
    }

    #[test]
    fn random_lists(tree in trees_with_lists(4), count in 0..4_usize, ends: (usize, usize), past in past()) {
        let case = Case::new(&tree, count);
        compare(&case, 0..case.bytes.len(), (0, 0))?;
        compare(&case, range(case.bytes.len(), ends.0, ends.1), past)?;
    }
}
