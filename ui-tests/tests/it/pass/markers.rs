//! `lb`, `ub` and `resize`, on the struct and on fields.
use std::mem::offset_of;

use dtype_runtime::Datatype;
use dtype_runtime::typemap::{Markers, Node};

#[derive(Datatype)]
#[dtype(lb = -3, ub = 2 * SIX)]
struct OnStruct {
    value: u8,
}

const SIX: i64 = 6;

#[derive(Datatype)]
struct OnFields {
    before: u8,
    #[dtype(lb)]
    start: u16,
    #[dtype(ub)]
    end: [u32; 3],
    after: u64,
}

/// Both markers may stand at one skipped field.
#[derive(Datatype)]
struct OnSkipped<T> {
    value: u8,
    #[dtype(skip, lb, ub)]
    gap: T,
}

#[derive(Datatype)]
#[dtype(ub = 100)]
struct Both(#[dtype(lb)] u8, u16);

#[derive(Datatype)]
#[dtype(resize(extent = (Self::LENGTH + size_of::<T>()) as i64, lb = -1 - 1,),)]
struct Resized<T> {
    value: T,
}

impl<T> Resized<T> {
    const LENGTH: usize = 40;
}

#[derive(Datatype)]
struct Plain(u8);

fn markers<T: Datatype>() -> Markers {
    match T::TYPE_MAP.node() {
        Node::Structure { markers, .. } => *markers,
        other => panic!("{other:?}"),
    }
}

#[test]
fn main() {
    assert_eq!(markers::<OnStruct>(), Markers::NONE.with_lb(-3).with_ub(12));
    let start = offset_of!(OnFields, start) as i64;
    let end = offset_of!(OnFields, end) as i64 + 12;
    assert_eq!(markers::<OnFields>(), Markers::NONE.with_lb(start).with_ub(end));
    let gap = offset_of!(OnSkipped<u32>, gap) as i64;
    assert_eq!(markers::<OnSkipped<u32>>(), Markers::NONE.with_lb(gap).with_ub(gap + 4));
    assert_eq!(OnSkipped::<String>::TYPE_MAP.size(), 1);
    let first = offset_of!(Both, 0) as i64;
    assert_eq!(markers::<Both>(), Markers::NONE.with_ub(100).with_lb(first));
    assert_eq!(markers::<Resized<u16>>(), Markers::resized(-2, 42));
    assert_eq!(markers::<Plain>(), Markers::NONE);
    // Bounds are no data: what is packed stays the same.
    assert_eq!(OnStruct::TYPE_MAP.signature_hash(), u8::TYPE_MAP.signature_hash());
    assert_eq!(Resized::<u16>::TYPE_MAP.stride(), 2);
}
