//! Host memory that the device reaches, events, two layouts on one device, and calls that are refused.

use core::fmt::Debug;

use dtype_gpu::driver::Driver;
use dtype_gpu::source::Direction;
use dtype_gpu::{Device, Error, PrepareOn, forms};
use dtype_runtime::{Basic, Type};

use super::devices::queue;
use crate::open;

/// A column of a matrix of bytes with rows of four.
fn column(rows: u64) -> Result<Type, dtype_runtime::Error> {
    Type::vector(rows, 1, 4, &Type::basic(Basic::U8))
}

#[test]
fn straight_into_host_memory() -> Result<(), Error> {
    let Some(queue) = queue("straight_into_host_memory") else { return Ok(()) };
    let device = queue.device();
    let column = column(3)?.commit().prepare_on(device)?;
    let matrix = device.buffer(12)?;
    matrix.write(&queue, 0, b"abcdefghijkl")?;
    let mut packed = device.host_buffer(5)?;
    column.pack(&queue, (&matrix, 1), 1, (&packed, 2))?;
    let mut mapped = packed.map(&queue)?.unwrap();
    assert_eq!(&*mapped, b"\0\0bfj");
    mapped.copy_from_slice(b"01234");
    drop(mapped);
    column.unpack(&queue, (&packed, 1), 1, (&matrix, 0))?;
    let mut bytes = [0; 12];
    matrix.read(&queue, 0, &mut bytes)?;
    assert_eq!(&bytes, b"1bcd2fgh3jkl");
    let mut matrix = matrix;
    assert!(matrix.map(&queue)?.is_none(), "device memory was lent to the host");
    Ok(())
}

#[test]
fn host_memory_is_given_back_to_all_queues() -> Result<(), Error> {
    let Some(queue) = queue("host_memory_is_given_back_to_all_queues") else { return Ok(()) };
    let device = queue.device();
    let column = column(4_000_000)?.commit().prepare_on(device)?;
    let (matrix, packed) = (device.buffer(16_000_000)?, device.buffer(4_000_000)?);
    column.pack(&queue, (&matrix, 0), 1, (&packed, 0))?;
    queue.wait()?;
    let mut host = device.host_buffer(1)?;
    let mapped = host.map(&queue)?.unwrap();
    column.pack(&queue, (&matrix, 0), 1, (&packed, 0))?;
    let event = queue.event()?;
    drop(mapped);
    // A command that ends the mapping comes after the kernel, and commands of other queues do not start after either.
    assert_eq!(event.has_happened(), Ok(true));
    Ok(())
}

#[test]
fn one_queue_starts_after_the_event_of_another() -> Result<(), Error> {
    let Some(first) = queue("one_queue_starts_after_the_event_of_another") else { return Ok(()) };
    let device = first.device();
    let second = device.queue()?;
    let type_of = |rows| -> Result<_, Error> { column(rows)?.commit().prepare_on(device) };
    let (long, short) = (type_of(4)?, type_of(2)?);
    let [from, between, to] = [16, 4, 16].map(|len| device.buffer(len).unwrap());
    from.write(&first, 0, b"abcdefghijklmnop")?;
    to.write(&first, 0, &[b'.'; 16])?;
    long.pack(&first, (&from, 0), 1, (&between, 0))?;
    let event = first.event()?;
    second.start_after(&event)?;
    short.unpack(&second, (&between, 1), 1, (&to, 3))?;
    let mut bytes = [0; 16];
    to.read(&second, 0, &mut bytes)?;
    assert_eq!(&bytes, b"...e...i........");
    assert_eq!(event.has_happened(), Ok(true));
    Ok(())
}

