//! Records that are checked before they are written, once all of their bytes have arrived.

use alloc::borrow::Cow;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use crate::convertor::converting::RecordConversion;
use crate::convertor::native::Native;
use crate::error::Error;
use crate::kernel::Unpack;

/// Checks that packed bytes of this machine, which hold this number of whole records, make valid records. Returns the bytes as
/// they are to be written.
pub(crate) type ValidateTyped = for<'b> fn(&'b [u8], usize) -> Result<Cow<'b, [u8]>, Error>;

/// As [`ValidateTyped`], of records whose type was made at run time. They are written as they are.
pub(crate) trait ValidateRecords: fmt::Debug + Send + Sync {
    fn validate(&self, packed: &[u8], count: usize) -> Result<(), Error>;
}

/// What checks whole records.
#[derive(Clone, Debug)]
pub(crate) enum Validate {
    Typed(ValidateTyped),
    /// Not the type that implements it: a program that makes no such checks does not contain their code.
    Records(Arc<dyn ValidateRecords>),
}

impl Validate {
    fn check<'b>(&self, packed: &'b [u8], count: usize) -> Result<Cow<'b, [u8]>, Error> {
        match self {
            Self::Typed(validate) => validate(packed, count),
            Self::Records(checks) => checks.validate(packed, count).map(|()| Cow::Borrowed(packed)),
        }
    }
}

/// How the records of a stream are checked, and the bytes of an incomplete one.
#[derive(Debug)]
pub struct Checks {
    valid: Validate,
    /// Present if the stream is in another representation: it is converted to this machine's packed bytes first.
    conversion: Option<RecordConversion>,
    pending: Pending,
}

impl Checks {
    pub(super) fn new(valid: Validate, native: &Native) -> Self {
        // There may be no records, or only records without bytes: then any length will do.
        let record = native.size().checked_div(native.count()).unwrap_or(0);
        Self { valid, conversion: None, pending: Pending::new(record) }
    }

    /// The same checks of records in another representation.
    pub(super) fn converted(self, conversion: RecordConversion) -> Self {
        let pending = Pending::new(conversion.size());
        Self { conversion: Some(conversion), pending, ..self }
    }

    /// The same checks, without bytes.
    pub(super) fn cleared(&self) -> Self {
        let (conversion, pending) = (self.conversion.clone(), Pending::new(self.pending.record));
        Self { valid: self.valid.clone(), conversion, pending }
    }

    /// Packed bytes of a record in the stream, at least one.
    #[cfg(any(feature = "bytes", feature = "rayon"))]
    pub(super) fn record(&self) -> u64 {
        self.pending.record
    }

    /// Whether a record is incomplete.
    pub(super) fn is_pending(&self) -> bool {
        !self.pending.bytes.is_empty()
    }

    /// Forgets the first bytes of an incomplete record, unless the next position is inside a record.
    pub(super) fn leave(&mut self, position: u64) -> Result<(), Error> {
        self.check_boundary(position)?;
        self.pending.keep(&[]);
        Ok(())
    }

    /// Refuses a position inside a record.
    pub(super) fn check_boundary(&self, position: u64) -> Result<(), Error> {
        let record = self.pending.record;
        if position.is_multiple_of(record) {
            Ok(())
        } else {
            Err(Error::InsideRecord { position, record })
        }
    }

    /// The records lie in memory, so the number of records in these bytes fits.
    fn number(&self, bytes: u64) -> usize {
        usize::try_from(bytes / self.pending.record).unwrap_or(usize::MAX)
    }

