//! The report at exit: what this engine did for each type, and what it left to the MPI library.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use std::{env, iter};

use dtype_runtime::show::TextStyle;
use dtype_runtime::{Committed, Type};

use crate::boundary::{contain, say};
use crate::mode::Mode;

/// The number of types that are drawn.
const PICTURES: usize = 5;

/// Wider pictures are cut.
const LINES: usize = 40;

/// What was done for types that are made by the same calls.
#[derive(Debug)]
pub(crate) struct Row {
    ty: Type,
    calls: AtomicU64,
    bytes: AtomicU64,
    nanoseconds: AtomicU64,
}

impl Row {
    pub(crate) fn add(&self, bytes: usize, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
        MOVED.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// The rows by the marshalled types.
static ROWS: Mutex<Option<HashMap<Vec<u8>, Arc<Row>>>> = Mutex::new(None);

/// Packed bytes that this engine has moved.
static MOVED: AtomicU64 = AtomicU64::new(0);

/// The row of a type, if there will be a report.
pub(crate) fn row_of(committed: &Committed) -> Option<Arc<Row>> {
    if !Mode::get().stats {
        return None;
    }
    let mut rows = ROWS.lock().unwrap_or_else(PoisonError::into_inner);
    let rows = rows.get_or_insert_default();
    let row = rows.entry(committed.marshal()).or_insert_with(|| {
        let zero = || AtomicU64::new(0);
        let ty = committed.as_type().clone();
        Arc::new(Row { ty, calls: zero(), bytes: zero(), nanoseconds: zero() })
    });
    Some(Arc::clone(row))
}

/// Packed bytes that this engine has moved in this process so far, if `DTYPE_PRELOAD` has `stats`; otherwise 0.
///
/// For programs that want to know: look it up with `dlsym(RTLD_DEFAULT, "dtype_preload_moved")`.
#[unsafe(no_mangle)]
pub extern "C" fn dtype_preload_moved() -> u64 {
    MOVED.load(Ordering::Relaxed)
}

/// Why messages are left to the MPI library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Left {
    /// Fewer bytes than the engine is asked for.
    Small,
    /// The first message of a type.
    First,
    /// Long contiguous blocks.
    Long,
    /// A type or a buffer that is not known, or overlaps.
    Unknown,
    /// Data without gaps. Nobody counts them, as the library's own messages are among them.
    Contiguous,
}

const REASONS: [&str; 4] =
    ["small", "first of their type", "with long blocks", "of a type or a buffer not known"];

static LEFT: [AtomicU64; REASONS.len()] = [const { AtomicU64::new(0) }; REASONS.len()];

/// Counts a message that is left to the MPI library.
#[inline]
pub(crate) fn left(reason: Left) {
    if Mode::get().stats
        && let Some(count) = LEFT.get(reason as usize)
    {
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// The library below which this one is, or why it does nothing.
static LIBRARY: OnceLock<Result<String, String>> = OnceLock::new();

/// Registers the report, if there will be one: for the library that was found, or for the reason why everything is left
/// to it.
pub(crate) fn begin(library: Result<String, String>) {
    static REGISTERED: AtomicBool = AtomicBool::new(false);
    extern "C" fn at_exit() {
        contain(|| say(format_args!("{}", report())));
    }

    if !Mode::get().stats {
        return;
    }
    if LIBRARY.set(library).is_ok() && !REGISTERED.swap(true, Ordering::Relaxed) {
        // SAFETY: the function does not unwind, and stays loaded until the process ends, as a library does that the
        // linker was told to load.
        unsafe { libc::atexit(at_exit) };
    }
}

/// The rank of this process, as the launchers say it.
fn rank() -> String {
    ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"]
        .iter()
        .find_map(|name| env::var(name).ok())
        .map_or_else(|| format!("process {}", std::process::id()), |rank| format!("rank {rank}"))
}

fn report() -> String {
    let name = rank();
    let library = match LIBRARY.get() {
        Some(Ok(library)) => library,
        Some(Err(why)) => {
            return format!(
                "dtype-preload: {name}: everything is left to the MPI library: {why}\n"
            );
        }
        None => return String::new(),
    };
    let rows = ROWS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut rows: Vec<_> = rows.iter().flat_map(HashMap::values).collect();
    let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    rows.sort_by_key(|row| {
        (std::cmp::Reverse(of(&row.nanoseconds)), std::cmp::Reverse(of(&row.bytes)))
    });
    let total = |counter: fn(&Row) -> &AtomicU64| rows.iter().map(|row| of(counter(row))).sum();

    let mut text = format!(
        "dtype-preload: {name}, {library}: {} calls moved {} in {}\n",
        total(|row| &row.calls),
        bytes(total(|row| &row.bytes)),
        time(total(|row| &row.nanoseconds)),
    );
    let reasons = REASONS.iter().zip(&LEFT).filter(|(_, count)| of(count) > 0);
    let reasons: Vec<_> =
        reasons.map(|(reason, count)| format!("{} {reason}", of(count))).collect();
    if !reasons.is_empty() {
        let _ = writeln!(text, "  left to the library: {}", reasons.join(", "));
    }
    for (number, row) in iter::zip(1.., &rows) {
        let _ = writeln!(
            text,
            "  type {number}: {} calls, {}, {}; size {}, extent {}",
            of(&row.calls),
            bytes(of(&row.bytes)),
            time(of(&row.nanoseconds)),
            row.ty.size(),
            row.ty.extent(),
        );
        if number <= PICTURES {
            for line in picture(&row.ty).lines() {
                let _ = writeln!(text, "{}", format!("    {line}").trim_end());
            }
        }
    }
    text
}

/// A type as text.
pub(crate) fn picture(ty: &Type) -> String {
    let style = TextStyle::default().with_ascii(true).with_legend(12);
    let picture = ty.diagram().text(&style).to_string();
    let lines: Vec<_> = picture.lines().take(LINES).map(str::trim_end).collect();
    lines.join("\n")
}

#[expect(clippy::cast_precision_loss, reason = "three digits are printed")]
fn bytes(number: u64) -> String {
    match number {
        0..10_000 => format!("{number} bytes"),
        10_000..10_000_000 => format!("{:.1} kB", number as f64 / 1e3),
        _ => format!("{:.1} MB", number as f64 / 1e6),
    }
}

#[expect(clippy::cast_precision_loss, reason = "three digits are printed")]
fn time(nanoseconds: u64) -> String {
    match nanoseconds {
        0..10_000 => format!("{nanoseconds} ns"),
        10_000..10_000_000 => format!("{:.1} µs", nanoseconds as f64 / 1e3),
        _ => format!("{:.1} ms", nanoseconds as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_units() {
        assert_eq!(bytes(9999), "9999 bytes");
        assert_eq!(bytes(12_345), "12.3 kB");
        assert_eq!(bytes(12_345_678), "12.3 MB");
        assert_eq!(time(12_345), "12.3 µs");
        assert_eq!(time(1_234_567_890), "1234.6 ms");
    }

    #[test]
    fn pictures_are_ascii_and_short() {
        let ty = Type::basic(dtype_runtime::Basic::F64);
        let ty = Type::vector(4, 1, 2, &ty).unwrap();
        let text = picture(&ty);
        assert!(text.contains("f64") && text.lines().count() <= LINES, "{text}");
    }
}
