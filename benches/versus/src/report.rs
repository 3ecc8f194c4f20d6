//! The report of the figures: for people, for programs, and as a chart.

pub(crate) mod chart;
pub(crate) mod json;
pub(crate) mod means;
pub(crate) mod row;
pub(crate) mod table;
pub(crate) mod targets;
