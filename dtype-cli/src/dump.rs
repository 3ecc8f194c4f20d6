//! `dtype dump`: the records of a file.
//!
//! Records are read one at a time, so that the memory in use depends on the type and not on the length of the file.

mod columns;
mod csv;
mod hex;
mod json;
mod meant;
mod table;
mod values;

use std::io::{self, Read, Write};
use std::path::Path;

use dtype_runtime::Representation;

use crate::arguments::{Dump, DumpForm, Values as Represented};
use crate::dataset;
use crate::failure::{Failure, shown};
use crate::forward::Forward;
use crate::input::{self, StandardInput};
use crate::npy::{self, Items, MAGIC};
use crate::range::RecordRange;
use crate::records::{Place, Places, Values};
use crate::shape::Shape;
use dtype_text::notation::Parsed;

pub(crate) use json::Lines;
pub(crate) use table::Table;

/// Prints the records of a file.
pub(crate) fn dump(
    options: &Dump,
    stdin: &mut StandardInput,
    colour: bool,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let (ty, path) = options.type_and_input()?;
    let (source, mut input) = if let Some(ty) = ty {
        let read = if options.packed { input::packed_ty } else { input::ty };
        let parsed = read(ty, "TYPE", stdin)?;
        let representation = options.representation.representation();
        let source = Source { parsed, origin: options.origin, representation, items: None };
        (source, Forward::open(path, stdin)?)
    } else {
        let mut input = match dataset::open(path)? {
            Some(dataset) => Forward::over(dataset, path),
            None => Forward::open(path, stdin)?,
        };
        (own_type(options, path, &mut input)?, input)
    };
    let Source { parsed, origin, representation, items } = source;
    let shape = Shape::of(&parsed);
    let (places, values) = if options.packed {
        let record = parsed.ty.commit().conversion(representation);
        let record = record.and_then(|conversion| conversion.packed_size(1));
        let record = record.map_err(|error| Failure::refused("dump", error))?;
        let values = Values::packed(&shape, representation)?;
        (Places::packed(&parsed.ty, record as u64)?, values)
    } else {
        let values = Values::in_memory(&parsed.ty, &shape, representation)?;
        (Places::in_memory(&parsed.ty, origin)?, values)
    };
    let mut printer: Box<dyn Printer> = match options.form {
        _ if options.json => Box::new(Lines::new(&shape, None)),
        DumpForm::Table => Box::new(Table::new(&shape, colour)?),
        DumpForm::Csv => Box::new(csv::Lines::new(&shape)?),
        DumpForm::Json => Box::new(Lines::new(&shape, None)),
        DumpForm::Hex => {
            let packed = options.packed.then_some(representation);
            Box::new(hex::View::new(&parsed, &shape, &places, packed, colour)?)
        }
    };
    let range = options.records.unwrap_or_default();
    let mut records = Records { parsed: &parsed, places, values, range, items };
    let result = records.print(&mut input, &mut *printer, out);
    // Records before a mistake are printed as well.
    printer.finish(out)?;
    result
}

/// The records of a file in memory.
struct Source {
    parsed: Parsed,
    /// The position of the first record's displacement 0.
    origin: u64,
    representation: Representation,
    /// The number of records, if it does not follow from the file's length.
    items: Option<u64>,
}

/// The records of a file that contains their type.
fn own_type(options: &Dump, path: &Path, input: &mut Forward) -> Result<Source, Failure> {
    let path = shown(path);
    if options.packed || options.origin != 0 || options.representation != Represented::Native {
        let message = "`--packed`, `--origin` and `--representation` go with a TYPE";
        return Err(Failure::Usage(message.into()));
    }
    if input.bytes(0, MAGIC.len() as u64)? != MAGIC {
        return Err(Failure::Usage(format!(
            "{path} has no type of its own, as `.npy` files have\nhelp: `dtype dump TYPE {path}`"
        )));
    }
    let mut reader = Reader { input, at: 0 };
    let Items { parsed, order, count } = npy::items(&mut reader, 4)?;
    let representation = order.map_or(Representation::Native, Representation::from);
    Ok(Source { parsed, origin: reader.at, representation, items: Some(count) })
}

