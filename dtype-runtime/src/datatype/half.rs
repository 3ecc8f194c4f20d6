//! The 16-bit floats of the `half` crate.

use super::Datatype;
use crate::basic::Basic;
use crate::typemap::TypeMap;

// SAFETY: `f16` is `repr(transparent)` over `u16`, and every pattern is a value.
#[diagnostic::do_not_recommend]
unsafe impl Datatype for ::half::f16 {
    const TYPE_MAP: &'static TypeMap = &TypeMap::basic(Basic::F16);
}

// SAFETY: `bf16` is `repr(transparent)` over `u16`, and every pattern is a value.
#[diagnostic::do_not_recommend]
unsafe impl Datatype for ::half::bf16 {
    const TYPE_MAP: &'static TypeMap = &TypeMap::basic(Basic::Bf16);
}
