//! Instances of a type made at run time, in the memory of a slice.

use std::any::type_name;
use std::sync::OnceLock;
use std::{ptr, slice};

use dtype_runtime::{Committed, Datatype as Described, Packer, Unpacker};

use crate::elements::{self, Data};
use crate::error::Error;

/// A committed type, for slices whose elements have the data that it names.
#[derive(Clone, Debug)]
pub(crate) struct Instances {
    committed: Committed,
    /// The elements of the first slices, and their data. Later slices mostly have the same ones.
    compared: [OnceLock<(Elements, Data)>; 4],
}

/// All that decides which data instances name: which elements, where the first instance starts in one, and the number of
/// instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Elements {
    /// The address of the constant type map.
    map: usize,
    origin: usize,
    /// 1 for any number of instances that all start at the same place in an element.
    count: usize,
}

impl Instances {
    pub(crate) fn new(committed: Committed) -> Self {
        Self { committed, compared: [const { OnceLock::new() }; 4] }
    }

    pub(crate) fn committed(&self) -> &Committed {
        &self.committed
    }

    /// Checks that the data of `count` instances lie in a slice, and that its elements have them. Displacement 0 of the first
    /// instance is `origin` bytes into the slice.
    pub(crate) fn check<T: Described>(
        &self,
        memory: &[T],
        origin: usize,
        count: usize,
    ) -> Result<Data, Error> {
        self.committed.check_span(size_of_val(memory) as u64, origin as i128, count)?;
        let map = ptr::from_ref(T::TYPE_MAP).addr();
        let stride = const { elements::stride::<T>() };
        let is_repeated = i64::try_from(stride)
            .is_ok_and(|stride| self.committed.extent().checked_rem(stride) == Some(0));
        let origin = origin.checked_rem(stride).unwrap_or(0);
        let elements =
            Elements { map, origin, count: if is_repeated { count.min(1) } else { count } };
        let known = self
            .compared
            .iter()
            .find_map(|compared| compared.get().filter(|(known, _)| *known == elements));
        if let Some((_, data)) = known {
            return Ok(*data);
        }
        let data = elements::data::<T>(self.committed.as_type(), origin as u64, elements.count)?;
        let _ = self.compared.iter().find(|free| free.set((elements, data)).is_ok());
        Ok(data)
    }

    /// As [`check`](Self::check), and checks that [`write`](Self::write) can write the instances. Returns whether their values
    /// are restricted.
    pub(crate) fn check_write<T: Described>(
        &self,
        memory: &[T],
        origin: usize,
        count: usize,
    ) -> Result<bool, Error> {
        match self.check(memory, origin, count)? {
            Data::Free => Ok(false),
            Data::Whole => Ok(true),
            Data::Restricted(offset) => Err(Error::Unchecked { element: type_name::<T>(), offset }),
        }
    }

    /// A packer for instances in the memory of a slice. The arguments are the same as for [`check`](Self::check).
    pub(crate) fn packer<'a, T: Described>(
        &self,
        memory: &'a [T],
        origin: usize,
        count: usize,
    ) -> Result<Packer<'a>, Error> {
        self.check(memory, origin, count)?;
        let at = memory.as_ptr().cast::<u8>().wrapping_add(origin);
        // SAFETY: the data lie in the slice, which is borrowed for `'a`. They are data of the elements, so they are initialised.
        Ok(unsafe { Packer::from_raw(&self.committed, at, count)? })
    }

    /// An unpacker into instances in the memory of a slice. The arguments are the same as for [`check`](Self::check). A `T`
    /// for which some bytes are not valid values does not compile.
    pub(crate) fn unpacker<'a, T: Described>(
        &self,
        memory: &'a mut [T],
        origin: usize,
        count: usize,
    ) -> Result<Unpacker<'a>, Error> {
        const { assert_unrestricted::<T>() }
        self.check(memory, origin, count)?;
        let at = memory.as_mut_ptr().cast::<u8>().wrapping_add(origin);
        // SAFETY: the data lie in the slice, which is borrowed exclusively for `'a`, and any bytes are values of them.
        Ok(unsafe { Unpacker::from_raw(&self.committed, at, count)? })
    }

    /// The bytes of the instances in the memory of a slice, if they are contiguous. The arguments are the same as for
    /// [`unpacker`](Self::unpacker).
    pub(crate) fn contiguous<'a, T: Described>(
        &self,
        memory: &'a mut [T],
        origin: usize,
        count: usize,
    ) -> Result<Option<&'a mut [u8]>, Error> {
        const { assert_unrestricted::<T>() }
        let packer = self.packer(memory, origin, count)?;
        let (piece, size) = (packer.chunk(), packer.remaining());
        if piece.len() as u64 != size || piece.is_empty() {
            return Ok(None);
        }
        let (len, start) = (piece.len(), piece.as_ptr().addr() - memory.as_ptr().addr());
        let at = memory.as_mut_ptr().cast::<u8>().wrapping_add(start);
        // SAFETY: these bytes are data of elements of the slice, which is borrowed exclusively for `'a`; any bytes are values of
        // them.
        Ok(Some(unsafe { slice::from_raw_parts_mut(at, len) }))
    }

    /// Writes the packed bytes of the instances to the memory of a slice. The arguments are the same as for
    /// [`check`](Self::check). Values that are restricted are checked before anything is written.
    pub(crate) fn write<T: Described>(
        &self,
        packed: &[u8],
        memory: &mut [T],
        origin: usize,
        count: usize,
    ) -> Result<(), Error> {
        if self.check_write(memory, origin, count)? {
            elements::check_values::<T>(packed)?;
        }
        let at = memory.as_mut_ptr().cast::<u8>().wrapping_add(origin);
        // SAFETY: the data lie in the slice, which is borrowed exclusively. The bytes are values of them, because any are, or
        // as just checked.
        unsafe { self.committed.unpack_raw(packed, at, count)? };
        Ok(())
    }
}

/// Rejects at compile time elements for which some bytes are not valid values. Public functions call this themselves, so that
/// the compiler names the line that calls them.
#[track_caller]
pub(crate) const fn assert_unrestricted<T: Described>() {
    assert!(
        !T::TYPE_MAP.is_restricted(),
        "some bytes are not values of this type, and this function does not check: use `Exchange`, or `recv_packed_into`"
    );
}
