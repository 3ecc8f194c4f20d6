//! Checks whether packed records on a device are values of a Rust type, before any of them is unpacked.

use core::ops::RangeInclusive;

use dtype_runtime::typemap::{Field, Node};
use dtype_runtime::{Datatype, Packed, TypeMap, Validity};

use crate::device::{Buffer, Queue};
use crate::driver::{Argument, Driver};
use crate::error::Error;
use crate::source::{Source, THREADS, define};

/// Enums with more ranges of discriminants than this are checked on the host.
const MAX_RANGES: usize = 64;

/// The greatest number of records in a launch. Record numbers have 32 bits.
const MAX_RECORDS: usize = 1 << 31;

/// Checks that `bytes` bytes of a buffer, from `at` on, are packed records of `T`. The bytes must lie in the buffer.
pub(crate) fn check<T: Datatype, D: Driver>(
    queue: &Queue<D>,
    (packed, at): (&Buffer<D>, u64),
    bytes: usize,
) -> Result<(), Error> {
    let (map, at) = (T::TYPE_MAP, at as usize);
    let record = map.size().max(1);
    if !bytes.is_multiple_of(record) {
        let (actual, record) = (bytes as u64, map.size() as u64);
        return Err(dtype_runtime::Error::PartialRecord { actual, record }.into());
    }
    if !map.is_restricted() || bytes == 0 {
        return Ok(());
    }
    let read = |start: usize, bytes: usize| {
        let mut records = vec![0; bytes];
        packed.read(queue, start, &mut records).map(|()| records)
    };
    let Some(source) = source(map) else {
        return Ok(Packed::<T>::new(&read(at, bytes)?).map(drop)?);
    };
    for first in (0..bytes / record).step_by(MAX_RECORDS) {
        let records = (bytes / record - first).min(MAX_RECORDS);
        let start = at + first * record;
        if let Some(invalid) = first_invalid(queue, packed, start, records, source.clone())? {
            let found = Packed::<T>::new(&read(start + invalid * record, record)?).map(drop);
            return found.map_err(|error| numbered(error, first + invalid).into());
        }
    }
    Ok(())
}

/// The error for a single record, with the record's number.
fn numbered(error: dtype_runtime::Error, number: usize) -> dtype_runtime::Error {
    match error {
        dtype_runtime::Error::InvalidValue { path, expected, value, .. } => {
            dtype_runtime::Error::InvalidValue { record: number, path, expected, value }
        }
        other => other,
    }
}

/// The number of the first record that is not valid.
fn first_invalid<D: Driver>(
    queue: &Queue<D>,
    packed: &Buffer<D>,
    at: usize,
    records: usize,
    source: Source,
) -> Result<Option<usize>, Error> {
    let (device, kernel) = (queue.device(), queue.device().kernel(source)?);
    let invalid = device.buffer(size_of::<u32>())?;
    invalid.write(queue, 0, &u32::MAX.to_ne_bytes())?;
    let arguments = [
        Argument::Memory(&packed.memory),
        Argument::Number(at as u64),
        Argument::Number(records as u64),
        Argument::Memory(&invalid.memory),
    ];
    let groups = records.div_ceil(THREADS as usize) as u32;
    // SAFETY: these are the arguments of the kernel, which reads the records, all of them in the buffer, and writes the number.
    unsafe { device.driver().launch(&queue.raw, &kernel, groups, &arguments) }?;
    let mut number = [0; size_of::<u32>()];
    invalid.read(queue, 0, &mut number)?;
    let number = u32::from_ne_bytes(number);
    Ok((number < u32::MAX).then_some(number as usize))
}

/// The kernel that checks records. `None` if only the host can check them: functions of `#[dtype(check = …)]`, numbers of 128
/// bits, and enums with very many discriminants.
pub(crate) fn source(map: &TypeMap) -> Option<Source> {
    let mut tests = Tests { text: String::new(), depth: 0 };
    if cfg!(target_endian = "big") || !tests.add(map, 0) {
        return None;
    }
    let body = include_str!("kernels/check.c").replace("/*steps*/", &tests.text);
    Some(Source { name: "check", threads: THREADS, body: define("SIZE", map.size()) + &body })
}

/// The statements that test a record.
struct Tests {
    text: String,
    /// The number of loops around the next statement. `p0` points to the record, `p1` to the element of the outermost loop.
    depth: usize,
}

impl Tests {
    fn line(&mut self, text: &str) {
        self.text += &"    ".repeat(self.depth + 1);
        self.text += text;
        self.text.push('\n');
    }

    /// Adds the tests of a value that lies `position` packed bytes after the pointer. Returns whether a device can perform
    /// them.
    fn add(&mut self, map: &TypeMap, position: usize) -> bool {
        if !map.is_restricted() {
            return true;
        }
        if map.has_check() {
            return false;
        }
        let depth = self.depth;
        match *map.node() {
            Node::Basic { basic, validity, .. } => {
                let Some(test) = test(validity).filter(|_| basic.size() <= 8) else { return false };
                self.line(&format!("v = value(p{depth} + {position}, {});", basic.size()));
                self.line(&format!("is_valid &= {test};"));
                true
            }
            Node::Array { count, element } => {
                let (size, inner) = (element.size(), depth + 1);
                self.line(&format!(
                    "for (u64 i{inner} = 0; i{inner} < {count}; i{inner}++) {{ \
                     GLOBAL const u8 *p{inner} = p{depth} + {position} + i{inner} * {size};"
                ));
                self.depth = inner;
                let added = self.add(element, 0);
                self.depth = depth;
                self.line("}");
                added
            }
            Node::Structure { fields, .. } => {
                let mut position = position;
                fields.iter().filter_map(Field::map).all(|field| {
                    let start = position;
                    position += field.size();
                    self.add(field, start)
                })
            }
        }
    }
}

/// An expression that is true if the variable `v` is accepted.
fn test(validity: Validity) -> Option<String> {
    Some(match validity {
        Validity::Bool => "v <= 1".to_owned(),
        Validity::Char => "(v < 0xd800 || (v > 0xdfff && v <= 0x10ffff))".to_owned(),
        Validity::NonZero => "v != 0".to_owned(),
        Validity::AtMost(greatest) => format!("v <= {greatest}"),
        Validity::NotNan { infinity } => {
            // A NaN has the exponent of infinity and a fraction that is not zero.
            let all = infinity | ((1 << infinity.trailing_zeros()) - 1);
            format!("(v & {all:#x}) <= {infinity:#x}")
        }
        Validity::Enum(values) => {
            let ranges = ranges(values.values())?;
            let one = |range: &RangeInclusive<u64>| {
                let (first, more) = (range.start(), range.end() - range.start());
                format!("v - (u64){first:#x} <= (u64){more:#x}")
            };
            format!("({})", ranges.iter().map(one).collect::<Vec<_>>().join(" || "))
        }
        _ => return None,
    })
}

/// The numbers as ranges in ascending order.
fn ranges(values: &[u128]) -> Option<Vec<RangeInclusive<u64>>> {
    let mut values: Vec<u64> =
        values.iter().map(|value| u64::try_from(*value).ok()).collect::<Option<_>>()?;
    values.sort_unstable();
    let mut ranges: Vec<RangeInclusive<u64>> = Vec::new();
    for value in values {
        match ranges.last_mut() {
            Some(last) if value <= last.end().saturating_add(1) => *last = *last.start()..=value,
            _ => ranges.push(value..=value),
        }
    }
    (ranges.len() <= MAX_RANGES).then_some(ranges)
}
