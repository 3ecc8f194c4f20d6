//! Numbers for tests that have to see many cases, and the same ones each time.

/// Numbers by Knuth's generator, from a seed.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    /// One below a bound of at most 31 bits.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        let multiplier = 6_364_136_223_846_793_005;
        self.0 = self.0.wrapping_mul(multiplier).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    /// One below a large bound.
    pub(crate) fn below_large(&mut self, bound: u64) -> u64 {
        (self.below(1 << 31) << 33 | self.below(1 << 31) << 2) % bound
    }

    /// One from −bound to before bound.
    pub(crate) fn around(&mut self, bound: u64) -> i64 {
        self.below_large(2 * bound).cast_signed() - bound.cast_signed()
    }

    /// One of these.
    pub(crate) fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[usize::try_from(self.below(all.len() as u64)).unwrap()]
    }
}
