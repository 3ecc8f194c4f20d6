// With the feature `half` of dtype-runtime.
// With the feature `num-complex` of dtype-runtime.
use dtype_runtime::time::{Microseconds, Seconds};
use dtype_runtime::{Datatype, FixedStr, FixedVec, Maybe, TimeSpan, Timestamp};

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Type {
    #[dtype(rename = "self")]
    pub self_: u8,
    pub x: [[f32; 3]; 2],
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Some {
    pub x: i16,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct RecordPart {
    pub datatype: i64,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct SecondsPart {
    pub y: f32,
}

/// Read with `ReadOptions::strict().with_other_fields().with_number_conversion()`.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Record {
    pub name: FixedStr<48>,
    pub born: Timestamp<Seconds>,
    pub at: [Timestamp<Microseconds>; 2],
    pub took: TimeSpan<Seconds>,
    pub tag: FixedStr<4>,
    #[dtype(rename = "total blocks")]
    pub total_blocks: i32,
    pub r#type: Type,
    pub maybe: Maybe<f64>,
    pub some: FixedVec<Some, 4>,
    pub record: RecordPart,
    // "raw", '|V3', is left out.
    pub half: half::f16,
    pub z: num_complex::Complex<f64>,
    pub count: i64,
    pub years: i64,
    pub big: u128,
    pub Seconds: SecondsPart,
    pub pico: i64,
}
