//! No fields, no bytes: with and without braces or parentheses.
use dtype_runtime::Datatype;
use dtype_runtime::typemap::Node;

#[derive(Datatype)]
struct Unit;

#[derive(Datatype)]
struct Empty {}

#[derive(Datatype)]
struct Nothing();

#[derive(Datatype)]
#[repr(align(8))]
struct Aligned;

#[test]
fn main() {
    for (map, expected) in
        [(Unit::TYPE_MAP, "Unit"), (Empty::TYPE_MAP, "Empty"), (Nothing::TYPE_MAP, "Nothing")]
    {
        let Node::Structure { name, fields, .. } = map.node() else { panic!("{map:?}") };
        assert_eq!((*name, fields.len()), (expected, 0));
        assert_eq!((map.size(), map.stride()), (0, 0));
        assert_eq!(map.signature_hash(), <()>::TYPE_MAP.signature_hash());
    }
    assert_eq!(Aligned::TYPE_MAP.stride(), size_of::<Aligned>());
}
