//! NumPy's own notation: the Python expressions that `np.dtype` accepts and prints.

use std::collections::HashMap;
use std::ops::Range;

use dtype_runtime::representation::ByteOrder;

use crate::dtype::{Dtype, DtypeField, Kind as DtypeKind};
use crate::error::GrammarError;
use crate::format::{self, Format, too_large};
use crate::literal::{self, Call, Kind, Unreadable, Value};
use crate::scalar;

type Read<T> = Result<T, Box<GrammarError>>;

impl Dtype {
    /// The dtype of an expression that `np.dtype` accepts or prints: a format, a list of fields, a dict, a call of `np.dtype`.
    /// A format with a sign for the byte order, such as `<f8`, may lack its quotation marks.
    ///
    /// # Errors
    ///
    /// The mistake, and where it is.
    ///
    /// ```
    /// use dtype_npy::Dtype;
    /// let dtype = Dtype::parse("np.dtype([('x', '<f8', (3,)), ('id', 'u1')], align=True)")?;
    /// assert_eq!(dtype.itemsize(), 32);
    /// assert_eq!(dtype.to_string(), "[('x', '<f8', (3,)), ('id', '|u1'), ('', '|V7')]");
    /// let mistake = Dtype::parse("[('x', 'f3')]").unwrap_err();
    /// assert_eq!((mistake.to_string().as_str(), mistake.span), ("unknown format `f3`", 7..11));
    /// # Ok::<(), dtype_npy::GrammarError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, GrammarError> {
        parse(text, false)
    }

    /// As [`parse`](Self::parse), for values of this machine.
    ///
    /// # Errors
    ///
    /// As for [`parse`](Self::parse), and if a value has the other byte order, is a Python object, or is a number that this
    /// machine does not have.
    pub fn parse_native(text: &str) -> Result<Self, GrammarError> {
        parse(text, true)
    }

    /// NumPy's names of scalar types, which [`parse`](Self::parse) knows.
    pub fn type_names() -> impl Iterator<Item = &'static str> {
        scalar::names()
    }
}

fn parse(text: &str, is_native: bool) -> Result<Dtype, GrammarError> {
    let value = match bare(text) {
        Some(value) => Ok(value),
        None => literal::read(text, false),
    };
    let value = value.map_err(|Unreadable { span, expected }| {
        let found = match &text[span.clone()] {
            "" => "the end".to_owned(),
            found => format!("`{found}`"),
        };
        let message = format!("expected {expected}, found {found}");
        *GrammarError::new(message, &span, format!("expected {expected}"))
    })?;
    let format = Evaluator { is_native }.format(&value, false).map_err(|error| *error)?;
    Ok(format.dtype)
}

/// A format such as `<f8` or `<i4, f8`, which needs no quotes in a shell.
fn bare(source: &str) -> Option<Value> {
    let text = source.trim();
    let is_bare = text.starts_with(['<', '>', '|', '=']);
    let start = source.find(text)?;
    is_bare.then(|| Value { span: start..start + text.len(), kind: Kind::Text(text.to_owned()) })
}

/// Places fields one after another.
#[derive(Default)]
struct Placement {
    fields: Vec<DtypeField>,
    end: u64,
    align: u64,
}

impl Placement {
    /// Adds a field; one without a name is a gap.
    fn add(&mut self, name: Option<String>, dtype: Dtype, align: u64) -> Option<()> {
        self.add_at(name, dtype, self.end.checked_next_multiple_of(align)?, align)
    }

    /// Adds a field at an offset.
    fn add_at(
        &mut self,
        name: Option<String>,
        dtype: Dtype,
        offset: u64,
        align: u64,
    ) -> Option<()> {
        let end = offset.checked_add(dtype.itemsize()).filter(|end| *end <= Dtype::MAX_BYTES)?;
        self.end = self.end.max(end);
        self.align = self.align.max(align);
        self.fields.extend(name.map(|name| DtypeField { name, offset, dtype }));
        Some(())
    }

