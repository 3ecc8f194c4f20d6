//! The names of associated types, and of the author's own types, say nothing about what they are.

use std::marker::PhantomData;

use dtype_runtime::Datatype;

trait Mesh {
    type Cell;
    type Vec;
    type Option;
}

struct Grid;

impl Mesh for Grid {
    type Cell = u32;
    type Vec = u8;
    type Option = u16;
}

#[derive(Datatype)]
struct Sample<M: Mesh> {
    cell: M::Cell,
    vec: <M as Mesh>::Vec,
    option: [M::Option; 2],
}

struct Seconds;

#[derive(Datatype)]
struct Duration<U> {
    value: f64,
    unit: PhantomData<U>,
}

#[derive(Datatype)]
struct Event<U> {
    lasted: Duration<U>,
}

macro_rules! named {
    ($name:literal) => {
        #[derive(Datatype)]
        #[dtype(name = $name)]
        struct Named(u8);
    };
}

named!("by a macro");

#[test]
fn main() {
    assert_eq!(Sample::<Grid>::TYPE_MAP.size(), 9);
    assert_eq!(Event::<Seconds>::TYPE_MAP.size(), 8);
    assert_eq!(Named::TYPE_MAP.to_string(), "by a macro");
}
