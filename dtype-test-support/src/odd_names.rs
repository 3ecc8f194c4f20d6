//! Records with field names that files can have and Rust cannot.

use dtype_derive::Datatype;

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
pub struct Step {
    #[dtype(rename = "total blocks")]
    pub total_blocks: i32,
    time: f64,
    #[dtype(rename = "größe 'in' \"m\\s\"")]
    size: u16,
    #[dtype(rename = "<&>: x")]
    signs: [u8; 2],
    #[dtype(rename = "a\tb\n\u{9b}2J")]
    controls: u8,
    #[dtype(rename = "is.on [0]")]
    flags: [Flags; 2],
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
pub struct Flags {
    #[dtype(rename = "on/off")]
    on: bool,
    #[dtype(rename = "温度")]
    temperature: i16,
}

pub const NAMES: [&str; 7] = [
    "total blocks",
    "time",
    "größe 'in' \"m\\s\"",
    "<&>: x",
    "a\tb\n\u{9b}2J",
    "is.on [0].on/off",
    "is.on [0].温度",
];

pub fn steps() -> [Step; 2] {
    let flags = [Flags { on: true, temperature: -4 }, Flags { on: false, temperature: 300 }];
    let first = Step { total_blocks: 7, time: 0.5, size: 3, signs: [1, 2], controls: 9, flags };
    [first, Step { total_blocks: -8, time: 1.5, ..first }]
}
