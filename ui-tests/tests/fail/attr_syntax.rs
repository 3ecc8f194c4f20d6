//! Words in the wrong shape.
use dtype_runtime::Datatype;

#[derive(Datatype)]
#[dtype]
struct NoParentheses;

#[derive(Datatype)]
#[dtype = "skip"]
struct Equals;

#[derive(Datatype)]
#[dtype[name = "brackets"]]
struct Brackets;

#[derive(Datatype)]
#[dtype("name", 7, name = "a" "b", = 3)]
struct NotWords;

#[derive(Datatype)]
#[dtype(lb, ub = , name, bound = T, remote, crate = "dtype_runtime", resize)]
struct Values;

#[derive(Datatype)]
#[dtype(name = 7, bound = "T Datatype", crate = a + b, remote = "other::Type")]
struct MoreValues<T>(T);

#[derive(Datatype)]
#[dtype(resize(lb = 0))]
struct NoExtent;

#[derive(Datatype)]
#[dtype(resize(extend = 8, lb, extent = ))]
struct BadResize;

#[derive(Datatype)]
#[dtype(resize(8, extent = 8))]
struct Positional;

#[derive(Datatype)]
#[dtype(8)]
#[repr(u8)]
enum NotAWord {
    One,
}

#[derive(Datatype)]
struct Fields {
    #[dtype(lb = 4)]
    a: u8,
    #[dtype(ub(4), skip = true)]
    b: u8,
    #[dtype(with)]
    c: u8,
    #[dtype(with = "Description")]
    d: u8,
    #[dtype(skip with = Description)]
    e: u8,
    #[dtype("skip")]
    f: u8,
}

fn main() {}
