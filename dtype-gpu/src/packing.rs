//! A committed type on a device: checks what a call asks for, splits it among the kernels, and launches them.

use core::ops::Range;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use dtype_runtime::Committed;

use crate::device::{Buffer, Device, Queue, lock};
use crate::driver::{Argument, Driver};
use crate::error::Error;
use crate::generate::{Direction, Records, THREADS, walk};
use crate::layout::{Repeat, widest_word};
use crate::nest::Nest;
use crate::source::Source;

/// A committed type that is ready to be packed in the memory of a device. Clones share its tables.
///
/// Made by [`PrepareOn::prepare_on`].
#[derive(Debug)]
pub struct Packing<D: Driver> {
    committed: Committed,
    device: Device<D>,
    /// `None` for a type without data.
    forms: Option<Arc<Forms<D>>>,
}

/// The most packed bytes of a launch: their threads have numbers of 32 bits, in groups.
const MOST_BYTES: u64 = 1 << 38;

/// The forms of kernels that pack a layout.
#[derive(Debug)]
struct Forms<D: Driver> {
    /// Bytes that every run and every displacement are multiples of, at most 16.
    unit: u64,
    /// Packed bytes of an iteration of the outermost repetition, and the bytes from one to the next.
    iteration: (u64, i64),
    /// Whether the packed bytes are a copy of the memory from this displacement on.
    copy: Option<i64>,
    records: Option<Records>,
    nest: Option<Nest>,
    /// The offsets of the nest, or the table of repetitions.
    table: D::Memory,
    /// The kernels that were used.
    kernels: Mutex<HashMap<(Direction, Kind), Arc<D::Kernel>>>,
}

/// A kernel of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    /// By words of so many bytes; if they are wide, the number of a word has 64 bits.
    Words { bytes: u64, are_wide: bool },
    /// Whole records, the first of them so many bytes past an address that 4 divides.
    Records { misaligned: u64 },
}

/// Bytes that a call moves.
struct Move<'a, D: Driver> {
    direction: Direction,
    queue: &'a Queue<D>,
    memory: &'a Buffer<D>,
    /// Offset of displacement 0 of the first instance in the memory, modulo 2⁶⁴.
    origin: u64,
    packed: &'a Buffer<D>,
    /// Offset of the first packed byte of the stream in the packed buffer, modulo 2⁶⁴: of a fragment in the middle of the
    /// stream, it may lie in front of the buffer.
    start: u64,
}

/// Prepares a committed type for a device.
pub trait PrepareOn {
    /// Decides which kernels pack and unpack the type, and copies the tables that they need to the device. The kernels are
    /// compiled when they are first needed.
    ///
    /// # Errors
    ///
    /// Those of the driver.
    fn prepare_on<D: Driver>(&self, device: &Device<D>) -> Result<Packing<D>, Error>;
}

impl PrepareOn for Committed {
    fn prepare_on<D: Driver>(&self, device: &Device<D>) -> Result<Packing<D>, Error> {
        let forms = match Repeat::of(self) {
            Some(layout) => Some(Arc::new(Forms::of(&layout, device)?)),
            None => None,
        };
        Ok(Packing { committed: self.clone(), device: device.clone(), forms })
    }
}

impl<D: Driver> Clone for Packing<D> {
    fn clone(&self) -> Self {
        let Self { committed, device, forms } = self;
        Self { committed: committed.clone(), device: device.clone(), forms: forms.clone() }
    }
}

impl<D: Driver> Packing<D> {
    /// The type.
    pub fn committed(&self) -> &Committed {
        &self.committed
    }

    /// The device.
    pub fn device(&self) -> &Device<D> {
        &self.device
    }

    /// Queues the packing of `count` instances. `from` is a buffer and the offset in bytes of displacement 0 of the first
    /// instance in it; `to` is a buffer and the offset of the first packed byte in it. Either may be
    /// [host memory](Device::host_buffer).
    ///
    /// # Errors
    ///
    /// [`Error::OutsideBuffer`] if the packed bytes do not fit; [`Error::Layout`] if the instances reach outside the buffer or
    /// have too many bytes; [`Error::OtherDevice`]; and those of the driver. Nothing is queued then, except perhaps if the
    /// driver fails.
    pub fn pack(
        &self,
        queue: &Queue<D>,
        from: (&Buffer<D>, i64),
        count: usize,
        to: (&Buffer<D>, u64),
    ) -> Result<(), Error> {
        self.pack_range(queue, from, count, self.all(count)?, to)
    }

    /// As [`pack`](Self::pack), of the packed bytes in a range only: a fragment.
    ///
    /// # Errors
    ///
    /// Those of [`pack`](Self::pack), and [`Error::OutsideStream`].
    pub fn pack_range(
        &self,
        queue: &Queue<D>,
        from: (&Buffer<D>, i64),
        count: usize,
        range: Range<u64>,
        to: (&Buffer<D>, u64),
    ) -> Result<(), Error> {
        self.run(Direction::Pack, queue, from, count, range, to)
    }

