//! Reductions with functions of the program.

use dtype_mpi::traits::*;
use dtype_mpi::{Error, Operation, any_tag, flatten, flatten_mut};
use dtype_runtime::Datatype;
use dtype_test_support::numbers::Numbers;
use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

use crate::shapes::{Flagged, Kind, Shape};

/// The map x ↦ ax + b of numbers modulo 2³². Composition is associative, and its order matters.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Affine {
    odd: bool,
    a: u32,
    b: u32,
}

fn of_rank(rank: i32, count: usize) -> Vec<Affine> {
    let mut random = Numbers(u64::from(rank.unsigned_abs()) + 70);
    let mut number = || u32::try_from(random.next() >> 33).expect("31 bits");
    (0..count)
        .map(|_| {
            let (a, b) = (number(), number());
            Affine { odd: a % 2 == 1, a, b }
        })
        .collect()
}

/// Composes `first`, then `second`, and stores the result in `second`.
fn compose(first: &Affine, second: &mut Affine) {
    second.b = second.a.wrapping_mul(first.b).wrapping_add(second.b);
    second.a = second.a.wrapping_mul(first.a);
    second.odd = second.a % 2 == 1;
}

pub(crate) fn results(world: &SimpleCommunicator) {
    let (rank, size) = (world.rank(), world.size());
    let in_order = Operation::associative(compose).unwrap();
    let calls = std::sync::atomic::AtomicUsize::new(0);
    let greatest = Operation::commutative(|a: &Flagged, b: &mut Flagged| {
        calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        b.value = b.value.max(a.value);
        b.flag |= a.flag;
        b.letter = b.letter.max(a.letter);
        b.kind = if a.kind == Kind::Fixed { Kind::Fixed } else { b.kind };
    })
    .unwrap();
    for count in [0, 1, 5, 20_000] {
        let own = of_rank(rank, count);
        let mut expected = of_rank(0, count);
        for later in 1..size {
            let before = std::mem::replace(&mut expected, of_rank(later, count));
            before.iter().zip(&mut expected).for_each(|(first, second)| compose(first, second));
        }
        assert_eq!(world.all_reduce_packed(&own, &in_order).unwrap(), expected);
        for root in 0..size {
            let reduced = world.reduce_packed(&own, &in_order, root).unwrap();
            assert_eq!(reduced, (rank == root).then(|| expected.clone()));
        }
        let own = |rank: i32| Flagged::some(count, &mut Numbers(rank.unsigned_abs().into()));
        let reduced = world.all_reduce_packed(&own(rank), &greatest).unwrap();
        let all: Vec<Vec<Flagged>> = (0..size).map(own).collect();
        for (i, reduced) in reduced.iter().enumerate() {
            let all = || all.iter().map(|rank| &rank[i]);
            assert!(all().all(|one| reduced.value >= one.value));
            assert!(all().any(|one| reduced.value == one.value));
            assert_eq!(reduced.flag, all().any(|one| one.flag));
            assert_eq!(Some(reduced.letter), all().map(|one| one.letter).max());
        }
    }
    let called = calls.load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(called > 0, size > 1 && rank_combines(world, called), "{called} calls");
}

/// Checks that at least one rank called the function. Not every rank has to.
fn rank_combines(world: &SimpleCommunicator, calls: usize) -> bool {
    let mut all = vec![0_u64; usize::try_from(world.size()).unwrap()];
    world.all_gather_into(&(calls as u64), &mut all[..]);
    assert!(all.iter().any(|&calls| calls > 0));
    calls > 0
}

/// A panic payload that is not text, and that panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("again");
    }
}