    /// Whole records at a position of the stream as this machine's packed bytes.
    fn convert<'b>(&self, position: u64, records: &'b [u8]) -> Result<Cow<'b, [u8]>, Error> {
        let Some(conversion) = &self.conversion else { return Ok(Cow::Borrowed(records)) };
        let mut native = Vec::new();
        if !records.is_empty() {
            let count = self.number(records.len() as u64);
            let converted = conversion.convert(records, &mut native, count);
            converted.map_err(|error| later(error, position))?;
        }
        Ok(Cow::Owned(native))
    }

    /// Checks whole records that start at a position of the stream, of which `native` has this machine's packed bytes. Returns
    /// them as they are to be written.
    fn check<'b>(&self, position: u64, native: &'b [u8]) -> Result<Cow<'b, [u8]>, Error> {
        // Of the pending record and the ones after it, a short fragment often completes only one part.
        if native.is_empty() {
            return Ok(Cow::Borrowed(native));
        }
        let one = self.conversion.as_ref().map_or(self.pending.record, RecordConversion::native);
        let count = usize::try_from(native.len() as u64 / one.max(1)).unwrap_or(usize::MAX);
        self.valid.check(native, count).map_err(|error| error.records_later(self.number(position)))
    }

    /// The position in the stream of this machine's bytes.
    fn native_position(&self, position: u64) -> u64 {
        match &self.conversion {
            Some(conversion) => position / self.pending.record * conversion.native(),
            None => position,
        }
    }

    /// Writes the records that the bytes at a position complete, once all of them are known to be valid, and keeps the rest of
    /// the bytes.
    ///
    /// # Safety
    ///
    /// The data of these records must be writable and not overlap, nothing else may access them, and bytes that `valid` returns
    /// must be valid there.
    #[inline(never)]
    pub(super) unsafe fn unpack(
        &mut self,
        native: &Native,
        position: u64,
        bytes: &[u8],
        search_hint: &mut usize,
    ) -> Result<(), Error> {
        if native.size() == 0 {
            // Records without data, or no records.
            let count = usize::try_from(native.count()).unwrap_or(usize::MAX);
            return self.valid.check(&[], count).map(drop);
        }
        let Some(Complete { first, whole, tail }) = self.pending.complete(position, bytes) else {
            return Ok(());
        };
        let head = &self.pending.bytes;
        let second = first + head.len() as u64;
        // SAFETY: the caller guarantees the data of these records.
        unsafe {
            if self.conversion.is_some() {
                let (head, whole) = (self.convert(first, head)?, self.convert(second, whole)?);
                self.put(native, (first, &head), (second, &whole), search_hint)?;
            } else {
                self.put(native, (first, head), (second, whole), search_hint)?;
            }
        }
        self.pending.keep(tail);
        Ok(())
    }

    /// Writes two sequences of records of this machine, whose positions in the stream are given, once both are known to be
    /// valid.
    ///
    /// # Safety
    ///
    /// As [`unpack`](Self::unpack).
    #[inline]
    unsafe fn put(
        &self,
        native: &Native,
        (first, head): (u64, &[u8]),
        (second, whole): (u64, &[u8]),
        search_hint: &mut usize,
    ) -> Result<(), Error> {
        let (head, whole) = (self.check(first, head)?, self.check(second, whole)?);
        // SAFETY: the caller guarantees the data of these records, which were just checked.
        unsafe {
            self.write(native, first, &head, search_hint);
            self.write(native, second, &whole, search_hint);
        }
        Ok(())
    }

    /// Writes checked records.
    ///
    /// # Safety
    ///
    /// The data of these records must be writable and not overlap, nothing else may access them, and the bytes must be valid
    /// there.
    unsafe fn write(&self, native: &Native, position: u64, bytes: &[u8], search_hint: &mut usize) {
        if bytes.is_empty() {
            return;
        }
        let start = self.native_position(position);
        let range = start..start + bytes.len() as u64;
        // SAFETY: the caller guarantees the data. The bytes are borrowed and only read, so they do not overlap the data, which
        // nothing else accesses.
        unsafe { native.copy::<Unpack>(range, bytes.as_ptr().cast_mut(), search_hint) };
    }

    /// Checks whole records at a position.
    #[cfg(feature = "rayon")]
    pub(super) fn check_whole(&self, position: u64, records: &[u8]) -> Result<(), Error> {
        self.check(position, &self.convert(position, records)?).map(drop)
    }

    /// Checks and writes whole records at a position.
    ///
    /// # Safety
    ///
    /// The data of these records must be writable and not overlap, nothing else may access them, and bytes that `valid` returns
    /// must be valid there.
    #[cfg(feature = "rayon")]
    pub(super) unsafe fn put_whole(
        &self,
        native: &Native,
        position: u64,
        records: &[u8],
    ) -> Result<(), Error> {
        let records = self.convert(position, records)?;
        let records = self.check(position, &records)?;
        // SAFETY: the caller guarantees the data of these records, which were just checked.
        unsafe { self.write(native, position, &records, &mut 0) };
        Ok(())
    }
}

/// The bytes of the record at the position of a stream that have arrived so far.
///
/// Records are checked by user code, which may panic and be called again. So nothing relies on a call having ended normally:
/// each call drops the bytes that an interrupted one left.
#[derive(Debug)]
struct Pending {
    /// Packed bytes of a record, at least one.
    record: u64,
    bytes: Vec<u8>,
}

/// What bytes complete: the pending record, which is now whole or has no bytes, and the records after it.
struct Complete<'a> {
    /// The position of the first of these records.
    first: u64,
    whole: &'a [u8],
    /// The first bytes of the next record, which is incomplete.
    tail: &'a [u8],
}

impl Pending {
    /// An empty buffer for records of `record` packed bytes. For records without data, pass 0.
    fn new(record: u64) -> Self {
        Self { record: record.max(1), bytes: Vec::new() }
    }

    /// Adds the bytes at a position of the stream. `None` if they do not complete the pending record. Otherwise the pending
    /// record is whole, or has no bytes; the caller writes the records and then calls [`keep`](Self::keep).
    fn complete<'a>(&mut self, position: u64, bytes: &'a [u8]) -> Option<Complete<'a>> {
        // A record lies in memory, so its size fits.
        let record = usize::try_from(self.record).unwrap_or(usize::MAX);
        let begun = usize::try_from(position % self.record).unwrap_or(usize::MAX);
        self.bytes.truncate(begun);
        let before = self.bytes.len();
        let missing = if before == 0 { 0 } else { record - before };
        let Some((head, rest)) = bytes.split_at_checked(missing) else {
            self.bytes.extend_from_slice(bytes);
            return None;
        };
        let (whole, tail) = rest.split_at(rest.len() - rest.len() % record);
        self.bytes.extend_from_slice(head);
        Some(Complete { first: position - before as u64, whole, tail })
    }

    /// Keeps the first bytes of the next record.
    fn keep(&mut self, tail: &[u8]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(tail);
    }
}

/// Adds `bytes` to the position in an error.
fn later(error: Error, bytes: u64) -> Error {
    match error {
        Error::IntegerRange { position, value, bytes: room } => {
            Error::IntegerRange { position: position + bytes, value, bytes: room }
        }
        Error::FloatRange { position, format } => {
            Error::FloatRange { position: position + bytes, format }
        }
        other => other,
    }
}
