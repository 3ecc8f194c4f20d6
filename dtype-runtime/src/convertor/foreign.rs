//! The packed stream in another representation.
//!
//! Where every value only has its bytes reversed, and all are equally wide, the plan for bytes is executed with a
//! copy that reverses; else a plan that goes value by value. Either way the values are converted as they are
//! copied, and a fragment may begin and end inside one.

mod check;
mod convert;
mod packer;
mod partial;
mod staged;
mod unpacker;

use alloc::sync::Arc;
use core::ops::Range;

pub use packer::ForeignPacker;
#[cfg(feature = "message")]
pub(crate) use staged::Records;
pub use unpacker::ForeignUnpacker;

use self::check::{check, check_boundary};
use self::convert::{each, reversed};
use self::partial::Partials;
use super::copier::{WholeRecords, copy_range};
use super::cursor::Instances;
use super::source::{Constant, Source};
use crate::commit::{Converting, How, Plan};
use crate::error::Error;
use crate::kernel::{Reversing, Way, execute};
use crate::representation::Representation;

/// What a stream in another representation consists of.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    source: Source,
    converting: Arc<Converting>,
    /// Packed bytes of all instances.
    size: u64,
}

impl Stream {
    pub(super) fn new(source: Source, converting: Arc<Converting>) -> Result<Self, Error> {
        let (count, one) = (source.count(), converting.size);
        let size = one.checked_mul(count).ok_or(Error::CountTooLarge { count, size: one })?;
        Ok(Self { source, converting, size })
    }

    fn of(source: &Source, representation: Representation) -> Result<Self, Error> {
        let converting = source.converting(representation.architecture())?;
        Self::new(source.clone(), Arc::new(converting))
    }

    /// Whether a position is not inside a value that can only be converted as a whole.
    fn check_boundary(&self, position: u64) -> Result<(), Error> {
        match &self.converting.how {
            How::Each(plan) if self.converting.widest > 0 => {
                check_boundary(&Instances::of_plan(plan, self.source.count()), position)
            }
            How::Each(_) | How::Same | How::Reversed(_) => Ok(()),
        }
    }

    /// Converts a range of the stream, as [`convert`].
    ///
    /// # Safety
    ///
    /// As there, for the memory of the source. `whole` must select the constant that is for `D`.
    unsafe fn convert<D: Way>(
        &self,
        range: Range<u64>,
        packed: *mut u8,
        whole: fn(&Constant) -> WholeRecords,
        partials: &mut Partials,
    ) -> Result<(), Error> {
        // SAFETY: as the caller vouches.
        unsafe {
            if let How::Same = self.converting.how {
                self.source.copy::<D>(range, packed, whole);
                return Ok(());
            }
            let (memory, instances) = (self.source.origin(), self.source.instances());
            let count = self.source.count();
            convert::<D>(&self.converting, &instances, count, range, memory, packed, partials)
        }
    }
}

/// Converts a range of the stream of `count` instances, to or from `packed`; the values that it has only a part of
/// with what is there of the others. Nothing is written if one of them cannot be converted.
///
/// # Safety
///
/// The instances must be those of the plan for bytes, and the values that the range names, at their displacements
/// from `memory`, must be valid for `D`, and `packed` for as many bytes as the range has; the two must not overlap.
/// If `D` reads memory, all data of the instances must be readable.
pub(super) unsafe fn convert<D: Way>(
    converting: &Converting,
    instances: &Instances<'_>,
    count: u64,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
    partials: &mut Partials,
) -> Result<(), Error> {
    // SAFETY: all of it as the caller vouches. What is not converted is copied; the values that are reversed are
    // those that the plan for bytes names, and the others those of the plan that was made for them.
    unsafe {
        match &converting.how {
            How::Same => copy_range::<D>(instances, range, memory, packed, None),
            How::Reversed(width) => reversed::<D>(instances, *width, range, memory, packed),
            How::Each(plan) => {
                let instances = Instances::of_plan(plan, count);
                if converting.widest > 0 {
                    check::<D>(&instances, range.clone(), memory, packed, partials)?;
                }
                each::<D>(&instances, range, memory, packed, partials);
            }
        }
    }
    Ok(())
}

/// Converts all of `count` instances of a committed type, by its plan for bytes where that does. Nothing is written
/// if a value cannot be converted.
///
/// # Safety
///
/// The data of the instances, at their displacements from `memory`, must be valid for `D`, and `packed` for all of
/// the stream; the two must not overlap.
pub(super) unsafe fn convert_all<D: Way>(
    converting: &Converting,
    plan: &Plan,
    count: u64,
    memory: *mut u8,
    packed: *mut u8,
) -> Result<(), Error> {
    // SAFETY: all of it as the caller vouches. A block of values that are reversed is a whole number of them, because
    // the plan joins only what is made of such.
    unsafe {
        match &converting.how {
            How::Same => execute::<D>(plan, count, memory, packed),
            How::Reversed(2) => execute::<Reversing<D, 2>>(plan, count, memory, packed),
            How::Reversed(4) => execute::<Reversing<D, 4>>(plan, count, memory, packed),
            How::Reversed(8) => execute::<Reversing<D, 8>>(plan, count, memory, packed),
            How::Reversed(_) => execute::<Reversing<D, 16>>(plan, count, memory, packed),
            How::Each(_) => {
                let instances = Instances::of_plan(plan, count);
                // It fits: there is memory for it. And nothing comes in part.
                let (all, mut none) = (0..converting.size * count, Partials::default());
                return convert::<D>(converting, &instances, count, all, memory, packed, &mut none);
            }
        }
    }
    Ok(())
}
