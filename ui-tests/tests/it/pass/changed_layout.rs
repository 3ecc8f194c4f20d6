//! Attributes below the derive that change the layout: the map is that of the result.
use std::mem::offset_of;

use dtype_adversary::replace;
use dtype_runtime::typemap::Node;
use dtype_runtime::{Basic, Datatype, Validity};

#[derive(Datatype)]
#[replace({ value: u8 } => { value: u64 })]
#[repr(C)]
struct Retyped {
    first: u8,
    value: u8,
    last: u8,
}

#[derive(Datatype)]
#[replace({ repr(C) } => { repr(C, packed) })]
#[repr(C)]
struct Packed {
    first: u8,
    last: u32,
}

#[derive(Datatype)]
#[replace({ last: u16, first: u8 } => { first: u8, last: u16 })]
#[repr(C)]
struct Reordered {
    last: u16,
    first: u8,
}

#[derive(Datatype)]
#[replace({ A = 1 } => { A = 9 })]
#[repr(u8)]
enum Renumbered {
    A = 1,
    B = 2,
}

fn offsets<T: Datatype>() -> Vec<usize> {
    let Node::Structure { fields, .. } = T::TYPE_MAP.node() else { panic!() };
    fields.iter().map(|field| field.offset()).collect()
}

#[test]
fn main() {
    assert_eq!(Retyped::TYPE_MAP.size(), 10);
    assert_eq!(Retyped::TYPE_MAP.stride(), size_of::<Retyped>());
    assert_eq!(offsets::<Retyped>(), [0, 8, 16]);
    assert_eq!(offsets::<Packed>(), [0, 1]);
    assert_eq!(offsets::<Reordered>(), [offset_of!(Reordered, last), offset_of!(Reordered, first)],);
    let Node::Basic { basic: Basic::U8, validity: Validity::Enum(set), .. } =
        Renumbered::TYPE_MAP.node()
    else {
        panic!()
    };
    assert_eq!(set.values(), [9, 2]);
    let _ = [Renumbered::A, Renumbered::B];
}
