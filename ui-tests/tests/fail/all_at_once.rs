//! Many mistakes in one item, all of them reported.
use dtype_runtime::Datatype;

#[derive(Datatype)]
#[dtype(skip, lb, nonsense = 3, name = "a", name = "b")]
#[dtype(resize(lb = 0, extend = 8), crate = "dtype_runtime")]
struct Everything<'a> {
    #[dtype(skipped, ub = 8)]
    a: &'a u32,
    b: ([*const u8; 4], fn()),
    #[dtype(skip, skip, with = Description)]
    c: u8,
    d: u32,
    #[dtype(resize)]
    e: [(u8, Box<u8>); 2],
}

#[derive(Datatype)]
#[dtype(ub = 4)]
enum Enum {
    #[dtype(skip)]
    Unit,
    Tuple(u8, u16),
    Struct {
        a: u8,
    },
}

// The uses of an item with mistakes add none of their own.
#[derive(Datatype)]
struct Uses {
    everything: Everything<'static>,
    enumeration: [Enum; 2],
}

fn main() {
    assert!(Uses::TYPE_MAP.size() > 0);
}
