//! Types made by every constructor, committed, and freed.

use std::hint::black_box;

use anyhow::{Context, Result, ensure};
use dtype_benches::noise::Random;
use dtype_benches::peer::Work;
use dtype_runtime::{Basic, Distribution, Error, Order, Type};

use crate::bench::{Bench, Contestant, who};
use crate::report::row::{Group, Row};

/// This engine, without creating the type.
const COMMIT: &str = "dtype, commit alone";

/// A type, made by calls whose arguments are ready.
struct Creation {
    constructor: &'static str,
    parameters: String,
    make: Box<dyn Fn() -> Result<Type, Error>>,
}

/// Blocks at irregular places, in elements.
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

    /// The places in bytes of `f64`.
    fn bytes(&self) -> Vec<i64> {
        self.places.iter().map(|place| 8 * place).collect()
    }
}

fn all() -> Result<Vec<Creation>, Error> {
    let mut all = Vec::new();
    let mut add = |constructor, parameters: &str, make: Box<dyn Fn() -> Result<Type, Error>>| {
        all.push(Creation { constructor, parameters: parameters.into(), make });
    };
    let [f64, u32, u8] = [Basic::F64, Basic::U32, Basic::U8].map(Type::basic);
    let (a, b, c, d, e) = (f64.clone(), f64.clone(), f64.clone(), f64.clone(), f64.clone());
    add("contiguous", "100", Box::new(move || Type::contiguous(100, black_box(&a))));
    add("vector", "100, 2, 5", Box::new(move || Type::vector(100, 2, 5, black_box(&b))));
    add("hvector", "100, 2, 44", Box::new(move || Type::hvector(100, 2, 44, black_box(&c))));
    add(
        "dup",
        "of a contiguous",
        Box::new(move || Type::dup(&Type::contiguous(3, black_box(&d))?)),
    );
    add(
        "resized",
        "of a vector",
        Box::new(move || Type::resized(&Type::vector(100, 2, 5, black_box(&e))?, 0, 16)),
    );
    let members = [f64.clone(), u32, u8];
    add(
        "structure",
        "f64, u32, u8",
        Box::new(move || Type::structure(black_box(&[1, 1, 1]), black_box(&[0, 8, 12]), &members)),
    );
    let a = f64.clone();
    add(
        "subarray",
        "3 dimensions",
        Box::new(move || {
            let (sizes, part, starts) = black_box(([64, 64, 64], [32, 32, 32], [8, 8, 8]));
            Type::subarray(&sizes, &part, &starts, Order::C, &a)
        }),
    );
    let a = f64.clone();
    add(
        "darray",
        "block, cyclic",
        Box::new(move || {
            let distributions =
                black_box([Distribution::Block(None), Distribution::Cyclic(Some(4))]);
            Type::darray(4, 1, &[64, 64], &distributions, &[2, 2], Order::C, &a)
        }),
    );
    for number in [5, 1000, 100_000] {
        let parameters = format!("{number} blocks");
        let (old, blocks) = (f64.clone(), Blocks::new(number));
        add(
            "indexed",
            &parameters,
            Box::new(move || {
                Type::indexed(black_box(&blocks.lengths), black_box(&blocks.places), &old)
            }),
        );
        let (old, blocks) = (f64.clone(), Blocks::new(number));
        let bytes = blocks.bytes();
        add(
            "hindexed",
            &parameters,
            Box::new(move || Type::hindexed(black_box(&blocks.lengths), black_box(&bytes), &old)),
        );
        let (old, blocks) = (f64.clone(), Blocks::new(number));
        add(
            "indexed_block",
            &parameters,
            Box::new(move || Type::indexed_block(2, black_box(&blocks.places), &old)),
        );
        let (old, bytes) = (f64.clone(), Blocks::new(number).bytes());
        add(
            "hindexed_block",
            &parameters,
            Box::new(move || Type::hindexed_block(2, black_box(&bytes), &old)),
        );
    }
    Ok(all)
}

pub(crate) fn measure(bench: &mut Bench) -> Result<()> {
    for creation in all()? {
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
                drop(black_box((creation.make)().map(|ty| ty.commit())));
            }),
            Contestant::here(COMMIT, |(_, ty): &mut (Creation, Type)| {
                drop(black_box(black_box(ty).commit()));
            }),
        ];
        contestants.extend(bench.libraries(Work::Create));
        let bytes = ty.size();
        let columns = bench.turns(&mut (creation, ty), contestants)?;
        bench.rows.push(Row { group, family, parameters, work: "create", bytes, columns });
    }
    Ok(())
}
