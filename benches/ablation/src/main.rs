//! This engine beside another build of it, on random types, in one process.
//!
//! ```console
//! cargo run --release -p dtype-ablation -- main --limit 1.03
//! DTYPE_KERNELS=avx2 cargo run --release -p dtype-ablation -- main --only 'small structs × (2|7|16|100|1000)$'
//! ```
//!
//! Both builds are libraries with the same loops over different engines, loaded side by side: see `dtype-ablation-engine`. Both
//! use the same memory, and take turns in short rounds. A type's ratio is the median over the pairs of rounds. First, the bench
//! checks that both builds pack and unpack the same bytes. A line of the table is a class of types with a number of instances.
//!
//! Where a library and its data lie changes its times by a few percent. So both are loaded several times, and the figure is the
//! median of the ratios.
//!
//! Without a commit, the working tree is compared with itself. CONTRIBUTING.md says how far that is from 1.

#![deny(unsafe_code)]
#![allow(clippy::cast_possible_truncation, reason = "what is measured here fits into memory")]

mod arguments;
mod builds;
#[expect(unsafe_code, reason = "loads engines and calls them")]
mod loaded;
#[expect(unsafe_code, reason = "lends memory to engines")]
mod measure;
mod table;

use anyhow::{Result, bail, ensure};
use clap::Parser;
use dtype_ablation_engine::Class;
use dtype_benches::figures::geometric_mean;
use dtype_benches::machine::Machine;

use arguments::Arguments;
use builds::Build;
use loaded::Loaded;
use measure::Line;

/// How often both builds are loaded.
const LOADS: usize = 3;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let wanted =
        |line: &Line| arguments.only.as_ref().is_none_or(|only| only.is_match(&line.name()));
    let lines: Vec<Line> = Line::all().filter(wanted).collect();
    ensure!(!lines.is_empty(), "no line has such a name");
    let new = Build::of_working_tree()?;
    let old = match &arguments.commit {
        Some(commit) => Build::of_commit(commit)?,
        None => new.clone(),
    };
    let kernels = dtype_runtime::isa::selected();
    println!("{}", Machine::here(Vec::new()).processor);
    println!("time of {} over {}, kernels {kernels}, seed {}", new.name, old.name, arguments.seed);
    let load = |number| Ok([Loaded::new(&new, 2 * number)?, Loaded::new(&old, 2 * number + 1)?]);
    let loads = (0..LOADS).map(load).collect::<Result<Vec<_>>>()?;
    println!("\n{}", table::head());
    let (mut rows, mut above) = (Vec::new(), Vec::new());
    for line in lines {
        let measured = line.rows(&loads, arguments.seed.into(), arguments.pairs())?;
        println!("{}", table::line(line, &measured));
        let mean = geometric_mean(measured.iter().map(|row| row.ratio));
        if let (Some(mean), Some(limit)) = (mean, arguments.limit)
            && mean > limit
        {
            above.push(format!("{}: {mean:.3}", line.name()));
        }
        rows.extend(measured);
    }
    println!();
    for text in Class::ALL.into_iter().filter_map(|class| table::class(class, &rows)) {
        println!("{text}");
    }
    if !above.is_empty() {
        bail!("slower than the limit: {}", above.join(", "));
    }
    Ok(())
}
