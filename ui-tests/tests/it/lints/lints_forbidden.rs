//! Forbidden lints: the derive's output has nothing that they report, and no `allow`, which would be an error here.
#![forbid(unsafe_code, deprecated, unused, nonstandard_style, missing_docs, private_bounds)]

use dtype_runtime::Datatype;

/// Documented.
#[derive(Datatype)]
#[dtype(ub = 16)]
pub struct Point<T> {
    #[dtype(lb)]
    x: Private<T>,
    #[dtype(skip)]
    label: Option<String>,
}

#[derive(Datatype)]
struct Private<T>(T);

#[derive(Datatype)]
#[repr(u8)]
enum Kind {
    One,
}

#[test]
fn main() {
    assert_eq!(Point::<u16>::TYPE_MAP.size(), 2);
    assert_eq!(<Kind as Datatype>::TYPE_MAP.size(), 1);
    let _ = (Kind::One, Point { x: Private(0_u8), label: None }.label);
}
