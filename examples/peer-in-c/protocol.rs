//! The messages that the two sides exchange. `protocol.h` is made of this file:
//! `dtype show --packed --as c-struct @examples/peer-in-c/protocol.rs:Message`

use dtype_message::Messages;
use dtype_runtime::Datatype;

/// The scale of a temperature.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(u8)]
pub(crate) enum Scale {
    /// Degrees Celsius.
    Celsius = 1,
    /// Degrees Fahrenheit.
    Fahrenheit = 2,
}

/// A measurement.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reading {
    pub(crate) station: u32,
    pub(crate) temperature: f32,
    pub(crate) scale: Scale,
}

/// The readings of a station.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mean {
    pub(crate) station: u32,
    pub(crate) readings: u32,
    /// In degrees Celsius.
    pub(crate) temperature: f64,
}

/// The messages of both directions.
#[derive(Messages, Debug, PartialEq)]
pub(crate) enum Message {
    /// Readings of any stations, to the service.
    #[dtype(tag = 1)]
    Readings(Vec<Reading>),
    /// The reply: a mean for each station, in the order of their first readings.
    #[dtype(tag = 2)]
    Means(Vec<Mean>),
    /// The reply to a message that the service does not take.
    #[dtype(tag = 3)]
    Refused(String),
}
