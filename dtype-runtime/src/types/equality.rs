//! When two datatypes are the same.

use core::hash::{Hash, Hasher};

use super::Type;
use super::marshal::Table;

/// Two types are equal when the same calls with the same arguments made them (MPI-4.1 section 2.4), so that
/// [`envelope`](Type::envelope) and [`contents`](Type::contents) tell no difference, all the way down. Whether
/// they are the same in memory plays no part; by which rules the [bounds](Type::bounds) were found does. Types with one type map that were made otherwise are different:
/// a `contiguous(6, u8)` is not a `vector(2, 3, 3, u8)`. [`signature`](Type::signature) compares what a message
/// has to agree on.
///
/// Comparing takes constant time for clones and for types whose size, bounds or signature hash differ, and time
/// in proportion to the memory of both otherwise, also where the trees that they stand for are exponentially
/// larger.
///
/// ```
/// use dtype_runtime::{Basic, Type};
/// let six = |ty| Type::contiguous(6, &Type::basic(ty));
/// assert_eq!(six(Basic::U8)?, six(Basic::U8)?);
/// assert_ne!(six(Basic::U8)?, Type::vector(2, 3, 3, &Type::basic(Basic::U8))?);
/// assert_eq!(Type::of::<(u8, f64)>(), Type::of::<(u8, f64)>());
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
impl PartialEq for Type {
    fn eq(&self, other: &Self) -> bool {
        all_equal(&[self, other])
    }
}

impl Eq for Type {}

impl Hash for Type {
    /// What is known of the type without a look at its parts: types with one signature and the same bounds
    /// collide, however they were made. A type remembers some answers once they are worked out; they play no
    /// part here, so a type is a sound key, whatever lints say about interior mutability.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest().hash(state);
    }
}

/// Whether all of these are equal. However many there are, and however much of them they share, it takes
/// time in proportion to the memory of all.
pub(super) fn all_equal(types: &[&Type]) -> bool {
    let Some((first, others)) = types.split_first() else { return true };
    if others.iter().all(|other| other.address() == first.address()) {
        return true;
    }
    let digest = first.digest();
    if others.iter().any(|other| other.digest() != digest) {
        return false;
    }
    // Equal types have one node.
    let table = Table::of(types);
    others.iter().all(|other| table.number(other) == table.number(first))
}

impl Type {
    /// Numbers that are the same for equal types.
    fn digest(&self) -> impl PartialEq + Hash + use<> {
        let inner = &self.0;
        let bounds = (inner.lb, inner.ub, self.true_lb(), self.true_ub());
        (self.signature_hash(), inner.size, inner.rules, inner.depth, bounds)
    }
}
