//! Converts, value by value, values that are stored in another form than a record has.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fmt::Write;
use std::str;

use crate::number::{Numbers, number, set_number};
use crate::{Text, TextEnd, ValueError};
use dtype_runtime::Error;
use dtype_runtime::representation::ByteOrder;

/// The number of bytes before a text in a packed record that hold its length.
const LENGTH: usize = 4;

/// The values of one field, and how they are converted.
#[derive(Debug)]
pub(crate) struct Conversion {
    /// The path of the field.
    pub(crate) path: String,
    /// Bytes from the start of the item to the first value.
    pub(crate) stored: usize,
    /// Bytes from the start of the packed record to the first value.
    pub(crate) packed: usize,
    /// The arrays that the field is in, the outermost first.
    pub(crate) axes: Vec<Axis>,
    /// The structures around the field that count their values, the outermost first.
    pub(crate) counts: Vec<Count>,
    pub(crate) what: What,
}

/// The place of the number of values in an optional value or a list. Further values are unspecified.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Count {
    /// Bytes from the start of the packed record to the first such number.
    pub(crate) packed: usize,
    pub(crate) size: usize,
    /// The number of arrays around it.
    pub(crate) axes: usize,
    /// Whether the number counts the elements of the next array. Otherwise it counts a single value.
    pub(crate) is_list: bool,
}

/// An axis of an array in an item.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) length: usize,
    /// Bytes from one element to the next in the item.
    pub(crate) stored: usize,
    /// Bytes from one element to the next in a packed record.
    pub(crate) packed: usize,
    /// The length of the array's path, which is where an index is inserted.
    pub(crate) path: usize,
}

/// How values are converted.
#[derive(Debug)]
pub(crate) enum What {
    /// The numbers of an enumeration, in this byte order where they are stored.
    Renumber {
        size: usize,
        order: ByteOrder,
        numbers: BTreeMap<u128, u128>,
    },
    /// A text of at most `capacity` bytes.
    Text {
        text: Text,
        capacity: usize,
    },
    Number(Numbers),
}

impl What {
    /// Bytes of a value in an item; `None` if the value is not in the item.
    pub(crate) fn stored_size(&self) -> Option<usize> {
        match *self {
            Self::Renumber { size, .. } | Self::Text { text: Text::Bytes { size, .. }, .. } => {
                Some(size)
            }
            Self::Number(ref numbers) => numbers.stored_size(),
            Self::Text { text: Text::Characters { length, .. }, .. } => length.checked_mul(4),
            Self::Text { text: Text::Index, .. } => Some(size_of::<usize>()),
        }
    }
}

/// Why a value is not converted.
enum Refusal {
    Unnamed(u128),
    Value { of: String, reason: String },
}

impl Refusal {
    fn text(reason: String) -> Self {
        Self::Value { of: "text".to_owned(), reason }
    }

    fn number(numbers: &Numbers, reason: String) -> Self {
        Self::Value { of: numbers.name().to_owned(), reason }
    }
}

/// The two sides of a conversion, and the texts that are stored outside the items.
pub(crate) struct Sides<'a> {
    /// Bytes of an item.
    pub(crate) item: usize,
    /// Bytes of a packed record.
    pub(crate) record: usize,
    /// The byte order of the numbers in packed records.
    pub(crate) order: ByteOrder,
    pub(crate) texts: &'a mut Vec<u8>,
}

impl Conversion {
    /// Writes the values of the items into packed records.
    pub(crate) fn load(
        &self,
        items: &[u8],
        packed: &mut [u8],
        sides: &mut Sides<'_>,
    ) -> Result<(), ValueError> {
        let is_wide = |item: &[u8], packed: &mut [u8]| match &self.what {
            What::Number(numbers) if self.axes.is_empty() && self.counts.is_empty() => {
                numbers.widen(&item[self.stored..], &mut packed[self.packed..], sides.order)
            }
            _ => false,
        };
        for (record, packed) in packed.chunks_exact_mut(sides.record.max(1)).enumerate() {
            let item = &items[record * sides.item..][..sides.item];
            if is_wide(item, packed) {
                continue;
            }
            // Absent values stay zeros.
            self.each(record, |from, to, indexes| {
                if self.is_absent(packed, indexes, sides) {
                    return Ok(());
                }
                self.load_one(&item[from..], &mut packed[to..], sides)
            })?;
        }
        Ok(())
    }

