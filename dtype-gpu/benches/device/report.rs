//! The text of the results: on the standard output and in a file.

use std::fs::File;
use std::io::Write as _;
use std::time::Instant;

use anyhow::Result;

use crate::gpu::{Gpu, check};
use crate::hand::Direction;
use crate::layouts::Layout;
use crate::sectors::Traffic;

/// Where lines are written, and until when.
pub(crate) struct Report {
    file: Option<File>,
    start: Instant,
    /// Seconds after which nothing new is begun.
    limit: f64,
    /// Results with wrong bytes, and layouts that failed.
    pub(crate) wrong: usize,
    /// Rows: whether ours, group, direction, share of the copy's speed, time over the best by hand.
    ratios: Vec<(String, f64, Option<f64>)>,
}

impl Report {
    pub(crate) fn new(file: Option<File>, limit: f64) -> Self {
        Self { file, start: Instant::now(), limit, wrong: 0, ratios: Vec::new() }
    }

    pub(crate) fn line(&mut self, line: &str) {
        println!("{line}");
        if let Some(file) = &mut self.file {
            // What was printed is not lost if the file cannot be written.
            let _ = writeln!(file, "{line}");
        }
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Measures a layout, if there is time. An error becomes a line, unless the device is lost.
    pub(crate) fn attempt(
        &mut self,
        layout: &Layout,
        measure: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        if self.seconds() > self.limit {
            self.line(&format!("{:<40}left out: no time", layout.name));
        } else if let Err(error) = measure(self) {
            self.line(&format!("{:<40}FAILED: {error:#}", layout.name));
            self.wrong += 1;
            // SAFETY: the context is current. If an error has ended the context, the call returns that error.
            check(unsafe { cudarc::driver::sys::cuCtxSynchronize() })?;
        }
        Ok(())
    }

    pub(crate) fn heading(&mut self, title: &str) {
        self.line("");
        self.line(title);
        self.line(&format!(
            "{:<40}{:<11}{:>7}{:>8}{:>10}{:>8}{:>7}{:>7}{:>7}{:>9}  bytes",
            "", "", "", "MiB", "µs", "GB/s", "a", "b", "c", "/by hand"
        ));
    }

    /// A row: the time of something in seconds, and that over the time of the best kernel by hand.
    #[allow(clippy::too_many_arguments, reason = "the columns of a table")]
    pub(crate) fn row(
        &mut self,
        gpu: &Gpu,
        name: &str,
        what: &str,
        direction: Direction,
        traffic: Traffic,
        time: f64,
        by_hand: Option<f64>,
        bytes: &str,
    ) {
        let copy = gpu.copy_speed(traffic.packed);
        let share = |bytes: usize| bytes as f64 / time / copy;
        let (a, b) = (share(2 * traffic.packed), share(traffic.packed + traffic.touched));
        let c = match direction {
            Direction::Pack => b,
            Direction::Unpack => share(traffic.packed + traffic.touched + traffic.partial),
        };
        let ratio = by_hand.map(|by_hand| time / by_hand);
        let way = match direction {
            Direction::Pack => "pack",
            Direction::Unpack => "unpack",
        };
        let printed = ratio.map_or_else(|| "-".into(), |ratio| format!("{ratio:.2}"));
        self.line(&format!(
            "{name:<40}{what:<11}{way:>7}{:>8.1}{:>10.1}{:>8.0}{a:>7.2}{b:>7.2}{c:>7.2}{printed:>9}  {bytes}",
            traffic.packed as f64 / f64::from(1 << 20),
            time * 1e6,
            2.0 * traffic.packed as f64 / time / 1e9,
        ));
        if what == "dtype" {
            self.ratios.push((format!("{name} {way}"), c, ratio));
        }
    }

    /// The targets, and what misses them.
    pub(crate) fn targets(&mut self) {
        let ratios = std::mem::take(&mut self.ratios);
        let slow: Vec<_> = ratios.iter().filter(|(_, share, _)| *share < 0.8).collect();
        let behind: Vec<_> =
            ratios.iter().filter(|(_, _, ratio)| ratio.is_some_and(|ratio| ratio > 1.1)).collect();
        let compared = ratios.iter().filter(|(_, _, ratio)| ratio.is_some()).count();
        self.line("");
        self.line("Targets");
        self.line(&format!("c of 0.80 or more: {} of {}", ratios.len() - slow.len(), ratios.len()));
        for (name, share, _) in slow {
            self.line(&format!("    {name:<48}{share:>6.2}"));
        }
        self.line(&format!(
            "1.10 of the kernel by hand or less: {} of {compared}",
            compared - behind.len()
        ));
        for (name, _, ratio) in behind {
            self.line(&format!("    {name:<48}{:>6.2}", ratio.unwrap_or(f64::NAN)));
        }
    }

    /// Ends the report.
    pub(crate) fn end(mut self) -> Result<()> {
        let line = match self.wrong {
            0 => "All bytes are those of the host's engine.".into(),
            wrong => format!("{wrong} results are WRONG."),
        };
        self.line("");
        self.line(&format!("{line} {:.0} s", self.seconds()));
        anyhow::ensure!(self.wrong == 0, "wrong results");
        Ok(())
    }
}
