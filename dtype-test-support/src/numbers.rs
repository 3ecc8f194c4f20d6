//! Pseudorandom numbers, the same in each run, for tests that need many cases. The unit tests in `src` use them, too.

/// `SplitMix64`: the same seed gives the same sequence.
#[derive(Clone, Debug)]
pub struct Numbers(pub u64);

impl Numbers {
    #[expect(clippy::should_implement_trait, reason = "an endless sequence, with no `None`")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    pub fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[7]
    }

    /// A number less than a bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// A number from −`bound` up to, but not including, `bound`.
    pub fn around(&mut self, bound: u64) -> i64 {
        self.below(2 * bound).cast_signed() - bound.cast_signed()
    }

    /// An index into a list with this number of elements.
    pub fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).unwrap()
    }

    /// One of these items.
    pub fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.index(all.len())]
    }
}
