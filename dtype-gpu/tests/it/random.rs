//! Random types, whole and in fragments.

use std::ops::Range;

use dtype_gpu::PrepareOn;
use proptest::prelude::*;

use crate::case::Case;
use crate::devices::{Guarded, queue};
use crate::model::{config, trees, trees_with_lists};

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

/// How far both sides are past an address that 16 divides.
fn past() -> impl Strategy<Value = (usize, usize)> {
    (0..16_usize, 0..16_usize)
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
