//! Finds the known name that an unknown one resembles.

use crate::notation::nearest;

/// The limit on the work for the hints in one text, in letters that are compared. If a text has thousands of unknown names,
/// only the first ones get hints.
const MAX_LETTERS: usize = 1 << 20;

/// Finds the names that were probably meant.
#[derive(Debug)]
pub(super) struct Hints {
    left: usize,
}

impl Default for Hints {
    fn default() -> Self {
        Self { left: MAX_LETTERS }
    }
}

impl Hints {
    /// The known name that is most similar to this one; of equally similar ones, the first in the alphabet.
    pub(super) fn nearest<'a>(
        &mut self,
        name: &str,
        defined: impl ExactSizeIterator<Item = &'a str>,
        known: impl Iterator<Item = &'a str>,
    ) -> Option<&'a str> {
        let work = (defined.len() + 100).saturating_mul(name.len());
        self.left = self.left.checked_sub(work)?;
        let mut defined: Vec<&str> = defined.collect();
        defined.sort_unstable();
        nearest(name, defined.into_iter().chain(known))
    }
}
