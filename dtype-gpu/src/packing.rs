//! Packs a committed type on a device: checks the arguments of a call, splits the work among the kernels, and launches them.

use core::fmt;
use core::ops::Range;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use dtype_runtime::{Committed, Datatype};

use crate::check::check;
use crate::device::{Buffer, Device, Queue, lock};
use crate::driver::{Argument, Driver};
use crate::error::Error;
use crate::forms::{Forms, Kind};
use crate::layout::Repeat;
use crate::source::{Direction, THREADS};
use crate::special::Launch;

/// A committed type that is ready to be packed in the memory of a device. Clones share its tables.
///
/// Made by [`PrepareOn::prepare_on`].
pub struct Packing<D: Driver> {
    committed: Committed,
    device: Device<D>,
    /// `None` for a type without data.
    prepared: Option<Arc<Prepared<D>>>,
}

/// The greatest number of groups in a launch.
const MAX_GROUPS: u64 = i32::MAX as u64;

/// The greatest number of packed bytes in a launch by words: each thread of a group moves at least one byte.
const MAX_BYTES: u64 = MAX_GROUPS * THREADS as u64;

/// The compiled kernels of a layout.
type Kernels<D> = HashMap<(Direction, Kind), Arc<<D as Driver>::Kernel>>;

/// What a device needs for a layout.
struct Prepared<D: Driver> {
    forms: Forms,
    /// The tables of the kernel that moves words, and of the special kernel.
    tables: [D::Memory; 2],
    /// The kernels used so far.
    kernels: Mutex<Kernels<D>>,
}

/// Bytes that a call moves.
struct Move<'a, D: Driver> {
    direction: Direction,
    queue: &'a Queue<D>,
    memory: &'a Buffer<D>,
    /// Offset of displacement 0 of the first instance in the memory, modulo 2⁶⁴.
    origin: u64,
    packed: &'a Buffer<D>,
    /// Offset of the first packed byte of the stream in the packed buffer, modulo 2⁶⁴. For a fragment in the middle of the
    /// stream, it may lie before the buffer.
    start: u64,
}

/// Prepares a committed type for a device.
pub trait PrepareOn {
    /// Decides which kernels pack and unpack the type, and copies their tables to the device. The kernels are compiled on first
    /// use.
    ///
    /// # Errors
    ///
    /// The errors of the driver.
    fn prepare_on<D: Driver>(&self, device: &Device<D>) -> Result<Packing<D>, Error>;
}

impl PrepareOn for Committed {
    fn prepare_on<D: Driver>(&self, device: &Device<D>) -> Result<Packing<D>, Error> {
        let prepared = match Repeat::of(self) {
            Some(layout) => Some(Arc::new(Prepared::new(&layout, device)?)),
            None => None,
        };
        Ok(Packing { committed: self.clone(), device: device.clone(), prepared })
    }
}

impl<D: Driver> fmt::Debug for Packing<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packing")
            .field("committed", &self.committed)
            .field("device", &self.device.name())
            .finish_non_exhaustive()
    }
}

