//! One file that all ranks write, in turn. Each rank appends its records as an array of NumPy's, so that a program in Python reads
//! them with one `numpy.load` for each rank.
//!
//! ```console
//! MPICC=mpicc.openmpi cargo build --release -p dtype-mpi --examples --target-dir target/openmpi
//! mpirun.openmpi -n 4 target/openmpi/release/examples/turns /tmp/cells.npy
//! ```
//!
//! A rank that cannot write passes the turn on, so that no other rank waits for it. At the end, rank 0 reads the file and checks
//! that it has the records of all ranks in their order.

use std::fs::{File, OpenOptions};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use dtype_mpi::traits::{PackedDestination, PackedSource};
use dtype_npy::NpyError;
use dtype_runtime::Datatype;
use mpi::Tag;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives};

/// One file that all ranks write.
#[derive(Debug, Parser)]
#[command(name = "turns")]
struct Arguments {
    /// The file, on a file system that all ranks have.
    file: PathBuf,

    /// Records of each rank.
    #[arg(long, default_value_t = 1000)]
    records: u32,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Cell {
    rank: i32,
    number: u32,
    density: f64,
    is_wall: bool,
}

const TURN: Tag = 1;

/// Appends the records of this rank when it is its turn.
fn append(world: &SimpleCommunicator, path: &Path, cells: &[Cell]) -> Result<(), NpyError> {
    // The first rank makes the file. The next turn begins when the file system has the records.
    let is_first = world.rank() == 0;
    let mut options = OpenOptions::new();
    let options = if is_first {
        options.write(true).create(true).truncate(true)
    } else {
        options.append(true)
    };
    let file = options.open(path)?;
    dtype_npy::write(&file, cells)?;
    Ok(file.sync_all()?)
}

fn write_in_turn(world: &SimpleCommunicator, path: &Path, cells: &[Cell]) -> Result<()> {
    let (rank, last) = (world.rank(), world.size() - 1);
    if rank > 0 {
        world.process_at_rank(rank - 1).recv_packed::<u8>(TURN)?;
    }
    let written = append(world, path, cells);
    if rank < last {
        world.process_at_rank(rank + 1).send_packed::<u8>(&[], TURN)?;
    }
    Ok(written?)
}

fn main() -> Result<()> {
    let universe = mpi::initialize().context("MPI was initialised before")?;
    let (world, arguments) = (universe.world(), Arguments::parse());
    let cells_of = |rank: i32| {
        let cell = |number| Cell {
            rank,
            number,
            density: f64::from(number) / 8.0,
            is_wall: number % 7 == 0,
        };
        (0..arguments.records).map(cell).collect::<Vec<_>>()
    };
    write_in_turn(&world, &arguments.file, &cells_of(world.rank()))?;
    world.barrier();
    if world.rank() == 0 {
        let mut file = BufReader::new(File::open(&arguments.file)?);
        for rank in 0..world.size() {
            let read = dtype_npy::read_next::<Cell>(&mut file)?;
            ensure!(read == Some(cells_of(rank)), "the file has other records of rank {rank}");
        }
        ensure!(dtype_npy::read_next::<Cell>(&mut file)?.is_none(), "the file has more records");
        println!("{} arrays of {} records, verified", world.size(), arguments.records);
    }
    Ok(())
}
