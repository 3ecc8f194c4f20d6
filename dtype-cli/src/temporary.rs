//! A temporary file that disappears with the process that writes it: when it is renamed, or when the process fails, panics, or
//! is ended by a signal.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::TempPath;

/// The path of the file; dropping it removes the file. A process writes one file at a time.
static PATH: Mutex<Option<TempPath>> = Mutex::new(None);

fn path() -> MutexGuard<'static, Option<TempPath>> {
    // A panic cannot leave the path half changed.
    PATH.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A temporary file.
#[derive(Debug)]
pub(crate) struct Temporary {
    file: File,
}

impl Temporary {
    /// Creates an empty file in a folder.
    pub(crate) fn create(folder: &Path) -> io::Result<Self> {
        #[cfg(unix)]
        signals::watch()?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(".dtype-");
        // Locked before the file exists, so that a signal always finds the file's path.
        let mut known = path();
        // Opened here, because errors of the builder would contain the temporary name.
        let file = builder.make_in(folder, |path| {
            File::options().read(true).write(true).create_new(true).open(path)
        })?;
        let (file, path) = file.into_parts();
        *known = Some(path);
        Ok(Self { file })
    }

    pub(crate) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Renames the complete file. Even after a crash of the system, the name only ever refers to a complete file.
    pub(crate) fn persist(self, name: &Path) -> io::Result<()> {
        self.file.sync_all()?;
        if let Some(path) = path().take() {
            path.persist(name).map_err(|error| error.error)?;
        }
        #[cfg(unix)]
        sync_folder(name)?;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        drop(path().take());
    }
}

/// Makes the new name durable, if the folder can be read and its file system supports that.
#[cfg(unix)]
fn sync_folder(name: &Path) -> io::Result<()> {
    let folder = name.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) else { return Ok(()) };
    match folder.sync_all() {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        other => other,
    }
}

#[cfg(unix)]
mod signals {
    //! Handles signals that would end the process.

    use std::ffi::c_int;
    use std::io;
    use std::ops::RangeInclusive;
    use std::thread;

    use signal_hook::consts::signal::{
        SIGABRT, SIGALRM, SIGHUP, SIGINT, SIGPROF, SIGQUIT, SIGSYS, SIGTERM, SIGTRAP, SIGUSR1,
        SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ,
    };
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::{emulate_default_handler, exit};

    /// The signals that end a process and can be caught, except those that a processor sends for a mistake in the program.
    /// (Writing to a pipe whose reader has gone returns an error.)
    const ENDING: [c_int; 14] = [
        SIGABRT, SIGALRM, SIGHUP, SIGINT, SIGPROF, SIGQUIT, SIGSYS, SIGTERM, SIGTRAP, SIGUSR1,
        SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ,
    ];

    /// More such signals: on Linux, `SIGSTKFLT`, `SIGIO`, `SIGPWR` and the real-time signals.
    const MORE: &[RangeInclusive<c_int>] =
        if cfg!(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))) {
            &[16..=16, 29..=30, 34..=64]
        } else {
            &[]
        };

    /// Starts a thread that removes the file when such a signal arrives. It then ends the process as the signal would, or with
    /// the exit status that shells use for the signal.
    pub(super) fn watch() -> io::Result<()> {
        let ignored = ignored();
        let all = ENDING.into_iter().chain(MORE.iter().cloned().flatten());
        let caught = all.filter(|signal| ignored >> (signal - 1) & 1 == 0);
        let mut signals = Signals::new(caught)?;
        thread::Builder::new().spawn(move || {
            // If a file would exceed a limit, the write returns an error instead.
            if let Some(signal) = signals.forever().find(|signal| *signal != SIGXFSZ) {
                // Locked until the process ends, so that no other file is made.
                let mut path = super::path();
                drop(path.take());
                let _ = emulate_default_handler(signal);
                exit(128 + signal);
            }
        })?;
        Ok(())
    }

    /// The ignored signals, one bit each, as `nohup` and a shell's `&` set them: they do not end the process. Only Linux tells
    /// which these are.
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }
}
