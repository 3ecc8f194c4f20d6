//! `.npy` and `.npz` files: any bytes, and headers made of words that headers have.
//!
//! A header that is written and read again is the same, with all of its formats. Records equal those that a loop over the items
//! finds, field by field. The memory for a file is proportional to its length, and that for an archive within its budget.

use std::collections::HashMap;
use std::io::{Cursor, Read};

use dtype_npy::{Budget, Dtype, Header, Kind, Npz};
use dtype_runtime::representation::ByteOrder;
use dtype_runtime::{Datatype, pack};
use dtype_test_support::counting::max_in_use;

/// The words of headers.
const WORDS: &[&str] = &[
    "{'descr': ",
    "'fortran_order': ",
    "'shape': ",
    "True",
    "False",
    ", ",
    "}",
    "[",
    "]",
    "(",
    ")",
    "'<u4'",
    "'>u4'",
    "'|u1'",
    "'|b1'",
    "'<f8'",
    "'|V3'",
    "'<U1'",
    "('id', ",
    "('on', ",
    "('', ",
    "('at', ",
    "('pair', ",
    "2",
    "0",
    "1,",
    "18446744073709551615",
    "9223372036854775807",
    ",)",
    "'",
    "\\x",
    "\n",
    "'<M8[ns]'",
    "'>m8[",
    "25",
    "D",
    "]'",
    "('a\\n', ",
];

#[derive(Datatype, Clone, Debug, PartialEq)]
#[repr(C)]
struct Record {
    id: u32,
    on: bool,
    at: [u32; 2],
    pair: (u8, f64),
}

/// Reads the bytes as a file.
///
/// # Panics
///
/// If a check fails.
pub fn run(input: &[u8]) {
    read(input);
    archive(input);
    // A header made of words. The rest of the input is data.
    let Some((number, rest)) = input.split_first() else { return };
    let (words, data) = rest.split_at(usize::from(*number).min(rest.len()));
    let text: String = words.iter().map(|word| WORDS[usize::from(*word) % WORDS.len()]).collect();
    let mut file = b"\x93NUMPY\x02\x00".to_vec();
    file.extend((text.len() as u32).to_le_bytes());
    file.extend(text.bytes());
    file.extend(data);
    read(&file);
    if let Ok(header) = Header::read(&file[..]) {
        check_dates(&text, &header);
    }
}

/// Checks that the dtype keeps the units of dates. An array with lost units would be read as equal, and mean another time.
fn check_dates(text: &str, header: &Header) {
    let text: String = text.split_ascii_whitespace().collect();
    // A title comes before the name of a field. It is not kept, and may be any text.
    if text.contains("((") {
        return;
    }
    let dtype = header.dtype.to_string();
    for date in ["<M8[ns]", ">m8[D]", ">m8[25D]"] {
        assert!(!text.contains(date) || dtype.contains(date), "{text} is read as {dtype}");
    }
}

fn read(file: &[u8]) {
    let (most, header) = max_in_use(|| Header::read(file));
    assert!(most <= 256 * file.len() + 8192, "{most} bytes of memory for {}", file.len());
    let (most, records) = max_in_use(|| dtype_npy::read::<Record>(file));
    assert!(most <= 256 * file.len() + (1 << 16), "{most} bytes of memory for {}", file.len());
    let view = dtype_npy::view::<Record>(file);
    let header = match header {
        Ok(header) => header,
        Err(error) => {
            let _ = format!("{error} {error:?}");
            assert!(records.is_err() && view.is_err());
            return;
        }
    };
    if let Ok(bytes) = header.to_bytes() {
        let again = Header::read(&bytes[..]).expect("it was just written");
        assert_eq!((&again.shape, again.fortran_order), (&header.shape, header.fortran_order));
        assert_eq!(again.dtype, header.dtype);
    }
    if let (Ok(records), Ok(view)) = (&records, &view) {
        assert_eq!(pack(records), pack(view));
    }
    match records {
        Ok(records) => assert_eq!(by_hand(file, &header), pack(&records)),
        Err(error) => drop(format!("{error} {error:?}")),
    }
}

