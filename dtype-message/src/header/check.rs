//! Checks whether the records of a message are what the receiver expects, and whether there are too many.

use super::{Header, Sizes, combined, combined_schema, combined_signature, folded};
use crate::error::{Error, Mismatch, Protection, RecordKind};
use crate::limits::Limits;
use crate::schema::schema_hash;
use dtype_runtime::__private::Records;
use dtype_runtime::{Datatype, Type};

impl Header {
    /// Checks whether the records can be unpacked as `T` here.
    ///
    /// # Errors
    ///
    /// [`Error::Mismatch`].
    #[inline]
    pub fn check<T: Datatype>(&self) -> Result<(), Error> {
        let expected = RecordKind {
            size: T::TYPE_MAP.size() as u64,
            signature_hash: Some(T::TYPE_MAP.signature_hash()),
            schema_hash: Some(const { schema_hash::<T>() }),
        };
        self.compare(expected, || T::TYPE_MAP.to_string())
    }

    /// Checks whether the message is a head of type `H` and records of type `T` after it. Returns the sizes of both parts.
    pub(crate) fn check_head<H: Datatype, T: Datatype>(&self) -> Result<(Sizes, Sizes), Error> {
        let (head, record) = (H::TYPE_MAP.size(), T::TYPE_MAP.size());
        let expected = RecordKind {
            size: self.whole_size(head as u64, record as u64),
            signature_hash: Some(const { combined_signature::<H, T>() }),
            schema_hash: Some(const { combined_schema::<H, T>() }),
        };
        self.compare(expected, || format!("{} and a list of {}", H::TYPE_MAP, T::TYPE_MAP))?;
        self.check_one()?;
        let payload = self.in_memory()?.payload - head;
        let count = payload / record.max(1);
        Ok((Sizes { count: 1, record: head, payload: head }, Sizes { count, record, payload }))
    }

    /// Checks whether the records can be unpacked as instances of `ty` here: they have its signature, whatever the
    /// layout.
    ///
    /// # Errors
    ///
    /// [`Error::Mismatch`]; [`Error::NoSignature`] for a compact frame with a schema's hash instead of a signature's.
    pub fn check_type(&self, ty: &Type) -> Result<(), Error> {
        let (size, signature_hash) = (ty.size(), Some(ty.signature_hash()));
        if self.signature_hash.is_none() && self.schema_hash.is_some() {
            return Err(Error::NoSignature { tag: self.tag });
        }
        let expected = RecordKind { size, signature_hash, schema_hash: self.schema_hash };
        self.compare(expected, || name_of(ty))
    }

    /// Checks whether the message is a head and any number of records after it, which can be unpacked as instances of these
    /// types.
    ///
    /// # Errors
    ///
    /// As [`check_type`](Self::check_type), and [`Error::RecordCount`].
    pub fn check_headed(&self, head: &Type, records: &Type) -> Result<(), Error> {
        let size = self.whole_size(head.size(), records.size());
        let signature_hash = Some(combined(head.signature_hash(), records.signature_hash()));
        let has_only_schema = self.signature_hash.is_none() && self.schema_hash.is_some();
        if has_only_schema && size == self.record_size {
            return Err(Error::NoSignature { tag: self.tag });
        }
        let expected = RecordKind { size, signature_hash, schema_hash: self.schema_hash };
        self.compare(expected, || format!("{} and a list of {}", name_of(head), name_of(records)))?;
        self.check_one()
    }

    /// The length of the message if it is a head and a whole number of records; otherwise that of the head.
    #[inline]
    fn whole_size(&self, head: u64, record: u64) -> u64 {
        let rest = self.record_size.checked_sub(head);
        let is_whole = rest.is_some_and(|rest| rest % record.max(1) == 0);
        if is_whole { self.record_size } else { head }
    }

    /// A head and a list are one record.
    #[inline]
    fn check_one(&self) -> Result<(), Error> {
        let (expected, actual) = (1, self.count);
        if actual == expected { Ok(()) } else { Err(Error::RecordCount { expected, actual }) }
    }

