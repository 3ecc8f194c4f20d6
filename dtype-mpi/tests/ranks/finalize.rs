//! Calls before MPI begins, while it ends, and afterwards.

use std::os::raw::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

use dtype_mpi::traits::*;
use dtype_mpi::{Datatype, Error, Layout, Operation, any_tag};
use dtype_runtime::{Basic, Type};
use mpi::environment::Universe;
use mpi::ffi::{self, MPI_Comm, MPI_Datatype};
use mpi::raw::AsRaw;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

fn state<T>(result: Result<T, Error>) -> &'static str {
    match result {
        Err(Error::NotRunning { state, .. }) => state,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("MPI does not run"),
    }
}

pub(crate) fn before() {
    assert_eq!(state(Datatype::of::<(u8, f64)>()), "not initialised");
    assert_eq!(state(Layout::new(&Type::basic(Basic::U8))), "not initialised");
    assert_eq!(state(Operation::commutative(|_: &u8, _: &mut u8| {})), "not initialised");
}

/// The number of marked datatypes that were freed.
static FREED: AtomicUsize = AtomicUsize::new(0);

/// A copy function that copies no attribute, for communicators and for datatypes.
unsafe extern "C" fn no_copy<H>(
    _: H,
    _: c_int,
    _: *mut c_void,
    _: *mut c_void,
    _: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: the library passes a pointer for the answer, which is valid for writes.
    unsafe { flag.write(0) };
    0
}

unsafe extern "C" fn delete(_: MPI_Datatype, _: c_int, _: *mut c_void, _: *mut c_void) -> c_int {
    FREED.fetch_add(1, Ordering::Relaxed);
    0
}

/// The number of calls that MPI still allowed while it ended.
static AT_END: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn at_end(_: MPI_Comm, _: c_int, _: *mut c_void, _: *mut c_void) -> c_int {
    if Layout::new(&Type::basic(Basic::U8)).is_ok() {
        AT_END.fetch_add(1, Ordering::Relaxed);
    }
    0
}

/// Registers a function that the library calls when MPI ends: once before the first call of this crate, and once after it,
/// because the library calls such functions in reverse order.
pub(crate) fn call_at_end() {
    let mut key = 0;
    // SAFETY: MPI runs, and the functions are of the type that the standard requires.
    unsafe {
        let nothing = std::ptr::null_mut();
        ffi::MPI_Comm_create_keyval(Some(no_copy), Some(at_end), &raw mut key, nothing);
        ffi::MPI_Comm_set_attr(ffi::RSMPI_COMM_SELF, key, nothing);
    }
}

pub(crate) fn around(universe: Universe) {
    type Last = (u16, [(u8, u32); 3]);
    let world = SimpleCommunicator::world();
    let last = Datatype::of::<Last>().unwrap();
    let mut key = 0;
    // SAFETY: MPI runs, the datatype is alive, and the functions are of the type that the standard requires.
    unsafe {
        let nothing = std::ptr::null_mut();
        ffi::MPI_Type_create_keyval(Some(no_copy), Some(delete), &raw mut key, nothing);
        ffi::MPI_Type_set_attr(last.as_raw(), key, nothing);
    }
    let layout = Layout::new(&Type::contiguous(3, &Type::basic(Basic::U8)).unwrap()).unwrap();
    let operation = Operation::commutative(|_: &u8, _: &mut u8| {}).unwrap();
    assert_eq!(FREED.load(Ordering::Relaxed), 0);

    call_at_end();

    drop(universe);

    assert_eq!(
        AT_END.load(Ordering::Relaxed),
        2,
        "before the crate's own function at the end of MPI, and after it"
    );
    assert_eq!(FREED.load(Ordering::Relaxed), 1, "freed when MPI is finalized");
    drop((layout, operation));
    assert_eq!(state(Datatype::of::<Last>()), "finalized");
    assert_eq!(state(Datatype::of::<f64>()), "finalized");
    assert_eq!(state(world.all_gather_packed(&[1_u8])), "finalized");
    assert_eq!(state(world.any_process().recv_packed::<u8>(any_tag())), "finalized");
}