/// The packed records, by a loop over the items of a file that was accepted.
fn by_hand(file: &[u8], header: &Header) -> Vec<u8> {
    let width = if file[6] == 1 { 2 } else { 4 };
    let mut length = [0; 4];
    length[..width].copy_from_slice(&file[8..8 + width]);
    let data = &file[8 + width + u32::from_le_bytes(length) as usize..];
    let count = header.items().expect("they were read");
    let itemsize = header.dtype.itemsize() as usize;
    let mut out = Vec::new();
    let place = |i| if header.fortran_order { in_fortran_order(i, &header.shape) } else { i };
    for item in (0..count).map(place).map(|i| &data[i * itemsize..(i + 1) * itemsize]) {
        let fields = fields(&header.dtype);
        for path in ["id", "on", "at", "pair"] {
            let (offset, dtype) = fields[path];
            if path == "pair" {
                let inner = self::fields(dtype);
                for path in ["0", "1"] {
                    let (inside, dtype) = inner[path];
                    value(&item[offset + inside..], dtype, &mut out);
                }
            } else {
                value(&item[offset..], dtype, &mut out);
            }
        }
    }
    out
}

/// The number in Fortran order of the item with a number in C order.
fn in_fortran_order(mut number: usize, shape: &[u64]) -> usize {
    let mut indexes = Vec::new();
    for length in shape.iter().rev() {
        indexes.push(number % *length as usize);
        number /= *length as usize;
    }
    // The last index is first now, and the first one changes fastest.
    indexes
        .iter()
        .zip(shape.iter().rev())
        .fold(0, |all, (index, length)| all * *length as usize + index)
}

/// Memory that records of an archive may take, and that its reader takes whatever is in it.
const BUDGET: usize = 1 << 18;
const FIXED: usize = 1 << 19;

/// Reads the bytes as an archive. An array is read as the file that it is.
fn archive(file: &[u8]) {
    let open = || Npz::with_budget(Cursor::new(file), Budget::new(BUDGET, 1000));
    let (most, all) = max_in_use(open);
    assert!(most <= BUDGET + FIXED, "{most} bytes of memory");
    let Ok(all) = all else { return };
    for name in all.names() {
        let (most, records) = max_in_use(|| all.read::<Record>(name));
        assert!(most <= 3 * BUDGET + FIXED, "{most} bytes of memory");
        let Ok(bytes) = all.array(name) else { continue };
        let mut array = Vec::new();
        let read = bytes.take(BUDGET as u64).read_to_end(&mut array);
        match (records, dtype_npy::read::<Record>(&array[..])) {
            (Ok(records), Ok(same)) => assert_eq!(pack(&records), pack(&same)),
            (Ok(_), Err(error)) => assert!(read.is_err() || array.len() == BUDGET, "{error}"),
            (Err(error), _) => drop(format!("{error} {error:?}")),
        }
    }
}

fn fields(dtype: &Dtype) -> HashMap<&str, (usize, &Dtype)> {
    let Kind::Structure { fields } = dtype.kind() else { panic!("{dtype} was accepted") };
    fields.iter().map(|field| (&*field.name, (field.offset as usize, &field.dtype))).collect()
}

/// Appends the bytes of a scalar or of an array of scalars in this machine's order.
fn value(bytes: &[u8], dtype: &Dtype, out: &mut Vec<u8>) {
    let (element, size) = match dtype.kind() {
        Kind::Array { element, .. } => (&**element, dtype.itemsize() as usize),
        _ => (dtype, dtype.itemsize() as usize),
    };
    let Kind::Scalar { order, .. } = element.kind() else { panic!("{dtype} was accepted") };
    for value in bytes[..size].chunks(element.itemsize() as usize) {
        if order.is_some_and(|order| order != ByteOrder::NATIVE) {
            out.extend(value.iter().rev());
        } else {
            out.extend(value);
        }
    }
}
