//! Compiles names.c, the C half of the table of names, for the MPI library that the `mpi` crate links to.

use std::process::exit;

fn main() {
    println!("cargo:rerun-if-changed=src/names.c");
    println!("cargo:rerun-if-env-changed=MPICC");
    println!("cargo:rustc-check-cfg=cfg(large_counts, open_mpi)");
    // The tests start the launcher that belongs to the compiler wrapper.
    let wrapper = std::env::var("MPICC").unwrap_or_else(|_| "mpicc".to_owned());
    println!("cargo:rustc-env=DTYPE_MPI_WRAPPER={wrapper}");

    // The `mpi` crate runs the same probe, and links to the library found.
    let library = match build_probe_mpi::probe() {
        Ok(library) => library,
        Err(causes) => {
            eprintln!(
                "no MPI library was found; MPICC names its compiler wrapper, mpicc by default"
            );
            for cause in causes {
                eprintln!("{cause}");
            }
            exit(1);
        }
    };
    let mut compiler = cc::Build::new();
    compiler.file("src/names.c").warnings(true);
    match library.mpicc {
        Some(wrapper) => {
            compiler.compiler(wrapper);
        }
        None => {
            compiler.includes(library.include_paths);
        }
    }
    let header = header(&compiler);
    if version(&header) >= (4, 0) {
        println!("cargo:rustc-cfg=large_counts");
    }
    if header.lines().any(|line| line.trim() == "dtype_mpi_open_mpi") {
        println!("cargo:rustc-cfg=open_mpi");
    }
    compiler.compile("dtype_mpi_names");
}

/// What the library's header says of the library.
fn header(compiler: &cc::Build) -> String {
    let text = compiler.clone().define("DTYPE_MPI_ASK_LIBRARY", None).expand();
    String::from_utf8(text).expect("C sources are text")
}

/// The standard's version.
fn version(header: &str) -> (u32, u32) {
    let line = header.lines().find_map(|line| line.strip_prefix("dtype_mpi_standard "));
    let mut numbers = line.into_iter().flat_map(str::split_whitespace).map(str::parse);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(version)), Some(Ok(subversion))) => (version, subversion),
        _ => panic!("mpi.h defines no MPI_VERSION and MPI_SUBVERSION"),
    }
}
