//! What is chosen for which data. (`kernel::tests` checks that this is what is executed.)

use std::vec::Vec;

use super::super::tables::ARE_EXECUTED;
use super::records::*;
use super::*;
use crate::basic::Basic;
use crate::isa::selected;
use crate::plan::byte_map::ByteMap;
use crate::plan::costs::{self, Cost, NEVER};
use crate::types::Type;

const USES: [Use; 5] = [Use::Pack, Use::Unpack, Use::Keep, Use::Move, Use::Zero];

/// The byte map of runs: displacement and length of each.
fn bytes(runs: &[(i64, u64)]) -> ByteMap {
    let mut map = ByteMap::new();
    for &(disp, len) in runs {
        assert!(map.run(disp, len));
    }
    map
}

fn permuted(runs: &[(i64, u64)], stride: i64, time: usize) -> Permuted {
    Permuted::new(&bytes(runs), stride, 0, time).unwrap()
}

fn blocks_of(len: u64, count: u64, stride: i64) -> Blocks {
    Blocks { disp: 0, len, count, stride }
}

mod permutations {
    use super::*;

    #[test]
    fn they_pay_from_the_records_that_save_the_call() {
        // The example at the start of `choose`.
        assert_eq!(permuted(&[(0, 1), (8, 8)], 16, 8).from.pack, 20);
        for (runs, stride) in
            [(&[(0, 6)][..], 8), (&[(0, 1), (8, 8)], 16), (&[(0, 4), (60, 9)], 80)]
        {
            let all = permuted(runs, stride, 0);
            let (cost, records) = (permutation(&all.permutation), all.permutation.records());
            for time in 0..60 {
                let from = permuted(runs, stride, time).from;
                for what in USES {
                    let (from, Cost { call, step }) = (from.of(what), cost.of(what));
                    let theirs = |steps: usize| steps * records * time;
                    if from == NEVER {
                        assert!(step >= time * records, "{runs:?} {time} {what:?}");
                        continue;
                    }
                    assert!(from.is_multiple_of(records));
                    let steps = from / records;
                    assert!(call + steps * step <= theirs(steps), "{runs:?} {time} {what:?}");
                    assert!(call + (steps - 1) * step > theirs(steps - 1), "{runs:?} {time}");
                }
            }
        }
    }

    #[test]
    fn windows_that_cross_lines_take_longer_and_narrow_stores_less() {
        let step = |runs: &[(i64, u64)], stride| {
            let cost = permutation(&permuted(runs, stride, 0).permutation);
            [Use::Pack, Use::Unpack, Use::Keep].map(|what| cost.of(what).step)
        };
        let less = |one: [usize; 3], other: [usize; 3]| (0..3).all(|at| one[at] < other[at]);
        // 36 packed bytes from 64, and from 60.
        let (adjacent, apart) = (step(&[(0, 9)], 16), step(&[(0, 9)], 15));
        assert!(less(adjacent, apart));
        // 32 packed bytes.
        let narrow = step(&[(0, 8)], 16);
        assert!(narrow[0] < adjacent[0] && narrow[1..] == adjacent[1..]);
        assert_eq!(narrow, step(&[(0, 4)], 16));
        // A record of two vectors.
        assert!(less(apart, step(&[(0, 8), (80, 8)], 128)));
    }

    #[test]
    fn what_is_slower_for_each_record_pays_only_for_a_few() {
        let runs = [(0, 1), (8, 8)];
        let fast = permuted(&runs, 16, 100);
        assert!(fast.pays(Use::Pack, u64::MAX) && fast.pays(Use::Keep, u64::MAX));
        assert!(!fast.pays(Use::Zero, 1));
        // The greatest number of bytes, up to 64 KiB.
        let most = |call: usize, time, what| {
            let all = Permuted::new(&bytes(&[(0, 1), (8, 8)]), 16, call, time).unwrap();
            (0..1 << 16).take_while(|bytes| all.pays(what, *bytes)).count()
        };
        let [none, short, long] = [0, 200, 400].map(|call| most(call, 1, Use::Pack));
        // No bytes, and as many as the longer call takes time for.
        assert!(none == 1 && none < short && short < long && long < 1 << 16, "{short} {long}");
        assert!(most(200, 0, Use::Pack) < short && short < most(200, 2, Use::Pack));
        assert_eq!(most(200, 1, Use::Move), short);
    }

