//! `bool`, `char` and `NonZero`: accepted, and checked by unpacking.
use std::num::NonZeroU32;

use dtype_runtime::Datatype;
use dtype_runtime::typemap::Node;

#[derive(Datatype)]
struct Flag(bool);

#[derive(Datatype)]
struct Letter(char);

#[derive(Datatype)]
struct Count(NonZeroU32);

#[derive(Datatype)]
struct Any(u32);

fn refused<T: Datatype>(bits: u128) -> bool {
    let Node::Structure { fields, .. } = T::TYPE_MAP.node() else { panic!() };
    let Node::Basic { validity, .. } = fields[0].map().unwrap().node() else { panic!() };
    assert_eq!(T::TYPE_MAP.is_restricted(), !validity.is_any());
    !validity.accepts(bits)
}

#[test]
fn main() {
    assert!(refused::<Flag>(2) && !refused::<Flag>(1));
    assert!(refused::<Letter>(0xD800) && !refused::<Letter>('ß'.into()));
    assert!(refused::<Count>(0) && !refused::<Count>(1));
    assert!(!refused::<Any>(0));
}
