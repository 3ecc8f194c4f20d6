//! A struct with a lifetime, but without references.
use std::marker::PhantomData;

use dtype_runtime::Datatype;

#[derive(Datatype)]
struct Tagged<'a> {
    index: u32,
    of: PhantomData<&'a ()>,
}

#[derive(Datatype)]
struct Both<'a, 'b: 'a, T: 'a> {
    value: T,
    of: PhantomData<(&'a T, &'b str)>,
    inner: Tagged<'b>,
}

#[test]
fn main() {
    assert_eq!(Tagged::<'_>::TYPE_MAP.size(), 4);
    assert_eq!(Both::<'_, '_, u16>::TYPE_MAP.size(), 6);
}
