//! Values that are records: the contents of a message.

use alloc::string::String;
use alloc::vec::Vec;
use core::slice;
use core::str::Utf8Error;

use super::{NOT_INITIALISED, are_clean, cleaned, refuse_skipped_fields, unpack, unpack_record};
use crate::datatype::Datatype;

/// One record, a list of records, or text, which is a list of bytes.
///
/// `dtype-message` needs one trait for the three, and only the crate of [`Datatype`] can implement it for `T: Datatype` and for
/// `Vec<T>`: in any other crate, the compiler assumes that a list may become a datatype.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a datatype",
    label = "no type map is known for `{Self}`",
    note = "if it is a struct or an enum of yours, put `#[derive(Datatype)]` on it",
    note = "if it is a foreign type with public fields, derive a description, `#[derive(Datatype)] \
            #[dtype(remote = …)]`, and name it with `#[dtype(with = …)]` on the field",
    note = "if the field need not travel, leave it out with `#[dtype(skip)]`"
)]
pub trait Records: Sized {
    /// The type of a record.
    type Record: Datatype;

    /// Whether every value is one record.
    const IS_ONE: bool;

    /// Whether the records are the bytes of a text.
    const IS_TEXT: bool = false;

    /// The records of the value.
    fn records(&self) -> &[Self::Record];

    /// Unpacks a value; `None` if the bytes are not one, for whatever reason.
    fn try_unpack(packed: &[u8]) -> Option<Self>;

    /// The value with these records.
    ///
    /// # Errors
    ///
    /// The bytes are not UTF-8.
    ///
    /// # Panics
    ///
    /// If the value is one record, and there is none.
    fn from_records(records: Vec<Self::Record>) -> Result<Self, Utf8Error>;
}

impl<T: Datatype> Records for T {
    type Record = T;

    const IS_ONE: bool = true;

    #[inline]
    fn records(&self) -> &[T] {
        slice::from_ref(self)
    }

    #[inline]
    fn try_unpack(packed: &[u8]) -> Option<T> {
        const { refuse_skipped_fields::<T>(NOT_INITIALISED) }
        // Not by `unpack_one`, whose error takes as much room as a record, and has to be dropped.
        if packed.len() != const { T::TYPE_MAP.size() } {
            return None;
        }
        if !are_clean::<T>(packed, 1) {
            return unpack_cleaned(packed);
        }
        // SAFETY: the bytes are one packed record, which was just checked, and a type that skips fields was refused.
        Some(unsafe { unpack_record(packed) })
    }

    fn from_records(mut records: Vec<T>) -> Result<T, Utf8Error> {
        Ok(records.pop().expect("one record"))
    }
}

/// The record, if it is valid, but not clean.
#[cold]
#[inline(never)]
fn unpack_cleaned<T: Datatype>(packed: &[u8]) -> Option<T> {
    const { refuse_skipped_fields::<T>(NOT_INITIALISED) }
    let record = cleaned(T::TYPE_MAP, packed, 1).ok()?;
    // SAFETY: the bytes are one packed record, which was just checked, and a type that skips fields was refused.
    (record.len() == T::TYPE_MAP.size()).then(|| unsafe { unpack_record(&record) })
}

impl<T: Datatype> Records for Vec<T> {
    type Record = T;

    const IS_ONE: bool = false;

    #[inline]
    fn records(&self) -> &[T] {
        self
    }

    #[inline]
    fn try_unpack(packed: &[u8]) -> Option<Self> {
        unpack(packed).ok()
    }

    fn from_records(records: Self) -> Result<Self, Utf8Error> {
        Ok(records)
    }
}

impl Records for String {
    type Record = u8;

    const IS_ONE: bool = false;

    const IS_TEXT: bool = true;

    #[inline]
    fn records(&self) -> &[u8] {
        self.as_bytes()
    }

    fn try_unpack(packed: &[u8]) -> Option<Self> {
        Self::from_utf8(packed.to_vec()).ok()
    }

    fn from_records(records: Vec<u8>) -> Result<Self, Utf8Error> {
        Self::from_utf8(records).map_err(|error| error.utf8_error())
    }
}