    #[test]
    fn records_far_apart_are_not_permuted() {
        let map = bytes(&[(0, 1), (2, 1), (4, 1), (6, 1), (8, 1)]);
        let is_permuted = |stride: &i64| Permuted::new(&map, *stride, 5, 20).is_some();
        assert!([16, 1024, -1024].iter().all(is_permuted));
        assert!(![1025, -1025, i64::MIN].iter().any(is_permuted));
    }
}

mod shuffles {
    use super::*;

    fn of(runs: &[(i64, u64)], stride: usize) -> Shuffle {
        let ops: Vec<Op> =
            runs.iter().map(|(disp, len)| Op::Blocks(Blocks::run(*disp, *len))).collect();
        let size = runs.iter().map(|(_, len)| usize::try_from(*len).unwrap()).sum();
        Shuffle::new(&RunList::expand(&ops).unwrap(), size, stride).unwrap()
    }

    #[test]
    fn they_pay_from_the_records_that_save_the_call_if_they_are_much_faster() {
        for all in [of(&[(0, 13)], 16), of(&[(0, 9), (12, 12)], 24), of(&[(0, 30)], 32)] {
            for (isa, costs) in
                [(Isa::Avx2, costs::avx2::SHUFFLE), (Isa::Neon, costs::neon::SHUFFLE)]
            {
                for time in 0..40 {
                    let from = shuffled_from(&all, time, isa);
                    for what in [Use::Pack, Use::Unpack, Use::Keep] {
                        let is_possible = match what {
                            Use::Pack => all.packs(),
                            Use::Unpack => true,
                            _ => all.keeps_gaps(),
                        };
                        let (from, Cost { call, step }) = (from.of(what), costs.of(what));
                        let (step, theirs) = (step * all.number(), time * all.records());
                        // A seventh less.
                        if !is_possible || step * 7 > theirs * 6 || theirs == 0 {
                            assert_eq!(from, NEVER, "{all:?} {time} {what:?}");
                            continue;
                        }
                        let periods = from / all.records();
                        assert!(from.is_multiple_of(all.records()));
                        assert!(call + periods * step <= periods * theirs, "{all:?} {time}");
                        let fewer = periods - 1;
                        assert!(call + fewer * step > fewer * theirs, "{all:?} {time}");
                    }
                }
            }
        }
    }

    #[test]
    fn only_some_instructions_shuffle() {
        let all = of(&[(0, 13)], 16);
        for isa in [Isa::Portable, Isa::Avx512] {
            assert!(shuffled_from(&all, 1000, isa).is_never());
        }
        assert!(Ways::shuffled(&all, 1000).is_some() && Ways::shuffled(&all, 0).is_none());
        // Registers that overlap do not keep the gaps; a run behind the next half is not packed.
        let overlapping = shuffled_from(&of(&[(0, 7), (9, 56)], 66), 1000, Isa::Avx2);
        assert!(
            overlapping.keep == NEVER && overlapping.unpack < NEVER && overlapping.pack < NEVER
        );
        let unordered = shuffled_from(&of(&[(0, 7), (24, 8), (7, 1)], 32), 1000, Isa::Avx2);
        assert!(unordered.pack == NEVER && unordered.keep < NEVER);
    }
}

mod slices {
    use super::*;

    /// The ways from 5 values on, by permutations; from 7 with AVX2, and from 9 with NEON, by shuffles.
    fn ways(len: usize) -> Ways {
        let uses = |pack| Uses { pack, unpack: pack + 10, keep: pack + 20 };
        Ways { permuted: uses(5), shuffled: Some([uses(7), uses(9)]), len }
    }

    #[test]
    fn the_selected_instructions_and_the_number_decide() {
        let isa = selected();
        let (least, many) = match isa {
            Isa::Portable => (NEVER, Slice::Moved),
            Isa::Avx2 => (7, Slice::Shuffled),
            Isa::Avx512 => (5, Slice::Permuted),
            Isa::Neon => (9, Slice::Shuffled),
        };
        for count in 0..40 {
            for (what, more) in [(Use::Pack, 0), (Use::Unpack, 10), (Use::Keep, 20)] {
                let is_many = count >= least.saturating_add(more);
                let expected = if is_many { many } else { Slice::Moved };
                assert_eq!(ways(0).choose(what, count, true), expected, "{isa} {what:?} {count}");
            }
        }
        // Padding that others access is not stored.
        if many == Slice::Shuffled {
            assert_eq!(ways(0).choose(Use::Pack, 100, false), Slice::Moved);
        }
        let never = Ways { permuted: Uses::NEVER, shuffled: None, len: 0 };
        assert_eq!(never.choose(Use::Pack, 1 << 20, true), Slice::Moved);
        for what in [Use::Pack, Use::Unpack, Use::Keep] {
            assert!(ways(0).permutes(what) && ways(0).shuffles(what));
            assert!(!never.permutes(what) && !never.shuffles(what));
        }
    }

