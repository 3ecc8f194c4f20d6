//! `repr(C)`, without padding.
use std::mem::offset_of;

use dtype_runtime::Datatype;
use dtype_runtime::typemap::Node;

#[derive(Datatype)]
#[repr(C)]
struct Particle {
    position: f64,
    id: u32,
    kind: u32,
}

#[test]
fn main() {
    let map = Particle::TYPE_MAP;
    assert_eq!((map.size(), map.stride()), (16, 16));
    assert!(map.is_dense() && !map.is_restricted() && !map.skips_fields());
    let Node::Structure { name, fields, .. } = map.node() else { panic!("{map:?}") };
    assert_eq!(*name, "Particle");
    let found: Vec<_> = fields.iter().map(|field| (field.name(), field.offset())).collect();
    let expected = [
        ("position", offset_of!(Particle, position)),
        ("id", offset_of!(Particle, id)),
        ("kind", offset_of!(Particle, kind)),
    ];
    assert_eq!(found, expected);
}
