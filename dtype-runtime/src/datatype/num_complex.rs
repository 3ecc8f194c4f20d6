//! The complex numbers of the `num-complex` crate.

use super::Datatype;
use crate::basic::Basic;
use crate::typemap::TypeMap;

// SAFETY: `Complex<f32>` is `repr(C) { re: f32, im: f32 }`: eight bytes, no padding, every pattern a
// value.
#[diagnostic::do_not_recommend]
unsafe impl Datatype for ::num_complex::Complex<f32> {
    const TYPE_MAP: &'static TypeMap = &TypeMap::basic(Basic::C32);
}

// SAFETY: `Complex<f64>` is `repr(C) { re: f64, im: f64 }`: sixteen bytes, no padding, every pattern
// a value.
#[diagnostic::do_not_recommend]
unsafe impl Datatype for ::num_complex::Complex<f64> {
    const TYPE_MAP: &'static TypeMap = &TypeMap::basic(Basic::C64);
}
