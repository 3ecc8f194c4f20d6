use std::mem::MaybeUninit;

use dtype_runtime::Datatype;

#[derive(Datatype)]
struct Buffer {
    bytes: [MaybeUninit<u32>; 8],
}

fn main() {}
