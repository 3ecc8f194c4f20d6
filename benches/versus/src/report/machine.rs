//! What the figures were measured on.

use std::fs;
use std::thread::available_parallelism;

use serde::Serialize;

use crate::library::Library;

/// A machine, and what runs on it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Machine {
    pub(crate) processor: String,
    pub(crate) cores: usize,
    /// Level, kind and size of those that the first core has.
    pub(crate) caches: Vec<String>,
    pub(crate) kernel: String,
    pub(crate) compiler: &'static str,
    /// The libraries, or why one is not there.
    pub(crate) libraries: Vec<String>,
}

impl Machine {
    pub(crate) fn here(libraries: &[Library]) -> Self {
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
            compiler: env!("VERSUS_COMPILER"),
            libraries: libraries
                .iter()
                .map(|library| match library.version() {
                    // Some say their name in their version, some do not.
                    version if version.starts_with(library.name) => version.to_owned(),
                    other => format!("{}: {other}", library.name),
                })
                .collect(),
        }
    }

    /// In lines.
    pub(crate) fn lines(&self) -> Vec<String> {
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