    /// Writes the values of packed records into items.
    pub(crate) fn store(
        &self,
        packed: &[u8],
        items: &mut [u8],
        sides: &mut Sides<'_>,
    ) -> Result<(), ValueError> {
        for (record, packed) in packed.chunks_exact(sides.record.max(1)).enumerate() {
            let item = &mut items[record * sides.item..][..sides.item];
            self.each(record, |to, from, indexes| {
                let item = &mut item[to..];
                match (&self.what, self.is_absent(packed, indexes, sides)) {
                    (_, false) => self.store_one(&packed[from..], item, sides),
                    (What::Text { text, .. }, true) => store_text(*text, "", item, sides.texts),
                    (_, true) => Ok(()),
                }
            })?;
        }
        Ok(())
    }

    /// Whether the value with these indexes is absent from a packed record. The record must already have its counts.
    fn is_absent(&self, packed: &[u8], indexes: &[usize], sides: &Sides<'_>) -> bool {
        self.counts.iter().any(|count| {
            let outer = self.axes.iter().zip(indexes).take(count.axes);
            let place =
                outer.fold(count.packed, |place, (axis, index)| place + index * axis.packed);
            let index = if count.is_list { indexes[count.axes] } else { 0 };
            number(&packed[place..][..count.size], sides.order) <= index as u128
        })
    }

    /// Calls `one` with the displacements of each value in the item and in the packed record, and with its indexes.
    fn each(
        &self,
        record: usize,
        mut one: impl FnMut(usize, usize, &[usize]) -> Result<(), Refusal>,
    ) -> Result<(), ValueError> {
        let mut indexes = Vec::new();
        visit(self.stored, self.packed, &self.axes, &mut indexes, &mut one).map_err(|refusal| {
            let field = self.path_of(&indexes);
            match refusal {
                Refusal::Unnamed(value) => ValueError::Unnamed { record, field, value },
                Refusal::Value { of, reason } => {
                    ValueError::Record(Error::CheckFailed { record, path: field, of, reason })
                }
            }
        })
    }

    fn load_one(&self, item: &[u8], packed: &mut [u8], sides: &Sides<'_>) -> Result<(), Refusal> {
        match &self.what {
            What::Renumber { size, order, numbers } => {
                let value = number(&item[..*size], *order);
                let new = numbers.get(&value).ok_or(Refusal::Unnamed(value))?;
                set_number(&mut packed[..*size], sides.order, *new);
                Ok(())
            }
            What::Text { text, capacity } => {
                let (length, place) = packed.split_at_mut(LENGTH);
                let len = load_text(*text, item, &mut place[..*capacity], sides.texts)?;
                set_number(length, sides.order, len as u128);
                Ok(())
            }
            What::Number(numbers) => numbers
                .load(item, packed, sides.order)
                .map_err(|reason| Refusal::number(numbers, reason)),
        }
    }

    fn store_one(
        &self,
        packed: &[u8],
        item: &mut [u8],
        sides: &mut Sides<'_>,
    ) -> Result<(), Refusal> {
        match &self.what {
            What::Renumber { size, order, numbers } => {
                let value = number(&packed[..*size], sides.order);
                let new = numbers.get(&value).ok_or(Refusal::Unnamed(value))?;
                set_number(&mut item[..*size], *order, *new);
                Ok(())
            }
            What::Text { text, capacity } => {
                let len = usize::try_from(number(&packed[..LENGTH], sides.order));
                let bytes = packed[LENGTH..][..*capacity].get(..len.unwrap_or(usize::MAX));
                let value = bytes.and_then(|bytes| str::from_utf8(bytes).ok()).unwrap_or_default();
                store_text(*text, value, item, sides.texts)
            }
            What::Number(numbers) => numbers
                .store(packed, item, sides.order)
                .map_err(|reason| Refusal::number(numbers, reason)),
        }
    }

    /// The path of a value, with the indexes of arrays.
    fn path_of(&self, indexes: &[usize]) -> String {
        let (mut path, mut end) = (String::new(), 0);
        for (axis, index) in self.axes.iter().zip(indexes) {
            path.push_str(&self.path[end..axis.path]);
            end = axis.path;
            // Writing to a string does not fail.
            let _ = write!(path, "[{index}]");
        }
        path + &self.path[end..]
    }
}

