//! The compiler's fast paths give the same result as the slow one, and it merges what it should.

use super::*;
use crate::commit::builder::tests::bytes_of_ops;
use crate::commit::irregular::REGULAR;
use crate::plan::choose::records::MAX_RECORD_DISTANCE;
use crate::plan::{EntryKind, Plan};
use crate::types::Order;
use crate::{Basic, Committed};
use dtype_test_support::numbers::Numbers;

/// Blocks of every kind that lists distinguish: irregular blocks; regular ones, about as many as become an operation of their
/// own; blocks that touch; distant blocks; blocks of one length and of several.
fn blocks(numbers: &mut Numbers, are_equal: bool) -> Vec<Block> {
    let mut all: Vec<Block> = Vec::new();
    let mut len = 1 + numbers.below(9);
    let mut last = Block { disp: 0, len };
    for _ in 0..=numbers.below(9) {
        let number = match numbers.below(4) {
            0 => 1 + numbers.below(40),
            1 => 60 + numbers.below(8),
            2 => 124 + numbers.below(8),
            _ => 1 + numbers.below(300),
        };
        let (kind, stride) = (numbers.below(8), numbers.around(400));
        for _ in 0..number {
            if !are_equal && (kind < 3 || numbers.below(100) == 0) {
                len = 1 + numbers.below(5);
            }
            let disp = match kind {
                0 | 4 => numbers.around(1 << 20),
                1 | 5 => last.disp + stride,
                // Occasionally two blocks that touch.
                2 if numbers.below(30) == 0 => last.disp + last.len.cast_signed(),
                2 => numbers.around(1 << 12),
                // Occasionally a distant block, or one near the end of 32 bits.
                3 | 6 if numbers.below(50) == 0 => numbers.around(1 << 40),
                3 | 6 if numbers.below(50) == 0 => (1 << 31) + numbers.around(40),
                // Pairs at equal distances, which become counted operations.
                7 if numbers.below(3) == 0 => last.disp + stride,
                _ => numbers.around(1 << 16),
            };
            last = Block { disp, len };
            all.push(last);
        }
    }
    all
}