    /// Queues the unpacking of `count` instances, with the arguments of [`pack`](Self::pack). Bytes that are in no run are not
    /// changed, and not written. The memory consists of bytes, so any bytes are accepted.
    ///
    /// # Errors
    ///
    /// Those of [`pack`](Self::pack); [`Error::Layout`] also if the instances name a byte more than once.
    pub fn unpack(
        &self,
        queue: &Queue<D>,
        from: (&Buffer<D>, u64),
        count: usize,
        to: (&Buffer<D>, i64),
    ) -> Result<(), Error> {
        self.unpack_range(queue, from, count, self.all(count)?, to)
    }

    /// As [`unpack`](Self::unpack), of the packed bytes in a range only: a fragment.
    ///
    /// # Errors
    ///
    /// Those of [`unpack`](Self::unpack), and [`Error::OutsideStream`].
    pub fn unpack_range(
        &self,
        queue: &Queue<D>,
        from: (&Buffer<D>, u64),
        count: usize,
        range: Range<u64>,
        to: (&Buffer<D>, i64),
    ) -> Result<(), Error> {
        self.committed.check_overlap(count)?;
        self.run(Direction::Unpack, queue, to, count, range, from)
    }

    fn all(&self, count: usize) -> Result<Range<u64>, Error> {
        Ok(0..self.committed.packed_size(count)? as u64)
    }

    fn run(
        &self,
        direction: Direction,
        queue: &Queue<D>,
        (memory, origin): (&Buffer<D>, i64),
        count: usize,
        range: Range<u64>,
        (packed, at): (&Buffer<D>, u64),
    ) -> Result<(), Error> {
        queue.check_device(&self.device, "prepared type")?;
        queue.check_device(memory.device(), "buffer")?;
        queue.check_device(packed.device(), "buffer")?;
        let Range { end: size, .. } = self.all(count)?;
        let Range { start, end } = range;
        if start > end || end > size {
            return Err(Error::OutsideStream { start, end, size });
        }
        self.committed.check_span(memory.len() as u64, origin.into(), count)?;
        packed.check(at, end - start)?;
        let Some(forms) = self.forms.as_deref().filter(|_| start < end) else { return Ok(()) };
        let origin = origin.cast_unsigned();
        let start = at.wrapping_sub(start);
        let moved = Move { direction, queue, memory, origin, packed, start };
        forms.run(&moved, range)?;
        memory.used_by(queue)?;
        packed.used_by(queue)
    }
}

/// The multiple of `unit` at or above a position, but at most `end`.
fn up(position: u64, unit: u64, end: u64) -> u64 {
    position.div_ceil(unit).saturating_mul(unit).min(end)
}

impl<D: Driver> Forms<D> {
    fn of(layout: &Repeat, device: &Device<D>) -> Result<Self, Error> {
        let nest = Nest::of(layout);
        let bytes: Vec<u8> = match &nest {
            Some(nest) => nest.offsets().iter().flat_map(|offset| offset.to_ne_bytes()).collect(),
            None => layout.table().iter().flat_map(|number| number.to_ne_bytes()).collect(),
        };
        let table = device.driver().allocate(bytes.len().max(1))?;
        if !bytes.is_empty() {
            let queue = device.driver().queue()?;
            // SAFETY: the memory has as many bytes.
            unsafe { device.driver().write(&queue, &bytes, (&table, 0)) }?;
        }
        Ok(Self {
            unit: layout.unit(),
            iteration: (layout.size, layout.stride),
            copy: layout.is_run().then_some(layout.disp),
            records: Records::of(layout),
            nest,
            table,
            kernels: Mutex::default(),
        })
    }

    /// Moves packed bytes, at least one.
    fn run(&self, moved: &Move<'_, D>, range: Range<u64>) -> Result<(), Error> {
        if let Some(disp) = self.copy
            && !moved.memory.is(moved.packed)
        {
            return moved.copy(disp, range);
        }
        let mut start = range.start;
        while start < range.end {
            let end = range.end.min(start.saturating_add(MOST_BYTES));
            self.by_records(moved, start..end)?;
            start = end;
        }
        Ok(())
    }

    /// Moves whole records by their own kernel, if there is one, and what is in front of them and behind them by words.
    fn by_records(&self, moved: &Move<'_, D>, range: Range<u64>) -> Result<(), Error> {
        let Some(records) = &self.records else { return self.by_words(moved, range) };
        let first = up(range.start, records.size, range.end);
        let last = (range.end / records.size * records.size).max(first);
        self.by_words(moved, range.start..first)?;
        self.records(moved, records, first / records.size..last / records.size)?;
        self.by_words(moved, last..range.end)
    }

