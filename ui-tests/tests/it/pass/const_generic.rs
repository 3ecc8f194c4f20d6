//! A const parameter, also with the names that an expansion might use itself.
#![allow(non_upper_case_globals)]

use dtype_runtime::Datatype;
use dtype_runtime::typemap::Node;

#[derive(Datatype)]
struct Block<const N: usize> {
    data: [u32; N],
}

#[derive(Datatype)]
struct Names<const p: usize, const value: usize, const place: usize>(
    [u8; p],
    [u16; value],
    [u8; place],
);

#[derive(Datatype)]
struct Flag<const SET: bool>(u8);

#[test]
fn main() {
    assert_eq!(Block::<5>::TYPE_MAP.size(), 20);
    assert_eq!(Block::<0>::TYPE_MAP.size(), 0);
    let Node::Structure { fields, .. } = Block::<1_000_000_000>::TYPE_MAP.node() else { panic!() };
    let Some(Node::Array { count, .. }) = fields[0].map().map(|map| map.node()) else { panic!() };
    assert_eq!(*count, 1_000_000_000);
    assert_eq!(Names::<1, 2, 3>::TYPE_MAP.size(), 8);
    assert_eq!(Flag::<true>::TYPE_MAP.size(), 1);
}
