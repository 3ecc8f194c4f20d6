//! Messages that this crate packs on one side or on both.

use std::os::raw::c_int;

use dtype_mpi::traits::*;
use dtype_mpi::{Datatype, Error, ReceiveBuffer, SendBuffer, any_tag};
use dtype_runtime::{Basic, Type, pack, packed_size};
use dtype_test_support::numbers::Numbers;
use mpi::ffi;
use mpi::raw::AsRaw;
use mpi::topology::{Process, SimpleCommunicator};
use mpi::traits::*;

use crate::shapes::{Flagged, Plain, Shape, Skipping, assert_same, for_each_plain, noise};

/// The next rank and the previous one in a ring.
pub(crate) fn ring(world: &SimpleCommunicator) -> (Process<'_>, Process<'_>) {
    let (rank, size) = (world.rank(), world.size());
    (world.process_at_rank((rank + 1) % size), world.process_at_rank((rank + size - 1) % size))
}

const COUNTS: [usize; 4] = [0, 1, 5, 1000];

pub(crate) fn to_library(world: &SimpleCommunicator) {
    for_each_plain!(to_library_of(world));
}

fn to_library_of<T: Plain>(world: &SimpleCommunicator) {
    let (next, before) = ring(world);
    // MPICH 4.0 with UCX 1.13 calls a message truncated if it is dense, longer than 8 KiB, and received with a datatype that
    // has gaps. The same happens to a program in C that sends an array of `MPI_BYTE`.
    let library = mpi::environment::library_version().expect("it is text");
    let most = if library.starts_with("MPICH") { 8000 / packed_size::<T>(1) } else { 20_000 };
    for count in COUNTS.map(|count| count.min(most)) {
        let own = T::some(count, &mut Numbers(4));
        let request = next.immediate_send_packed(&own, 1).unwrap();
        let mut came = T::some(count, &mut Numbers(5));
        before.receive_into_with_tag(&mut ReceiveBuffer::new(&mut came).unwrap(), 1);
        request.wait().unwrap();
        assert_same(&came, &own);
        // Blocking calls, which need two ranks.
        if world.size() > 1 && world.rank() == 0 {
            world.process_at_rank(1).send_packed(&own, 0).unwrap();
        } else if world.rank() == 1 {
            let mut came = T::some(count, &mut Numbers(5));
            let first = world.process_at_rank(0);
            first.receive_into(&mut ReceiveBuffer::new(&mut came).unwrap());
            assert_same(&came, &own);
        }
    }
}

pub(crate) fn from_library(world: &SimpleCommunicator) {
    for_each_plain!(from_library_of(world));
    from_library_of::<Flagged>(world);
}

fn from_library_of<T: Shape>(world: &SimpleCommunicator) {
    let (next, before) = ring(world);
    for count in COUNTS {
        let own = T::some(count, &mut Numbers(6));
        let mut came = T::some(count + 2, &mut Numbers(7));
        let rest = pack(&came[count..]);
        let buffer = SendBuffer::new(&own).unwrap();
        mpi::request::scope(|scope| {
            let request = next.immediate_send_with_tag(scope, &buffer, 2);
            let received = before.recv_packed_into(&mut came, 2).unwrap();
            request.wait();
            assert_eq!((received.source, received.tag), (before.rank(), 2));
            assert_eq!(received.count, count);
            assert_eq!(received.bytes, packed_size::<T>(count) as u64);
        });
        assert_same(&came[..count], &own);
        assert_eq!(pack(&came[count..]), rest, "nothing is written after the message");
    }
}

pub(crate) fn same_bytes(world: &SimpleCommunicator) {
    for_each_plain!(same_bytes_of(world));
}

/// The library packs to the same bytes as this crate, so a message of `MPI_PACKED` is a message of this crate.
fn same_bytes_of<T: Plain>(world: &SimpleCommunicator) {
    let own = T::some(9, &mut Numbers(8));
    let mut packed = vec![0_u8; packed_size::<T>(9) + 64];
    let room = c_int::try_from(packed.len()).unwrap();
    let datatype = Datatype::of::<T>().unwrap().as_raw();
    let mut position = 0;
    // SAFETY: there are nine elements of the datatype, and enough room for them.
    unsafe {
        let (from, to) = (own.as_ptr().cast(), packed.as_mut_ptr().cast());
        ffi::MPI_Pack(from, 9, datatype, to, room, &raw mut position, world.as_raw());
    }
    packed.truncate(usize::try_from(position).unwrap());
    assert!(packed == pack(&own), "{}", std::any::type_name::<T>());
}

