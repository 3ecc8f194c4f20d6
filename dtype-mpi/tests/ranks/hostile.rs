//! Peers that send bytes that are not valid values.

use dtype_mpi::traits::*;
use dtype_mpi::{Error, any_tag};
use dtype_runtime::{Datatype, pack};
use dtype_test_support::numbers::Numbers;
use mpi::collective::SystemOperation;
use mpi::topology::{Color, SimpleCommunicator};
use mpi::traits::*;

use crate::packed::ring;
use crate::shapes::{Flagged, Shape};

fn assert_invalid(error: &Error, expected: (usize, &str)) {
    let Error::Type(dtype_runtime::Error::InvalidValue { record, path, .. }) = error else {
        panic!("{error}")
    };
    assert_eq!((*record, path.as_str()), expected);
}

/// Three records; the flag of the second has an invalid value.
fn poisoned() -> Vec<u8> {
    let mut bytes = pack(&Flagged::some(3, &mut Numbers(1)));
    bytes[14] = 2;
    bytes
}

const EXPECTED: (usize, &str) = (1, "flag");

pub(crate) fn messages(world: &SimpleCommunicator) {
    let (next, before) = ring(world);
    let bytes = poisoned();
    let mut elements = Flagged::some(3, &mut Numbers(2));
    let unchanged = elements.clone();
    mpi::request::scope(|scope| {
        // The bytes are sent as plain bytes.
        let send = || next.immediate_send_with_tag(scope, &bytes[..], 1);
        let request = send();
        assert_invalid(&before.recv_packed::<Flagged>(any_tag()).unwrap_err(), EXPECTED);
        request.wait();
        let request = send();
        let error = before.recv_packed_into(&mut elements, any_tag()).unwrap_err();
        assert_invalid(&error, EXPECTED);
        request.wait();
        let receive = before.immediate_recv_packed_into(&mut elements, 1).unwrap();
        let request = send();
        assert_invalid(&receive.wait().unwrap_err(), EXPECTED);
        request.wait();
    });
    assert_eq!(elements, unchanged);
    // Received as plain bytes, they are valid, and no other message is pending.
    let request = next.immediate_send_packed(&bytes, 1).unwrap();
    assert_eq!(before.recv_packed::<u8>(any_tag()).unwrap().0, bytes);
    request.wait().unwrap();
}

/// Another program's record with the type signature of [`Flagged`]. Its last byte can be anything.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Raw {
    flag: bool,
    value: f64,
    letter: char,
    kind: u8,
}

pub(crate) fn collectives(world: &SimpleCommunicator) {
    let (rank, size) = (world.rank(), world.size());
    let root = size - 1;
    let good = Flagged::some(3, &mut Numbers(1));
    let mut bad = dtype_runtime::unpack::<Raw>(&pack(&good)).unwrap();
    bad[1].kind = 200;
    let hostile = rank == root;

    // The root is hostile, and takes part as usual.
    let mut elements = Flagged::some(3, &mut Numbers(2));
    let unchanged = elements.clone();
    for into in [false, true] {
        if hostile {
            let mut bad = bad.clone();
            if into {
                world.broadcast_packed_into(&mut bad, root).unwrap();
            } else {
                world.broadcast_packed(&mut bad, root).unwrap();
            }
        } else {
            let result = if into {
                world.broadcast_packed_into(&mut elements, root)
            } else {
                world.broadcast_packed(&mut elements, root)
            };
            assert_invalid(&result.unwrap_err(), (1, "kind"));
        }
    }
    assert_eq!(elements, unchanged);

    let before = 3 * usize::try_from(root).unwrap();
    if hostile {
        // The hostile root receives plain bytes.
        assert_eq!(world.all_gather_packed(&bad).unwrap().counts.len(), before / 3 + 1);
    } else {
        let error = world.all_gather_packed(&good).unwrap_err();
        assert_invalid(&error, (before + 1, "kind"));
    }
    // The same with a well-behaved root: rank 0, if there is another rank.
    if hostile && root > 0 {
        assert_eq!(world.gather_packed(&bad, 0).unwrap(), None);
    } else {
        let result = world.gather_packed(&good, 0);
        match (rank, root) {
            (0, 0) => assert_eq!(result.unwrap().unwrap().elements, good),
            (0, _) => assert_invalid(&result.unwrap_err(), (before + 1, "kind")),
            _ => assert_eq!(result.unwrap(), None),
        }
    }
    // Two records for each rank, one of which is not valid.
    let counts = vec![2; usize::try_from(size).unwrap()];
    let for_all = |record: Raw| vec![record; counts.len() * 2];
    if hostile {
        world.scatter_packed::<Raw>(&for_all(bad[1]), &counts, root).unwrap();
        world.all_to_all_packed::<Raw>(&for_all(bad[1]), &counts).unwrap();
    } else {
        let error = world.scatter_packed::<Flagged>(&[], &[], root).unwrap_err();
        assert_invalid(&error, (0, "kind"));
        let out = Flagged::some(counts.len() * 2, &mut Numbers(3));
        let error = world.all_to_all_packed(&out, &counts).unwrap_err();
        assert_invalid(&error, (counts.len() * 2 - 2, "kind"));
    }
}

