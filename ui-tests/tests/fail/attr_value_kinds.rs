//! Values of another kind than the word takes: a type for a path, a number for a string.
use dtype_runtime::Datatype;

#[derive(Datatype)]
struct Described {
    #[dtype(with = [u32; 3])]
    array: [u32; 3],
    #[dtype(with = (u8, u8), lb)]
    tuple: (u8, u8),
    #[dtype(with = &Description)]
    reference: u8,
    #[dtype(with = 7)]
    number: u8,
    #[dtype(with = module::)]
    unfinished: u8,
}

#[derive(Datatype)]
#[dtype(remote = [u8; 2], crate = [runtime], name = Name, bound = [T: Copy])]
struct Paths(u8, u8);

#[derive(Datatype)]
#[dtype(remote = 7, crate = dtype_runtime::<u8>, bound = "T: 7", name = b"Name")]
struct More<T>(T);

#[derive(Datatype)]
#[dtype(lb = struct, ub = -, resize(lb = ?, extent = *))]
struct Bounds(u8);

fn main() {}
