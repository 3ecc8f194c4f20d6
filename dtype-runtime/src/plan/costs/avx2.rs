//! What the kernels of AVX2 cost. Measured on a Zen 3.

use super::{Cost, Uses};

/// A register of 32 bytes that is shuffled.
pub(crate) const SHUFFLE: Uses<Cost> = Uses {
    pack: Cost { call: 56, step: 11 },
    unpack: Cost { call: 56, step: 8 },
    // A register is loaded, joined with the shuffled bytes, and stored.
    keep: Cost { call: 56, step: 11 },
};

/// Values tested where they are, in two loads; and values gathered from four loads.
pub(crate) const TESTS_IN_PLACE: Cost = Cost { call: 64, step: 4 };
pub(crate) const TESTS: Cost = Cost { call: 64, step: 9 };
