//! What the kernels of AVX-512 cost. Measured on a Xeon (Granite Rapids) and a Zen 5; where the two differ, the greater time.

use super::{Cost, Uses};

/// A period that is permuted, whose window is one vector.
pub(crate) const PERMUTATION: Uses<Cost> = Uses {
    pack: Cost { call: 88, step: 14 },
    unpack: Cost { call: 120, step: 12 },
    keep: Cost { call: 120, step: 12 },
};

/// What a step takes less that copies at most 32 packed bytes: to pack, its store is half as wide, and crosses fewer cache
/// lines.
pub(crate) const NARROW: Uses<usize> = Uses { pack: 2, unpack: 0, keep: 0 };

/// A step that is one of several for a record.
pub(crate) const STEP: Uses<usize> = Uses { pack: 18, unpack: 20, keep: 20 };

/// What a step takes more if most windows cross a cache line. A masked store that does takes
/// twice as long.
pub(crate) const CROSSING: Uses<usize> = Uses { pack: 4, unpack: 9, keep: 9 };

/// A period whose window is two vectors, most of which cross a cache line.
pub(crate) const WIDE_PERMUTATION: Uses<Cost> = Uses {
    pack: Cost { call: 88, step: 26 },
    unpack: Cost { call: 88, step: 30 },
    keep: Cost { call: 88, step: 30 },
};
