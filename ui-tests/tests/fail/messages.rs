// An enum of messages: each variant holds one value, or a head and a list, and has a tag of its own.

use dtype_message::Messages;

#[derive(Messages)]
struct Packet {
    id: u32,
}

#[derive(Messages)]
enum Fields {
    Move { x: f32, y: f32 },
    Pair(u8, u8),
    Three(u8, u8, Vec<u8>),
    TwoLists(u8, Vec<u8>, Vec<u8>),
    OnlyLists(Vec<u8>, String),
    ListFirst(Vec<u8>, u8),
    ListBetween { a: u8, list: Vec<u8>, b: u8 },
    Text(u8, &'static str),
}

#[derive(Messages)]
enum Tags {
    #[dtype(tag = 1)]
    One(u8),
    Two(u8),
    #[dtype(tag = 2)]
    Three(u8),
    #[dtype(tag = 4294967295)]
    Last,
    AfterTheLast,
    #[dtype(tag = 4294967296)]
    TooLarge,
    #[dtype(tag = "seven")]
    Seven,
    #[dtype(tag = 8, tag = 9)]
    Twice,
    #[dtype(number = 10)]
    Number,
    #[dtype(max_records = "1", max_text_bytes, max_payload_bytes = 1, max_payload_bytes = 2)]
    Limits,
    Attribute(#[dtype(skip)] u8),
    #[dtype(tag, tag = -1, skip, crate = dtype_message)]
    Several,
    #[dtype]
    Bare,
}

#[derive(Messages)]
#[dtype(crate = "dtype_message", tag = 1, name = "Path", max_records = 1)]
enum Path {
    One(u8),
}

#[derive(Messages)]
enum Generic<T> {
    One(T),
}

fn main() {}
