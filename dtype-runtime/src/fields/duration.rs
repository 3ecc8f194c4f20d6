//! A span of time as a datatype.

use core::fmt;
use core::mem::offset_of;
use core::time::Duration;

use crate::basic::{Basic, Validity};
use crate::datatype::Datatype;
use crate::typemap::{Field, Markers, TypeMap};

/// A span of time as a datatype: the whole seconds as a `u64`, and the nanoseconds after them as a `u32`.
///
/// std does not define the layout of [`Duration`]. Reading its bytes at compile time would show where the two numbers lie, but
/// not that the other four bytes are padding, which unpacking would leave uninitialised. So `Duration` is not a datatype. Store
/// a `FixedDuration`, which converts to and from it without loss.
///
/// Unpacking checks that the nanoseconds are less than a second.
///
/// ```
/// use dtype_runtime::{Datatype, FixedDuration, pack, unpack};
/// use core::time::Duration;
///
/// #[derive(Datatype)]
/// struct Lap {
///     runner: u16,
///     time: FixedDuration,
/// }
///
/// let mut bytes = pack(&[Lap { runner: 7, time: Duration::from_millis(61_500).into() }]);
/// assert_eq!(bytes.len(), 2 + 8 + 4);
/// assert_eq!(unpack::<Lap>(&bytes)?[0].time.get(), Duration::from_millis(61_500));
///
/// bytes[10..].copy_from_slice(&1_000_000_000_u32.to_ne_bytes());
/// let error = unpack::<Lap>(&bytes).err().unwrap();
/// assert_eq!(
///     error.to_string(),
///     "record 0, field time.nanos: 0x3b9aca00 is not a valid nanosecond of a second"
/// );
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(C)]
pub struct FixedDuration {
    secs: u64,
    /// Less than [`NANOS_PER_SEC`].
    nanos: u32,
}

const NANOS_PER_SEC: u32 = 1_000_000_000;

// SAFETY: the offsets come from the compiler, and the two fields are all that there is: two integers, of which
// any bits are values, so the bytes that the restriction accepts are, too.
#[diagnostic::do_not_recommend]
unsafe impl Datatype for FixedDuration {
    const TYPE_MAP: &'static TypeMap = {
        const NANOS: &TypeMap = &TypeMap::restricted(
            Basic::U32,
            Validity::AtMost(NANOS_PER_SEC - 1),
            "nanosecond of a second",
        );
        &TypeMap::structure::<Self>(
            "FixedDuration",
            const {
                &[
                    Field::new("secs", offset_of!(Self, secs), <u64 as Datatype>::TYPE_MAP),
                    Field::new("nanos", offset_of!(Self, nanos), NANOS),
                ]
            },
            Markers::NONE,
        )
    };
}

impl FixedDuration {
    /// Converts from a [`Duration`].
    pub const fn new(duration: Duration) -> Self {
        Self { secs: duration.as_secs(), nanos: duration.subsec_nanos() }
    }

    /// Converts to a [`Duration`].
    pub const fn get(self) -> Duration {
        // `nanos` is less than a second, so nothing is carried, and `new` does not panic.
        Duration::new(self.secs, self.nanos)
    }
}

impl From<Duration> for FixedDuration {
    fn from(duration: Duration) -> Self {
        Self::new(duration)
    }
}

impl From<FixedDuration> for Duration {
    fn from(duration: FixedDuration) -> Self {
        duration.get()
    }
}

impl fmt::Debug for FixedDuration {
    /// Prints as a [`Duration`] does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}
