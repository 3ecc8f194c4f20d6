//! Types made by every constructor, committed, and freed.

use std::hint::black_box;

use anyhow::{Context, Result, ensure};
use dtype_benches::noise::Random;
use dtype_benches::peer::Work;
use dtype_runtime::{Basic, Distribution, Error, Order, Type};

use crate::bench::{Bench, Contestant, who};
use crate::report::row::{Group, Row};

/// Only the commit, for this engine.
const COMMIT: &str = "dtype, commit alone";

/// A type, and the call that makes it again: its arguments are prepared, so that only the call is timed.
struct Creation {
    constructor: &'static str,
    parameters: String,
    make: Box<dyn Fn() -> Result<Type, Error>>,
}

/// Blocks at irregular displacements, in elements.
struct Blocks {
    lengths: Vec<u64>,
    places: Vec<i64>,
}

impl Blocks {
    fn new(number: usize) -> Self {
        let (mut random, mut at) = (Random::new(number as u64), 0);
        let (mut lengths, mut places) = (Vec::new(), Vec::new());
        for _ in 0..number {
            lengths.push(1 + u64::from(random.below(3)));
            places.push(at);
            at += 4 + i64::from(random.below(5));
        }
        Self { lengths, places }
    }
}

/// One creation for each constructor. [`black_box`] hides the arguments from the compiler.
fn all() -> Vec<Creation> {
    let mut all = regular();
    for number in [5, 1000, 100_000] {
        all.extend(irregular(number));
    }
    all
}

/// The creation of a type by a function of the old type, which is `f64`.
fn creation(
    constructor: &'static str,
    parameters: impl Into<String>,
    make: impl Fn(&Type) -> Result<Type, Error> + 'static,
) -> Creation {
    let f64 = Type::basic(Basic::F64);
    let make = Box::new(move || make(black_box(&f64)));
    Creation { constructor, parameters: parameters.into(), make }
}

fn regular() -> Vec<Creation> {
    let members = [Basic::F64, Basic::U32, Basic::U8].map(Type::basic);
    vec![
        creation("contiguous", "100", |old| Type::contiguous(100, old)),
        creation("vector", "100, 2, 5", |old| Type::vector(100, 2, 5, old)),
        creation("hvector", "100, 2, 44", |old| Type::hvector(100, 2, 44, old)),
        creation("dup", "of a contiguous", |old| Type::dup(&Type::contiguous(3, old)?)),
        creation("resized", "of a vector", |old| {
            Type::resized(&Type::vector(100, 2, 5, old)?, 0, 16)
        }),
        creation("structure", "f64, u32, u8", move |_| {
            Type::structure(black_box(&[1, 1, 1]), black_box(&[0, 8, 12]), &members)
        }),
        creation("subarray", "3 dimensions", |old| {
            let (sizes, part, starts) = black_box(([64, 64, 64], [32, 32, 32], [8, 8, 8]));
            Type::subarray(&sizes, &part, &starts, Order::C, old)
        }),
        creation("darray", "block, cyclic", |old| {
            let distributions =
                black_box([Distribution::Block(None), Distribution::Cyclic(Some(4))]);
            Type::darray(4, 1, &[64, 64], &distributions, &[2, 2], Order::C, old)
        }),
    ]
}

fn irregular(number: usize) -> [Creation; 4] {
    let parameters = || format!("{number} blocks");
    let Blocks { lengths, places } = Blocks::new(number);
    let bytes: Vec<i64> = places.iter().map(|place| 8 * place).collect();
    let (same_lengths, same_places, same_bytes) = (lengths.clone(), places.clone(), bytes.clone());
    [
        creation("indexed", parameters(), move |old| {
            Type::indexed(black_box(&lengths), black_box(&places), old)
        }),
        creation("hindexed", parameters(), move |old| {
            Type::hindexed(black_box(&same_lengths), black_box(&bytes), old)
        }),
        creation("indexed_block", parameters(), move |old| {
            Type::indexed_block(2, black_box(&same_places), old)
        }),
        creation("hindexed_block", parameters(), move |old| {
            Type::hindexed_block(2, black_box(&same_bytes), old)
        }),
    ]
}

pub(crate) fn measure(bench: &mut Bench) -> Result<()> {
    for creation in all() {
        let (group, family) = (Group::Creation, creation.constructor.to_owned());
        let parameters = creation.parameters.clone();
        let name = format!("{family} {parameters}");
        let large = parameters.starts_with("1000");
        if !bench.wants(group.key(), &name) || (bench.quick && large) {
            continue;
        }
        let ty = (creation.make)().with_context(|| name.clone())?;
        for library in &mut bench.libraries {
            let called = library.name;
            let Ok(process) = library.process() else { continue };
            let size = process.calls(&ty).with_context(|| format!("{name}: {called}"))?;
            ensure!(size == ty.size(), "{name}: {called} makes a type of {size} bytes");
        }
        let mut contestants = vec![
            Contestant::here(who::DTYPE, |(creation, _): &mut (Creation, Type)| {
                black_box((creation.make)().map(|ty| drop(black_box(ty.commit()))).is_ok());
            }),
            Contestant::here(COMMIT, |(_, ty): &mut (Creation, Type)| {
                drop(black_box(black_box(ty).commit()));
            }),
        ];
        contestants.extend(bench.libraries(Work::Create));
        let bytes = ty.size();
        let columns = bench.turns(&mut (creation, ty), contestants)?;
        bench.rows.push(Row { group, family, parameters, work: "create".into(), bytes, columns });
    }
    Ok(())
}
