//! Attributes of which one makes another meaningless.
use dtype_runtime::Datatype;

#[derive(Datatype)]
#[dtype(resize(lb = 0, extent = 8), ub = 16)]
struct Resized {
    #[dtype(lb)]
    a: u8,
}

#[derive(Datatype)]
#[dtype(lb = 0)]
struct TwoOfAKind {
    #[dtype(lb, ub)]
    a: u8,
    #[dtype(ub)]
    b: u8,
}

struct Description;

#[derive(Datatype)]
struct Both {
    #[dtype(skip, with = Description)]
    a: u8,
}

fn main() {}
