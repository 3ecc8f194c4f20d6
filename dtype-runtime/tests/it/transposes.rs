//! Columns of matrices. The engine copies several at a time, with the same result as one at a time.

use dtype_runtime::{Basic, Buffer, BufferMut, Representation, Type};

/// Packs and unpacks `columns` columns of `rows` blocks of `length` values, in the native and in the opposite byte order.
fn check(basic: Basic, length: u64, columns: (u64, i64), rows: (u64, i64)) {
    let column = Type::hvector(rows.0, length, rows.1, &Type::basic(basic)).unwrap();
    let ty = Type::hvector(columns.0, 1, columns.1, &column).unwrap().commit();
    let origin = usize::try_from(-ty.true_lb()).unwrap();
    let memory: Vec<u8> =
        (0..ty.true_extent()).map(|i| (i * 7 + i / 251).to_le_bytes()[0]).collect();
    let width = basic.size();
    let mut places = Vec::new();
    for column in 0..columns.0.cast_signed() {
        for row in 0..rows.0.cast_signed() {
            let start = origin
                .wrapping_add_signed(isize::try_from(column * columns.1 + row * rows.1).unwrap());
            places.extend(start..start + usize::try_from(length).unwrap() * width);
        }
    }
    let expected: Vec<u8> = places.iter().map(|at| memory[*at]).collect();
    let mut reversed = expected.clone();
    reversed.chunks_mut(width).for_each(<[u8]>::reverse);
    let other = if cfg!(target_endian = "little") {
        Representation::BigEndian
    } else {
        Representation::LittleEndian
    };
    let conversion = ty.conversion(other).unwrap();

    let mut packed = vec![0; expected.len()];
    ty.pack(Buffer::new(&memory).origin(origin as i64), 1, &mut packed).unwrap();
    assert!(packed == expected, "{basic} × {length}, {columns:?} columns, {rows:?} rows");
    conversion.pack(Buffer::new(&memory).origin(origin as i64), 1, &mut packed).unwrap();
    assert!(packed == reversed, "{basic} × {length}, {columns:?} columns, {rows:?} rows");

    let mut wanted = vec![0xA5; memory.len()];
    for (at, byte) in places.iter().zip(&expected) {
        wanted[*at] = *byte;
    }
    let mut target = vec![0xA5; memory.len()];
    ty.unpack(&expected, BufferMut::new(&mut target).origin(origin as i64), 1).unwrap();
    assert!(target == wanted, "{basic} × {length}, {columns:?} columns, {rows:?} rows");
    target.fill(0xA5);
    conversion.unpack(&reversed, BufferMut::new(&mut target).origin(origin as i64), 1).unwrap();
    assert!(target == wanted, "{basic} × {length}, {columns:?} columns, {rows:?} rows");
}

#[test]
fn matrices_of_all_shapes() {
    for basic in [Basic::U8, Basic::I16, Basic::F32, Basic::F64, Basic::U128] {
        let width = basic.size().cast_signed() as i64;
        for length in [1_u64, 3] {
            let len = width * length.cast_signed();
            for columns in [2_u64, 7, 8, 9, 33, 130] {
                for rows in [15, 16, 21] {
                    for apart in [len, len + 1, 2 * len, 70] {
                        let all = apart * columns.cast_signed();
                        for row in [all + 13, -all - 128] {
                            check(basic, length, (columns, apart), (rows, row));
                        }
                        check(basic, length, (columns, -apart), (rows, all + 64));
                    }
                }
            }
        }
    }
}
