//! The naive reference, and random types to compare with it.

mod tree;

use crate::cases::cases;
use dtype_runtime::Basic;
use dtype_runtime::types::{Distribution, Order, Pair};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

pub use tree::{Map, Tree, has_duplicates};

/// The number of cases that [`cases`] chooses, with failing cases kept beside the test. Miri runs one in four hundred of
/// `thorough`, and writes no files.
pub fn config(thorough: u32) -> ProptestConfig {
    let kept = FileFailurePersistence::WithSource("regressions");
    ProptestConfig {
        cases: cases(thorough, thorough.div_ceil(400)),
        failure_persistence: if cfg!(miri) { None } else { Some(Box::new(kept)) },
        ..ProptestConfig::default()
    }
}

/// The maximum size of a random type in bytes.
const MAX_SIZE: usize = if cfg!(miri) { 300 } else { 20_000 };

/// A dimension's size, subsize and start.
fn dimension() -> impl Strategy<Value = (u64, u64, u64)> {
    (1..6_u64).prop_flat_map(|size| {
        (1..=size).prop_flat_map(move |subsize| (Just(size), Just(subsize), 0..=size - subsize))
    })
}

/// A dimension's size, distribution and number of processes, and a coordinate.
fn share() -> impl Strategy<Value = ((u64, Distribution, u64), u64)> {
    (1..8_u64, 1..4_u64).prop_flat_map(|(size, processes)| {
        let least = size.div_ceil(processes);
        let kinds = prop_oneof![
            Just((Distribution::None, 1)),
            Just((Distribution::Block(None), processes)),
            (least..least + 3).prop_map(move |n| (Distribution::Block(Some(n)), processes)),
            Just((Distribution::Cyclic(None), processes)),
            (1..4_u64).prop_map(move |n| (Distribution::Cyclic(Some(n)), processes)),
        ];
        kinds.prop_flat_map(move |(kind, processes)| (Just((size, kind, processes)), 0..processes))
    })
}

/// Enough blocks for a list in a plan: stretches of equal blocks at equal strides. Most stretches have one block, and some are
/// long.
fn long_list() -> impl Strategy<Value = Vec<(u64, i64)>> {
    let times = prop_oneof![20 => 1..3_usize, 1 => 1..80_usize];
    let stretch = (1..4_u64, -1..4_i64, times);
    (proptest::collection::vec(stretch, 4..40), any::<bool>()).prop_map(|(stretches, varied)| {
        let mut at = 0;
        let mut blocks = Vec::new();
        for (length, gap, times) in stretches {
            let length = if varied { length } else { 1 };
            for _ in 0..times {
                blocks.push((length, at));
                at += length as i64 + gap;
            }
        }
        blocks
    })
}

/// The predefined datatypes that are not a single named value.
fn predefined() -> impl Strategy<Value = Tree> {
    let unnamed = vec![
        (Basic::F64, Basic::U64),
        (Basic::I8, Basic::F64),
        (Basic::LongDouble, Basic::Long),
        (Basic::U16, Basic::U8),
        (Basic::Real, Basic::Int),
    ];
    let request = (proptest::option::of(0..34_u32), 0..4932_u32);
    prop_oneof![
        proptest::sample::select(Pair::ALL).prop_map(Tree::Pair),
        proptest::sample::select(unnamed).prop_map(|(value, index)| Tree::ValueIndex(value, index)),
        request.clone().prop_map(|(p, r)| Tree::F90Real(p, Some(r))),
        request.prop_map(|(p, r)| Tree::F90Complex(p, p.map_or(Some(r), |_| None))),
        (0..39_u32).prop_map(Tree::F90Integer),
    ]
}

/// Random trees of every basic datatype.
pub fn trees() -> impl Strategy<Value = Tree> {
    trees_with_lists(0)
}

/// Like [`trees`], with lists of many blocks among the leaves. `weight` says how often.
pub fn trees_with_lists(weight: u32) -> impl Strategy<Value = Tree> {
    let basic = proptest::sample::select(Basic::ALL).prop_map(Tree::Basic);
    // The lists have single elements, with or without gaps, so that the types around them remain small.
    let old = (basic.clone(), 0..4_i64).prop_map(|(basic, gap)| {
        let extent = basic.map().extent() + gap;
        Box::new(if gap < 3 { basic } else { Tree::Resized(Box::new(basic), 0, extent) })
    });
    let lists = (long_list(), 0..3_u8, old).prop_map(|(blocks, call, old)| {
        let places = blocks.iter().map(|block| block.1);
        match call {
            0 => Tree::IndexedBlock(1, places.collect(), old),
            1 => Tree::HindexedBlock(1, places.map(|place| 3 * place - 50).collect(), old),
            _ => Tree::Indexed(blocks, old),
        }
    });
    let leaf = prop_oneof![
        weight => lists,
        12 => basic,
        3 => predefined(),
        1 => Just(Tree::LbMarker),
        1 => Just(Tree::UbMarker),
    ];
    trees_of(leaf, 1)
}

