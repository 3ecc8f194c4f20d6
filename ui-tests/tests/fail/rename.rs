//! Names that no field or variant can have, and names that two of them would have.
use dtype_runtime::Datatype;

#[derive(Datatype)]
struct Values {
    #[dtype(rename = "")]
    empty: u8,
    #[dtype(rename = "a\0b")]
    nul: u8,
    #[dtype(rename = b"bytes")]
    bytes: u8,
    #[dtype(rename)]
    without_value: u8,
    #[dtype(rename = "once", rename = "twice")]
    twice: u8,
}

#[derive(Datatype)]
struct Fields {
    a: u8,
    #[dtype(rename = "a")]
    own_name_of_another: u8,
    #[dtype(rename = "later")]
    before: u8,
    later: u8,
    #[dtype(rename = "total blocks")]
    first: u8,
    #[dtype(rename = "total blocks")]
    second: u8,
    #[dtype(rename = "type")]
    raw: u8,
    r#type: u8,
}

#[derive(Datatype)]
struct Tuple(#[dtype(rename = "1")] u8, u8);

#[derive(Datatype)]
struct Generic<T> {
    #[dtype(rename = "value")]
    a: T,
    value: [T; 2],
}

#[derive(Datatype)]
#[repr(u8)]
enum Variants {
    One,
    #[dtype(rename = "One", skip)]
    Two,
    #[dtype(rename = "")]
    Three,
    #[dtype(rename = "Fünf")]
    Four,
    Fünf,
}

fn main() {}
