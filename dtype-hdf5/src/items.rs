//! The items of any dataset, without a Rust type for them.

use std::ffi::CStr;
use std::fmt;
use std::ops::Range;

use dtype_npy::{DateUnit, Dtype, DtypeField};
use dtype_runtime::representation::ByteOrder;
use dtype_stored::{Budget, ReadOptions, TextEnd, joined};
use hdf5_metno::{Dataset, Datatype};

use crate::error::Error;
use crate::library::{Items, read_items, stored};
use crate::part::{AT_ONCE, TEXTS_AT_ONCE, count_of, rows, rows_at_once, whole};
use crate::storage::{check_inside, check_space, check_written};
use crate::stored::{Form, Stored};

/// Reads the items of any dataset, packed and in this machine's byte order, for tools that do not know a Rust type for them.
/// [`ItemReader::dtype`] describes the items.
///
/// A time of PyTables is an `M8` of seconds or microseconds. An enumeration is read as its integers, but h5py's truth values are `b1`. A string is read as a `U` with one character for
/// each byte. Strings that are not UTF-8 are read as Latin-1.
///
/// Strings of variable length all have room for the longest one, so all of them are read once to find it. Together they may
/// have as many bytes as [`Budget::for_input`] allows for the file; [`items_with`] takes another budget.
///
/// # Errors
///
/// - [`Error::Elsewhere`] if the items are outside the file, or the dataset is virtual;
/// - [`Error::Format`] for references, lists of variable length and other classes, and for numbers of other formats;
///   [`Error::Malformed`];
/// - [`Error::TooManyItems`], and [`Error::NotStored`] if the file does not have the items; [`Error::Exceeded`] for chunks and
///   items that are far larger than the file;
/// - [`Error::Texts`] for strings of variable length that together are longer than the limit;
/// - [`Error::Hdf5`].
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("samples.h5");
/// let file = hdf5_metno::File::create(path)?;
/// let dataset = dtype_hdf5::create(&file, "samples", &[(1_u8, true), (2, false)])?;
/// let mut items = dtype_hdf5::items(&dataset)?;
/// assert_eq!(items.dtype().to_string(), "[('0', '|u1'), ('1', '|b1')]");
/// let mut bytes = Vec::new();
/// while items.read_onto(&mut bytes)? > 0 {}
/// assert_eq!(bytes, [1, 1, 2, 0]);
/// # Ok::<(), dtype_hdf5::Error>(())
/// ```
pub fn items(dataset: &Dataset) -> Result<ItemReader, Error> {
    let budget = Budget::for_input(dataset.file()?.size());
    items_with(dataset, &ReadOptions::strict(), &budget)
}

/// As [`items`], with another budget: a chunk of the dataset, an item, and all strings of variable length together, with a zero
/// after each, may have as many bytes as are left. Of the options, only [`other_files`](ReadOptions::other_files) counts.
///
/// # Errors
///
/// As for [`items`].
pub fn items_with(
    dataset: &Dataset,
    options: &ReadOptions,
    budget: &Budget,
) -> Result<ItemReader, Error> {
    if !options.other_files {
        check_inside(dataset)?;
    }
    let datatype = dataset.dtype()?;
    let stored = stored(dataset, &datatype)?;
    // With a text length of 0, until the lengths are known.
    let dtype = dtype_of(&stored, 0, "")?;
    let all = whole(dataset)?;
    check_space(dataset, &datatype)?;
    check_written(dataset, &datatype, &all, 0, budget)?;
    let (number, row) = match all.shape.split_first() {
        Some((number, row)) => (count_of(&[*number])?, count_of(row)?),
        None => (1, 1),
    };
    let at_once = rows_at_once(dataset, row.saturating_mul(datatype.size())).0;
    let mut reader = ItemReader {
        dataset: dataset.clone(),
        dtype,
        shape: all.shape,
        limit: budget.bytes_left(),
        copied: 0,
        text: 0,
        rows: number,
        next: 0,
        most: at_once,
        at_once,
        first: 0,
        items: Items::default(),
        rest: 0..0,
        datatype,
        stored,
    };
    if reader.stored.has_texts() {
        reader.text = 1;
        while reader.fill()? > 0 {
            reader.text = reader.text.max(reader.longest_text());
        }
        (reader.next, reader.copied) = (0, 0);
        reader.dtype = dtype_of(&reader.stored, reader.text as u64, "")?;
        // One long text makes all others as long.
        let item = usize::try_from(reader.dtype.itemsize()).unwrap_or(usize::MAX);
        budget.hold(if all.count > 0 { item } else { 0 })?;
    }
    Ok(reader)
}

