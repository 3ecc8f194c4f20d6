//! Compiles C programs with an MPI library's compiler, and starts them with and without the library under test.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// An MPI library, by the suffix that Debian gives its commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    OpenMpi,
    Mpich,
}

impl Library {
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenMpi => "openmpi",
            Self::Mpich => "mpich",
        }
    }

    /// The libraries to be tested: both, or those that `DTYPE_PRELOAD_LIBRARIES` names.
    pub fn all() -> Vec<Self> {
        let wanted = env::var("DTYPE_PRELOAD_LIBRARIES").unwrap_or("openmpi,mpich".to_owned());
        let all: Vec<_> = [Self::OpenMpi, Self::Mpich]
            .into_iter()
            .filter(|library| wanted.split(',').any(|name| name == library.name()))
            .collect();
        assert!(!all.is_empty(), "DTYPE_PRELOAD_LIBRARIES={wanted} names no library");
        all
    }

    pub fn compiler(self) -> PathBuf {
        self.command("mpicc")
    }

    /// A command of the library: Debian's, or the one in the folder that `DTYPE_PRELOAD_OPENMPI` or `DTYPE_PRELOAD_MPICH`
    /// names.
    pub fn command(self, name: &str) -> PathBuf {
        match env::var_os(format!("DTYPE_PRELOAD_{}", self.name().to_uppercase())) {
            Some(folder) => Path::new(&folder).join(name),
            None => format!("{name}.{}", self.name()).into(),
        }
    }

    /// Compiles a program of the tests of `dtype-preload`, and returns the path of the executable.
    pub fn compile(self, program: &str, folder: &Path) -> PathBuf {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dtype-preload/tests/programs");
        self.compile_at(&sources.join(program), folder)
    }

    /// Compiles a program to an executable in a folder.
    pub fn compile_at(self, source: &Path, folder: &Path) -> PathBuf {
        let executable = folder.join(self.name());
        let output = Command::new(self.compiler())
            .args([
                "-std=gnu11",
                "-O1",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-Wno-stringop-overflow",
                "-pthread",
            ])
            .arg(source)
            .arg("-o")
            .arg(&executable)
            .args(["-ldl", "-lm"])
            .output()
            .unwrap_or_else(|error| {
                panic!("{} cannot be started: {error}", self.compiler().display())
            });
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        executable
    }

    /// Starts a program with ranks, each with or without the library under test. `mode` is the value of `DTYPE_PRELOAD`.
    pub fn start(
        self,
        program: &Path,
        arguments: &[&str],
        mode: &str,
        hooked: &[bool],
        variables: &[(&str, &str)],
    ) -> Output {
        self.start_in(Path::new("."), 400, program, arguments, mode, hooked, variables)
    }

    /// As [`start`](Self::start), in a given folder and with a time limit in seconds.
    #[expect(clippy::too_many_arguments, reason = "what a process is started with")]
    pub fn start_in(
        self,
        folder: &Path,
        seconds: u32,
        program: &Path,
        arguments: &[&str],
        mode: &str,
        hooked: &[bool],
        variables: &[(&str, &str)],
    ) -> Output {
        let mut command = Command::new("timeout");
        command.arg(seconds.to_string()).arg(self.command("mpirun"));
        for (rank, &hooked) in hooked.iter().enumerate() {
            if rank > 0 {
                command.arg(":");
            }
            command.args(["-n", "1", "env"]);
            if hooked {
                command.arg(format!("LD_PRELOAD={}", preloads()));
            }
            command.arg(format!("DTYPE_PRELOAD={mode}")).arg(program).args(arguments);
        }
        Self::environment(&mut command).current_dir(folder).envs(variables.iter().copied());
        command.output().expect("timeout can be started")
    }

    /// What the libraries need as root, with more ranks than cores, and without a network.
    pub fn environment(command: &mut Command) -> &mut Command {
        command
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
            .env("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")
            .env("OMPI_MCA_mpi_yield_when_idle", "1")
            .env("OMPI_MCA_opal_common_ucx_tls", "any")
            .env("OMPI_MCA_opal_common_ucx_devices", "any")
            .env("UCX_TLS", "self,sm")
            .env("FI_PROVIDER", "tcp")
            .env("OPENBLAS_NUM_THREADS", "1")
    }

    /// As [`start`](Self::start), for a program that must succeed. Returns its standard output.
    pub fn run(
        self,
        program: &Path,
        arguments: &[&str],
        mode: &str,
        hooked: &[bool],
        variables: &[(&str, &str)],
    ) -> (String, String) {
        let output = self.start(program, arguments, mode, hooked, variables);
        let [out, err] = [output.stdout, output.stderr]
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let name = self.name();
        assert!(
            output.status.success(),
            "{name}, {mode}, {hooked:?}: {}\n{out}\n{err}",
            output.status
        );
        (out, err)
    }
}

/// The value of `LD_PRELOAD`: the library under test, after those that `DTYPE_PRELOAD_BEFORE` names.
fn preloads() -> String {
    let before = env::var("DTYPE_PRELOAD_BEFORE").unwrap_or_default();
    format!("{before} {}", preload().display()).trim_start().to_owned()
}

/// The library under test, which cargo has built beside this test.
pub fn preload() -> PathBuf {
    let test = env::current_exe().expect("a test knows its path");
    let path = test.with_file_name("libdtype_preload.so");
    assert!(path.is_file(), "{} is missing", path.display());
    path
}
