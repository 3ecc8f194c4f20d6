//! Memory with an origin at any offset.

use dtype_runtime::{Basic, Buffer, BufferMut, Error, Representation, Type};

/// Two bytes at a displacement.
fn pair(disp: i64) -> Type {
    Type::hindexed(&[2], &[disp], &Type::basic(Basic::U8)).unwrap()
}

#[test]
fn the_origin_may_lie_outside_of_the_memory() {
    for disp in [0, 1, 1000, -1, -1000, i64::MAX - 100, i64::MIN + 100] {
        let ty = pair(disp).commit();
        // The pair at byte 1 of "abcd".
        let buffer = Buffer::new(b"abcd").origin(1 - disp);
        let mut out = [0; 2];
        assert_eq!((ty.pack(buffer, 1, &mut out), &out), (Ok(2), b"bc"), "{disp}");
        assert_eq!(ty.pack_to_vec(buffer, 1).unwrap(), b"bc");
        assert_eq!(ty.packer(buffer, 1).unwrap().chunk(), b"bc");
        let mut memory = *b"....";
        ty.unpack(b"xy", BufferMut::new(&mut memory).origin(2 - disp), 1).unwrap();
        assert_eq!(&memory, b"..xy");
        let to = BufferMut::new(&mut memory).origin(-disp);
        assert_eq!(ty.unpacker(to, 1).unwrap().unpack(b"vw"), Ok(2));
        assert_eq!(&memory, b"vwxy");
        ty.copy(buffer, BufferMut::new(&mut memory).origin(1 - disp), 1).unwrap();
        assert_eq!(&memory, b"vbcy");
        ty.copy_within(&mut memory, 1 - disp, 2 - disp, 1).unwrap();
        assert_eq!(&memory, b"vbbc");
        let big = ty.conversion(Representation::BigEndian).unwrap();
        assert_eq!(big.pack_to_vec(buffer, 1).unwrap(), b"bc");
        big.unpack(b"no", BufferMut::new(&mut memory).origin(-disp), 1).unwrap();
        assert_eq!(&memory, b"nobc");
    }
}

fn at(memory: &mut [u8], origin: i64) -> BufferMut<'_> {
    BufferMut::new(memory).origin(origin)
}

/// The last instance of a block lies at the least displacement, whose negation does not fit 64 bits.
#[test]
fn a_list_that_reaches_the_least_displacement_has_its_bounds() {
    let back = Type::resized(&Type::basic(Basic::U8), 0, -1).unwrap();
    // Few and many blocks have their totals computed in different ways.
    for number in [2, 30] {
        let mut lengths = vec![1; number - 1];
        lengths.push(2);
        let mut displacements = vec![-5; number - 1];
        displacements.push(i64::MIN + 1);
        let list = Type::hindexed(&lengths, &displacements, &back).unwrap();
        assert_eq!((list.lb(), list.ub()), (i64::MIN, -6));
        assert_eq!((list.true_lb(), list.true_ub()), (i64::MIN, -4));
        let mut out = vec![0; number + 1];
        let refused = list.commit().pack(Buffer::new(&[7; 16]).origin(10), 1, &mut out);
        assert!(matches!(refused, Err(Error::OutOfBounds { .. })), "{refused:?}");
        displacements[0] = 5;
        let refused = Type::hindexed(&lengths, &displacements, &back);
        assert!(matches!(refused, Err(Error::Overflow { .. })), "{refused:?}");
    }
    let least = Type::resized(&Type::basic(Basic::U8), 0, i64::MIN).unwrap();
    let refused = Type::indexed(&[1, 2], &[0, 0], &least);
    assert!(matches!(refused, Err(Error::Overflow { .. })), "{refused:?}");
}