impl<D: Driver> Clone for Packing<D> {
    fn clone(&self) -> Self {
        let Self { committed, device, prepared } = self;
        Self { committed: committed.clone(), device: device.clone(), prepared: prepared.clone() }
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
    /// [host memory](Device::host_buffer). If instances and packed bytes lie in the same buffer and overlap, the bytes that the
    /// call writes are unspecified.
    ///
    /// # Errors
    ///
    /// [`Error::OutsideBuffer`] if the packed bytes do not fit; [`Error::Layout`] if the instances reach outside the buffer or
    /// have too many bytes; [`Error::OtherDevice`]; and those of the driver. Nothing is queued then, unless the driver fails.
    pub fn pack(
        &self,
        queue: &Queue<D>,
        from: (&Buffer<D>, i64),
        count: usize,
        to: (&Buffer<D>, u64),
    ) -> Result<(), Error> {
        self.pack_range(queue, from, count, self.all(count)?, to)
    }

    /// As [`pack`](Self::pack), for a fragment: only the packed bytes in a range.
    ///
    /// # Errors
    ///
    /// The errors of [`pack`](Self::pack), and [`Error::OutsideStream`].
    pub fn pack_range(
        &self,
        queue: &Queue<D>,
        from: (&Buffer<D>, i64),
        count: usize,
        range: Range<u64>,
        to: (&Buffer<D>, u64),
    ) -> Result<(), Error> {
        self.run(Direction::Pack, queue, (from.0, from.1.into()), count, range, to)
    }

    /// Queues the unpacking of `count` instances, with the arguments of [`pack`](Self::pack). Bytes that are in no run are not
    /// changed, and not written. The memory consists of bytes, so any bytes are accepted. As with `pack`, the bytes that the call
    /// writes are unspecified if instances and packed bytes overlap.
    ///
    /// # Errors
    ///
    /// The errors of [`pack`](Self::pack); [`Error::Layout`] also if the instances name a byte more than once.
    pub fn unpack(
        &self,
        queue: &Queue<D>,
        from: (&Buffer<D>, u64),
        count: usize,
        to: (&Buffer<D>, i64),
    ) -> Result<(), Error> {
        self.unpack_range(queue, from, count, self.all(count)?, to)
    }

    /// As [`unpack`](Self::unpack), for a fragment: only the packed bytes in a range.
    ///
    /// # Errors
    ///
    /// The errors of [`unpack`](Self::unpack), and [`Error::OutsideStream`].
    pub fn unpack_range(
        &self,
        queue: &Queue<D>,
        from: (&Buffer<D>, u64),
        count: usize,
        range: Range<u64>,
        to: (&Buffer<D>, i64),
    ) -> Result<(), Error> {
        self.run(Direction::Unpack, queue, (to.0, to.1.into()), count, range, from)
    }

    /// Queues a copy of `count` instances to `other_count` instances of another type, through packed bytes in memory that the
    /// call allocates and [drops](Buffer). The two types need not have equal signatures, but the same number of packed bytes in
    /// total.
    ///
    /// ```
    /// use dtype_gpu::opencl::OpenCl;
    /// use dtype_gpu::{Device, PrepareOn};
    /// use dtype_runtime::{Basic, Type};
    ///
    /// # if OpenCl::first().is_err() { return Ok(()) }
    /// let device = Device::new(OpenCl::first()?);
    /// let queue = device.queue()?;
    /// let byte = Type::basic(Basic::U8);
    /// let column = Type::vector(3, 1, 4, &byte)?.commit().prepare_on(&device)?;
    /// let row = Type::contiguous(3, &byte)?.commit().prepare_on(&device)?;
    ///
    /// let (matrix, rows) = (device.buffer(12)?, device.buffer(3)?);
    /// matrix.write(&queue, 0, b"abcdefghijkl")?;
    /// column.copy_to(&queue, (&matrix, 2), 1, &row, (&rows, 0), 1)?;
    ///
    /// let mut bytes = [0; 3];
    /// rows.read(&queue, 0, &mut bytes)?;
    /// assert_eq!(&bytes, b"cgk");
    /// # Ok::<(), dtype_gpu::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`pack`](Self::pack) and of [`unpack`](Self::unpack); [`Error::Layout`] also if the types have different
    /// numbers of packed bytes.
    pub fn copy_to(
        &self,
        queue: &Queue<D>,
        from: (&Buffer<D>, i64),
        count: usize,
        other: &Self,
        to: (&Buffer<D>, i64),
        other_count: usize,
    ) -> Result<(), Error> {
        let (range, expected) = (self.all(count)?, other.all(other_count)?.end);
        let actual = range.end;
        if actual != expected {
            return Err(dtype_runtime::Error::PackedLength { expected, actual }.into());
        }
        let packed = self.device.buffer(actual as usize)?;
        let there = (to.0, to.1.into());
        other.check_call(Direction::Unpack, queue, there, other_count, &range, (&packed, 0))?;
        self.pack_range(queue, from, count, range, (&packed, 0))?;
        other.unpack(queue, (&packed, 0), other_count, to)
    }

    /// As [`unpack`](Self::unpack), for packed bytes that are records of `T`: if one of them is not a value of `T`, nothing is
    /// queued. The device checks the records, and the call returns when it has. Records that are checked by a function
    /// (`#[dtype(check = …)]`) are copied to the host and checked there.
    ///
    /// The records are read once to be checked, and once more to be unpacked. What changes in between is not checked: commands of
    /// other queues must not write the packed bytes meanwhile, and the instances must not overlap them.
    ///
    /// # Errors
    ///
    /// The errors of [`unpack`](Self::unpack); [`Error::Layout`] also with [`dtype_runtime::Error::InvalidValue`],
    /// [`dtype_runtime::Error::CheckFailed`], or [`dtype_runtime::Error::PartialRecord`] if the stream ends inside a record.
    pub fn unpack_checked<T: Datatype>(
        &self,
        queue: &Queue<D>,
        from: (&Buffer<D>, u64),
        count: usize,
        to: (&Buffer<D>, i64),
    ) -> Result<(), Error> {
        let range = self.all(count)?;
        self.check_call(Direction::Unpack, queue, (to.0, to.1.into()), count, &range, from)?;
        check::<T, D>(queue, from, (range.end - range.start) as usize)?;
        self.unpack_range(queue, from, count, range, to)
    }

    fn all(&self, count: usize) -> Result<Range<u64>, Error> {
        Ok(0..self.committed.packed_size(count)? as u64)
    }

    /// Checks that a call stays inside its buffers, and that no two threads would write the same byte.
    fn check_call(
        &self,
        direction: Direction,
        queue: &Queue<D>,
        (memory, origin): (&Buffer<D>, i128),
        count: usize,
        &Range { start, end }: &Range<u64>,
        (packed, at): (&Buffer<D>, u64),
    ) -> Result<(), Error> {
        queue.check_device(&self.device, "prepared type")?;
        queue.check_device(memory.device(), "buffer")?;
        queue.check_device(packed.device(), "buffer")?;
        let size = self.all(count)?.end;
        if start > end || end > size {
            return Err(Error::OutsideStream { start, end, size });
        }
        if direction == Direction::Unpack {
            self.committed.check_overlap(count)?;
        }
        self.committed.check_span(memory.len() as u64, origin, count)?;
        packed.check(at, end - start)
    }

    /// Queues the moves of a range of packed bytes, in either direction.
    pub(crate) fn run(
        &self,
        direction: Direction,
        queue: &Queue<D>,
        (memory, origin): (&Buffer<D>, i128),
        count: usize,
        range: Range<u64>,
        (packed, at): (&Buffer<D>, u64),
    ) -> Result<(), Error> {
        self.check_call(direction, queue, (memory, origin), count, &range, (packed, at))?;
        let Some(prepared) = self.prepared.as_deref().filter(|_| !range.is_empty()) else {
            return Ok(());
        };
        let (origin, start) = (origin.cast_unsigned() as u64, at.wrapping_sub(range.start));
        let moved = Move { direction, queue, memory, origin, packed, start };
        let moves = prepared.run(&moved, range);
        // Even after an error, because some commands may be queued.
        memory.used_by(queue).and(packed.used_by(queue)).and(moves)
    }
}

/// Splits a range in three: the whole granules in the middle, and the bytes before and after them.
fn split(range: Range<u64>, granule: u64) -> [Range<u64>; 3] {
    let Range { start, end } = range;
    let first = start.div_ceil(granule).saturating_mul(granule).min(end);
    let last = (end / granule * granule).max(first);
    [start..first, first..last, last..end]
}

impl<D: Driver> Prepared<D> {
    fn new(layout: &Repeat, device: &Device<D>) -> Result<Self, Error> {
        let (forms, driver) = (Forms::of(layout), device.driver());
        let special = forms.special.iter().flat_map(|special| special.table());
        let special: Vec<u8> = special.flat_map(|number| number.to_ne_bytes()).collect();
        let table = |bytes: &[u8]| -> Result<D::Memory, Error> {
            let table = driver.allocate(bytes.len().max(1))?;
            if !bytes.is_empty() {
                let queue = driver.queue()?;
                // SAFETY: the memory has as many bytes.
                unsafe { driver.write(&queue, bytes, (&table, 0)) }?;
                // Kernels of other queues read the table.
                driver.wait(&driver.record(&queue)?)?;
            }
            Ok(table)
        };
        let tables = [table(&forms.table(layout))?, table(&special)?];
        Ok(Self { forms, tables, kernels: Mutex::default() })
    }

