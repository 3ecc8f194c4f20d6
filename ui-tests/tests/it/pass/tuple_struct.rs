//! The fields of a tuple struct are called by their index.
use std::mem::offset_of;

use dtype_runtime::Datatype;
use dtype_runtime::typemap::Node;

#[derive(Datatype)]
struct Pair(u8, f32);

#[test]
fn main() {
    let Node::Structure { name, fields, .. } = Pair::TYPE_MAP.node() else { panic!() };
    assert_eq!(*name, "Pair");
    let found: Vec<_> = fields.iter().map(|field| (field.name(), field.offset())).collect();
    assert_eq!(found, [("0", offset_of!(Pair, 0)), ("1", offset_of!(Pair, 1))]);
    assert_eq!(Pair::TYPE_MAP.size(), 5);
}
