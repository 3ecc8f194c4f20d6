//! Requests: waited for, tested, dropped, forgotten.

use dtype_mpi::Error;
use dtype_mpi::traits::*;
use dtype_test_support::numbers::Numbers;
use mpi::topology::{Color, SimpleCommunicator};
use mpi::traits::*;

use crate::packed::ring;
use crate::shapes::{Flagged, Shape};

pub(crate) fn requests(world: &SimpleCommunicator) {
    let (next, before) = ring(world);
    for count in [0, 3, 100_000] {
        let own = Flagged::some(count, &mut Numbers(20));
        let mut came = Flagged::some(count + 1, &mut Numbers(21));
        let last = came[count].clone();
        let receive = before.immediate_recv_packed_into(&mut came, 6).unwrap();
        let send = next.immediate_send_packed(&own, 6).unwrap();
        let received = receive.wait().unwrap();
        send.wait().unwrap();
        assert_eq!((received.count, received.source, received.tag), (count, before.rank(), 6));
        assert_eq!((&came[..count], &came[count]), (&own[..], &last));

        // Completed by testing.
        let mut came = Flagged::some(count, &mut Numbers(22));
        let mut receive = before.immediate_recv_packed_into(&mut came, 6).unwrap();
        world.barrier();
        assert!(receive.test().unwrap().is_none(), "nothing was sent yet");
        world.barrier();
        let mut send = next.immediate_send_packed(&own, 6).unwrap();
        let received = loop {
            if let Some(received) = receive.test().unwrap() {
                break received;
            }
        };
        while !send.test().unwrap() {}
        assert_eq!(received.count, count);
        assert_eq!(receive.test().unwrap_err(), Error::Received);
        assert_eq!(send.test().unwrap_err(), Error::Received);
        assert_eq!(receive.wait().unwrap_err(), Error::Received);
        assert_eq!(send.wait().unwrap_err(), Error::Received);
        assert_eq!(came, own);
    }
}

pub(crate) fn dropped(world: &SimpleCommunicator) {
    let (next, before) = ring(world);
    let own = Flagged::some(2000, &mut Numbers(23));
    let mut elements = Flagged::some(2000, &mut Numbers(24));
    let unchanged = elements.clone();
    // Dropping a receive does not consume a message.
    drop(before.immediate_recv_packed_into(&mut elements, 7).unwrap());
    world.barrier();
    let send = next.immediate_send_packed(&own, 7).unwrap();
    assert_eq!(before.recv_packed::<Flagged>(7).unwrap().0, own);
    assert_eq!(elements, unchanged);
    drop(send);
    // A dropped send arrives, and so does a leaked one.
    let receive = before.immediate_recv_packed_into(&mut elements, 7).unwrap();
    drop(next.immediate_send_packed(&own, 7).unwrap());
    receive.wait().unwrap();
    assert_eq!(elements, own);
    std::mem::forget(next.immediate_send_packed(&own[..10], 7).unwrap());
    assert_eq!(before.recv_packed::<Flagged>(7).unwrap().0, own[..10]);
    // A leaked receive keeps its own memory, and the message is written there.
    let mut elements = unchanged.clone();
    std::mem::forget(before.immediate_recv_packed_into(&mut elements, 8).unwrap());
    next.immediate_send_packed(&own, 8).unwrap().wait().unwrap();
    assert_eq!(elements, unchanged);
}

pub(crate) fn lengths(world: &SimpleCommunicator) {
    let (next, before) = ring(world);
    let own = Flagged::some(8, &mut Numbers(25));
    let mut few = Flagged::some(5, &mut Numbers(26));
    let unchanged = few.clone();

    let receive = before.immediate_recv_packed_into(&mut few, 9).unwrap();
    let send = next.immediate_send_packed(&own, 9).unwrap();
    let error = receive.wait().unwrap_err();
    let Error::Truncated { source_rank, tag, capacity, .. } = error else { panic!("{error}") };
    assert_eq!((source_rank, tag, capacity), (before.rank(), 9, 5 * 14));
    send.wait().unwrap();

    let receive = before.immediate_recv_packed_into(&mut few, 9).unwrap();
    let send = next.immediate_send_packed(&[1_u8; 30], 9).unwrap();
    let partial = Error::Partial { bytes: 30, elements: 2, element: 14 };
    assert_eq!(receive.wait().unwrap_err(), partial);
    send.wait().unwrap();
    assert_eq!(few, unchanged);
}

/// The error of a request comes back on each communicator, whether the message or the receive comes first.
pub(crate) fn communicators(world: &SimpleCommunicator) {
    let own = world.split_by_color(Color::with_value(world.rank())).unwrap();
    for (communicator, is_sent_first) in
        [(&world.duplicate(), false), (&world.duplicate(), true), (&own, false), (&own, true)]
    {
        let (next, before) = ring(communicator);
        let mut few = [2_u8; 5];
        let send = || next.immediate_send_packed(&[1_u8; 6000], 11).unwrap();
        let first = is_sent_first.then(send);
        let receive = before.immediate_recv_packed_into(&mut few, 11).unwrap();
        let send = first.unwrap_or_else(send);
        let error = receive.wait().unwrap_err();
        assert!(matches!(error, Error::Truncated { tag: 11, capacity: 5, .. }), "{error}");
        send.wait().unwrap();
        assert_eq!(few, [2; 5]);
    }
}

/// Open MPI copies a long message from the sender's memory at once, even beyond the receiver's room.
pub(crate) fn too_long(world: &SimpleCommunicator) {
    let (next, before) = ring(world);
    let own = vec![1_u8; 16 << 20];
    for room in [0, 1, 1000, 100_000] {
        let mut few = vec![2_u8; room];
        let receive = before.immediate_recv_packed_into(&mut few, 10).unwrap();
        let send = next.immediate_send_packed(&own, 10).unwrap();
        let error = receive.wait().unwrap_err();
        let here =
            matches!(error, Error::Truncated { tag: 10, capacity, .. } if capacity == room as u64);
        assert!(here, "{error}");
        send.wait().unwrap();
        assert_eq!(few, vec![2; room]);
    }
}
