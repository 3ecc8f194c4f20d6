//! A field that is only ever packed is in use.
#![deny(dead_code)]

use dtype_runtime::Datatype;

#[derive(Datatype)]
pub struct Header {
    magic: u32,
    version: u16,
}

#[test]
fn main() {
    let header = Header { magic: 1, version: 2 };
    assert_eq!(<Header as Datatype>::TYPE_MAP.size(), 6);
    drop(header);
}
