//! Collective operations on packed elements.

use std::fmt::Debug;

use dtype_mpi::traits::*;
use dtype_mpi::{Error, Gathered, Operation, any_tag};
use dtype_test_support::numbers::Numbers;
use mpi::ffi;
use mpi::raw::FromRaw;
use mpi::topology::{Color, InterCommunicator, SimpleCommunicator};
use mpi::traits::*;

use crate::shapes::{Flagged, Shape, assert_same, for_each_plain};

/// The elements of a rank. Their number differs by rank, and some ranks have none.
fn of_rank<T: Shape>(rank: usize) -> Vec<T> {
    T::some((rank * 5) % 4 * 3, &mut Numbers(rank as u64))
}

fn index(rank: i32) -> usize {
    usize::try_from(rank).expect("ranks are not negative")
}

fn assert_all<T: Shape>(gathered: &Gathered<T>, size: usize) {
    assert_eq!(gathered.counts.len(), size);
    for (rank, part) in gathered.by_rank().enumerate() {
        assert_same(part, &of_rank::<T>(rank));
        assert_same(gathered.from_rank(i32::try_from(rank).unwrap()).unwrap(), part);
    }
    let all: Vec<T> = (0..size).flat_map(of_rank).collect();
    assert_same(&gathered.elements, &all);
    assert!(gathered.from_rank(-1).is_none());
    assert!(gathered.from_rank(i32::try_from(size).unwrap()).is_none());
}

pub(crate) fn gather(world: &SimpleCommunicator) {
    for_each_plain!(gather_of(world));
    gather_of::<Flagged>(world);
}

fn gather_of<T: Shape>(world: &SimpleCommunicator) {
    let (rank, size) = (index(world.rank()), index(world.size()));
    let own = of_rank::<T>(rank);
    assert_all(&world.all_gather_packed(&own).unwrap(), size);
    for root in 0..world.size() {
        let gathered = world.gather_packed(&own, root).unwrap();
        assert_eq!(gathered.is_some(), rank == index(root));
        if let Some(gathered) = gathered {
            assert_all(&gathered, size);
        }
    }
}

pub(crate) fn from_root(world: &SimpleCommunicator) {
    for_each_plain!(from_root_of(world));
    from_root_of::<Flagged>(world);
}

fn from_root_of<T: Shape>(world: &SimpleCommunicator) {
    let (rank, size) = (index(world.rank()), index(world.size()));
    for root in 0..world.size() {
        let mut elements = of_rank::<T>(rank);
        world.broadcast_packed(&mut elements, root).unwrap();
        assert_same(&elements, &of_rank::<T>(index(root)));

        let theirs = |rank: usize| T::some(6, &mut Numbers(rank as u64 + 50));
        let mut elements = theirs(rank);
        world.broadcast_packed_into(&mut elements, root).unwrap();
        assert_same(&elements, &theirs(index(root)));

        let all: Vec<T> = (0..size).flat_map(of_rank).collect();
        let counts: Vec<usize> = (0..size).map(|rank| of_rank::<T>(rank).len()).collect();
        let own = if rank == index(root) {
            world.scatter_packed(&all, &counts, root).unwrap()
        } else {
            world.scatter_packed::<T>(&[], &[], root).unwrap()
        };
        assert_same(&own, &of_rank::<T>(rank));
    }
}

pub(crate) fn all_to_all(world: &SimpleCommunicator) {
    for_each_plain!(all_to_all_of(world));
    all_to_all_of::<Flagged>(world);
}

fn all_to_all_of<T: Shape>(world: &SimpleCommunicator) {
    let (rank, size) = (index(world.rank()), index(world.size()));
    let part = |from: usize, to: usize| {
        T::some((from + 2 * to) % 5, &mut Numbers((from * 16 + to) as u64))
    };
    let out: Vec<T> = (0..size).flat_map(|to| part(rank, to)).collect();
    let counts: Vec<usize> = (0..size).map(|to| part(rank, to).len()).collect();
    let arrived = world.all_to_all_packed(&out, &counts).unwrap();
    for (from, came) in arrived.by_rank().enumerate() {
        assert_same(came, &part(from, rank));
    }
    assert_eq!(arrived.counts.len(), size);
}

/// Checks that the ranks at fault get one error, and the other ranks another one.
fn assert_refused<R: Debug>(result: Result<R, Error>, fault: bool, peer: i32, expected: &Error) {
    let expected = if fault { expected.clone() } else { Error::Peer { rank: peer } };
    assert_eq!(result.unwrap_err(), expected);
}

