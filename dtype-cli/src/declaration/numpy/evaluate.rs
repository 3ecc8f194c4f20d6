//! The layout of a dtype.

use std::ops::Range;

use super::super::layout::{Layout, MAX_SIZE, Placement, structure};
use super::format::{self, Format, refusal_of};
use super::python::{Kind, Value};
use super::{refused, scalar};
use crate::notation::FieldNames;
use crate::problem::{Problem, quoted};

type Read<T> = Result<T, Box<Problem>>;

/// Makes layouts of values.
pub(super) struct Evaluator<'f> {
    pub(super) fields: &'f mut FieldNames,
}

impl Evaluator<'_> {
    /// The layout of a dtype; `is_aligned` says whether the fields of lists are placed as C places them.
    pub(super) fn dtype(&mut self, value: &Value, is_aligned: bool) -> Read<Layout> {
        self.format(value, is_aligned).map(|format| format.layout)
    }

    fn format(&mut self, value: &Value, is_aligned: bool) -> Read<Format> {
        let plain = Format::of_layout;
        match &value.kind {
            Kind::Text(text) => self.text(text, &value.span, is_aligned),
            Kind::Name(name) => {
                let found = scalar::named(name);
                let found = found.map_err(|refusal| refusal_of(refusal, name, &value.span));
                Format::of_scalar(found?, &value.span)
            }
            Kind::List(items) => self.list(items, value, is_aligned).map(plain),
            Kind::Tuple(items) => self.pair(items, value, is_aligned),
            Kind::Dict(items) => self.dict(items, value, is_aligned).map(plain),
            Kind::Call(name, arguments, named) if name == "dict" => {
                let mut items = pairs(arguments)?;
                items.extend(named.iter().map(|(key, value)| {
                    let key = Value { span: value.span.clone(), kind: Kind::Text(key.clone()) };
                    (key, value.clone())
                }));
                self.dict(&items, value, is_aligned).map(plain)
            }
            Kind::Call(name, arguments, named) => self.call(name, arguments, named, value),
            Kind::Number(_) => Err(expected("a dtype", value)),
        }
    }

    /// `<f8`, or several formats separated by commas.
    fn text(&mut self, text: &str, span: &Range<usize>, is_aligned: bool) -> Read<Format> {
        let (parts, has_comma) = format::parts(text, span)?;
        if !has_comma {
            return format::one(text, span);
        }
        let mut placement = Placement::default();
        for (i, part) in parts.into_iter().enumerate() {
            let Format { layout, .. } = format::one(part, span)?;
            let align = if is_aligned { layout.align } else { 1 };
            placement
                .add(Some(format!("f{i}")), &layout, &[], align, false)
                .map_err(|error| refused(&error, span))?;
        }
        let layout = placement.finish(1, self.fields).map_err(|error| refused(&error, span))?;
        Ok(Format::of_layout(layout))
    }

    /// `np.dtype(…)`
    fn call(
        &mut self,
        name: &str,
        arguments: &[Value],
        named: &[(String, Value)],
        value: &Value,
    ) -> Read<Format> {
        if name != "dtype" {
            let message = format!("unknown function {}", quoted(name));
            let problem = Problem::new(message, value.span.clone(), "expected `np.dtype`");
            return Err(Box::new(problem));
        }
        let known = ["dtype", "align", "copy", "metadata"];
        if let Some((key, value)) = named.iter().find(|(key, _)| !known.contains(&key.as_str())) {
            let message = format!("`np.dtype` has no argument {}", quoted(key));
            return Err(Box::new(Problem::new(message, value.span.clone(), "unknown argument")));
        }
        let named = |wanted: &str| named.iter().find(|(key, _)| key == wanted);
        let [dtype, align] = [(0, "dtype"), (1, "align")]
            .map(|(at, wanted)| arguments.get(at).or(named(wanted).map(|(_, value)| value)));
        let Some(dtype) = dtype else { return Err(expected("a dtype", value)) };
        let is_aligned = align.map_or(Ok(false), is_true)?;
        self.format(dtype, is_aligned)
    }

    /// `[('x', '<f8', (3,)), …]`
    fn list(&mut self, items: &[Value], value: &Value, is_aligned: bool) -> Read<Layout> {
        let mut placement = Placement::default();
        let mut names = Names::default();
        for (i, item) in items.iter().enumerate() {
            let Kind::Tuple(parts) = &item.kind else {
                let problem = expected("a field, such as `('x', '<f8')`", item);
                return Err(problem);
            };
            let (name, format, shape) = match &**parts {
                [name, format] => (name, format, None),
                [name, format, shape] => (name, format, Some(shape)),
                _ => return Err(expected("a name, a format and perhaps a shape", item)),
            };
            let format = self.format(format, is_aligned)?;
            let (format, lengths) = match shape {
                Some(shape) if format.layout.size == 0 => (shaped(format, shape)?, Vec::new()),
                Some(shape) => (format, lengths(shape)?),
                None => (format, Vec::new()),
            };
            let Format { layout, is_void, .. } = format;
            let align = if is_aligned { layout.align } else { 1 };
            // As NumPy prints padding, which takes no default name from a field.
            let is_gap = is_void && matches!(&name.kind, Kind::Text(name) if name.is_empty());
            let name = if is_gap { None } else { Some(names.add(name, i)?) };
            placement
                .add(name, &layout, &lengths, align, is_gap)
                .map_err(|error| refused(&error, &item.span))?;
        }
        placement.finish(1, self.fields).map_err(|error| refused(&error, &value.span))
    }

    /// `('<f8', (3,))`, or a base with fields: `('u4', [('r', 'u1'), …])`, `(numpy.record, [('x', '<f8')])`
    fn pair(&mut self, items: &[Value], value: &Value, is_aligned: bool) -> Read<Format> {
        let [first, second] = items else {
            return Err(expected("a format and a shape, such as `('<f8', (3,))`", value));
        };
        let base = self.format(first, is_aligned)?;
        let is_length = |value: &Value| matches!(value.kind, Kind::Number(_));
        let is_shape = match &second.kind {
            Kind::List(lengths) | Kind::Tuple(lengths) => lengths.iter().all(is_length),
            _ => is_length(second),
        };
        if is_shape {
            return shaped(base, second);
        }
        // NumPy does not align the fields inside such a pair.
        let fields = self.format(second, false)?;
        let found = fields.layout.size;
        let base = match base.open {
            Some(basic) => base.with_length(found / basic.size() as u64, &second.span)?,
            None => base,
        };
        if base.layout.size != found {
            let expected = base.layout.size;
            let message = format!("the base has {expected} bytes, but the fields take {found}");
            return Err(Box::new(Problem::new(message, second.span.clone(), "another size")));
        }
        Ok(if fields.layout.members.is_empty() { base } else { fields })
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
        let is_aligned = get("aligned").map_or(Ok(false), is_true)? || is_aligned;
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
            let name = names.add(name, i)?;
            let Format { layout, .. } = self.format(format, is_aligned)?;
            let align = if is_aligned { layout.align } else { 1 };
            let added = match offsets.and_then(|offsets| offsets.get(i)) {
                Some(offset) => placement.add_at(name, &layout, aligned(offset, align)?, align),
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
        let mut fields = Vec::new();
        for (name, field) in items {
            let Kind::Tuple(parts) = &field.kind else {
                let problem = expected("a format and an offset, such as `('<f8', 0)`", field);
                let help = "the other form has the keys `names` and `formats`";
                return Err(Box::new(problem.help(help)));
            };
            let (Some(format), Some(offset)) = (parts.first(), parts.get(1)) else {
                return Err(expected("a format and an offset, such as `('<f8', 0)`", field));
            };
            fields.push((number(offset)?, name, format, offset, field));
        }
        // Their order is that of the offsets, and not that of the text.
        fields.sort_by_key(|(offset, ..)| *offset);
        let mut placement = Placement::default();
        let mut names = Names::default();
        for (i, (_, name, format, offset, field)) in fields.into_iter().enumerate() {
            let name = names.add(name, i)?;
            let Format { layout, .. } = self.format(format, is_aligned)?;
            let align = if is_aligned { layout.align } else { 1 };
            placement
                .add_at(name, &layout, aligned(offset, align)?, align)
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
        if size % align != 0 {
            let message = format!("the item size is {size}, expected a multiple of {align}");
            let problem = Problem::new(message, at.span.clone(), "not aligned");
            return Err(Box::new(problem.help("the alignment is that of the strictest field")));
        }
        structure(members, size, align, self.fields).map_err(|error| refused(&error, &value.span))
    }
}

/// The items that a call of `dict` has as an argument: a dict, or a list of pairs.
fn pairs(arguments: &[Value]) -> Read<Vec<(Value, Value)>> {
    let [argument] = arguments else {
        return match arguments.get(1) {
            None => Ok(Vec::new()),
            Some(second) => Err(expected("one argument of `dict`", second)),
        };
    };
    let pair = |item: &Value| match &item.kind {
        Kind::Tuple(pair) | Kind::List(pair) if pair.len() == 2 => {
            Ok((pair[0].clone(), pair[1].clone()))
        }
        _ => Err(expected("a key and a value", item)),
    };
    match &argument.kind {
        Kind::Dict(items) => Ok(items.clone()),
        _ => list(argument)?.iter().map(pair).collect(),
    }
}

/// The names of a structure's fields.
#[derive(Default)]
struct Names {
    all: std::collections::HashMap<String, Range<usize>>,
}

impl Names {
    /// The text of a name, which may be a pair of a title and a name; NumPy numbers fields without a name. Reports one that
    /// another field has.
    fn add(&mut self, value: &Value, number: usize) -> Read<String> {
        let text = match &value.kind {
            Kind::Text(text) => text,
            Kind::Tuple(pair) => match pair.get(1).map(|name| &name.kind) {
                Some(Kind::Text(text)) => text,
                _ => return Err(expected("a name", value)),
            },
            _ => return Err(expected("a name", value)),
        };
        let name = if text.is_empty() { format!("f{number}") } else { text.clone() };
        match self.all.insert(name.clone(), value.span.clone()) {
            None => Ok(name),
            Some(before) => {
                let message = format!("two fields are called {}", quoted(&name));
                let problem = Problem::new(message, value.span.clone(), "again");
                Err(Box::new(problem.and(before, "the first one")))
            }
        }
    }
}

/// A format with a shape: a tuple of lengths, or a number.
fn shaped(format: Format, shape: &Value) -> Read<Format> {
    match shape.kind {
        Kind::Number(_) => format.with_length(number(shape)?, &shape.span),
        _ => format.with_shape(&lengths(shape)?, &shape.span),
    }
}

/// An offset, which has to be a multiple of the alignment.
fn aligned(offset: &Value, align: u64) -> Read<u64> {
    let number = number(offset)?;
    if number % align == 0 {
        return Ok(number);
    }
    let message = format!("the offset is {number}, expected a multiple of {align}");
    let problem = Problem::new(message, offset.span.clone(), "not aligned");
    Err(Box::new(problem.help("leave out `align` or `aligned` if the fields are not aligned")))
}

fn is_true(value: &Value) -> Read<bool> {
    match &value.kind {
        Kind::Name(name) if name == "True" => Ok(true),
        Kind::Name(name) if name == "False" => Ok(false),
        Kind::Number(number) => Ok(*number != 0),
        _ => Err(expected("`True` or `False`", value)),
    }
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
