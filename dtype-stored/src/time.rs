//! Points and spans of time that are stored in other units than those of a leaf.

use std::fmt;

use dtype_runtime::typemap::{Meaning, TimeUnit, TypeMap};

/// What a number of a stored time counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time {
    /// Whether it is a point in time, counted from the beginning of 1970. Otherwise it is a span.
    pub is_point: bool,
    /// The unit.
    pub unit: Period,
    /// Whether the least number is no time, as NumPy's `NaT`. It stays the least number.
    pub has_nat: bool,
}

/// The unit of a stored time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// `count` spans, `per_second` of which are a second.
    Seconds {
        /// The number of spans.
        count: u64,
        /// The number of spans in a second, at least 1.
        per_second: u64,
    },
    /// A number of months, which have different lengths.
    Months(u64),
}

/// The units that have a name, with their symbols in NumPy.
const UNITS: [(&str, &str, Period); 13] = [
    ("Y", "years", Period::Months(12)),
    ("M", "months", Period::Months(1)),
    ("W", "weeks", Period::seconds(604_800)),
    ("D", "days", Period::DAY),
    ("h", "hours", Period::seconds(3600)),
    ("m", "minutes", Period::seconds(60)),
    ("s", "seconds", Period::seconds(1)),
    ("ms", "milliseconds", Period::part(1_000)),
    ("us", "microseconds", Period::part(1_000_000)),
    ("ns", "nanoseconds", Period::part(1_000_000_000)),
    ("ps", "picoseconds", Period::part(1_000_000_000_000)),
    ("fs", "femtoseconds", Period::part(1_000_000_000_000_000)),
    ("as", "attoseconds", Period::part(1_000_000_000_000_000_000)),
];

impl Period {
    /// A day.
    pub const DAY: Self = Self::seconds(86_400);

    const fn seconds(count: u64) -> Self {
        Self::Seconds { count, per_second: 1 }
    }

    const fn part(per_second: u64) -> Self {
        Self::Seconds { count: 1, per_second }
    }

    /// The part of a second that a unit is.
    pub const fn of(unit: TimeUnit) -> Self {
        Self::part(unit.per_second() as u64)
    }

    /// The unit with a symbol of NumPy: `Y`, `M`, `W`, `D`, `h`, `m`, `s`, `ms`, `us`, `ns`, `ps`, `fs`, `as`.
    pub fn of_symbol(symbol: &str) -> Option<Self> {
        UNITS.iter().find(|(known, ..)| *known == symbol).map(|(.., period)| *period)
    }

    /// A number of these units.
    #[must_use]
    pub fn times(self, number: u32) -> Self {
        let times = |count: u64| count.saturating_mul(number.into());
        match self {
            Self::Months(count) => Self::Months(times(count)),
            Self::Seconds { count, per_second } => {
                Self::Seconds { count: times(count), per_second }
            }
        }
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (UNITS.iter().find(|(.., known)| known == self), self) {
            (Some((_, name, _)), _) => f.write_str(name),
            (None, Self::Months(count)) => write!(f, "times {count} months"),
            (None, Self::Seconds { count, per_second: 1 }) => write!(f, "times {count} seconds"),
            (None, Self::Seconds { count, per_second }) => {
                write!(f, "times {count}/{per_second} seconds")
            }
        }
    }
}

impl Time {
    /// The time that the numbers of a leaf are.
    pub(crate) fn of_leaf(leaf: &TypeMap) -> Option<Self> {
        let (is_point, unit) = match leaf.meaning()? {
            Meaning::Time(unit) => (true, unit),
            Meaning::Span(unit) => (false, unit),
            _ => return None,
        };
        Some(Self { is_point, unit: Period::of(unit), has_nat: false })
    }
}

/// The conversion of the numbers of one unit to those of another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rescaling {
    from: Period,
    to: Period,
    way: Way,
    has_nat: bool,
}

#[derive(Clone, Copy, Debug)]
enum Way {
    Ratio(Ratio),
    /// Months become days, and these the other unit.
    FromMonths(Ratio, Ratio),
    ToMonths(Ratio, Ratio),
}

/// A number is multiplied, and then divided without a rest.
#[derive(Clone, Copy, Debug)]
struct Ratio {
    times: i128,
    by: i128,
}

impl Ratio {
    /// `None` if the second unit is nothing.
    fn new(times: u128, by: u128) -> Option<Self> {
        let (mut common, mut rest) = (times, by);
        while rest > 0 {
            (common, rest) = (rest, common % rest);
        }
        let reduced = |number: u128| i128::try_from(number.checked_div(common)?).ok();
        Some(Self { times: reduced(times)?, by: reduced(by).filter(|by| *by > 0)? })
    }

