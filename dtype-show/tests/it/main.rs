//! The tests, a module for each subject.

mod calls;
mod diagram;
mod names;
mod pictures;
