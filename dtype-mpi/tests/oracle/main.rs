#[path = "../../../dtype-runtime/tests/model/mod.rs"]
#[allow(dead_code)]
mod model;
mod mpich;

use dtype_mpi::Datatype;
use dtype_runtime::Basic;
use dtype_runtime::types::{Pair, Bounds};
use model::{Tree, trees_of};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

fn main() {
    let universe = mpi::initialize().unwrap();
    let named: Vec<Basic> = Basic::ALL.iter().copied().filter(|b| Datatype::new(&dtype_runtime::Type::basic(*b)).is_ok()).collect();
    println!("{} named", named.len());
    let leaf = prop_oneof![
        12 => proptest::sample::select(named).prop_map(Tree::Basic),
        2 => proptest::sample::select(Pair::ALL).prop_map(Tree::Pair),
        1 => proptest::sample::select(vec![(6,37),(7,30),(15,300),(4,100)]).prop_map(|(p, r)| Tree::F90Real(Some(p), Some(r))),
        1 => (5..9_u32).prop_map(|p| Tree::F90Complex(Some(p), None)),
        1 => (0..19_u32).prop_map(Tree::F90Integer),
        1 => Just(Tree::LbMarker),
        1 => Just(Tree::UbMarker),
    ];
    let strategy = trees_of(leaf);
    let mut runner = TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]));
    let n: usize = std::env::var("N").map_or(20000, |n| n.parse().unwrap());
    let mut refused = 0; let (mut bad, mut engine_bad, mut lit_bad) = (0, 0, 0);
    let mut small: Vec<(usize, String)> = vec![];
    let mut small2: Vec<(usize, String)> = vec![];
    let mut small3: Vec<(usize, String)> = vec![];
    let start = std::time::Instant::now();
    for _ in 0..n {
        let tree = strategy.new_tree(&mut runner).unwrap().current();
        let ty = tree.build().unwrap();
        let dt = match Datatype::new(&ty) { Ok(dt) => dt, Err(_) => { refused += 1; continue } };
        let (lb, ext) = dt.extent().unwrap();
        let (tlb, text) = dt.true_extent().unwrap();
        let theirs = (dt.size().unwrap(), lb, lb.wrapping_add(ext), tlb, tlb.wrapping_add(text));
        let s = mpich::shape(&tree);
        let model = (s.size, s.lb, s.ub, s.true_lb, s.true_ub);
        let m = ty.with_bounds(Bounds::Mpich).unwrap();
        let engine = (m.size() as i64, m.lb(), m.ub(), m.true_lb(), m.true_ub());
        let lit = (ty.size() as i64, ty.lb(), ty.ub(), ty.true_lb(), ty.true_ub());
        let text = format!("{tree:?}");
        let note = |x, small: &mut Vec<(usize, String)>| if x != theirs { small.push((text.len(), format!("{text}\n   ours {x:?}\n theirs {theirs:?}"))); };
        note(model, &mut small); note(engine, &mut small2); note(lit, &mut small3);
        bad += usize::from(model != theirs);
        engine_bad += usize::from(engine != theirs);
        lit_bad += usize::from(lit != theirs);
    }
    println!("{n} types, {refused} refused, model {bad}, engine's Mpich {engine_bad}, literal {lit_bad}; {:?}", start.elapsed());
    for (name, mut s) in [("model", small), ("engine", small2), ("literal", small3)] { s.sort(); println!("== {name}"); for (_, s) in s.iter().take(if name == "literal" {2} else {9}) { println!("{s}"); } }
    drop(universe);
}
