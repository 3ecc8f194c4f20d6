//! What is said about the figures: to people, to programs, in a picture.

pub(crate) mod chart;
pub(crate) mod json;
pub(crate) mod means;
pub(crate) mod row;
pub(crate) mod table;
pub(crate) mod targets;