/// The bytes of an input, from an offset on.
struct Reader<'a> {
    input: &'a mut Forward,
    at: u64,
}

impl Read for Reader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = self.input.bytes(self.at, self.at.saturating_add(out.len() as u64));
        let bytes = bytes.map_err(|failure| io::Error::other(failure.to_string()))?;
        out[..bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }
}

/// The records to print.
struct Records<'a> {
    parsed: &'a Parsed,
    places: Places,
    values: Values,
    range: RecordRange,
    /// The number of records according to the input.
    items: Option<u64>,
}

impl Records<'_> {
    fn print(
        &mut self,
        input: &mut Forward,
        printer: &mut dyn Printer,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        printer.begin(out)?;
        let RecordRange { start, end } = self.range;
        // The last number is beyond the end of any input.
        for record in start..=u64::MAX {
            if Some(record) == end || self.items.is_some_and(|items| record >= items) {
                break;
            }
            let place = self.places.of(record);
            let read = place.map_or((u64::MAX, u64::MAX), read_of);
            let bytes = input.bytes(read.0, read.1)?;
            let data = place.filter(|place| read.0 + bytes.len() as u64 >= place.data.1);
            let Some(place) = data else { return self.end(input, record) };
            // The record is near the part of the input in memory, which starts at `read.0`, so the difference fits.
            let origin = i64::try_from(place.base - i128::from(read.0)).unwrap_or(i64::MAX);
            let values = self.values.of(&self.parsed.ty, bytes, origin);
            let values = values.map_err(|error| Failure::Record { record, error })?;
            printer.record(&Record { number: record, place, bytes, from: read.0, values }, out)?;
        }
        Ok(())
    }

    /// The error or the end for an input that does not have the given record.
    fn end(&self, input: &Forward, record: u64) -> Result<(), Failure> {
        let (len, start) = (input.end(), self.range.start);
        if record == start {
            let origin = self.places.origin();
            let (ends_before, what) = match start.checked_sub(1) {
                None => (origin > len.into(), format!("byte {origin}, the origin")),
                Some(before) => {
                    let place = self.places.of(before);
                    (place.is_none_or(|place| place.data.1 > len), format!("record {start}"))
                }
            };
            if ends_before {
                let message = format!("the input has {len} bytes and ends before {what}");
                return Err(Failure::Usage(message));
            }
        }
        match (self.places.remaining(record, len), self.items) {
            (0, Some(items)) => {
                let message =
                    format!("the input ends after {record} of the {items} records in its header");
                Err(Failure::Usage(message))
            }
            (0, None) => Ok(()),
            (remaining, _) => {
                let offset = len - remaining;
                let expected = self.places.needed(record, offset);
                Err(Failure::Partial { record, offset, remaining, expected })
            }
        }
    }
}

/// The range of bytes to read for a record: its data and the padding around them.
fn read_of(place: Place) -> (u64, u64) {
    (place.whole.0.min(place.data.0), place.whole.1.max(place.data.1))
}

/// A record that was read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Record<'a> {
    number: u64,
    /// The record's values, in native form and packed.
    values: &'a [u8],
    place: Place,
    /// The part of the input around the record, and the offset of that part.
    bytes: &'a [u8],
    from: u64,
}

impl<'a> Record<'a> {
    /// A record of which only the values are known. The hexadecimal view cannot print it.
    pub(crate) fn of(number: u64, values: &'a [u8]) -> Self {
        Self { number, values, ..Self::default() }
    }
}

/// Prints records in one of the forms.
pub(crate) trait Printer {
    /// Prints what comes before the records.
    fn begin(&mut self, _out: &mut dyn Write) -> Result<(), Failure> {
        Ok(())
    }

    fn record(&mut self, record: &Record<'_>, out: &mut dyn Write) -> Result<(), Failure>;

    /// Prints what was held back until the end of the records.
    fn finish(&mut self, _out: &mut dyn Write) -> Result<(), Failure> {
        Ok(())
    }
}
