//! The progress of a long conversion.

use std::io::{self, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Conversions of fewer packed bytes show no progress.
const LONG: u64 = 64 << 20;

/// A progress bar on standard error, for long files, if standard error is a terminal.
#[derive(Debug)]
pub(super) struct Progress {
    bar: ProgressBar,
    is_shown: bool,
}

impl Progress {
    /// The progress of a conversion of `total` packed bytes, if their number is known.
    pub(super) fn new(what: &'static str, total: Option<u64>) -> Self {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        let template = match total {
            Some(_) => "{msg} {wide_bar} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
            None => "{msg} {bytes}, {bytes_per_sec}",
        };
        let style = ProgressStyle::with_template(template);
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        let mut progress = Self { bar: bar.with_style(style).with_message(what), is_shown: false };
        if total.is_some_and(|total| total >= LONG) {
            progress.show();
        }
        progress
    }

    fn show(&mut self) {
        // The bar stays hidden if standard error is not a terminal.
        self.bar.set_draw_target(ProgressDrawTarget::stderr());
        self.is_shown = true;
    }

    /// Sets the number of bytes converted.
    pub(super) fn at(&mut self, bytes: u64) {
        if bytes >= LONG && !self.is_shown {
            self.show();
        }
        self.bar.set_position(bytes);
    }

    /// Prints a note without disturbing the bar.
    pub(super) fn note(&self, text: &str) {
        // A note that cannot be written is not an error.
        self.bar.suspend(|| drop(writeln!(io::stderr(), "note: {text}")));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
