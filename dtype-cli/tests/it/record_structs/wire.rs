use dtype_runtime::time::Seconds;
use dtype_runtime::{Datatype, FixedStr, Timestamp};

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Inner {
    pub x: i32,
    pub y: i16,
}

/// Read with `ReadOptions::strict().with_other_fields().with_number_conversion()`.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Record {
    pub a: u16,
    pub b: f64,
    pub inner: [Inner; 2],
    pub when: Timestamp<Seconds>,
    pub who: FixedStr<8>,
    // "nothing", ('>f4', (0,)), is left out.
}
