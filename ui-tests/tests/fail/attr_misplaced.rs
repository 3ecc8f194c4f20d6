//! Words that belong elsewhere.
use dtype_runtime::Datatype;

#[derive(Datatype)]
#[dtype(skip, with = u8, extent = 8, rename = "S")]
struct Struct {
    #[dtype(resize(lb = 0, extent = 8))]
    a: u8,
    #[dtype(crate = dtype_runtime, bound = "", name = "b")]
    b: u8,
    #[dtype(remote = u8)]
    c: u8,
}

#[derive(Datatype)]
#[dtype(resize(lb = 0, extent = 8), lb = 0, ub = 8, rename = "E")]
#[repr(u8)]
enum Enum {
    #[dtype(skip)]
    One,
    #[dtype(name = "two")]
    Two,
}

fn main() {}
