use std::cell::{Cell, RefCell};

use dtype_runtime::Datatype;

#[derive(Datatype)]
struct Shared<T> {
    count: Cell<u32>,
    value: RefCell<T>,
}

fn main() {}
