//! Converts items to records and back.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use crate::convert::{Conversion, Sides};
use crate::fit::{Moved, Walk};
use crate::{Access, Item, Misfit, ReadOptions, ValueError};
use dtype_runtime::__private::unpack_after;
use dtype_runtime::representation::ByteOrder;
use dtype_runtime::{
    Buffer, BufferMut, Committed, Datatype, Error, Flags, Type, TypeMap, pack_as, pack_onto,
    unpack_as,
};

/// A stored datatype whose items contain the fields of `T`, at any offsets.
pub struct Fit<T> {
    /// Bytes of an item.
    size: usize,
    /// Bytes of a packed record.
    record: usize,
    order: ByteOrder,
    is_packed: bool,
    /// The values in an item that are copied without conversion.
    stored: Option<Committed>,
    /// The same values in a packed record; `None` if they are the whole record.
    packed: Option<Committed>,
    /// Whether these values are the whole item, in its order.
    is_item: bool,
    /// A packed record with the fields that an item lacks; empty if it lacks none.
    defaults: Vec<u8>,
    conversions: Vec<Conversion>,
    left_out: Vec<String>,
    of: PhantomData<fn() -> T>,
}

/// About how many bytes are moved at a time.
const AT_ONCE: usize = 1 << 12;

/// Memory that is reused for the next items.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// The texts that are stored outside the items, with a zero after each: see [`Text::Index`](crate::Text::Index).
    pub texts: Vec<u8>,
    moved: Vec<u8>,
    packed: Vec<u8>,
}

impl<T: Datatype> Fit<T> {
    /// Compares the datatype of an item with `T`.
    ///
    /// # Errors
    ///
    /// The error of the format, made from a [`Misfit`] that names the field.
    pub fn new<I: Item>(item: &I, access: Access, options: ReadOptions) -> Result<Self, I::Error> {
        Self::in_order(item, access, options, None)
    }

    /// As [`new`](Self::new), for values that are in this byte order, if it is known.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn in_order<I: Item>(
        item: &I,
        access: Access,
        options: ReadOptions,
        order: Option<ByteOrder>,
    ) -> Result<Self, I::Error> {
        Self::of_map(T::TYPE_MAP, item, access, options, order)
    }
}

impl<T> Fit<T> {
    /// As [`in_order`](Self::in_order), for the type with this map, which need not be `T`.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn of_map<I: Item>(
        map: &TypeMap,
        item: &I,
        access: Access,
        options: ReadOptions,
        order: Option<ByteOrder>,
    ) -> Result<Self, I::Error> {
        let record = map.size();
        let mut walk = Walk::new(access, options, order);
        let mut moved = walk.item(item, map, "")?;
        let Walk { order, is_packed, conversions, missing, left_out, .. } = walk;
        let mut defaults = vec![0; if missing.is_empty() { 0 } else { record }];
        let order = order.unwrap_or(ByteOrder::NATIVE);
        for field in &missing {
            field.fill(order, &mut defaults);
        }
        let is_whole = conversions.is_empty() && missing.is_empty();
        if !is_whole {
            moved = Walk::new(access, options, Some(order)).by_item().item(item, map, "")?;
        }
        let malformed = |_| Misfit::Malformed { field: String::new() };
        let commit = |part: fn(&Moved) -> &Type| moved.as_ref().map(|moved| part(moved).commit());
        let stored = commit(|moved| &moved.stored);
        let is_run = |ty: &Committed| ty.flags().contains(Flags::NO_GAPS) && ty.true_lb() == 0;
        Ok(Self {
            size: usize::try_from(item.size()).map_err(malformed)?,
            record,
            defaults,
            order,
            is_packed: is_packed && conversions.is_empty(),
            is_item: !is_whole && stored.as_ref().is_some_and(is_run),
            stored,
            packed: commit(|moved| &moved.packed).filter(|_| !is_whole),
            conversions,
            left_out,
            of: PhantomData,
        })
    }

    /// Bytes of an item.
    pub const fn item_size(&self) -> usize {
        self.size
    }

    /// The byte order of the values that are not converted.
    pub const fn order(&self) -> ByteOrder {
        self.order
    }

    /// Whether the items are packed records of `T`, up to the byte order.
    pub const fn is_packed(&self) -> bool {
        self.is_packed
    }

    /// The path of the first field whose values are converted one by one: a text, for example.
    pub fn first_converted(&self) -> Option<&str> {
        self.conversions.first().map(|conversion| conversion.path.as_str())
    }

    /// The paths of the fields that are left out.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// The same without the paths of the fields that are left out, which may be long.
    #[must_use]
    pub fn without_left_out(self) -> Self {
        Self { left_out: Vec::new(), ..self }
    }

    /// An item as a datatype: the values that are not converted, at their displacements in the item, with the item's extent.
    /// They are in the order of the packed records if no value is converted or missing. `None` if all are converted.
    pub fn item_type(&self) -> Option<&Type> {
        self.stored.as_deref()
    }

    /// How many items are moved at a time: as many as stay in the first-level cache between two copies.
    fn at_once(&self, stored: &Committed) -> Result<usize, Error> {
        let bytes = self.size.max(self.record).max(data_of(stored)?).max(1);
        Ok((AT_ONCE / bytes).max(1))
    }

    /// The packed records of `count` items, in the byte order of the items. They are not checked.
    ///
    /// # Errors
    ///
    /// As for [`unpack_onto`](Self::unpack_onto), for a value that is not converted.
    pub fn repack<'a>(
        &self,
        items: &'a [u8],
        count: usize,
        scratch: &'a mut Scratch,
    ) -> Result<&'a [u8], ValueError> {
        if self.is_packed {
            return Ok(items);
        }
        let Scratch { texts, moved, packed } = scratch;
        refill(packed, count, self.record, &self.defaults)?;
        match (&self.stored, &self.packed) {
            (Some(stored), None) => {
                stored.pack(Buffer::new(items), count, packed)?;
            }
            (Some(_), Some(all)) if self.is_item => {
                all.unpack(items, BufferMut::new(packed), count)?;
            }
            (Some(stored), Some(all)) => {
                let some = self.at_once(stored)?;
                refill(moved, some.min(count), data_of(stored)?, &[])?;
                for first in (0..count).step_by(some) {
                    let count = some.min(count - first);
                    let items = &items[items.len().min(first * self.size)..];
                    let packed = &mut packed[first * self.record..][..count * self.record];
                    let moved = &mut moved[..count * data_of(stored)?];
                    stored.pack(Buffer::new(items), count, moved)?;
                    all.unpack(moved, BufferMut::new(packed), count)?;
                }
            }
            (None, _) => {}
        }
        let mut sides = Sides { item: self.size, record: self.record, order: self.order, texts };
        for conversion in &self.conversions {
            conversion.load(items, packed, &mut sides)?;
        }
        Ok(packed)
    }
}

