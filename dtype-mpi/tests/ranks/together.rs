//! Several threads at once.

use std::collections::HashSet;
use std::sync::{Barrier, Mutex};
use std::thread;

use dtype_mpi::Datatype;
use dtype_mpi::traits::*;
use dtype_test_support::numbers::Numbers;
use mpi::raw::AsRaw;
use mpi::topology::SimpleCommunicator;

use crate::packed::ring;
use crate::shapes::{Flagged, Shape};

/// A distinct type for each number, which nothing else in this program uses.
#[derive(dtype_runtime::Datatype)]
struct Numbered<'a, T: dtype_runtime::Datatype, const N: usize> {
    _first: [T; N],
    _second: u8,
    _lifetime: std::marker::PhantomData<&'a ()>,
}

/// The handle as a number, so that any thread can compare it.
fn handle<T: dtype_runtime::Datatype>() -> usize {
    // Open MPI numbers a datatype at the first request, without a lock.
    static NUMBERING: Mutex<()> = Mutex::new(());
    let raw = Datatype::of::<T>().unwrap().as_raw();
    let _guard = NUMBERING.lock().unwrap();
    // SAFETY: a datatype that is alive.
    unsafe { mpi::ffi::RSMPI_Type_c2f(raw) }.cast_unsigned() as usize
}

fn handles<'a>(_: &'a str) -> Vec<usize> {
    vec![
        handle::<Numbered<'a, f64, 1>>(),
        handle::<Numbered<'a, f64, 2>>(),
        handle::<Numbered<'a, u16, 1>>(),
        handle::<Numbered<'static, bool, 1>>(),
        handle::<[Numbered<'a, f64, 1>; 2]>(),
        handle::<(Numbered<'a, f64, 1>, Numbered<'a, f64, 1>)>(),
    ]
}

pub(crate) fn cache(_: &SimpleCommunicator) {
    const THREADS: usize = 4;
    let (start, local) = (Barrier::new(THREADS), String::new());
    let found: Vec<Vec<usize>> = thread::scope(|scope| {
        let ask = || {
            start.wait();
            let first = handles(&local);
            assert!((0..100).all(|_| handles(&local) == first));
            first
        };
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    // All threads find the same handle for a type, and types have different handles.
    assert!(found.iter().all(|handles| *handles == found[0]), "{found:?}");
    let different: HashSet<usize> = found[0].iter().copied().collect();
    assert_eq!(different.len(), found[0].len());
    assert_eq!(handles(&local), found[0]);
}

pub(crate) fn threads(_: &SimpleCommunicator) {
    thread::scope(|scope| {
        for tag in 0..3_u8 {
            scope.spawn(move || {
                let world = SimpleCommunicator::world();
                let (next, before) = ring(&world);
                for round in 0..50 {
                    let own = Flagged::some(20, &mut Numbers(round * 8 + u64::from(tag)));
                    let tag = tag.into();
                    let request = next.immediate_send_packed(&own, tag).unwrap();
                    assert_eq!(before.recv_packed::<Flagged>(tag).unwrap().0, own);
                    request.wait().unwrap();
                }
            });
        }
    });
}
