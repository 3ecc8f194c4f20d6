//! `SendBuffer` and `ReceiveBuffer` in each call of the `mpi` crate that takes memory.

use std::mem::MaybeUninit;

use dtype_mpi::traits::*;
use dtype_mpi::{Error, ReceiveBuffer, SendBuffer, received_count};
use dtype_runtime::{gaps, pack};
use dtype_test_support::numbers::Numbers;
use mpi::datatype::{Partition, PartitionMut};
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

use crate::packed::ring;
use crate::shapes::{Plain, Skipping, assert_same, for_each_plain};

pub(crate) fn everywhere(world: &SimpleCommunicator) {
    for_each_plain!(everywhere_of(world));
}

/// The values of a rank, which every rank can compute.
fn of_rank<T: Plain>(rank: i32, count: usize) -> Vec<T> {
    T::some(count, &mut Numbers(rank.unsigned_abs().into()))
}

fn everywhere_of<T: Plain>(world: &SimpleCommunicator) {
    const COUNT: usize = 7;
    let (rank, size) = (world.rank(), world.size());
    let ranks = usize::try_from(size).unwrap();
    let (next, before) = ring(world);
    let own = of_rank::<T>(rank, COUNT);
    let from = SendBuffer::new(&own).unwrap();

    mpi::request::scope(|scope| {
        let mut came = of_rank::<T>(99, COUNT + 2);
        let request = next.immediate_send(scope, &from);
        let status = before.receive_into(&mut ReceiveBuffer::new(&mut came).unwrap());
        request.wait();
        assert_eq!(received_count::<T>(&status).unwrap(), COUNT);
        assert_same(&came[..COUNT], &of_rank::<T>(before.rank(), COUNT));
        assert_same(&came[COUNT..], &of_rank::<T>(99, COUNT + 2)[COUNT..]);
    });

    let root = world.process_at_rank(size - 1);
    let mut all = of_rank::<T>(rank, COUNT);
    root.broadcast_into(&mut ReceiveBuffer::new(&mut all).unwrap());
    assert_same(&all, &of_rank::<T>(size - 1, COUNT));

    let mut all = of_rank::<T>(99, COUNT * ranks);
    world.all_gather_into(&from, &mut ReceiveBuffer::new(&mut all).unwrap());
    let expected: Vec<T> = (0..size).flat_map(|rank| of_rank::<T>(rank, COUNT)).collect();
    assert_same(&all, &expected);

    let mut mine = of_rank::<T>(99, COUNT);
    {
        let mut into = ReceiveBuffer::new(&mut mine).unwrap();
        let root = world.process_at_rank(0);
        if rank == 0 {
            root.scatter_into_root(&SendBuffer::new(&expected).unwrap(), &mut into);
        } else {
            root.scatter_into(&mut into);
        }
    }
    assert_same(&mine, &own);

    // All to all with varying counts: rank i sends i + 1 elements to each rank.
    let part = usize::try_from(rank).unwrap() + 1;
    let out: Vec<T> = (0..ranks).flat_map(|_| of_rank::<T>(rank, part)).collect();
    let buffer = SendBuffer::new(&out).unwrap();
    let int = |number: usize| i32::try_from(number).unwrap();
    let counts = vec![int(part); ranks];
    let displacements: Vec<i32> = (0..ranks).map(|to| int(to * part)).collect();
    let theirs: Vec<i32> = (1..=ranks).map(int).collect();
    let places: Vec<i32> = (0..ranks).map(|from| int(from * (from + 1) / 2)).collect();
    let mut arrived = of_rank::<T>(99, ranks * (ranks + 1) / 2);
    {
        let mut into = ReceiveBuffer::new(&mut arrived).unwrap();
        let from = Partition::new(&buffer, counts, displacements);
        world.all_to_all_varcount_into(&from, &mut PartitionMut::new(&mut into, theirs, places));
    }
    let expected: Vec<T> = (0..ranks).flat_map(|from| of_rank::<T>(int(from), from + 1)).collect();
    assert_same(&arrived, &expected);
}

pub(crate) fn padding(world: &SimpleCommunicator) {
    for_each_plain!(padding_of(world));

    let (next, before) = ring(world);
    let out = [1, 2].map(|n| Skipping { sent: n, kept: 7, also: [9; 3] });
    let mut into = [5, 6].map(|n| Skipping { sent: 0, kept: n, also: [0; 3] });
    let buffer = SendBuffer::new(&out).unwrap();
    mpi::request::scope(|scope| {
        let request = next.immediate_send(scope, &buffer);
        before.receive_into(&mut ReceiveBuffer::new(&mut into).unwrap());
        request.wait();
    });
    let expected = [(1, 5), (2, 6)].map(|(sent, kept)| Skipping { sent, kept, also: [9; 3] });
    assert_eq!(into, expected);
}

