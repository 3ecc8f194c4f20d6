//! Bytes without a pattern, the same in every process.

use std::hash::{DefaultHasher, Hasher};

/// Fills the bytes from the seed.
pub fn fill(bytes: &mut [u8], seed: u64) {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut words = bytes.chunks_exact_mut(8);
    for word in &mut words {
        word.copy_from_slice(&next().to_ne_bytes());
    }
    let rest = words.into_remainder();
    rest.copy_from_slice(&next().to_ne_bytes()[..rest.len()]);
}

/// A fingerprint of memory. Equal bytes have equal fingerprints, and other bytes almost always have another one.
pub fn fingerprint(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// The numbers of a random sequence, the same on every machine.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence with this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number less than `end`.
    pub fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let high = self.0 >> 32;
        // The product has 64 bits, so its upper half is less than `end`.
        ((high * u64::from(end)) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_seed_has_its_own_noise() {
        let mut memories = [[0; 13]; 3];
        for (memory, seed) in memories.iter_mut().zip([1, 2, 1]) {
            fill(memory, seed);
        }
        assert_ne!(memories[0], memories[1]);
        assert_eq!(memories[0], memories[2]);
        assert_ne!(fingerprint(&memories[0]), fingerprint(&memories[1]));
        assert_ne!(memories[0][8..], [0; 5]);
    }

    #[test]
    fn numbers_reach_every_value() {
        let mut random = Random::new(1);
        let mut seen = [0; 6];
        for _ in 0..600 {
            seen[random.below(6) as usize] += 1;
        }
        assert!(seen.iter().all(|&times| times > 50), "{seen:?}");
    }
}
