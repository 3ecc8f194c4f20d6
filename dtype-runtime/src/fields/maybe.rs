//! An optional value as a datatype of fixed size.

use core::fmt;
use core::hash::{Hash, Hasher};
use core::mem::{MaybeUninit, offset_of};

use super::content::any_bits;
use crate::datatype::Datatype;
use crate::typed::{are_clean, clean, find_in, has_invariants};
use crate::typemap::{Content, Field, Markers, Meaning, TypeMap};

/// An optional `T` as a datatype: a `bool` and the value.
///
/// Rust does not define where an `Option<T>` stores its `None`, so it cannot be packed. A `Maybe<T>` is
/// packed as a `bool` and a `T`, always with the size of both; an absent value is packed as zeros.
/// Unpacking checks the `bool`, and the value if it is present.
///
/// It converts to and from `Option<T>`, can be compared with one, and has its most used methods. A value in a `Maybe` is not
/// dropped.
///
/// ```
/// use dtype_runtime::{Datatype, Maybe, pack, unpack};
///
/// #[derive(Datatype)]
/// struct Fix {
///     time: u64,
///     sender: Maybe<u16>,
/// }
///
/// let fixes = [
///     Fix { time: 1, sender: Some(7).into() },
///     Fix { time: 2, sender: None.into() },
/// ];
/// let bytes = pack(&fixes);
/// assert_eq!(bytes.len(), 2 * (8 + 1 + 2));
/// assert_eq!(bytes[19..], [0, 0, 0]);
///
/// let fixes = unpack::<Fix>(&bytes)?;
/// assert_eq!(fixes[0].sender, Some(7));
/// assert!(fixes[1].sender == None && fixes[1].sender.unwrap_or(9) == 9);
/// assert_eq!(fixes[0].sender.map(|sender| sender + 1).into_option(), Some(8));
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
///
/// A type that skips fields does not compile here, because an absent value has no such fields.
#[repr(C)]
pub struct Maybe<T> {
    present: bool,
    /// A `T` if `present`. Otherwise all data bytes of a `T` are zeros.
    value: MaybeUninit<T>,
}

// SAFETY: the offsets come from the compiler, and there are two fields. `present` is a `bool`. The bytes of
// `value` that the map of `T` names are initialised in every `Maybe`: they are zeros, or were moved here with
// a `T`, or were written by unpacking. Any bytes make a `MaybeUninit`, so the leaves of `value` need no
// validity; that `value` is a `T` where `present` is true is what the check establishes, and a type that
// skips fields, which the check cannot see, does not compile.
#[diagnostic::do_not_recommend]
unsafe impl<T: Datatype> Datatype for Maybe<T> {
    const TYPE_MAP: &'static TypeMap = {
        assert!(!T::TYPE_MAP.skips_fields(), "a type that skips fields cannot be in a `Maybe`");
        assert!(T::TYPE_MAP.stride() == size_of::<T>());
        &TypeMap::structure::<Self>(
            "Maybe",
            const {
                &[
                    Field::new("present", offset_of!(Self, present), <bool as Datatype>::TYPE_MAP),
                    Field::new(
                        "value",
                        offset_of!(Self, value),
                        const { &T::TYPE_MAP.unrestricted() },
                    ),
                ]
            },
            Markers::NONE,
        )
        .holding(Content {
            is_clean: |bytes| {
                let Some((&present, value)) = bytes.split_first() else { return false };
                // All bits of the value, or none if it is present. No branch depends on whether it is: a branch that is often
                // predicted wrongly takes longer than both tests.
                let spare = any_bits(value) & u64::from(present).wrapping_sub(1);
                if present > 1 || spare != 0 {
                    return false;
                }
                // A function of the user is called for values only.
                if const { has_invariants::<T>() } {
                    present == 0 || are_clean::<T>(value, 1)
                } else {
                    (present == 0) | are_clean::<T>(value, 1)
                }
            },
            check: |bytes, path| match bytes.split_first() {
                Some((1, value)) => {
                    let before = path.len();
                    path.push_str(".value");
                    find_in(T::TYPE_MAP, value, path)?;
                    path.truncate(before);
                    Ok(())
                }
                _ => Ok(()),
            },
            clean: |bytes| match bytes.split_first_mut() {
                Some((1, value)) => clean(T::TYPE_MAP, value),
                Some((_, value)) => value.fill(0),
                None => {}
            },
        })
        .meaning_of(Meaning::Optional)
    };
}

