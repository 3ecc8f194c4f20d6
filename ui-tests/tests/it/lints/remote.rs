//! Foreign structs described by local structs, and fields described by these. No code here is dead.
#![deny(warnings)]

use std::mem::offset_of;

use dtype_runtime::typemap::{Markers, Node};
use dtype_runtime::{Basic, Datatype, Describes, Validity};

/// This module stands for another crate.
mod foreign {
    pub struct Vec3 {
        pub x: f32,
        pub y: f32,
        pub z: f32,
        pub label: String,
    }

    #[repr(C)]
    pub struct Pair<A, B>(pub A, pub B);

    pub struct Marker;

    #[repr(u8)]
    pub enum Axis {
        X = 1,
        Y = 7,
    }
}

#[derive(Datatype)]
#[dtype(remote = foreign::Vec3)]
struct Vec3 {
    x: f32,
    y: f32,
    z: f32,
    #[dtype(skip)]
    label: String,
}

#[derive(Datatype)]
#[dtype(remote = foreign::Pair<A, [B; 2]>)]
struct Pair<A, B>(#[dtype(ub)] A, [B; 2]);

#[derive(Datatype)]
#[dtype(remote = foreign::Marker, name = "marker")]
struct Marker;

#[derive(Datatype)]
#[dtype(remote = foreign::Axis)]
#[repr(u8)]
enum Axis {
    X,
    Y,
}

#[derive(Datatype)]
struct Body<T> {
    #[dtype(with = Vec3)]
    position: foreign::Vec3,
    #[dtype(with = Pair<T, u8>)]
    pair: foreign::Pair<T, [u8; 2]>,
    #[dtype(with = Vec3)]
    corners: [[foreign::Vec3; 4]; 2],
    #[dtype(with = Axis)]
    axis: foreign::Axis,
    #[dtype(with = Marker)]
    marker: foreign::Marker,
}

#[test]
fn main() {
    let map = <Vec3 as Describes<foreign::Vec3>>::FOREIGN_MAP;
    assert_eq!((map.size(), map.stride()), (12, size_of::<foreign::Vec3>()));
    assert!(map.skips_fields());
    let Node::Structure { name: "Vec3", fields, .. } = map.node() else { panic!("{map:?}") };
    let offsets: Vec<_> = fields.iter().map(|field| (field.name(), field.offset())).collect();
    let expected = [
        ("x", offset_of!(foreign::Vec3, x)),
        ("y", offset_of!(foreign::Vec3, y)),
        ("z", offset_of!(foreign::Vec3, z)),
        ("label", offset_of!(foreign::Vec3, label)),
    ];
    assert_eq!(offsets, expected);

    let map = <Pair<u16, u8> as Describes<foreign::Pair<u16, [u8; 2]>>>::FOREIGN_MAP;
    let Node::Structure { markers, .. } = map.node() else { panic!("{map:?}") };
    assert_eq!(*markers, Markers::NONE.with_ub(2));

    let map = <Axis as Describes<foreign::Axis>>::FOREIGN_MAP;
    let Node::Basic { basic: Basic::U8, validity: Validity::Enum(set), name: "Axis" } = map.node()
    else {
        panic!("{map:?}")
    };
    assert_eq!(set.values(), [1, 7]);

    let map = <Marker as Describes<foreign::Marker>>::FOREIGN_MAP;
    assert!(matches!(map.node(), Node::Structure { name: "marker", .. }));

    assert_eq!(Body::<u16>::TYPE_MAP.size(), 12 + 4 + 8 * 12 + 1);
    let _ = (foreign::Axis::X, foreign::Axis::Y, foreign::Marker, foreign::Pair(1, 2).0);
    let vec3 = foreign::Vec3 { x: 0.0, y: 0.0, z: 0.0, label: String::new() };
    assert_eq!(vec3.x + vec3.y + vec3.z, vec3.label.len() as f32);
}
