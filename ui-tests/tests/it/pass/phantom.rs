//! `PhantomData<T>` requires nothing of `T`.
use std::marker::PhantomData;

use dtype_runtime::Datatype;

#[derive(Datatype)]
struct Id<T: ?Sized> {
    number: u64,
    of: PhantomData<T>,
}

#[derive(Datatype)]
struct Linked<T> {
    value: T,
    next: u32,
    to: PhantomData<Self>,
    or: PhantomData<Linked<T>>,
}

#[test]
fn main() {
    assert_eq!(Linked::<u16>::TYPE_MAP.size(), 6);
    assert_eq!(Id::<Vec<String>>::TYPE_MAP.size(), 8);
    assert_eq!(Id::<dyn Send>::TYPE_MAP.signature_hash(), u64::TYPE_MAP.signature_hash());
}