/// The items of a dataset, some at a time: see [`items`].
pub struct ItemReader {
    dataset: Dataset,
    datatype: Datatype,
    stored: Stored,
    dtype: Dtype,
    shape: Vec<u64>,
    /// Bytes of strings of variable length, with a zero after each: the limit, and how many were read so far.
    limit: usize,
    copied: usize,
    /// Bytes of the longest string of variable length.
    text: usize,
    /// Rows along the outermost axis: all of them, the next one, the number to read at a time, and its greatest value.
    rows: usize,
    next: usize,
    most: usize,
    at_once: usize,
    /// The number of the first item that was read last.
    first: usize,
    items: Items,
    /// Which of the items that were read have not been returned.
    rest: Range<usize>,
}

impl fmt::Debug for ItemReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dataset, shape, next, rest, .. } = self;
        let mut fields = f.debug_struct("ItemReader");
        fields.field("dataset", dataset).field("shape", shape);
        fields.field("next_row", next).field("items_read", &rest.len()).finish_non_exhaustive()
    }
}

impl ItemReader {
    /// The dtype of an item as [`read_onto`](Self::read_onto) returns it.
    pub const fn dtype(&self) -> &Dtype {
        &self.dtype
    }

    /// Items along each axis of the dataset, the outermost first; none for a single item.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Appends the next items, in C order, and returns their number: 0 at the end.
    ///
    /// # Errors
    ///
    /// [`Error::Unnamed`] for a truth value other than 0 and 1; [`Error::Hdf5`]; [`Error::Range`] if the dataset has become
    /// shorter, [`Error::Texts`] if a text has become longer. `bytes` is then unchanged.
    pub fn read_onto(&mut self, bytes: &mut Vec<u8>) -> Result<usize, Error> {
        if self.rest.is_empty() {
            let (next, count) = (self.next, self.fill()?);
            if self.longest_text() > self.text {
                self.next = next;
                return Err(Error::Texts { items: 1, limit: self.text });
            }
            self.rest = 0..count;
        }
        // A chunk has any number of items, and each string becomes as long as the longest.
        let size = usize::try_from(self.dtype.itemsize()).unwrap_or(usize::MAX);
        let count = self.rest.len().min((AT_ONCE / size.max(1)).max(1));
        let items = self.items.bytes.chunks_exact(self.datatype.size().max(1));
        let (texts, old) = (&self.items.scratch.texts, bytes.len());
        for (number, item) in items.enumerate().skip(self.rest.start).take(count) {
            append(&self.stored, item, (texts, self.text), bytes).map_err(|(field, value)| {
                bytes.truncate(old);
                let field = field.strip_prefix('.').unwrap_or(&field).to_owned();
                Error::Unnamed { record: self.first.saturating_add(number), field, value }
            })?;
        }
        self.rest.start += count;
        Ok(count)
    }

    /// Bytes of the longest string among the items that were read last.
    fn longest_text(&self) -> usize {
        let (mut longest, mut rest) = (0, &*self.items.scratch.texts);
        while let Ok(text) = CStr::from_bytes_until_nul(rest) {
            longest = longest.max(text.count_bytes());
            rest = &rest[text.count_bytes() + 1..];
        }
        longest
    }

    /// Reads the next items in their stored form, and returns their number.
    fn fill(&mut self) -> Result<usize, Error> {
        while self.next < self.rows {
            let end = self.rows.min(self.next.saturating_add(self.most));
            let part = rows(&self.dataset, self.next..end)?;
            let at = (&part.select(self.next..end)?, part.count);
            let rest = self.limit - self.copied;
            let limit = if self.most > 1 { rest.min(TEXTS_AT_ONCE) } else { rest };
            let texts = (&self.stored, limit);
            let row = part.count / (end - self.next);
            self.first = self.next.saturating_mul(row);
            match read_items(&self.dataset, &self.datatype, at, texts, &mut self.items) {
                // The texts are long, so fewer rows are read at a time. One row may have as many as all.
                Err(Error::Texts { .. }) if self.most > 1 => self.most /= 2,
                Err(Error::Texts { items, .. }) => {
                    let items = self.first.saturating_add(items);
                    return Err(Error::Texts { items, limit: self.limit });
                }
                Err(error) => return Err(error),
                Ok(copied) => {
                    self.copied += copied;
                    self.next = end;
                    self.most = self.most.saturating_mul(2).min(self.at_once);
                    return Ok(part.count);
                }
            }
        }
        Ok(0)
    }
}

