//! Two builds of the engine, each below the target directory that this program was built in.
//!
//! Each build's folder has a package with this repository's loops and, at a fixed relative path, the sources of one engine. So
//! equal sources give equal machine code, down to the names of symbols.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, io};

use anyhow::{Context, Result, ensure};

/// The files of a commit that its engine is built from. The third matches `dtype-attributes` and `dtype-derive`: `git archive`
/// fails for a path that a commit lacks, and the former is newer than the latter.
const SOURCES: [&str; 4] = ["Cargo.toml", "README.md", "dtype-[ad]*", "dtype-runtime"];

/// A compiled library of `dtype-ablation-engine`.
#[derive(Clone, Debug)]
pub(crate) struct Build {
    /// The commit's hash, or the words `working tree`.
    pub(crate) name: String,
    pub(crate) library: PathBuf,
}

impl Build {
    /// The engine of the working tree, with uncommitted changes.
    pub(crate) fn of_working_tree() -> Result<Self> {
        let folder = folder("working-tree")?;
        let link = folder.join("sources");
        match fs::remove_file(&link) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => std::os::unix::fs::symlink(repository()?, link)?,
        }
        build(&folder, "working tree")
    }

    /// The engine of a commit.
    pub(crate) fn of_commit(commit: &str) -> Result<Self> {
        let revision = format!("{commit}^{{commit}}");
        let output = git(&["rev-parse", "--quiet", "--short=12", "--verify", &revision])?
            .output()
            .context("git")?;
        ensure!(output.status.success(), "git knows no commit {commit}");
        let hash = String::from_utf8(output.stdout)?.trim().to_owned();
        let folder = folder(&hash)?;
        let sources = folder.join("sources");
        fs::create_dir_all(&sources)?;
        let mut archive = git(&["archive", &hash, "--"])?
            .args(SOURCES)
            .stdout(Stdio::piped())
            .spawn()
            .context("git archive")?;
        let from = archive.stdout.take().context("git archive has no output")?;
        // `tar` sets the commit's time on each file, so cargo does not compile unchanged files again.
        let unpacked = Command::new("tar").arg("-xC").arg(&sources).stdin(from).status();
        ensure!(archive.wait()?.success(), "git archive failed");
        ensure!(unpacked.context("tar")?.success(), "tar failed");
        build(&folder, &hash)
    }
}

/// Compiles the engine from the sources in the folder.
fn build(folder: &Path, name: &str) -> Result<Build> {
    eprintln!("building {name}");
    let repository = repository()?;
    let loops = repository.join("benches/ablation/engine/src/lib.rs");
    let loops = loops.to_str().context("a path that is no Unicode")?;
    // Pin the versions of the workspace. Cargo drops the entries that this build does not need.
    fs::copy(repository.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    let manifest = format!(
        "[workspace]\nexclude = [\"sources\"]\n\n\
         [package]\nname = \"dtype-ablation-engine\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [lib]\npath = {loops:?}\ncrate-type = [\"cdylib\"]\n\n\
         [dependencies]\ndtype-runtime = {{ path = \"sources/dtype-runtime\" }}\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest)?;
    let target = folder.join("target");
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--release", "--quiet", "--target-dir"])
        .arg(&target)
        .current_dir(folder)
        .status()
        .context("cargo")?;
    ensure!(status.success(), "{name} cannot be built");
    let library = target.join("release/libdtype_ablation_engine.so");
    Ok(Build { name: name.to_owned(), library })
}

fn git(arguments: &[&str]) -> Result<Command> {
    let mut git = Command::new("git");
    git.arg("-C").arg(repository()?).args(arguments);
    Ok(git)
}

fn repository() -> Result<PathBuf> {
    Ok(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?)
}

/// The folder of a build.
fn folder(name: &str) -> Result<PathBuf> {
    let program = env::current_exe()?;
    let target = program.ancestors().nth(2).context("this program is in no target directory")?;
    let folder = target.join("ablation").join(name);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}