impl<T: Datatype> Fit<T> {
    /// Appends the records of some items, and checks them. On an error, the records are unchanged, and the error has the number
    /// of the record, from `numbers`, the numbers of the items.
    ///
    /// A type that skips fields does not compile here, because nothing would initialise them.
    ///
    /// # Errors
    ///
    /// [`ValueError::Unnamed`] for a value of an enumeration without a name; [`ValueError::Record`] for any other value that
    /// `T` cannot have, if the number of bytes is not that of the items, and if the records do not fit in memory.
    pub fn unpack_onto(
        &self,
        items: &[u8],
        numbers: Range<usize>,
        scratch: &mut Scratch,
        records: &mut Vec<T>,
    ) -> Result<(), ValueError> {
        const {
            assert!(
                !T::TYPE_MAP.skips_fields(),
                "this type skips fields, which records made of items could not initialise"
            );
        }
        let (first, count) = (numbers.start, numbers.len());
        let (expected, actual) = (self.size.saturating_mul(count) as u64, items.len() as u64);
        if expected != actual {
            return Err(Error::PackedLength { expected, actual }.into());
        }
        let packed = self.repack(items, count, scratch);
        let packed = packed.map_err(|error| error.records_later(first))?;
        let appended = if self.order == ByteOrder::NATIVE {
            unpack_after(packed, count, records)
        } else {
            unpack_as(packed, self.order.into()).map(|mut more| records.append(&mut more))
        };
        Ok(appended.map_err(|error| error.records_later(first))?)
    }

    /// Converts records to items. Gaps between the fields become zeros.
    ///
    /// # Errors
    ///
    /// [`ValueError::Record`] for a value that the items cannot hold: a text that is too long, for example.
    pub fn pack_into(
        &self,
        records: &[T],
        scratch: &mut Scratch,
        items: &mut Vec<u8>,
    ) -> Result<(), ValueError> {
        let count = records.len();
        let Scratch { texts, moved, packed } = scratch;
        if self.is_packed {
            return Ok(packed_in(records, self.order, items)?);
        }
        packed_in(records, self.order, packed)?;
        texts.clear();
        refill(items, count, self.size, &[])?;
        match (&self.stored, &self.packed) {
            (Some(stored), None) => {
                stored.unpack(packed, BufferMut::new(items), count)?;
            }
            (Some(stored), Some(all)) => {
                refill(moved, count, data_of(stored)?, &[])?;
                all.pack(Buffer::new(packed), count, moved)?;
                stored.unpack(moved, BufferMut::new(items), count)?;
            }
            (None, _) => {}
        }
        let (item, record) = (self.size, T::TYPE_MAP.size());
        let mut sides = Sides { item, record, order: self.order, texts };
        for conversion in &self.conversions {
            conversion.store(packed, items, &mut sides)?;
        }
        Ok(())
    }
}

/// Replaces the contents of `out` by the packed records in a byte order.
fn packed_in<T: Datatype>(records: &[T], order: ByteOrder, out: &mut Vec<u8>) -> Result<(), Error> {
    out.clear();
    if order == ByteOrder::NATIVE {
        pack_onto(out, records);
    } else {
        *out = pack_as(records, order.into())?;
    }
    Ok(())
}

/// Bytes of the data of an item.
fn data_of(item: &Committed) -> Result<usize, Error> {
    // The data are part of a packed record, which fits in memory.
    usize::try_from(item.size()).map_err(|_| Error::Allocation { count: 1, stride: usize::MAX })
}

/// Makes a vector `count` times the bytes of `each`, or `size` zeros if it is empty.
fn refill(bytes: &mut Vec<u8>, count: usize, size: usize, each: &[u8]) -> Result<(), Error> {
    let refused = || Error::Allocation { count, stride: size };
    bytes.clear();
    let len = count.checked_mul(size).ok_or_else(refused)?;
    bytes.try_reserve_exact(len).map_err(|_| refused())?;
    // Whatever has been copied is copied again: each step doubles it.
    bytes.extend_from_slice(&each[..len.min(each.len())]);
    while !each.is_empty() && bytes.len() < len {
        bytes.extend_from_within(..bytes.len().min(len - bytes.len()));
    }
    bytes.resize(len, 0);
    Ok(())
}

impl<T> fmt::Debug for Fit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fit")
            .field("item_size", &self.size)
            .field("order", &self.order)
            .field("is_packed", &self.is_packed)
            .field("left_out", &self.left_out)
            .finish_non_exhaustive()
    }
}
