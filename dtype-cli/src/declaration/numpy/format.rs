//! The text of a format: a scalar such as `<f8`, with a number or a shape in front if it is repeated, or several of
//! these separated by commas.

use std::ops::Range;

use dtype_runtime::Basic;

use super::super::layout::Layout;
use super::scalar::{self, Refusal, Scalar};
use super::{refused, unknown};
use crate::problem::{Problem, quoted};

type Read<T> = Result<T, Box<Problem>>;

/// What a format stands for.
pub(super) struct Format {
    pub(super) layout: Layout,
    /// Whether it is raw bytes, which are a gap if the field has no name.
    pub(super) is_void: bool,
    /// The elements of `S`, `U` or `V` without a length. A number as their shape is that length, and not the number of
    /// strings.
    pub(super) open: Option<Basic>,
    /// Whether a shape made it.
    is_array: bool,
}

impl Format {
    pub(super) fn of_layout(layout: Layout) -> Self {
        Self { layout, is_void: false, open: None, is_array: false }
    }

    pub(super) fn of_scalar(scalar: Scalar, span: &Range<usize>) -> Read<Self> {
        let Scalar { basic, count, is_void } = scalar;
        let mut layout = Layout::basic(basic);
        if count != 1 {
            layout = layout.array(&[count]).map_err(|error| refused(&error, span))?;
        }
        let open = (count == 0).then_some(basic);
        Ok(Self { layout, is_void, open, is_array: false })
    }

    /// The format with a length: an array, or text of that length.
    pub(super) fn with_length(self, length: u64, span: &Range<usize>) -> Read<Self> {
        let Some(basic) = self.open else { return self.with_shape(&[length], span) };
        let layout = Layout::basic(basic).array(&[length]);
        let layout = layout.map_err(|error| refused(&error, span))?;
        Ok(Self { layout, open: self.open.filter(|_| length == 0), ..self })
    }

    /// An array of the format with a shape, the outermost length first.
    pub(super) fn with_shape(self, lengths: &[u64], span: &Range<usize>) -> Read<Self> {
        self.check_shape(span)?;
        // A shape without lengths is no array.
        if lengths.is_empty() {
            return Ok(self);
        }
        let layout = self.layout.array(lengths).map_err(|error| refused(&error, span))?;
        Ok(Self { layout, is_array: true, ..self })
    }

    /// Refuses text without a length as the element of an array, as NumPy does; and arrays of arrays without bytes,
    /// whose next length NumPy takes for their size.
    pub(super) fn check_shape(&self, span: &Range<usize>) -> Read<()> {
        if self.is_array && self.layout.size == 0 {
            let message = "an array whose elements are arrays without bytes";
            return Err(Box::new(Problem::new(message, span.clone(), "one more length")));
        }
        if self.open.is_none() {
            return Ok(());
        }
        let message = "an array of text or raw bytes without a length";
        let problem = Problem::new(message, span.clone(), "expected a length");
        Err(Box::new(problem.help("write the length in the format, for example `S10`")))
    }
}

/// The formats that commas separate, outside of a shape's brackets, and whether there is such a comma. The last one may
/// be missing.
pub(super) fn parts<'t>(text: &'t str, span: &Range<usize>) -> Read<(Vec<&'t str>, bool)> {
    let mut depth = 0_usize;
    let mut parts: Vec<&str> = text
        .split(|c: char| {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            c == ',' && depth == 0
        })
        .map(str::trim)
        .collect();
    let has_comma = parts.len() > 1;
    if has_comma && parts.last().is_some_and(|last| last.is_empty()) {
        parts.pop();
    }
    if has_comma && parts.iter().any(|part| part.is_empty()) {
        let message = "expected a format before each comma";
        return Err(Box::new(Problem::new(message, span.clone(), "two commas, or one in front")));
    }
    Ok((parts, has_comma))
}

/// A scalar format, with a number or a shape in front if it is repeated: `3f8`, `(2,3)<f8`. The sign for the order of
/// the bytes stands before or after the shape.
pub(super) fn one(text: &str, span: &Range<usize>) -> Read<Format> {
    let text = text.trim();
    let (order, rest) = text.split_at(usize::from(text.starts_with(['<', '>', '=', '|'])));
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let inside = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    let (times, shape, rest) = match inside {
        Some((inside, after)) => (None, Some(shape(inside).ok_or(unknown(text, span))?), after),
        None if digits > 0 => {
            (Some(rest[..digits].parse().unwrap_or(u64::MAX)), None, &rest[digits..])
        }
        None => (None, None, rest),
    };
    let rest = rest.trim_start();
    let has_order = rest.starts_with(['<', '>', '=', '|']);
    let scalar = if has_order { rest.to_owned() } else { format!("{order}{rest}") };
    let scalar = scalar::format(&scalar).map_err(|refusal| refusal_of(refusal, &scalar, span))?;
    let format = Format::of_scalar(scalar, span)?;
    match (times, shape) {
        (Some(times), _) => format.with_length(times, span),
        (None, Some(lengths)) => format.with_shape(&lengths, span),
        (None, None) => Ok(format),
    }
}

/// The lengths of a shape, as Python writes tuples: a single length is followed by a comma.
fn shape(inside: &str) -> Option<Vec<u64>> {
    let mut parts: Vec<&str> = inside.split(',').map(str::trim).collect();
    if parts.last()?.is_empty() {
        parts.pop();
    } else if parts.len() == 1 {
        return None;
    }
    let is_number = |part: &&str| part.bytes().all(|digit| digit.is_ascii_digit());
    parts.into_iter().map(|part| Some(part).filter(is_number)?.parse().ok()).collect()
}

/// The mistake in a format that has no type here.
pub(super) fn refusal_of(refusal: Refusal, text: &str, span: &Range<usize>) -> Box<Problem> {
    match refusal {
        Refusal::Unknown => unknown(text, span),
        Refusal::ByteOrder => {
            let message =
                format!("{} has the bytes of its values in the other order", quoted(text));
            let problem = Problem::new(message, span.clone(), "not this machine's byte order");
            let help = "a type describes values of this machine; write the format without the \
                        sign for the order, and convert with `--representation big` or `little`";
            Box::new(problem.help(help))
        }
        Refusal::Object => {
            let message = "a Python object is a pointer";
            let problem = Problem::new(message, span.clone(), "not data");
            Box::new(problem.help("what it points to is not part of the array"))
        }
    }
}
