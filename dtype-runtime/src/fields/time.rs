//! Points and spans of time as counts of a unit.

use core::fmt;
use core::hash::Hash;
use core::marker::PhantomData;
use core::time::Duration;

use crate::basic::{Basic, Validity};
use crate::datatype::Datatype;
use crate::error::Error;
use crate::typemap::{Meaning, TimeUnit, TypeMap};

/// The unit of a [`Timestamp`] or a [`TimeSpan`]: [`Seconds`], [`Milliseconds`], [`Microseconds`], [`Nanoseconds`].
pub trait Unit: sealed::Sealed + Copy + Ord + Hash {
    /// The unit.
    const UNIT: TimeUnit;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! units {
    ($($name:ident $unit:ident $text:literal)*) => {$(
        #[doc = concat!("Counts ", $text, ".")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {}

        impl sealed::Sealed for $name {}

        impl Unit for $name {
            const UNIT: TimeUnit = TimeUnit::$unit;
        }
    )*};
}

units! {
    Seconds Second "seconds"
    Milliseconds Millisecond "milliseconds"
    Microseconds Microsecond "microseconds"
    Nanoseconds Nanosecond "nanoseconds"
}

macro_rules! times {
    ($(#[$doc:meta])* $name:ident, $meaning:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name<U>(i64, PhantomData<fn() -> U>);

        // SAFETY: it is an `i64` in memory, by `repr(transparent)`, and has no invariant.
        #[diagnostic::do_not_recommend]
        unsafe impl<U: Unit> Datatype for $name<U> {
            const TYPE_MAP: &'static TypeMap = &TypeMap::restricted(
                Basic::I64,
                Validity::Any,
                stringify!($name),
            )
            .meaning_of(Meaning::$meaning(U::UNIT));
        }

        impl<U> $name<U> {
            /// `count` units.
            pub const fn new(count: i64) -> Self {
                Self(count, PhantomData)
            }

            /// The number of units.
            pub const fn count(self) -> i64 {
                self.0
            }
        }

        impl<U> Default for $name<U> {
            fn default() -> Self {
                Self::new(0)
            }
        }

        impl<U: Unit> fmt::Debug for $name<U> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} {}", self.0, U::UNIT.symbol())
            }
        }
    };
}

times! {
    /// A point in time as a datatype: an `i64` of units since the beginning of 1970, UTC, without leap seconds. It is NumPy's
    /// `datetime64` of the unit, and Arrow's `Timestamp`.
    ///
    /// std does not define the layout of `SystemTime`, which differs between systems. Nanoseconds reach
    /// from 1677 to 2262. NumPy's "not a time" is the least number.
    ///
    /// ```
    /// # #[cfg(feature = "std")] {
    /// use dtype_runtime::time::Nanoseconds;
    /// use dtype_runtime::{Datatype, Timestamp, pack, unpack};
    /// use std::time::{Duration, SystemTime};
    ///
    /// #[derive(Datatype)]
    /// struct Sample {
    ///     at: Timestamp<Nanoseconds>,
    ///     value: f32,
    /// }
    ///
    /// let noon = SystemTime::UNIX_EPOCH + Duration::from_secs(43_200);
    /// let bytes = pack(&[Sample { at: noon.try_into()?, value: 1.5 }]);
    /// let sample = &unpack::<Sample>(&bytes)?[0];
    /// assert_eq!(sample.at.count(), 43_200_000_000_000);
    /// assert_eq!(SystemTime::try_from(sample.at)?, noon);
    /// # }
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    Timestamp, Time
}

times! {
    /// A span of time as a datatype: an `i64` of units, which may be negative. It is NumPy's `timedelta64` of the unit, and
    /// Arrow's `Duration`. [`FixedDuration`](crate::FixedDuration) holds every [`Duration`].
    ///
    /// ```
    /// use dtype_runtime::TimeSpan;
    /// use dtype_runtime::time::Milliseconds;
    /// use std::time::Duration;
    /// let lap = TimeSpan::<Milliseconds>::try_from(Duration::from_secs(61))?;
    /// assert_eq!(format!("{lap:?}"), "61000 ms");
    /// assert_eq!(Duration::try_from(lap)?, Duration::from_secs(61));
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    TimeSpan, Span
}

const fn out_of_range(unit: TimeUnit) -> Error {
    Error::TimeRange { unit: unit.symbol() }
}

/// The whole units of a span of time.
fn units(span: Duration, unit: TimeUnit) -> Result<i128, Error> {
    let nanos = u128::from(1_000_000_000 / unit.per_second());
    i128::try_from(span.as_nanos() / nanos).map_err(|_| out_of_range(unit))
}

/// A span of `count` units.
fn span(count: u64, unit: TimeUnit) -> Duration {
    let per_second = u64::from(unit.per_second());
    let rest = (count % per_second) * (1_000_000_000 / per_second);
    // The first term is less than 2⁶³ seconds, and the second less than one second.
    Duration::from_secs(count / per_second) + Duration::from_nanos(rest)
}

impl<U: Unit> TryFrom<Duration> for TimeSpan<U> {
    type Error = Error;

    /// Rounds toward zero.
    fn try_from(duration: Duration) -> Result<Self, Error> {
        let count = i64::try_from(units(duration, U::UNIT)?);
        count.map(Self::new).map_err(|_| out_of_range(U::UNIT))
    }
}

impl<U: Unit> TryFrom<TimeSpan<U>> for Duration {
    type Error = Error;

    fn try_from(value: TimeSpan<U>) -> Result<Self, Error> {
        let count = u64::try_from(value.0).map_err(|_| out_of_range(U::UNIT))?;
        Ok(span(count, U::UNIT))
    }
}

#[cfg(feature = "std")]
impl<U: Unit> TryFrom<std::time::SystemTime> for Timestamp<U> {
    type Error = Error;

    /// Rounds down to the unit that has begun.
    fn try_from(time: std::time::SystemTime) -> Result<Self, Error> {
        let unit = U::UNIT;
        let count = match time.duration_since(std::time::SystemTime::UNIX_EPOCH) {
            Ok(after) => units(after, unit)?,
            Err(before) => {
                let before = before.duration();
                let whole = units(before, unit)?;
                let nanos = before.as_nanos() % u128::from(1_000_000_000 / unit.per_second());
                -whole - i128::from(nanos > 0)
            }
        };
        i64::try_from(count).map(Self::new).map_err(|_| out_of_range(unit))
    }
}

#[cfg(feature = "std")]
impl<U: Unit> TryFrom<Timestamp<U>> for std::time::SystemTime {
    type Error = Error;

    /// An error if the system has no such time.
    fn try_from(value: Timestamp<U>) -> Result<Self, Error> {
        let distance = span(value.0.unsigned_abs(), U::UNIT);
        let time = if value.0 < 0 {
            Self::UNIX_EPOCH.checked_sub(distance)
        } else {
            Self::UNIX_EPOCH.checked_add(distance)
        };
        time.ok_or(out_of_range(U::UNIT))
    }
}
