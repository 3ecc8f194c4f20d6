//! A field left out: whatever its type, and without a bound on its parameter.
use std::mem::offset_of;

use dtype_runtime::Datatype;
use dtype_runtime::typemap::Node;

#[derive(Datatype)]
struct Cached<'a, T> {
    #[dtype(skip)]
    text: Vec<T>,
    value: u32,
    #[dtype(skip)]
    reference: &'a str,
    #[dtype(skip)]
    callback: fn(T) -> T,
}

#[derive(Datatype)]
struct Outer {
    inner: Cached<'static, String>,
}

#[derive(Datatype)]
struct Whole(u32);

#[test]
fn main() {
    type Concrete = Cached<'static, String>;
    let map = Concrete::TYPE_MAP;
    assert_eq!((map.size(), map.stride()), (4, size_of::<Concrete>()));
    assert!(map.skips_fields() && Outer::TYPE_MAP.skips_fields());
    assert!(!Whole::TYPE_MAP.skips_fields());
    assert_eq!(map.signature_hash(), Whole::TYPE_MAP.signature_hash());
    let Node::Structure { fields, .. } = map.node() else { panic!("{map:?}") };
    let found: Vec<_> = fields.iter().map(|f| (f.name(), f.offset(), f.map().is_some())).collect();
    let expected = [
        ("text", offset_of!(Concrete, text), false),
        ("value", offset_of!(Concrete, value), true),
        ("reference", offset_of!(Concrete, reference), false),
        ("callback", offset_of!(Concrete, callback), false),
    ];
    assert_eq!(found, expected);
}
