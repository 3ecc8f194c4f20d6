//! A type parameter without a bound gets one where it is needed.
use std::mem::offset_of;

use dtype_runtime::Datatype;
use dtype_runtime::typemap::Node;

#[derive(Datatype)]
struct Wrapper<T> {
    value: T,
}

#[derive(Datatype)]
struct Two<A, B> {
    first: A,
    second: B,
}

struct NotADatatype;

#[test]
fn main() {
    assert_eq!(Wrapper::<f64>::TYPE_MAP.size(), 8);
    assert_eq!(Wrapper::<Wrapper<u16>>::TYPE_MAP.signature_hash(), u16::TYPE_MAP.signature_hash(),);
    let map = Two::<u8, u64>::TYPE_MAP;
    assert_eq!((map.size(), map.stride()), (9, size_of::<Two<u8, u64>>()));
    let Node::Structure { fields, .. } = map.node() else { panic!("{map:?}") };
    let offsets: Vec<_> = fields.iter().map(|field| field.offset()).collect();
    assert_eq!(offsets, [offset_of!(Two<u8, u64>, first), offset_of!(Two<u8, u64>, second)]);
    // The struct itself has no bound.
    let _ = Wrapper { value: NotADatatype }.value;
}
