//! Counts of compared types and of differences, and whether every difference is explained.

use std::time::Instant;

use crate::classes::{CLASSES, Class, classes};
use crate::compare::{Quantity, compare, is_trusted, model, ours};
use crate::library::Library;
use dtype_test_support::model::Tree;

/// If a class has this many types and none differs, the class no longer explains anything. For a rarer class, only the example
/// is checked.
const ENOUGH: usize = 30;

/// The number of types in a class, and the number that differ.
#[derive(Clone, Copy, Default)]
struct Count {
    applies: usize,
    differs: usize,
}

pub(crate) struct Tally {
    library: Library,
    start: Instant,
    types: usize,
    counts: Vec<Count>,
    explained: usize,
    /// The number of types that safe functions pass to the library.
    trusted: usize,
    /// The number of types whose bounds are not those of the literal standard.
    literal: usize,
    unexplained: Vec<String>,
}

impl Tally {
    pub(crate) fn new(library: Library) -> Self {
        let counts = vec![Count::default(); CLASSES.len()];
        let start = Instant::now();
        let unexplained = Vec::new();
        Self { library, start, types: 0, counts, explained: 0, trusted: 0, literal: 0, unexplained }
    }

    pub(crate) fn types(&self) -> usize {
        self.types
    }

    /// Compares one type.
    pub(crate) fn add(&mut self, tree: &Tree) {
        let ty = tree.build().expect("small types do not overflow");
        let of = classes(tree, self.library);
        let spoilt: Vec<Quantity> =
            of.iter().flat_map(|&class| CLASSES[class].spoils).copied().collect();
        let count = 1 + self.types % 3;
        let avoided: Vec<Quantity> =
            of.iter().flat_map(|&class| CLASSES[class].avoids).copied().collect();
        let differences = compare(tree, &ty, self.library, count, &avoided);
        let literal =
            (ty.size().cast_signed(), (ty.lb(), ty.extent()), (ty.true_lb(), ty.true_extent()));
        self.literal += usize::from(model(tree, self.library) != literal);
        self.types += 1;
        self.trusted += usize::from(is_trusted(&ours(&ty, self.library)));
        self.explained += usize::from(!of.is_empty());
        for &class in &of {
            let spoils = CLASSES[class].spoils;
            let count = &mut self.counts[class];
            count.applies += 1;
            count.differs +=
                usize::from(differences.iter().any(|(quantity, _)| spoils.contains(quantity)));
        }
        for (quantity, sides) in differences {
            if !spoilt.contains(&quantity) {
                self.unexplained
                    .push(format!("{tree:?}\n    {quantity:?}, {count} instances: {sides}"));
            }
        }
    }

    /// Whether the class's example is still in the class, and still differs in a quantity that the class spoils.
    fn example_differs(&self, class: &Class) -> bool {
        let tree = (class.example)();
        let ty = tree.build().expect("small types do not overflow");
        // The calls that the class avoids may end the process.
        let differences = compare(&tree, &ty, self.library, 3, class.avoids);
        (class.applies)(&tree)
            && differences.iter().any(|(quantity, _)| class.spoils.contains(quantity))
    }

    /// Prints the table. Returns whether the run succeeds.
    pub(crate) fn report(&mut self) -> bool {
        let types = self.types;
        let percent = |number: usize| 100.0 * number as f64 / types as f64;
        let seconds = self.start.elapsed().as_secs_f64();
        println!("{types} types compared in {seconds:.1} s");
        println!(
            "{} of them ({:.1} %) have other bounds in this library than the literal standard's",
            self.literal,
            percent(self.literal)
        );
        println!(
            "{} of them ({:.1} %) can be buffers, so that the library copies them",
            self.trusted,
            percent(self.trusted)
        );
        println!("{} of them ({:.1} %) in a class:", self.explained, percent(self.explained));
        println!("{:24} {:>6} {:>7} {:>7} {:>9}", "class", "types", "differ", "%", "allowance");
        let mut fine = percent(self.trusted) > 75.0;
        if !fine {
            println!("FAILED: too many types are refused");
        }
        for (class, count) in CLASSES.iter().zip(&self.counts) {
            if class.library != self.library {
                continue;
            }
            let (applies, share) = (count.applies, percent(count.applies));
            println!(
                "{:24} {applies:>6} {:>7} {share:>7.2} {:>8.1} %  {}",
                class.name, count.differs, class.allowance, class.why
            );
            if !self.example_differs(class) || (count.differs == 0 && applies >= ENOUGH) {
                println!("FAILED: {:?} explains nothing any more", class.name);
                fine = false;
            }
            if share > class.allowance {
                println!("FAILED: {:?} is above its allowance", class.name);
                fine = false;
            }
        }
        println!("{} unexplained differences", self.unexplained.len());
        self.unexplained.sort_by_key(String::len);
        for difference in self.unexplained.iter().take(20) {
            println!("FAILED: {difference}");
        }
        fine && self.unexplained.is_empty()
    }
}
