use dtype_runtime::time::Nanoseconds;
use dtype_runtime::{Datatype, Timestamp};

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct At {
    pub c: i8,
    pub time: Timestamp<Nanoseconds>,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Record {
    pub id: u8,
    pub mass: f64,
    pub at: [At; 2],
    pub on: bool,
}
