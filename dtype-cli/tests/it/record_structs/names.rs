use dtype_runtime::{Datatype, FixedStr};

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Option {
    pub x: u8,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Result {
    pub y: u8,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct SelfPart {
    pub x: u8,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Vec {
    #[dtype(rename = "self")]
    pub self_: SelfPart,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Box {
    pub x: u16,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct DatatypePart {
    pub x: u8,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct ClonePart {
    pub z: u8,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct PartialEqPart {
    pub w: u8,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct U8 {
    pub v: u8,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Str {
    pub u: u8,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct CopyPart {
    pub copy: FixedStr<0>,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct CopyPart_2 {
    pub copy: CopyPart,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Record {
    #[dtype(rename = "self")]
    pub self_: u8,
    #[dtype(rename = "Self")]
    pub Self_: u8,
    #[dtype(rename = "self_")]
    pub self__2: u8,
    #[dtype(rename = "crate")]
    pub crate_: u8,
    pub r#fn: u8,
    pub r#gen: u8,
    #[dtype(rename = "2nd")]
    pub f2nd: u8,
    #[dtype(rename = "_")]
    pub f_: u8,
    #[dtype(rename = "a b")]
    pub a_b: u8,
    #[dtype(rename = "a_b")]
    pub a_b_2: u8,
    #[dtype(rename = "größe \"q\" \\n")]
    pub gr__e__q___n: u8,
    pub option: Option,
    pub result: Result,
    pub vec: Vec,
    pub r#box: Box,
    pub datatype: [DatatypePart; 2],
    pub clone: ClonePart,
    pub partialEq: PartialEqPart,
    pub u8: U8,
    pub str: Str,
    pub copy: CopyPart_2,
}
