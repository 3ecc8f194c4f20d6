//! The receiver expects another type than the sender's, with as many packed bytes.

use dtype_mpi::traits::*;
use dtype_mpi::{Error, Operation};
use dtype_runtime::Datatype;
use dtype_test_support::numbers::Numbers;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

use crate::packed::ring;
use crate::shapes::{Flagged, Shape};

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Here {
    time: f64,
    channel: i32,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct There {
    channel: i64,
    time: f32,
}

/// The same signature as [`Here`] has, with other names.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Alike(f64, i32);

pub(crate) fn messages(world: &SimpleCommunicator) {
    let (next, before) = ring(world);
    let source_rank = before.rank();
    let heres = [Here { time: 0.5, channel: 7 }; 4];
    for tag in 0..4 {
        let request = next.immediate_send_checked(&heres, tag).unwrap();
        match tag {
            0 => {
                let (came, received) = before.recv_checked::<Alike>(tag).unwrap();
                assert_eq!(came, [Alike(0.5, 7); 4]);
                assert_eq!((received.bytes, received.count, received.tag), (48, 4, tag));
            }
            1 => {
                // A shorter slice, and then a longer one.
                let mut came = [Here { time: 0.0, channel: 0 }; 5];
                let error = before.recv_checked_into(&mut came[..3], tag).unwrap_err();
                assert_eq!(error, Error::Truncated { source_rank, tag, bytes: 48, capacity: 36 });
                assert_eq!(before.recv_checked_into(&mut came, tag).unwrap().count, 4);
                assert_eq!((&came[..4], came[4].channel), (&heres[..], 0));
            }
            2 => {
                let error = before.recv_checked::<There>(tag).unwrap_err();
                let text = format!(
                    "the message from rank {source_rank} with tag 2 has other elements than `There`: the type is `Here` there \
                     and `There` here; `channel` is i32 there and i64 here; `time` is f64 there and f32 here; the fields have \
                     another order: `time` comes there where `channel` comes here"
                );
                assert_eq!(error.to_string(), text);
            }
            _ => {
                let mut came = [There { channel: 1, time: 2.0 }; 4];
                let error = before.recv_checked_into(&mut came, tag).unwrap_err();
                assert!(matches!(error, Error::Signature { .. }), "{error}");
                assert_eq!(came, [There { channel: 1, time: 2.0 }; 4]);
            }
        }
        request.wait().unwrap();
    }
    // Values are checked, too.
    let flags = Flagged::some(3, &mut Numbers(70));
    let request = next.immediate_send_checked(&flags, 9).unwrap();
    assert_eq!(before.recv_checked::<Flagged>(9).unwrap().0, flags);
    request.wait().unwrap();
    // The same types in another number, twice: the type is sent with the first message alone.
    for _ in 0..2 {
        let request = next.immediate_send_checked(&[[0.5_f64; 3]], 9).unwrap();
        let error = before.recv_checked::<f64>(9).unwrap_err();
        let both = "than `f64`: the type is `[f64; 3]` there and `f64` here; the values are [f64; 3] there and f64 here";
        assert!(error.to_string().ends_with(both), "{error}");
        request.wait().unwrap();
    }
    // A schema is not taken for elements, whatever the length of these and the room.
    for room in 0..3 {
        let request = next.immediate_send_checked(&heres, 20).unwrap();
        let mut few = [1_u16; 2];
        let error = before.recv_checked_into(&mut few[..room], 20).unwrap_err();
        assert!(matches!(error, Error::Truncated { bytes: 48, .. }), "{error}");
        assert_eq!(before.recv_checked::<Here>(20).unwrap().0, heres);
        request.wait().unwrap();
    }
    // Elements of one byte have no schema.
    let request = next.immediate_send_checked(&[1_u8; 5], 21).unwrap();
    let error = before.recv_checked_into(&mut [true; 4], 21).unwrap_err();
    assert_eq!(error, Error::Truncated { source_rank, tag: 21, bytes: 5, capacity: 4 });
    let error = before.recv_checked::<bool>(21).unwrap_err();
    let expected = "bool".to_owned();
    let differences = Vec::new();
    assert_eq!(error, Error::Signature { source_rank, tag: 21, expected, differences });
    request.wait().unwrap();
    // A request that is tested, with its schema.
    let mut request = next.immediate_send_checked(&heres, 22).unwrap();
    assert_eq!(before.recv_checked::<Here>(22).unwrap().1.count, 4);
    while !request.test().unwrap() {}
    assert_eq!(request.wait().unwrap_err(), Error::Received);
    // Messages without a signature are refused, whatever their bytes.
    let not_checked = Error::NotChecked { source_rank, tag: 9 };
    let request = next.immediate_send_packed(&heres, 9).unwrap();
    assert_eq!(before.recv_checked::<Here>(9).unwrap_err(), not_checked);
    request.wait().unwrap();
    for byte in 0..=255_u8 {
        let request = next.immediate_send_packed(&[byte; 40], 9).unwrap();
        assert_eq!(before.recv_checked_into(&mut [0_u64; 9], 9).unwrap_err(), not_checked);
        request.wait().unwrap();
    }
    let request = next.immediate_send_packed(&[0_u8; 15], 9).unwrap();
    assert_eq!(before.recv_checked::<u8>(9).unwrap_err(), not_checked);
    // The refused message is still there.
    assert_eq!(before.recv_packed::<u8>(9).unwrap().0, [0; 15]);
    request.wait().unwrap();
    if world.size() > 1 {
        match world.rank() {
            0 => world.process_at_rank(1).send_checked(&[(); 0], 3).unwrap(),
            1 => assert_eq!(world.process_at_rank(0).recv_checked::<()>(3).unwrap().0, []),
            _ => {}
        }
    }
}

pub(crate) fn collectives(world: &SimpleCommunicator) {
    let last = world.size() - 1;
    if last == 0 {
        return;
    }
    let here = [Here { time: 0.5, channel: 7 }; 2];
    let there = [There { channel: 1, time: 2.0 }; 2];
    let counts: Vec<usize> = (0..world.size()).map(|rank| if rank == 0 { 2 } else { 0 }).collect();
    let is_other = world.rank() == last;
    let errors =
        if is_other { refusals(world, &there, &counts) } else { refusals(world, &here, &counts) };
    let (here, there) = ("{f64, i32}".to_owned(), "{i64, f32}".to_owned());
    let expected = if is_other {
        Error::Elements { rank: 0, ours: there, theirs: here }
    } else {
        Error::Elements { rank: last, ours: here, theirs: there }
    };
    for error in errors {
        assert_eq!(error, expected);
    }
}

fn refusals<T: Datatype + Copy>(
    world: &SimpleCommunicator,
    elements: &[T; 2],
    counts: &[usize],
) -> [Error; 8] {
    let first = Operation::commutative(|a: &T, b: &mut T| *b = *a).unwrap();
    [
        world.broadcast_packed(&mut elements.to_vec(), 0).unwrap_err(),
        world.broadcast_packed_into(&mut elements.clone(), 0).unwrap_err(),
        world.gather_packed(elements, 0).map(drop).unwrap_err(),
        world.all_gather_packed(elements).map(drop).unwrap_err(),
        world.scatter_packed(elements, counts, 0).map(drop).unwrap_err(),
        world.all_to_all_packed(elements, counts).map(drop).unwrap_err(),
        world.reduce_packed(elements, &first, 0).map(drop).unwrap_err(),
        world.all_reduce_packed(elements, &first).map(drop).unwrap_err(),
    ]
}
