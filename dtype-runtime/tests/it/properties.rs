//! Random datatypes, compared with the naive reference in every respect.

#![allow(clippy::cast_possible_truncation, reason = "everything here is small")]

use dtype_runtime::plan::{Op, Plan, items};
use dtype_runtime::types::{Combiner, Description, Entry, Level, Pair, UcpField};
use dtype_runtime::{Basic, Buffer, BufferMut, Error, Flags, Type};
use dtype_test_support::case::Case;
use dtype_test_support::model::{Tree, config, has_duplicates, trees, trees_with_lists};
use proptest::prelude::*;

/// MPICH 4.0.2 packs different bytes of this type: see `dtype-mpi/tests/oracle/RESULTS.md`.
#[test]
fn blocks_of_rows_that_run_backwards_are_packed_in_order() {
    let pair = Tree::Resized(Box::new(Tree::Pair(Pair::DoubleInt)), 8, -2);
    let row = Tree::Hvector(1, 3, -16, Box::new(pair));
    let tree = Tree::Indexed(vec![(2, 7), (2, 5), (2, 0), (1, -2)], Box::new(row));
    let case = Case::new(&tree, 2);
    let mut out = vec![0; case.bytes.len()];
    let memory = Buffer::new(&case.memory).origin(case.origin as i64);
    assert_eq!(case.committed.pack(memory, 2, &mut out), Ok(504));
    assert_eq!(out, case.packed());
}

/// The bytes that a description names, in order, for one instance.
fn bytes_of_description(description: &Description) -> Vec<i64> {
    fn expand(entries: &[Entry], shift: i64, bytes: &mut Vec<i64>) {
        let mut i = 0;
        while i < entries.len() {
            match entries[i] {
                Entry::Elem(elem) => {
                    for n in 0..elem.count as i64 {
                        let at = shift + elem.disp + n * elem.extent;
                        bytes.extend(at..at + elem.basic.size() as i64);
                    }
                }
                Entry::Loop(head) => {
                    let Entry::EndLoop(end) = entries[i + head.items] else { panic!("no end") };
                    assert_eq!((end.items, end.flags), (head.items, head.flags));
                    let body = &entries[i + 1..i + head.items];
                    let before = bytes.len();
                    for n in 0..head.loops as i64 {
                        expand(body, shift + n * head.extent, bytes);
                    }
                    let added = &bytes[before..];
                    assert_eq!(added.len() as u64, end.size * head.loops);
                    assert_eq!(added[0], shift + end.first_elem_disp);
                    let one = &added[..end.size as usize];
                    let in_one_piece = one.windows(2).all(|pair| pair[1] == pair[0] + 1);
                    assert_eq!(head.flags.contains(Flags::CONTIGUOUS), in_one_piece);
                    i += head.items;
                }
                Entry::EndLoop(_) => panic!("an end without a start"),
            }
            i += 1;
        }
    }
    let (end, body) = description.entries().split_last().unwrap();
    let mut bytes = Vec::new();
    expand(body, 0, &mut bytes);
    let Entry::EndLoop(end) = end else { panic!("no end") };
    assert_eq!((end.items, end.size), (body.len(), bytes.len() as u64));
    bytes
}

