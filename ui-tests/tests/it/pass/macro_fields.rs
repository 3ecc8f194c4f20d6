//! Structs that `macro_rules!` writes: types, names and lengths from fragments, types from macros.
use std::mem::offset_of;

use dtype_runtime::Datatype;
use dtype_runtime::typemap::Node;

macro_rules! record {
    ($name:ident $(<$param:ident>)? { $($field:ident: $ty:ty,)* } $len:expr) => {
        #[derive(Datatype)]
        struct $name $(<$param>)? {
            $($field: $ty,)*
            rest: [u8; $len],
        }
    };
}

macro_rules! real {
    () => {
        f64
    };
    ($ty:ty) => {
        [$ty; 2]
    };
}

record! { Plain { a: u32, b: [f32; 3], c: [(u8, bool); 1], } 4 }
record! { Generic<T> { a: T, b: [T; 2], } 1 + 1 }

#[derive(Datatype)]
struct TypeMacro<T> {
    plain: real!(),
    argument: real!(T),
}

#[test]
fn main() {
    let Node::Structure { fields, .. } = Plain::TYPE_MAP.node() else { panic!() };
    let found: Vec<_> = fields.iter().map(|field| (field.name(), field.offset())).collect();
    let expected = [
        ("a", offset_of!(Plain, a)),
        ("b", offset_of!(Plain, b)),
        ("c", offset_of!(Plain, c)),
        ("rest", offset_of!(Plain, rest)),
    ];
    assert_eq!(found, expected);
    assert_eq!(Plain::TYPE_MAP.size(), 22);
    assert_eq!(Generic::<u16>::TYPE_MAP.size(), 8);
    assert_eq!(TypeMacro::<u8>::TYPE_MAP.size(), 10);
}
