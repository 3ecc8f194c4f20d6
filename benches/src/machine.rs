//! The machine on which the figures were measured.

use std::fs;
use std::thread::available_parallelism;

use serde::{Deserialize, Serialize};

/// A machine and its software.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Machine {
    /// The processor's name; if that is unknown, the architecture.
    pub processor: String,
    /// The cores that this process may use.
    pub cores: usize,
    /// Level, kind and size of the first core's caches.
    pub caches: Vec<String>,
    /// The operating system, with its version.
    pub kernel: String,
    /// The version that `rustc` reports.
    pub compiler: String,
    /// The MPI libraries. For a missing library, the reason.
    pub libraries: Vec<String>,
}

impl Machine {
    /// The machine that this process runs on, with these MPI libraries.
    pub fn here(libraries: Vec<String>) -> Self {
        Self {
            processor: processor().unwrap_or_else(|| std::env::consts::ARCH.into()),
            cores: available_parallelism().map_or(1, usize::from),
            caches: caches(),
            kernel: read("/proc/sys/kernel/ostype")
                .zip(read("/proc/sys/kernel/osrelease"))
                .map_or_else(
                    || std::env::consts::OS.into(),
                    |(os, release)| format!("{os} {release}"),
                ),
            compiler: env!("BENCHES_COMPILER").into(),
            libraries,
        }
    }

    /// The same facts as lines of text.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![
            format!("{}, {} cores, {}", self.processor, self.cores, self.caches.join(", ")),
            format!("{}, {}", self.kernel, self.compiler),
        ];
        lines.push(self.libraries.join(", "));
        lines
    }
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

fn processor() -> Option<String> {
    let text = read("/proc/cpuinfo")?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn caches() -> Vec<String> {
    (0..)
        .map_while(|number| {
            let of =
                |what| read(&format!("/sys/devices/system/cpu/cpu0/cache/index{number}/{what}"));
            let (level, kind, size) = (of("level")?, of("type")?, of("size")?);
            let kind = match kind.as_str() {
                "Data" => "d",
                "Instruction" => "i",
                _ => "",
            };
            Some(format!("L{level}{kind} {size}"))
        })
        .collect()
}
