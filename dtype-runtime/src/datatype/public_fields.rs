//! Structs of the standard library whose fields are all public: ranges and `Reverse`.
//!
//! `RangeInclusive` keeps its state in private fields and is not a datatype.

use core::cmp::Reverse;
use core::mem::offset_of;
use core::ops::{Range, RangeFrom, RangeTo, RangeToInclusive};

use super::Datatype;
use crate::typemap::{Field, Markers, TypeMap};

macro_rules! public_fields {
    ($($type:ident { $($field:tt),+ };)*) => {$(
        // SAFETY: the pattern in `all` has no `..` and compiles, so the fields are public and there are no
        // others: any values of them make a value, and the other bytes are padding. The offsets come from the
        // compiler, and `all` shows that each field is a `T`, whose guarantees cover its bytes.
        #[diagnostic::do_not_recommend]
        unsafe impl<T: Datatype> Datatype for $type<T> {
            const TYPE_MAP: &'static TypeMap = {
                const fn all<T>(value: &$type<T>) {
                    let $type { $($field: _),+ } = value;
                    $(let _: &T = &value.$field;)+
                }
                let _: fn(&Self) = all::<T>;
                &TypeMap::structure::<Self>(
                    stringify!($type),
                    const {
                        &[$(Field::new(
                            stringify!($field),
                            offset_of!(Self, $field),
                            <T as Datatype>::TYPE_MAP,
                        )),+]
                    },
                    Markers::NONE,
                )
            };
        }
    )*};
}

public_fields! {
    Range { start, end };
    RangeFrom { start };
    RangeTo { end };
    RangeToInclusive { end };
    Reverse { 0 };
}
