//! `bound` replaces the bounds that the derive would have found.
use std::marker::PhantomData;

use dtype_runtime::Datatype;

trait Storage {
    type Element: Datatype;
}

impl Storage for String {
    type Element = u16;
}

#[derive(Datatype)]
#[dtype(bound = "S: Storage")]
struct Stored<S: Storage> {
    element: S::Element,
}

/// An empty list of bounds: the struct's own bound is enough.
#[derive(Datatype)]
#[dtype(bound = "")]
struct Enough<T: Datatype> {
    value: T,
    of: PhantomData<T>,
}

#[derive(Datatype)]
#[dtype(bound = "A: Datatype + Copy, B: Datatype,")]
struct Two<A, B>(A, [B; 2]);

/// A bound on the parameter, not on the field's type: users of the struct need not repeat the bound.
#[derive(Datatype)]
#[dtype(bound = "T: Datatype")]
struct Nested<T> {
    value: Pair<T>,
}

#[derive(Datatype)]
struct Pair<T>([T; 2]);

fn size<T: Datatype>() -> usize {
    Nested::<T>::TYPE_MAP.size()
}

#[test]
fn main() {
    assert_eq!(Stored::<String>::TYPE_MAP.size(), 2);
    assert_eq!(Enough::<u64>::TYPE_MAP.size(), 8);
    assert_eq!(Two::<u8, u16>::TYPE_MAP.size(), 5);
    assert_eq!(size::<u8>(), 2);
}