    /// Moves packed bytes, at least one.
    fn run(&self, moved: &Move<'_, D>, range: Range<u64>) -> Result<(), Error> {
        if let Some(disp) = self.forms.copy
            && !moved.memory.is(moved.packed)
        {
            return moved.copy(disp, range);
        }
        let mut start = range.start;
        while start < range.end {
            let end = range.end.min(start.saturating_add(MAX_BYTES));
            self.granules(moved, start..end)?;
            start = end;
        }
        Ok(())
    }

    /// Moves whole granules by the special kernel, if there is one, and the bytes before and after them by words.
    fn granules(&self, moved: &Move<'_, D>, range: Range<u64>) -> Result<(), Error> {
        let Some(special) = &self.forms.special else { return self.words(moved, range) };
        if !(moved.origin | moved.start).is_multiple_of(special.alignment()) {
            return self.words(moved, range);
        }
        let [front, whole, back] = split(range.clone(), special.granule());
        if whole.is_empty() {
            return self.words(moved, range);
        }
        let launch = special.launch(moved.direction, moved.origin, moved.start, whole);
        if launch.groups > MAX_GROUPS {
            return self.words(moved, range);
        }
        self.words(moved, front)?;
        let table = Some(&self.tables[1]).filter(|_| !special.table().is_empty());
        self.launch(moved, Kind::Special { variant: launch.variant }, &launch, table)?;
        self.words(moved, back)
    }

