//! Writes points and spans of time as NumPy does, and with their units.

use dtype_npy::DateUnit;

/// NumPy's "not a time".
const NAT: i64 = i64::MIN;

/// Seconds in a day.
const DAY: i128 = 86_400;

/// NumPy's name of a type of times: `M8[ns]`.
pub(crate) fn name(letter: char, unit: Option<DateUnit>) -> String {
    unit.map_or(format!("{letter}8"), |unit| format!("{letter}8[{unit}]"))
}

/// A point of time in ISO 8601, as far as its unit tells, or a span with its unit. `None` for a number without a unit.
pub(crate) fn text(count: i64, unit: Option<DateUnit>, is_span: bool) -> Option<String> {
    if count == NAT {
        return Some("NaT".to_owned());
    }
    let unit = unit?;
    let count = i128::from(count) * i128::from(unit.count());
    Some(if is_span { format!("{count} {}", unit.name()) } else { point(count, unit.name()) })
}

/// A point of time, `count` units after the beginning of 1970.
fn point(count: i128, unit: &str) -> String {
    // The seconds of a unit, or the decimal digits of a second, and the length of the time `05:30:00`.
    let (seconds, digits, shown) = match unit {
        "Y" => return format!("{:04}", 1970 + count),
        "M" => {
            return format!("{:04}-{:02}", 1970 + count.div_euclid(12), count.rem_euclid(12) + 1);
        }
        "W" => return date(7 * count),
        "D" => return date(count),
        "h" => (3600, 0, 2),
        "m" => (60, 0, 5),
        "ms" => (1, 3, 8),
        "us" => (1, 6, 8),
        "ns" => (1, 9, 8),
        "ps" => (1, 12, 8),
        "fs" => (1, 15, 8),
        "as" => (1, 18, 8),
        _ => (1, 0, 8),
    };
    let in_second = 10_i128.pow(digits);
    let (second, fraction) = (count.div_euclid(in_second), count.rem_euclid(in_second));
    let per_day = DAY / seconds;
    let (day, second) = (second.div_euclid(per_day), second.rem_euclid(per_day) * seconds);
    let time = format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
    let text = format!("{}T{}", date(day), &time[..shown]);
    let width = digits as usize;
    if digits == 0 { text } else { format!("{text}.{fraction:0width$}") }
}

/// The date of a day after the first of January of 1970, in the Gregorian calendar.
fn date(day: i128) -> String {
    // From the first of March of the year 0, in eras of 400 years. In years that begin in March, a leap day comes last.
    let day = day + 719_468;
    let (era, day) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // From March on, five months have 153 days.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let is_next = month >= 10;
    let month = if is_next { month - 9 } else { month + 3 };
    format!("{:04}-{month:02}-{day:02}", 400 * era + year + i128::from(is_next))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(count: i64, unit: &str) -> String {
        text(count, DateUnit::new(unit), false).unwrap_or_default()
    }

    #[test]
    fn points_reach_as_far_as_their_units() {
        for (count, unit, expected) in [
            (56, "Y", "2026"),
            (-1971, "Y", "-001"),
            (-1, "M", "1969-12"),
            (1, "W", "1970-01-08"),
            (-1, "D", "1969-12-31"),
            (11_016, "D", "2000-02-29"),
            (47_541, "D", "2100-03-01"),
            (-719_468, "D", "0000-03-01"),
            (-1, "h", "1969-12-31T23"),
            (90, "m", "1970-01-01T01:30"),
            (-1, "s", "1969-12-31T23:59:59"),
            (3, "25s", "1970-01-01T00:01:15"),
            (-1, "ms", "1969-12-31T23:59:59.999"),
            (1_795_737_600_000_000, "us", "2026-11-27T00:00:00.000000"),
            (i64::MAX, "ns", "2262-04-11T23:47:16.854775807"),
            (-1, "as", "1969-12-31T23:59:59.999999999999999999"),
            (i64::MIN, "s", "NaT"),
        ] {
            assert_eq!(point(count, unit), expected);
        }
        assert_eq!(text(i64::MIN, None, false).as_deref(), Some("NaT"));
        assert_eq!(text(5, None, false), None);
    }

    #[test]
    fn every_day_of_eight_hundred_years() {
        let (mut year, mut month, mut day) = (1600, 1, 1);
        for count in -135_140..157_054 {
            assert_eq!(point(count, "D"), format!("{year:04}-{month:02}-{day:02}"));
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let days = match month {
                2 => 28 + i32::from(is_leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            (month, day) = if day == days { (month + 1, 1) } else { (month, day + 1) };
            (year, month) = if month > 12 { (year + 1, 1) } else { (year, month) };
        }
        assert_eq!((year, month, day), (2400, 1, 1));
    }

    #[test]
    fn the_longest_times_have_dates() {
        for unit in ["2147483647Y", "2147483647M", "2147483647W", "2147483647as", "2147483647h"] {
            for count in [i64::MAX, i64::MIN + 1] {
                assert!(point(count, unit).len() > 3);
                assert!(text(count, DateUnit::new(unit), true).is_some());
            }
        }
    }

    #[test]
    fn spans_have_units() {
        let span = |count, unit| text(count, DateUnit::new(unit), true).unwrap_or_default();
        assert_eq!(span(-5, "us"), "-5 us");
        assert_eq!(span(3, "25s"), "75 s");
        assert_eq!(span(i64::MIN, "D"), "NaT");
        assert_eq!(name('m', DateUnit::new("25s")), "m8[25s]");
        assert_eq!(name('M', None), "M8");
    }
}
