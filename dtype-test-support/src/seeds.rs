//! The examples of the source documents, which several tests use.

use dtype_runtime::{Basic, Type};

pub fn basic(basic: Basic) -> Type {
    Type::basic(basic)
}

/// The example of Open MPI's `opal_datatype_t`: a u64, two {u32, u16, u16}, three u16, each followed by two bytes.
pub fn seed_000() -> Type {
    let record = Type::structure(
        &[1, 1, 1],
        &[0, 4, 6],
        &[basic(Basic::U32), basic(Basic::U16), basic(Basic::U16)],
    )
    .unwrap();
    let spaced = Type::resized(&basic(Basic::U16), 0, 4).unwrap();
    Type::structure(&[1, 2, 3], &[0, 8, 24], &[basic(Basic::U64), record, spaced]).unwrap()
}

/// The example of Open MPI's `opal_convertor_t`: a resized vector of u16, repeated three times, and resized again.
pub fn seed_003() -> Type {
    let rows = Type::vector(4, 5, 6, &basic(Basic::U16)).unwrap();
    let spaced = Type::resized(&rows, 0, 50).unwrap();
    let planes = Type::contiguous(3, &spaced).unwrap();
    Type::resized(&planes, 0, 154).unwrap()
}
