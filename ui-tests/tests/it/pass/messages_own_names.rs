// Datatypes of the user's own that have names of the standard library.

use dtype_message::{Framing, Limits, Messages};
use dtype_runtime::Datatype;
use std::num::NonZero;

#[derive(Datatype, Debug, PartialEq)]
struct Cell {
    row: u16,
}

#[derive(Datatype, Debug, PartialEq)]
struct Duration(u32);

#[derive(Messages, Debug, PartialEq)]
enum Packet {
    Cell(Cell),
    Cells(Vec<Cell>),
    Took(Duration),
    Headed(Cell, Vec<Duration>),
    Maybe(Option<NonZero<u32>>),
}

#[test]
fn main() {
    for sent in [
        Packet::Cell(Cell { row: 1 }),
        Packet::Cells(vec![Cell { row: 2 }]),
        Packet::Took(Duration(3)),
        Packet::Headed(Cell { row: 4 }, vec![Duration(5)]),
        Packet::Maybe(None),
    ] {
        let mut bytes = Vec::new();
        dtype_message::encode(&mut bytes, &sent, Framing::compact()).unwrap();
        assert_eq!(dtype_message::decode(&mut &bytes[..], &Limits::new()).unwrap(), Some(sent));
    }
}
