//! `dtype pack` and `dtype unpack`: convert files by a type.
//!
//! A file of many instances is converted some megabytes at a time, whatever its length. So is a pipe, which reveals the number
//! of instances only at its end. Interleaving instances, and single large instances, are held in memory as a whole.

mod check;
mod memory;
mod sink;
mod windows;

use std::io::{self, Write};
use std::path::Path;

use dtype_runtime::{Buffer, BufferMut, convertor::Conversion};
use dtype_runtime::{Error, Type};

use crate::arguments::Layout;
use crate::failure::Failure;
use crate::forward::Forward;
use crate::input::{self, StandardInput};
use check::Checks;
use memory::Memory;
use sink::Sink;
use windows::{Window, Windows};

/// The number of packed bytes to convert at once.
const FRAGMENT: usize = 1 << 20;

/// The number of packed bytes up to which memory may be repeated any number of times, and how often it may be repeated beyond.
const MAX_REPEATED: u64 = 1 << 30;
const MAX_REPETITIONS: u64 = 1 << 10;

/// Packs a file, or instances as they arrive.
pub(crate) fn pack(
    layout: &Layout,
    stdin: &mut StandardInput,
    stdout: &mut impl Write,
) -> Result<(), Failure> {
    let Prepared { ty, conversion, checks } = Prepared::of("pack", layout, stdin)?;
    let refused = |error| Failure::refused("pack", error);
    let out_of_bounds = |error| outside("pack", error, layout.origin);
    let of = |count| Windows::of(&ty, layout.origin, count);
    let mut input = Forward::open(&layout.input, stdin)?;
    let len = match (input.file_len()?, layout.count) {
        // If instances interleave, one window has all of them.
        (None, None) if !windows::are_apart(&ty) => Some(input.bytes(0, u64::MAX)?.len() as u64),
        (len, _) => len,
    };
    let count = layout.count.or(len.map(|len| windows::fitting(&ty, layout.origin, len)));
    of(count.unwrap_or(1)).check(len.unwrap_or(u64::MAX)).map_err(out_of_bounds)?;
    let packed = packed_size(&conversion, count.unwrap_or(1)).map_err(refused)?;
    check_repetitions(packed, of(count.unwrap_or(1)).data_len())?;
    let mut windows = of(count.unwrap_or(u64::MAX));
    if let (Some(len), None) = (len, layout.count) {
        note_rest(&windows, len);
    }
    let sink = Sink::create(&layout.output, stdout)?;
    let conversion = &conversion;
    let mut packing =
        Packing { conversion, checks, sink, fragment: Vec::new(), position: 0, done: 0 };
    while let Some(next) = windows.clone().next() {
        let bytes = input.bytes(next.start, next.start.saturating_add(next.len))?;
        if bytes.len() as u64 == next.len {
            packing.window(&next, bytes)?;
            windows.next();
            continue;
        }
        // The input ends in this window.
        let len = input.end();
        let count = count.unwrap_or_else(|| windows::fitting(&ty, layout.origin, len));
        of(count).check(len).map_err(out_of_bounds)?;
        if let Some(window) = windows.window(count.saturating_sub(windows.done())) {
            let bytes = input.bytes(window.start, window.start + window.len)?;
            packing.window(&window, bytes)?;
        }
        note_rest(&of(count), input.end());
        break;
    }
    packing.sink.finish()
}

/// Refuses instances that would repeat a few bytes of memory for hours.
fn check_repetitions(packed: u64, memory: u64) -> Result<(), Failure> {
    if packed <= MAX_REPEATED || packed / MAX_REPETITIONS <= memory {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "cannot pack: {memory} bytes of memory become {packed} packed bytes; beyond {MAX_REPEATED}, each byte can be \
         packed at most {MAX_REPETITIONS} times"
    )))
}

/// Prints how many bytes at the end of the input are not packed, if any.
fn note_rest(windows: &Windows, len: u64) {
    let left = i128::from(len) - windows.used();
    if left > 0 {
        let (which, why) = if windows.has_data() {
            ("trailing ", "less than one instance")
        } else {
            ("", "the type has no data")
        };
        // A note that cannot be written is not an error.
        let _ = writeln!(io::stderr(), "note: ignored {left} {which}bytes ({why})");
    }
}

