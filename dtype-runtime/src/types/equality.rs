//! When two datatypes are equal.

use core::hash::{Hash, Hasher};

use super::Type;
use super::mpi::nodes::Table;

/// Two types are equal when the same calls with the same arguments made them (MPI-4.1 section 2.4): at every
/// level, [`envelope`](Type::envelope) and [`contents`](Type::contents) are equal. Their layout in memory does not
/// matter; the rule for their [bounds](Type::bounds_rule) does. Types with the same type map that were made by
/// other calls are different: a `contiguous(6, u8)` is not a `vector(2, 3, 3, u8)`. [`signature`](Type::signature)
/// compares what the two sides of a message have to agree on.
///
/// Comparing takes constant time for clones and for types whose size, bounds or signature hash differ. Otherwise
/// it takes time linear in the memory of both types, even if the trees that they represent are exponentially
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
    /// Hashes only numbers that are known without visiting the parts: types with the same signature and the same bounds
    /// collide, however they were made. The hash excludes the answers that a type caches, so a type is a sound key, whatever
    /// lints say about interior mutability.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest().hash(state);
    }
}

/// Whether all of these are equal, in time linear in the memory of all of them. Shared parts count once.
pub(super) fn all_equal(types: &[&Type]) -> bool {
    let Some((first, others)) = types.split_first() else { return true };
    if others.iter().all(|other| other.as_ptr() == first.as_ptr()) {
        return true;
    }
    let digest = first.digest();
    if others.iter().any(|other| other.digest() != digest) {
        return false;
    }
    // Equal types have one node.
    let table = Table::new(types, true);
    others.iter().all(|other| table.number(other) == table.number(first))
}

impl Type {
    /// Numbers that are equal for equal types.
    fn digest(&self) -> impl PartialEq + Hash + use<> {
        let inner = &self.0;
        let bounds = (inner.lb, inner.ub, self.true_lb(), self.true_ub());
        (self.signature_hash(), inner.size, inner.rules, inner.depth, bounds)
    }
}
