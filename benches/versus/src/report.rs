//! What is said about the figures: to people, to programs, in a picture.

pub(crate) mod row;
