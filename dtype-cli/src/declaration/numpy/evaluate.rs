//! The layout of a dtype.

use std::ops::Range;

use dtype_runtime::Error;

use super::super::layout::{Layout, MAX_SIZE, Placement, structure};
use super::python::{Kind, Value};
use super::scalar::{self, Refusal};
use crate::notation::{FieldNames, nearest};
use crate::problem::{Problem, quoted};

type Read<T> = Result<T, Box<Problem>>;

/// Makes layouts of values.
pub(super) struct Evaluator<'f> {
    pub(super) fields: &'f mut FieldNames,
}

/// What a format stands for.
struct Format {
    layout: Layout,
    /// Whether it is raw bytes, which are a gap if the field has no name.
    is_void: bool,
}

impl Evaluator<'_> {
    /// The layout of a dtype; `is_aligned` says whether the fields of lists are placed as C places them.
    pub(super) fn dtype(&mut self, value: &Value, is_aligned: bool) -> Read<Layout> {
        self.format(value, is_aligned).map(|format| format.layout)
    }

    fn format(&mut self, value: &Value, is_aligned: bool) -> Read<Format> {
        let plain = |layout| Format { layout, is_void: false };
        match &value.kind {
            Kind::Text(text) => self.text(text, &value.span, is_aligned),
            Kind::Name(name) => match scalar::named(name) {
                Some(basic) => Ok(plain(Layout::basic(basic))),
                None => Err(unknown(name, &value.span)),
            },
            Kind::List(items) => self.list(items, value, is_aligned).map(plain),
            Kind::Tuple(items) => self.subarray(items, value, is_aligned),
            Kind::Dict(items) => self.dict(items, value, is_aligned).map(plain),
            Kind::Call(name, arguments, named) => {
                self.call(name, arguments, named, value).map(plain)
            }
            Kind::Number(_) => Err(expected("a dtype", value)),
        }
    }

    /// `<f8`, or several formats separated by commas.
    fn text(&mut self, text: &str, span: &Range<usize>, is_aligned: bool) -> Read<Format> {
        if !text.contains(',') {
            return one(text.trim(), span);
        }
        let mut placement = Placement::default();
        let parts = text.split(',').map(str::trim);
        for (i, part) in parts.enumerate().filter(|(_, part)| !part.is_empty()) {
            let Format { layout, .. } = one(part, span)?;
            let align = if is_aligned { layout.align } else { 1 };
            placement
                .add(Some(format!("f{i}")), &layout, &[], align, false)
                .map_err(|error| refused(&error, span))?;
        }
        let layout = placement.finish(1, self.fields).map_err(|error| refused(&error, span))?;
        Ok(Format { layout, is_void: false })
    }

    fn call(
        &mut self,
        name: &str,
        arguments: &[Value],
        named: &[(String, Value)],
        value: &Value,
    ) -> Read<Layout> {
        let [first, rest @ ..] = arguments else { return Err(expected("a dtype", value)) };
        if name != "dtype" {
            let message = format!("unknown function {}", quoted(name));
            let problem = Problem::new(message, value.span.clone(), "expected `np.dtype`");
            return Err(Box::new(problem));
        }
        let align = named.iter().find(|(key, _)| key == "align").map(|(_, value)| value);
        let align = align.or(rest.first()).is_some_and(is_true);
        self.dtype(first, align)
    }

    /// `[('x', '<f8', (3,)), …]`
    fn list(&mut self, items: &[Value], value: &Value, is_aligned: bool) -> Read<Layout> {
        let mut placement = Placement::default();
        let mut names = Names::default();
        for item in items {
            let Kind::Tuple(parts) = &item.kind else {
                let problem = expected("a field, such as `('x', '<f8')`", item);
                return Err(problem);
            };
            let (name, format, shape) = match &**parts {
                [name, format] => (name, format, None),
                [name, format, shape] => (name, format, Some(shape)),
                _ => return Err(expected("a name, a format and perhaps a shape", item)),
            };
            let name = names.add(name)?;
            let lengths = shape.map_or(Ok(Vec::new()), lengths)?;
            let Format { layout, is_void } = self.format(format, is_aligned)?;
            let align = if is_aligned { layout.align } else { 1 };
            // As NumPy prints padding.
            let is_gap = name.is_empty() && is_void;
            let name = Names::or_number(name, placement.len());
            placement
                .add(Some(name), &layout, &lengths, align, is_gap)
                .map_err(|error| refused(&error, &item.span))?;
        }
        placement.finish(1, self.fields).map_err(|error| refused(&error, &value.span))
    }

    /// `('<f8', (3,))`
    fn subarray(&mut self, items: &[Value], value: &Value, is_aligned: bool) -> Read<Format> {
        let [format, shape] = items else {
            return Err(expected("a format and a shape, such as `('<f8', (3,))`", value));
        };
        let Format { layout, is_void } = self.format(format, is_aligned)?;
        let lengths = lengths(shape)?;
        let array = layout.array(&lengths).map_err(|error| refused(&error, &value.span))?;
        // A shape of 1 is no array.
        let layout = if lengths.is_empty() { layout } else { array };
        Ok(Format { layout, is_void })
    }

    /// `{'names': […], 'formats': […], 'offsets': […], 'itemsize': n}`, or `{'x': (format, offset), …}`
    fn dict(&mut self, items: &[(Value, Value)], value: &Value, is_aligned: bool) -> Read<Layout> {
        let get = |wanted: &str| {
            let found = items
                .iter()
                .find(|(key, _)| matches!(&key.kind, Kind::Text(text) if text == wanted));
            found.map(|(_, value)| value)
        };
        let (Some(names), Some(formats)) = (get("names"), get("formats")) else {
            return self.dict_of_fields(items, value, is_aligned);
        };
        let is_aligned = is_aligned || get("aligned").or(get("align")).is_some_and(is_true);
        let names_of = list(names)?;
        let formats_of = list(formats)?;
        let offsets = get("offsets").map(list).transpose()?;
        for (what, other) in
            [(formats, Some(formats_of)), (get("offsets").unwrap_or(value), offsets)]
        {
            if let Some(other) = other
                && other.len() != names_of.len()
            {
                let (found, number) = (other.len(), names_of.len());
                let message =
                    format!("expected {number} items, as many as there are names, found {found}");
                return Err(Box::new(Problem::new(message, what.span.clone(), "")));
            }
        }
        let mut placement = Placement::default();
        let mut names = Names::default();
        for (i, (name, format)) in names_of.iter().zip(formats_of).enumerate() {
            let name = names.add(name)?;
            let name = Names::or_number(name, i);
            let Format { layout, .. } = self.format(format, is_aligned)?;
            let align = if is_aligned { layout.align } else { 1 };
            let added = match offsets.and_then(|offsets| offsets.get(i)) {
                Some(offset) => {
                    let offset = number(offset)?;
                    placement.add_at(name, &layout, offset, align)
                }
                None => placement.add(Some(name), &layout, &[], align, false),
            };
            added.map_err(|error| refused(&error, &format.span))?;
        }
        let itemsize = get("itemsize").map(|size| number(size).map(|bytes| (size, bytes)));
        self.finish(placement, itemsize.transpose()?, value)
    }

    fn dict_of_fields(
        &mut self,
        items: &[(Value, Value)],
        value: &Value,
        is_aligned: bool,
    ) -> Read<Layout> {
        let mut placement = Placement::default();
        let mut names = Names::default();
        for (name, field) in items {
            let Kind::Tuple(parts) = &field.kind else {
                let problem = expected("a format and an offset, such as `('<f8', 0)`", field);
                let help = "the other form has the keys `names` and `formats`";
                return Err(Box::new(problem.help(help)));
            };
            let (Some(format), Some(offset)) = (parts.first(), parts.get(1)) else {
                return Err(expected("a format and an offset, such as `('<f8', 0)`", field));
            };
            let name = names.add(name)?;
            let Format { layout, .. } = self.format(format, is_aligned)?;
            let align = if is_aligned { layout.align } else { 1 };
            placement
                .add_at(name, &layout, number(offset)?, align)
                .map_err(|error| refused(&error, &field.span))?;
        }
        self.finish(placement, None, value)
    }

    fn finish(
        &mut self,
        placement: Placement,
        itemsize: Option<(&Value, u64)>,
        value: &Value,
    ) -> Read<Layout> {
        let natural = placement.end();
        let Some((at, size)) = itemsize else {
            return placement.finish(1, self.fields).map_err(|error| refused(&error, &value.span));
        };
        if size < natural {
            let message = format!("the item size is {size}, but the fields take {natural} bytes");
            return Err(Box::new(Problem::new(message, at.span.clone(), "too small")));
        }
        let (align, members) = placement.into_parts();
        structure(members, size, align, self.fields).map_err(|error| refused(&error, &value.span))
    }
}

