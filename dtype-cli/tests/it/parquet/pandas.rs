use dtype_runtime::time::{Microseconds, Seconds};
use dtype_runtime::{Datatype, FixedStr, FixedVec, Maybe, Timestamp};

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Place {
    pub x: f64,
}

/// Read with `ReadOptions::strict().with_number_conversion()`.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Record {
    pub name: FixedStr<4>,
    pub kind: FixedStr<2>,
    pub at: Timestamp<Microseconds>,
    pub day: Maybe<Timestamp<Seconds>>,
    pub mass: Maybe<f64>,
    pub count: Maybe<i32>,
    pub values: FixedVec<i64, 2>,
    pub place: Place,
}