    /// From one unit to another; `None` if only one of them consists of months.
    fn between(from: Period, to: Period) -> Option<Self> {
        match (from, to) {
            (Period::Months(from), Period::Months(to)) => Self::new(from.into(), to.into()),
            (
                Period::Seconds { count: from, per_second: from_per },
                Period::Seconds { count: to, per_second: to_per },
            ) => Self::new(
                u128::from(from) * u128::from(to_per),
                u128::from(to) * u128::from(from_per),
            ),
            _ => None,
        }
    }

    /// `None` if there is a rest, or for numbers of more than 128 bits.
    fn of(self, number: i128) -> Option<i128> {
        let product = number.checked_mul(self.times)?;
        (product % self.by == 0).then(|| product / self.by)
    }
}

impl Rescaling {
    /// `None` if one side is a point in time and the other a span, or if the number of seconds in a span of months is needed.
    pub(crate) fn new(from: Time, to: Time) -> Option<Self> {
        if from.is_point != to.is_point {
            return None;
        }
        let month = Period::Months(1);
        let way = match (from.unit, to.unit) {
            (Period::Months(_), Period::Seconds { .. }) if from.is_point => Way::FromMonths(
                Ratio::between(from.unit, month)?,
                Ratio::between(Period::DAY, to.unit)?,
            ),
            (Period::Seconds { .. }, Period::Months(_)) if from.is_point => Way::ToMonths(
                Ratio::between(from.unit, Period::DAY)?,
                Ratio::between(month, to.unit)?,
            ),
            _ => Way::Ratio(Ratio::between(from.unit, to.unit)?),
        };
        let has_nat = from.has_nat || to.has_nat;
        Some(Self { from: from.unit, to: to.unit, way, has_nat })
    }

    /// The number in the other unit. The error is the reason why there is none.
    pub(crate) fn of(&self, number: i128) -> Result<i128, String> {
        let is_nat = |number: &i128| self.has_nat && *number == i64::MIN.into();
        if is_nat(&number) {
            return Ok(number);
        }
        let converted = match self.way {
            Way::Ratio(ratio) => ratio.of(number),
            Way::FromMonths(before, after) => {
                before.of(number).and_then(day_of_month).and_then(|day| after.of(day))
            }
            Way::ToMonths(before, after) => {
                before.of(number).and_then(month_of_day).and_then(|month| after.of(month))
            }
        };
        // A time does not become none.
        converted.filter(|number| !is_nat(number)).ok_or_else(|| {
            let Self { from, to, .. } = self;
            format!("{number} {from} are no whole number of {to} of 64 bits")
        })
    }
}

/// The months in 400 years, and the days, after which the calendar repeats.
const CYCLE: (i128, i128) = (400 * 12, 146_097);

/// The day on which a month begins, both counted from January 1970; `None` for one that a number of 64 bits does not reach.
fn day_of_month(month: i128) -> Option<i128> {
    let _ = i64::try_from(month).ok()?;
    // Years from March on end with the leap day.
    let from_march = month + 1970 * 12 - 2;
    let (cycles, month) = (from_march.div_euclid(CYCLE.0), from_march.rem_euclid(CYCLE.0));
    let (year, month) = (month / 12, month % 12);
    let days = 365 * year + year / 4 - year / 100 + (153 * month + 2) / 5;
    // The first of March of the year 0.
    Some(cycles * CYCLE.1 + days - 719_468)
}

/// The month that begins on a day; `None` if the day is not the first of a month.
fn month_of_day(day: i128) -> Option<i128> {
    let _ = i64::try_from(day).ok()?;
    // Months have some 30.44 days: this month is at most one too late or too early.
    let near = (day * CYCLE.0).div_euclid(CYCLE.1);
    (near - 1..=near + 1).find(|month| day_of_month(*month) == Some(day))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_begin_on_their_days() {
        for (month, day) in [
            (0, 0),
            (1, 31),
            (2, 59),
            (12, 365),
            (25, 761), // The leap year 1972: 1 February, and 1 March after 29 days.
            (26, 790),
            (-1, -31),
            (-12, -365),
            (360, 10_957),          // 2000
            (-1970 * 12, -719_528), // the year 0
        ] {
            assert_eq!(day_of_month(month), Some(day), "{month}");
            assert_eq!(month_of_day(day), Some(month), "{day}");
        }
        let mut day = day_of_month(-100_000).unwrap();
        for month in -100_000_i128..100_000 {
            assert_eq!((day_of_month(month), month_of_day(day)), (Some(day), Some(month)));
            let next = day_of_month(month + 1).unwrap();
            assert!((28..=31).contains(&(next - day)), "{month}");
            assert_eq!(month_of_day(day + 1), None, "{month}");
            day = next;
        }
    }
}
