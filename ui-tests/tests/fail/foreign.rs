use std::net::Ipv4Addr;
use std::time::Instant;

use dtype_runtime::Datatype;

#[derive(Datatype)]
struct Event {
    time: Instant,
    from: Ipv4Addr,
}

// Of which the derive does not know the name.
#[derive(Datatype)]
struct Range {
    range: std::ops::Range<u32>,
}

fn main() {}