pub(crate) fn refused(world: &SimpleCommunicator) {
    let (rank, size) = (world.rank(), world.size());
    let ranks = index(size);
    let elements = Flagged::some(4, &mut Numbers(60));
    // Roots that are not ranks.
    for root in [-1, size] {
        let error = Error::Root { root, last: size - 1 };
        assert_eq!(world.broadcast_packed(&mut elements.clone(), root).unwrap_err(), error);
        assert_eq!(world.gather_packed(&elements, root).unwrap_err(), error);
        assert_eq!(world.scatter_packed(&elements, &[], root).unwrap_err(), error);
    }
    // Invalid counts, at one rank.
    let last = size - 1;
    let mut counts = vec![0; ranks];
    counts[0] = if rank == last { 5 } else { 4 };
    let wrong = |counts: usize, sum| Error::Counts { counts, sum, elements: 4, ranks: size };
    let result = world.all_to_all_packed(&elements, &counts);
    assert_refused(result, rank == last, last, &wrong(ranks, 5));
    let result = world.scatter_packed(&elements, &counts, last);
    assert_refused(result, rank == last, last, &wrong(ranks, 5));
    let counts = vec![usize::MAX; if rank == last { ranks + 1 } else { ranks }];
    let result = world.all_to_all_packed(&elements, &counts);
    let sum = if counts.len() == 1 { usize::MAX as u64 } else { u64::MAX };
    assert_eq!(result.unwrap_err(), wrong(counts.len(), sum));
    if size > 1 {
        // The ranks disagree on the root, on the number of elements, and on the elements.
        let error = world.gather_packed(&elements, i32::from(rank == last)).unwrap_err();
        let (other, ours, theirs) = if rank == last { (0, 1, 0) } else { (last, 0, 1) };
        let argument = "the root";
        assert_eq!(error, Error::Mismatch { rank: other, argument, ours, theirs });
        let mut some = elements[..if rank == last { 3 } else { 4 }].to_vec();
        let error = world.broadcast_packed_into(&mut some, 0).unwrap_err();
        assert!(matches!(error, Error::Mismatch { argument: "the number of elements", .. }));
        let error = if rank == last {
            world.all_gather_packed(&[1_u8]).map(drop).unwrap_err()
        } else {
            world.all_gather_packed(&elements).map(drop).unwrap_err()
        };
        let (own, byte) = ("{bool, f64, char, u8}".to_owned(), "{u8}".to_owned());
        let (other, ours, theirs) = if rank == last { (0, byte, own) } else { (last, own, byte) };
        assert_eq!(error, Error::Elements { rank: other, ours, theirs });
    }
    // The communicator still works after all these errors.
    gather_of::<Flagged>(world);
}

pub(crate) fn empty(world: &SimpleCommunicator) {
    let (rank, size) = (index(world.rank()), index(world.size()));
    let nothing = vec![(); rank + 3];
    let all = world.all_gather_packed(&nothing).unwrap();
    assert_eq!(all.counts, (0..size).map(|rank| rank + 3).collect::<Vec<_>>());
    assert_eq!(all.elements.len(), all.counts.iter().sum());
    let mut nothing = vec![(); rank];
    world.broadcast_packed(&mut nothing, world.size() - 1).unwrap();
    assert_eq!(nothing.len(), size - 1);
    let counts = vec![1; size];
    assert_eq!(world.all_to_all_packed(&vec![(); size], &counts).unwrap().counts, counts);
    let of = dtype_mpi::Operation::commutative(|(): &(), (): &mut ()| {}).unwrap();
    assert_eq!(world.all_reduce_packed(&[(); 4], &of).unwrap(), [(); 4]);
    let none = world.all_gather_packed::<f64>(&[]).unwrap();
    assert_eq!((none.elements, none.counts), (vec![], vec![0; size]));
    // The largest number of elements.
    for many in [usize::MAX, usize::MAX / 2 + 1, usize::MAX - 5] {
        let mut nothing = if world.rank() == 0 { vec![(); many] } else { vec![] };
        world.broadcast_packed(&mut nothing, 0).unwrap();
        assert_eq!(nothing.len(), many);
        // More elements than can be counted.
        let error = world.all_gather_packed(&nothing).unwrap_err();
        assert!(matches!(error, Error::Count { call: "MPI_Allgatherv", .. }), "{error}");
    }
}

/// On an intercommunicator all functions return an error and leave no message pending.
pub(crate) fn between_groups(world: &SimpleCommunicator) {
    if world.size() < 2 {
        return;
    }
    let first = world.rank() == 0;
    let local = world.split_by_color(Color::with_value(i32::from(first))).unwrap();
    // An intercommunicator like that of `Root::spawn`: rank 0 on one side, and all others on the other side.
    // SAFETY: both communicators are alive, and the leaders are the first rank of each group. The handle has one owner.
    let inter = unsafe {
        let mut handle = ffi::RSMPI_COMM_NULL;
        let (local, leader) = (local.as_raw(), i32::from(first));
        ffi::MPI_Intercomm_create(local, 0, world.as_raw(), leader, 7, &raw mut handle);
        InterCommunicator::from_raw(handle)
    };
    let own = Flagged::some(3, &mut Numbers(1));
    let mut elements = own.clone();
    let counts = vec![3; index(inter.size())];
    let first_of = |a: &Flagged, b: &mut Flagged| *b = a.clone();
    let operation = Operation::associative(first_of).unwrap();
    let refusals = [
        inter.broadcast_packed(&mut elements, 0).unwrap_err(),
        inter.broadcast_packed_into(&mut elements, 0).unwrap_err(),
        inter.gather_packed(&own, 0).unwrap_err(),
        inter.all_gather_packed(&own).unwrap_err(),
        inter.scatter_packed(&own, &counts, 0).unwrap_err(),
        inter.all_to_all_packed(&own, &counts).unwrap_err(),
        inter.reduce_packed(&own, &operation, 0).unwrap_err(),
        inter.all_reduce_packed(&own, &operation).unwrap_err(),
    ];
    let (local, remote) = (inter.size(), inter.remote_size());
    for refusal in refusals {
        assert_eq!(refusal, Error::Intercommunicator { local, remote });
    }
    assert_eq!(elements, own);
    // A rank of an intercommunicator is a rank of the other group.
    let process = inter.process_at_rank(0);
    let request = process.immediate_send_packed(&own, 8).unwrap();
    if first {
        for rank in 0..remote {
            assert_eq!(
                inter.process_at_rank(rank).recv_packed::<Flagged>(any_tag()).unwrap().0,
                own
            );
        }
    } else if inter.rank() == 0 {
        assert_eq!(process.recv_packed::<Flagged>(any_tag()).unwrap().0, own);
    }
    request.wait().unwrap();
}
