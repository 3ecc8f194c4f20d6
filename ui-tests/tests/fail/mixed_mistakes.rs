//! Mistakes that the derive sees and mistakes that the compiler sees, together; and attributes where
//! none belong.

use dtype_runtime::Datatype;

struct Plain;

#[derive(Datatype)]
struct Mixed<#[dtype(lb = 3)] T> {
    values: Vec<u8>,
    text: &'static str,
    plain: Plain,
    maybe: Option<u8>,
    fine: T,
}

#[derive(Datatype)]
union Either {
    #[dtype(skipp)]
    a: u32,
    #[dtype(skip = 3)]
    b: f32,
}

#[derive(Datatype)]
#[dtype(skip)]
#[repr(u8)]
enum Kind {
    A(#[dtype(offset = 2)] u8),
}

fn main() {}