#[test]
fn data_outside_of_the_memory_are_refused() {
    let refused = |origin: i64, disp: i64| {
        let start = i128::from(origin) + i128::from(disp);
        let error = Error::OutOfBounds { start, end: start + 2, len: 4 };
        let (ty, buffer) = (pair(disp).commit(), Buffer::new(b"abcd").origin(origin));
        assert_eq!(ty.pack(buffer, 1, &mut [0; 2]), Err(error.clone()));
        assert_eq!(ty.pack_to_vec(buffer, 1), Err(error.clone()));
        assert_eq!(ty.packer(buffer, 1).err(), Some(error.clone()));
        let mut memory = *b"abcd";
        assert_eq!(ty.unpack(b"xy", at(&mut memory, origin), 1), Err(error.clone()));
        assert_eq!(ty.unpacker(at(&mut memory, origin), 1).err(), Some(error.clone()));
        assert!(ty.copy(buffer, &mut [0; 4], 1).is_err());
        assert_eq!(ty.copy_within(&mut memory, origin, origin, 1), Err(error.clone()));
        let big = ty.conversion(Representation::BigEndian).unwrap();
        assert_eq!(big.pack_to_vec(buffer, 1), Err(error.clone()));
        assert_eq!(big.unpacker(at(&mut memory, origin), 1).err(), Some(error));
        assert_eq!(&memory, b"abcd");
    };
    for (origin, disp) in
        [(0, -1), (-1, 0), (3, 0), (0, 3), (i64::MIN, -9), (i64::MAX, 9), (i64::MAX, 0)]
    {
        refused(origin, disp);
    }
}

#[test]
fn types_that_convert_to_a_buffer() {
    let ty = Type::vector(2, 1, 2, &Type::basic(Basic::U8)).unwrap().commit();
    let (array, vector) = (*b"abc", b"abc".to_vec());
    let slice: &[u8] = &array;
    assert_eq!(ty.pack_to_vec(&array, 1).unwrap(), b"ac");
    assert_eq!(ty.pack_to_vec(&vector, 1).unwrap(), b"ac");
    assert_eq!(ty.pack_to_vec(slice, 1).unwrap(), b"ac");
    let (mut array, mut vector, mut more) = ([0; 3], vec![0; 3], [0; 3]);
    let slice: &mut [u8] = &mut more;
    ty.unpack(b"xy", &mut array, 1).unwrap();
    ty.unpack(b"xy", &mut vector, 1).unwrap();
    ty.unpack(b"xy", slice, 1).unwrap();
    assert_eq!((&array[..], &vector[..], &more[..]), (&b"x\0y"[..], &b"x\0y"[..], &b"x\0y"[..]));
    let buffer = BufferMut::new(&mut array).origin(0);
    assert_eq!(ty.pack_to_vec(buffer, 1).unwrap(), b"xy");
}

#[test]
fn too_many_bytes_for_the_memory_are_an_error() {
    let many = Type::hvector(1 << 40, 1, 0, &pair(0)).unwrap();
    let many = Type::resized(&many, 0, 0).unwrap().commit();
    let refused = Err(Error::Allocation { count: 1 << 20, stride: 1 << 41 });
    assert_eq!(many.pack_to_vec(b"ab", 1 << 20), refused);
    assert_eq!(
        many.conversion(Representation::External32).unwrap().pack_to_vec(b"ab", 1 << 20),
        refused
    );
    for (count, what) in [(1, "a record"), (2, "2 records")] {
        let message = Error::Allocation { count, stride: 3 }.to_string();
        assert_eq!(message, format!("could not allocate {what} of 3 bytes"));
    }
}

#[test]
fn packed_bytes_of_another_length_are_refused() {
    let ty = Type::vector(2, 1, 2, &Type::basic(Basic::U16)).unwrap().commit();
    let big = ty.conversion(Representation::BigEndian).unwrap();
    for count in [1, 2, 7, 100] {
        let size = 4 * count;
        let mut memory = vec![1; 6 * count];
        // Unpacking succeeds, because the type names no byte twice.
        assert_eq!(ty.unpack(&vec![1; size], &mut memory, count), Ok(size));
        for length in [0, 1, size - 1, size + 1, 2 * size, 1000] {
            let packed = vec![7; length];
            let refused = Err(Error::PackedLength { expected: size as u64, actual: length as u64 });
            assert_eq!(ty.unpack(&packed, &mut memory[..], count), refused);
            assert_eq!(big.unpack(&packed, &mut memory[..], count), refused);
            assert!(memory.iter().all(|byte| *byte == 1), "{count} from {length}");
        }
    }
}
