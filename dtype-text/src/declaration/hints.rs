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
        nearest(name, defined.into_iter().chain(known.filter(|known| is_misspelt(name, known))))
    }
}

/// Whether a name can be that of a known type with a mistake in it. Types with other bytes have similar names: `U32`, `__be32`,
/// `uint24_t`. So capital letters count, and a name with digits has the same letters and digits in another order, except for
/// the signs of a C type, `_` and `t`.
fn is_misspelt(name: &str, known: &str) -> bool {
    let has = |name: &str, is: fn(char) -> bool| name.contains(is);
    let is_digit = |c: char| c.is_ascii_digit();
    let letters = |name: &str| {
        let mut letters: Vec<char> = name.chars().filter(|c| !matches!(c, '_' | 't')).collect();
        letters.sort_unstable();
        letters
    };
    has(name, char::is_uppercase) == has(known, char::is_uppercase)
        && (!has(name, is_digit) && !has(known, is_digit) || letters(name) == letters(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_with_other_bytes_are_not_meant() {
        for (name, known) in [
            ("U32", "u32"),
            ("u32be", "u32"),
            ("u24", "u64"),
            ("__be32", "__s32"),
            ("uint32_be_t", "uint32_t"),
            ("int24_t", "int64_t"),
            ("bool32", "bool"),
            ("Bool", "bool"),
        ] {
            assert!(!is_misspelt(name, known), "{name} {known}");
        }
        for (name, known) in [
            ("f46", "f64"),
            ("unit32_t", "uint32_t"),
            ("u_int32", "u_int32_t"),
            ("boool", "bool"),
            ("Complex46", "Complex64"),
        ] {
            assert!(is_misspelt(name, known), "{name} {known}");
        }
    }
}
