//! A Python that has a module.

use std::process::{Command, Stdio};

/// Python on the path or of the system, or `None` with a note where none has the module.
pub fn with(module: &str) -> Option<&'static str> {
    let found = ["python3", "/usr/bin/python3"].into_iter().find(|python| {
        let import = format!("import {module}");
        let probe = Command::new(python).args(["-c", &import]).stderr(Stdio::null()).status();
        probe.is_ok_and(|status| status.success())
    });
    if found.is_none() {
        eprintln!("left out: no python3 with {module} here");
    }
    found
}
