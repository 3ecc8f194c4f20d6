//! The engine's packers and unpackers over device memory: the stream of the host, in fragments of any size from any position.

use std::io::{Read, Seek, SeekFrom, Write};

use dtype_gpu::{Error, PrepareOn};
use dtype_runtime::{Basic, Buffer, BufferMut, Type};

use crate::any_device::devices::{Guarded, queue};
use crate::any_device::layouts::noise;

/// Ends of fragments: of one byte, inside values, and of more bytes than pass through the pinned memory at once.
const ENDS: [usize; 7] = [0, 1, 1_000_000, 1_000_003, 1_500_000, 1_500_001, 3_200_000];

/// A column of doubles in the middle of a matrix.
fn column() -> Result<Type, dtype_runtime::Error> {
    Type::vector(400_000, 1, 3, &Type::basic(Basic::F64))
}

const MEMORY: usize = 400_000 * 24;

#[test]
fn packers_and_unpackers() -> Result<(), Error> {
    let Some(queue) = queue("packers_and_unpackers") else { return Ok(()) };
    let (column, host) = (column()?.commit(), noise(MEMORY));
    let mut expected = vec![0; 3_200_000];
    column.pack(Buffer::new(&host).origin(8), 1, &mut expected)?;
    let column = column.prepare_on(queue.device())?;
    let memory = Guarded::new(&queue, &host, 0);
    let at = (&memory.buffer, memory.at(8) as i64);
    let fragments = || ENDS.windows(2).rev().map(|ends| ends[0]..ends[1]);

    let mut packer = column.packer(&queue, at, 1)?;
    for fragment in fragments() {
        packer.set_position(fragment.start as u64)?;
        let mut packed = vec![0; fragment.len()];
        assert_eq!(packer.pack(&mut packed), Ok(fragment.len()));
        assert!(packed == expected[fragment.clone()], "packed {fragment:?}");
    }
    packer.seek(SeekFrom::End(-5)).unwrap();
    let mut last = Vec::new();
    packer.read_to_end(&mut last).unwrap();
    assert_eq!(last, expected[3_199_995..]);

    let (stream, mut unpacked) = (noise(3_200_001), host.clone());
    column.committed().unpack(&stream[1..], BufferMut::new(&mut unpacked).origin(8), 1)?;
    let mut unpacker = column.unpacker(&queue, at, 1)?;
    for fragment in fragments() {
        unpacker.set_position(fragment.start as u64)?;
        unpacker.write_all(&stream[1..][fragment]).unwrap();
    }
    unpacker.flush()?;
    drop(unpacker);
    assert!(memory.bytes(&queue) == unpacked, "the fragments are not the column");
    Ok(())
}

#[test]
fn what_does_not_fit_has_no_stream() -> Result<(), Error> {
    let Some(queue) = queue("what_does_not_fit_has_no_stream") else { return Ok(()) };
    let column = column()?.commit().prepare_on(queue.device())?;
    let memory = queue.device().buffer(MEMORY)?;
    let outside = |start| {
        let (end, len) = (start + (MEMORY - 16) as i128, MEMORY as u64);
        Some(Error::Layout(dtype_runtime::Error::OutOfBounds { start, end, len }))
    };
    assert_eq!(column.packer(&queue, (&memory, 17), 1).err(), outside(17));
    assert_eq!(column.unpacker(&queue, (&memory, -1), 1).err(), outside(-1));
    let twice = Type::resized(column.committed().as_type(), 0, 0)?.commit();
    let twice = twice.prepare_on(queue.device())?;
    let overlap = dtype_runtime::Error::Overlap { count: 2 };
    assert_eq!(twice.unpacker(&queue, (&memory, 0), 2).err(), Some(overlap.into()));
    Ok(())
}

/// The backend of one type's stream becomes that of another's.
#[test]
fn a_backend_serves_any_type() -> Result<(), Error> {
    let Some(queue) = queue("a_backend_serves_any_type") else { return Ok(()) };
    let byte = Type::basic(Basic::U8);
    let memory = queue.device().buffer(12)?;
    memory.write(&queue, 0, b"abcdefghijkl")?;
    let nothing = Type::contiguous(0, &byte)?.commit().prepare_on(queue.device())?;
    let column = Type::vector(3, 1, 4, &byte)?.commit();
    let backend = nothing.packer(&queue, (&memory, 0), 5)?.into_backend();
    let mut packer = column.packer_with(backend, 1, 1)?;
    let mut out = [0; 3];
    assert_eq!((packer.pack(&mut out)?, &out), (3, b"bfj"));
    let mut unpacker = column.unpacker_with(packer.into_backend(), 2, 1)?;
    assert_eq!(unpacker.unpack(b"xyz"), Ok(3));
    let mut bytes = [0; 12];
    memory.read(&queue, 0, &mut bytes)?;
    assert_eq!(&bytes, b"abxdefyhijzl");
    Ok(())
}