pub(crate) fn panics(world: &SimpleCommunicator) {
    let size = world.size();
    let own = of_rank(world.rank(), 100);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let sulks = Operation::associative(|first: &Affine, second: &mut Affine| {
        assert!(first.a == 0 && first.b == 1, "not a word");
        compose(first, second);
    })
    .unwrap();
    for root in [None, Some(0), Some(size - 1)] {
        let result = match root {
            None => world.all_reduce_packed(&own, &sulks).map(Some),
            Some(root) => world.reduce_packed(&own, &sulks, root),
        };
        match result {
            Err(Error::Panic { message }) => assert_eq!(message, "not a word"),
            Err(Error::Peer { .. }) => assert!(size > 1),
            other => assert!(size == 1 && other.is_ok(), "{other:?}"),
        }
    }
    let bombs = Operation::commutative(|_: &u16, _: &mut u16| std::panic::panic_any(Bomb)).unwrap();
    let result = world.all_reduce_packed(&[1_u16, 2], &bombs);
    assert_eq!(result.is_err(), size > 1);
    std::panic::set_hook(hook);
    results(world);
}

pub(crate) fn calls(world: &SimpleCommunicator) {
    // The function of a reduction cannot call MPI.
    let seen = std::sync::Mutex::new(Vec::new());
    let nosy = Operation::commutative(|_: &u8, _: &mut u8| {
        let world = SimpleCommunicator::world();
        let asked = [
            dtype_mpi::Datatype::of::<[(u8, u64); 9]>().map(drop),
            world.any_process().recv_packed::<u8>(any_tag()).map(drop),
        ];
        seen.lock().unwrap().extend(asked);
    })
    .unwrap();
    world.all_reduce_packed(&[1_u8], &nosy).unwrap();
    for asked in seen.lock().unwrap().drain(..) {
        assert!(matches!(asked, Err(Error::NotRunning { state: "reducing", .. })), "{asked:?}");
    }
    dtype_mpi::Datatype::of::<[(u8, u64); 9]>().unwrap();
}

pub(crate) fn invalid(world: &SimpleCommunicator) {
    let (rank, last) = (world.rank(), world.size() - 1);
    let either = Operation::commutative(|a: &bool, b: &mut bool| *b |= a).unwrap();
    let bytes = Operation::commutative(|a: &u8, b: &mut u8| *b = (*b).max(*a)).unwrap();
    let kinds = Operation::commutative(|_: &Kind, _: &mut Kind| {}).unwrap();
    // An enum and a number can have the same signature.
    let error = if rank == last {
        world.all_reduce_packed(&[200_u8], &bytes).err()
    } else {
        world.all_reduce_packed(&[Kind::Free], &kinds).err()
    };
    match (last, error) {
        (0, error) => assert_eq!(error, None),
        (_, Some(Error::Type(dtype_runtime::Error::InvalidValue { .. }) | Error::Peer { .. })) => {}
        // The rank that took the bytes for numbers combined them. To other ranks the result is no value of the enum.
        (_, None) => assert_eq!(rank, last),
        (_, error) => panic!("{error:?}"),
    }
    assert_eq!(world.all_reduce_packed(&[rank == last], &either).unwrap(), [true]);
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Force {
    linear: [f64; 3],
    angular: (f64, f64),
}

pub(crate) fn flattened(world: &SimpleCommunicator) {
    let own = [Force { linear: [1.0, 2.0, 3.0], angular: (0.5, f64::from(world.rank())) }; 2];
    let mut sums = [Force { linear: [0.0; 3], angular: (0.0, 0.0) }; 2];
    let into = flatten_mut::<_, f64>(&mut sums).unwrap();
    world.all_reduce_into(flatten::<_, f64>(&own).unwrap(), into, SystemOperation::sum());
    let n = f64::from(world.size());
    let sum = Force { linear: [n, 2.0 * n, 3.0 * n], angular: (0.5 * n, n * (n - 1.0) / 2.0) };
    assert_eq!(sums, [sum; 2]);
    assert!(flatten::<_, f32>(&own).is_err());
    assert!(flatten::<_, f64>(&[(1.0_f64, 1_u8)]).is_err());
    assert!(flatten::<_, u8>(&[true]).is_err());
    assert!(flatten::<_, u64>(&[[0_u8; 8]]).is_err());
    assert!(flatten::<(), u8>(&[()]).is_err());
}
