//! A type in parentheses.
use dtype_runtime::Datatype;

#[derive(Datatype)]
#[allow(unused_parens, reason = "the subject of this file")]
struct Parenthesised {
    value: (u32),
    values: ([(u8); 2]),
}

#[test]
fn main() {
    assert_eq!(Parenthesised::TYPE_MAP.size(), 6);
}
