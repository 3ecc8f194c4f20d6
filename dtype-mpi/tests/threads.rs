//! Conversions on several threads at once: each makes calls return errors for its own duration only.

use dtype_mpi::{Datatype, Error};
use dtype_runtime::{Basic, Type};
use mpi::Threading;
use mpi::ffi::{self, MPI_Comm, MPI_Errhandler};

fn main() {
    let (universe, level) = mpi::initialize_with_threading(Threading::Multiple)
        .expect("nothing else has initialised MPI");
    if level != Threading::Multiple {
        println!("this library has no MPI_THREAD_MULTIPLE");
        return;
    }
    let before = handlers();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..500).for_each(|_| convert()));
        }
    });
    assert!(handlers() == before, "the error handlers are not those of before");
    drop(universe);
}

/// The library refuses this, and ends the program if its original error handlers are set.
fn convert() {
    let number = Datatype::new(&Type::basic(Basic::F64)).unwrap();
    assert!(matches!(number.contents(), Err(Error::Call { .. })));
}

fn handlers() -> [MPI_Errhandler; 2] {
    // SAFETY: constants of the library.
    let communicators: [MPI_Comm; 2] = unsafe { [ffi::RSMPI_COMM_WORLD, ffi::RSMPI_COMM_SELF] };
    communicators.map(|communicator| {
        // SAFETY: MPI runs, and the handler lives through the call.
        unsafe {
            let mut handler = ffi::RSMPI_ERRORS_RETURN;
            ffi::MPI_Comm_get_errhandler(communicator, &raw mut handler);
            let mut reference = handler;
            ffi::MPI_Errhandler_free(&raw mut reference);
            handler
        }
    })
}
