//! The pieces of memory that hold the packed bytes: in order, resumed by position, and counted,
//! compared with the naive reference.

#![allow(clippy::cast_possible_truncation, reason = "everything here is small")]

use std::ops::Range;

use dtype_runtime::convertor::Segment;
use dtype_runtime::{Basic, Buffer, Committed, Error, Packer, Type};
use dtype_test_support::case::Case;
use dtype_test_support::model::{Map, Tree, config, trees, trees_with_lists};
use proptest::prelude::*;

/// The maximal runs of a sequence of addresses.
fn runs(bytes: &[i64]) -> Vec<Segment> {
    let mut runs: Vec<Segment> = Vec::new();
    for &byte in bytes {
        match runs.last_mut() {
            Some(last) if last.disp + last.len as i64 == byte => last.len += 1,
            _ => runs.push(Segment { disp: byte, len: 1 }),
        }
    }
    runs
}

/// Numbers of instances below a limit. Miri runs few cases, and none without an instance.
const fn counts(limit: usize) -> Range<usize> {
    if cfg!(miri) { 1..3 } else { 0..limit }
}

/// Checks the number of segments, and every index, in a range of the packed bytes. Miri has time for a few indices.
fn check(
    committed: &Committed,
    map: &Map,
    count: usize,
    ends: (usize, usize),
    taken: usize,
) -> Result<(), TestCaseError> {
    let bytes = map.bytes(count);
    let (from, to) = (ends.0 % (bytes.len() + 1), ends.1 % (bytes.len() + 1));
    let (from, to) = (from.min(to), from.max(to));
    let expected = runs(&bytes[from..to]);
    let iov = committed.iov(count, from as u64..to as u64).unwrap();
    let total = expected.len();
    prop_assert_eq!((iov.segments(), iov.clone().count()), (total as u64, total));
    prop_assert_eq!(iov.size_hint(), (total, Some(total)));
    prop_assert_eq!(iov.clone().last(), expected.last().copied());
    let step = if cfg!(miri) { total / 4 + 1 } else { 1 };
    for n in (0..total + 2).step_by(step) {
        let mut one = iov.clone();
        prop_assert_eq!(one.nth(n), expected.get(n).copied(), "number {}", n);
        let behind = (n + 1).min(total);
        prop_assert_eq!(one.segments(), (total - behind) as u64);
        prop_assert_eq!(one.next(), expected.get(n + 1).copied());
        let before: u64 = expected.iter().take(n + 2).map(|segment| segment.len).sum();
        prop_assert_eq!(one.position(), from as u64 + before);
        if n % 7 == 0 || total < 40 {
            let rest = &expected[n.min(total)..];
            prop_assert!(iov.clone().skip(n).eq(rest.iter().copied()), "from number {}", n);
        }
    }
    // After some segments were taken one by one, other segments are buffered.
    let mut late = iov.clone();
    let taken = late.by_ref().take(taken).count();
    prop_assert_eq!(late.segments(), (total - taken) as u64);
    for n in (0..(total - taken + 2).min(80)).step_by(step) {
        let mut one = late.clone();
        prop_assert_eq!(one.nth(n), expected.get(taken + n).copied());
        prop_assert!(one.eq(expected.iter().skip(taken + n + 1).copied()));
    }
    let push = |mut all: Vec<Segment>, segment| {
        all.push(segment);
        all
    };
    prop_assert_eq!(iov.fold(Vec::new(), push), &expected[..]);
    prop_assert_eq!(late.clone().fold(Vec::new(), push), &expected[taken..]);
    let mut all = late;
    prop_assert_eq!(all.by_ref().count(), total - taken);
    prop_assert_eq!((all.next(), all.segments(), all.position()), (None, 0, to as u64));
    Ok(())
}

