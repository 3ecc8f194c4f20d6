//! The engine and a real MPI library, on random types.

mod classes;
mod compare;
mod library;
#[path = "../../../dtype-runtime/tests/model/mod.rs"]
#[allow(dead_code, reason = "the tests of the engine need all of it")]
mod model;
mod mpich;
mod openmpi;

use compare::compare;
use dtype_mpi::Datatype;
use dtype_runtime::Basic;
use dtype_runtime::types::Pair;
use library::Library;
use model::{Tree, trees_of};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

fn main() {
    let universe = mpi::initialize().unwrap();
    library::return_errors();
    let here = Library::here();
    let named: Vec<Basic> = Basic::ALL
        .iter()
        .copied()
        .filter(|b| Datatype::new(&dtype_runtime::Type::basic(*b)).is_ok())
        .collect();
    println!("{} named", named.len());
    let leaf = prop_oneof![
        36 => proptest::sample::select(named).prop_map(Tree::Basic),
        6 => proptest::sample::select(Pair::ALL).prop_map(Tree::Pair),
        3 => proptest::sample::select(vec![(6,37),(7,30),(15,300),(4,100)]).prop_map(|(p, r)| Tree::F90Real(Some(p), Some(r))),
        3 => (5..9_u32).prop_map(|p| Tree::F90Complex(Some(p), None)),
        3 => (0..19_u32).prop_map(Tree::F90Integer),
        1 => Just(Tree::LbMarker),
        1 => Just(Tree::UbMarker),
    ];
    let strategy = trees_of(leaf);
    let mut runner = TestRunner::new_with_rng(
        Config::default(),
        TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]),
    );
    let n: usize = std::env::var("N").map_or(20000, |n| n.parse().unwrap());
    let mut all = std::collections::BTreeMap::<_, Vec<(usize, String)>>::new();
    let mut fired = std::collections::BTreeMap::new();
    let start = std::time::Instant::now();
    for i in 0..n {
        let tree = strategy.new_tree(&mut runner).unwrap().current();
        let ty = tree.build().unwrap();
        let text = format!("{tree:?}");
        if std::env::var_os("V").is_some() {
            println!("{i} {text}");
        }
        let mine = classes::classes(&tree, here);
        for m in &mine {
            *fired.entry(classes::CLASSES[*m].name).or_insert(0) += 1;
        }
        let spoilt: Vec<compare::Quantity> =
            mine.iter().flat_map(|m| classes::CLASSES[*m].spoils).copied().collect();
        for (q, d) in compare(&tree, &ty, here, 1 + i % 3, &spoilt) {
            if spoilt.contains(&q) {
                continue;
            }
            all.entry(q).or_default().push((text.len(), format!("{text}\n    {d}")));
        }
    }
    println!("{fired:?}");
    println!("{n} types, {:?}", start.elapsed());
    for (q, mut s) in all {
        s.sort();
        println!("== {q:?} {}", s.len());
        for (_, s) in s.iter().take(14) {
            println!("{s}");
        }
    }
    drop(universe);
}