/// A type without values, so no bytes are valid.
#[derive(Datatype, Debug, PartialEq)]
#[dtype(check = never)]
struct Never;

fn never(_: &Never) -> bool {
    false
}

/// A rank announces elements without data, and the invariant of such an element is checked, too.
pub(crate) fn without_data(world: &SimpleCommunicator) {
    let (rank, ranks) = (world.rank(), usize::try_from(world.size()).unwrap());
    if ranks < 2 {
        return;
    }
    let counts = vec![1; ranks];
    if rank == 0 {
        world.broadcast_packed(&mut vec![(); 1 << 40], 0).unwrap();
        world.scatter_packed(&vec![(); ranks], &counts, 0).unwrap();
        assert_eq!(world.all_gather_packed(&[(); 3]).unwrap().elements.len(), 3);
        world.all_to_all_packed(&vec![(); ranks], &counts).unwrap();
        return;
    }
    let mut elements = Vec::<Never>::new();
    let errors = [
        world.broadcast_packed(&mut elements, 0).unwrap_err(),
        world.scatter_packed::<Never>(&[], &[], 0).unwrap_err(),
        world.all_gather_packed::<Never>(&[]).unwrap_err(),
        world.all_to_all_packed::<Never>(&[], &vec![0; ranks]).unwrap_err(),
    ];
    for error in errors {
        let Error::Type(dtype_runtime::Error::CheckFailed { record: 0, .. }) = error else {
            panic!("{error}")
        };
    }
    assert_eq!(elements, []);
}

/// The root is another program, which announces 1000 elements and sends one. Some libraries do not report this.
pub(crate) fn short_broadcast(world: &SimpleCommunicator) {
    const SAID: usize = 1000;
    if world.size() < 2 {
        return;
    }
    let pair = world.split_by_color(Color::with_value(world.rank() / 2)).unwrap();
    if pair.rank() == 0 {
        let mut said = vec![0_i64; 3 * 2];
        let signature = u64::TYPE_MAP.signature_hash().cast_signed();
        pair.all_gather_into(&[0, SAID as i64, signature][..], &mut said);
        for _ in 0..2 {
            let mut refusing = 0_i32;
            pair.all_reduce_into(&-1, &mut refusing, SystemOperation::max());
        }
        pair.this_process().broadcast_into(&mut [7_u64][..]);
        return;
    }
    // Leaves memory with other contents for the allocator to hand out again.
    drop(std::hint::black_box([(); 8].map(|()| vec![0xabcd_u64; SAID])));
    let mut elements = vec![1_u64];
    match pair.broadcast_packed(&mut elements, 0) {
        Ok(()) => {
            let expected: Vec<u64> = (0..SAID).map(|i| if i == 0 { 7 } else { 0 }).collect();
            assert!(elements == expected, "{:x?}", &elements[..4]);
        }
        Err(error) => {
            assert!(matches!(error, Error::Call { call: "MPI_Bcast", .. }), "{error}");
            assert_eq!(elements, [1]);
        }
    }
}
