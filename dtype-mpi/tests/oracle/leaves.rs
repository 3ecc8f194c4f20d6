//! The leaves of the random types: all predefined datatypes of the library.

use std::collections::BTreeSet;

use dtype_mpi::Datatype;
use dtype_runtime::types::Pair;
use dtype_runtime::{Basic, Type};
use dtype_test_support::model::Tree;
use proptest::prelude::*;
use proptest::sample::select;

use crate::classes::parts;

/// Precisions and ranges. There are few, because a library may keep only a few dozen requests, and all ask for 4 or 8 bytes,
/// because some Fortran compilers have no other sizes.
const REALS: [(Option<u32>, Option<u32>); 5] = [
    (Some(6), Some(37)),
    (Some(7), Some(30)),
    (Some(15), None),
    (None, Some(100)),
    (Some(4), None),
];

/// Ranges of integers of 1, 2, 4 and 8 bytes.
const INTEGERS: [u32; 7] = [0, 2, 3, 5, 9, 10, 18];

pub(crate) struct Leaves {
    basics: Vec<Basic>,
    pairs: Vec<Pair>,
    seen: BTreeSet<String>,
}

impl Leaves {
    /// The leaves of the library that the tests are linked to.
    pub(crate) fn of_library() -> Self {
        let is_there = |ty: &Type| Datatype::new(ty).is_ok();
        // The library has another type for one without an MPI name, with other arguments and another alignment.
        let named = Basic::ALL.iter().copied().filter(|basic| basic.mpi_name().is_some());
        let basics = named.filter(|basic| is_there(&Type::basic(*basic)));
        let pairs = Pair::ALL.iter().copied().filter(|pair| is_there(&Type::pair(*pair)));
        let leaves =
            Self { basics: basics.collect(), pairs: pairs.collect(), seen: BTreeSet::new() };
        let missing = Basic::ALL.iter().filter(|basic| !leaves.basics.contains(basic));
        let missing: Vec<&str> =
            missing.map(|basic| basic.mpi_name().unwrap_or(basic.name())).collect();
        println!("not in this library: {}", missing.join(", "));
        leaves
    }

    pub(crate) fn strategy(&self) -> impl Strategy<Value = Tree> + 'static {
        prop_oneof![
            36 => select(self.basics.clone()).prop_map(Tree::Basic),
            6 => select(self.pairs.clone()).prop_map(Tree::Pair),
            2 => select(&REALS[..]).prop_map(|(p, r)| Tree::F90Real(p, r)),
            2 => select(&REALS[..]).prop_map(|(p, r)| Tree::F90Complex(p, r)),
            2 => select(&INTEGERS[..]).prop_map(Tree::F90Integer),
            1 => Just(Tree::LbMarker),
            1 => Just(Tree::UbMarker),
        ]
    }

    /// Records the leaves of a tree as seen.
    pub(crate) fn see(&mut self, tree: &Tree) {
        let parts = parts(tree);
        if parts.is_empty() {
            self.seen.insert(format!("{tree:?}"));
        }
        for part in parts {
            self.see(part);
        }
    }

    /// Prints the leaves that no type had. Returns whether there are none.
    pub(crate) fn report(&self) -> bool {
        let reals = REALS.iter().flat_map(|&(p, r)| [Tree::F90Real(p, r), Tree::F90Complex(p, r)]);
        let mut all: Vec<Tree> = vec![Tree::LbMarker, Tree::UbMarker];
        all.extend(self.basics.iter().copied().map(Tree::Basic));
        all.extend(self.pairs.iter().copied().map(Tree::Pair));
        all.extend(reals.chain(INTEGERS.map(Tree::F90Integer)));
        let all: Vec<String> = all.iter().map(|leaf| format!("{leaf:?}")).collect();
        let missing: Vec<&String> = all.iter().filter(|leaf| !self.seen.contains(*leaf)).collect();
        println!("{} predefined datatypes, {} of them never used", all.len(), missing.len());
        for leaf in &missing {
            println!("FAILED: {leaf} never came up");
        }
        missing.is_empty()
    }
}
