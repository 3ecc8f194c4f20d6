//! The `mpi` crate takes untyped memory for elements of a type if the datatype's handle is the type's: for example in
//! `downcast`, in the function of a reduction.

use std::sync::Mutex;

use dtype_mpi::{Layout, ReceiveBuffer, SendBuffer};
use dtype_runtime::{Basic, Datatype, Type};
use mpi::collective::{SystemOperation, UserOperation, reduce_local_into};
use mpi::datatype::{DatatypeRef, DynBuffer, DynBufferMut};
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

/// The same data at the same displacements in types that are aligned to 1, 4 and 8.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C, packed)]
struct Packed {
    a: u32,
    b: f32,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Natural {
    a: u32,
    b: f32,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C, align(8))]
struct Wider {
    a: u32,
    b: f32,
}

/// A datatype by hand: a number that may lie at any address.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Anywhere(f64);

// SAFETY: the bytes of an `f64`.
unsafe impl Datatype for Anywhere {
    const TYPE_MAP: &'static dtype_runtime::TypeMap = f64::TYPE_MAP;
}

pub(crate) fn alignment(_: &SimpleCommunicator) {
    fn same<T: Datatype, As: Datatype>() -> bool {
        let [one, other] = [dtype_mpi::Datatype::of::<T>(), dtype_mpi::Datatype::of::<As>()];
        one.unwrap().as_raw() == other.unwrap().as_raw()
    }
    assert!(same::<Packed, Packed>() && same::<Natural, Natural>() && same::<Wider, Wider>());
    assert!(!same::<Packed, Natural>() && !same::<Packed, Wider>() && !same::<Natural, Wider>());
    // Types with the same alignment are interchangeable, even if their names differ.
    assert!(same::<Natural, (u32, f32)>() == (std::mem::offset_of!((u32, f32), 1) == 4));
    assert!(same::<Anywhere, Anywhere>() && !same::<Anywhere, f64>());
    // Rust's numbers use the library's own datatypes.
    let [of_f64, of_u8] = [dtype_mpi::Datatype::of::<f64>(), dtype_mpi::Datatype::of::<u8>()];
    assert!(of_f64.unwrap().as_raw() == f64::equivalent_datatype().as_raw());
    assert!(of_u8.unwrap().as_raw() == u8::equivalent_datatype().as_raw());
}

/// Whether a local reduction takes its buffers for elements of `T`.
fn reduced<T: Equivalence>(from: &SendBuffer<'_>, into: &mut ReceiveBuffer<'_>) -> (bool, bool) {
    let said = Mutex::new(None);
    let operation = UserOperation::commutative(|from: DynBuffer<'_>, into: DynBufferMut<'_>| {
        *said.lock().unwrap() = Some((from.is::<T>(), into.is::<T>()));
    });
    reduce_local_into(from, into, &operation);
    drop(operation);
    said.into_inner().unwrap().expect("the library called the function")
}

pub(crate) fn skipped_fields(_: &SimpleCommunicator) {
    /// If it were copied as bytes, its pointer would be freed twice.
    #[derive(Datatype, Debug)]
    #[repr(C, align(16))]
    struct Skips {
        a: u8,
        #[dtype(skip)]
        kept: Box<u64>,
    }

    /// The same data, with padding instead of the pointer.
    #[derive(Datatype, Clone, Copy, Debug)]
    #[repr(C, align(16))]
    struct Padded {
        a: u8,
    }

    // SAFETY: the datatype names the data of a `Padded`, and any bytes are valid values.
    unsafe impl Equivalence for Padded {
        type Out = DatatypeRef<'static>;

        fn equivalent_datatype() -> DatatypeRef<'static> {
            dtype_mpi::Datatype::of::<Self>().expect("MPI runs")
        }
    }

    let from = [Skips { a: 1, kept: Box::new(1) }];
    let mut into = [Skips { a: 2, kept: Box::new(2) }];
    {
        let from = SendBuffer::new(&from).unwrap();
        let mut into = ReceiveBuffer::new(&mut into).unwrap();
        assert_eq!(reduced::<Padded>(&from, &mut into), (false, false));
    }
    // A type that skips nothing is recognised.
    let (from, mut into) = ([Padded { a: 1 }], [Padded { a: 2 }]);
    let from = SendBuffer::new(&from).unwrap();
    let mut into = ReceiveBuffer::new(&mut into).unwrap();
    assert_eq!(reduced::<Padded>(&from, &mut into), (true, true));
}

pub(crate) fn layouts(_: &SimpleCommunicator) {
    #[repr(C, align(8))]
    struct Bytes([u8; 32]);

    let numbers = Layout::new(&Type::basic(Basic::F64)).unwrap();
    let (from, mut into) = (Bytes([0; 32]), Bytes([0; 32]));
    for (start, end) in [(0, 0), (0, 8), (1, 0), (8, 4), (1, 9)] {
        let from = SendBuffer::from_layout(&numbers, &from.0, start, 2).unwrap();
        let mut into = ReceiveBuffer::from_layout(&numbers, &mut into.0, end, 2).unwrap();
        let aligned = |at: usize| at.is_multiple_of(8);
        assert_eq!(
            from.as_datatype().as_raw() == f64::equivalent_datatype().as_raw(),
            aligned(start)
        );
        assert_eq!(
            into.as_datatype().as_raw() == f64::equivalent_datatype().as_raw(),
            aligned(end)
        );
        if aligned(start) == aligned(end) {
            assert_eq!(reduced::<f64>(&from, &mut into), (aligned(start), aligned(end)));
        }
    }
    // The library's operations work on its own numbers.
    let (from, mut into) = ([1.0_f64, 2.0, 3.0], [10.0, 20.0, 30.0]);
    {
        let from = SendBuffer::from_layout(&numbers, &from, 8, 2).unwrap();
        let mut into = ReceiveBuffer::from_layout(&numbers, &mut into, 8, 2).unwrap();
        reduce_local_into(&from, &mut into, SystemOperation::sum());
    }
    assert_eq!(into, [10.0, 22.0, 33.0]);

    // Bytes that may be invalid `bool`s are described as `bool`s, and must not be recognised as such.
    let flags = Layout::new(&Type::basic(Basic::Bool)).unwrap();
    let (from, mut into) = ([7_u8; 2], [9_u8; 2]);
    let from = SendBuffer::from_layout(&flags, &from, 0, 2).unwrap();
    let mut into = ReceiveBuffer::from_layout(&flags, &mut into, 0, 2).unwrap();
    assert_eq!(reduced::<bool>(&from, &mut into), (false, false));
}

/// A number at an odd address is sent and received like any other.
pub(crate) fn misaligned(world: &SimpleCommunicator) {
    let (next, before) = crate::packed::ring(world);
    let numbers = Layout::new(&Type::basic(Basic::F64)).unwrap();
    let mut from = [0_u8; 17];
    from[1..9].copy_from_slice(&1.5_f64.to_ne_bytes());
    from[9..].copy_from_slice(&2.5_f64.to_ne_bytes());
    let mut into = [0_u8; 19];
    let out = SendBuffer::from_layout(&numbers, &from, 1, 2).unwrap();
    mpi::request::scope(|scope| {
        let request = next.immediate_send(scope, &out);
        assert_eq!(before.receive_vec::<f64>().0, [1.5, 2.5]);
        request.wait();
        let request = next.immediate_send(scope, &[1.5_f64, 2.5][..]);
        before.receive_into(&mut ReceiveBuffer::from_layout(&numbers, &mut into, 3, 2).unwrap());
        request.wait();
    });
    assert_eq!(into[3..], from[1..]);
}