/// Packs windows one after another.
struct Packing<'a, W> {
    conversion: &'a Conversion,
    checks: Option<Checks>,
    sink: Sink<'a, W>,
    fragment: Vec<u8>,
    /// Packed bytes so far.
    position: u64,
    /// Instances so far.
    done: u64,
}

impl<W: Write> Packing<'_, W> {
    /// Packs the instances of a window with these bytes.
    fn window(&mut self, window: &Window, bytes: &[u8]) -> Result<(), Failure> {
        let refused = |error| Failure::refused("pack", error);
        if let Some(checks) = &mut self.checks {
            checks.window("pack", window, bytes, self.done)?;
        }
        self.done += window.count as u64;
        let memory = Buffer::new(bytes).origin(window.origin as i64);
        let mut packer = self.conversion.packer(memory, window.count).map_err(refused)?;
        let first = self.position;
        while !packer.is_complete() {
            let room = usize::try_from(packer.remaining()).unwrap_or(FRAGMENT).min(FRAGMENT);
            let packed = packer.pack(resized(&mut self.fragment, room as u64)?);
            let packed = packed.map_err(|error| refused(later(error, first)))?;
            self.sink.write(&self.fragment[..packed])?;
            self.position += packed as u64;
        }
        Ok(())
    }
}

/// Unpacks a file, or instances as they arrive. Gaps keep the bytes of another file.
pub(crate) fn unpack(
    layout: &Layout,
    over: Option<&Path>,
    stdin: &mut StandardInput,
    stdout: &mut impl Write,
) -> Result<(), Failure> {
    let Prepared { ty, conversion, checks } = Prepared::of("unpack", layout, stdin)?;
    let refused = |error| Failure::refused("unpack", error);
    let of = |count| Windows::of(&ty, layout.origin, count);
    let record = packed_size(&conversion, 1).map_err(refused)?;
    let given = layout.count.map(|count| packed_size(&conversion, count)).transpose();
    let given = given.map_err(refused)?;
    let mut input = Forward::open(&layout.input, stdin)?;
    let len = match input.file_len()? {
        // If instances interleave, one window has all of them.
        None if record == 0 || !windows::are_apart(&ty) => {
            let end = given.map_or(u64::MAX, |given| given.saturating_add(1));
            Some(input.bytes(0, end)?.len() as u64)
        }
        len => len,
    };
    let partial = |actual| match actual {
        0 => Ok(0),
        _ if record == 0 || actual % record != 0 => Err(Error::PartialRecord { actual, record }),
        _ => Ok(actual / record),
    };
    let count = match (layout.count, len) {
        (Some(count), _) => Some(count),
        (None, len) => len.map(partial).transpose().map_err(refused)?,
    };
    let expected = count.map(|count| packed_size(&conversion, count)).transpose();
    let expected = expected.map_err(refused)?;
    let mismatch = |expected, actual| Err(refused(Error::PackedLength { expected, actual }));
    if let (Some(expected), Some(actual)) = (expected, len.filter(|len| Some(*len) != expected)) {
        return mismatch(expected, actual);
    }
    let checked = of(count.unwrap_or(1)).check(u64::MAX);
    checked.map_err(|error| outside("unpack", error, layout.origin))?;
    let mut windows = of(count.unwrap_or(u64::MAX));
    let memory = Memory::create(&layout.output, stdout, over)?;
    let conversion = &conversion;
    let mut unpacking =
        Unpacking { conversion, checks, memory, bytes: Vec::new(), position: 0, done: 0 };
    loop {
        let (position, mut next) = (unpacking.position, windows.next_count());
        if len.is_none() {
            let end = position.saturating_add(next.saturating_mul(record));
            let here = input.bytes(position, end)?.len() as u64;
            if position + here < end {
                let actual = input.end();
                if let Some(expected) = expected {
                    return mismatch(expected, actual);
                }
                partial(actual).map_err(refused)?;
                next = here / record;
            }
        }
        let Some(window) = windows.window(next) else { break };
        unpacking.window(&window, &mut input)?;
    }
    if let Some(expected) = expected
        && !input.bytes(expected, expected.saturating_add(1))?.is_empty()
    {
        return mismatch(expected, expected + 1);
    }
    let len = of(windows.done()).span_end(&ty);
    unpacking.memory.finish(len)
}