/// The message has only data, and the receiver's padding is unchanged.
fn padding_of<T: Plain>(world: &SimpleCommunicator) {
    const COUNT: usize = 3;
    let (next, before) = ring(world);
    let own = of_rank::<T>(1, COUNT);
    let mut memory: Vec<MaybeUninit<T>> = Vec::with_capacity(COUNT);
    // SAFETY: there is room for all elements; all bytes are written, and any bytes are valid values.
    let elements = unsafe {
        memory.as_mut_ptr().write_bytes(0xa5, COUNT);
        std::slice::from_raw_parts_mut(memory.as_mut_ptr().cast::<T>(), COUNT)
    };
    let from = SendBuffer::new(&own).unwrap();
    mpi::request::scope(|scope| {
        let request = next.immediate_send(scope, &from);
        let status = before.receive_into(&mut ReceiveBuffer::new(elements).unwrap());
        request.wait();
        let bytes = usize::try_from(status.count(u8::equivalent_datatype())).unwrap();
        assert_eq!(bytes, dtype_runtime::packed_size::<T>(COUNT));
    });
    assert_eq!(pack(elements), pack(&own));
    let start = memory.as_ptr().cast::<u8>();
    for record in 0..COUNT {
        for gap in gaps::<T>() {
            for place in gap {
                // SAFETY: a byte of the records, written above; no value of `T` has been copied since.
                let byte = unsafe { start.add(record * size_of::<T>() + place).read() };
                assert_eq!(byte, 0xa5, "{}: byte {place}", std::any::type_name::<T>());
            }
        }
    }
}

pub(crate) fn wide(world: &SimpleCommunicator) {
    let (next, before) = ring(world);
    let own = [u128::MAX / 3, 5 << 100];
    // To the library, a `char` is an unsigned integer.
    let letters = ['a', '€', '\u{10ffff}'];
    let buffer = SendBuffer::new(&letters).unwrap();
    let from = SendBuffer::new(&own).unwrap();
    mpi::request::scope(|scope| {
        let request = next.immediate_send(scope, &from);
        let mut came = [0_u128; 2];
        before.receive_into(&mut ReceiveBuffer::new(&mut came).unwrap());
        request.wait();
        assert_eq!(came, own);
        let request = next.immediate_send(scope, &buffer);
        assert_eq!(before.receive_vec::<u32>().0, letters.map(u32::from));
        request.wait();
    });
}

pub(crate) fn counts(world: &SimpleCommunicator) {
    let (next, before) = ring(world);
    for bytes in [0, 1, 12, 13, 25, 26, 27] {
        let request = next.immediate_send_packed(&vec![7_u8; bytes], 3).unwrap();
        let mut room = [0_u8; 64];
        let status = before.receive_into_with_tag(&mut room[..], 3);
        request.wait().unwrap();
        let count = received_count::<(f64, u32, u8)>(&status);
        if bytes % 13 == 0 {
            assert_eq!(count.unwrap(), bytes / 13);
        } else {
            let (bytes, elements) = (bytes as u64, bytes as u64 / 13);
            assert_eq!(count.unwrap_err(), Error::Partial { bytes, elements, element: 13 });
        }
    }
}

/// If a message ends inside an element, the rest of that element is unchanged, and the count is an error.
pub(crate) fn part(world: &SimpleCommunicator) {
    let (next, before) = ring(world);
    for bytes in 0..16 {
        let request = next.immediate_send_packed(&vec![0xee_u8; bytes], 3).unwrap();
        let mut element = [[0x11_u8; 16]];
        let status = {
            let mut into = ReceiveBuffer::new(&mut element).unwrap();
            before.receive_into_with_tag(&mut into, 3)
        };
        request.wait().unwrap();
        let (came, rest) = element[0].split_at(bytes);
        assert!(came.iter().all(|byte| *byte == 0xee) && rest.iter().all(|byte| *byte == 0x11));
        let count = received_count::<[u8; 16]>(&status);
        let partial = Error::Partial { bytes: bytes as u64, elements: 0, element: 16 };
        assert_eq!(count, if bytes == 0 { Ok(0) } else { Err(partial) });
    }
}