    #[test]
    fn long_runs_are_copied_by_the_kernel_for_blocks_where_its_registers_are_wide() {
        let with = |isa| [65, 128, 129].map(|len| beats_pieces(isa, len));
        assert_eq!([Isa::Portable, Isa::Neon].map(with), [[false; 3]; 2]);
        assert_eq!(with(Isa::Avx2), [false, false, true]);
        assert_eq!(with(Isa::Avx512), [true; 3]);
        let of = |len| Ways { permuted: Uses::NEVER, shuffled: None, len };
        assert_eq!(
            [0, 64, 65, 1024, 1025].map(|len| of(len).has_long_runs()),
            [false, false, true, true, false]
        );
        // Too few bytes; enough.
        for (len, count) in [(65, 12), (65, 13), (200, 3), (200, 4), (64, 100), (1025, 100)] {
            let is_strided =
                of(len).has_long_runs() && count * len >= 800 && beats_pieces(selected(), len);
            let expected = if is_strided { Slice::Strided } else { Slice::Moved };
            assert_eq!(of(len).choose(Use::Pack, count, true), expected, "{len} {count}");
        }
    }
}

mod blocks_at_equal_distances {
    use super::*;

    #[test]
    fn moves_cover_a_block_and_nothing_else() {
        for isa in Isa::ALL {
            for len in 0..300 {
                let per = per_block(len, *isa);
                match (per, &moves_of(per)[..]) {
                    (PerBlock::None, []) => assert_eq!(len, 0),
                    (_, [first, second]) if first != second => {
                        assert_eq!(first + second, len, "{isa} {len}");
                    }
                    // The last of them ends where the block does, so they overlap.
                    (per, all) if !all.is_empty() && per != PerBlock::Long => {
                        let sum = all.iter().sum();
                        assert!(all[0] <= len && len <= sum, "{isa} {len}");
                        assert!(all.len() > 1 || sum == len, "{isa} {len}");
                    }
                    (PerBlock::Long, _) => assert!(len > 64, "{isa} {len}"),
                    other => panic!("{isa} {len}: {other:?}"),
                }
                // Two wide moves instead of three.
                let is_three = per == PerBlock::Three16;
                assert!(!is_three || isa.width() == 16 && (33..48).contains(&len), "{isa} {len}");
            }
        }
    }

    #[test]
    fn blocks_in_the_same_sets_are_stored_in_halves() {
        // The lengths of the blocks that are stored in halves.
        let lengths = |what, count, stride, apart, number| -> Vec<u64> {
            let is_in_halves = |len: &u64| {
                let row = blocks_of(*len, count, stride);
                let per = strided(&row, number, apart, Isa::Avx2, what);
                let halves = [PerBlock::Halves2, PerBlock::Halves4, PerBlock::Halves8];
                assert!(halves.contains(&per) || per == per_block(*len, Isa::Avx2));
                halves.contains(&per) && moves_of(per).iter().sum::<u64>() == *len
            };
            (1..40).filter(is_in_halves).collect()
        };
        for what in [Use::Unpack, Use::Keep] {
            // Rows of up to three blocks in one line.
            for (stride, apart) in [(4, 512), (-16, 1024), (63, -1536)] {
                assert_eq!(lengths(what, 3, stride, apart, 9), [4, 8, 16]);
                assert!(lengths(what, 4, stride, apart, 9).is_empty());
                assert!(lengths(what, 3, stride, apart, 1).is_empty());
            }
            for apart in [0, 511, 256, 800] {
                assert!(lengths(what, 3, 8, apart, 9).is_empty(), "{apart}");
            }
            // Blocks each in a line of its own.
            for (stride, apart) in [(512, 512), (-512, 4096), (1536, -2000)] {
                assert_eq!(lengths(what, 10, stride, apart, 9), [8, 16]);
            }
            assert_eq!(lengths(what, 10, 512, 0, 1), [8, 16]);
            for (stride, apart) in [(64, 512), (512, 511), (1024, 4096), (600, 4096)] {
                assert!(lengths(what, 3, stride, apart, 9).is_empty(), "{stride} {apart}");
            }
        }
        // Packing stores no blocks to memory, and stores are not all that moving does.
        for what in [Use::Pack, Use::Move, Use::Zero] {
            assert!(lengths(what, 3, 4, 512, 9).is_empty(), "{what:?}");
            assert!(lengths(what, 10, 512, 0, 1).is_empty(), "{what:?}");
        }
    }