    fn records(
        &self,
        moved: &Move<'_, D>,
        records: &Records,
        range: Range<u64>,
    ) -> Result<(), Error> {
        if range.is_empty() {
            return Ok(());
        }
        let Records { disp, extent, size, .. } = *records;
        let origin = moved.origin.wrapping_add(disp.cast_unsigned());
        let origin = origin.wrapping_add(range.start.wrapping_mul(extent));
        let number = range.end - range.start;
        let groups = number.div_ceil(records.of_group(moved.direction));
        let at = moved.start.wrapping_add(range.start * size);
        let misaligned = match moved.direction {
            Direction::Pack => origin % 4,
            Direction::Unpack => 0,
        };
        self.launch(
            moved,
            Kind::Records { misaligned },
            groups,
            (origin, at),
            &[Argument::Number(number)],
        )
    }

    /// Moves any packed bytes by the widest word that fits the layout and both addresses, and what is less than a word by bytes.
    fn by_words(&self, moved: &Move<'_, D>, range: Range<u64>) -> Result<(), Error> {
        let word = widest_word([self.unit, moved.origin, moved.start]);
        let first = up(range.start, word, range.end);
        let last = (range.end / word * word).max(first);
        self.words(moved, range.start..first, 1)?;
        self.words(moved, first..last, word)?;
        self.words(moved, last..range.end, 1)
    }

    /// Moves whole words.
    fn words(&self, moved: &Move<'_, D>, range: Range<u64>, bytes: u64) -> Result<(), Error> {
        if range.is_empty() {
            return Ok(());
        }
        // Whole iterations in front of the range are a part of the origin, so that most numbers of words have 32 bits.
        let (size, stride) = self.iteration;
        let before = range.start / size;
        let origin = before.wrapping_mul(stride.cast_unsigned()).wrapping_add(moved.origin);
        let first = (range.start - before * size) / bytes;
        let words = (range.end - range.start) / bytes;
        let are_wide = u32::try_from(first + words).is_err();
        let at = moved.start.wrapping_add(range.start);
        let rest =
            [Argument::Number(first), Argument::Number(words), Argument::Memory(&self.table)];
        let groups = words.div_ceil(THREADS.into());
        self.launch(moved, Kind::Words { bytes, are_wide }, groups, (origin, at), &rest)
    }

    fn launch(
        &self,
        moved: &Move<'_, D>,
        kind: Kind,
        groups: u64,
        (origin, at): (u64, u64),
        rest: &[Argument<'_, D>],
    ) -> Result<(), Error> {
        let device = moved.queue.device();
        let kernel = self.kernel(device, moved.direction, kind)?;
        let mut arguments = vec![
            Argument::Memory(&moved.memory.memory),
            Argument::Number(origin),
            Argument::Memory(&moved.packed.memory),
            Argument::Number(at),
        ];
        arguments.extend_from_slice(rest);
        let groups = u32::try_from(groups).expect("a part of a range has few bytes");
        // SAFETY: these are the arguments of all kernels of layouts, and those of this kind. The caller of `run` has checked
        // that the instances and the packed bytes lie in their buffers. Beyond these the kernels read, but do not write, words
        // of 16 bytes that contain bytes of them, and buffers are allocated in such words.
        unsafe { device.driver().launch(&moved.queue.raw, &kernel, groups, &arguments) }
    }

    fn kernel(
        &self,
        device: &Device<D>,
        direction: Direction,
        kind: Kind,
    ) -> Result<Arc<D::Kernel>, Error> {
        if let Some(kernel) = lock(&self.kernels).get(&(direction, kind)) {
            return Ok(Arc::clone(kernel));
        }
        let kernel = device.kernel(self.source(direction, kind))?;
        lock(&self.kernels).insert((direction, kind), Arc::clone(&kernel));
        Ok(kernel)
    }

    fn source(&self, direction: Direction, kind: Kind) -> Source {
        match (kind, direction, &self.records, &self.nest) {
            (Kind::Records { misaligned }, Direction::Pack, Some(records), _) => {
                records.gather(misaligned)
            }
            (Kind::Records { .. }, Direction::Unpack, Some(records), _) => records.scatter(),
            (Kind::Words { bytes, are_wide }, _, _, Some(nest)) => {
                nest.source(direction, bytes, are_wide)
            }
            (Kind::Words { bytes, .. }, ..) => walk(direction, bytes),
            (Kind::Records { .. }, _, None, _) => unreachable!("records have a form"),
        }
    }
}

impl<D: Driver> Move<'_, D> {
    /// Copies packed bytes that are a copy of the memory from a displacement on.
    fn copy(&self, disp: i64, range: Range<u64>) -> Result<(), Error> {
        let offset = |start: u64| start.wrapping_add(range.start) as usize;
        let memory = (&self.memory.memory, offset(self.origin.wrapping_add(disp.cast_unsigned())));
        let packed = (&self.packed.memory, offset(self.start));
        let (from, to) = match self.direction {
            Direction::Pack => (memory, packed),
            Direction::Unpack => (packed, memory),
        };
        let (driver, bytes) = (self.queue.device().driver(), (range.end - range.start) as usize);
        // SAFETY: the caller has checked that both ranges lie in their buffers, which are different ones.
        unsafe { driver.copy(&self.queue.raw, from, to, bytes) }
    }
}
