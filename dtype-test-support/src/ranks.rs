//! Starts this program again under the library's launcher, with several ranks.

use std::env;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The variable that tells a rank the number of ranks.
pub const RANKS: &str = "DTYPE_MPI_RANKS";

/// Runs this program with `ranks` ranks, the same arguments and additional environment variables. Returns `false` if a rank
/// fails, or if the limit passes, in which case a rank probably waits for a message that nobody sends. `wrapper` is the library's
/// compiler wrapper.
pub fn run(wrapper: &str, ranks: usize, limit: Duration, environment: &[(&str, &str)]) -> bool {
    let mut command = Command::new(launcher(wrapper));
    command.args(["-n", &ranks.to_string()]);
    command.arg(env::current_exe().expect("this program has a path"));
    command.args(env::args_os().skip(1));
    command.env(RANKS, ranks.to_string());
    // For Open MPI: allows more ranks than cores, and running as root, for example in a container.
    for name in [
        "OMPI_ALLOW_RUN_AS_ROOT",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
        "OMPI_MCA_rmaps_base_oversubscribe",
        "OMPI_MCA_mpi_yield_when_idle",
    ] {
        command.env(name, "1");
    }
    // For libraries built on UCX: the ranks share memory and need no network.
    if env::var_os("UCX_TLS").is_none() {
        command.env("UCX_TLS", "self,sm");
    }
    command.envs(environment.iter().copied());
    let mut child = command.process_group(0).spawn().expect("the library's launcher is there");
    match wait(&mut child, limit) {
        Some(status) if status.success() => true,
        Some(status) => {
            eprintln!("with {ranks} ranks: {status}");
            false
        }
        None => {
            eprintln!("with {ranks} ranks: not done after {limit:?}");
            stop(&mut child);
            false
        }
    }
}

/// The launcher with the suffix of the compiler wrapper: `mpirun.mpich` for `mpicc.mpich`, and `mpirun` for `mpicc_abi`.
fn launcher(wrapper: &str) -> PathBuf {
    let wrapper = Path::new(wrapper);
    let name = wrapper.file_name().and_then(|name| name.to_str()).unwrap_or("mpicc");
    wrapper.with_file_name(name.replace("mpicc", "mpirun").replace("_abi", ""))
}

fn wait(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let start = Instant::now();
    while start.elapsed() < limit {
        if let Some(status) = child.try_wait().expect("the launcher is a child of this program") {
            return Some(status);
        }
        sleep(Duration::from_millis(20));
    }
    None
}

/// Kills the launcher, which kills the ranks, and then the rest of its process group.
fn stop(child: &mut Child) {
    let group = format!("-{}", child.id());
    for signal in ["-TERM", "-KILL"] {
        let _ = Command::new("kill").args([signal, "--", &group]).status();
        sleep(Duration::from_secs(2));
    }
    let _ = child.wait();
}