/// The dtype for stored items, if a string of variable length has `text` bytes.
fn dtype_of(stored: &Stored, text: u64, path: &str) -> Result<Dtype, Error> {
    let malformed = || Error::Malformed { field: path.to_owned() };
    let scalar = |letter| Dtype::scalar(letter, stored.size, ByteOrder::NATIVE);
    let characters = |number: u64| Dtype::scalar('U', number.checked_mul(4)?, ByteOrder::NATIVE);
    let found = match &stored.form {
        Form::Enumeration { .. } if stored.is_numpy_bool() => scalar('b'),
        Form::Integer { signed: true, .. } | Form::Enumeration { signed: true, .. } => scalar('i'),
        Form::Integer { .. } | Form::Enumeration { .. } | Form::Bits { .. } => scalar('u'),
        Form::Float { .. } => scalar('f'),
        Form::Text { .. } => characters(stored.size),
        Form::VariableText => characters(text),
        Form::Time { .. } => {
            let unit = DateUnit::new(if stored.size == 4 { "s" } else { "us" });
            let time = Dtype::scalar('M', 8, ByteOrder::NATIVE);
            time.zip(unit).map(|(time, unit)| time.with_unit(unit))
        }
        Form::Compound(_) if stored.complex().is_some() && stored.size >= 8 => scalar('c'),
        Form::Compound(all) => {
            let (mut fields, mut offset) = (Vec::new(), 0_u64);
            for field in all {
                let end = field.offset.checked_add(field.datatype.size);
                if end.is_none_or(|end| end > stored.size) {
                    return Err(malformed());
                }
                let dtype = dtype_of(&field.datatype, text, &joined(path, &field.name))?;
                let size = dtype.itemsize();
                fields.push(DtypeField { name: field.name.clone(), offset, dtype });
                offset = offset.checked_add(size).ok_or_else(malformed)?;
            }
            return Dtype::structure(fields, offset).ok_or_else(malformed);
        }
        Form::Array { lengths, element } => {
            return Dtype::array(lengths, dtype_of(element, text, path)?).ok_or_else(malformed);
        }
        Form::Other(_) => None,
    };
    found.ok_or_else(|| Error::Format {
        field: path.to_owned(),
        expected: "a number, a string, an array or a compound".to_owned(),
        actual: stored.to_string(),
    })
}

/// Appends the characters of a text, and zeros up to `length` characters.
fn append_text(text: &[u8], length: usize, out: &mut Vec<u8>) {
    let end = out.len() + 4 * length;
    let mut add = |c: char| out.extend_from_slice(&u32::from(c).to_ne_bytes());
    match str::from_utf8(text) {
        Ok(text) => text.chars().for_each(&mut add),
        Err(_) => text.iter().copied().map(char::from).for_each(&mut add),
    }
    out.resize(end, 0);
}

/// The indexes of an element of an array, in C order: `[1][0]`.
fn indexes(lengths: &[u64], mut element: u64) -> String {
    let mut all = String::new();
    for length in lengths.iter().rev() {
        all.insert_str(0, &format!("[{}]", element % length));
        element /= length;
    }
    all
}

/// Appends an item: its values one after the other, in this machine's byte order. The error is the number of a truth value that
/// is neither 0 nor 1, and the path from here to it: `.flags[2]`.
fn append(
    stored: &Stored,
    item: &[u8],
    (texts, longest): (&[u8], usize),
    out: &mut Vec<u8>,
) -> Result<(), (String, u128)> {
    match &stored.form {
        Form::Compound(fields) => {
            for field in fields {
                let bytes = item.get(field.range()).unwrap_or_default();
                append(&field.datatype, bytes, (texts, longest), out)
                    .map_err(|(path, value)| (format!(".{}{path}", field.name), value))?;
            }
        }
        Form::Array { lengths, element } => {
            for (number, bytes) in item.chunks_exact(element.bytes()).enumerate() {
                append(element, bytes, (texts, longest), out)
                    .map_err(|(path, value)| (indexes(lengths, number as u64) + &path, value))?;
            }
        }
        Form::VariableText => {
            let index = item.first_chunk().map_or(usize::MAX, |index| usize::from_ne_bytes(*index));
            let text = CStr::from_bytes_until_nul(texts.get(index..).unwrap_or_default());
            append_text(text.unwrap_or_default().to_bytes(), longest, out);
        }
        Form::Text { end } => {
            let len = match end {
                TextEnd::FirstZero => item.iter().position(|byte| *byte == 0),
                TextEnd::Blanks => {
                    Some(item.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1))
                }
                TextEnd::Zeros => None,
            };
            append_text(&item[..len.unwrap_or(item.len())], item.len(), out);
        }
        Form::Enumeration { .. } if item.first() > Some(&1) && stored.is_numpy_bool() => {
            return Err((String::new(), item.first().copied().unwrap_or_default().into()));
        }
        Form::Time { .. } => {
            // At most seconds of 32 bits, in microseconds.
            let value = stored.time().map_or(0, |time| time.integer(item));
            out.extend_from_slice(&i64::try_from(value).unwrap_or(i64::MAX).to_ne_bytes());
        }
        _ if stored.order().is_some_and(|order| order != ByteOrder::NATIVE) => {
            out.extend(item.iter().rev());
        }
        _ => out.extend_from_slice(item),
    }
    Ok(())
}
