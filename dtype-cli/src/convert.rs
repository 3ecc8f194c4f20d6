//! `dtype pack` and `dtype unpack`: files converted by a type.
//!
//! A file of many instances is converted some megabytes at a time, whatever its length. Instances that interleave,
//! and single large instances, are held in memory as a whole.

mod memory;
mod progress;
mod source;
mod windows;

use std::io::Write;
use std::path::Path;

use dtype_runtime::{Buffer, BufferMut, convertor::Conversion};
use dtype_runtime::{Error, Representation, Type};

use crate::arguments::{Layout, Values};
use crate::failure::Failure;
use crate::input::{self, StandardInput};
use crate::output::NewFile;
use memory::Memory;
use progress::Progress;
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
    let needed = layout.count.map(|count| Windows::of(&ty, layout.origin, count).end());
    let mut memory = Source::open(&layout.input, needed, stdin)?;
    let count = match layout.count {
        Some(count) => count,
        None => windows::fitting(&ty, layout.origin, memory.len()),
    };
    let windows = Windows::of(&ty, layout.origin, count);
    windows.check(memory.len()).map_err(|error| outside("pack", error, layout.origin))?;
    let total = packed_size(&conversion, count).map_err(refused)?;
    let progress = Progress::new("packing", total);
    if layout.count.is_none() {
        let left = i128::from(memory.len()) - windows.used();
        if left > 0 {
            progress.note(&format!("ignored {left} trailing bytes (less than one instance)"));
        }
    }
    let mut sink = Sink::create(&layout.output, stdout)?;
    let (mut bytes, mut fragment) = (Vec::new(), Vec::new());
    let mut position = 0;
    for window in windows {
        let Window { start, len, origin, count } = window;
        memory.read(start, resized(&mut bytes, len)?, &layout.input)?;
        let mut packer =
            conversion.packer(Buffer::new(&bytes).origin(origin as i64), count).map_err(refused)?;
        let first = position;
        while !packer.is_complete() {
            let room = usize::try_from(packer.remaining()).unwrap_or(FRAGMENT).min(FRAGMENT);
            let packed = packer.pack(resized(&mut fragment, room as u64)?);
            let packed = packed.map_err(|error| refused(later(error, first)))?;
            sink.write(&fragment[..packed])?;
            position += packed as u64;
            progress.at(position);
        }
    }
    sink.finish()
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
    let given = layout.count.map(|count| packed_size(&conversion, count)).transpose();
    let given = given.map_err(refused)?;
    let mut packed =
        Source::open(&layout.input, given.map(|size| size.saturating_add(1).into()), stdin)?;
    let record = packed_size(&conversion, 1).map_err(refused)?;
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
    let progress = Progress::new("unpacking", expected);
    let mut memory = Memory::create(&layout.output, windows.span_end(&ty), over)?;
    let (mut bytes, mut fragment) = (Vec::new(), Vec::new());
    let mut position = 0;
    for window in windows {
        let Window { start, len, origin, count } = window;
        memory.read(start, resized(&mut bytes, len)?)?;
        let mut unpacker = conversion
            .unpacker(BufferMut::new(&mut bytes).origin(origin as i64), count)
            .map_err(refused)?;
        let first = position;
        while !unpacker.is_complete() {
            let room = usize::try_from(unpacker.remaining()).unwrap_or(FRAGMENT).min(FRAGMENT);
            packed.read(position, resized(&mut fragment, room as u64)?, &layout.input)?;
            let unpacked = unpacker.unpack(&fragment);
            let unpacked = unpacked.map_err(|error| refused(later(error, first)))?;
            position += unpacked as u64;
            progress.at(position);
        }
        drop(unpacker);
        memory.write(start, &bytes)?;
    }
    memory.finish(stdout)
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
            Some(format!("`--origin {}` makes room for them", i128::from(origin) - start))
        }
        Error::OutOfBounds { .. } => Some(
            "set the number of instances with `--count`, the position of the first with `--origin`"
                .into(),
        ),
        _ => None,
    };
    Failure::Refused { action, error, help }
}

/// A buffer of `len` bytes with unspecified contents.
fn resized(buffer: &mut Vec<u8>, len: u64) -> Result<&mut [u8], Failure> {
    let length = usize::try_from(len).map_err(|_| Failure::Memory(len))?;
    let more = length.saturating_sub(buffer.len());
    buffer.try_reserve_exact(more).map_err(|_| Failure::Memory(len))?;
    buffer.resize(length, 0);
    Ok(buffer)
}

/// Where packed bytes go.
enum Sink<'a, W> {
    Standard(&'a mut W),
    File(NewFile),
}

impl<'a, W: Write> Sink<'a, W> {
    fn create(path: &Path, stdout: &'a mut W) -> Result<Self, Failure> {
        if path == Path::new("-") {
            return Ok(Self::Standard(stdout));
        }
        NewFile::create(path).map(Self::File)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match self {
            Self::Standard(out) => Ok(out.write_all(bytes)?),
            Self::File(file) => {
                let written = file.file().write_all(bytes);
                written.map_err(|error| Failure::file("write", file.path(), error))
            }
        }
    }

    fn finish(self) -> Result<(), Failure> {
        match self {
            Self::Standard(out) => Ok(out.flush()?),
            Self::File(file) => file.finish(),
        }
    }
}
