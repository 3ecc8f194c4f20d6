//! Makes a message from its payload: step by step if it arrives in pieces, otherwise at once.

use core::{fmt, mem};

use crate::error::Error;
use crate::header::{Header, Sizes};
use crate::reversed::reverse_values;
use dtype_runtime::__private::{Records, unpack_onto};
use dtype_runtime::{Datatype, TypeMap};

/// Splits bytes that arrive in pieces into whole records.
#[derive(Debug, Default)]
pub(crate) struct Splitter {
    /// The part of an incomplete record that has arrived.
    pending: Vec<u8>,
}

impl Splitter {
    /// Passes whole records of this size on, most of them where they lie, and keeps a part of a record until it is complete.
    #[inline]
    pub(crate) fn push(
        &mut self,
        record: usize,
        mut bytes: &[u8],
        mut whole: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        // Records without data have no payload.
        if record == 0 {
            return Ok(());
        }
        if !self.pending.is_empty() {
            let missing = record - self.pending.len();
            self.keep(bytes.split_off(..missing.min(bytes.len())).unwrap_or_default(), record)?;
            if self.pending.len() < record {
                return Ok(());
            }
            let result = whole(&self.pending);
            self.pending.clear();
            result?;
        }
        let (records, rest) = bytes.split_at(bytes.len() - bytes.len() % record);
        if !records.is_empty() {
            whole(records)?;
        }
        self.keep(rest, record)
    }

    /// Keeps a part of a record. Memory grows with the bytes that have arrived.
    fn keep(&mut self, bytes: &[u8], record: usize) -> Result<(), Error> {
        grow(&mut self.pending, bytes.len(), record)?;
        self.pending.extend_from_slice(bytes);
        Ok(())
    }
}

/// The records of a message that have arrived so far.
#[derive(Debug)]
pub struct Assembler<M: Records> {
    records: Unverified<M::Record>,
    sizes: Sizes,
    splitter: Splitter,
    /// Whether the values arrive in the other byte order, and memory for the values of one piece in this machine's order.
    is_reversed: bool,
    native: Vec<u8>,
    /// The error of the first record that is not a value. If the checksum is wrong, too, the cause was damage.
    wrong: Option<dtype_runtime::Error>,
}

impl<M: Records> Assembler<M> {
    /// Starts the records of these sizes in a message with this header.
    #[inline]
    pub(crate) fn new(header: &Header, sizes: Sizes) -> Self {
        Self {
            records: Unverified(Vec::new()),
            sizes,
            splitter: Splitter::default(),
            is_reversed: header.is_reversed(),
            native: Vec::new(),
            wrong: None,
        }
    }

    /// Takes the next bytes of the payload.
    #[inline]
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), Error> {
        // After a wrong value only the checksum matters.
        if self.wrong.is_some() {
            return Ok(());
        }
        let mut splitter = mem::take(&mut self.splitter);
        let result = splitter.push(self.sizes.record, bytes, |whole| self.unpack(whole));
        self.splitter = splitter;
        result
    }

    /// Unpacks whole records, at most as many as the header announced. Memory grows with them.
    #[inline]
    fn unpack(&mut self, packed: &[u8]) -> Result<(), Error> {
        let Sizes { count: total, record, .. } = self.sizes;
        if self.wrong.is_some() {
            return Ok(());
        }
        let count = packed.len() / record;
        let native = if self.is_reversed {
            reversed(M::Record::TYPE_MAP, packed, &mut self.native)?
        } else {
            packed
        };
        // Otherwise all of them have arrived, and get exactly the memory that they need.
        if count < total {
            grow(&mut self.records.0, count, total)?;
        }
        self.wrong = unpack_onto(native, count, &mut self.records.0).err();
        Ok(())
    }

    /// Returns the message. The caller has verified the frame.
    #[inline]
    pub(crate) fn finish(mut self) -> Result<M, Error> {
        if let Some(error) = self.wrong {
            return Err(error.into());
        }
        let Sizes { count, record, .. } = self.sizes;
        if record == 0 {
            unpack_onto(&[], count, &mut self.records.0)?;
        }
        M::from_records(self.records.verified()).map_err(Error::Text)
    }
}

/// A head and the list after it, of which a part has arrived.
pub struct HeadedAssembler<H: Records, L: Records> {
    head: Assembler<H>,
    /// Bytes of the head that have not arrived.
    missing: usize,
    list: Assembler<L>,
}

impl<H: Records, L: Records> fmt::Debug for HeadedAssembler<H, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeadedAssembler").field("missing", &self.missing).finish_non_exhaustive()
    }
}

impl<H: Records, L: Records> HeadedAssembler<H, L> {
    pub(crate) fn new(header: &Header, head: Sizes, list: Sizes) -> Self {
        let missing = head.payload;
        Self { head: Assembler::new(header, head), missing, list: Assembler::new(header, list) }
    }

    /// Takes the next bytes of the payload.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        let of_head = bytes.split_off(..self.missing.min(bytes.len())).unwrap_or_default();
        self.missing -= of_head.len();
        self.head.push(of_head)?;
        self.list.push(bytes)
    }

    /// Returns both. The caller has verified the frame.
    pub(crate) fn finish(self) -> Result<(H, L), Error> {
        Ok((self.head.finish()?, self.list.finish()?))
    }
}

/// Makes the message from all its packed records; `None` if they are not values, or have no data. Inlined into each reader:
/// each function through which a list is returned copies it right after it was written, which takes longer than everything else
/// for a short list.
#[inline(always)]
pub(crate) fn at_once<M: Records>(header: &Header, packed: &[u8]) -> Option<M> {
    // Records without data have no bytes that tell their number.
    if const { M::Record::TYPE_MAP.size() == 0 } {
        return None;
    }
    let mut native = Vec::new();
    let packed = if header.is_reversed() {
        reversed(M::Record::TYPE_MAP, packed, &mut native).ok()?
    } else {
        packed
    };
    M::try_unpack(packed)
}

/// The packed records in this machine's byte order.
#[cold]
fn reversed<'a>(
    map: &TypeMap,
    packed: &[u8],
    native: &'a mut Vec<u8>,
) -> Result<&'a [u8], dtype_runtime::Error> {
    native.clear();
    grow(native, packed.len(), packed.len())?;
    native.extend_from_slice(packed);
    reverse_values(map, native);
    Ok(native)
}

/// Records that may have been damaged in transit: valid values, but perhaps not the ones that were sent. They are forgotten
/// instead of dropped, so that no `Drop` of their type acts on them.
#[derive(Debug)]
struct Unverified<T>(Vec<T>);

impl<T> Unverified<T> {
    fn verified(mut self) -> Vec<T> {
        mem::take(&mut self.0)
    }
}

impl<T> Drop for Unverified<T> {
    fn drop(&mut self) {
        if mem::needs_drop::<T>() {
            mem::take(&mut self.0).into_iter().for_each(mem::forget);
        }
    }
}

/// Makes room for `more` items in a list that will have `total` items. The list grows to at most twice its present length, or
/// by `more` items, so that its memory depends on what has arrived and not on what the header announced.
pub(crate) fn grow<T>(
    items: &mut Vec<T>,
    more: usize,
    total: usize,
) -> Result<(), dtype_runtime::Error> {
    if items.capacity() - items.len() < more {
        let least = items.len() + more;
        let room = items.len().saturating_mul(2).min(total).max(least) - items.len();
        items.try_reserve_exact(room).map_err(|_| dtype_runtime::Error::Allocation {
            count: least,
            stride: size_of::<T>(),
        })?;
    }
    Ok(())
}
