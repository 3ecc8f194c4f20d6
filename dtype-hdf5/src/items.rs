//! The items of any dataset, without a Rust type for them.

use std::ops::Range;

use dtype_npy::{Dtype, DtypeField};
use dtype_runtime::representation::ByteOrder;
use dtype_runtime::stored::{TextEnd, joined};
use hdf5_metno::{Dataset, Datatype};

use crate::error::Error;
use crate::library::{Items, Texts, read_items, stored};
use crate::part::{AT_ONCE, count_of, rows, rows_at_once, whole};
use crate::storage::{check_space, check_written};
use crate::stored::{Form, Stored};

/// Reads the items of any dataset, packed and in this machine's byte order, for tools that do not know a Rust type for them.
/// [`ItemReader::dtype`] describes the items.
///
/// An enumeration is read as its integers, but h5py's truth values are `b1`. A string is read as a `U` with one character for
/// each byte. Strings of variable length all have room for the longest one, so all of them are read once to find it. Strings
/// that are not UTF-8 are read as Latin-1.
///
/// # Errors
///
/// - [`Error::Format`] for references, lists of variable length and other classes, and for numbers of other formats;
///   [`Error::Malformed`];
/// - [`Error::TooManyItems`], and [`Error::NotStored`] if the file does not have the items;
/// - [`Error::Texts`] for strings of variable length that together are too long;
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
    let datatype = dataset.dtype()?;
    let stored = stored(&datatype)?;
    // With a text length of 0, until the lengths are known.
    let dtype = dtype_of(&stored, 0, "")?;
    let all = whole(dataset)?;
    check_space(dataset, &datatype)?;
    check_written(dataset, &datatype, &all, 0)?;
    let places = stored.texts();
    let (number, row) = match all.shape.split_first() {
        Some((number, row)) => (count_of(&[*number])?, count_of(row)?),
        None => (1, 1),
    };
    let mut reader = ItemReader {
        dataset: dataset.clone(),
        dtype,
        shape: all.shape,
        texts: Texts { places, limit: 0 },
        text: 0,
        rows: number,
        next: 0,
        most: rows_at_once(dataset, row.saturating_mul(datatype.size())).0,
        items: Items::default(),
        rest: 0..0,
        datatype,
        stored,
    };
    if !reader.texts.places.is_empty() {
        reader.text = 1;
        while reader.fill()? > 0 {
            let lengths = reader.items.scratch.texts.iter().map(Vec::len);
            reader.text = lengths.fold(reader.text, usize::max);
        }
        reader.next = 0;
        reader.dtype = dtype_of(&reader.stored, reader.text as u64, "")?;
    }
    Ok(reader)
}

/// The items of a dataset, some at a time: see [`items`].
#[derive(Debug)]
pub struct ItemReader {
    dataset: Dataset,
    datatype: Datatype,
    stored: Stored,
    dtype: Dtype,
    shape: Vec<u64>,
    texts: Texts,
    /// Bytes of a string of variable length.
    text: usize,
    /// Rows along the outermost axis: all of them, the next one, and the number to read at a time.
    rows: usize,
    next: usize,
    most: usize,
    items: Items,
    /// Which of the items that were read have not been returned.
    rest: Range<usize>,
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
    /// [`Error::Hdf5`]; [`Error::Range`] if the dataset has become shorter, [`Error::Texts`] if a text has become longer.
    pub fn read_onto(&mut self, bytes: &mut Vec<u8>) -> Result<usize, Error> {
        if self.rest.is_empty() {
            self.rest = 0..self.fill()?;
        }
        let texts = &self.items.scratch.texts;
        if texts.iter().any(|text| text.len() > self.text) {
            return Err(Error::Texts { items: 1, limit: self.text });
        }
        // A chunk has any number of items, and each string becomes as long as the longest.
        let size = usize::try_from(self.dtype.itemsize()).unwrap_or(usize::MAX);
        let count = self.rest.len().min((AT_ONCE / size.max(1)).max(1));
        let items = self.items.bytes.chunks_exact(self.datatype.size().max(1));
        for item in items.skip(self.rest.start).take(count) {
            append(&self.stored, item, texts, self.text, bytes);
        }
        self.rest.start += count;
        Ok(count)
    }

    /// Reads the next items in their stored form, and returns their number.
    fn fill(&mut self) -> Result<usize, Error> {
        while self.next < self.rows {
            let end = self.rows.min(self.next.saturating_add(self.most));
            let part = rows(&self.dataset, self.next..end)?;
            let at = (&part.select(self.next..end)?, part.count);
            match read_items(&self.dataset, &self.datatype, at, &self.texts, &mut self.items) {
                // The texts are long, so fewer items are read at a time.
                Err(Error::Texts { .. }) if self.most > 1 => self.most /= 2,
                Err(error) => return Err(error),
                Ok(()) => {
                    self.next = end;
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
        Form::Enumeration { members, .. }
            if stored.is_bool() && members.values().copied().eq([0, 1]) =>
        {
            scalar('b')
        }
        Form::Integer { signed: true, .. } | Form::Enumeration { signed: true, .. } => scalar('i'),
        Form::Integer { .. } | Form::Enumeration { .. } | Form::Bits { .. } => scalar('u'),
        Form::Float { .. } => scalar('f'),
        Form::Text { .. } => characters(stored.size),
        Form::VariableText => characters(text),
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

/// Appends an item: its values one after the other, in this machine's byte order.
fn append(stored: &Stored, item: &[u8], texts: &[Vec<u8>], text: usize, out: &mut Vec<u8>) {
    // `dtype_of` has checked that everything lies within an item.
    let part = |offset: u64, of: &Stored| {
        let (start, size) = (usize::try_from(offset).ok()?, usize::try_from(of.size).ok()?);
        item.get(start..)?.get(..size)
    };
    let bytes = part(0, stored).unwrap_or_default();
    match &stored.form {
        Form::Compound(fields) => {
            for field in fields {
                let bytes = part(field.offset, &field.datatype).unwrap_or_default();
                append(&field.datatype, bytes, texts, text, out);
            }
        }
        Form::Array { element, .. } => {
            let size = usize::try_from(element.size).unwrap_or(usize::MAX).max(1);
            for bytes in bytes.chunks_exact(size) {
                append(element, bytes, texts, text, out);
            }
        }
        Form::VariableText => {
            let index = bytes.first_chunk().map(|index| usize::from_ne_bytes(*index));
            let found = index.and_then(|index| texts.get(index));
            append_text(found.map_or(&[], Vec::as_slice), text, out);
        }
        Form::Text { end } => {
            let len = match end {
                TextEnd::FirstZero => bytes.iter().position(|byte| *byte == 0),
                TextEnd::Blanks => {
                    Some(bytes.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1))
                }
                TextEnd::Zeros => None,
            };
            append_text(&bytes[..len.unwrap_or(bytes.len())], bytes.len(), out);
        }
        _ if stored.order().is_some_and(|order| order != ByteOrder::NATIVE) => {
            out.extend(bytes.iter().rev());
        }
        _ => out.extend_from_slice(bytes),
    }
}
