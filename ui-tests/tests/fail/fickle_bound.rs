//! A macro in type position that gives another type in the bound than it gave in the field.
use dtype_runtime::Datatype;

struct NotADatatype;

// As good as a procedural macro that counts its calls: the bound is on another type.
trait Pick {
    type Type;
}

impl<T> Pick for T {
    type Type = NotADatatype;
}

#[derive(Datatype)]
#[dtype(bound = "T: Datatype")]
struct Fickle<T> {
    value: <T as Pick>::Type,
}

fn main() {}