/// Enough members for an index of operations. Under Miri, where large types take minutes, the members are single values, and
/// there are as many operations.
fn wide() -> impl Strategy<Value = Tree> {
    let (tree, number) = if cfg!(miri) {
        (proptest::sample::select(Basic::ALL).prop_map(Tree::Basic).boxed(), 20..24)
    } else {
        (trees_with_lists(2).boxed(), 12..30)
    };
    let member = (0_u64..4, -9..60_i64, any::<bool>(), tree);
    proptest::collection::vec(member, number)
        .prop_map(|members| {
            let mut at = 0;
            let place = |(count, gap, touching, tree): (u64, i64, bool, Tree)| {
                let map = tree.map();
                let disp = at + if touching { 0 } else { gap };
                at = disp + count as i64 * map.extent();
                (count, disp, tree)
            };
            Tree::Structure(members.into_iter().map(place).collect())
        })
        .prop_filter("small enough to be written out", |tree| tree.map().size() < 1500)
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn pieces_of_memory(
        tree in trees_with_lists(4),
        count in counts(6),
        ends: (usize, usize),
        rest in 0_usize..50,
        windows in proptest::collection::vec(0_usize..70, 1..6),
    ) {
        let case = Case::new(&tree, count);
        let Case { committed, bytes, .. } = &case;
        let (from, to) = (ends.0 % (bytes.len() + 1), ends.1 % (bytes.len() + 1));
        let (from, to) = (from.min(to), from.max(to));
        let expected = runs(&bytes[from..to]);
        let iov = committed.iov(count, from as u64..to as u64).unwrap();
        prop_assert_eq!(iov.collect::<Vec<_>>(), &expected[..]);
        // Some segments are taken first, and the others by position.
        let mut iov = committed.iov(count, from as u64..to as u64).unwrap();
        let mut pieces: Vec<Segment> = iov.by_ref().take(rest).collect();
        pieces.extend(committed.iov(count, iov.position()..to as u64).unwrap());
        prop_assert_eq!(&pieces[..], &expected[..]);
        // Segments are taken in windows, and one by one between the windows.
        let mut iov = committed.iov(count, from as u64..to as u64).unwrap();
        let mut pieces = Vec::new();
        for window in windows.iter().cycle() {
            pieces.extend(iov.next());
            let mut room = vec![Segment { disp: -7, len: 0 }; *window];
            let found = iov.fill(&mut room);
            pieces.extend_from_slice(&room[..found]);
            prop_assert!(found == *window || pieces.len() == expected.len(), "{} of {}", found, window);
            prop_assert_eq!(iov.segments(), (expected.len() - pieces.len()) as u64);
            prop_assert_eq!(iov.position(), from as u64 + pieces.iter().map(|piece| piece.len).sum::<u64>());
            if iov.segments() == 0 {
                break;
            }
        }
        prop_assert_eq!((iov.next(), iov.fill(&mut [Segment::default(); 3])), (None, 0));
        prop_assert_eq!(&pieces[..], &expected[..]);
        let end = bytes.len() as u64;
        prop_assert!(committed.iov(count, 0..end + 1).is_err());

        let mut packer = committed.packer(Buffer::new(&case.memory).origin(case.origin as i64), count).unwrap();
        let expected = case.packed();
        prop_assert_eq!(packer.chunks().collect::<Vec<_>>().concat(), &expected[..]);
        let mut collected = Vec::new();
        while let piece @ [_, ..] = packer.chunk() {
            collected.extend_from_slice(piece);
            packer.set_position(collected.len() as u64).unwrap();
        }
        prop_assert_eq!(collected, expected);
    }

    #[test]
    fn segments_of_any_type(
        tree in prop_oneof![trees(), trees_with_lists(6)],
        count in counts(6),
        ends: (usize, usize),
        taken in 0_usize..50,
    ) {
        let (committed, map) = (tree.build().unwrap().commit(), tree.map());
        check(&committed, &map, count, (0, map.size() * count), taken)?;
        check(&committed, &map, count, ends, taken)?;
    }

}

