//! In a process of its own, which initialises MPI with `MPI_THREAD_MULTIPLE`: conversions and messages on several threads at
//! once. Errors are returned only during a call of this crate, and each thread receives the message whose length it has found.

use dtype_mpi::traits::{PackedDestination, PackedSource};
use dtype_mpi::{Datatype, Error, Layout};
use dtype_runtime::{Basic, Type};
use mpi::ffi::{self, MPI_Comm, MPI_Errhandler};
use mpi::topology::SimpleCommunicator;
use mpi::traits::Communicator;
use mpi::{Tag, Threading};

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
    std::thread::scope(|scope| {
        for tag in 0..4 {
            scope.spawn(move || (0..100).for_each(|_| send_to_self(tag)));
        }
    });
    assert!(handlers() == before, "the error handlers are not those of before");
    drop(universe);
}

/// The library refuses this conversion. With its original error handlers, it would end the program.
fn convert() {
    let number = Datatype::new(&Type::basic(Basic::F64)).unwrap();
    assert!(matches!(number.contents(), Err(Error::Call { .. })));
}

/// One message fills its layout, so some libraries receive it themselves. A shorter one is unpacked by this crate.
fn send_to_self(tag: u8) {
    let (world, number) = (SimpleCommunicator::world(), tag);
    let tag = Tag::from(number);
    let me = world.process_at_rank(world.rank());
    let layout =
        Layout::new(&Type::vector(20, 300, 400, &Type::basic(Basic::U8)).unwrap()).unwrap();
    for bytes in [6000, 5990_usize] {
        let sent: Vec<u8> = (0..=u8::MAX).map(|i| i ^ number).cycle().take(bytes).collect();
        let mut came = vec![0xee; 20 * 400];
        let request = me.immediate_send_packed(&sent, tag).unwrap();
        let received = me.recv_layout(&layout, &mut came, 0, 1, tag).unwrap();
        request.wait().unwrap();
        assert_eq!((received.tag, received.count), (tag, bytes));
        for (i, &byte) in came.iter().enumerate() {
            let at = i / 400 * 300 + i % 400;
            let expected = if i % 400 < 300 && at < bytes { sent[at] } else { 0xee };
            assert_eq!(byte, expected, "byte {i}");
        }
    }
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
