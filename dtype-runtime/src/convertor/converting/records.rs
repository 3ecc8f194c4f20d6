//! Converts instances whose values are known as a list: arrays of structs.
//!
//! Take instances with a `u32` at 0 and a `u16` at 4, and a fragment of 16 packed bytes from byte 3 of the stream on. It has
//! the last byte of the first `u32` and the `u16` after it; two whole instances; and one byte of the last `u32`. The plan would
//! be walked for the ends; the list has the same values without a tree, so that a value takes a few nanoseconds instead of
//! thirty.

use core::ops::Range;

use super::convert::{at, bytes, length};
use crate::convertor::copier::copy_of_instances;
use crate::kernel::Way;
use crate::kernel::elements::{Records, value};
use crate::plan::{Op, Plan, Values};

/// Converts a range of the stream of instances of a plan, which have these values.
///
/// # Safety
///
/// As [`each`](super::convert::each); the values must be those of an instance.
pub(super) unsafe fn records<D: Way>(
    values: &Values,
    plan: &Plan,
    range: Range<u64>,
    memory: *mut u8,
    packed: *mut u8,
) {
    let (ops, extent) = (values.ops(), plan.extent());
    // SAFETY: the caller guarantees the values of the range and their packed bytes.
    unsafe {
        copy_of_instances(
            plan,
            range,
            memory,
            packed,
            |range, memory, packed| part::<D>(ops, range, memory, packed),
            |count, memory, packed| whole::<D>(values, extent, count, memory, packed),
        );
    }
}

/// Converts `count` instances.
///
/// # Safety
///
/// As [`records`], for all bytes of the instances.
unsafe fn whole<D: Way>(
    values: &Values,
    extent: i64,
    count: u64,
    memory: *mut u8,
    packed: *mut u8,
) {
    // SAFETY: the instances that the caller guarantees, together or one by one.
    unsafe {
        if let Some(all) = Records::of_instances(values, extent, count) {
            return all.execute::<D>(memory, packed);
        }
        for instance in 0..count {
            let memory = at(memory, extent.wrapping_mul(instance.cast_signed()));
            let packed = packed.wrapping_add(length(instance * values.size()));
            part::<D>(values.ops(), 0..values.size(), memory, packed);
        }
    }
}

/// Converts some packed bytes of one instance.
///
/// # Safety
///
/// As [`records`], for the values of the instance that have bytes in the range; `packed` must be valid for as many bytes as the
/// range has.
#[inline]
unsafe fn part<D: Way>(ops: &[Op], range: Range<u64>, memory: *mut u8, packed: *mut u8) {
    let mut position = 0;
    for op in ops {
        let Op::Elements(all) = op else { continue };
        let len = all.blocks.len;
        for index in 0..all.blocks.count {
            let (start, end) = (position.max(range.start), (position + len).min(range.end));
            if start < end {
                let memory = at(memory, all.blocks.block(index));
                let packed = packed.wrapping_add(length(start - range.start));
                // SAFETY: a value of the instance, or the bytes of it that are in the range; `Values` has only values that are
                // converted byte by byte, whose number of bytes is a power of two.
                unsafe {
                    if end - start == len {
                        value::<D>(all.form, memory, packed);
                    } else {
                        bytes::<D>(
                            all.form,
                            memory,
                            length(start - position),
                            packed,
                            length(end - start),
                        );
                    }
                }
            }
            position += len;
        }
    }
}
