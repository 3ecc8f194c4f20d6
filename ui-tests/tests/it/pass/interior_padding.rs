//! Padding between fields is no data.
use dtype_runtime::Datatype;
use dtype_runtime::typemap::Node;

#[derive(Datatype)]
#[repr(C)]
struct Padded {
    a: u8,
    b: u32,
    c: u8,
}

#[test]
fn main() {
    let map = Padded::TYPE_MAP;
    assert_eq!((map.size(), map.stride()), (6, 12));
    assert!(!map.is_dense() && !map.skips_fields());
    let Node::Structure { fields, .. } = map.node() else { panic!("{map:?}") };
    let offsets: Vec<_> = fields.iter().map(|field| field.offset()).collect();
    assert_eq!(offsets, [0, 4, 8]);
}
