//! `dtype pack` and `dtype unpack`: files converted by a type.
//!
//! A file of many instances is converted some megabytes at a time, whatever its length, and so is a pipe, in which the
//! number of instances is not known before its end. Instances that interleave, and single large instances, are held in
//! memory as a whole.

mod memory;
mod progress;
mod sink;
mod source;
mod windows;

use std::io::Write;
use std::path::Path;

use dtype_runtime::{Buffer, BufferMut, convertor::Conversion};
use dtype_runtime::{Error, Representation, Type};

use crate::arguments::{Layout, Values};
use crate::failure::Failure;
use crate::forward::Forward;
use crate::input::{self, StandardInput};
use memory::Memory;
use progress::Progress;
use sink::Sink;
use source::Source;
use windows::{Window, Windows};

/// The number of packed bytes to convert at once.
const FRAGMENT: usize = 1 << 20;

/// Packs a file.
pub(crate) fn pack(
    layout: &Layout,
    stdin: &mut StandardInput,
    stdout: &mut impl Write,
) -> Result<(), Failure> {
    let Prepared { ty, conversion } = Prepared::of("pack", layout, stdin)?;
    let refused = |error| Failure::refused("pack", error);
    if windows::are_apart(&ty) && !source::is_file(&layout.input) {
        return pack_stream(layout, &ty, &conversion, stdin, stdout);
    }
    let needed = layout.count.map(|count| Windows::of(&ty, layout.origin, count).end());
    let mut memory = Source::open(&layout.input, needed, stdin)?;
    let count = match layout.count {
        Some(count) => count,
        None => windows::fitting(&ty, layout.origin, memory.len()),
    };
    let windows = Windows::of(&ty, layout.origin, count);
    windows.check(memory.len()).map_err(|error| outside("pack", error, layout.origin))?;
    let total = packed_size(&conversion, count).map_err(refused)?;
    let progress = Progress::new("packing", Some(total));
    if layout.count.is_none() {
        note_rest(&windows, memory.len(), &progress);
    }
    let mut packing = Packing::new(&conversion, Sink::create(&layout.output, stdout)?, progress);
    let mut bytes = Vec::new();
    for window in windows {
        memory.read(window.start, resized(&mut bytes, window.len)?, &layout.input)?;
        packing.window(&window, &bytes)?;
    }
    packing.sink.finish()
}

/// Packs instances as they arrive, each after the previous one.
fn pack_stream(
    layout: &Layout,
    ty: &Type,
    conversion: &Conversion,
    stdin: &mut StandardInput,
    stdout: &mut impl Write,
) -> Result<(), Failure> {
    let refused = |error| Failure::refused("pack", error);
    let out_of_bounds = |error| outside("pack", error, layout.origin);
    let of = |count| Windows::of(ty, layout.origin, count);
    of(layout.count.unwrap_or(1)).check(u64::MAX).map_err(out_of_bounds)?;
    let total = layout.count.map(|count| packed_size(conversion, count)).transpose();
    let progress = Progress::new("packing", total.map_err(refused)?);
    let mut windows = of(layout.count.unwrap_or(u64::MAX));
    let mut input = Forward::open(&layout.input, stdin)?;
    let mut packing = Packing::new(conversion, Sink::create(&layout.output, stdout)?, progress);
    while let Some(next) = windows.clone().next() {
        let bytes = input.bytes(next.start, next.start.saturating_add(next.len))?;
        if bytes.len() as u64 == next.len {
            packing.window(&next, bytes)?;
            windows.next();
            continue;
        }
        // The input ends in this window.
        let len = input.end();
        let count = layout.count.unwrap_or_else(|| windows::fitting(ty, layout.origin, len));
        of(count).check(len).map_err(out_of_bounds)?;
        if let Some(window) = windows.window(count.saturating_sub(windows.done())) {
            let bytes = input.bytes(window.start, window.start + window.len)?;
            packing.window(&window, bytes)?;
        }
        note_rest(&of(count), input.end(), &packing.progress);
        break;
    }
    packing.sink.finish()
}

/// Says how many bytes at the end of the input are not packed, if any.
fn note_rest(windows: &Windows, len: u64, progress: &Progress) {
    let left = i128::from(len) - windows.used();
    if left > 0 {
        let (which, why) = if windows.has_data() {
            ("trailing ", "less than one instance")
        } else {
            ("", "the type has no data")
        };
        progress.note(&format!("ignored {left} {which}bytes ({why})"));
    }
}

/// Packs windows one after another.
struct Packing<'a, W> {
    conversion: &'a Conversion,
    sink: Sink<'a, W>,
    progress: Progress,
    fragment: Vec<u8>,
    /// Packed bytes so far.
    position: u64,
}