    /// The structure, with the given size or with that of the aligned fields.
    fn finish(self, itemsize: Option<u64>) -> Option<Dtype> {
        let align = self.align.max(1);
        let itemsize = itemsize.or_else(|| self.end.checked_next_multiple_of(align))?;
        Some(Dtype::structure(self.fields, itemsize)?.with_align(align))
    }
}

/// Makes dtypes of values.
struct Evaluator {
    /// Whether the values are those of this machine.
    is_native: bool,
}

impl Evaluator {
    /// The format of a value. `is_aligned` says whether the fields of lists are aligned as in C.
    fn format(&self, value: &Value, is_aligned: bool) -> Read<Format> {
        let plain = Format::of_dtype;
        match &value.kind {
            Kind::Text(text) => self.text(text, &value.span, is_aligned),
            Kind::Name(name) => {
                let dtype = scalar::named(name);
                let dtype = dtype.ok_or_else(|| GrammarError::unknown(name, &value.span))?;
                self.checked(Format::of_scalar(dtype), name, &value.span)
            }
            Kind::List(items) => self.list(items, value, is_aligned).map(plain),
            Kind::Tuple(items) => self.pair(items, value, is_aligned),
            Kind::Dict(items) => self.dict(items, value, is_aligned).map(plain),
            Kind::Call(call) if call.function == "dict" => {
                let mut items = pairs(&call.arguments)?;
                items.extend(call.named.iter().map(|(key, value)| {
                    let key = Value { span: value.span.clone(), kind: Kind::Text(key.clone()) };
                    (key, value.clone())
                }));
                self.dict(&items, value, is_aligned).map(plain)
            }
            Kind::Call(call) => self.call(call, value),
            Kind::Number(_) | Kind::Bool(_) => Err(expected("a dtype", value)),
        }
    }

    /// The scalar format, if values of this format are accepted.
    fn checked(&self, format: Format, text: &str, span: &Range<usize>) -> Read<Format> {
        let dtype = format.dtype.axes().1;
        let DtypeKind::Scalar { letter, order, .. } = dtype.kind() else { return Ok(format) };
        if !self.is_native {
            return Ok(format);
        }
        if *letter == 'O' {
            let help = "what it points to is not part of the array";
            return Err(
                GrammarError::new("a Python object is a pointer", span, "not data").help(help)
            );
        }
        if order.is_some_and(|order| order != ByteOrder::NATIVE) {
            let message = format!("`{text}` has the bytes of its values in the other order");
            let help = "a type describes values of this machine; write the format without the \
                        sign for the order; `dump`, `pack` and `unpack` take `--representation big` or `little`";
            let error = GrammarError::new(message, span, "not this machine's byte order");
            return Err(error.help(help));
        }
        if dtype.basic().is_none() {
            return Err(GrammarError::unknown(text, span));
        }
        Ok(format)
    }

    /// `<f8`, or several formats separated by commas.
    fn text(&self, text: &str, span: &Range<usize>, is_aligned: bool) -> Read<Format> {
        let (parts, has_comma) = format::parts(text, span)?;
        if !has_comma {
            return self.checked(format::one(text, span)?, text, span);
        }
        let mut placement = Placement::default();
        for (i, part) in parts.into_iter().enumerate() {
            let Format { dtype, .. } = self.checked(format::one(part, span)?, part, span)?;
            let align = if is_aligned { dtype.align() } else { 1 };
            placement.add(Some(format!("f{i}")), dtype, align).ok_or_else(|| too_large(span))?;
        }
        placement.finish(None).map(Format::of_dtype).ok_or_else(|| too_large(span))
    }

