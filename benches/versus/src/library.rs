//! An MPI library, or Yaksa: a child process that is linked to it, built on demand. The newest releases of MPI libraries are
//! installed on demand, too.

use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use dtype_benches::peer::{Reply, Request, Work, receive, send};
use dtype_runtime::Type;

use crate::arguments::{Arguments, Libraries};
use crate::bench::who;

/// A library. If it is missing, the reason.
pub(crate) struct Library {
    /// Its column.
    pub(crate) name: &'static str,
    /// The column of the `mpi` crate on this library, if it is an MPI library.
    pub(crate) by_crate: &'static str,
    process: Result<Process, String>,
}

/// A child process that answers requests.
pub(crate) struct Process {
    /// The name that the library reports.
    pub(crate) version: String,
    child: Child,
    requests: Option<ChildStdin>,
    replies: BufReader<ChildStdout>,
}

impl Library {
    /// The MPI libraries that the arguments ask for. Builds the peer of each in a folder of its own, and starts it.
    ///
    /// A library that is missing, or that cannot be linked, is no error. A library that fails is an error.
    pub(crate) fn all(arguments: &Arguments) -> Result<Vec<Self>> {
        let mut all = Vec::new();
        if arguments.libraries != Libraries::System {
            all.push(Self::newest(who::OPEN_MPI, who::RSMPI_OPEN_MPI, "openmpi")?);
            all.push(Self::newest(who::MPICH, who::RSMPI_MPICH, "mpich")?);
        }
        if arguments.libraries != Libraries::Newest {
            let (openmpi, mpich) = (&arguments.openmpi, &arguments.mpich);
            let by_crate = who::RSMPI_SYSTEM_OPEN_MPI;
            all.push(Self::of_system(who::SYSTEM_OPEN_MPI, by_crate, "openmpi", openmpi)?);
            let by_crate = who::RSMPI_SYSTEM_MPICH;
            all.push(Self::of_system(who::SYSTEM_MPICH, by_crate, "mpich", mpich)?);
        }
        Ok(all)
    }

    /// The newest release of a library, from `PyPI`.
    fn newest(name: &'static str, by_crate: &'static str, package: &str) -> Result<Self> {
        let installed = Command::new(root().join(".ci/newest-mpi"))
            .arg(package)
            .stderr(Stdio::inherit())
            .output()?;
        if !installed.status.success() {
            let process = Err(missing(name, "PyPI's release is not installed"));
            return Ok(Self { name, by_crate, process });
        }
        // The name of the folder ends with the version.
        let folder = String::from_utf8(installed.stdout)?;
        let folder = folder.trim_end();
        let wrapper = Path::new(folder).join("bin/mpicc");
        let process = start(name, "dtype-mpi-peer", &format!("newest-{package}"), Some(&wrapper))?;
        if let (Ok(process), Some((_, version))) = (&process, folder.rsplit_once('-')) {
            let found = &process.version;
            ensure!(found.ends_with(version), "{name}'s peer runs with {found}, not {version}");
        }
        Ok(Self { name, by_crate, process })
    }

    /// A library of the system, by its compiler wrapper.
    fn of_system(
        name: &'static str,
        by_crate: &'static str,
        folder: &str,
        wrapper: &Path,
    ) -> Result<Self> {
        let found = Command::new(wrapper).arg("-show").output();
        let is_found = found.is_ok_and(|output| output.status.success());
        let process = if is_found {
            start(name, "dtype-mpi-peer", folder, Some(wrapper))?
        } else {
            Err(missing(name, &format!("no {}", wrapper.display())))
        };
        Ok(Self { name, by_crate, process })
    }

    /// Yaksa, which is in MPICH's static library.
    pub(crate) fn yaksa(name: &'static str) -> Result<Self> {
        let library = "libmpich.a";
        let found = Command::new("cc").arg(format!("-print-file-name={library}")).output();
        // The compiler prints the name alone if there is no such file.
        let is_found = found.is_ok_and(|output| output.stdout.trim_ascii() != library.as_bytes());
        let process = if is_found {
            start(name, "dtype-yaksa-peer", "yaksa", None)?
        } else {
            Err(missing(name, &format!("no {library}")))
        };
        Ok(Self { name, by_crate: name, process })
    }

    /// Whether the library packs in fragments. Only Open MPI exports an engine that does; MPI has no call for it.
    pub(crate) fn has_fragments(&self) -> bool {
        [who::OPEN_MPI, who::SYSTEM_OPEN_MPI].contains(&self.name)
    }

    pub(crate) fn process(&mut self) -> Result<&mut Process, &str> {
        self.process.as_mut().map_err(|why| why.as_str())
    }

    /// The library and its version, or the reason why it is missing.
    pub(crate) fn description(&self) -> String {
        match &self.process {
            // Some libraries' versions begin with the name, and others do not.
            Ok(process) if process.version.starts_with(self.name) => process.version.clone(),
            Ok(Process { version: what, .. }) | Err(what) => format!("{}: {what}", self.name),
        }
    }
}

