//! A field whose type is associated: the bound is on the field's type, not on the parameter.
use dtype_runtime::Datatype;

trait Shape {
    type Index;
}

struct Grid;

impl Shape for Grid {
    type Index = u16;
}

#[derive(Datatype)]
struct Node<S: Shape> {
    first: S::Index,
    second: <S as Shape>::Index,
    rest: [S::Index; 2],
}

#[test]
fn main() {
    assert_eq!(Node::<Grid>::TYPE_MAP.size(), 8);
    assert_eq!(Node::<Grid>::TYPE_MAP.signature_hash(), <[u16; 4]>::TYPE_MAP.signature_hash());
}
