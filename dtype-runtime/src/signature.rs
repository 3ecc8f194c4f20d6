//! The fingerprint of a type signature.
//!
//! Two datatypes match when their type maps name the same basic datatypes in the same order (MPI-4.1 section 5.1.1);
//! displacements do not matter, nor does the nesting that made the sequence. So `contiguous(6, u8)` and `contiguous(2,
//! contiguous(3, u8))` must have the same fingerprint, and a `const fn` must compute it without expanding either. A polynomial
//! over the prime field of 2⁶¹ − 1 does that: the fingerprint of a concatenation is `a · xⁿ + b`, and the hash of a repetition
//! follows by doubling.

/// The field's modulus, a Mersenne prime.
const PRIME: u64 = (1 << 61) - 1;

/// The point at which the polynomial is evaluated: an arbitrary element of large order.
const POINT: u64 = 0x0B5A_D4EC_EDA1_CE2A;

/// The fingerprint of a sequence of basic datatypes: its length and its polynomial's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    value: u64,
    /// `POINT` to the power of the length, so that concatenation takes one multiplication.
    power: u64,
    /// Number of basic datatypes, modulo 2⁶⁴.
    len: u64,
}

impl Fingerprint {
    /// The hash of the empty sequence.
    pub(crate) const EMPTY: Self = Self { value: 0, power: 1, len: 0 };

    /// The fingerprint with these [`parts`](Self::parts) and this number of basic datatypes.
    pub(crate) const fn from_parts(value: u64, power: u64, len: u64) -> Self {
        Self { value, power, len }
    }

    /// The elements of the field: all of the fingerprint except the number of basic datatypes.
    pub(crate) const fn parts(self) -> (u64, u64) {
        (self.value, self.power)
    }

    /// The hash of a sequence of one basic datatype with this code.
    pub(crate) const fn leaf(code: u8) -> Self {
        // Spread the small code over the field, so that sums of neighbours do not cancel.
        let spread = multiply(code as u64 + 1, 0x1234_5678_9ABC_DEF1 % PRIME);
        Self { value: spread, power: POINT, len: 1 }
    }

    /// The hash of this sequence followed by `next`.
    pub(crate) const fn then(self, next: Self) -> Self {
        Self {
            value: add(multiply(self.value, next.power), next.value),
            power: multiply(self.power, next.power),
            len: self.len.wrapping_add(next.len),
        }
    }

    /// The hash of this sequence repeated `count` times.
    pub(crate) const fn repeated(self, mut count: u64) -> Self {
        let mut result = Self::EMPTY;
        let mut square = self;
        while count > 0 {
            if count & 1 == 1 {
                result = result.then(square);
            }
            square = square.then(square);
            count >>= 1;
        }
        result
    }

    /// The 64-bit hash: the value mixed with the length, so that all 64 bits count.
    pub(crate) const fn hash(self) -> u64 {
        let mut x = self.value ^ self.len.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        x ^= x >> 32;
        x = x.wrapping_mul(0xD6E8_FEB8_6659_FD93);
        x ^= x >> 32;
        x = x.wrapping_mul(0xD6E8_FEB8_6659_FD93);
        x ^ (x >> 32)
    }
}

const fn add(a: u64, b: u64) -> u64 {
    let sum = a + b;
    if sum >= PRIME { sum - PRIME } else { sum }
}

#[expect(clippy::cast_possible_truncation, reason = "both halves are below 2^61 and 2^61 + 1")]
const fn multiply(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    add((product as u64) & PRIME, (product >> 61) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nesting_does_not_matter_but_order_does() {
        let (a, b) = (Fingerprint::leaf(1), Fingerprint::leaf(2));
        let flat = a.then(b).then(a).then(b).then(a).then(b);
        assert_eq!(a.then(b).repeated(3), flat);
        assert_eq!(a.then(b.then(a).repeated(2)).then(b), flat);
        assert_ne!(a.then(b), b.then(a));
        assert_ne!(a.then(a), a);
        assert_eq!(a.repeated(0), Fingerprint::EMPTY);
        assert_eq!(Fingerprint::EMPTY.repeated(u64::MAX), Fingerprint::EMPTY);
    }

    #[test]
    fn long_sequences_keep_apart() {
        let a = Fingerprint::leaf(6);
        let hashes: std::collections::BTreeSet<u64> =
            (0..10_000).map(|n| a.repeated(n).hash()).collect();
        assert_eq!(hashes.len(), 10_000);
        assert_ne!(a.repeated(1 << 60).hash(), a.repeated((1 << 60) + 1).hash());
    }
}