/// The bytes that a plan names, in order.
fn bytes_of_plan(plan: &Plan, count: usize) -> Vec<i64> {
    fn expand(plan: &Plan, ops: &[Op], shift: i64, bytes: &mut Vec<i64>) {
        for (op, body) in items(ops) {
            match op {
                Op::List(list) => {
                    let blocks: Vec<(i64, u64)> = plan.blocks_of(list).collect();
                    assert_eq!(blocks.len() as u64, list.count());
                    assert!(
                        blocks.windows(2).all(|pair| pair[0].0 + pair[0].1 as i64 != pair[1].0)
                    );
                    for (at, len) in blocks {
                        assert!(len > 0 && list.block_len().is_none_or(|all| all == len));
                        bytes.extend(shift + at..shift + at + len as i64);
                    }
                }
                Op::Blocks(blocks) => {
                    assert!(blocks.count > 0 && blocks.len > 0);
                    assert!(blocks.count > 1 || blocks.stride == 0);
                    for n in 0..blocks.count {
                        let at = shift + blocks.block(n);
                        bytes.extend(at..at + blocks.len as i64);
                    }
                    let unit = blocks.unit();
                    assert!(blocks.len % unit == 0 && blocks.disp % unit as i64 == 0);
                }
                Op::Loop { count, stride, .. } => {
                    for n in 0..*count as i64 {
                        expand(plan, body, shift + n * stride, bytes);
                    }
                }
                _ => panic!("nothing is converted: {plan:?}"),
            }
        }
    }
    let mut bytes = Vec::new();
    for n in 0..count as i64 {
        expand(plan, plan.ops(), n * plan.extent(), &mut bytes);
    }
    bytes
}

/// The bytes that nested repetitions name, in order.
fn bytes_of_levels(levels: &[Level]) -> Vec<i64> {
    let Some((last, outer)) = levels.split_last() else { return Vec::new() };
    assert!(last.length > 0);
    let mut starts = vec![0];
    for (i, level) in levels.iter().enumerate() {
        let within = levels.get(i + 1).map_or(level.length, |inner| inner.length * inner.count);
        assert_eq!(level.length, within);
        assert!(level.count > 0 && (level.count > 1 || (outer.is_empty() && level.stride == 0)));
        let repetitions = |start: i64| {
            (0..level.count as i64).map(move |n| start + level.base + n * level.stride)
        };
        starts = starts.into_iter().flat_map(repetitions).collect();
    }
    starts.into_iter().flat_map(|start| start..start + last.length as i64).collect()
}

