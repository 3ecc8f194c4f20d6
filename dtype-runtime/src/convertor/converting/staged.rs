//! Records whose values must be checked. They are converted to this machine's packed bytes, and those are unpacked like native
//! ones.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::ConvertedStream;
use super::partial::Partials;
use crate::basic::Basic;
use crate::commit::Converting;
use crate::convertor::Unpacker;
use crate::convertor::checks::allocate;
use crate::convertor::pending::{Complete, Pending};
use crate::convertor::source::Source;
use crate::error::Error;
use crate::kernel::Unpack;
use crate::representation::Representation;
use crate::types::Type;

/// Records on their way from the stream to this machine's packed bytes.
#[derive(Debug)]
pub(super) struct Staged {
    records: RecordConversion,
    pub(super) pending: Pending,
}

impl Staged {
    pub(super) fn new(ty: &Type, representation: Representation) -> Result<Self, Error> {
        let records = RecordConversion::new(ty, representation)?;
        let pending = Pending::new(records.size());
        Ok(Self { records, pending })
    }

    /// Writes the records that the bytes at a position complete, and keeps the rest of the bytes.
    pub(super) fn unpack(
        &mut self,
        position: u64,
        bytes: &[u8],
        unpacker: &mut Unpacker<'_>,
    ) -> Result<(), Error> {
        if self.records.native == 0 {
            // Records without packed bytes are all complete.
            return unpacker.unpack(&[]).map(drop);
        }
        let Some(Complete { first, whole, tail }) = self.pending.complete(position, bytes) else {
            return Ok(());
        };
        let bytes = self.pending.head().len() + whole.len();
        if bytes > 0 {
            // A record lies in memory, so its size fits.
            let record = usize::try_from(self.pending.record()).unwrap_or(usize::MAX);
            let mut remote = allocate(bytes / record, record)?;
            remote.extend_from_slice(self.pending.head());
            remote.extend_from_slice(whole);
            let mut native = Vec::new();
            let converted = self.records.convert(&remote, &mut native, bytes / record);
            converted.map_err(|error| later(error, first))?;
            unpacker.set_position(first / self.pending.record() * self.records.native)?;
            unpacker.unpack(&native)?;
        }
        self.pending.keep(tail);
        Ok(())
    }

    /// The staging of the records from `middle` on. It has no pending bytes.
    pub(super) fn split_at(&self, position: u64, middle: u64) -> Result<Self, Error> {
        self.pending.check_boundary(position)?;
        self.pending.check_boundary(middle)?;
        Ok(Self { records: self.records.clone(), pending: self.pending.cleared() })
    }
}

/// Converts whole records to this machine's packed bytes.
#[derive(Clone, Debug)]
pub(crate) struct RecordConversion {
    converting: Arc<Converting>,
    /// Packed bytes of a record on this machine.
    native: u64,
}

impl RecordConversion {
    /// The conversion of records of a type.
    ///
    /// # Errors
    ///
    /// [`Error::NoConversion`].
    pub(crate) fn new(ty: &Type, representation: Representation) -> Result<Self, Error> {
        let converting = Converting::of_packed(ty, representation.architecture())?;
        Ok(Self { converting: Arc::new(converting), native: ty.size() })
    }

    /// Packed bytes of a record in the stream.
    pub(crate) fn size(&self) -> u64 {
        self.converting.size
    }

    /// Converts `count` records to this machine's packed bytes in `native`; `remote` has exactly these records.
    ///
    /// # Errors
    ///
    /// [`Error::IntegerRange`], [`Error::FloatRange`], [`Error::Allocation`]; [`Error::PackedLength`].
    pub(crate) fn convert(
        &self,
        remote: &[u8],
        native: &mut Vec<u8>,
        count: usize,
    ) -> Result<(), Error> {
        let record = usize::try_from(self.native).unwrap_or(usize::MAX);
        *native = allocate(count, record)?;
        native.resize(count * record, 0);
        let bytes = Type::contiguous(self.native, &Type::basic(Basic::Byte))?.commit();
        let source = Source::from_committed(&bytes, native.as_mut_ptr(), count)?;
        let stream = ConvertedStream::new(source, self.converting.clone())?;
        let (expected, actual) = (stream.size, remote.len() as u64);
        if expected != actual {
            return Err(Error::PackedLength { expected, actual });
        }
        let packed = remote.as_ptr().cast_mut();
        let mut none = Partials::default();
        // SAFETY: `native` has room for the values of `count` records, one after another, and is borrowed exclusively. Their
        // packed bytes are in `remote`, which is borrowed.
        unsafe { stream.convert::<Unpack>(0..expected, packed, &mut none) }
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