/// The names of a structure's fields.
#[derive(Default)]
struct Names {
    all: std::collections::HashMap<String, Range<usize>>,
}

impl Names {
    /// The text of a name, which may be a pair of a title and a name. Reports one that another field has.
    fn add(&mut self, value: &Value) -> Read<String> {
        let text = match &value.kind {
            Kind::Text(text) => text,
            Kind::Tuple(pair) => match pair.get(1).map(|name| &name.kind) {
                Some(Kind::Text(text)) => text,
                _ => return Err(expected("a name", value)),
            },
            _ => return Err(expected("a name", value)),
        };
        let before =
            (!text.is_empty()).then(|| self.all.insert(text.clone(), value.span.clone())).flatten();
        match before {
            None => Ok(text.clone()),
            Some(before) => {
                let message = format!("two fields are called {}", quoted(text));
                let problem = Problem::new(message, value.span.clone(), "again");
                Err(Box::new(problem.and(before, "the first one")))
            }
        }
    }

    /// NumPy numbers fields without a name.
    fn or_number(name: String, number: usize) -> String {
        if name.is_empty() { format!("f{number}") } else { name }
    }
}

/// A scalar format, with a number in front if it is repeated: `3f8`.
fn one(text: &str, span: &Range<usize>) -> Read<Format> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (times, text) = text.split_at(digits);
    let scalar = scalar::format(text).map_err(|refusal| match refusal {
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
    })?;
    let refuse = |error| refused(&error, span);
    let mut layout = Layout::basic(scalar.basic);
    if scalar.count != 1 {
        layout = layout.array(&[scalar.count]).map_err(refuse)?;
    }
    if !times.is_empty() {
        let times = times.parse().unwrap_or(u64::MAX);
        layout = layout.array(&[times]).map_err(refuse)?;
    }
    Ok(Format { layout, is_void: scalar.is_void })
}