/// A run, a loop over irregular blocks and a run. Each may touch the next one, and the last may touch the next instance.
fn rotated() -> impl Strategy<Value = Tree> {
    let gap = || prop_oneof![3 => Just(0_i64), 1 => 1..4_i64];
    // From sixteen operations on, the plan has a list. Under Miri, the only case has one.
    let number = if cfg!(miri) { 17..22 } else { 2..40 };
    let blocks = proptest::collection::vec((1..4_u64, 1..6_i64), number);
    let runs = proptest::array::uniform2(0..3_u64);
    (runs, blocks, proptest::array::uniform3(gap())).prop_map(|(runs, blocks, gaps)| {
        let byte = || Tree::Basic(Basic::U8);
        let mut end = 0;
        let place = |(length, gap): (u64, i64)| {
            let start = end;
            end += length as i64 + gap;
            (length, start)
        };
        let blocks: Vec<(u64, i64)> = blocks.into_iter().map(place).collect();
        let end = blocks.last().map_or(0, |(length, start)| start + *length as i64);
        let list = Tree::Indexed(blocks, Box::new(byte()));
        let (first, stride) = (runs[0] as i64 + gaps[0], end + gaps[1]);
        let last = first + stride + end + gaps[1];
        let members = vec![
            (runs[0], 0, byte()),
            (1, first, Tree::Hvector(2, 1, stride, Box::new(list))),
            (runs[1], last, byte()),
        ];
        Tree::Resized(Box::new(Tree::Structure(members)), 0, last + runs[1] as i64 + gaps[2])
    })
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn segments_across_instances(
        tree in rotated(),
        times in 1_u64..4,
        count in counts(5),
        ends: (usize, usize),
    ) {
        for tree in [tree.clone(), Tree::Contiguous(times, Box::new(tree))] {
            let (committed, map) = (tree.build().unwrap().commit(), tree.map());
            check(&committed, &map, count, (0, map.size() * count), 9)?;
            check(&committed, &map, count, ends, 40)?;
        }
    }

    #[test]
    fn segments_of_many_operations(
        tree in wide(),
        times in 1_u64..4,
        stride in -40..500_i64,
        count in counts(4),
        ends: (usize, usize),
    ) {
        let extent = tree.map().extent();
        for stride in [stride, extent] {
            let tree = Tree::Hvector(times, 1, stride, Box::new(tree.clone()));
            let (committed, map) = (tree.build().unwrap().commit(), tree.map());
            check(&committed, &map, count, (0, map.size() * count), 3)?;
            check(&committed, &map, count, ends, 40)?;
        }
    }
}

/// Rows of few and of many blocks. A run may end where the first row starts, and each row may end where the next one starts.
/// Segments are taken one by one, all at once, and in windows that end anywhere in a row.
#[test]
fn rows_that_touch_or_not() {
    let byte = || Tree::Basic(Basic::U8);
    let lengths: &[u64] = if cfg!(miri) { &[9] } else { &[2, 7, 8, 9, 16, 33] };
    for (blocks, rows) in lengths.iter().flat_map(|blocks| [1, 3, 5].map(|rows| (*blocks, rows))) {
        let row = Tree::Vector(blocks, 2, 3, Box::new(byte()));
        let end = row.map().true_ub();
        for (before, gap) in [(0, 0), (0, 1), (4, 0), (4, 1), (5, 1), (5, -200)] {
            // The run touches the rows, or does not, or is absent.
            let run = (if before == 0 { 0 } else { 4 }, 0, byte());
            let rows = Tree::Hvector(rows, 1, end + gap, Box::new(row.clone()));
            let tree = Tree::Structure(vec![run, (1, before, rows)]);
            let (committed, map) = (tree.build().unwrap().commit(), tree.map());
            for count in [1, 3] {
                let bytes = map.bytes(count);
                check(&committed, &map, count, (0, bytes.len()), 9).unwrap();
                check(&committed, &map, count, (1, bytes.len() - 1), 40).unwrap();
                let expected = runs(&bytes);
                for window in [1, 7, 16, 17, 64] {
                    let mut iov = committed.iov(count, 0..bytes.len() as u64).unwrap();
                    for part in expected.chunks(window) {
                        let mut room = vec![Segment::default(); window];
                        assert_eq!(iov.fill(&mut room), part.len());
                        assert_eq!(&room[..part.len()], part, "{blocks} {before} {gap} {count}");
                    }
                    assert_eq!(iov.fill(&mut [Segment::default()]), 0);
                }
            }
        }
    }
}

