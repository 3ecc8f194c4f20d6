//! A field whose type is associated with the struct itself: the bound is on the field's type. Other mentions of `Self` add no
//! bound.
use std::marker::PhantomData;

use dtype_runtime::Datatype;

trait Shape {
    type Index;
}

#[derive(Datatype)]
struct Node<T> {
    first: <Self as Shape>::Index,
    rest: [<Self as Shape>::Index; 2],
    of: PhantomData<T>,
}

impl<T> Shape for Node<T> {
    type Index = T;
}

/// A place in memory, relative to this one.
#[derive(Datatype)]
struct Link<T: Datatype> {
    offset: i32,
    to: PhantomData<T>,
}

#[derive(Datatype)]
struct Item<T: Datatype> {
    value: T,
    next: Link<Self>,
}

#[test]
fn main() {
    assert_eq!(Node::<u16>::TYPE_MAP.size(), 6);
    assert_eq!(Item::<u16>::TYPE_MAP.size(), 6);
}
