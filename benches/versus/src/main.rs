mod arguments;
mod bench;
mod creation;
mod ddtbench;
mod library;
mod messages;
mod report;
mod slices;
mod streaming;
mod structs;
mod wire;

use anyhow::Result;
use clap::Parser;

fn main() -> Result<()> {
    let arguments = arguments::Arguments::parse();
    let libraries = vec![
        library::Library::start(
            "Open MPI",
            bench::who::RSMPI_OPEN_MPI,
            "openmpi",
            &arguments.openmpi,
        )?,
        library::Library::start("MPICH", bench::who::RSMPI_MPICH, "mpich", &arguments.mpich)?,
    ];
    let mut bench = bench::Bench::new(&arguments, libraries);
    structs::measure(&mut bench)?;
    ddtbench::measure(&mut bench)?;
    messages::measure(&mut bench)?;
    slices::measure(&mut bench)?;
    streaming::measure(&mut bench)?;
    creation::measure(&mut bench)?;
    for row in &bench.rows {
        print!("{:50}", row.name());
        for c in &row.columns {
            print!(" {} {:.1}", c.name, row.median(c.name).unwrap_or(f64::NAN));
        }
        println!();
    }
    Ok(())
}
