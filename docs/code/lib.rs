//! The code of the book in `docs/src`, compiled and run as documentation tests, and the pictures that it draws.

mod chapters;
mod pictures;

pub use pictures::{OVERWRITE, grid, picture};
