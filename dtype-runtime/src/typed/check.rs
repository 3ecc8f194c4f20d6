//! Calls the functions of `#[dtype(check = …)]`, the invariants of structs, for packed bytes.

use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use core::fmt::Display;
use core::mem::ManuallyDrop;

use super::{refuse_skipped_fields, unpack_record};
use crate::datatype::Datatype;

/// The return type of a function of `#[dtype(check = …)]`.
#[diagnostic::on_unimplemented(
    message = "a check cannot return `{Self}`",
    label = "returns `{Self}`",
    note = "a check is a `fn(&Self) -> bool`, or a `fn(&Self) -> Result<(), E>` with `E: Display`"
)]
pub trait Verdict {
    /// `Ok` if the invariant holds.
    ///
    /// # Errors
    ///
    /// The reason why it does not hold.
    fn verdict(self) -> Result<(), String>;
}

#[diagnostic::do_not_recommend]
impl Verdict for bool {
    #[inline]
    fn verdict(self) -> Result<(), String> {
        if self { Ok(()) } else { Err(reason("the check failed")) }
    }
}

#[diagnostic::do_not_recommend]
impl<E: Display> Verdict for Result<(), E> {
    #[inline]
    fn verdict(self) -> Result<(), String> {
        self.map_err(|reason| reason.to_string())
    }
}

/// Out of line, so that a check that holds is a comparison.
#[cold]
#[inline(never)]
fn reason(text: &str) -> String {
    text.to_owned()
}

/// Calls `check` with the value that one packed record makes. The value is a copy, and is not dropped.
///
/// # Errors
///
/// The reason why the check does not hold.
///
/// # Safety
///
/// The leaves of `bytes` must be valid for `T`, and so must the checks of its fields.
#[inline]
pub unsafe fn call_check<T: Datatype, V: Verdict>(
    bytes: &[u8],
    check: impl FnOnce(&T) -> V,
) -> Result<(), String> {
    const {
        refuse_skipped_fields::<T>(
            "`check` needs whole values, and this type skips fields, which packed bytes do not have",
        );
    }
    if bytes.len() != const { T::TYPE_MAP.size() } {
        return Err(reason("the bytes are not one record"));
    }
    // SAFETY: the length is right, and a type that skips fields was refused. The caller guarantees that the
    // bytes are valid for all fields; only the invariant that `check` tests may not hold, and a value
    // of a derived struct is a value of its fields.
    let value = ManuallyDrop::new(unsafe { unpack_record::<T>(bytes) });
    check(&value).verdict()
}
