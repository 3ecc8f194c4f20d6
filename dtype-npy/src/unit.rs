//! The units of NumPy's times, `datetime64` and `timedelta64`.

use core::fmt;

use dtype_stored::Period;

/// NumPy's units, the longest first. Each has the number of each of the two or three units after it that make it up: NumPy
/// writes a divided unit, `s/100`, as a number of one of these.
const UNITS: [(&str, &[u32]); 13] = [
    ("Y", &[12, 52, 365]),
    ("M", &[4, 30, 720]),
    ("W", &[7, 168, 10_080]),
    ("D", &[24, 1440, 86_400]),
    ("h", &[60, 3600]),
    ("m", &[60, 60_000]),
    ("s", &[1000, 1_000_000]),
    ("ms", &[1000, 1_000_000]),
    ("us", &[1000, 1_000_000]),
    ("ns", &[1000, 1_000_000]),
    ("ps", &[1000, 1_000_000]),
    ("fs", &[1000]),
    ("as", &[]),
];

/// The unit of a `datetime64` or a `timedelta64`: `ns`, or `25s` for spans of 25 seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DateUnit {
    /// At most `i32::MAX`, as in NumPy.
    count: u32,
    name: &'static str,
}

impl DateUnit {
    /// The unit of a text such as `ns` or `25s`: a number, if it is not 1, and NumPy's name of a unit, from `Y` to `as`. A
    /// divided unit, `s/100`, becomes a number of shorter units.
    ///
    /// `None` for every other text.
    ///
    /// ```
    /// use dtype_npy::DateUnit;
    /// assert_eq!(DateUnit::new("25s").unwrap().to_string(), "25s");
    /// assert_eq!(DateUnit::new("s/100").unwrap().to_string(), "10ms");
    /// assert_eq!(DateUnit::new("fortnight"), None);
    /// ```
    pub fn new(text: &str) -> Option<Self> {
        let number = |digits: &str| digits.parse().ok().filter(|_| !digits.starts_with('+'));
        let (text, divisor) = match text.split_once('/') {
            Some((text, divisor)) => (text, number(divisor)?),
            None => (text, 1),
        };
        let name = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let count: u32 = match text.strip_suffix(name)? {
            "" => 1,
            digits => number(digits)?,
        };
        // NumPy accepts the Greek letter, and the sign for micro, which looks the same.
        let name = if matches!(name, "μs" | "µs") { "us" } else { name };
        let index = UNITS.iter().position(|(known, _)| *known == name)?;
        let (mut unit, mut count) = (index, count);
        if divisor != 1 {
            let divides = |multiple: &u32| divisor > 0 && multiple.is_multiple_of(divisor);
            let after = UNITS[index].1.iter().position(divides)?;
            unit += after + 1;
            count = count.checked_mul(UNITS[index].1[after] / divisor)?;
        }
        i32::try_from(count).ok().map(|_| Self { count, name: UNITS[unit].0 })
    }

    /// The number of spans in a unit: 25 in `25s`.
    pub const fn count(self) -> u32 {
        self.count
    }

    /// The length of the unit; the table of `dtype-stored` has all of NumPy's.
    pub(crate) fn period(self) -> Option<Period> {
        Period::of_symbol(self.name).map(|period| period.times(self.count))
    }

    /// NumPy's name of one span: `s` in `25s`.
    pub const fn name(self) -> &'static str {
        self.name
    }
}

impl fmt::Display for DateUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.count != 1 {
            write!(f, "{}", self.count)?;
        }
        f.write_str(self.name)
    }
}