fn is_true(value: &Value) -> bool {
    matches!(&value.kind, Kind::Name(name) if name == "True")
        || matches!(value.kind, Kind::Number(1))
}

fn list(value: &Value) -> Read<&[Value]> {
    match &value.kind {
        Kind::List(items) | Kind::Tuple(items) => Ok(items),
        _ => Err(expected("a list", value)),
    }
}

/// The lengths of a shape.
fn lengths(shape: &Value) -> Read<Vec<u64>> {
    match &shape.kind {
        Kind::Tuple(items) | Kind::List(items) => items.iter().map(number).collect(),
        _ => number(shape).map(|length| vec![length]),
    }
}

/// A length, an offset or a size.
fn number(value: &Value) -> Read<u64> {
    match value.kind {
        Kind::Number(number) => match u64::try_from(number) {
            Ok(number) if number <= MAX_SIZE => Ok(number),
            _ => {
                let message = format!("{number} is not from 0 to {MAX_SIZE}");
                Err(Box::new(Problem::new(message, value.span.clone(), "out of range")))
            }
        },
        _ => Err(expected("a number", value)),
    }
}

fn expected(what: &str, value: &Value) -> Box<Problem> {
    let message = format!("expected {what}, found {}", value.describe());
    Box::new(Problem::new(message, value.span.clone(), format!("expected {what}")))
}

fn unknown(name: &str, span: &Range<usize>) -> Box<Problem> {
    let message = format!("unknown format {}", quoted(name));
    let problem = Problem::new(message, span.clone(), "unknown format");
    Box::new(match nearest(name, scalar::all()) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => {
            problem.help("a format is a letter and a number of bytes, such as `<f8`, `i4` or `S10`")
        }
    })
}

fn refused(error: &Error, span: &Range<usize>) -> Box<Problem> {
    Box::new(Problem::new(error.to_string(), span.clone(), "too large"))
}
