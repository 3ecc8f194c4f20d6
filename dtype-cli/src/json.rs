//! Data about a type as JSON. Existing keys do not change; keys may be added.

use std::io::Write;

use dtype_runtime::Flags;
use dtype_runtime::types::{Elem, EndLoop, Entry, Envelope, Loop};
use dtype_show::{Diagram, DiagramField};
use serde::Serialize;

use crate::failure::Failure;
use crate::reorder::Reorder;
use dtype_text::notation::{self, Parsed};
use dtype_text::printable::is_command;

/// The maximum number of runs of a signature and of entries of a description. `signature_complete` and
/// `description_complete` say whether all are written.
const MAX_ENTRIES: usize = 4096;

/// Writes a value as indented lines.
pub(crate) fn print(value: &impl Serialize, out: &mut impl Write) -> Result<(), Failure> {
    write_text(&serde_json::to_string_pretty(value).map_err(std::io::Error::from)?, out)
}

/// Writes a value as one line.
pub(crate) fn print_line(value: &impl Serialize, out: &mut impl Write) -> Result<(), Failure> {
    write_text(&serde_json::to_string(value).map_err(std::io::Error::from)?, out)
}

/// Writes JSON, or a string of Python, and the end of its line. In JSON, the control characters up to U+001F are escaped
/// already; this also escapes the others that a terminal interprets.
pub(crate) fn write_text(text: &str, out: &mut impl Write) -> Result<(), Failure> {
    let is_escaped = |c: char| is_command(c) && c != '\n';
    let mut rest = text;
    while let Some(at) = rest.find(is_escaped) {
        let (before, after) = rest.split_at(at);
        let mut chars = after.chars();
        let code = chars.next().map_or(0, u32::from);
        write!(out, "{before}\\u{code:04x}")?;
        rest = chars.as_str();
    }
    Ok(writeln!(out, "{rest}")?)
}

/// What `dtype info --json` prints.
#[derive(Debug, Serialize)]
pub(crate) struct Info {
    #[serde(flatten)]
    numbers: Numbers,
    /// Only for a structure.
    #[serde(skip_serializing_if = "Option::is_none")]
    structure: Option<Reorder>,
}

impl Info {
    pub(crate) fn of(parsed: &Parsed) -> Self {
        Self { numbers: Numbers::of(parsed), structure: Reorder::of(parsed) }
    }
}

/// The numbers of a type. Sizes, bounds, extents and displacements are bytes.
#[derive(Debug, Serialize)]
pub(crate) struct Numbers {
    /// The type in the notation.
    notation: String,
    size: u64,
    lb: i64,
    ub: i64,
    extent: i64,
    true_lb: i64,
    true_ub: i64,
    true_extent: i64,
    /// Null if the debug information leaves it open.
    align: Option<u64>,
    elements: u64,
    flags: Vec<&'static str>,
    signature_hash: u64,
    signature: Vec<Run>,
    signature_complete: bool,
}

/// A run of equal basic datatypes.
#[derive(Debug, Serialize)]
struct Run {
    basic: &'static str,
    count: u64,
}

impl Numbers {
    pub(crate) fn of(parsed: &Parsed) -> Self {
        let ty = &parsed.ty;
        let mut runs = ty.signature().runs();
        let signature: Vec<Run> = runs
            .by_ref()
            .take(MAX_ENTRIES)
            .map(|(basic, count)| Run { basic: basic.name(), count })
            .collect();
        Self {
            notation: notation::print_named(ty, &parsed.fields),
            size: ty.size(),
            lb: ty.lb(),
            ub: ty.ub(),
            extent: ty.extent(),
            true_lb: ty.true_lb(),
            true_ub: ty.true_ub(),
            true_extent: ty.true_extent(),
            align: parsed.align(),
            elements: ty.elements(),
            flags: flags(ty.flags()),
            signature_hash: ty.signature_hash(),
            signature,
            signature_complete: runs.next().is_none(),
        }
    }
}

