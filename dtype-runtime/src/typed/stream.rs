//! Slices of Rust types, packed and unpacked in fragments.

use super::layout::Layout;
use super::validate::validate;
use crate::convertor::{Constant, Packer, Program, Source, Unpacker, Validate};
use crate::datatype::Datatype;
use crate::kernel::{Direction, Pack, Unpack};
use crate::types::Type;

impl<T: Datatype> Layout<T> {
    /// What a convertor has to know of `T`, if its operations are a constant.
    const CONSTANT: Option<&'static Constant> = match Self::OPS {
        None => None,
        Some(ops) => Some(&Constant {
            ops,
            permutation: Self::PERMUTATION,
            size: T::TYPE_MAP.size() as u64,
            stride: size_of::<T>() as i64,
            pack: whole::<T, Pack>,
            unpack: whole::<T, Unpack>,
            fingerprint: T::TYPE_MAP.fingerprint(),
            ty: Type::of::<T>,
        }),
    };

    fn program() -> Program {
        match Self::CONSTANT {
            Some(constant) => Program::Constant(constant),
            // A slice has Rust's stride, whatever extent the type was resized to.
            None => Program::Committed(Type::of::<T>().commit_at(size_of::<T>() as i64)),
        }
    }

    fn source(items: *mut T, count: usize) -> Source {
        Source::new(Self::program(), items.cast(), count as u64)
            // The items' data are part of their memory.
            .unwrap_or_else(|| unreachable!("{count} items have more data than memory"))
    }
}

/// # Safety
///
/// As [`Layout::execute`].
unsafe fn whole<T: Datatype, D: Direction>(memory: *mut u8, packed: *mut u8, count: usize) {
    // SAFETY: as the caller vouches.
    unsafe { Layout::<T>::execute::<D>(memory, packed, count) }
}

impl<'a> Packer<'a> {
    /// A packer of the items: the stream of [`pack`](crate::pack). It allocates nothing, unless the type has
    /// more than 64 separate ranges of data.
    pub fn new<T: Datatype>(items: &'a [T]) -> Self {
        let source = Layout::<T>::source(items.as_ptr().cast_mut(), items.len());
        // SAFETY: by the promise of `Datatype` the data lie in the items, initialised; the items are borrowed
        // for `'a`, and what can change in a borrowed value, a cell, is no data.
        unsafe { Self::from_source(source) }
    }
}

impl<'a> Unpacker<'a> {
    /// An unpacker into the items: padding and skipped fields stay as they are. It allocates nothing, unless
    /// the type has more than 64 separate ranges of data, or values that have to be checked.
    pub fn new<T: Datatype>(items: &'a mut [T]) -> Self {
        let source = Layout::<T>::source(items.as_mut_ptr(), items.len());
        let restricted = const { T::TYPE_MAP.is_restricted() };
        let checks: Option<Validate> = if restricted { Some(validate::<T>) } else { None };
        // SAFETY: by the promise of `Datatype` the data lie in the items, no byte twice, and what `validate`
        // accepts, or all where there is nothing to check, makes values; the items are borrowed exclusively
        // for `'a`.
        unsafe { Self::from_source(source, checks) }
    }
}