/// A list in a loop between two runs. One run touches the list, and the other touches it in the next iteration, so the plan has
/// the list once more for the last iteration. Segments after the first three operations are numbered by where the second one
/// ends.
#[test]
fn a_list_in_a_loop_between_runs_that_touch_it() {
    let byte = || Box::new(Tree::Basic(Basic::U8));
    // Some blocks touch. The other 21 runs are enough for a list.
    let blocks: Vec<(u64, i64)> =
        (0_i64..24).map(|i| (1 + i.cast_unsigned() % 2, 4 * i + i % 3)).collect();
    let list = Tree::Indexed(blocks, byte());
    let (end, length) = (list.map().true_ub(), 2 * list.map().true_ub() + 3);
    let members = vec![
        (2, 0, *byte()),
        (1, 2, Tree::Hvector(2, 1, end + 3, Box::new(list))),
        (3, 2 + length, *byte()),
    ];
    let tree = Tree::Hvector(2, 1, 2 + length + 3, Box::new(Tree::Structure(members)));
    let (committed, map) = (tree.build().unwrap().commit(), tree.map());
    check(&committed, &map, 1, (1, map.size() - 1), 9).unwrap();
}

#[test]
fn a_huge_number_of_segments_is_counted_at_once() {
    let pairs = Type::vector(1 << 40, 1, 2, &Type::basic(Basic::U8)).unwrap();
    let table = Type::hvector(1 << 10, 1, 1 << 42, &pairs).unwrap().commit();
    if usize::BITS < 64 {
        assert!(matches!(table.iov(4, 0..1), Err(Error::CountTooLarge { count: 4, .. })));
        return;
    }
    let end = 1 << 52;
    let iov = table.iov(4, 0..end).unwrap();
    // The next instance starts where the previous one ends.
    assert_eq!(iov.segments(), (1 << 52) - 3);
    let number = 700 * (1 << 40) + 12_345;
    let mut late = table.iov(4, number..end).unwrap();
    assert_eq!(late.next(), Some(Segment { disp: 700 * (1 << 42) + 2 * 12_345, len: 1 }));
    assert_eq!(late.size_hint().0 as u64, (1 << 52) - 3 - number - 1);
    let of_bytes = Type::contiguous(1 << 60, &Type::basic(Basic::U8)).unwrap().commit();
    let mut iov = of_bytes.iov(3, 1..3 << 60).unwrap();
    assert_eq!((iov.segments(), iov.next().map(|one| one.len)), (1, Some((3 << 60) - 1)));
    assert_eq!((iov.next(), iov.segments()), (None, 0));
    // The largest countable number. Some segments have been found before. All instances are at one place, because they would
    // otherwise lie too far apart.
    let same = Type::resized(&Type::basic(Basic::U8), 0, 0).unwrap().commit();
    let mut iov = same.iov(usize::MAX, 0..u64::MAX).unwrap();
    for given in 0..40 {
        assert_eq!(iov.segments(), u64::MAX - given);
        assert!(iov.next().is_some());
    }
}

#[test]
fn chunks_of_slices_have_a_length() {
    let items = vec![[(1_u8, 2_u32); 3]; 50];
    let mut packer = Packer::new(&items);
    for position in [0, 1, 7, 8, 749, 750] {
        packer.set_position(position).unwrap();
        let chunks = packer.chunks();
        let hint = chunks.size_hint();
        let number = chunks.fold(0, |number, _| number + 1);
        assert_eq!(hint, (number, Some(number)));
    }
}
