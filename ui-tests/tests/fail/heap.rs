use std::collections::HashMap;

use dtype_runtime::Datatype;

#[derive(Datatype)]
struct Text {
    value: String,
}

#[derive(Datatype)]
struct List<T> {
    values: Vec<u32>,
    generic: std::vec::Vec<T>,
    map: HashMap<u32, T>,
    array: [Vec<u8>; 3],
}

#[derive(Datatype)]
struct Boxed {
    value: Box<u32>,
}

fn main() {}
