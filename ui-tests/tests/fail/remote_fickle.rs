//! The foreign path is needed more than once, and a macro in it could name another type each time.

use dtype_runtime::Datatype;

struct Wrapper<T> {
    a: T,
}

macro_rules! inner {
    () => {
        u8
    };
}

#[derive(Datatype)]
#[dtype(remote = Wrapper<inner!()>)]
struct Described {
    a: u8,
}

fn main() {
    let _ = Wrapper { a: 1_u8 }.a;
}
