//! The report at exit: how much this engine moved for each type, and which messages it left to the MPI library.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::{self, Write};
use std::iter;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use dtype_runtime::types::Combiner;
use dtype_runtime::{Committed, Type};
use dtype_show::{Diagram, TextStyle, View};

use crate::mode::Mode;

/// The number of types that are listed.
const TYPES: usize = 5;

/// The greatest numbers of rows in a picture, and of fields below it.
const PICTURE_ROWS: usize = 4;
const FIELDS: usize = 6;

/// The greatest length of a report in bytes. A report is written in one call, and launchers read this many bytes of a rank at a
/// time: longer reports of several ranks would be mixed up.
const MAX_BYTES: usize = 4096;

/// Counts for all types that are made by the same calls.
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
    }
}

/// The rows, by marshalled type.
static ROWS: Mutex<Option<HashMap<Vec<u8>, Arc<Row>>>> = Mutex::new(None);

/// Packed bytes that this engine has moved.
static MOVED: AtomicU64 = AtomicU64::new(0);

/// The row of a type, if there will be a report.
pub(crate) fn row_of(committed: &Committed) -> Option<Arc<Row>> {
    if !Mode::get().stats {
        return None;
    }
    let mut ty = committed.as_type().clone();
    while let Some(element) = element_of(&ty) {
        ty = element;
    }
    let mut rows = ROWS.lock().unwrap_or_else(PoisonError::into_inner);
    let rows = rows.get_or_insert_default();
    let row = rows.entry(ty.marshal()).or_insert_with(|| {
        let zero = || AtomicU64::new(0);
        Arc::new(Row { ty, calls: zero(), bytes: zero(), nanoseconds: zero() })
    });
    Some(Arc::clone(row))
}

/// The element of a type that consists of several equal elements; the report counts such a type as its element. `MPI_Pack` of
/// Open MPI 5.0 makes such a type from its arguments.
fn element_of(ty: &Type) -> Option<Type> {
    let outer = ty.contents().ok()?;
    let (&[lb, extent], [inside]) = (&*outer.addresses, &*outer.datatypes) else {
        let is_count = outer.combiner == Combiner::Contiguous;
        return outer.datatypes.into_iter().next().filter(|_| is_count);
    };
    if outer.combiner != Combiner::Resized {
        return None;
    }
    let mut inside = inside.contents().ok()?;
    let mut start = 0;
    if let (Combiner::Structure, [1, 1], &[at], [only]) =
        (inside.combiner, &*inside.integers, &*inside.addresses, &*inside.datatypes)
    {
        start = at;
        inside = only.contents().ok()?;
    }
    let (Combiner::Hvector, &[count, length], &[stride], [block]) =
        (inside.combiner, &*inside.integers, &*inside.addresses, &*inside.datatypes)
    else {
        return None;
    };
    if count == 1 || stride.checked_mul(count.into()) != Some(extent) {
        return None;
    }
    let mut element = block.clone();
    if length != 1 {
        element = Type::contiguous(u64::try_from(length).ok()?, &element).ok()?;
    }
    if start != 0 {
        element = Type::structure(&[1], &[start], &[element]).ok()?;
    }
    Type::resized(&element, lb, stride).ok()
}

/// Counts packed bytes that this engine moves.
#[inline]
pub(crate) fn moves(bytes: usize) {
    MOVED.fetch_add(bytes as u64, Ordering::Relaxed);
}

/// Packed bytes that this engine has moved in this process so far.
///
/// A program finds it with `dlsym(RTLD_DEFAULT, "dtype_preload_moved")`.
#[unsafe(no_mangle)]
pub extern "C" fn dtype_preload_moved() -> u64 {
    MOVED.load(Ordering::Relaxed)
}

/// Why messages are left to the MPI library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Left {
    /// Messages with fewer bytes than the engine's minimum.
    Small,
    /// The first message of a type.
    First,
    /// Messages with long contiguous blocks.
    Long,
    /// Messages with a type or a buffer that is not known, or that overlaps.
    Unknown,
    /// Messages without gaps. They are not counted, because the library's own messages are among them.
    Contiguous,
}

const REASONS: [&str; 4] =
    ["small", "first of their type", "with long blocks", "of a type or a buffer not known"];

static LEFT: [AtomicU64; REASONS.len()] = [const { AtomicU64::new(0) }; REASONS.len()];

