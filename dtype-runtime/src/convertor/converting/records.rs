//! Records that are converted to this machine's packed bytes, to be checked there.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::convert;
use super::partial::Partials;
use crate::basic::Basic;
use crate::commit::{Committed, Converting};
use crate::convertor::checks::allocate;
use crate::convertor::cursor::Instances;
use crate::error::Error;
use crate::kernel::Unpack;
use crate::representation::Representation;
use crate::types::Type;

/// Converts whole records to this machine's packed bytes.
#[derive(Clone, Debug)]
pub(crate) struct RecordConversion {
    converting: Arc<Converting>,
    /// This machine's packed bytes of a record.
    native: Committed,
}

impl RecordConversion {
    /// The conversion of records of a type.
    ///
    /// # Errors
    ///
    /// [`Error::NoConversion`].
    pub(crate) fn new(ty: &Type, representation: Representation) -> Result<Self, Error> {
        let converting = Converting::of_packed(ty, representation.architecture())?;
        let native = Type::contiguous(ty.size(), &Type::basic(Basic::Byte))?.commit();
        Ok(Self { converting: Arc::new(converting), native })
    }

    /// Packed bytes of a record on this machine.
    pub(in crate::convertor) fn native(&self) -> u64 {
        self.native.size()
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
        let record = usize::try_from(self.native()).unwrap_or(usize::MAX);
        *native = allocate(count, record)?;
        native.resize(count * record, 0);
        let (expected, actual) = (self.size() * count as u64, remote.len() as u64);
        if expected != actual {
            return Err(Error::PackedLength { expected, actual });
        }
        let instances = Instances::of_plan(self.native.plan(), count as u64);
        let (memory, packed) = (native.as_mut_ptr(), remote.as_ptr().cast_mut());
        let (all, mut none) = (0..expected, Partials::default());
        // SAFETY: `native` has room for the values of `count` records, one after another, and is borrowed exclusively. Their
        // packed bytes are in `remote`, which is borrowed and only read.
        unsafe { convert::<Unpack>(&self.converting, &instances, all, memory, packed, &mut none) }
    }
}
