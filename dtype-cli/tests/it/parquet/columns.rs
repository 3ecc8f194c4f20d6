use dtype_runtime::time::{Microseconds, Milliseconds, Seconds};
use dtype_runtime::{Datatype, FixedStr, FixedVec, Maybe, TimeSpan, Timestamp};

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Place {
    pub latitude: f64,
    #[dtype(rename = "of day")]
    pub of_day: Maybe<bool>,
}

/// Read with `ReadOptions::strict().with_number_conversion()`.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Record {
    pub name: FixedStr<6>,
    pub kind: Maybe<FixedStr<4>>,
    pub at: Timestamp<Microseconds>,
    pub day: Timestamp<Seconds>,
    pub noon: Timestamp<Milliseconds>,
    pub time: TimeSpan<Milliseconds>,
    pub place: Place,
    pub values: FixedVec<u16, 3>,
    pub pair: [u16; 2],
    pub mass: Maybe<i64>,
}
