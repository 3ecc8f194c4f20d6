//! Every scalar, and the wrappers that have their layout.
use std::mem::ManuallyDrop;
use std::num::{NonZero, NonZeroU32, Wrapping};

use dtype_runtime::typemap::Node;
use dtype_runtime::{Basic, Datatype};

#[derive(Datatype)]
struct Scalars {
    a: u128,
    b: usize,
    c: Option<NonZeroU32>,
    d: ManuallyDrop<u32>,
    e: Wrapping<u32>,
    f: Option<NonZero<i8>>,
    g: i128,
    h: isize,
    i: f32,
}

#[test]
fn main() {
    let map = Scalars::TYPE_MAP;
    assert!(!map.is_restricted());
    let Node::Structure { fields, .. } = map.node() else { panic!("{map:?}") };
    let basics: Vec<_> = fields
        .iter()
        .map(|field| match field.map().unwrap().node() {
            Node::Basic { basic, .. } => *basic,
            other => panic!("{other:?}"),
        })
        .collect();
    let (word, signed) = match size_of::<usize>() {
        8 => (Basic::U64, Basic::I64),
        4 => (Basic::U32, Basic::I32),
        _ => (Basic::U16, Basic::I16),
    };
    let expected = [
        Basic::U128,
        word,
        Basic::U32,
        Basic::U32,
        Basic::U32,
        Basic::I8,
        Basic::I128,
        signed,
        Basic::F32,
    ];
    assert_eq!(basics, expected);
}
