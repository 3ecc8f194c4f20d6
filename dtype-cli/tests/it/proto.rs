use std::net::{Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU8;

use dtype_message::Messages;
use dtype_runtime::{Datatype, FixedDuration, FixedStr, FixedVec, Maybe};

pub const NAME: usize = 12;

#[derive(Datatype, Clone, Copy)]
#[repr(u8)]
pub enum Kind {
    Free,
    Fixed,
}

#[derive(Datatype)]
pub struct Reading {
    pub kind: Kind,
    pub name: FixedStr<NAME>,
    pub value: Maybe<f32>,
    pub at: FixedDuration,
    pub id: uuid::Uuid,
    pub v4: Ipv4Addr,
    pub v6: Ipv6Addr,
    pub code: Option<NonZeroU8>,
    pub pair: (u8, f64),
    pub samples: FixedVec<u16, 4>,
    pub spots: FixedVec<Spot, 1>,
    pub spot: Maybe<Spot>,
    #[dtype(with = Outside)]
    pub outside: [Foreign; 2],
    pub _pad: u8,
    #[dtype(skip)]
    pub cache: Vec<u8>,
}

#[derive(Datatype, Clone, Copy)]
pub struct Spot {
    pub x: i16,
    pub on: bool,
}

pub struct Foreign {
    pub a: u8,
    pub b: u32,
}

#[derive(Datatype)]
#[dtype(remote = Foreign)]
pub struct Outside {
    a: u8,
    b: u32,
}

#[derive(Datatype, Clone, Copy)]
pub struct Particle {
    pub position: [f64; 3],
    pub charge: i8,
    pub kind: Kind,
}

#[derive(Messages)]
pub enum Message {
    Hello(String),
    Particles(Vec<Particle>),
    #[dtype(tag = 7)]
    Spot(Spot),
    Bye,
    Page(Spot, Vec<Particle>),
    Log {
        is_last: bool,
        text: String,
    },
    Nothing((), Vec<Spot>),
}
