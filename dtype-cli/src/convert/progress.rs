//! The progress of a long conversion.

use std::io::{self, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Conversions of fewer packed bytes show no progress.
const LONG: u64 = 64 << 20;

/// A progress bar on standard error, for long files, if standard error is a terminal.
#[derive(Debug)]
pub(super) struct Progress(ProgressBar);

impl Progress {
    pub(super) fn new(what: &'static str, total: u64) -> Self {
        if total < LONG {
            return Self(ProgressBar::hidden());
        }
        // The bar is hidden if standard error is not a terminal.
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
        let template = "{msg} {wide_bar} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";
        let style = ProgressStyle::with_template(template);
        Self(
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
                .with_message(what),
        )
    }

    /// Sets the number of bytes converted.
    pub(super) fn at(&self, bytes: u64) {
        self.0.set_position(bytes);
    }

    /// Prints a note without disturbing the bar.
    pub(super) fn note(&self, text: &str) {
        // A note that cannot be written is not an error.
        self.0.suspend(|| drop(writeln!(io::stderr(), "note: {text}")));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