proptest! {
    #![proptest_config(config(2000))]

    #[test]
    fn numbers_and_maps(tree in trees()) {
        let (ty, map) = (tree.build().unwrap(), tree.map());
        prop_assert_eq!(ty.size(), map.size() as u64);
        prop_assert_eq!((ty.lb(), ty.ub(), ty.extent()), (map.lb(), map.ub(), map.extent()));
        prop_assert_eq!((ty.true_lb(), ty.true_ub()), (map.true_lb(), map.true_ub()));
        prop_assert_eq!(ty.align(), map.align().cast_unsigned());
        prop_assert_eq!(ty.elements(), map.data.len() as u64);
        let pairs: Vec<_> = ty.type_map().map(|e| (e.basic, e.displacement)).collect();
        prop_assert_eq!(&pairs, &map.data);

        let bytes = map.bytes(1);
        let contiguous = bytes.windows(2).all(|pair| pair[1] == pair[0] + 1);
        let flags = ty.flags();
        if !bytes.is_empty() {
            prop_assert_eq!(flags.contains(Flags::CONTIGUOUS), contiguous);
            let no_gaps = contiguous && map.extent() == map.size() as i64;
            prop_assert_eq!(flags.contains(Flags::NO_GAPS), no_gaps);
        }
        prop_assert_eq!(flags.contains(Flags::OVERLAP), has_duplicates(&bytes));
        prop_assert_eq!(flags.contains(Flags::DATA), !bytes.is_empty());
    }

    #[test]
    fn the_signature_forgets_the_layout(tree in trees()) {
        let (ty, map) = (tree.build().unwrap(), tree.map());
        // The same basic datatypes in a flat structure, at other displacements.
        let types: Vec<Type> = map.data.iter().map(|&(basic, _)| Type::basic(basic)).collect();
        let places: Vec<i64> = (0..types.len() as i64).map(|i| i * 40).collect();
        let flat = Type::structure(&vec![1; types.len()], &places, &types).unwrap();
        prop_assert_eq!(ty.signature_hash(), flat.signature_hash());
        prop_assert_eq!(ty.signature(), flat.signature());
        let longer = Type::structure(&[1, 1], &[0, 0], &[ty.clone(), Type::basic(Basic::U8)]);
        prop_assert_ne!(longer.unwrap().signature_hash(), ty.signature_hash());
    }

    #[test]
    fn counting_and_order(tree in trees(), instances in 0_usize..3) {
        let (ty, map) = (tree.build().unwrap(), tree.map());
        let places: Vec<i64> = map.data.iter().map(|pair| pair.1).collect();
        prop_assert_eq!(ty.is_monotonic(), places.is_sorted());
        prop_assert_eq!(ty.exceeds_extent(), map.extent() < map.true_ub() - map.true_lb());

        // The packed bytes at the end of each element of a few instances.
        let mut end = 0;
        let mut ends = vec![0];
        for _ in 0..instances {
            ends.extend(map.data.iter().map(|(basic, _)| {
                end += basic.size() as u64;
                end
            }));
        }
        for bytes in 0..=end {
            let expected = ends.binary_search(&bytes).ok().map(|index| index as u64);
            prop_assert_eq!(ty.element_count(bytes), expected);
            let whole = map.size() as u64;
            let expected = match bytes.checked_rem(whole) {
                None => Some(0),
                Some(0) => Some(bytes / whole),
                Some(_) => None,
            };
            prop_assert_eq!(ty.instance_count(bytes), expected);
        }
        for (elements, &bytes) in ends.iter().enumerate() {
            prop_assert_eq!(ty.element_bytes(elements as u64), Ok(bytes));
        }
        if map.data.is_empty() {
            prop_assert_eq!((ty.element_count(1), ty.instance_count(1)), (None, None));
            prop_assert!(ty.element_bytes(1).is_err());
        }
        prop_assert!(map.size() < 2 || ty.element_bytes(u64::MAX).is_err() || map.align() == 1);
    }

    #[test]
    fn decoding_gives_back_the_call(tree in trees()) {
        let ty = tree.build().unwrap();
        let envelope = ty.envelope();
        let contents = match ty.contents() {
            Ok(contents) => contents,
            Err(error) => {
                let named = matches!(
                    tree,
                    Tree::Basic(_) | Tree::Pair(_) | Tree::LbMarker | Tree::UbMarker
                );
                prop_assert!(named && matches!(error, Error::NoContents { .. }), "{}", error);
                prop_assert_eq!(envelope.combiner, Combiner::Named);
                return Ok(());
            }
        };
        prop_assert_eq!(
            (
                envelope.num_integers,
                envelope.num_addresses,
                envelope.num_large_counts,
                envelope.num_datatypes,
                envelope.combiner,
            ),
            (
                contents.integers.len(),
                contents.addresses.len(),
                contents.large_counts.len(),
                contents.datatypes.len(),
                contents.combiner,
            )
        );
        prop_assert!(envelope.small().is_ok());
        let again = contents.rebuild().unwrap();
        prop_assert!(again.type_map().eq(ty.type_map()));
        prop_assert_eq!((again.lb(), again.ub(), again.flags()), (ty.lb(), ty.ub(), ty.flags()));
        let twice = again.contents().unwrap();
        prop_assert_eq!(twice.integers, contents.integers);
        prop_assert_eq!(twice.addresses, contents.addresses);
    }

    #[test]
    fn every_form_names_the_same_bytes(tree in trees_with_lists(4), count in 0_usize..5) {
        let (ty, map) = (tree.build().unwrap(), tree.map());
        let one = map.bytes(1);
        prop_assert_eq!(&bytes_of_description(&ty.description()), &one);
        let committed = ty.commit();
        prop_assert_eq!(&bytes_of_description(&committed.optimized_description()), &one);
        prop_assert_eq!(bytes_of_plan(committed.plan(), count), map.bytes(count));
    }

    #[test]
    fn levels_name_the_same_bytes(tree in trees()) {
        let (ty, bytes) = (tree.build().unwrap(), tree.map().bytes(1));
        match ty.levels() {
            Some(levels) => prop_assert_eq!(bytes_of_levels(&levels), bytes),
            None => prop_assert!(!ty.flags().contains(Flags::CONTIGUOUS)),
        }
    }

    #[test]
    fn every_nest_has_levels(
        basic in proptest::sample::select(Basic::ALL),
        rows in proptest::collection::vec((-30..30_i64, -40..90_i64, 1..4_u64), 0..5),
    ) {
        let mut ty = Type::basic(basic);
        let mut bytes: Vec<i64> = (0..basic.size() as i64).collect();
        for &(displacement, extent, repeat) in &rows {
            ty = Type::ucp_struct(&[UcpField { displacement, extent, ty }], repeat).unwrap();
            let starts = (0..repeat as i64).map(|n| displacement + n * extent);
            bytes = starts.flat_map(|at| bytes.iter().map(move |byte| at + byte)).collect();
        }
        prop_assert_eq!(ty.levels().map(|levels| bytes_of_levels(&levels)), Some(bytes));
        let repeated = rows.iter().filter(|row| row.2 > 1).count();
        prop_assert!(ty.levels().unwrap().len() <= repeated.max(1));
    }

    #[test]
    fn pack_and_unpack(tree in trees_with_lists(4), count in 0_usize..40) {
        let count = if tree.map().size() < 500 { count } else { count % 5 };
        let case = Case::new(&tree, count);
        let Case { committed, memory, origin, .. } = &case;
        let expected = case.packed();

        // A buffer that is one byte too long keeps that byte, and one that is too short is refused.
        let mut out = vec![0xA5; expected.len() + 1];
        prop_assert_eq!(
            committed.pack(Buffer::new(memory).origin(*origin as i64), count, &mut out),
            Ok(expected.len())
        );
        prop_assert_eq!(&out[..expected.len()], &expected);
        prop_assert_eq!(out[expected.len()], 0xA5);
        if !expected.is_empty() {
            let mut short = vec![0xA5; expected.len() - 1];
            let refused = committed.pack(Buffer::new(memory).origin(*origin as i64), count, &mut short);
            let needed = expected.len() as u64;
            prop_assert_eq!(
                refused,
                Err(Error::DestinationTooSmall { needed, available: needed - 1 })
            );
            prop_assert!(short.iter().all(|&byte| byte == 0xA5));
        }

        // Unpacks to a memory of canaries, which remain wherever there are no data.
        let mut target = case.blank();
        let result = committed.unpack(&expected, BufferMut::new(&mut target).origin(*origin as i64), count);
        if case.overlaps() {
            prop_assert_eq!(result, Err(case.overlap()));
            prop_assert!(target.iter().all(|&byte| byte == 0x5A));
            return Ok(());
        }
        prop_assert_eq!(result, Ok(expected.len()));
        prop_assert_eq!(target, case.unpacked(&expected));
    }

    #[test]
    fn a_memory_that_is_a_byte_too_short_is_refused(tree in trees(), count in 1_usize..4) {
        let case = Case::new(&tree, count);
        let Case { committed, bytes, .. } = &case;
        let (Some(&first), Some(&last)) = (bytes.iter().min(), bytes.iter().max()) else {
            return Ok(());
        };
        let mut out = vec![0; bytes.len()];
        let mut pack = |memory: &[u8], origin| committed.pack(Buffer::new(memory).origin(origin as i64), count, &mut out);
        let (from, to) = (case.at(first), case.at(last));
        // Memory from the first to the last byte of data is enough.
        if from <= case.origin {
            let origin = case.origin - from;
            prop_assert!(pack(&case.memory[from..=to], origin).is_ok());
            let error = pack(&case.memory[from..to], origin).unwrap_err();
            let end = (to + 1 - from) as i128;
            prop_assert_eq!(error, Error::OutOfBounds { start: 0, end, len: (to - from) as u64 });
            if origin > 0 {
                let error = pack(&case.memory[from + 1..=to], origin - 1).unwrap_err();
                prop_assert!(
                    matches!(error, Error::OutOfBounds { start: -1, .. }),
                    "{}", error
                );
            }
        }
    }
}