pub(crate) fn lengths(world: &SimpleCommunicator) {
    let (next, before) = ring(world);
    let own = Flagged::some(10, &mut Numbers(9));
    let element = packed_size::<Flagged>(1) as u64;

    // Too long for the receiver. The message can still be received with more room.
    let request = next.immediate_send_packed(&own, 4).unwrap();
    let mut few = Flagged::some(9, &mut Numbers(10));
    let unchanged = few.clone();
    let error = before.recv_packed_into(&mut few, 4).unwrap_err();
    let (source_rank, tag, bytes, capacity) = (before.rank(), 4, 10 * element, 9 * element);
    assert_eq!(error, Error::Truncated { source_rank, tag, bytes, capacity });
    assert_eq!(few, unchanged);
    let (all, received) = before.recv_packed::<Flagged>(4).unwrap();
    assert_eq!((all, received.count), (own.clone(), 10));
    request.wait().unwrap();

    // A message that ends inside an element is an error, and can then be received as bytes.
    let bytes = pack(&own);
    let cut = bytes.len() - 1;
    let request = next.immediate_send_packed(&bytes[..cut], 4).unwrap();
    let partial = Error::Partial { bytes: cut as u64, elements: 9, element };
    assert_eq!(before.recv_packed::<Flagged>(4).unwrap_err(), partial);
    let mut many = Flagged::some(20, &mut Numbers(10));
    assert_eq!(before.recv_packed_into(&mut many, 4).unwrap_err(), partial);
    assert_eq!(before.recv_packed::<u8>(4).unwrap().0, bytes[..cut]);
    request.wait().unwrap();

    // The receiver's skipped fields are unchanged.
    let out = [Skipping { sent: 1, kept: 2, also: [3; 3] }];
    let mut into = [Skipping { sent: 0, kept: 4, also: [0; 3] }];
    let request = next.immediate_send_packed(&out, 4).unwrap();
    before.recv_packed_into(&mut into, any_tag()).unwrap();
    request.wait().unwrap();
    assert_eq!(into, [Skipping { sent: 1, kept: 4, also: [3; 3] }]);

    // An empty message, also of elements without data.
    let request = next.immediate_send_packed::<f64>(&[], 4).unwrap();
    assert_eq!(before.recv_packed_into::<f64>(&mut [], any_tag()).unwrap().count, 0);
    request.wait().unwrap();
}

pub(crate) fn communicator_errors(world: &SimpleCommunicator) {
    let copy = world.duplicate();
    for communicator in [world, &copy] {
        // The error handler that every program starts with, whatever was called before.
        // SAFETY: a constant of the library.
        let handler = unsafe { ffi::RSMPI_ERRORS_ARE_FATAL };
        assert!(errhandler(communicator) == handler, "the error handler is another one");
        let me = communicator.process_at_rank(communicator.rank());
        // A negative tag is invalid, and the library reports it to the error handler, which ends the program.
        let error = me.send_packed(&[1_u8], -7).unwrap_err();
        assert_tag(&error, "MPI_Send");
        assert_tag(&me.immediate_send_packed(&[1_u8], -7).unwrap_err(), "MPI_Isend");
        assert_tag(&me.recv_packed::<u8>(-7).unwrap_err(), "MPI_Probe");
        assert_tag(&me.incoming(-7).unwrap_err(), "MPI_Mprobe");
        let error = me.immediate_recv_packed_into(&mut [0_u8], -7).unwrap_err();
        assert_tag(&error, "MPI_Irecv");
        assert!(errhandler(communicator) == handler, "the error handler was not put back");
    }
}

pub(crate) fn uncountable(world: &SimpleCommunicator) {
    if cfg!(large_counts) {
        return;
    }
    let me = world.process_at_rank(world.rank());
    // The memory is never touched, so it takes addresses only.
    let many = vec![0_u8; 1 << 31];
    let expected = |call| Error::Count { call, count: 1 << 31, limit: (1 << 31) - 1 };
    assert_eq!(me.send_packed(&many, 0).unwrap_err(), expected("MPI_Send"));
    assert_eq!(world.all_gather_packed(&many).unwrap_err(), expected("MPI_Allgatherv"));
    let mut room = many;
    // For a receive the library has to count one more.
    let error = me.immediate_recv_packed_into(&mut room[1..], 1).unwrap_err();
    let limit = (1 << 31) - 2;
    assert_eq!(error, Error::Count { call: "MPI_Irecv", count: limit + 1, limit });
    drop(me.immediate_recv_packed_into(&mut room[2..], 1).unwrap());
}

fn assert_tag(error: &Error, expected: &str) {
    let Error::Call { call, class, message, .. } = error else { panic!("{error}") };
    assert_eq!(*call, expected);
    assert_eq!(*class, c_int::try_from(ffi::MPI_ERR_TAG).unwrap(), "{message}");
    assert!(!message.is_empty());
}

fn errhandler(communicator: &SimpleCommunicator) -> ffi::MPI_Errhandler {
    // SAFETY: MPI runs, the communicator is alive, and the handler lives through the calls.
    unsafe {
        let mut handler = ffi::RSMPI_ERRORS_RETURN;
        ffi::MPI_Comm_get_errhandler(communicator.as_raw(), &raw mut handler);
        let mut reference = handler;
        ffi::MPI_Errhandler_free(&raw mut reference);
        handler
    }
}