/// The names of the flags that are set.
fn flags(flags: Flags) -> Vec<&'static str> {
    let all = [
        (Flags::UNAVAILABLE, "UNAVAILABLE"),
        (Flags::PREDEFINED, "PREDEFINED"),
        (Flags::COMMITTED, "COMMITTED"),
        (Flags::OVERLAP, "OVERLAP"),
        (Flags::CONTIGUOUS, "CONTIGUOUS"),
        (Flags::NO_GAPS, "NO_GAPS"),
        (Flags::USER_LB, "USER_LB"),
        (Flags::USER_UB, "USER_UB"),
        (Flags::DATA, "DATA"),
    ];
    all.into_iter().filter(|(flag, _)| flags.contains(*flag)).map(|(_, name)| name).collect()
}

/// The output of `dtype show --json`: the numbers and the parts of a type.
#[derive(Debug, Serialize)]
pub(crate) struct Everything {
    #[serde(flatten)]
    numbers: Info,
    envelope: Counts,
    fields: Vec<Place>,
    fields_complete: bool,
    description: Vec<Part>,
    description_complete: bool,
    optimized_description: Vec<Part>,
    optimized_description_complete: bool,
}

/// The number of arguments of each kind in the call that made the type.
#[derive(Debug, Serialize)]
#[expect(
    clippy::struct_field_names,
    reason = "the keys of the JSON are named after MPI's arguments"
)]
struct Counts {
    combiner: &'static str,
    num_integers: usize,
    num_addresses: usize,
    num_large_counts: usize,
    num_datatypes: usize,
}

/// A basic datatype at a displacement, and its repetitions.
#[derive(Debug, Serialize)]
struct Place {
    /// The names along the path, or the numbers of the members without names.
    path: String,
    basic: &'static str,
    offset: i128,
    bytes: u64,
    repeated: Vec<Repetition>,
}

/// The number of repetitions and their distance in bytes, which is null where it varies.
#[derive(Debug, Serialize)]
struct Repetition {
    count: u64,
    stride: Option<i64>,
}

impl Place {
    fn of(field: &DiagramField) -> Option<Self> {
        let repeated = field.levels.iter();
        let repeated =
            repeated.map(|level| Repetition { count: level.count, stride: level.stride });
        Some(Self {
            path: field.path.clone(),
            basic: field.basic?.name(),
            offset: field.offset,
            bytes: field.bytes,
            repeated: repeated.collect(),
        })
    }
}

/// An entry of a description.
#[derive(Debug, Serialize)]
#[serde(tag = "what", rename_all = "lowercase")]
enum Part {
    Elem { basic: &'static str, count: u64, disp: i64, extent: i64 },
    Loop { loops: u64, items: usize, extent: i64 },
    EndLoop { items: usize, size: u64, first_elem_disp: i64 },
}

impl Everything {
    /// Uses the fields of a picture, which has their names.
    pub(crate) fn of(parsed: &Parsed, picture: &Diagram) -> Self {
        let ty = &parsed.ty;
        let Envelope { num_integers, num_addresses, num_large_counts, num_datatypes, combiner } =
            ty.envelope();
        let combiner = combiner.name();
        let (description, description_complete) = parts(ty.description().entries());
        let optimized = ty.commit().optimized_description();
        let (optimized_description, optimized_description_complete) = parts(optimized.entries());
        Self {
            numbers: Info::of(parsed),
            envelope: Counts {
                combiner,
                num_integers,
                num_addresses,
                num_large_counts,
                num_datatypes,
            },
            fields: picture.fields_of_datatype().iter().filter_map(Place::of).collect(),
            fields_complete: !picture.has_more_fields(),
            description,
            description_complete,
            optimized_description,
            optimized_description_complete,
        }
    }
}

fn parts(entries: &[Entry]) -> (Vec<Part>, bool) {
    let parts = entries.iter().take(MAX_ENTRIES).map(|entry| match *entry {
        Entry::Elem(Elem { basic, count, disp, extent }) => {
            Part::Elem { basic: basic.name(), count, disp, extent }
        }
        Entry::Loop(Loop { loops, items, extent, .. }) => Part::Loop { loops, items, extent },
        Entry::EndLoop(EndLoop { items, size, first_elem_disp, .. }) => {
            Part::EndLoop { items, size, first_elem_disp }
        }
    });
    (parts.collect(), entries.len() <= MAX_ENTRIES)
}
