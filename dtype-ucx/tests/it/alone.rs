//! Runs a test in a process of its own, so that a test that crashes or hangs does not stop the others.

use std::process::{self, Command};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

const MARK: &str = "DTYPE_UCX_ALONE";

/// Runs the calling test, which has this name, in a process of its own. It fails if UCX reports a key that was not destroyed.
pub(crate) fn alone(name: &str, test: impl FnOnce()) {
    const LIMIT: Duration = Duration::from_secs(120);
    if env::var_os(MARK).is_some() {
        return test();
    }
    let program = env::current_exe().unwrap();
    let arguments = ["--exact", name, "--nocapture"];
    let log =
        env::temp_dir().join(format!("dtype-ucx-{}-{}", process::id(), name.replace("::", "-")));
    let mut child = Command::new(program)
        .args(arguments)
        .env(MARK, "1")
        .env("UCX_LOG_FILE", &log)
        .spawn()
        .unwrap();
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > LIMIT {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{name} did not end within {LIMIT:?}");
        }
        thread::sleep(Duration::from_millis(5));
    };
    let reported = fs::read_to_string(&log).unwrap_or_default();
    let _ = fs::remove_file(&log);
    assert!(status.success(), "{name}: {status}\n{reported}");
    assert!(!reported.contains("was not returned to mpool ucp_rkeys"), "{name}: {reported}");
}
