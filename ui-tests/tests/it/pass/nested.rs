//! Nested derived types, also in arrays, which have Rust's stride.
use std::mem::offset_of;

use dtype_runtime::Datatype;
use dtype_runtime::typemap::Node;

#[derive(Datatype)]
#[repr(C)]
struct Inner {
    a: u8,
    b: u16,
}

#[derive(Datatype)]
struct Outer {
    one: Inner,
    many: [Inner; 3],
    flag: u8,
}

#[test]
fn main() {
    let map = Outer::TYPE_MAP;
    assert_eq!((map.size(), map.stride()), (13, size_of::<Outer>()));
    let Node::Structure { fields, .. } = map.node() else { panic!("{map:?}") };
    assert_eq!(fields[1].offset(), offset_of!(Outer, many));
    let many = fields[1].map().unwrap();
    assert_eq!((many.size(), many.stride()), (9, 12));
    let Node::Array { count: 3, element } = many.node() else { panic!("{many:?}") };
    assert_eq!(element.stride(), 4);
}
