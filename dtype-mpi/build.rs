//! Compiles names.c, the C half of the table of names, for the MPI library that the `mpi` crate links to.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, exit};

fn main() {
    println!("cargo:rerun-if-changed=src/names.c");
    println!("cargo:rerun-if-env-changed=MPICC");
    println!("cargo:rerun-if-env-changed=MPICC_ABI");
    println!("cargo:rerun-if-changed=abi");
    println!("cargo:rustc-check-cfg=cfg(large_counts)");

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
    let folders: Vec<_> = library.lib_paths.iter().map(|path| path.to_string_lossy()).collect();
    println!("cargo:rustc-env=DTYPE_MPI_FOLDERS={}", folders.join(":"));
    if let Some(wrapper) = &library.mpicc {
        set_run_path(&run_path(wrapper, &library.lib_paths));
    }
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
    let has_wrapper = header.lines().any(|line| line.trim() == "dtype_mpi_abi");
    if library.libs.iter().any(|name| name == "mpi_abi") && !has_wrapper {
        let wrapper = env::var("MPICC").unwrap_or_else(|_| "mpicc".to_owned());
        let folder = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
        eprintln!(
            "{wrapper} is for the standard ABI, which lacks functions that the `mpi` crate calls. Set MPICC_ABI={wrapper} MPICC={folder}/abi/mpicc for the ABI, or MPICC to a wrapper of the library's own interface."
        );
        exit(1);
    }
    // The tests start the launcher that belongs to the library's compiler wrapper.
    let (variable, usual) =
        if has_wrapper { ("MPICC_ABI", "mpicc_abi") } else { ("MPICC", "mpicc") };
    let wrapper = env::var(variable).unwrap_or_else(|_| usual.to_owned());
    println!("cargo:rustc-env=DTYPE_MPI_WRAPPER={wrapper}");
    compiler.compile("dtype_mpi_names");
}

/// The folders that the wrapper makes the run path of C programs.
fn run_path<'a>(wrapper: &str, folders: &'a [PathBuf]) -> Vec<&'a Path> {
    let shown = Command::new(wrapper).arg("-show").output();
    let shown =
        shown.map(|output| String::from_utf8_lossy(&output.stdout).replace(['"', '\''], ""));
    let shown = shown.unwrap_or_default();
    let is_in_run_path = |folder: &&Path| {
        ["-rpath -Wl,", "-rpath -Xlinker ", "-rpath,", "-rpath="]
            .iter()
            .any(|option| shown.contains(&format!("{option}{}", folder.display())))
    };
    folders.iter().map(PathBuf::as_path).filter(is_in_run_path).collect()
}

/// Sets the run path for the tests and examples of this crate, and hands it to the build scripts of crates that depend on it:
/// cargo lets no library set the run path of programs. Programs would not start without it, or with another library.
fn set_run_path(folders: &[&Path]) {
    println!("cargo:rerun-if-env-changed=LD_LIBRARY_PATH");
    let searched = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let searched: Vec<PathBuf> = env::split_paths(&searched).collect();
    for folder in folders {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{}", folder.display());
        if !searched.iter().any(|searched| searched == folder) {
            println!(
                "cargo:warning=programs do not find the MPI library in {0} by themselves: add it to LD_LIBRARY_PATH, or to their run path (\"Building\" in the documentation of dtype-mpi)",
                folder.display()
            );
        }
    }
    if let Ok(joined) = env::join_paths(folders) {
        println!("cargo:RUN_PATH={}", joined.display());
    }
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