impl<'a, W: Write> Packing<'a, W> {
    fn new(conversion: &'a Conversion, sink: Sink<'a, W>, progress: Progress) -> Self {
        Self { conversion, sink, progress, fragment: Vec::new(), position: 0 }
    }

    /// Packs the instances of a window, whose bytes these are.
    fn window(&mut self, window: &Window, bytes: &[u8]) -> Result<(), Failure> {
        let refused = |error| Failure::refused("pack", error);
        let memory = Buffer::new(bytes).origin(window.origin as i64);
        let mut packer = self.conversion.packer(memory, window.count).map_err(refused)?;
        let first = self.position;
        while !packer.is_complete() {
            let room = usize::try_from(packer.remaining()).unwrap_or(FRAGMENT).min(FRAGMENT);
            let packed = packer.pack(resized(&mut self.fragment, room as u64)?);
            let packed = packed.map_err(|error| refused(later(error, first)))?;
            self.sink.write(&self.fragment[..packed])?;
            self.position += packed as u64;
            self.progress.at(self.position);
        }
        Ok(())
    }
}

/// Unpacks a file. Gaps keep the bytes of another file.
pub(crate) fn unpack(
    layout: &Layout,
    over: Option<&Path>,
    stdin: &mut StandardInput,
    stdout: &mut impl Write,
) -> Result<(), Failure> {
    let Prepared { ty, conversion } = Prepared::of("unpack", layout, stdin)?;
    let refused = |error| Failure::refused("unpack", error);
    let record = packed_size(&conversion, 1).map_err(refused)?;
    if record > 0 && windows::are_apart(&ty) && !source::is_file(&layout.input) {
        return unpack_stream(layout, over, &ty, &conversion, stdin, stdout);
    }
    let given = layout.count.map(|count| packed_size(&conversion, count)).transpose();
    let given = given.map_err(refused)?;
    let packed =
        Source::open(&layout.input, given.map(|size| size.saturating_add(1).into()), stdin)?;
    let count = match (layout.count, packed.len().checked_rem(record)) {
        (Some(count), _) => count,
        (None, Some(0)) => packed.len() / record,
        (None, None) if packed.len() == 0 => 0,
        (None, _) => {
            return Err(refused(Error::PartialRecord { actual: packed.len(), record }));
        }
    };
    let (expected, actual) = (packed_size(&conversion, count).map_err(refused)?, packed.len());
    if expected != actual {
        return Err(refused(Error::PackedLength { expected, actual }));
    }
    let windows = Windows::of(&ty, layout.origin, count);
    windows.check(u64::MAX).map_err(|error| outside("unpack", error, layout.origin))?;
    let (len, in_order) = (windows.span_end(&ty), windows::are_apart(&ty));
    let progress = Progress::new("unpacking", Some(expected));
    let memory = Memory::create(&layout.output, stdout, in_order, over)?;
    let mut unpacking = Unpacking::new(&conversion, memory, progress);
    let mut packed = Fragments { source: packed, path: &layout.input, fragment: Vec::new() };
    for window in windows {
        unpacking.window(&window, &mut packed)?;
    }
    unpacking.memory.finish(len)
}

/// Unpacks instances as they arrive, each after the previous one.
fn unpack_stream(
    layout: &Layout,
    over: Option<&Path>,
    ty: &Type,
    conversion: &Conversion,
    stdin: &mut StandardInput,
    stdout: &mut impl Write,
) -> Result<(), Failure> {
    let refused = |error| Failure::refused("unpack", error);
    let of = |count| Windows::of(ty, layout.origin, count);
    let record = packed_size(conversion, 1).map_err(refused)?;
    let given = layout.count.map(|count| packed_size(conversion, count)).transpose();
    let given = given.map_err(refused)?;
    let checked = of(layout.count.unwrap_or(1)).check(u64::MAX);
    checked.map_err(|error| outside("unpack", error, layout.origin))?;
    let progress = Progress::new("unpacking", given);
    let mut windows = of(layout.count.unwrap_or(u64::MAX));
    let mut input = Forward::open(&layout.input, stdin)?;
    let memory = Memory::create(&layout.output, stdout, true, over)?;
    let mut unpacking = Unpacking::new(conversion, memory, progress);
    loop {
        let (position, next) = (unpacking.position, windows.next_count());
        let end = position.saturating_add(next.saturating_mul(record));
        let here = input.bytes(position, end)?.len() as u64;
        if position + here < end {
            let actual = input.end();
            if let Some(expected) = given {
                return Err(refused(Error::PackedLength { expected, actual }));
            }
            if actual % record != 0 {
                return Err(refused(Error::PartialRecord { actual, record }));
            }
        }
        let Some(window) = windows.window(here / record) else { break };
        unpacking.window(&window, &mut input)?;
    }
    if let Some(expected) = given
        && !input.bytes(expected, expected.saturating_add(1))?.is_empty()
    {
        return Err(refused(Error::PackedLength { expected, actual: expected + 1 }));
    }
    let len = of(windows.done()).span_end(ty);
    unpacking.memory.finish(len)
}

