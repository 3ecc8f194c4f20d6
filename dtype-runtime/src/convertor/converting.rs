//! The packed stream in another representation.
//!
//! If the conversion only reverses the bytes of every value, and all values have the same width, the plan for bytes copies to
//! or from a stage, where the bytes are reversed. Otherwise a plan goes value by value. Either way a fragment may begin and end
//! inside a value.

mod convert;
mod packer;
mod partial;
mod staged;
mod unpacker;

use alloc::sync::Arc;
use core::ops::Range;

pub use packer::ConvertingPacker;
pub(super) use partial::Partials;
pub(crate) use staged::RecordConversion;
pub use unpacker::ConvertingUnpacker;

use self::convert::{check_boundary, each, reversed};
use super::copier::copy_range;
use super::cursor::Instances;
use super::source::Source;
use crate::commit::{Converting, How};
use crate::error::Error;
use crate::kernel::Way;
use crate::kernel::integers::Task;
use crate::representation::Representation;

/// What a stream in another representation consists of.
#[derive(Clone, Debug)]
pub(super) struct ConvertedStream {
    source: Source,
    converting: Arc<Converting>,
    /// Packed bytes of all instances.
    size: u64,
}

impl ConvertedStream {
    pub(super) fn new(source: Source, converting: Arc<Converting>) -> Result<Self, Error> {
        let (count, one) = (source.count(), converting.size);
        let size = one.checked_mul(count).ok_or_else(|| Error::count_too_large(count, one))?;
        Ok(Self { source, converting, size })
    }

    fn with_representation(source: &Source, representation: Representation) -> Result<Self, Error> {
        let converting = source.converting(representation.architecture())?;
        Self::new(source.clone(), Arc::new(converting))
    }

    /// Refuses a position inside a value that can only be converted as a whole.
    fn check_boundary(&self, position: u64) -> Result<(), Error> {
        match &self.converting.how {
            How::Each(each) if self.converting.widest > 0 => {
                check_boundary(&Instances::of_plan(&each.plan, self.source.count()), position)
            }
            How::Each(_) | How::Same | How::Reversed(_) => Ok(()),
        }
    }

    /// Checks that the values of a range can be converted. The range must not contain only a part of a value.
    ///
    /// # Safety
    ///
    /// The source that `D` reads must be readable: the memory of the values, or `packed` for the length of the
    /// range.
    #[cfg(feature = "rayon")]
    unsafe fn check<D: Way>(&self, range: Range<u64>, packed: *mut u8) -> Result<(), Error> {
        let How::Each(all) = &self.converting.how else { return Ok(()) };
        if self.converting.widest == 0 {
            return Ok(());
        }
        let (count, memory) = (self.source.count(), self.source.origin());
        // All values are whole.
        let mut none = Partials::default();
        // SAFETY: passed on to the caller.
        unsafe { each::<D>(Task::Check, all, count, range, memory, packed, &mut none) }
    }

    /// Converts a range of the stream, as [`convert`].
    ///
    /// # Safety
    ///
    /// As for [`convert`], for the memory of the source.
    unsafe fn convert<D: Way>(
        &self,
        range: Range<u64>,
        packed: *mut u8,
        partials: &mut Partials,
    ) -> Result<(), Error> {
        // SAFETY: passed on to the caller.
        unsafe {
            if let How::Same = self.converting.how {
                self.source.copy::<D>(range, packed, &mut 0);
                return Ok(());
            }
            let (memory, instances) = (self.source.origin(), self.source.instances());
            convert::<D>(&self.converting, &instances, range, memory, packed, partials)
        }
    }
}

/// Converts a range of the stream of instances, to or from `packed`. Where the range has only a part of a value, `partials` may
/// hold the value's other bytes. Nothing is written if a value cannot be converted.
///
/// # Safety
///
/// The plan for bytes must be that of the instances. The values that the range names, at their displacements from `memory`,
/// must be valid for `D`, and so must `packed` for the length of the range; the two must not overlap. If `D` reads memory, all
/// data of the instances must be readable; if it writes memory, they must not overlap.
pub(super) unsafe fn convert<D: Way>(
    converting: &Converting,
    instances: &Instances<'_>,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
    partials: &mut Partials,
) -> Result<(), Error> {
    // SAFETY: passed on to the caller. Values that are the same in both representations are copied; values that are reversed
    // are those that the plan for bytes names; the others are those of the plan made for them.
    unsafe {
        match &converting.how {
            How::Same => copy_range::<D>(instances, range, memory, packed, &mut 0),
            How::Reversed(width) => reversed::<D>(instances, *width, range, memory, packed),
            How::Each(all) => {
                let count = instances.count();
                if converting.widest > 0 {
                    let range = range.clone();
                    each::<D>(Task::Check, all, count, range, memory, packed, partials)?;
                }
                each::<D>(Task::Convert, all, count, range, memory, packed, partials)?;
            }
        }
    }
    Ok(())
}