    #[test]
    fn columns_are_copied_together_where_they_share_lines() {
        let of = |what, len, rows, row, count, apart| {
            together(&blocks_of(len, rows, row), count, apart, what)
        };
        let pack = |len, rows, row, count, apart| of(Use::Pack, len, rows, row, count, apart);
        assert_eq!((pack(8, 9, 4096, 100, 8), pack(8, 9, -4096, 2, -8)), (16, 16));
        assert_eq!((pack(16, 9, 4096, 100, 16), pack(4, 9, 4096, 100, 4)), (8, 16));
        // The lines of a column stay in the cache until the next column needs them.
        assert_eq!((pack(8, 8, 4096, 100, 8), pack(8, 16, 2048, 100, 8)), (1, 1));
        assert_eq!(pack(8, 17, 2048, 100, 8), 16);
        // A single column, columns that join or overlap, and columns far apart.
        let few = [(1, 8), (100, 0), (100, 4)];
        assert_eq!(few.map(|(count, apart)| pack(8, 9, 4096, count, apart)), [1; 3]);
        assert_eq!([64, 65, 128, 200].map(|apart| pack(8, 9, 4096, 100, apart)), [2, 1, 1, 1]);
        // Rows that share cache lines.
        assert_eq!([127, 128].map(|row| pack(8, 600, row, 100, 8)), [1, 16]);
        // Packed columns whose lines lie in one set.
        assert_eq!([Use::Pack, Use::Keep].map(|what| of(what, 8, 512, 8192, 100, 8)), [8, 16]);
    }

    #[test]
    fn rows_are_one_column_permuted_a_grid_or_tiles() {
        let row = blocks_of(4, 100, 8);
        let plan = Plan::of_blocks(row, 1 << 20);
        let of = |row: &Blocks, count, apart, isa| {
            named(&rows(row, plan.program(), count, apart, isa, Use::Pack))
        };
        for isa in Isa::ALL {
            // A row continues the one before it.
            let all = Blocks { count: 1000, ..row };
            assert_eq!(of(&row, 10, 800, *isa), format!("{:?}", Kernel::Blocks(all)));
            let is_permuted = ARE_EXECUTED && isa.permutes();
            let expected = if is_permuted { "rows, permute 8" } else { "Grid(One4)" };
            assert_eq!(of(&row, 10, 1000, *isa), expected, "{isa}");
            let column = blocks_of(8, 100, 4096);
            assert_eq!(of(&column, 10, 8, *isa), "Tiles(16)", "{isa}");
            assert_eq!(of(&column, 10, 256, *isa), "Grid(One8)", "{isa}");
        }
    }

    #[test]
    fn few_or_distant_blocks_are_not_permuted() {
        assert_eq!([1, 2, 3].map(|count| are_few(&blocks_of(4, count, 8))), [true, true, false]);
        let may_be = |count, stride| may_be_column(&blocks_of(1, count, stride));
        assert!(may_be(8, 63) && may_be(100, -63));
        assert!(!may_be(7, 63) && !may_be(8, 64) && !may_be(8, -64));
        let plan = Plan::of_blocks(blocks_of(4, 100, 8), 1 << 20);
        let of =
            |count, isa, what| named(&blocks(&blocks_of(4, count, 8), plan.program(), isa, what));
        let many = if ARE_EXECUTED { "permute 8" } else { "Strided(One4)" };
        assert_eq!(of(2, Isa::Avx512, Use::Pack), "Copy");
        assert_eq!(of(7, Isa::Avx512, Use::Pack), "Strided(One4)");
        // From as many on as are faster than moves.
        let from = permuted(&[(0, 4)], 8, costs::moves(4)).from.pack as u64;
        assert!((8..100).contains(&from));
        let around = [from - 1, from, 100].map(|count| of(count, Isa::Avx512, Use::Pack));
        assert_eq!(around, ["Strided(One4)", many, many]);
        assert_eq!(of(100, Isa::Avx512, Use::Zero), "Strided(One4)");
        for isa in [Isa::Portable, Isa::Avx2, Isa::Neon] {
            assert_eq!(of(100, isa, Use::Pack), "Strided(One4)");
        }
    }
}

