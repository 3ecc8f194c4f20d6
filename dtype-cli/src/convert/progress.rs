//! How far a long conversion is.

use std::io::{self, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Below so many packed bytes there is nothing to wait for.
const LONG: u64 = 64 << 20;

/// A bar on standard error, for long files, and where that is a terminal.
#[derive(Debug)]
pub(super) struct Progress(ProgressBar);

impl Progress {
    pub(super) fn new(what: &'static str, total: u64) -> Self {
        if total < LONG {
            return Self(ProgressBar::hidden());
        }
        // Is hidden where standard error is no terminal.
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
        let template = "{msg} {wide_bar} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";
        let style = ProgressStyle::with_template(template);
        Self(
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
                .with_message(what),
        )
    }

    /// So many bytes are done.
    pub(super) fn at(&self, bytes: u64) {
        self.0.set_position(bytes);
    }

    /// Says something beside.
    pub(super) fn note(&self, text: &str) {
        // Where nobody reads it, it is not worth an error.
        self.0.suspend(|| drop(writeln!(io::stderr(), "note: {text}")));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