#[test]
fn what_reaches_outside_is_refused() -> Result<(), Error> {
    let Some(queue) = queue("what_reaches_outside_is_refused") else { return Ok(()) };
    let device = queue.device();
    let column = column(3)?.commit().prepare_on(device)?;
    let (matrix, packed) = (device.buffer(12)?, device.buffer(5)?);
    let span =
        |start, end| Error::Layout(dtype_runtime::Error::OutOfBounds { start, end, len: 12 });
    let pack = |origin, count, at| column.pack(&queue, (&matrix, origin), count, (&packed, at));
    assert_eq!(pack(4, 1, 0), Err(span(4, 13)));
    assert_eq!(pack(-1, 1, 0), Err(span(-1, 8)));
    assert_eq!(pack(i64::MAX, 1, 0), Err(span((1 << 63) - 1, (1 << 63) + 8)));
    assert_eq!(pack(0, 1, 3), Err(Error::OutsideBuffer { start: 3, bytes: 3, len: 5 }));
    assert_eq!(
        pack(0, 1, u64::MAX),
        Err(Error::OutsideBuffer { start: u64::MAX, bytes: 3, len: 5 })
    );
    let outside = Error::OutsideStream { start: 1, end: 4, size: 3 };
    assert_eq!(column.pack_range(&queue, (&matrix, 0), 1, 1..4, (&packed, 0)), Err(outside));
    let too_many = dtype_runtime::Error::CountTooLarge { count: usize::MAX as u64, size: 3 };
    assert_eq!(pack(0, usize::MAX, 0), Err(too_many.into()));
    let outside = Error::OutsideBuffer { start: 10, bytes: 3, len: 12 };
    assert_eq!(matrix.read(&queue, 10, &mut [0; 3]), Err(outside.clone()));
    assert_eq!(matrix.write(&queue, 10, &[0; 3]), Err(outside));
    assert_eq!(pack(0, 0, 5), Ok(()), "no instances have no bytes");

    let other = Device::new(open()?);
    let strange = Err(Error::OtherDevice { what: "buffer" });
    assert_eq!(column.pack(&queue, (&other.buffer(12)?, 0), 1, (&packed, 0)), strange);
    let strange = Err(Error::OtherDevice { what: "prepared type" });
    assert_eq!(column.pack(&other.queue()?, (&matrix, 0), 1, (&packed, 0)), strange);

    let twice = Type::resized(&Type::contiguous(2, &Type::basic(Basic::U8))?, 0, 1)?.commit();
    let twice = twice.prepare_on(device)?;
    let overlap = dtype_runtime::Error::Overlap { count: 2 };
    assert_eq!(twice.unpack(&queue, (&packed, 0), 2, (&matrix, 0)), Err(overlap.into()));
    Ok(())
}

#[test]
fn what_is_printed_is_short() -> Result<(), Error> {
    let Some(queue) = queue("what_is_printed_is_short") else { return Ok(()) };
    let device = Device::new(open()?);
    assert_eq!(device.name(), device.driver().name());
    assert_eq!(device.name(), queue.device().name());
    let queue = device.queue()?;
    let committed = column(3)?.commit();
    let column = committed.prepare_on(&device)?;
    let (matrix, mut packed) = (device.buffer(12)?, device.host_buffer(5)?);
    column.pack(&queue, (&matrix, 1), 1, (&packed, 2))?;
    let packer = column.packer(&queue, (&matrix, 1), 1)?;
    let name = format!("{:?}", device.name());
    assert_eq!(format!("{device:?}"), format!("Device {{ name: {name}, kernels: 1, .. }}"));
    assert_eq!(
        format!("{matrix:?}"),
        format!("Buffer {{ len: 12, is_host: false, device: {name}, .. }}")
    );
    let event = queue.event()?;
    let sources = forms::sources(&committed, Direction::Pack);
    let source = &sources[0];
    let mapped = packed.map(&queue)?;
    let all: [&dyn Debug; 9] =
        [&device, &queue, &event, &matrix, &mapped, &column, &packer, source, device.driver()];
    for value in all {
        let text = format!("{value:?}");
        assert!(text.len() < 600 && !text.contains("__kernel"), "{} bytes: {text}", text.len());
    }
    Ok(())
}