/// The kernel, with the number of records or runs instead of its tables.
pub(crate) fn named(kernel: &Kernel<'_>) -> String {
    match kernel {
        Kernel::Permutation(all) => format!("permute {}", all.records()),
        Kernel::PermutedRows(all) => format!("rows, permute {}", all.records()),
        Kernel::Records(all) => format!("records {}", all.runs.len()),
        Kernel::Runs(all) => format!("runs {}", all.len()),
        Kernel::Flat(all) => format!("list of {}", all.list.count()),
        other => format!("{other:?}"),
    }
}

/// What is chosen for `count` instances of a plan, to the end.
pub(crate) fn chosen(plan: &Plan, count: u64, isa: Isa, what: Use) -> String {
    let room = &mut None;
    match instances(plan, count, isa, what, room) {
        Kernel::Blocks(all) => named(&blocks(&all, plan.program(), isa, what)),
        kernel => named(&kernel),
    }
}

/// A record with runs at these displacements, and the distance from one to the next.
pub(crate) fn record(runs: &[(i64, u64)], extent: i64) -> Type {
    let (disps, lens): (Vec<i64>, Vec<u64>) = runs.iter().copied().unzip();
    let record = Type::hindexed(&lens, &disps, &Type::basic(Basic::U8)).unwrap();
    Type::resized(&record, 0, extent).unwrap()
}

pub(crate) fn column(len: u64, stride: i64, count: u64) -> Type {
    Type::hvector(count, len, stride, &Type::basic(Basic::U8)).unwrap()
}

mod instances_of_plans {
    use super::*;

    /// The kernels to pack `count` instances, without permutations and with them.
    fn pack(ty: &Type, count: u64) -> [String; 2] {
        let committed = ty.commit();
        let [portable, avx2, avx512, neon] = [Isa::Portable, Isa::Avx2, Isa::Avx512, Isa::Neon]
            .map(|isa| chosen(committed.plan(), count, isa, Use::Pack));
        assert_eq!(portable, neon, "{ty:?}");
        // Only the registers differ.
        assert!(avx2 == portable || avx2.starts_with("Strided"), "{avx2} {portable}");
        let avx512 = if ARE_EXECUTED { avx512 } else { portable.clone() };
        [portable, avx512]
    }

    #[test]
    fn a_few_records_are_walked_and_many_are_permuted_or_copied_run_by_run() {
        let three = record(&[(0, 1), (4, 2), (8, 1)], 16);
        assert_eq!(pack(&three, 0), ["Nothing"; 2]);
        // One run after another, up to 24 runs of all instances.
        let or_permuted = |other| [other, if ARE_EXECUTED { "permute 4" } else { other }];
        assert_eq!(pack(&three, 8), or_permuted("Copy"));
        assert_eq!(pack(&three, 9), or_permuted("records 3"));
        assert_eq!(pack(&three, 1000), or_permuted("records 3"));
        // Too far apart for a permutation, and for a tile.
        let [far, farther] = [2048, 2049].map(|extent| Type::resized(&three, 0, extent).unwrap());
        assert_eq!(pack(&far, 9), ["records 3"; 2]);
        assert_eq!(pack(&farther, 9), ["Walk"; 2]);
        // More than 64 bytes.
        let long = record(&[(0, 40), (48, 60)], 120);
        let or_copied = |kernel| if ARE_EXECUTED { kernel } else { "Copy" };
        assert_eq!(pack(&long, 3)[1], or_copied("records 2"));
        assert_eq!(pack(&long, 2)[1], or_copied("Walk"));
    }

    #[test]
    fn only_one_instance_of_several_operations_and_few_bytes_is_permuted() {
        let one = |runs: &[(i64, u64)]| pack(&record(runs, 200), 1);
        assert_eq!(
            one(&[(0, 1), (4, 2), (9, 1)]),
            ["Walk", if ARE_EXECUTED { "permute 1" } else { "Walk" }]
        );
        // Two operations, and too many bytes.
        assert_eq!(one(&[(0, 1), (4, 2)]), ["Walk"; 2]);
        assert_eq!(one(&[(0, 30), (40, 30), (80, 5)]), ["Walk"; 2]);
        let committed = record(&[(0, 1), (4, 2), (9, 1)], 200).commit();
        for what in [Use::Move, Use::Zero] {
            assert_eq!(chosen(committed.plan(), 1, Isa::Avx512, what), "Walk");
        }
    }

