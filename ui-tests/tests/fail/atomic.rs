use std::sync::atomic::{self, AtomicU32};

use dtype_runtime::Datatype;

#[derive(Datatype)]
struct Counter {
    count: AtomicU32,
    done: atomic::AtomicBool,
}

fn main() {}
