//! An enum that is larger than its integer.
use dtype_runtime::Datatype;

#[derive(Datatype)]
#[repr(u8, align(4))]
enum Aligned {
    One,
}

fn main() {}
