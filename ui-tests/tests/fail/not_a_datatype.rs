//! A struct of the user's own that lacks the derive, as a field and as an argument.
use dtype_runtime::Datatype;

struct Inner(u8);

#[derive(Datatype)]
struct Outer {
    inner: Inner,
    array: [crate::Inner; 4],
    tuple: (u8, Inner),
}

#[derive(Datatype)]
struct Generic<T> {
    value: [T; 2],
}

fn main() {
    let _ = Generic::<Inner>::TYPE_MAP;
}