pub(crate) fn streams(world: &SimpleCommunicator) {
    let (next, before) = ring(world);
    // Columns 1 and 3 of a matrix are received in columns 2 and 0.
    let column = Type::vector(50, 1, 4, &Type::basic(Basic::U16)).unwrap().commit();
    let matrix = noise(11, 400);
    let mut into = vec![0xee; 400];
    for (from, to) in [(2, 4_i64), (6_i64, 0)] {
        let packer = column.packer(dtype_runtime::Buffer::new(&matrix).origin(from), 1).unwrap();
        let request = next.immediate_send_stream(packer, 5).unwrap();
        let mut unpacker =
            column.unpacker(dtype_runtime::BufferMut::new(&mut into).origin(to), 1).unwrap();
        assert_eq!(before.recv_stream(&mut unpacker, 5).unwrap().bytes, 100);
        assert!(unpacker.is_complete());
        request.wait().unwrap();
    }
    for row in 0..50 {
        let [from, to] = [&matrix, &into].map(|matrix| &matrix[row * 8..row * 8 + 8]);
        assert_eq!((&to[4..6], &to[..2]), (&from[2..4], &from[6..8]));
        assert_eq!((&to[2..4], &to[6..8]), (&[0xee; 2][..], &[0xee; 2][..]));
    }
    // One stream for two messages, then one message too many.
    let requests: Vec<_> =
        [150, 250, 1].map(|n| next.immediate_send_packed(&matrix[..n], 5).unwrap()).into();
    let whole = Type::basic(Basic::U8).commit();
    let mut unpacker = whole.unpacker(&mut into, 400).unwrap();
    before.recv_stream(&mut unpacker, 5).unwrap();
    before.recv_stream(&mut unpacker, 5).unwrap();
    assert!(unpacker.is_complete());
    let error = before.recv_stream(&mut unpacker, 5).unwrap_err();
    assert!(matches!(error, Error::Truncated { bytes: 1, capacity: 0, .. }), "{error}");
    assert_eq!(before.recv_packed::<u8>(5).unwrap().0, matrix[..1]);
    for request in requests {
        request.wait().unwrap();
    }
    assert_eq!((&into[..150], &into[150..]), (&matrix[..150], &matrix[..250]));

    // To a buffer of the library with a datatype of its own, and back.
    let layout = dtype_mpi::Layout::new(&column).unwrap();
    let mut into = vec![0xee; 400];
    let packer = column.packer(&matrix, 1).unwrap();
    let request = next.immediate_send_stream(packer, 5).unwrap();
    before.receive_into(&mut ReceiveBuffer::from_layout(&layout, &mut into, 0, 1).unwrap());
    request.wait().unwrap();
    assert!((0..400).all(|i| into[i] == if i % 8 < 2 { matrix[i] } else { 0xee }));
}

pub(crate) fn incoming(world: &SimpleCommunicator) {
    let (next, before) = ring(world);
    let own = Flagged::some(4, &mut Numbers(12));
    let requests = [8, 9].map(|tag| next.immediate_send_packed(&own, tag).unwrap());
    let mut message = before.incoming(9).unwrap();
    assert_eq!((message.source_rank(), message.tag()), (before.rank(), 9));
    assert_eq!(message.bytes(), packed_size::<Flagged>(4) as u64);
    assert_eq!(message.count::<Flagged>().unwrap(), 4);
    assert!(matches!(message.recv_packed::<[u64; 2]>(), Err(Error::Partial { .. })));
    assert!(matches!(
        message.recv_packed_into(&mut own.clone()[..2]),
        Err(Error::Truncated { .. })
    ));
    assert_eq!(message.recv_packed::<Flagged>().unwrap().0, own);
    assert_eq!(message.recv_packed::<Flagged>().unwrap_err(), Error::Received);
    // Dropping an incoming message consumes it, too.
    drop(before.incoming(8).unwrap());
    for request in requests {
        request.wait().unwrap();
    }
}

/// The first rank sends to the last one, which drops the message.
pub(crate) fn discarded(world: &SimpleCommunicator) {
    // A library with large counts would receive the whole message.
    if cfg!(large_counts) {
        return;
    }
    let (first, last) = (world.process_at_rank(0), world.process_at_rank(world.size() - 1));
    // Open MPI copies contiguous memory in one go. (The system allocates none of these pages, because they are only read.)
    let ty = Type::contiguous(1 << 20, &Type::basic(Basic::U8)).unwrap();
    let ty = Type::contiguous(1 << 11, &ty).unwrap();
    let (layout, memory) = (dtype_mpi::Layout::new(&ty).unwrap(), vec![0_u8; 1 << 31]);
    let buffer = SendBuffer::from_layout(&layout, &memory, 0, 1).unwrap();
    mpi::request::scope(|scope| {
        let send = || last.immediate_send_with_tag(scope, &buffer, 10);
        let request = (world.rank() == first.rank()).then(send);
        if world.rank() == last.rank() {
            let mut message = first.incoming(10).unwrap();
            assert_eq!(message.bytes(), 1 << 31);
            let error = message.recv_packed::<u8>().unwrap_err();
            let (count, limit) = (1 << 31, (1 << 31) - 1);
            assert_eq!(error, Error::Count { call: "MPI_Mrecv", count, limit });
        }
        // The message has been dropped, so the send completes.
        if let Some(request) = request {
            request.wait();
        }
    });
}