/// Counts a message that is left to the MPI library.
#[inline]
pub(crate) fn left(reason: Left) {
    if Mode::get().reports()
        && let Some(count) = LEFT.get(reason as usize)
    {
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// What the library moves without a call that this library sees, if that is known of it.
static UNSEEN: OnceLock<&str> = OnceLock::new();

/// Records what the library moves without a call that this library sees, for the report.
pub(crate) fn does_not_see(what: &'static str) {
    let _ = UNSEEN.set(what);
}

/// The messages that were left to the MPI library, by reason; `None` if none were.
fn left_by_reason() -> Option<String> {
    let reasons = REASONS.iter().zip(&LEFT).filter_map(|(reason, count)| {
        let count = count.load(Ordering::Relaxed);
        (count > 0).then(|| format!("{count} {reason}"))
    });
    Some(reasons.collect::<Vec<_>>().join(", ")).filter(|text| !text.is_empty())
}

/// Why this engine has moved nothing, or nothing that could be compared.
pub(crate) fn why_nothing() -> String {
    if dtype_preload_moved() > 0 {
        return "nothing that was taken over could be compared".to_owned();
    }
    match (left_by_reason(), UNSEEN.get()) {
        (Some(left), _) => {
            let advice = if Mode::get().all {
                ""
            } else {
                "; with the word all, DTYPE_PRELOAD takes over those that gain nothing, too"
            };
            format!("all messages with gaps were left to the MPI library: {left}{advice}")
        }
        (None, Some(unseen)) => {
            format!("no message had a datatype with gaps; not seen are {unseen}")
        }
        (None, None) => "no message had a datatype with gaps".to_owned(),
    }
}

/// The report about the process of this name, with at most [`MAX_BYTES`].
pub(crate) fn report(process: &str, library: &str) -> String {
    let rows = ROWS.lock().unwrap_or_else(PoisonError::into_inner);
    let rows: Vec<_> = rows.iter().flat_map(HashMap::values).map(Arc::as_ref).collect();
    let Sum { calls, bytes, nanoseconds } = Sum::new(&rows);
    let (moved, time) = (in_bytes(bytes), in_seconds(nanoseconds));
    let mut text =
        format!("dtype-preload: {process}, {library}: {calls} calls moved {moved} in {time}\n");
    if let Some(left) = left_by_reason() {
        let _ = writeln!(text, "  left to the library: {left}");
    }
    if let Some(unseen) = UNSEEN.get() {
        let _ = writeln!(text, "  not counted: {unseen}");
    }
    write_types(&mut text, rows);
    text
}

/// Writes the types that moved the most, and the total of the others.
fn write_types(text: &mut String, mut rows: Vec<&Row>) {
    rows.sort_by_cached_key(|&row| {
        let Sum { calls, bytes, .. } = Sum::new(&[row]);
        Reverse((bytes, calls))
    });
    let (first, others) = rows.split_at(rows.len().min(TYPES));
    let mut lines: Vec<_> = iter::zip(1.., first)
        .map(|(number, row)| {
            let (size, extent) = (row.ty.size(), row.ty.extent());
            format!("  type {number}: {}; size {size}, extent {extent}\n", Sum::new(&[*row]))
        })
        .collect();
    let last = match others.len() {
        0 => String::new(),
        more => format!("  {more} more types: {}\n", Sum::new(others)),
    };
    let mut room = MAX_BYTES
        .saturating_sub(text.len() + last.len() + lines.iter().map(String::len).sum::<usize>());
    for (line, row) in lines.iter_mut().zip(first) {
        let picture = picture(&row.ty, PICTURE_ROWS, FIELDS);
        let picture: String = picture
            .lines()
            .map(|line| format!("    {line}").trim_end().to_owned() + "\n")
            .collect();
        // The least important types are left out first.
        let Some(rest) = room.checked_sub(picture.len()) else { break };
        room = rest;
        line.push_str(&picture);
    }
    lines.push(last);
    text.extend(lines);
}

/// The total of some rows.
struct Sum {
    calls: u64,
    bytes: u64,
    nanoseconds: u64,
}

impl Sum {
    fn new(rows: &[&Row]) -> Self {
        let sum = |counter: fn(&Row) -> &AtomicU64| {
            rows.iter().map(|row| counter(row).load(Ordering::Relaxed)).sum()
        };
        Self {
            calls: sum(|row| &row.calls),
            bytes: sum(|row| &row.bytes),
            nanoseconds: sum(|row| &row.nanoseconds),
        }
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { calls, bytes, nanoseconds } = *self;
        write!(f, "{calls} calls, {}, {}", in_bytes(bytes), in_seconds(nanoseconds))
    }
}

/// A type as text, with at most this many rows of its layout and this many of its fields.
pub(crate) fn picture(ty: &Type, rows: usize, fields: usize) -> String {
    // The bounds are in the title.
    let style = TextStyle::default().with_ascii(true).with_ranges(false).with_legend(fields);
    Diagram::of_type(ty, &View::default().with_rows(rows)).text(&style).to_string()
}

#[expect(clippy::cast_precision_loss, reason = "three digits are printed")]
fn in_bytes(number: u64) -> String {
    match number {
        0..10_000 => format!("{number} bytes"),
        10_000..10_000_000 => format!("{:.1} kB", number as f64 / 1e3),
        _ => format!("{:.1} MB", number as f64 / 1e6),
    }
}

#[expect(clippy::cast_precision_loss, reason = "three digits are printed")]
fn in_seconds(nanoseconds: u64) -> String {
    match nanoseconds {
        0..10_000 => format!("{nanoseconds} ns"),
        10_000..10_000_000 => format!("{:.1} µs", nanoseconds as f64 / 1e3),
        _ => format!("{:.1} ms", nanoseconds as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use dtype_runtime::Basic;

    use super::*;

    #[test]
    fn numbers_have_units() {
        assert_eq!(in_bytes(9999), "9999 bytes");
        assert_eq!(in_bytes(12_345), "12.3 kB");
        assert_eq!(in_bytes(12_345_678), "12.3 MB");
        assert_eq!(in_seconds(12_345), "12.3 µs");
        assert_eq!(in_seconds(1_234_567_890), "1234.6 ms");
    }

    fn record() -> Type {
        let [i8, f64] = [Basic::I8, Basic::F64].map(Type::basic);
        Type::structure(&[1, 1], &[0, 8], &[i8, f64]).unwrap()
    }

    #[test]
    fn several_elements_are_one_type() {
        let record = Type::resized(&record(), 0, 16).unwrap();
        let many = Type::hvector(20_000, 1, 16, &super::tests::record()).unwrap();
        let many = Type::resized(&many, 0, 320_000).unwrap();
        assert_eq!(element_of(&many).unwrap().marshal(), record.marshal());
        assert_eq!(element_of(&Type::contiguous(7, &record).unwrap()).unwrap(), record);
        assert!(element_of(&record).is_none());

        let f32 = Type::basic(Basic::F32);
        let block =
            |blocks: &Type| Type::structure(&[1], &[4], std::slice::from_ref(blocks)).unwrap();
        let blocks = block(&Type::hvector(10, 2, 20, &f32).unwrap());
        let element = Type::resized(&block(&Type::contiguous(2, &f32).unwrap()), 0, 20).unwrap();
        let same = Type::resized(&blocks, 0, 200).unwrap();
        assert_eq!(element_of(&same).unwrap().marshal(), element.marshal());
        assert!(element_of(&Type::resized(&blocks, 0, 208).unwrap()).is_none(), "a longer gap");
    }

    #[test]
    fn a_report_is_short() {
        let row = |fields: u32| {
            let zero = || AtomicU64::new(0);
            let lengths = vec![1; fields as usize];
            let displacements: Vec<_> = (0..fields).map(|field| i64::from(field) * 17).collect();
            let types = vec![Type::basic(Basic::F64); fields as usize];
            let ty = Type::structure(&lengths, &displacements, &types).unwrap();
            let row = Row { ty, calls: zero(), bytes: zero(), nanoseconds: zero() };
            row.add(fields as usize * 8000, Duration::from_micros(10));
            row
        };
        let rows: Vec<_> = (1..=40).map(row).collect();
        let mut text = String::new();
        write_types(&mut text, rows.iter().collect());
        assert!(text.len() <= MAX_BYTES, "{}: {text}", text.len());
        assert_eq!(text.matches("; size ").count(), TYPES, "{text}");
        assert!(
            text.starts_with("  type 1: 1 calls, 320.0 kB, 10.0 µs; size 320, extent"),
            "{text}"
        );
        assert!(text.contains("f64"), "{text}");
        assert!(text.ends_with("  35 more types: 35 calls, 5040.0 kB, 350.0 µs\n"), "{text}");
    }
}
