//! Ranges of records: `10..20`.

use std::str::FromStr;

use dtype_text::problem::quoted;

/// Some of the records, numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordRange {
    /// The first record.
    pub(crate) start: u64,
    /// One past the last record; `None` if the range is open.
    pub(crate) end: Option<u64>,
}

impl Default for RecordRange {
    /// All records.
    fn default() -> Self {
        Self { start: 0, end: None }
    }
}

impl FromStr for RecordRange {
    type Err = String;

    /// Reads `10..20`, `10..`, `..20`, `10..=19`, or the number of one record.
    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            let parsed = text.parse::<u64>();
            parsed.map_err(|error| format!("{} is no record number: {error}", quoted(text)))
        };
        let beyond = |last: u64| last.checked_add(1).ok_or("the last record is out of range");
        let Some((start, end)) = text.split_once("..") else {
            let start = number(text)?;
            return Ok(Self { start, end: Some(beyond(start)?) });
        };
        let start = if start.is_empty() { 0 } else { number(start)? };
        let end = match (end, end.strip_prefix('=')) {
            ("", _) => None,
            (_, Some(last)) => Some(beyond(number(last)?)?),
            (end, None) => Some(number(end)?),
        };
        match end {
            Some(end) if end < start => Err(format!("the range ends at {end}, before it starts")),
            _ => Ok(Self { start, end }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        let range = |text: &str| text.parse::<RecordRange>().map(|range| (range.start, range.end));
        assert_eq!(range("10..20"), Ok((10, Some(20))));
        assert_eq!(range("10..=20"), Ok((10, Some(21))));
        assert_eq!(range("10.."), Ok((10, None)));
        assert_eq!(range("..20"), Ok((0, Some(20))));
        assert_eq!(range(".."), Ok((0, None)));
        assert_eq!(range("7"), Ok((7, Some(8))));
        for wrong in
            ["", "x", "3..2", "1..x", "-1", "18446744073709551616", "..=18446744073709551615"]
        {
            assert!(range(wrong).is_err(), "{wrong}");
        }
    }
}
