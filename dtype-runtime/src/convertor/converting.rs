//! The packed stream in another representation.
//!
//! If the conversion only reverses the bytes of every value, and all values have the same width, the plan for bytes copies to
//! or from a stage, where the bytes are reversed. Otherwise a plan goes value by value. Either way a fragment may begin and end
//! inside a value.

mod partial;
mod records;
mod values;

use core::ops::Range;

use self::values::{each, reversed};
use super::copier::copy_range;
use super::cursor::Instances;
use crate::commit::{Converting, How};
use crate::error::Error;
#[cfg(feature = "rayon")]
use crate::kernel::Unpack;
use crate::kernel::Way;
use crate::kernel::integers::Task;
pub(super) use partial::Partials;
pub(crate) use records::RecordConversion;

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
    // SAFETY: each converts just this range, for which the caller guarantees both pointers. Values that are the same in both
    // representations are copied; values that are reversed are those that the plan for bytes names; the others are those of the
    // plan made for them.
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

/// Refuses a position inside a value that can only be converted as a whole, in the stream of `count` instances.
pub(super) fn check_boundary(
    converting: &Converting,
    count: u64,
    position: u64,
) -> Result<(), Error> {
    match &converting.how {
        How::Each(each) if converting.widest > 0 => {
            values::check_boundary(&Instances::of_plan(&each.plan, count), position)
        }
        How::Each(_) | How::Same | How::Reversed(_) => Ok(()),
    }
}

/// Checks that the packed bytes of whole values, at a range of the stream of `count` instances, can be converted to this
/// machine's values.
#[cfg(feature = "rayon")]
pub(super) fn check(
    converting: &Converting,
    count: u64,
    range: Range<u64>,
    packed: &[u8],
) -> Result<(), Error> {
    let How::Each(all) = &converting.how else { return Ok(()) };
    if converting.widest == 0 {
        return Ok(());
    }
    let (memory, packed) = (core::ptr::null_mut(), packed.as_ptr().cast_mut());
    // SAFETY: a check reads only the packed bytes, which are borrowed, and accesses no memory.
    unsafe {
        let mut none = Partials::default();
        each::<Unpack>(Task::Check, all, count, range, memory, packed, &mut none)
    }
}
