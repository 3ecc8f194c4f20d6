//! The tests, a module for each subject.

mod fit;
