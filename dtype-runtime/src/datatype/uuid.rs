//! The identifiers of the `uuid` crate.
//!
//! `NonNilUuid` is missing: the crate does not promise its layout.

use ::uuid::{Bytes, Uuid};

use super::Datatype;
use super::proof::begins_with;
use crate::typemap::TypeMap;

// SAFETY: `uuid` guarantees that a `Uuid` has the ABI of `Bytes`, an array of 16 bytes, and safe code makes one of any
// 16 bytes. The assertion shows that they are in the same order.
#[diagnostic::do_not_recommend]
unsafe impl Datatype for Uuid {
    /// The bytes in the order of the text form: `[u8; 16]`.
    const TYPE_MAP: &'static TypeMap = {
        let bytes: Bytes = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
        // SAFETY: this is the initialiser of a constant, evaluated at compile time.
        let same = unsafe { begins_with::<Self, [u8; 16]>(Self::from_bytes(bytes), bytes) };
        assert!(same && size_of::<Self>() == 16, "in this uuid, a Uuid is not its bytes");
        <[u8; 16]>::TYPE_MAP
    };
}
