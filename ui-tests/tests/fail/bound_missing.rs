//! `bound` replaces the bounds that the derive would have found: these are too few.
use dtype_runtime::Datatype;

#[derive(Datatype)]
#[dtype(bound = "")]
struct Generic<T> {
    value: [T; 2],
}

fn main() {}
