//! Types of other crates, and the types that stand for them on the other side.

use dtype_runtime::{Datatype, Type};

/// Checks that two types have the same signature, because the other side may use either.
pub(crate) fn interchangeable<T: Datatype, U: Datatype>() {
    let name = core::any::type_name::<T>();
    assert_eq!(T::TYPE_MAP.signature_hash(), U::TYPE_MAP.signature_hash(), "{name}");
    assert_eq!(Type::of::<T>().signature_hash(), Type::of::<U>().signature_hash(), "{name}");
    assert_eq!(Type::of::<T>().extent(), size_of::<T>() as i64, "{name}");
    assert_eq!(T::TYPE_MAP.size(), U::TYPE_MAP.size(), "{name}");
}
