//! The tests, a module for each subject.

mod declarations;
mod notation;
mod renamed;

use dtype_test_support::linear;
