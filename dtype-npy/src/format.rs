//! The text of a format in an expression: a scalar such as `<f8`, preceded by a number or a shape if it is repeated, or several
//! of these, separated by commas.

use std::ops::Range;

use crate::dtype::{Dtype, Kind};
use crate::error::GrammarError;
use crate::scalar::{self, Refusal};
use dtype_runtime::representation::ByteOrder;

type Read<T> = Result<T, Box<GrammarError>>;

/// What a format stands for.
pub(crate) struct Format {
    pub(crate) dtype: Dtype,
    /// Whether it is text or raw bytes without a length. A number as their shape is then that length, and not a number of
    /// strings.
    pub(crate) is_open: bool,
    /// Whether it was made by a shape.
    is_array: bool,
}

impl Format {
    pub(crate) fn of_dtype(dtype: Dtype) -> Self {
        Self { dtype, is_open: false, is_array: false }
    }

    pub(crate) fn of_scalar(dtype: Dtype) -> Self {
        let is_open = dtype.itemsize() == 0;
        Self { dtype, is_open, is_array: false }
    }

    /// The letter of a scalar.
    fn letter(&self) -> Option<char> {
        match self.dtype.kind() {
            Kind::Scalar { letter, .. } => Some(*letter),
            _ => None,
        }
    }

    /// Whether the format is raw bytes, which are a gap if the field has no name.
    pub(crate) fn is_void(&self) -> bool {
        matches!(self.dtype.axes().1.kind(), Kind::Scalar { letter: 'V', .. })
    }

    /// The format with a length: an array, or text of that length.
    pub(crate) fn with_length(self, length: u64, span: &Range<usize>) -> Read<Self> {
        let Some(letter) = self.letter().filter(|_| self.is_open) else {
            return self.with_shape(&[length], span);
        };
        let bytes = length.checked_mul(if letter == 'U' { 4 } else { 1 });
        let dtype = bytes.and_then(|bytes| Dtype::scalar(letter, bytes, ByteOrder::NATIVE));
        let dtype = dtype.ok_or_else(|| too_large(span))?;
        Ok(Self { dtype, is_open: length == 0, ..self })
    }

    /// An array of the format with a shape, the outermost length first.
    pub(crate) fn with_shape(self, lengths: &[u64], span: &Range<usize>) -> Read<Self> {
        self.check_shape(span)?;
        // A shape without lengths is no array.
        if lengths.is_empty() {
            return Ok(self);
        }
        let dtype = Dtype::array(lengths, self.dtype).ok_or_else(|| too_large(span))?;
        Ok(Self { dtype, is_array: true, ..self })
    }

    /// Refuses text without a length as the element of an array, as NumPy does. Also refuses arrays of arrays without bytes,
    /// because NumPy takes their next length as a size.
    fn check_shape(&self, span: &Range<usize>) -> Read<()> {
        if self.is_array && self.dtype.itemsize() == 0 {
            let message = "an array whose elements are arrays without bytes";
            return Err(GrammarError::new(message, span, "one more length"));
        }
        if !self.is_open {
            return Ok(());
        }
        let message = "an array of text or raw bytes without a length";
        let help = "write the length in the format, for example `S10`";
        Err(GrammarError::new(message, span, "expected a length").help(help))
    }
}

pub(crate) fn too_large(span: &Range<usize>) -> Box<GrammarError> {
    let message = format!("an item of more than {} bytes", Dtype::MAX_BYTES);
    GrammarError::new(message, span, "too large")
}

/// The formats between commas outside a shape's brackets, and whether there is such a comma. There may be nothing after the
/// last comma.
pub(crate) fn parts<'t>(text: &'t str, span: &Range<usize>) -> Read<(Vec<&'t str>, bool)> {
    let mut depth = 0_usize;
    // NumPy allows blanks after a comma, and at the end of a list.
    if text.starts_with(char::is_whitespace) {
        return Err(GrammarError::unknown(text, span));
    }
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
    if !has_comma && text.ends_with(char::is_whitespace) {
        return Err(GrammarError::unknown(text, span));
    }
    if has_comma && parts.last().is_some_and(|last| last.is_empty()) {
        parts.pop();
    }
    if has_comma && parts.iter().any(|part| part.is_empty()) {
        let message = "expected a format before each comma";
        return Err(GrammarError::new(message, span, "two commas, or one in front"));
    }
    Ok((parts, has_comma))
}

/// A scalar format, preceded by a number or a shape if it is repeated: `3f8`, `(2,3)<f8`. The sign for the byte order comes
/// before or after the shape.
pub(crate) fn one(text: &str, span: &Range<usize>) -> Read<Format> {
    let text = text.trim();
    let (order, rest) = text.split_at(usize::from(text.starts_with(['<', '>', '=', '|'])));
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let inside = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    let (times, shape, rest) = match inside {
        Some((inside, after)) => {
            (None, Some(shape(inside).ok_or_else(|| GrammarError::unknown(text, span))?), after)
        }
        None if digits > 0 => {
            let times = number(&rest[..digits]).ok_or_else(|| GrammarError::unknown(text, span))?;
            (Some(times), None, &rest[digits..])
        }
        None => (None, None, rest),
    };
    let rest = if times.is_some() || shape.is_some() { rest.trim_start() } else { rest };
    let has_order = rest.starts_with(['<', '>', '=', '|']);
    let scalar = if has_order { rest.to_owned() } else { format!("{order}{rest}") };
    let format = Format::of_scalar(scalar::format(&scalar).map_err(|refusal| match refusal {
        Refusal::Unknown => GrammarError::unknown(&scalar, span),
        Refusal::TooLarge => too_large(span),
    })?);
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
    parts.into_iter().map(number).collect()
}

/// A number as Python writes it: zero, or without leading zeros.
fn number(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    let number = is_number.then(|| digits.parse().unwrap_or(u64::MAX))?;
    (number == 0 || !digits.starts_with('0')).then_some(number)
}