    /// `np.dtype(…)`
    fn call(&self, Call { function, arguments, named }: &Call, value: &Value) -> Read<Format> {
        if function != "dtype" {
            let message = format!("unknown function `{function}`");
            return Err(GrammarError::new(message, &value.span, "expected `np.dtype`"));
        }
        let known = ["dtype", "align", "copy", "metadata"];
        if let Some((key, value)) = named.iter().find(|(key, _)| !known.contains(&key.as_str())) {
            let message = format!("`np.dtype` has no argument `{key}`");
            return Err(GrammarError::new(message, &value.span, "unknown argument"));
        }
        let named = |wanted: &str| named.iter().find(|(key, _)| key == wanted);
        let [dtype, align] = [(0, "dtype"), (1, "align")]
            .map(|(at, wanted)| arguments.get(at).or(named(wanted).map(|(_, value)| value)));
        let Some(dtype) = dtype else { return Err(expected("a dtype", value)) };
        let is_aligned = align.map_or(Ok(false), is_true)?;
        self.format(dtype, is_aligned)
    }

    /// `[('x', '<f8', (3,)), …]`
    fn list(&self, items: &[Value], value: &Value, is_aligned: bool) -> Read<Dtype> {
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
            let format = match shape {
                Some(shape) => shaped(format, shape)?,
                None => format,
            };
            let is_void = format.is_void();
            let dtype = format.dtype;
            let align = if is_aligned { dtype.align() } else { 1 };
            // A gap, as NumPy prints padding. It does not use up a default name.
            let is_gap = is_void && matches!(&name.kind, Kind::Text(name) if name.is_empty());
            let default = format!("f{i}");
            let name = if is_gap { None } else { Some(names.add(name, &default)?) };
            placement.add(name, dtype, align).ok_or_else(|| too_large(&item.span))?;
        }
        placement.finish(None).ok_or_else(|| too_large(&value.span))
    }

    /// `('<f8', (3,))`, or a base with fields: `('u4', [('r', 'u1'), …])`, `(numpy.record, [('x', '<f8')])`
    fn pair(&self, items: &[Value], value: &Value, is_aligned: bool) -> Read<Format> {
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
        let found = fields.dtype.itemsize();
        let base = if base.is_open {
            let character = base.dtype.basic().map_or(1, |basic| basic.size() as u64);
            base.with_length(found / character, &second.span)?
        } else {
            base
        };
        if base.dtype.itemsize() != found {
            let expected = base.dtype.itemsize();
            let message = format!("the base has {expected} bytes, but the fields take {found}");
            return Err(GrammarError::new(message, &second.span, "another size"));
        }
        let has_fields =
            matches!(fields.dtype.kind(), DtypeKind::Structure { fields } if !fields.is_empty());
        Ok(if has_fields { fields } else { base })
    }

    /// `{'names': […], 'formats': […], 'offsets': […], 'itemsize': n}`, or `{'x': (format, offset), …}`
    fn dict(&self, items: &[(Value, Value)], value: &Value, is_aligned: bool) -> Read<Dtype> {
        let get = |wanted: &str| {
            let found = items
                .iter()
                .find(|(key, _)| matches!(&key.kind, Kind::Text(text) if text == wanted));
            found.map(|(_, value)| value)
        };
        let (Some(names), Some(formats)) = (get("names"), get("formats")) else {
            return self.dict_of_fields(items, value, is_aligned);
        };
        let is_aligned = match get("aligned") {
            None => is_aligned,
            // NumPy accepts numbers for the argument `align`, but not here.
            Some(Value { kind: Kind::Bool(truth), .. }) => *truth || is_aligned,
            Some(other) => return Err(expected("`True` or `False`", other)),
        };
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
                return Err(GrammarError::new(message, &what.span, ""));
            }
        }
        let mut placement = Placement::default();
        let mut names = Names::default();
        for (i, (name, format)) in names_of.iter().zip(formats_of).enumerate() {
            let name = names.add(name, "")?;
            let Format { dtype, .. } = self.format(format, is_aligned)?;
            let align = if is_aligned { dtype.align() } else { 1 };
            let added = match offsets.and_then(|offsets| offsets.get(i)) {
                Some(offset) => placement.add_at(Some(name), dtype, aligned(offset, align)?, align),
                None => placement.add(Some(name), dtype, align),
            };
            added.ok_or_else(|| too_large(&format.span))?;
        }
        let itemsize = get("itemsize").map(|size| number(size).map(|bytes| (size, bytes)));
        finish(placement, itemsize.transpose()?, value)
    }

    fn dict_of_fields(
        &self,
        items: &[(Value, Value)],
        value: &Value,
        is_aligned: bool,
    ) -> Read<Dtype> {
        let mut fields = Vec::new();
        for (name, field) in items {
            let Kind::Tuple(parts) = &field.kind else {
                let problem = expected("a format and an offset, such as `('<f8', 0)`", field);
                let help = "the other form has the keys `names` and `formats`";
                return Err(problem.help(help));
            };
            let (Some(format), Some(offset)) = (parts.first(), parts.get(1)) else {
                return Err(expected("a format and an offset, such as `('<f8', 0)`", field));
            };
            fields.push((number(offset)?, name, format, offset, field));
        }
        // Default names follow the order of the offsets, and not that of the text.
        fields.sort_by_key(|(offset, ..)| *offset);
        let mut placement = Placement::default();
        let mut names = Names::default();
        for (_, name, format, offset, field) in fields {
            let name = names.add(name, "")?;
            let Format { dtype, .. } = self.format(format, is_aligned)?;
            let align = if is_aligned { dtype.align() } else { 1 };
            placement
                .add_at(Some(name), dtype, aligned(offset, align)?, align)
                .ok_or_else(|| too_large(&field.span))?;
        }
        finish(placement, None, value)
    }
}

