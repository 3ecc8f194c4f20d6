//! A crate without a prelude, with modules of its own that have the names of tools. The derive's output relies on neither.
#![no_implicit_prelude]
#![allow(dead_code, non_upper_case_globals, reason = "the names are there to be found by mistake")]

use ::core::prelude::v1::test;
use ::dtype_message::Messages;
use ::dtype_runtime::Datatype;

mod diagnostic {}

#[derive(Datatype)]
#[dtype(check = Sample::is_valid)]
struct Sample {
    value: f64,
    kind: Kind,
}

impl Sample {
    fn is_valid(&self) -> bool {
        self.value >= 0.0
    }
}

#[derive(Datatype)]
#[repr(u8)]
enum Kind {
    One = 1,
}

#[derive(Datatype)]
#[dtype(remote = ::std::ops::Range<T>)]
struct Range<T> {
    start: T,
    end: T,
}

#[derive(Messages)]
enum Message {
    Sample(Sample),
    Samples(::std::vec::Vec<Sample>),
    Nothing,
}

#[test]
fn main() {
    ::std::assert_eq!(::dtype_runtime::packed_size::<Sample>(1), 9);
    ::std::assert!(::dtype_runtime::unpack::<Sample>(&[0; 9]).is_err());
    let _ = (Kind::One, Message::Nothing);
}