    #[test]
    fn zeros_are_neither_permuted_nor_found_by_packed_bytes() {
        let committed = record(&[(0, 1), (4, 2), (8, 1)], 16).commit();
        let of = |what| chosen(committed.plan(), 1000, Isa::Avx512, what);
        assert_eq!(of(Use::Zero), "runs 3");
        assert_eq!(of(Use::Move), if ARE_EXECUTED { of(Use::Pack) } else { of(Use::Zero) });
        assert_eq!(chosen(committed.plan(), 1000, Isa::Avx2, Use::Move), "runs 3");
    }

    #[test]
    fn instances_that_touch_are_linked() {
        let touching = record(&[(0, 1), (8, 8)], 16);
        assert_eq!(
            pack(&touching, 1000),
            ["records 1", if ARE_EXECUTED { "permute 4" } else { "records 1" }]
        );
        // One block over all instances, blocks in which each instance continues the one before, and blocks that touch it.
        let of = |extent| {
            let plan = Plan::of_blocks(Blocks { disp: 0, len: 4, count: 2, stride: 40 }, extent);
            [1, 2, 1000].map(|count| chosen(&plan, count, Isa::Portable, Use::Pack))
        };
        assert_eq!(of(80), ["Walk", "Strided(One4)", "Strided(One4)"]);
        assert_eq!(of(44), ["Walk", "Walk", "records 1"]);
        assert_eq!(of(100), ["Walk", "Grid(One4)", "Grid(One4)"]);
        let dense = Type::contiguous(16, &Type::basic(Basic::U8)).unwrap();
        assert_eq!(pack(&dense, 1000), ["Copy"; 2]);
    }

    #[test]
    fn nests_of_short_loops_are_lists_unless_many_repetitions_are_near() {
        // Three rows of two runs, of 87 bytes together.
        let nest = Type::hvector(3, 1, 50, &record(&[(0, 16), (20, 13)], 40)).unwrap();
        let of = |count, stride| {
            let all = Type::hvector(count, 1, stride, &nest).unwrap();
            let both = Type::structure(&[1, 1], &[0, 1 << 20], &[all, record(&[(0, 99)], 200)]);
            let committed = both.unwrap().commit();
            let program = committed.plan().program();
            let [Op::Loop { count, stride, .. }, ..] = *program.instance() else {
                panic!("{:?}", committed.plan())
            };
            let (_, body, _) = crate::plan::split_first(program.instance()).unwrap();
            let room = &mut None;
            named(&repeated(body, program, count, stride, Isa::Avx2, Use::Pack, room))
        };
        assert_eq!([7, 8].map(|count| of(count, 200)), ["list of 6", "runs 6"]);
        assert_eq!(of(8, 2048), "runs 6");
        assert_eq!(of(8, 2056), "list of 6");
    }
}

/// The lengths of the moves that copy a block.
pub(crate) fn moves_of(per: PerBlock) -> Vec<u64> {
    let (number, width) = match per {
        PerBlock::Touching2_1 => return vec![2, 1],
        PerBlock::Touching4_2 => return vec![4, 2],
        PerBlock::Touching8_2 => return vec![8, 2],
        PerBlock::Touching8_4 => return vec![8, 4],
        PerBlock::Touching16_4 => return vec![16, 4],
        PerBlock::Touching16_8 => return vec![16, 8],
        PerBlock::Touching32_8 => return vec![32, 8],
        PerBlock::One1 => (1, 1),
        PerBlock::One2 => (1, 2),
        PerBlock::One4 => (1, 4),
        PerBlock::One8 => (1, 8),
        PerBlock::One16 => (1, 16),
        PerBlock::One32 => (1, 32),
        PerBlock::Two1 => (2, 1),
        PerBlock::Two2 | PerBlock::Halves2 => (2, 2),
        PerBlock::Two4 | PerBlock::Halves4 => (2, 4),
        PerBlock::Two8 | PerBlock::Halves8 => (2, 8),
        PerBlock::Two16 => (2, 16),
        PerBlock::Two32 => (2, 32),
        PerBlock::Three16 => (3, 16),
        PerBlock::Four1 => (4, 1),
        PerBlock::Four2 => (4, 2),
        PerBlock::Four4 => (4, 4),
        PerBlock::Four8 => (4, 8),
        PerBlock::Four16 => (4, 16),
        PerBlock::Four32 => (4, 32),
        PerBlock::None
        | PerBlock::Masked32
        | PerBlock::Masked64
        | PerBlock::Long
        | PerBlock::Varied => (0, 0),
    };
    vec![width; number]
}
