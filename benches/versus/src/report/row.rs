//! The results of the rounds.

use std::borrow::Cow;

use dtype_benches::figures::{median, ratio};
use serde::{Deserialize, Serialize};

/// The sections of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Group {
    Structs,
    Forms,
    Messages,
    Checked,
    Ddtbench,
    Classes,
    Segments,
    Pieces,
    Jumps,
    External,
    Creation,
    Parallel,
}

impl Group {
    /// The name in `--only` and in the JSON.
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::Structs => "structs",
            Self::Forms => "forms",
            Self::Messages => "messages",
            Self::Checked => "checked",
            Self::Ddtbench => "ddtbench",
            Self::Classes => "classes",
            Self::Segments => "segments",
            Self::Pieces => "iovecs",
            Self::Jumps => "set_position",
            Self::External => "external32",
            Self::Creation => "create",
            Self::Parallel => "parallel",
        }
    }

    /// The name in the report.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Structs => "Arrays of structs",
            Self::Forms => {
                "Arrays of wide structs, of many small fields, without padding, with skipped fields"
            }
            Self::Checked => "Arrays of structs with values to check, in place and to a new vector",
            Self::Messages => "Arrays of structs to a new vector of bytes, and back",
            Self::Ddtbench => "DDTBench",
            Self::Classes => "Classes of layouts, in one call and in fragments of 8 KiB",
            Self::Segments => "In segments",
            Self::Pieces => "The pieces of memory (iovecs)",
            Self::Jumps => "Going to a position and packing a byte there",
            Self::External => "In the representation external32",
            Self::Creation => "Creating, committing and freeing types",
            Self::Parallel => "On all cores",
        }
    }
}

/// One kind of work, and all contestants.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) group: Group,
    /// The name of the layout, or of the application it comes from.
    pub(crate) family: String,
    /// The parameters of the layout.
    pub(crate) parameters: String,
    /// `pack`, `unpack` and the like.
    pub(crate) work: Cow<'static, str>,
    /// Packed bytes.
    pub(crate) bytes: u64,
    pub(crate) columns: Vec<Column>,
}

/// A contestant and its times.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Column {
    pub(crate) name: Cow<'static, str>,
    pub(crate) outcome: Outcome,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Outcome {
    /// Nanoseconds for one call, round by round.
    Times(Vec<f64>),
    /// Why there are no times.
    Missing(String),
}

impl Row {
    fn times(&self, name: &str) -> Option<&[f64]> {
        self.columns.iter().find(|column| column.name == name)?.times()
    }

    /// Nanoseconds for one call, the median.
    pub(crate) fn median(&self, name: &str) -> Option<f64> {
        self.times(name).map(|times| median(times.to_vec()))
    }

    /// One contestant's time divided by another's, the median over the rounds.
    pub(crate) fn ratio(&self, one: &str, other: &str) -> Option<f64> {
        let (one, other) = (self.times(one)?, self.times(other)?);
        Some(ratio(one, other))
    }

    /// One contestant's time divided by that of the fastest of several. Missing contestants do not count.
    pub(crate) fn ratio_to_best(&self, one: &str, others: &[&str]) -> Option<f64> {
        others.iter().filter_map(|other| self.ratio(one, other)).reduce(f64::max)
    }

    /// The row's name for messages.
    pub(crate) fn name(&self) -> String {
        format!("{} {} {}", self.family, self.parameters, self.work)
    }
}

impl Column {
    /// Nanoseconds for one call, round by round.
    pub(crate) fn times(&self) -> Option<&[f64]> {
        match &self.outcome {
            Outcome::Times(times) => Some(times),
            Outcome::Missing(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_those_of_the_same_round() {
        let column = |name: &'static str, times: &[f64]| Column {
            name: name.into(),
            outcome: Outcome::Times(times.to_vec()),
        };
        let row = Row {
            group: Group::Structs,
            family: "f".into(),
            parameters: "p".into(),
            work: "pack".into(),
            bytes: 1,
            columns: vec![
                column("a", &[1.0, 10.0, 2.0]),
                // The machine was slow in the second round.
                column("b", &[2.0, 20.0, 4.0]),
                column("c", &[4.0, 40.0, 1.0]),
                Column { name: "d".into(), outcome: Outcome::Missing("missing".into()) },
            ],
        };
        assert_eq!(row.ratio("a", "b"), Some(0.5));
        assert_eq!(row.median("b"), Some(4.0));
        assert_eq!(row.ratio("a", "d"), None);
        assert_eq!(row.ratio_to_best("a", &["b", "c", "d"]), Some(0.5));
    }
}