/// Calls `one` for each element of the arrays. After an error, `indexes` are those of the element.
fn visit(
    stored: usize,
    packed: usize,
    axes: &[Axis],
    indexes: &mut Vec<usize>,
    one: &mut impl FnMut(usize, usize, &[usize]) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    // No overflow: the datatype of the item was compared, and everything lies in the item and in the packed record.
    let Some((axis, inner)) = axes.split_first() else { return one(stored, packed, indexes) };
    for index in 0..axis.length {
        indexes.push(index);
        let (stored, packed) = (stored + index * axis.stored, packed + index * axis.packed);
        visit(stored, packed, inner, indexes, one)?;
        indexes.pop();
    }
    Ok(())
}

/// Copies a stored text to its place in a packed record, with zeros after it, and returns its length.
fn load_text(text: Text, item: &[u8], place: &mut [u8], texts: &[u8]) -> Result<usize, Refusal> {
    let too_long = |len: usize, capacity: usize| {
        Refusal::text(format!("its length is {len}, and the capacity {capacity}"))
    };
    let capacity = place.len();
    place.fill(0);
    let bytes = match text {
        Text::Bytes { size, end } => {
            let bytes = &item[..size];
            let last = |padding: u8| bytes.iter().rposition(|byte| *byte != padding);
            let len = match end {
                TextEnd::Zeros => last(0).map_or(0, |last| last + 1),
                TextEnd::Blanks => last(b' ').map_or(0, |last| last + 1),
                TextEnd::FirstZero => bytes.iter().position(|byte| *byte == 0).unwrap_or(size),
            };
            &bytes[..len]
        }
        Text::Index => {
            let index = item.first_chunk().map_or(usize::MAX, |index| usize::from_ne_bytes(*index));
            let text = CStr::from_bytes_until_nul(texts.get(index..).unwrap_or_default());
            text.unwrap_or_default().to_bytes()
        }
        Text::Characters { length, order } => {
            let codes = item[..4 * length].chunks_exact(4).map(|code| number(code, order));
            let codes: Vec<u128> = codes.collect();
            let len = codes.iter().rposition(|code| *code != 0).map_or(0, |last| last + 1);
            let mut string = String::new();
            for code in &codes[..len] {
                let c = u32::try_from(*code).ok().and_then(char::from_u32);
                let invalid = || Refusal::text(format!("{code:#x} is not a valid char"));
                string.push(c.ok_or_else(invalid)?);
            }
            let place = place.get_mut(..string.len());
            let place = place.ok_or_else(|| too_long(string.len(), capacity))?;
            place.copy_from_slice(string.as_bytes());
            return Ok(string.len());
        }
    };
    str::from_utf8(bytes).map_err(|error| Refusal::text(error.to_string()))?;
    let place = place.get_mut(..bytes.len()).ok_or_else(|| too_long(bytes.len(), capacity))?;
    place.copy_from_slice(bytes);
    Ok(bytes.len())
}

/// Stores a text. Its place in the item must be zeros.
fn store_text(
    text: Text,
    value: &str,
    item: &mut [u8],
    texts: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let (len, most) = match text {
        Text::Bytes { size, end: TextEnd::FirstZero } => (value.len(), size.saturating_sub(1)),
        Text::Bytes { size, .. } => (value.len(), size),
        Text::Characters { length, .. } => (value.chars().count(), length),
        Text::Index => (0, 0),
    };
    if len > most {
        let what = if matches!(text, Text::Characters { .. }) { "characters" } else { "bytes" };
        return Err(Refusal::text(format!("it has {len} {what}, and there is room for {most}")));
    }
    // A reader would find another end of the text.
    let is_lost = match text {
        Text::Bytes { end: TextEnd::Zeros, .. } | Text::Characters { .. } => value.ends_with('\0'),
        Text::Bytes { end: TextEnd::Blanks, .. } => value.ends_with(' '),
        Text::Bytes { end: TextEnd::FirstZero, .. } | Text::Index => value.contains('\0'),
    };
    if is_lost {
        let reason = "it has a zero or a blank where the stored text would end".to_owned();
        return Err(Refusal::text(reason));
    }
    match text {
        Text::Bytes { size, end } => {
            if end == TextEnd::Blanks {
                item[..size].fill(b' ');
            }
            item[..len].copy_from_slice(value.as_bytes());
        }
        Text::Characters { order, .. } => {
            for (code, c) in item.chunks_exact_mut(4).zip(value.chars()) {
                set_number(code, order, u32::from(c).into());
            }
        }
        Text::Index => {
            item[..size_of::<usize>()].copy_from_slice(&texts.len().to_ne_bytes());
            texts.extend_from_slice(value.as_bytes());
            texts.push(0);
        }
    }
    Ok(())
}