impl<T> Maybe<T> {
    /// A value that is present.
    pub const fn some(value: T) -> Self {
        Self { present: true, value: MaybeUninit::new(value) }
    }

    /// No value. All its bytes are zero.
    pub const fn none() -> Self {
        Self { present: false, value: MaybeUninit::zeroed() }
    }

    /// The value, if it is present.
    pub const fn get(&self) -> Option<&T> {
        // SAFETY: `value` is a `T`, because `present` is true.
        if self.present { Some(unsafe { self.value.assume_init_ref() }) } else { None }
    }

    /// The value, if it is present, to change it.
    pub const fn get_mut(&mut self) -> Option<&mut T> {
        // SAFETY: `value` is a `T`, because `present` is true.
        if self.present { Some(unsafe { self.value.assume_init_mut() }) } else { None }
    }

    /// As [`get`](Self::get).
    pub const fn as_ref(&self) -> Option<&T> {
        self.get()
    }

    /// The `Option` of the value.
    pub fn into_option(self) -> Option<T> {
        // SAFETY: `value` is a `T`, because `present` is true. The `Maybe` is gone, so the value is moved.
        self.present.then(|| unsafe { self.value.assume_init() })
    }

    /// Applies `f` to the value, if it is present.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Maybe<U> {
        self.into_option().map(f).into()
    }

    /// The value, or `default` if it is absent.
    pub fn unwrap_or(self, default: T) -> T {
        self.into_option().unwrap_or(default)
    }

    /// The value, or the result of `f` if it is absent.
    pub fn unwrap_or_else(self, f: impl FnOnce() -> T) -> T {
        self.into_option().unwrap_or_else(f)
    }

    /// The value, or the default of its type if it is absent.
    pub fn unwrap_or_default(self) -> T
    where
        T: Default,
    {
        self.into_option().unwrap_or_default()
    }

    /// Whether the value is present and `f` returns `true` for it.
    pub fn is_some_and(self, f: impl FnOnce(T) -> bool) -> bool {
        self.into_option().is_some_and(f)
    }

    /// Whether the value is present.
    pub const fn is_some(&self) -> bool {
        self.present
    }

    /// Whether the value is absent.
    pub const fn is_none(&self) -> bool {
        !self.present
    }
}

impl<T> From<Option<T>> for Maybe<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or_else(Self::none, Self::some)
    }
}

impl<T> From<Maybe<T>> for Option<T> {
    fn from(maybe: Maybe<T>) -> Self {
        maybe.into_option()
    }
}

impl<T> Default for Maybe<T> {
    fn default() -> Self {
        Self::none()
    }
}

#[expect(
    clippy::expl_impl_clone_on_copy,
    reason = "a `MaybeUninit<T>` is `Clone` only if `T` is `Copy`"
)]
impl<T: Clone> Clone for Maybe<T> {
    fn clone(&self) -> Self {
        self.get().cloned().into()
    }
}

impl<T: Copy> Copy for Maybe<T> {}

impl<T: fmt::Debug> fmt::Debug for Maybe<T> {
    /// Prints as `Option<T>` does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl<T: PartialEq> PartialEq for Maybe<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for Maybe<T> {}

impl<T: PartialEq> PartialEq<Option<T>> for Maybe<T> {
    fn eq(&self, other: &Option<T>) -> bool {
        self.get() == other.as_ref()
    }
}

impl<T: PartialEq> PartialEq<Maybe<T>> for Option<T> {
    fn eq(&self, other: &Maybe<T>) -> bool {
        other == self
    }
}

impl<T: Hash> Hash for Maybe<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.get().hash(state);
    }
}