    #[inline]
    fn compare(&self, own: RecordKind, name: impl FnOnce() -> String) -> Result<(), Error> {
        // Only the hashes that the frame has are compared.
        let reduced = |ours: Option<u64>, theirs: Option<u64>| {
            let ours = ours.filter(|_| theirs.is_some());
            if self.is_compact { ours.map(folded) } else { ours }
        };
        let expected = RecordKind {
            size: own.size,
            signature_hash: reduced(own.signature_hash, self.signature_hash),
            schema_hash: reduced(own.schema_hash, self.schema_hash),
        };
        let actual = RecordKind {
            size: self.record_size,
            signature_hash: self.signature_hash,
            schema_hash: self.schema_hash,
        };
        if expected == actual {
            return Ok(());
        }
        let mismatch = Mismatch {
            type_name: name(),
            tag: self.tag,
            expected,
            actual,
            differences: Vec::new(),
        };
        Err(mismatch.into())
    }

    /// Checks whether the message has the protection and at most the payload that the limits say. The header does not tell text
    /// from records, so those who know which it is compare the other limits.
    ///
    /// # Errors
    ///
    /// [`Error::Unprotected`], [`Error::PayloadLimit`].
    #[inline]
    pub fn check_limits(&self, limits: &Limits) -> Result<(), Error> {
        if !self.has_checksum && !limits.allows_missing_checksum() {
            return Err(Error::Unprotected { missing: Protection::Checksum });
        }
        let has_signature = self.signature_hash.is_some() || self.schema_hash.is_some();
        if !has_signature && !limits.allows_missing_signature() {
            return Err(Error::Unprotected { missing: Protection::Signature });
        }
        let (limit, actual) = (limits.max_payload_bytes(), self.payload_len);
        if actual > limit { Err(Error::PayloadLimit { limit, actual }) } else { Ok(()) }
    }

    #[inline]
    pub(crate) fn check_count(&self, limit: u64) -> Result<(), Error> {
        check_count(self.count, limit)
    }

    /// Checks the records of a list: their number, or the length of a text; and the memory that they take as values. That can be
    /// far more than the payload: because of alignment, skipped fields, or records without data. Without this check, a sender
    /// could request any amount with a few bytes, or, if the records take no memory, any number of destructors.
    #[inline]
    pub(crate) fn check_list<L: Records>(&self, count: u64, limits: &Limits) -> Result<(), Error> {
        if L::IS_TEXT {
            let (limit, actual) = (limits.max_text_bytes(), count);
            return if actual > limit { Err(Error::TextLimit { limit, actual }) } else { Ok(()) };
        }
        check_count(count, limits.max_records())?;
        let stride = const { size_of::<L::Record>() };
        if stride == 0 && const { core::mem::needs_drop::<L::Record>() } {
            check_count(count, Limits::MAX_RECORDS_WITHOUT_DATA)?;
        }
        let limit = limits.max_payload_bytes();
        let most = limit.max(self.payload_len.saturating_mul(Limits::MEMORY_OF_PAYLOAD));
        let actual = count.saturating_mul(stride as u64);
        if actual > most { Err(Error::PayloadLimit { limit, actual }) } else { Ok(()) }
    }
}

#[inline]
fn check_count(actual: u64, limit: u64) -> Result<(), Error> {
    if actual > limit { Err(Error::RecordLimit { limit, actual }) } else { Ok(()) }
}

/// A name for a type made at run time: its first runs of basic datatypes.
fn name_of(ty: &Type) -> String {
    let mut name = String::new();
    for (index, (basic, count)) in ty.signature().runs().enumerate() {
        if index > 0 {
            name.push_str(", ");
        }
        if index == 4 {
            name.push('…');
            break;
        }
        name.push_str(basic.name());
        if count > 1 {
            name.push_str(" × ");
            name.push_str(&count.to_string());
        }
    }
    name
}
