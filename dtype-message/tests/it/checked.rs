//! Types with an invariant, in messages: every reader checks it.

#![allow(clippy::trivially_copy_pass_by_ref, reason = "a check takes a reference")]

use std::cell::Cell;

use dtype_message::{Decoder, Error as MessageError, Framing, Incoming, Limits, Receiver};
use dtype_runtime::{Datatype, Error};
use dtype_test_support::frames;

/// `start` is not after `end`.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[dtype(check = Self::is_ordered)]
#[repr(C)]
struct Interval {
    start: u32,
    end: u32,
}

impl Interval {
    fn is_ordered(&self) -> bool {
        self.start <= self.end
    }
}

#[test]
fn messages_are_checked() {
    let mut frame = Vec::new();
    dtype_message::write(&mut frame, &[[1_u32, 2], [4, 3]]).unwrap();
    // The type without the invariant accepts the same message.
    assert!(dtype_message::read::<[u32; 2]>(&mut &frame[..], &Limits::new()).is_ok());
    let error = dtype_message::read::<Interval>(&mut &frame[..], &Limits::new()).unwrap_err();
    let MessageError::Records(error) = error else { panic!("{error}") };
    assert!(matches!(*error, Error::CheckFailed { record: 1, .. }), "{error}");
    let mut items = [Interval { start: 0, end: 1 }; 2];
    assert!(dtype_message::read_into(&mut &frame[..], &mut items).is_err());
    assert_eq!(items, [Interval { start: 0, end: 1 }; 2]);
}

/// A record without data: there are no bytes to check, and still a check.
#[derive(Datatype, Clone, Copy, Debug, Default)]
#[dtype(check = never)]
struct Nothing;

fn never(_: &Nothing) -> bool {
    false
}

fn refused(error: &Error) {
    assert!(matches!(error, Error::CheckFailed { record: 0, .. }), "{error}");
}

/// Every reader checks such a record, in either byte order, whatever number of records a frame announces.
#[test]
fn records_without_data_are_checked() {
    const COUNT: usize = 1 << 20;
    let limits = Limits::new();
    let wrong = |error: dtype_message::Error| {
        let dtype_message::Error::Records(error) = error else { panic!("{error}") };
        refused(&error);
    };
    let framed = |framing| {
        let mut frame = Vec::new();
        dtype_message::send(&mut frame, &vec![(); COUNT], framing).unwrap();
        frame
    };
    let full = framed(Framing::new());
    let other_order = frames::changed(&full, |frame| frame[5] = 3 - frame[5]);
    for frame in [framed(Framing::compact()), full, other_order] {
        let open = || Incoming::open(&frame[..], &limits).unwrap().unwrap();
        wrong(open().read::<Nothing>().unwrap_err());
        wrong(open().receive::<Vec<Nothing>>().unwrap_err());
        let mut records = vec![Nothing; COUNT];
        wrong(open().read_into(&mut records).unwrap_err());
        wrong(open().read_reusing(&mut records).unwrap_err());
        wrong(dtype_message::decode::<Vec<Nothing>>(&mut &frame[..], &limits).unwrap_err());
        wrong(Receiver::<_, Vec<Nothing>>::new(&frame[..], limits).next_message().unwrap_err());
        for size in [1, frame.len()] {
            let mut decoder = Decoder::<Vec<Nothing>>::new(limits);
            let mut pieces = frame.chunks(size);
            wrong(pieces.find_map(|mut piece| decoder.feed(&mut piece).err()).unwrap());
        }
    }
}

thread_local! {
    static CHECKS: Cell<u32> = const { Cell::new(0) };
}

#[derive(Datatype, Clone, Copy, Debug)]
#[dtype(check = count)]
struct Counted;

fn count(_: &Counted) -> bool {
    CHECKS.with(|checks| checks.set(checks.get() + 1));
    true
}

/// A message without data may announce any number of records, which are checked once.
#[test]
fn records_without_data_are_checked_once() {
    let mut frame = Vec::new();
    dtype_message::write(&mut frame, &[Counted; 1 << 20]).unwrap();
    let decoded = dtype_message::decode::<Vec<Counted>>(&mut &frame[..], &Limits::new()).unwrap();
    assert_eq!((decoded.unwrap().len(), CHECKS.with(Cell::get)), (1 << 20, 1));
}