/// The result of adding blocks in batches of `at_once`, inside a loop or not.
fn made(
    before: Option<Block>,
    in_loop: bool,
    all: &[Block],
    mut add: impl FnMut(&mut Compiler<'_>, &[Block]),
) -> (Vec<Op>, Option<Box<Lists>>) {
    let mut few = [Op::NONE; SCRATCH];
    let mut compiler = Compiler::new(&mut few);
    if let Some(block) = before {
        compiler.elem(elem(block));
    }
    let open = in_loop.then(|| compiler.begin());
    add(&mut compiler, all);
    if let Some(open) = open {
        compiler.end(open, 3, 1 << 41);
    }
    let made = compiler.finish(1 << 44);
    (made.ops.to_vec(), made.lists)
}

/// The number of entries in the lists among these operations: one for each block, and one more after blocks of different
/// lengths.
fn entries(ops: &[Op]) -> usize {
    let of = |op: &Op| match op {
        Op::List(list) => list.count as usize + usize::from(list.block_len().is_none()),
        _ => 0,
    };
    ops.iter().map(of).sum()
}

/// The entries in tables.
fn kept(lists: Option<&Lists>) -> usize {
    lists.map_or(0, |all| {
        all.even.len() + all.varied.len() + all.wide_even.len() + all.wide_varied.len()
    })
}

fn elem(Block { disp, len }: Block) -> Elem {
    Elem { basic: Basic::U8, count: len, disp, extent: 1 }
}

#[test]
fn blocks_that_come_at_once_become_what_they_become_one_by_one() {
    let mut numbers = Numbers(7);
    let (mut with_lists, mut regular) = (0, 0);
    for case in 0..3000 {
        let are_equal = case % 2 == 0;
        let all = blocks(&mut numbers, are_equal);
        let before = (numbers.below(3) == 0).then_some(Block { disp: -77, len: 3 });
        let in_loop = numbers.below(3) == 0;
        let expected = made(before, in_loop, &all, |compiler, all| {
            for block in all {
                compiler.elem(elem(*block));
            }
        });
        let at_once = usize::try_from(1 + numbers.below(200)).unwrap();
        let actual = made(before, in_loop, &all, |compiler, all| {
            for part in all.chunks(at_once) {
                compiler.elems(part.iter().map(|block| elem(*block)));
            }
        });
        // Not `assert_eq!`: a message with thousands of blocks would help nobody.
        assert!(actual == expected, "case {case}, {at_once} at once");
        assert!(
            in_loop || entries(&actual.0) == kept(actual.1.as_deref()),
            "case {case}, unused entries"
        );
        with_lists += u32::from(expected.1.is_some());
        regular += u32::from(
            expected.0.iter().any(|op| matches!(op, Op::Blocks(blocks) if blocks.count >= 64)),
        );
    }
    assert!(with_lists > 2000 && regular > 500, "{with_lists} {regular}");
}

#[test]
fn blocks_at_equal_distances_need_no_compiler() {
    let bytes = Type::basic(Basic::U8);
    let wide = Type::resized(&bytes, -2, 5).unwrap();
    let moved = Type::hindexed(&[3], &[-8], &bytes).unwrap();
    let mut numbers = Numbers(3);
    let mut tested = 0;
    for _ in 0..20_000 {
        let old = *numbers.one_of(&[&bytes, &wide, &moved]);
        let (count, blocklength) = (1 + numbers.below(5), 1 + numbers.below(4));
        let ty = match numbers.below(4) {
            0 => Type::vector(count, blocklength, numbers.around(6), old),
            1 => Type::hvector(count, blocklength, numbers.around(12), old),
            2 => Type::contiguous(count, old),
            _ => {
                let sizes = [2 + numbers.below(3), 2 + numbers.below(3)];
                Type::subarray(
                    &sizes,
                    &[2, 1 + numbers.below(2)],
                    &[0, 1 - numbers.below(1)],
                    Order::C,
                    old,
                )
                .or_else(|_| Type::dup(old))
            }
        };
        let ty = ty.unwrap();
        let ty = if numbers.below(2) == 0 {
            Type::resized(&ty, numbers.around(8), numbers.around(60)).unwrap()
        } else {
            Type::dup(&ty).unwrap()
        };
        let Some(level) = ty.as_level() else { continue };
        tested += 1;
        let extent = ty.extent();
        let expected = Plan::of_program(
            Compiler::new(&mut [Op::NONE; SCRATCH]).compile(&ty, extent),
            ty.size(),
        );
        assert_eq!(ty.commit().plan(), &expected, "{level:?}");
    }
    assert!(tested > 15_000, "{tested}");
}

/// A type of `count` instances of `old`, which are `stride` bytes apart.
fn copies(count: u64, stride: i64, old: &Type) -> Type {
    Type::hvector(count, 1, stride, old).unwrap()
}

/// `ty`, committed for instances so far apart that the plan consists of its operations.
fn far_apart(ty: &Type) -> Committed {
    Type::resized(ty, ty.lb(), MAX_RECORD_DISTANCE.cast_signed()).unwrap().commit()
}

#[test]
fn loops_that_continue_each_other_become_one() {
    let bytes = Type::basic(Basic::U8);
    let pair = Type::hindexed(&[1, 2], &[0, 5], &bytes).unwrap();
    for (count, stride) in [(2, 10), (2, -30), (3, 9), (4, 16), (1, 20)] {
        let inner = copies(count, stride, &pair);
        let once = bytes_of_ops(far_apart(&inner).plan().ops(), 0);
        let with_head =
            Type::structure(&[1, 1], &[-100, 0], &[bytes.clone(), inner.clone()]).unwrap();
        for outer in -130..130 {
            let ty = copies(3, outer, &inner);
            let plan = far_apart(&ty);
            let ops = plan.plan().ops();
            let expected = (0..3).flat_map(|n| once.iter().map(move |at| at + n * outer));
            assert_eq!(
                bytes_of_ops(ops, 0),
                expected.collect::<Vec<_>>(),
                "{count} {stride} {outer}"
            );
            let continues = outer == stride * count.cast_signed();
            let loops = ops.iter().filter(|op| matches!(op, Op::Loop { .. })).count();
            // There is a single loop if the outer loop continues the inner one, or if there is no inner loop.
            assert!(!(continues || count == 1) || loops <= 1, "{count} {stride} {outer} {ops:?}");

            // With something before the inner loop, the two loops are never merged.
            let ty = copies(3, outer, &with_head);
            let plan = far_apart(&ty);
            let all = iter::once(-100).chain(once.iter().copied());
            let expected = (0..3).flat_map(|n| all.clone().map(move |at| at + n * outer));
            let actual = bytes_of_ops(plan.plan().ops(), 0);
            assert_eq!(actual, expected.collect::<Vec<_>>(), "{count} {stride} {outer}");
        }
    }
}

#[test]
fn a_loop_is_rotated_wherever_it_starts() {
    let bytes = Type::basic(Basic::U8);
    let place = |i: i64| i * (i + 2);
    let runs = |number: i64, last: u64| {
        let lengths: Vec<u64> = (0..number)
            .map(|i| if i == number - 1 { last } else { 1 + u64::from(i % 2 == 0) })
            .collect();
        let places: Vec<i64> = (0..number).map(place).collect();
        Type::hindexed(&lengths, &places, &bytes).unwrap()
    };
    let rows = Type::vector(3, 1, 3, &bytes).unwrap();
    let rows = copies(2, 50, &rows);
    for items in [2, 9, 15] {
        let body = runs(items, 3);
        let (items, stride) = (usize::try_from(items).unwrap(), place(items - 1) + 3);
        for before in 0..90 {
            // Loops of two dimensions, which stay operations.
            let mut few = [Op::NONE; SCRATCH];
            let mut compiler = Compiler::new(&mut few);
            for n in 0..before {
                walk(&rows, 1000 * n, &mut compiler);
            }
            walk(&copies(9, stride, &body), -1 << 30, &mut compiler);
            let written = compiler.finish(1 << 40);
            let before = usize::try_from(before).unwrap();
            let rotated = 2 * items - usize::from(items == 2);
            assert_eq!(written.ops.len(), 2 * before + rotated, "{before} {items}");
        }
    }
}

#[test]
fn a_list_that_loses_nearly_all_blocks_is_written_as_operations() {
    let mut numbers = Numbers(2);
    for different in 1..20_u64 {
        let mut at = 0;
        let all: Vec<Block> = (0..different + 200)
            .map(|i| {
                let len = if i < different { 20 + i } else { 7 };
                at += 40 + numbers.below(30).cast_signed();
                Block { disp: at, len }
            })
            .collect();
        let (ops, lists) = made(None, true, &all, |compiler, all| {
            for block in all {
                compiler.elem(elem(*block));
            }
        });
        let lists: Vec<u64> = ops
            .iter()
            .filter_map(|op| if let Op::List(list) = op { Some(list.count()) } else { None })
            .inspect(|count| assert!(lists.is_some() && *count >= MIN_BLOCKS_OF_LIST))
            .collect();
        assert_eq!(
            lists.len(),
            1 + usize::from(different >= MIN_BLOCKS_OF_LIST),
            "{different} {lists:?}"
        );
    }
}

#[test]
fn loops_repeat_the_bytes_of_their_bodies() {
    let bytes = Type::basic(Basic::U8);
    let ops = |ty: &Type| far_apart(ty).plan().ops().to_vec();
    let mut numbers = Numbers(11);
    for _ in 0..3000 {
        // Runs and pairs of runs in any order, some of which touch.
        let (mut places, mut lengths) = (Vec::new(), Vec::new());
        for _ in 0..=numbers.below(4) {
            let (len, disp) = (1 + numbers.below(3), numbers.around(12));
            for i in 0..=numbers.below(2).cast_signed() {
                places.push(disp + 4 * i);
                lengths.push(len);
            }
        }
        let body = Type::hindexed(&lengths, &places, &bytes).unwrap();
        let (count, stride) = (1 + numbers.below(6), numbers.around(30));
        let looped = copies(count, stride, &body);
        let before = Type::structure(
            &[1, 1],
            &[-9 + numbers.around(4), 0],
            &[Type::contiguous(3, &bytes).unwrap(), looped.clone()],
        );
        let once = bytes_of_ops(&ops(&body), 0);
        for ty in [looped, before.unwrap()] {
            let all = bytes_of_ops(&ops(&ty), 0);
            let each =
                (0..count.cast_signed()).flat_map(|i| once.iter().map(move |at| at + i * stride));
            assert!(all.ends_with(&each.collect::<Vec<_>>()), "{places:?} {lengths:?} {ty:?}");
        }
    }

    // The joined iterations are 7 blocks and two ends instead of 8 pairs.
    let pair = Type::vector(2, 1, 2, &Type::basic(Basic::U64)).unwrap();
    assert_eq!(ops(&Type::contiguous(8, &pair).unwrap()).len(), 3);
}

#[test]
fn many_irregular_operations_of_few_blocks_each_are_a_list() {
    // Lists of these numbers of blocks of 4 bytes, at distances that are all different.
    let is_list = |counts: &[u64]| {
        let u32 = Type::basic(Basic::U32);
        let parts: Vec<Type> =
            counts.iter().map(|count| Type::hvector(*count, 1, 16, &u32).unwrap()).collect();
        let disps: Vec<i64> = (1..).map(|i| 300 * i * i).take(counts.len()).collect();
        let all = Type::structure(&vec![1; counts.len()], &disps, &parts).unwrap().commit();
        matches!(all.plan().ops(), [Op::List(_)])
    };
    // Any two blocks are at equal distances and become one operation, so 31 blocks become 16.
    assert!(is_list(&[1; 31]) && !is_list(&[1; 30]));
    // Eight blocks for each operation on average.
    let mut counts = [8; 16];
    assert!(is_list(&counts));
    counts[3] += 1;
    assert!(!is_list(&counts));
}

#[test]
fn few_operations_need_no_allocation() {
    // Runs before a loop over runs, all of different lengths.
    let allocated = |before: u64, items: u64| {
        let mut few = [Op::NONE; SCRATCH];
        let mut compiler = Compiler::new(&mut few);
        let block = |i: u64| Block { disp: (100 * i).cast_signed(), len: 1 + i };
        (0..before).for_each(|i| compiler.elem(elem(block(i))));
        let open = compiler.begin();
        (0..items).for_each(|i| compiler.elem(elem(block(i))));
        compiler.end(open, 3, 1 << 30);
        compiler.finish(1 << 40);
        compiler.many.len()
    };
    // Ending the loop takes room for a second copy of its body, and for what joins the two copies.
    assert_eq!([(1, 3), (1, 4), (3, 2), (4, 2)].map(|(n, m)| allocated(n, m)), [0, MANY, 0, MANY]);
    let with_room = |room| {
        let mut few = [Op::NONE; SCRATCH];
        let mut compiler = Compiler::new(&mut few);
        compiler.elem(elem(Block { disp: 7, len: 3 }));
        compiler.build(room - 1, |_| ());
        assert_eq!(compiler.written(), [Op::Blocks(Blocks::run(7, 3))]);
        compiler.many.len()
    };
    assert_eq!([SCRATCH, SCRATCH + 1, MANY, MANY + 1].map(with_room), [0, MANY, MANY, 2 * MANY]);
}

#[test]
fn lists_have_the_shortest_entries() {
    // The lists that these blocks (place and length) become: the number of blocks, and the kind of entry.
    let lists = |blocks: &mut dyn Iterator<Item = (i64, u64)>| {
        let all: Vec<Block> = blocks.map(|(disp, len)| Block { disp, len }).collect();
        let (ops, _) = made(None, true, &all, |compiler, all| {
            for block in all {
                compiler.elem(elem(*block));
            }
        });
        let list = |op: &Op| {
            if let Op::List(list) = op { Some((list.count(), list.kind)) } else { None }
        };
        ops.iter().filter_map(list).collect::<Vec<_>>()
    };
    let places = |step: i64| (0..100).map(move |i| step * i * (i + 3));
    // Forwards, backwards, and too far away.
    assert_eq!(lists(&mut places(8).map(|disp| (disp, 4))), [(100, EntryKind::Even)]);
    assert_eq!(lists(&mut places(-8).map(|disp| (disp, 4))), [(100, EntryKind::Even)]);
    assert_eq!(lists(&mut places(1 << 30).map(|disp| (disp, 4))), [(100, EntryKind::WideEven)]);
    // The limit is on the sum of the lengths, not on a product.
    let lengths = (0..100).map(|i| 200_000 * (1 + i % 3));
    assert_eq!(lists(&mut places(200_000).zip(lengths)), [(100, EntryKind::Varied)]);
    // Many blocks of one length after others become a list of their own.
    let ended = |alike: u64| {
        let len = |i| if i < 100 - alike { 1 + i % 3 } else { 7 };
        lists(&mut places(8).zip((0..100).map(len)))
    };
    assert_eq!(ended(31), [(100, EntryKind::Varied)]);
    assert_eq!(ended(32), [(68, EntryKind::Varied), (32, EntryKind::Even)]);
    // Pairs that touch are blocks of one length.
    let pairs = places(8).flat_map(|disp| [(disp, 2), (disp + 2, 2)]);
    assert_eq!(lists(&mut pairs.take(80)), [(40, EntryKind::Even)]);
}

#[test]
fn equal_blocks_that_nothing_happens_to_are_added_at_once() {
    let place = |i: i64| 8 * i * (i + 3);
    let at = |disp| Block { disp, len: 4 };
    // Whether `next` is added to a list of `known` blocks at once, without [`Lists::extend`].
    let added = |known: i64, next: &[Block]| {
        let mut lists = Lists::new();
        let mut open = OpenList::new(at(place(0)));
        lists.extend(&mut open, (1..known).map(|i| at(place(i)))).unwrap();
        let mut rest = next.iter().copied();
        let added = lists.extend_plainly(&mut open, &mut rest);
        // The last block is pending, outside the table.
        let (more, left) = if added { (next.len(), 0) } else { (0, next.len()) };
        let in_table = usize::try_from(known).unwrap() + more - 1;
        assert_eq!((open.count(), kept(lists.finish().as_deref())), (in_table as u64, in_table));
        assert_eq!(rest.len(), left);
        added
    };
    let next: Vec<Block> = (2..100).map(|i| at(place(i))).collect();
    assert!(added(2, &next) && added(2, &next[..1]));
    assert!(!added(1, &next) && !added(2, &[]));
    // A block of another length, a block that touches, and blocks that become an operation.
    let longer = Block { len: 5, ..next[0] };
    let regular: Vec<Block> = (0..2 + i64::from(REGULAR)).map(|i| at(place(2) + 8 * i)).collect();
    assert!(!added(2, &[longer]) && !added(2, &[at(place(1) + 4)]) && !added(2, &regular));
}
