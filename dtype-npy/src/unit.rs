//! The units of NumPy's times, `datetime64` and `timedelta64`.

use core::fmt;

/// NumPy's names of units.
const NAMES: [&str; 13] = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"];

/// What a `datetime64` or a `timedelta64` counts: `ns`, or `25s` for spans of 25 seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DateUnit {
    /// At most `i32::MAX`, as in NumPy.
    count: u32,
    name: &'static str,
}

impl DateUnit {
    /// The unit of a text such as `ns` or `25s`: a number, if it is not 1, and NumPy's name of a unit, from `Y` to `as`.
    ///
    /// `None` for every other text: NumPy's divisors, `D/2`, are not in files.
    ///
    /// ```
    /// use dtype_npy::DateUnit;
    /// assert_eq!(DateUnit::new("25s").unwrap().to_string(), "25s");
    /// assert_eq!(DateUnit::new("fortnight"), None);
    /// ```
    pub fn new(text: &str) -> Option<Self> {
        let name = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let count = match text.strip_suffix(name)? {
            "" => 1,
            digits => digits.parse().ok().filter(|count: &u32| i32::try_from(*count).is_ok())?,
        };
        // As NumPy, which also knows the Greek letter.
        let name = if name == "μs" { "us" } else { name };
        let name = NAMES.into_iter().find(|known| *known == name)?;
        Some(Self { count, name })
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
