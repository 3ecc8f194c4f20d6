//! The packed stream in another representation.
//!
//! If every value only has its bytes reversed, and all values have the same width, a copy that reverses executes
//! the plan for bytes; otherwise a plan that goes value by value is executed. Either way the values are converted
//! as they are copied, and a fragment may begin and end inside one.

mod check;
mod convert;
mod packer;
mod partial;
mod records;
mod staged;
mod unpacker;

use alloc::sync::Arc;
use core::ops::Range;

pub use packer::ConvertingPacker;
pub(crate) use staged::RecordConversion;
pub use unpacker::ConvertingUnpacker;

use self::check::{check, check_boundary};
use self::convert::{each, reversed};
use self::partial::Partials;
use self::records::records;
use super::copier::copy_range;
use super::cursor::Instances;
use super::source::Source;
use crate::commit::{Converting, Each, How};
use crate::error::Error;
use crate::kernel::{Reversing, Way, execute};
use crate::kernels::selected;
use crate::plan::Plan;
use crate::representation::Representation;

/// The parts of a stream in another representation.
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

    fn of(source: &Source, representation: Representation) -> Result<Self, Error> {
        let converting = source.converting(representation.architecture())?;
        Self::new(source.clone(), Arc::new(converting))
    }

    /// Whether a position is not inside a value that can only be converted as a whole.
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
        let How::Each(each) = &self.converting.how else { return Ok(()) };
        if self.converting.widest == 0 {
            return Ok(());
        }
        let instances = Instances::of_plan(&each.plan, self.source.count());
        // SAFETY: the caller guarantees it.
        unsafe { check::<D>(&instances, range, self.source.origin(), packed, &Partials::default()) }
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
        // SAFETY: the caller guarantees it.
        unsafe {
            if let How::Same = self.converting.how {
                self.source.copy::<D>(range, packed, &mut 0);
                return Ok(());
            }
            let (memory, instances) = (self.source.origin(), self.source.instances());
            let count = self.source.count();
            convert::<D>(&self.converting, &instances, count, range, memory, packed, partials)
        }
    }
}

/// Converts a range of the stream of `count` instances, to or from `packed`. If the range has only a part of a
/// value, `partials` has its other bytes. Nothing is written if a value cannot be converted.
///
/// # Safety
///
/// The instances must be those of the plan for bytes. The values that the range names, at their displacements from
/// `memory`, must be valid for `D`, and so must `packed` for the length of the range; the two must not overlap. If
/// `D` reads memory, all data of the instances must be readable.
pub(super) unsafe fn convert<D: Way>(
    converting: &Converting,
    instances: &Instances<'_>,
    count: u64,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
    partials: &mut Partials,
) -> Result<(), Error> {
    // SAFETY: the caller guarantees all of it. Values without conversion are copied; the reversed values are those
    // that the plan for bytes names, and the others are those of the plan that was made for them.
    unsafe {
        match &converting.how {
            How::Same => copy_range::<D>(instances, range, memory, packed, None, &mut 0),
            How::Reversed(width) => reversed::<D>(instances, *width, range, memory, packed),
            How::Each(all) => {
                let Each { plan, values } = &**all;
                let is_permuted = || plan.program().of_parts_of_instances().is_some();
                if let Some(values) = values
                    && !(selected().permutes() && is_permuted())
                {
                    records::<D>(values, plan, range, memory, packed);
                    return Ok(());
                }
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

/// Converts all of `count` instances of a committed type, with its plan for bytes if that is enough. Nothing is
/// written if a value cannot be converted.
///
/// # Safety
///
/// The data of the instances, at their displacements from `memory`, must be valid for `D`, and so must `packed`
/// for all of the stream; the two must not overlap.
pub(super) unsafe fn convert_all<D: Way>(
    converting: &Converting,
    plan: &Plan,
    count: u64,
    memory: *mut u8,
    packed: *mut u8,
) -> Result<(), Error> {
    // SAFETY: the caller guarantees all of it. `Reversing` requires blocks of whole values: lemma WHOLE-PARTS of
    // `reversed`.
    unsafe {
        match &converting.how {
            How::Same => execute::<D>(plan, count, memory, packed),
            How::Reversed(2) => execute::<Reversing<D, 2>>(plan, count, memory, packed),
            How::Reversed(4) => execute::<Reversing<D, 4>>(plan, count, memory, packed),
            How::Reversed(8) => execute::<Reversing<D, 8>>(plan, count, memory, packed),
            How::Reversed(_) => execute::<Reversing<D, 16>>(plan, count, memory, packed),
            How::Each(_) => {
                let instances = Instances::of_plan(plan, count);
                // It fits, because there is memory for it. No value comes in part.
                let (all, mut none) = (0..converting.size * count, Partials::default());
                return convert::<D>(converting, &instances, count, all, memory, packed, &mut none);
            }
        }
    }
    Ok(())
}