/// Random trees with such leaves, small enough to be written out: negative strides, empty blocks, markers, resized and
/// overlapping parts, and many adjacent blocks. Structures of UCX have this weight, and all constructors of MPI together have
/// 14.
pub fn trees_of(
    leaf: impl Strategy<Value = Tree> + 'static,
    ucp: u32,
) -> impl Strategy<Value = Tree> {
    // The depth, the number of all nodes, and the parts of a node. Miri spends most of the time on rejected types.
    let (depth, nodes, parts) = if cfg!(miri) { (2, 6, 3) } else { (5, 24, 4) };
    leaf.prop_recursive(depth, nodes, parts, move |inner| {
        let old = inner.clone().prop_map(Box::new);
        let count = prop_oneof![1 => Just(0_u64), 9 => 1..5_u64];
        let aligned = prop_oneof![(-3..10_i64).prop_map(|n| n * 8), -20..60_i64];
        let members = (count.clone(), aligned.clone(), inner.clone());
        let fields = (aligned.clone(), prop_oneof![2 => Just(24_i64), 1 => -10..30_i64], inner);
        let list = proptest::collection::vec((count.clone(), -6..12_i64), 0..5);
        let places = proptest::collection::vec(-6..12_i64, 0..5);
        let bytes = proptest::collection::vec(aligned.clone(), 0..5);
        let blocks = proptest::collection::vec((count.clone(), aligned.clone()), 0..5);
        let order = proptest::sample::select(vec![Order::C, Order::Fortran]);
        let irregular = prop_oneof![
            old.clone().prop_map(Tree::Dup),
            (list, old.clone()).prop_map(|(blocks, old)| Tree::Indexed(blocks, old)),
            (blocks, old.clone()).prop_map(|(blocks, old)| Tree::Hindexed(blocks, old)),
            (count.clone(), places, old.clone())
                .prop_map(|(n, places, old)| Tree::IndexedBlock(n, places, old)),
            (count.clone(), bytes, old.clone())
                .prop_map(|(n, places, old)| Tree::HindexedBlock(n, places, old)),
            (proptest::collection::vec(dimension(), 1..4), order.clone(), old.clone())
                .prop_map(|(dimensions, order, old)| Tree::Subarray(dimensions, order, old)),
            (proptest::collection::vec(share(), 1..4), order, old.clone()).prop_map(
                |(shares, order, old)| {
                    let (dimensions, coordinates) = shares.into_iter().unzip();
                    Tree::Darray(dimensions, coordinates, order, old)
                }
            ),
        ];
        let fields = proptest::collection::vec(fields, 0..4);
        prop_oneof![
            7 => irregular,
            7 => regular(count.clone(), aligned, old, members),
            ucp => (fields, count).prop_map(|(fields, repeat)| Tree::Ucp(fields, repeat)),
        ]
    })
    .prop_filter("small enough to be written out", |tree| tree.map().size() < MAX_SIZE)
}

/// Blocks at equal strides, structures and resized types.
fn regular(
    count: impl Strategy<Value = u64> + Clone + 'static,
    aligned: impl Strategy<Value = i64> + Clone + 'static,
    old: impl Strategy<Value = Box<Tree>> + Clone + 'static,
    members: impl Strategy<Value = (u64, i64, Tree)> + Clone + 'static,
) -> impl Strategy<Value = Tree> {
    prop_oneof![
        (count.clone(), old.clone()).prop_map(|(n, old)| Tree::Contiguous(n, old)),
        (count.clone(), count.clone(), -3..6_i64, old.clone())
            .prop_map(|(n, length, stride, old)| Tree::Vector(n, length, stride, old)),
        (count.clone(), count, aligned.clone(), old.clone())
            .prop_map(|(n, length, stride, old)| Tree::Hvector(n, length, stride, old)),
        proptest::collection::vec(members.clone(), 0..4).prop_map(Tree::Structure),
        // Members one after another, as in a struct.
        proptest::collection::vec(members, 1..4).prop_map(|members| {
            let mut at = 0;
            Tree::Structure(
                members
                    .into_iter()
                    .map(|(length, _, old)| {
                        let start = at;
                        at += length as i64 * old.map().extent();
                        (length, start, old)
                    })
                    .collect(),
            )
        }),
        (old, -10..10_i64, aligned)
            .prop_map(|(old, lb, extent)| { Tree::Resized(old, lb, extent) }),
    ]
}
