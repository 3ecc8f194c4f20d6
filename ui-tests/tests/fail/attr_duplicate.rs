//! Words given twice, in one attribute or in two.
use dtype_runtime::Datatype;

#[derive(Datatype)]
#[dtype(lb = 0, lb = 1, ub = 8, name = "a")]
#[dtype(ub = 9, name = "b", bound = "", bound = "")]
#[dtype(crate = dtype_runtime, crate = dtype_runtime)]
struct Struct {
    #[dtype(skip, skip)]
    a: u8,
    #[dtype(with = A)]
    #[dtype(with = B)]
    b: u8,
    #[dtype(lb, lb)]
    c: u8,
}

#[derive(Datatype)]
#[dtype(resize(lb = 0, lb = 1, extent = 8), resize(lb = 0, extent = 8))]
struct Resized;

fn main() {}