/// Unpacks windows one after another.
struct Unpacking<'a, W> {
    conversion: &'a Conversion,
    checks: Option<Checks>,
    memory: Memory<'a, W>,
    bytes: Vec<u8>,
    /// Packed bytes so far.
    position: u64,
    /// Instances so far.
    done: u64,
}

impl<W: Write> Unpacking<'_, W> {
    /// Unpacks the instances of a window.
    fn window(&mut self, window: &Window, packed: &mut Forward) -> Result<(), Failure> {
        let refused = |error| Failure::refused("unpack", error);
        let &Window { start, len, origin, count } = window;
        self.memory.read(start, resized(&mut self.bytes, len)?)?;
        let to = BufferMut::new(&mut self.bytes).origin(origin as i64);
        let mut unpacker = self.conversion.unpacker(to, count).map_err(refused)?;
        let first = self.position;
        while !unpacker.is_complete() {
            let room = usize::try_from(unpacker.remaining()).unwrap_or(FRAGMENT).min(FRAGMENT);
            let end = self.position.saturating_add(room as u64);
            let bytes = packed.bytes(self.position, end)?;
            if bytes.is_empty() {
                // The file has become shorter while it was read.
                let (expected, actual) = (end, self.position);
                return Err(refused(Error::PackedLength { expected, actual }));
            }
            let unpacked = unpacker.unpack(bytes);
            let unpacked = unpacked.map_err(|error| refused(later(error, first)))?;
            self.position += unpacked as u64;
        }
        drop(unpacker);
        if let Some(checks) = &mut self.checks {
            checks.window("unpack", window, &self.bytes, self.done)?;
        }
        self.done += count as u64;
        self.memory.write(start, &self.bytes)
    }
}

/// A type, and how its values are checked and converted.
struct Prepared {
    ty: Type,
    conversion: Conversion,
    /// What must hold for the values.
    checks: Option<Checks>,
}

impl Prepared {
    fn of(
        action: &'static str,
        layout: &Layout,
        stdin: &mut StandardInput,
    ) -> Result<Self, Failure> {
        let parsed = input::ty(&layout.ty, "TYPE", stdin)?;
        let committed = parsed.ty.commit();
        let conversion = committed.conversion(layout.representation.representation());
        let conversion = conversion.map_err(|error| Failure::refused(action, error))?;
        let checks = Checks::of(&parsed, &committed);
        Ok(Self { ty: parsed.ty, conversion, checks })
    }
}

/// The number of packed bytes of `count` instances.
fn packed_size(conversion: &Conversion, count: u64) -> Result<u64, Error> {
    let one = conversion.packed_size(1)? as u64;
    let all = usize::try_from(count).ok().map(|count| conversion.packed_size(count));
    all.unwrap_or(Err(Error::CountTooLarge { count, size: one })).map(|size| size as u64)
}

/// Converts the positions in an error from those in a part of the stream to those in the whole stream.
fn later(error: Error, bytes: u64) -> Error {
    match error {
        Error::IntegerRange { position, value, bytes: width } => {
            Error::IntegerRange { position: position + bytes, value, bytes: width }
        }
        Error::FloatRange { position, format } => {
            Error::FloatRange { position: position + bytes, format }
        }
        other => other,
    }
}

/// The failure for a refused operation, with a suggestion if data are outside the memory.
fn outside(action: &'static str, error: Error, origin: u64) -> Failure {
    let help = match error {
        Error::OutOfBounds { start, .. } if start < 0 => {
            return Failure::before_start(action, start, origin);
        }
        Error::OutOfBounds { .. } => Some(
            "set the number of instances with `--count`, the position of the first with `--origin`"
                .into(),
        ),
        _ => None,
    };
    Failure::Refused { action, error, help }
}

/// Resizes the buffer to `len` bytes. Existing bytes are kept.
fn resized(buffer: &mut Vec<u8>, len: u64) -> Result<&mut [u8], Failure> {
    let length = usize::try_from(len).map_err(|_| Failure::Memory(len))?;
    let more = length.saturating_sub(buffer.len());
    buffer.try_reserve_exact(more).map_err(|_| Failure::Memory(len))?;
    buffer.resize(length, 0);
    Ok(buffer)
}
