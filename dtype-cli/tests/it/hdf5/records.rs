use dtype_runtime::{Datatype, FixedStr};

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Record {
    pub id: u16,
    pub at: [f64; 2],
    pub name: FixedStr<4>,
    pub on: bool,
}