/// Builds a peer and starts it.
fn start(
    name: &str,
    package: &str,
    folder: &str,
    wrapper: Option<&Path>,
) -> Result<Result<Process, String>> {
    let Some(program) = build(package, folder, wrapper)? else {
        return Ok(Err(missing(name, "its peer does not compile")));
    };
    let process = Process::spawn(&program).with_context(|| format!("{name}'s peer"))?;
    eprintln!("{name}: {}", process.version);
    Ok(Ok(process))
}

fn missing(name: &str, why: &str) -> String {
    let why = format!("missing: {why}");
    eprintln!("{name}: {why}");
    why
}

/// The folder of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Builds a peer with cargo, and returns its path.
fn build(package: &str, folder: &str, wrapper: Option<&Path>) -> Result<Option<PathBuf>> {
    let root = root();
    let target = root.join("target").join(folder);
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    if let Some(wrapper) = wrapper {
        eprint!("MPICC={} ", wrapper.display());
        command.env("MPICC", wrapper);
    }
    eprintln!("cargo build --release -p {package} --target-dir target/{folder}");
    let status = command
        .args(["build", "--release", "--quiet", "-p", package, "--target-dir"])
        .arg(&target)
        .current_dir(&root)
        .status()?;
    Ok(status.success().then(|| target.join("release").join(package)))
}

impl Process {
    fn spawn(program: &Path) -> Result<Self> {
        let mut command = Command::new(program);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // A single process needs no network, and the search for one can take long or fail.
        if std::env::var_os("UCX_TLS").is_none() {
            command.env("UCX_TLS", "self,sm");
        }
        let mut child = command.spawn().with_context(|| program.display().to_string())?;
        let requests = child.stdin.take();
        let replies = child.stdout.take().context("the standard output is a pipe")?;
        let replies = BufReader::new(replies);
        let mut process = Self { version: String::new(), child, requests, replies };
        match process.ask(&Request::Name)? {
            Reply::Name(version) => process.version = version,
            other => bail!("the peer replied {other:?}"),
        }
        Ok(process)
    }

    fn ask(&mut self, request: &Request) -> Result<Reply> {
        let stream = self.requests.as_mut().context("it has been told to end")?;
        send(stream, request).context("it takes no more requests")?;
        match receive(&mut self.replies)? {
            Some(Reply::Failed(why)) => bail!("the library: {why}"),
            Some(reply) => Ok(reply),
            None => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
        }
    }

    /// Makes instances in a memory with [`dtype_benches::peer::DATA`], and returns their packed bytes.
    pub(crate) fn layout(
        &mut self,
        ty: &Type,
        count: usize,
        origin: usize,
        length: usize,
    ) -> Result<Vec<u8>> {
        self.bytes(&Request::Layout { ty: ty.marshal(), count, origin, length })
    }

    /// Unpacks the packed bytes over [`dtype_benches::peer::BACKGROUND`], and returns the fingerprint of the memory.
    pub(crate) fn unpack(&mut self) -> Result<u64> {
        match self.ask(&Request::Unpack)? {
            Reply::Fingerprint(fingerprint) => Ok(fingerprint),
            other => bail!("the peer replied {other:?}"),
        }
    }

    /// Makes records from packed bytes, packs them again, and returns the result.
    pub(crate) fn records(&mut self, shape: &str, packed: &[u8]) -> Result<Vec<u8>> {
        self.bytes(&Request::Records { shape: shape.into(), packed: packed.to_vec() })
    }

    /// Unpacks the packed records, and returns the fields.
    pub(crate) fn decode(&mut self) -> Result<Vec<u8>> {
        self.bytes(&Request::Decode)
    }

    fn bytes(&mut self, request: &Request) -> Result<Vec<u8>> {
        match self.ask(request)? {
            Reply::Bytes(bytes) => Ok(bytes),
            other => bail!("the peer replied {other:?}"),
        }
    }

    /// Prepares the calls that make a type, and returns the packed size of that type.
    pub(crate) fn calls(&mut self, ty: &Type) -> Result<u64> {
        match self.ask(&Request::Calls { ty: ty.marshal() })? {
            Reply::Size(size) => Ok(size),
            other => bail!("the peer replied {other:?}"),
        }
    }

    /// The pieces of memory of instances.
    pub(crate) fn pieces(&mut self, ty: &Type, count: usize) -> Result<Vec<(u64, u64)>> {
        match self.ask(&Request::Pieces { ty: ty.marshal(), count })? {
            Reply::Pieces(pieces) => Ok(pieces),
            other => bail!("the peer replied {other:?}"),
        }
    }

    /// How long this number of repetitions takes, by the clock of the child process.
    pub(crate) fn time(&mut self, work: Work, repetitions: u64) -> Result<Duration> {
        match self.ask(&Request::Time { work, repetitions })? {
            Reply::Time(nanoseconds) => Ok(Duration::from_nanos(nanoseconds)),
            other => bail!("the peer replied {other:?}"),
        }
    }
}

impl Drop for Process {
    /// Lets the child process end by itself, because an MPI program must finalize MPI.
    fn drop(&mut self) {
        drop(self.requests.take());
        let _ = self.child.wait();
    }
}
