//! Types of other crates, each with its own advice.
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use dtype_runtime::Datatype;

#[derive(Datatype)]
struct Event {
    time: Instant,
    took: Duration,
    from: SocketAddr,
    thread: std::thread::ThreadId,
}

mod small {
    pub struct Vec<T, const N: usize>(pub [T; N]);
}

// Types whose name says nothing to the derive, one of them for the path before it.
#[derive(Datatype)]
struct Unknown {
    range: std::ops::RangeInclusive<u32>,
    list: small::Vec<u8, 4>,
}

bitflags::bitflags! {
    #[derive(Datatype)]
    struct Flags: u32 {
        const A = 1;
    }
}

fn main() {}