/// The structure of these fields, with an item size if the value gives one.
fn finish(placement: Placement, itemsize: Option<(&Value, u64)>, value: &Value) -> Read<Dtype> {
    if let Some((at, size)) = itemsize {
        let (natural, align) = (placement.end, placement.align.max(1));
        if size < natural {
            let message = format!("the item size is {size}, but the fields take {natural} bytes");
            return Err(GrammarError::new(message, &at.span, "too small"));
        }
        if size % align != 0 {
            let message = format!("the item size is {size}, expected a multiple of {align}");
            let help = "the alignment is that of the strictest field";
            return Err(GrammarError::new(message, &at.span, "not aligned").help(help));
        }
    }
    placement.finish(itemsize.map(|(_, size)| size)).ok_or_else(|| too_large(&value.span))
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
    all: HashMap<String, Range<usize>>,
}

impl Names {
    /// The text of a name, which may be a pair of a title and a name. `default` replaces an empty name, which NumPy numbers in
    /// a list and keeps in a dict. Reports a name that another field already has.
    fn add(&mut self, value: &Value, default: &str) -> Read<String> {
        let text = match &value.kind {
            Kind::Text(text) => text,
            Kind::Tuple(pair) => match pair.get(1).map(|name| &name.kind) {
                Some(Kind::Text(text)) => text,
                _ => return Err(expected("a name", value)),
            },
            _ => return Err(expected("a name", value)),
        };
        let name = if text.is_empty() { default.to_owned() } else { text.clone() };
        match self.all.insert(name.clone(), value.span.clone()) {
            None => Ok(name),
            Some(before) => {
                let message = format!("two fields are called `{name}`");
                let error = GrammarError::new(message, &value.span, "again");
                Err(error.and(before, "the first one"))
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
    let error = GrammarError::new(message, &offset.span, "not aligned");
    Err(error.help("leave out `align` or `aligned` if the fields are not aligned"))
}

fn is_true(value: &Value) -> Read<bool> {
    match &value.kind {
        Kind::Bool(truth) => Ok(*truth),
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
            Ok(number) if number <= Dtype::MAX_BYTES => Ok(number),
            _ => {
                let message = format!("{number} is not from 0 to {}", Dtype::MAX_BYTES);
                Err(GrammarError::new(message, &value.span, "out of range"))
            }
        },
        _ => Err(expected("a number", value)),
    }
}

fn expected(what: &str, value: &Value) -> Box<GrammarError> {
    let message = format!("expected {what}, found {}", value.describe());
    GrammarError::new(message, &value.span, format!("expected {what}"))
}
