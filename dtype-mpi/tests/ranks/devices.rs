//! Messages between the memories of devices. The tests are left out where there is no device.

use dtype_gpu::opencl::OpenCl;
use dtype_gpu::{Buffer, Device, PrepareOn as _, Queue};
use dtype_mpi::traits::*;
use dtype_mpi::{DeviceMessage, Error, Exchange, Neighbours, any_tag};
use dtype_runtime::{Basic, Datatype, Order, Type};
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

use crate::packed::ring;
use crate::shapes::noise;

/// A queue of the first device.
fn queue(test: &str) -> Option<Queue<OpenCl>> {
    match OpenCl::first() {
        Ok(driver) => Some(Device::new(driver).queue().unwrap()),
        Err(error) => {
            println!("left out: {test}: {error}");
            None
        }
    }
}

/// The sizes of a grid of numbers.
const CELLS: [u64; 3] = [4, 5, 6];

/// The plane of a grid across its last axis, without the ghost cells of the others.
fn plane(at: u64) -> Type {
    let [x, y, _] = CELLS;
    let number = Type::basic(Basic::F64);
    Type::subarray(&CELLS, &[x - 2, y - 2, 1], &[1, 1, at], Order::C, &number).unwrap()
}

fn bytes_of(buffer: &Buffer<OpenCl>, queue: &Queue<OpenCl>) -> Vec<u8> {
    let mut bytes = vec![0; buffer.len()];
    buffer.read(queue, 0, &mut bytes).unwrap();
    bytes
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Cell {
    density: f64,
    is_wall: bool,
    round: u32,
}

/// The memory of a cell, with zeros as padding.
fn memory_of(cell: Cell) -> [u8; 16] {
    let mut memory = [0; 16];
    memory[..8].copy_from_slice(&cell.density.to_ne_bytes());
    memory[8] = cell.is_wall.into();
    memory[12..].copy_from_slice(&cell.round.to_ne_bytes());
    memory
}

/// The faces of grids on devices go to the next rank, and to and from host memory, in short and in long messages.
pub(crate) fn exchanges(world: &SimpleCommunicator) {
    let Some(queue) = queue("exchanges") else { return };
    let (next, before) = ring(world);
    let (own, ghosts) = (plane(CELLS[2] - 2).commit(), plane(0).commit());
    let prepared = [&own, &ghosts].map(|ty| ty.prepare_on(queue.device()).unwrap());
    for count in [1, 300] {
        let size = usize::try_from(CELLS.iter().product::<u64>() * 8).unwrap() * count;
        let grids_of = |rank: i32| noise(rank.unsigned_abs().into(), size);
        let faces_of = |rank| {
            let mut faces = vec![0; own.packed_size(count).unwrap()];
            own.pack(&grids_of(rank), count, &mut faces).unwrap();
            faces
        };
        let mut expected = grids_of(world.rank());
        let faces = faces_of(before.rank());
        ghosts.unpack(&faces, &mut expected, count).unwrap();

        let grids = queue.device().buffer(size).unwrap();
        let [mut send, mut receive] = prepared
            .each_ref()
            .map(|packing| DeviceMessage::new(packing, &queue, (&grids, 0), count).unwrap());
        // The second message uses the same pinned memory.
        for tag in [7, 8] {
            grids.write(&queue, 0, &grids_of(world.rank())).unwrap();
            let received = send.exchange(&next, &mut receive, &before, tag).unwrap();
            assert_eq!((received.count, received.source), (faces.len(), before.rank()));
            assert_eq!((received.bytes, received.tag), (faces.len() as u64, tag));
            assert_eq!(bytes_of(&grids, &queue), expected);
        }
        let mut came = vec![0_u8; faces.len()];
        let request = before.immediate_recv_packed_into(&mut came, 9).unwrap();
        send.send(&next, 9).unwrap();
        request.wait().unwrap();
        assert_eq!(came, faces);
        grids.write(&queue, 0, &grids_of(world.rank())).unwrap();
        let request = next.immediate_send_packed(&faces_of(world.rank()), 10).unwrap();
        assert_eq!(receive.recv(&before, 10).unwrap().count, faces.len());
        request.wait().unwrap();
        assert_eq!(bytes_of(&grids, &queue), expected);
    }
}

/// Messages that are too long or shorter, instances outside the buffer, and buffers of another device.
pub(crate) fn refused(world: &SimpleCommunicator) {
    let Some(queue) = queue("refused") else { return };
    let (next, before) = ring(world);
    let device = queue.device();
    let four = Type::contiguous(4, &Type::basic(Basic::U8)).unwrap().commit();
    let four = four.prepare_on(device).unwrap();
    let buffer = device.buffer(20).unwrap();
    buffer.write(&queue, 0, &[1; 20]).unwrap();

    let outside = DeviceMessage::new(&four, &queue, (&buffer, 17), 1).unwrap_err();
    let expected = dtype_runtime::Error::OutOfBounds { start: 17, end: 21, len: 20 };
    assert_eq!(outside, Error::Type(expected));
    let mut message = DeviceMessage::new(&four, &queue, (&buffer, 2), 1).unwrap();

    let request = next.immediate_send_packed(&[5_u8; 5], 3).unwrap();
    let error = message.recv(&before, 3).unwrap_err();
    let expected =
        |bytes| Error::Truncated { source_rank: before.rank(), tag: 3, bytes, capacity: 4 };
    assert_eq!(error, expected(5));
    assert_eq!(
        before.recv_packed::<u8>(any_tag()).unwrap().0,
        [5; 5],
        "the message is still there"
    );
    request.wait().unwrap();

    // A shorter message leaves the rest.
    let request = next.immediate_send_packed(&[6_u8, 7, 8], 3).unwrap();
    assert_eq!(message.recv(&before, 3).unwrap().bytes, 3);
    request.wait().unwrap();
    let mut bytes = [1; 20];
    bytes[2..5].copy_from_slice(&[6, 7, 8]);
    assert_eq!(bytes_of(&buffer, &queue), bytes);

    let twice =
        Type::resized(&Type::contiguous(2, &Type::basic(Basic::U8)).unwrap(), 0, 1).unwrap();
    let twice = twice.commit().prepare_on(device).unwrap();
    let mut overlapping = DeviceMessage::new(&twice, &queue, (&buffer, 0), 2).unwrap();
    let overlap = dtype_runtime::Error::Overlap { count: 2 };
    assert_eq!(overlapping.recv(&before, 3).unwrap_err(), Error::Type(overlap));

    let other = Device::new(OpenCl::first().unwrap()).queue().unwrap();
    let mut strange = DeviceMessage::new(&four, &other, (&buffer, 0), 1).unwrap();
    let error = dtype_gpu::Error::OtherDevice { what: "prepared type" };
    assert_eq!(strange.send(&next, 3).unwrap_err(), Error::Device(error));
}

/// Halos of grids on devices are those of grids in host memory, also of ranks of both kinds, round after round.
pub(crate) fn halos(world: &SimpleCommunicator) {
    let Some(queue) = queue("halos") else { return };
    let (rank, size) = (world.rank(), world.size());
    let cartesian = world.create_cartesian_communicator(&[1, size, 1], &[true; 3], false).unwrap();
    let sizes = CELLS.map(|cells| usize::try_from(cells).unwrap());
    let halo = || Exchange::halo_of::<Cell>(&cartesian, &sizes, 1, Neighbours::Faces).unwrap();
    let (mut on_host, mut on_device) = (halo(), halo().on_device(queue.device()).unwrap());
    let number: usize = sizes.iter().product();
    let grids = queue.device().buffer(number * size_of::<Cell>()).unwrap();
    for round in 0..3_u32 {
        let cell = |at| Cell { density: f64::from(rank * 1000 + at), is_wall: at % 3 == 0, round };
        let mut expected: Vec<Cell> = (0..i32::try_from(number).unwrap()).map(cell).collect();
        let bytes =
            |cells: &[Cell]| cells.iter().flat_map(|cell| memory_of(*cell)).collect::<Vec<_>>();
        grids.write(&queue, 0, &bytes(&expected)).unwrap();
        let mut other = expected.clone();
        on_host.run(&mut expected).unwrap();
        if (rank + i32::try_from(round).unwrap()) % 2 == 0 {
            on_device.run(&queue, &grids).unwrap();
            assert_eq!(bytes_of(&grids, &queue), bytes(&expected));
        } else {
            // In host memory, with the same messages.
            on_host.run(&mut other).unwrap();
            assert_eq!(other, expected);
        }
    }
    // A round that is dropped, and one that a rank refuses: the next one is right.
    let before = bytes_of(&grids, &queue);
    world.barrier();
    drop(on_device.start(&queue, &grids).unwrap());
    assert_eq!(bytes_of(&grids, &queue), before);
    let short = queue.device().buffer(number * size_of::<Cell>() / 2).unwrap();
    let result = on_device.run(&queue, if rank == 0 { &short } else { &grids });
    match result {
        Err(Error::Type(dtype_runtime::Error::OutOfBounds { .. })) => assert_eq!(rank, 0),
        Err(Error::Peer { rank: 0 }) => assert!([1, size - 1].contains(&rank)),
        result => assert!(result.is_ok() && (2..size - 1).contains(&rank), "{result:?}"),
    }
    world.barrier();
    on_device.run(&queue, &grids).unwrap();
}
