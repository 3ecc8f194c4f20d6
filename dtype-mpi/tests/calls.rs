//! In a process of its own, in which MPI is not initialised at first and ends before the process does: conversions one by one,
//! what they keep, what they refuse, and what never reaches the library.

use std::os::raw::c_int;

use dtype_mpi::{Datatype, Error, Memory, decode};
use dtype_runtime::types::{Combiner, Distribution, Order, Pair};
use dtype_runtime::{Basic, Type};
use mpi::datatype::{MutView, UserDatatype, View};
use mpi::ffi;
use mpi::raw::AsRaw;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Equivalence, FromRaw};

type Test = (&'static str, fn());

const TESTS: &[Test] = &[
    ("named types keep their names", named),
    ("what the library lacks is said", missing),
    ("shared parts are made once", shared),
    ("as deep as a type may be", deep),
    ("large counts", large_counts),
    ("a darray with a block of 19", nineteen),
    ("handles of others", borrowed),
    ("errors come back", errors),
    ("other threads are refused", threads),
    ("a message to oneself", message),
    ("no type is made of memory that a message does not fill", no_equivalence),
];

fn main() {
    let byte = Type::basic(Basic::U8);
    let state = |error: Error| match error {
        Error::NotRunning { state, .. } => state,
        other => panic!("{other}"),
    };
    assert_eq!(state(Datatype::new(&byte).unwrap_err()), "not initialised");
    let universe = mpi::initialize().expect("nothing else has initialised MPI");
    for (name, test) in TESTS {
        println!("{name}");
        test();
    }
    // This datatype outlives MPI, and dropping it makes no call.
    let late = Datatype::new(&Type::contiguous(2, &byte).unwrap()).unwrap();
    drop(universe);
    assert_eq!(state(late.size().unwrap_err()), "finalized");
    assert_eq!(state(late.to_type().unwrap_err()), "finalized");
}

fn named() {
    let basics = Basic::ALL.iter().filter(|basic| basic.mpi_name().is_some());
    let types = basics.map(|basic| Type::basic(*basic));
    let types = types.chain(Pair::ALL.iter().map(|pair| Type::pair(*pair)));
    let mut number = 0;
    for ty in types {
        let datatype = match Datatype::new(&ty) {
            Ok(datatype) => datatype,
            Err(Error::NoSuchType { .. }) => continue,
            Err(other) => panic!("{other}"),
        };
        number += 1;
        assert_eq!(datatype.envelope().unwrap().combiner, Combiner::Named);
        assert_eq!(datatype.size().unwrap(), ty.size().cast_signed());
        let back = datatype.to_type().unwrap();
        assert_eq!(format!("{back:?}"), format!("{ty:?}"));
        assert_eq!(back.contents().unwrap_err(), ty.contents().unwrap_err());
    }
    assert!(number >= 60, "only {number} of the predefined types");
}

fn missing() {
    let bytes = |number| Type::contiguous(number, &Type::basic(Basic::Byte)).unwrap();
    let substitutes = [
        (Basic::I128, bytes(16)),
        (Basic::U128, bytes(16)),
        (Basic::F16, bytes(2)),
        (Basic::Bf16, bytes(2)),
        (Basic::Char, Type::basic(Basic::U32)),
    ];
    for (basic, other) in substitutes {
        let of = |ty: &Type| Type::dup(&Type::contiguous(2, ty).unwrap()).unwrap();
        let ty = of(&Type::basic(basic));
        let datatype = Datatype::new(&ty).unwrap();
        assert_eq!(datatype.size().unwrap(), ty.size().cast_signed());
        assert_eq!(datatype.to_type().unwrap(), of(&other));
        assert_eq!(Datatype::new(&Type::basic(basic)).unwrap().to_type().unwrap(), other);
    }
    // Bytes have a smaller alignment than the types they replace; the displacements are the same.
    let types = [Basic::U8, Basic::F16].map(Type::basic);
    let pair = Type::structure(&[1, 1], &[2, 0], &types).unwrap();
    let pairs = Type::contiguous(3, &pair).unwrap();
    for ty in [pair, pairs] {
        let datatype = Datatype::new(&ty).unwrap();
        assert_eq!(datatype.extent().unwrap(), (0, ty.extent()));
        assert_eq!(datatype.true_extent().unwrap(), (0, ty.true_extent()));
    }
    let [value, index] = [Basic::F64, Basic::U64].map(Type::basic);
    let pair = Type::value_index(&value, &index).unwrap();
    let error = Datatype::new(&Type::contiguous(2, &pair).unwrap()).unwrap_err();
    assert_eq!(error, Error::NoSuchCall { combiner: "value_index" });
}

fn shared() {
    // 2¹⁴ numbers, 15 datatypes.
    let mut ty = Type::basic(Basic::U8);
    for level in 0..14 {
        ty = Type::structure(&[1, 1], &[0, 1 << level], &[ty.clone(), ty]).unwrap();
    }
    let datatype = Datatype::new(&ty).unwrap();
    assert_eq!(datatype.size().unwrap(), 1 << 14);
    let mut back = datatype.to_type().unwrap();
    assert_eq!(back.size(), 1 << 14);
    // Open MPI returns a new copy of a part for each query.
    let copies = mpi::environment::library_version().unwrap().starts_with("Open MPI");
    for _ in 0..14 {
        let parts = back.contents().unwrap().datatypes;
        assert!(copies || parts[0].as_ptr() == parts[1].as_ptr());
        back = parts[0].clone();
    }
}

fn deep() {
    let mut ty = Type::basic(Basic::U8);
    let mut levels = 0;
    while let Ok(deeper) = Type::contiguous(1, &ty) {
        (ty, levels) = (deeper, levels + 1);
    }
    assert_eq!(levels, dtype_runtime::typemap::MAX_DEPTH);
    let datatype = Datatype::new(&ty).unwrap();
    assert_eq!(datatype.to_type().unwrap().size(), 1);

    // A type that is one level too deep, which only the library can make.
    let deeper = UserDatatype::contiguous(1, &datatype);
    let limit = dtype_runtime::typemap::MAX_DEPTH;
    assert_eq!(unsafe_decode(&deeper).unwrap_err(), Error::TooDeep { limit });
}

fn unsafe_decode(datatype: &UserDatatype) -> Result<Type, Error> {
    // SAFETY: the datatype is alive.
    unsafe { decode(datatype.as_raw()) }
}

fn large_counts() {
    let (byte, many) = (Type::basic(Basic::U8), 3_u64 << 30);
    let place = many.cast_signed();
    let cyclic = Distribution::Cyclic(Some(2));
    let types = [
        Type::contiguous(many, &byte),
        Type::vector(2, 1, place, &byte),
        Type::hvector(2, many, 2 * place, &byte),
        Type::indexed(&[1, many], &[0, 4], &byte),
        Type::hindexed(&[1, many], &[0, 4], &byte),
        Type::indexed_block(1, &[0, place], &byte),
        Type::hindexed_block(many, &[0, place], &byte),
        Type::structure(&[1, many], &[0, 8], &[Type::basic(Basic::F64), byte.clone()]),
        Type::subarray(&[many, 2], &[3, 1], &[place.cast_unsigned() - 4, 1], Order::C, &byte),
        Type::darray(2, 1, &[many], &[cyclic], &[2], Order::Fortran, &byte),
    ];
    for ty in types {
        let ty = ty.unwrap();
        let envelope = ty.envelope();
        assert!(envelope.num_large_counts > 0);
        let datatype = match Datatype::new(&ty) {
            Ok(datatype) if cfg!(large_counts) => datatype,
            Err(Error::LargeCounts { combiner, number }) if cfg!(not(large_counts)) => {
                let expected = (envelope.combiner.name(), envelope.num_large_counts);
                assert_eq!((combiner, number), expected);
                continue;
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(datatype.envelope().unwrap(), envelope);
        assert_eq!(datatype.size().unwrap(), ty.size().cast_signed(), "{ty:?}");
        assert_eq!(datatype.contents().unwrap().large_counts, ty.contents().unwrap().large_counts);
        let back = datatype.to_type().unwrap();
        assert_eq!(format!("{back:?}"), format!("{ty:?}"));
        assert_eq!(back.contents().unwrap().large_counts, ty.contents().unwrap().large_counts);
    }
}

/// The ABI uses the number 19 for the default argument.
fn nineteen() {
    let byte = Type::basic(Basic::U8);
    let kinds = [Distribution::Block(Some(19))];
    let ty = Type::darray(2, 0, &[30], &kinds, &[2], Order::C, &byte).unwrap();
    let error = Datatype::new(&ty).unwrap_err();
    assert!(matches!(error, Error::Type(dtype_runtime::Error::Contents { .. })), "{error}");

    // A datatype with such a block, made of one with a block of 20 by its own contents.
    let kinds = [Distribution::Block(Some(20))];
    let ty = Type::darray(2, 0, &[30], &kinds, &[2], Order::C, &byte).unwrap();
    let datatype = Datatype::new(&ty).unwrap();
    assert_eq!(datatype.contents().unwrap().integers, [2, 0, 1, 30, 17, 20, 2, 12]);
    let mut integers = [0; 8];
    let mut new = datatype.as_raw();
    // SAFETY: the arrays have the lengths of the envelope of a darray of one dimension.
    let user = unsafe {
        let mut address = 0;
        let at = integers.as_mut_ptr();
        ffi::MPI_Type_get_contents(datatype.as_raw(), 8, 0, 1, at, &raw mut address, &raw mut new);
        let [size, rank, ndims, mut global, mut kind, _, mut grid, order] = integers;
        let mut darg: c_int = 19;
        ffi::MPI_Type_create_darray(
            size,
            rank,
            ndims,
            &raw mut global,
            &raw mut kind,
            &raw mut darg,
            &raw mut grid,
            order,
            new,
            &raw mut new,
        );
        UserDatatype::from_raw(new)
    };
    let what = "a distribution argument";
    let expected = Error::Constant { combiner: "darray", what, value: 19 };
    let decoded = unsafe_decode(&user).map(|ty| ty.size());
    if i64::from(ffi::MPI_DISTRIBUTE_DFLT_DARG) == 19 {
        // A library with the ABI's numbers takes it for the default argument.
        assert_eq!(decoded, Ok(15));
    } else {
        assert_eq!(decoded, Err(expected));
    }
}

fn borrowed() {
    let user = UserDatatype::vector(3, 2, 4, &i32::equivalent_datatype());
    let ty = unsafe_decode(&user).unwrap();
    let contents = ty.contents().unwrap();
    assert_eq!((contents.combiner, &contents.integers[..]), (Combiner::Vector, &[3, 2, 4][..]));
    // Decoding does not free it.
    assert_eq!(unsafe_decode(&user).unwrap().size(), 24);
    // SAFETY: the null handle.
    let null = unsafe { decode(ffi::RSMPI_DATATYPE_NULL) };
    assert_eq!(null.unwrap_err(), Error::Null);
}

/// Errors come back as values, although the communicators' error handlers would end the program.
fn errors() {
    let named = Datatype::new(&Type::basic(Basic::F64)).unwrap();
    let Err(Error::Call { call, code, message, .. }) = named.contents() else {
        panic!("a named datatype has contents");
    };
    assert!(call.starts_with("MPI_Type_get_contents"), "{call}");
    assert_ne!(code, 0);
    assert!(!message.is_empty());
}

fn threads() {
    let in_thread = || Datatype::new(&Type::basic(Basic::U8)).map(drop);
    match std::thread::spawn(in_thread).join().expect("the thread did not panic") {
        Err(Error::Thread { .. }) => {}
        Ok(()) => assert_eq!(mpi::environment::threading_support(), mpi::Threading::Multiple),
        Err(other) => panic!("{other}"),
    }
}

fn message() {
    #[derive(dtype_runtime::Datatype, Clone, Copy, Debug, Default, PartialEq)]
    struct Particle {
        position: [f64; 3],
        charge: i8,
    }
    let particle = Datatype::new(&Type::of::<Particle>()).unwrap();
    let out = [1, 2, 3].map(|n| Particle { position: [n.into(), 2.5, -1.0], charge: n });
    let mut back = [Particle::default(); 3];
    let world = SimpleCommunicator::world();
    let me = world.process_at_rank(0);
    // SAFETY: the datatype is the elements' datatype, there are three elements on either side, and every bit
    // pattern of a number is valid.
    let (view, mut into) = unsafe {
        (
            View::with_count_and_datatype(Memory::from_slice(&out), 3, &particle),
            MutView::with_count_and_datatype(Memory::from_slice_mut(&mut back), 3, &particle),
        )
    };
    mpi::point_to_point::send_receive_into(&view, &me, &mut into, &me);
    assert_eq!(back, out);
}

/// The `mpi` crate's `receive` makes a value of any `Equivalence` even from a message that is too short.
fn no_equivalence() {
    let mut folders = vec![std::path::PathBuf::from("src")];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().expect("tests run in the folder of their crate") {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let text = std::fs::read_to_string(&path).unwrap();
                assert!(!text.contains("Equivalence for"), "{}", path.display());
            }
        }
    }
}
