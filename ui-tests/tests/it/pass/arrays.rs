//! Arrays in every spelling.
use dtype_runtime::Datatype;
use dtype_runtime::typemap::Node;

const LEN: usize = 3;

type Vec3 = [f32; 3];

#[derive(Datatype)]
struct Arrays {
    plain: [f32; 3],
    alias: Vec3,
    expression: [f32; LEN * 2 - { 1 + if LEN > 2 { 2 } else { 0 } }],
    nested: [[f32; 3]; 2],
    empty: [bool; 0],
}

#[test]
fn main() {
    let map = Arrays::TYPE_MAP;
    assert_eq!(map.size(), (3 + 3 + 3 + 6) * 4);
    assert!(!map.is_restricted());
    let Node::Structure { fields, .. } = map.node() else { panic!("{map:?}") };
    let counts: Vec<_> = fields
        .iter()
        .map(|field| match field.map().unwrap().node() {
            Node::Array { count, .. } => *count,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(counts, [3, 3, 3, 2, 0]);
    assert_eq!(map.signature_hash(), <[f32; 15]>::TYPE_MAP.signature_hash());
}
