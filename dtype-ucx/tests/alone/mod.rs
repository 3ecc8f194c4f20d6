//! Runs a test in a process of its own, so that a test that crashes or hangs does not stop the others.

use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, thread};

const MARK: &str = "DTYPE_UCX_ALONE";

/// Runs the calling test, which has this name, in a process of its own.
pub(crate) fn alone(name: &str, test: impl FnOnce()) {
    const LIMIT: Duration = Duration::from_secs(120);
    if env::var_os(MARK).is_some() {
        return test();
    }
    let program = env::current_exe().unwrap();
    let arguments = ["--exact", name, "--nocapture"];
    let mut child = Command::new(program).args(arguments).env(MARK, "1").spawn().unwrap();
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
    assert!(status.success(), "{name}: {status}");
}
