//! Which known name an unknown one is near to.

use crate::notation::nearest;

/// The work that goes into the hints for one text, in letters that are compared: a text with thousands of unknown
/// names has hints for the first ones.
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
    /// The known name that is nearest to this one; of equally near ones, the first in the alphabet.
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
