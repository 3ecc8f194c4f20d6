//! The crates on disk, and how they are compiled.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use anyhow::{Context, Result, bail};

use crate::structs::Struct;
use crate::subject::Subject;

/// What cargo does with a crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Check,
    Build,
    Release,
}

impl Mode {
    pub(crate) const ALL: [Self; 3] = [Self::Check, Self::Build, Self::Release];

    /// Modes whose builds share most of the dependencies.
    pub(crate) const QUICK: [Self; 2] = [Self::Check, Self::Build];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::Build => "build",
            Self::Release => "build --release",
        }
    }
}

/// A workspace of one crate for each subject.
pub(crate) struct Crates {
    root: PathBuf,
}

impl Crates {
    /// Writes the crates below the target directory that this program was built in.
    pub(crate) fn write(structs: &[Struct]) -> Result<Self> {
        let program = env::current_exe()?;
        let target =
            program.ancestors().nth(2).context("this program is in no target directory")?;
        let crates = Self { root: target.join("compile-time") };
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
        let runtime = repository.join("dtype-runtime");
        let runtime = runtime.to_str().context("a path that is no Unicode")?;
        let names = Subject::ALL.map(Subject::package);
        write(
            &crates.root.join("Cargo.toml"),
            &format!("[workspace]\nresolver = \"3\"\nmembers = {names:?}\n"),
        )?;
        // The workspace's versions. Cargo takes the packages that this crate needs from the file.
        let lock = fs::read_to_string(repository.join("Cargo.lock"))?;
        write(&crates.root.join("Cargo.lock"), &lock)?;
        for subject in Subject::ALL {
            let name = subject.package();
            let dependencies = subject.dependencies(runtime);
            let manifest = format!(
                "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
                 [dependencies]\n{dependencies}"
            );
            write(&crates.root.join(name).join("Cargo.toml"), &manifest)?;
            write(&crates.source(subject), &subject.source(structs))?;
        }
        Ok(crates)
    }

    /// Makes cargo compile a crate again.
    pub(crate) fn touch(&self, subject: Subject) -> Result<()> {
        let source = File::options().append(true).open(self.source(subject))?;
        Ok(source.set_modified(SystemTime::now())?)
    }

    /// Compiles a crate, and the dependencies that have not been compiled yet.
    pub(crate) fn build(&self, mode: Mode, subject: Subject) -> Result<()> {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(cargo)
            .args(mode.name().split(' '))
            .args(["--quiet", "--offline", "--package", subject.package()])
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", self.root.join("target"))
            // Incremental data would add a different amount of work to each crate.
            .env("CARGO_INCREMENTAL", "0")
            .status()
            .context("cargo")?;
        if !status.success() {
            bail!("{}: {} failed", subject.package(), mode.name());
        }
        Ok(())
    }

    fn source(&self, subject: Subject) -> PathBuf {
        self.root.join(subject.package()).join("src/lib.rs")
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    let written = || {
        fs::create_dir_all(path.parent().unwrap_or(path))?;
        fs::write(path, text)
    };
    written().with_context(|| path.display().to_string())
}
