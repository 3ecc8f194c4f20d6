//! Without a `repr` the compiler orders the fields in memory; the map keeps the order of the source.
use std::mem::offset_of;

use dtype_runtime::Datatype;
use dtype_runtime::typemap::Node;

#[derive(Datatype)]
struct Mixed {
    flag: u8,
    value: f64,
    small: u16,
}

#[test]
fn main() {
    let map = Mixed::TYPE_MAP;
    assert_eq!((map.size(), map.stride()), (11, size_of::<Mixed>()));
    let Node::Structure { fields, .. } = map.node() else { panic!("{map:?}") };
    let found: Vec<_> = fields.iter().map(|field| (field.name(), field.offset())).collect();
    let expected = [
        ("flag", offset_of!(Mixed, flag)),
        ("value", offset_of!(Mixed, value)),
        ("small", offset_of!(Mixed, small)),
    ];
    assert_eq!(found, expected);
    assert_eq!(map.signature_hash(), <(u8, f64, u16)>::TYPE_MAP.signature_hash());
    assert_ne!(map.signature_hash(), <(f64, u16, u8)>::TYPE_MAP.signature_hash());
}
