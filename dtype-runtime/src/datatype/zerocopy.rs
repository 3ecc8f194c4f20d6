//! The numbers of a fixed byte order of the `zerocopy` crate.
//!
//! Such a number *is* its bytes: their order is part of the type, and the same on every machine. So its signature is that
//! of an array of bytes, and no conversion swaps it. With the signature of a number, a conversion from the other byte
//! order would swap bytes that are in the right order already.

use ::zerocopy::byteorder::{F32, F64, I16, I32, I64, I128, Isize, U16, U32, U64, U128, Usize};
use ::zerocopy::{ByteOrder, FromBytes, Immutable, IntoBytes, Unaligned};

use super::Datatype;
use crate::typemap::TypeMap;

/// Compiles for types that are bytes: all of their bytes are initialised, any bytes are a value, and nothing changes
/// through a shared reference.
const fn is_bytes<T: FromBytes + IntoBytes + Immutable + Unaligned>() {}

macro_rules! bytes {
    ($($type:ident: $size:expr;)*) => {$(
        // SAFETY: `zerocopy` guarantees by the traits in `is_bytes` that each byte of a value is initialised and not in a
        // cell, and that any bytes are a value. The assertion shows that there are as many as the map names.
        #[diagnostic::do_not_recommend]
        unsafe impl<O: ByteOrder> Datatype for $type<O> {
            /// The bytes, in the byte order of the type.
            const TYPE_MAP: &'static TypeMap = {
                is_bytes::<Self>();
                assert!(size_of::<Self>() == $size, "this version of zerocopy keeps more than the number");
                <[u8; $size]>::TYPE_MAP
            };
        }
    )*};
}

bytes! {
    U16: 2; U32: 4; U64: 8; U128: 16; Usize: size_of::<usize>();
    I16: 2; I32: 4; I64: 8; I128: 16; Isize: size_of::<isize>();
    F32: 4; F64: 8;
}
