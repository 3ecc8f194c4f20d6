//! The messages that the two sides exchange.

use dtype_message::{Framing, Limits, Messages};
use dtype_runtime::Datatype;

/// A measurement.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reading {
    pub(crate) time: u64,
    pub(crate) station: u32,
    pub(crate) celsius: f32,
    pub(crate) is_calibrated: bool,
}

/// From a station to the server.
#[derive(Messages, Debug)]
pub(crate) enum Request {
    /// New readings.
    #[dtype(tag = 1)]
    Report(Vec<Reading>),
    /// Requests the last readings of all stations.
    #[dtype(tag = 2)]
    Ask,
}

/// From the server to a station.
#[derive(Messages, Debug)]
pub(crate) enum Reply {
    /// The receipt for this number of stored readings.
    #[dtype(tag = 1)]
    Receipt(u64),
    /// The last readings.
    #[dtype(tag = 2)]
    Readings(Vec<Reading>),
    /// The last request was refused, for this reason. The connection continues.
    #[dtype(tag = 3)]
    Refused(String),
}

/// Full frames: a damaged report costs that report, and not the connection.
pub(crate) const FRAMING: Framing = Framing::new();

/// The limits of a message. A peer cannot make the other side hold more.
pub(crate) const LIMITS: Limits =
    Limits::new().with_max_records(10_000).with_max_payload_bytes(1 << 20);
