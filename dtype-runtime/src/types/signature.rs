//! Type signatures: what the two sides of a message must agree on.

use core::fmt;

use super::Type;
use super::description::Detail;
use super::entries::ElemWalk;
use crate::basic::Basic;

/// The type signature of a datatype: its basic datatypes in order, without displacements (MPI-4.1 section 5.1.1).
///
/// Two signatures are equal when the sequences are equal. Comparing takes constant time if they differ in length or hash, and
/// time linear in the descriptions if their loops nest in the same way; otherwise it visits every run of equal basic datatypes.
#[derive(Clone)]
pub struct Signature {
    ty: Type,
}

impl Type {
    /// The type signature.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let u8s = Type::basic(Basic::U8);
    /// let a = Type::contiguous(6, &u8s)?;
    /// let b = Type::vector(2, 3, 5, &u8s)?;
    /// assert_eq!(a.signature(), b.signature());
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn signature(&self) -> Signature {
        Signature { ty: self.clone() }
    }
}

impl Signature {
    /// Number of basic datatypes.
    pub fn len(&self) -> u64 {
        self.ty.elements()
    }

    /// Whether the signature is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The 64-bit hash, [`Type::signature_hash`].
    pub fn hash(&self) -> u64 {
        self.ty.signature_hash()
    }

    /// The sequence as runs: a basic datatype and its number of consecutive occurrences. Neighbouring runs have
    /// different types.
    pub fn runs(&self) -> impl Iterator<Item = (Basic, u64)> + use<> {
        let mut walk = ElemWalk::new(self.ty.describe(Detail::Signature));
        let mut next = walk.next();
        core::iter::from_fn(move || {
            let first = next.take()?;
            let mut count = first.count;
            for elem in walk.by_ref() {
                if elem.basic != first.basic {
                    next = Some(elem);
                    break;
                }
                count += elem.count;
            }
            Some((first.basic, count))
        })
    }
}

impl PartialEq for Signature {
    fn eq(&self, other: &Self) -> bool {
        let nesting = |signature: &Self| signature.ty.describe(Detail::Signature);
        self.len() == other.len()
            && self.hash() == other.hash()
            && (nesting(self) == nesting(other) || self.runs().eq(other.runs()))
    }
}

impl Eq for Signature {}

impl fmt::Debug for Signature {
    /// Prints the first runs, and the total number of elements.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 16;
        f.write_str("{")?;
        for (i, (basic, count)) in self.runs().take(SHOWN + 1).enumerate() {
            if i == SHOWN {
                write!(f, ", … {} in all", self.len())?;
                break;
            }
            if i > 0 {
                f.write_str(", ")?;
            }
            if count > 1 {
                write!(f, "{count}×")?;
            }
            write!(f, "{basic}")?;
        }
        f.write_str("}")
    }
}
