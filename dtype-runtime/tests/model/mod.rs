//! The naive reference: type maps written out pair by pair, and every question answered by looking
//! at all of them.

use dtype_runtime::{Basic, Error, Type};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

/// So many cases; failing ones are kept beside the test.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    let kept = FileFailurePersistence::WithSource("regressions");
    ProptestConfig { cases, failure_persistence: Some(Box::new(kept)), ..ProptestConfig::default() }
}

/// A datatype as the tree of calls that makes it.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    Basic(Basic),
    LbMarker,
    UbMarker,
    Contiguous(u64, Box<Tree>),
    Vector(u64, u64, i64, Box<Tree>),
    Hvector(u64, u64, i64, Box<Tree>),
    Structure(Vec<(u64, i64, Tree)>),
    Resized(Box<Tree>, i64, i64),
}

/// A type map, with the markers beside it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Map {
    pub(crate) data: Vec<(Basic, i64)>,
    lbs: Vec<i64>,
    ubs: Vec<i64>,
}

impl Map {
    fn add(&mut self, other: &Self, displacement: i64) {
        self.data.extend(other.data.iter().map(|&(basic, at)| (basic, at + displacement)));
        self.lbs.extend(other.lbs.iter().map(|at| at + displacement));
        self.ubs.extend(other.ubs.iter().map(|at| at + displacement));
    }

    fn blocks(starts: impl IntoIterator<Item = i64>, length: u64, old: &Self) -> Self {
        let mut map = Self::default();
        for start in starts {
            for i in 0..length as i64 {
                map.add(old, start + i * old.extent());
            }
        }
        map
    }

    pub(crate) fn size(&self) -> usize {
        self.data.iter().map(|(basic, _)| basic.size()).sum()
    }

    pub(crate) fn align(&self) -> i64 {
        self.data.iter().map(|(basic, _)| basic.align() as i64).max().unwrap_or(1)
    }

    pub(crate) fn true_lb(&self) -> i64 {
        self.data.iter().map(|&(_, at)| at).min().unwrap_or(0)
    }

    pub(crate) fn true_ub(&self) -> i64 {
        self.data.iter().map(|&(basic, at)| at + basic.size() as i64).max().unwrap_or(0)
    }

    pub(crate) fn lb(&self) -> i64 {
        match self.lbs.iter().min() {
            Some(&lb) => lb,
            None if self.data.is_empty() => self.ubs.iter().max().copied().unwrap_or(0),
            None => self.true_lb(),
        }
    }

    pub(crate) fn ub(&self) -> i64 {
        match self.ubs.iter().max() {
            Some(&ub) => ub,
            None if self.data.is_empty() => self.lb(),
            None => {
                let mut ub = self.true_ub();
                while (ub - self.lb()) % self.align() != 0 {
                    ub += 1;
                }
                ub
            }
        }
    }

    pub(crate) fn extent(&self) -> i64 {
        self.ub() - self.lb()
    }

    /// The displacement of every byte of the packed stream of `count` instances.
    pub(crate) fn bytes(&self, count: usize) -> Vec<i64> {
        let mut bytes = Vec::new();
        for i in 0..count as i64 {
            for &(basic, at) in &self.data {
                bytes.extend((0..basic.size() as i64).map(|byte| i * self.extent() + at + byte));
            }
        }
        bytes
    }
}

/// Whether a byte occurs twice.
pub(crate) fn has_duplicates(bytes: &[i64]) -> bool {
    let mut sorted = bytes.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}

impl Tree {
    pub(crate) fn map(&self) -> Map {
        match self {
            Self::Basic(basic) => Map { data: vec![(*basic, 0)], ..Map::default() },
            Self::LbMarker => Map { lbs: vec![0], ..Map::default() },
            Self::UbMarker => Map { ubs: vec![0], ..Map::default() },
            Self::Contiguous(count, old) => Map::blocks([0], *count, &old.map()),
            Self::Vector(count, length, stride, old) => {
                let old = old.map();
                let starts = (0..*count as i64).map(|i| i * stride * old.extent());
                Map::blocks(starts, *length, &old)
            }
            Self::Hvector(count, length, stride, old) => {
                Map::blocks((0..*count as i64).map(|i| i * stride), *length, &old.map())
            }
            Self::Structure(members) => {
                let mut map = Map::default();
                for (length, displacement, old) in members {
                    map.add(&Map::blocks([0], *length, &old.map()), *displacement);
                }
                map
            }
            Self::Resized(old, lb, extent) => {
                Map { lbs: vec![*lb], ubs: vec![lb + extent], ..old.map() }
            }
        }
    }

    pub(crate) fn build(&self) -> Result<Type, Error> {
        match self {
            Self::Basic(basic) => Ok(Type::basic(*basic)),
            Self::LbMarker => Ok(Type::lb_marker()),
            Self::UbMarker => Ok(Type::ub_marker()),
            Self::Contiguous(count, old) => Type::contiguous(*count, &old.build()?),
            Self::Vector(count, length, stride, old) => {
                Type::vector(*count, *length, *stride, &old.build()?)
            }
            Self::Hvector(count, length, stride, old) => {
                Type::hvector(*count, *length, *stride, &old.build()?)
            }
            Self::Structure(members) => {
                let types: Result<Vec<Type>, Error> =
                    members.iter().map(|(_, _, old)| old.build()).collect();
                let lengths: Vec<u64> = members.iter().map(|member| member.0).collect();
                let displacements: Vec<i64> = members.iter().map(|member| member.1).collect();
                Type::structure(&lengths, &displacements, &types?)
            }
            Self::Resized(old, lb, extent) => Type::resized(&old.build()?, *lb, *extent),
        }
    }
}

/// Random trees, small enough to be written out: negative strides, empty blocks, markers, resized
/// and overlapping parts, and often enough blocks that touch.
pub(crate) fn trees() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        12 => proptest::sample::select(Basic::ALL).prop_map(Tree::Basic),
        1 => Just(Tree::LbMarker),
        1 => Just(Tree::UbMarker),
    ];
    leaf.prop_recursive(5, 24, 4, |inner| {
        let old = inner.clone().prop_map(Box::new);
        let count = prop_oneof![1 => Just(0_u64), 9 => 1..5_u64];
        let aligned = prop_oneof![(-3..10_i64).prop_map(|n| n * 8), -20..60_i64];
        let members = (count.clone(), aligned.clone(), inner);
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
    })
    .prop_filter("small enough to be written out", |tree| tree.map().size() < 20_000)
}
