//! The floats with a total order of the `ordered-float` crate.

use core::mem::offset_of;

use ::ordered_float::{NotNan, OrderedFloat};

use super::Datatype;
use crate::basic::{Basic, Validity};
use crate::typemap::TypeMap;

// SAFETY: `ordered-float` guarantees that an `OrderedFloat` is `repr(transparent)` over `T` and permits any value.
#[diagnostic::do_not_recommend]
unsafe impl<T: Datatype> Datatype for OrderedFloat<T> {
    /// As `T`.
    const TYPE_MAP: &'static TypeMap = {
        assert!(
            offset_of!(Self, 0) == 0 && size_of::<Self>() == size_of::<T>(),
            "this version of ordered-float keeps more than the float"
        );
        T::TYPE_MAP
    };
}

macro_rules! not_nan {
    ($($float:ident: $basic:ident, $name:literal;)*) => {$(
        // SAFETY: `ordered-float` guarantees that a `NotNan` is `repr(transparent)` over the float, and that every
        // float but a NaN makes one. Every pattern is a float, and the validity excludes the NaNs.
        #[diagnostic::do_not_recommend]
        unsafe impl Datatype for NotNan<$float> {
            /// As the float, without NaN.
            const TYPE_MAP: &'static TypeMap = {
                assert!(
                    size_of::<Self>() == size_of::<$float>(),
                    "this version of ordered-float keeps more than the float"
                );
                let infinity = $float::INFINITY.to_bits() as u64;
                &TypeMap::restricted(Basic::$basic, Validity::NotNan { infinity }, $name)
            };
        }
    )*};
}

not_nan! {
    f32: F32, "NotNan<f32>";
    f64: F64, "NotNan<f64>";
}