/// Packed bytes that are read one after another.
trait PackedBytes {
    /// The `len` bytes at a position, which must be in the input.
    fn bytes(&mut self, position: u64, len: usize) -> Result<&[u8], Failure>;
}

impl PackedBytes for Forward {
    fn bytes(&mut self, position: u64, len: usize) -> Result<&[u8], Failure> {
        Self::bytes(self, position, position.saturating_add(len as u64))
    }
}

/// The packed bytes of a source.
struct Fragments<'a> {
    source: Source,
    path: &'a Path,
    fragment: Vec<u8>,
}

impl PackedBytes for Fragments<'_> {
    fn bytes(&mut self, position: u64, len: usize) -> Result<&[u8], Failure> {
        let fragment = resized(&mut self.fragment, len as u64)?;
        self.source.read(position, fragment, self.path)?;
        Ok(fragment)
    }
}

/// Unpacks windows one after another.
struct Unpacking<'a, W> {
    conversion: &'a Conversion,
    memory: Memory<'a, W>,
    progress: Progress,
    bytes: Vec<u8>,
    /// Packed bytes so far.
    position: u64,
}

impl<'a, W: Write> Unpacking<'a, W> {
    fn new(conversion: &'a Conversion, memory: Memory<'a, W>, progress: Progress) -> Self {
        Self { conversion, memory, progress, bytes: Vec::new(), position: 0 }
    }

    /// Unpacks the instances of a window.
    fn window(&mut self, window: &Window, packed: &mut impl PackedBytes) -> Result<(), Failure> {
        let refused = |error| Failure::refused("unpack", error);
        let &Window { start, len, origin, count } = window;
        self.memory.read(start, resized(&mut self.bytes, len)?)?;
        let to = BufferMut::new(&mut self.bytes).origin(origin as i64);
        let mut unpacker = self.conversion.unpacker(to, count).map_err(refused)?;
        let first = self.position;
        while !unpacker.is_complete() {
            let room = usize::try_from(unpacker.remaining()).unwrap_or(FRAGMENT).min(FRAGMENT);
            let unpacked = unpacker.unpack(packed.bytes(self.position, room)?);
            let unpacked = unpacked.map_err(|error| refused(later(error, first)))?;
            self.position += unpacked as u64;
            self.progress.at(self.position);
        }
        drop(unpacker);
        self.memory.write(start, &self.bytes)
    }
}

/// A type, and how its values are converted.
struct Prepared {
    ty: Type,
    conversion: Conversion,
}

impl Prepared {
    fn of(
        action: &'static str,
        layout: &Layout,
        stdin: &mut StandardInput,
    ) -> Result<Self, Failure> {
        let ty = input::ty(&layout.ty, "TYPE", stdin)?.ty;
        let representation = match layout.representation {
            Values::Native => Representation::Native,
            Values::External32 => Representation::External32,
            Values::Little => Representation::LittleEndian,
            Values::Big => Representation::BigEndian,
        };
        let conversion = ty.commit().conversion(representation);
        let conversion = conversion.map_err(|error| Failure::refused(action, error))?;
        Ok(Self { ty, conversion })
    }
}

/// The number of packed bytes of `count` instances.
fn packed_size(conversion: &Conversion, count: u64) -> Result<u64, Error> {
    let one = conversion.packed_size(1)? as u64;
    let all = usize::try_from(count).ok().map(|count| conversion.packed_size(count));
    all.unwrap_or(Err(Error::CountTooLarge { count, size: one })).map(|size| size as u64)
}

/// Converts the positions in an error from a part of the stream to the whole stream.
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

/// A refusal, with a suggestion if data are outside the memory.
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

/// A buffer of `len` bytes, of which those that it had before are kept.
fn resized(buffer: &mut Vec<u8>, len: u64) -> Result<&mut [u8], Failure> {
    let length = usize::try_from(len).map_err(|_| Failure::Memory(len))?;
    let more = length.saturating_sub(buffer.len());
    buffer.try_reserve_exact(more).map_err(|_| Failure::Memory(len))?;
    buffer.resize(length, 0);
    Ok(buffer)
}