    /// Moves any packed bytes by the widest word that fits the layout and both addresses, and what remains of a word by bytes.
    fn words(&self, moved: &Move<'_, D>, range: Range<u64>) -> Result<(), Error> {
        let word = self.forms.word(moved.origin, moved.start);
        let [front, whole, back] = split(range, word);
        for (range, bytes) in [(front, 1), (whole, word), (back, 1)] {
            if !range.is_empty() {
                let (kind, launch) = self.forms.words(bytes, range, moved.origin, moved.start);
                self.launch(moved, kind, &launch, Some(&self.tables[0]))?;
            }
        }
        Ok(())
    }

    fn launch(
        &self,
        moved: &Move<'_, D>,
        kind: Kind,
        launch: &Launch,
        table: Option<&D::Memory>,
    ) -> Result<(), Error> {
        let device = moved.queue.device();
        let kernel = self.kernel(device, moved.direction, kind)?;
        let mut arguments = vec![
            Argument::Memory(&moved.memory.memory),
            Argument::Number(launch.origin),
            Argument::Memory(&moved.packed.memory),
            Argument::Number(launch.at),
        ];
        arguments.extend(launch.numbers.iter().map(|number| Argument::Number(*number)));
        arguments.extend(table.map(Argument::Memory));
        let groups = u32::try_from(launch.groups).expect("the callers compare it with the most");
        // SAFETY: these are the arguments of the kernel. The caller of `run` has checked that the instances and the packed
        // bytes lie in their buffers. Kernels write nothing else. They may read on to the next multiple of 16 bytes in either
        // direction, and buffers are padded to such multiples.
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
        let kernel = device.kernel(self.forms.source(direction, kind))?;
        lock(&self.kernels).insert((direction, kind), Arc::clone(&kernel));
        Ok(kernel)
    }
}

impl<D: Driver> Move<'_, D> {
    /// Copies packed bytes that are a plain copy of the memory from a displacement on.
    fn copy(&self, disp: i64, range: Range<u64>) -> Result<(), Error> {
        let offset = |start: u64| start.wrapping_add(range.start) as usize;
        let memory = (&self.memory.memory, offset(self.origin.wrapping_add(disp.cast_unsigned())));
        let packed = (&self.packed.memory, offset(self.start));
        let (from, to) = match self.direction {
            Direction::Pack => (memory, packed),
            Direction::Unpack => (packed, memory),
        };
        let (driver, bytes) = (self.queue.device().driver(), (range.end - range.start) as usize);
        // SAFETY: the caller has checked that both ranges lie in their buffers, which are different buffers.
        unsafe { driver.copy(&self.queue.raw, from, to, bytes) }
    }
}
