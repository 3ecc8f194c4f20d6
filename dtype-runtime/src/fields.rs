//! Types for fields of records, for use instead of types of the standard library without a fixed layout or size.

mod content;
mod duration;
mod fixed;
mod maybe;
mod socket;
mod time;

pub use duration::FixedDuration;
pub use fixed::{FixedStr, FixedVec};
pub use maybe::Maybe;
pub use socket::FixedSocketAddr;
pub use time::{Microseconds, Milliseconds, Nanoseconds, Seconds, TimeSpan, Timestamp, Unit};
