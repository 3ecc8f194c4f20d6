//! Writes a node: its code, then the arguments of its call in the order of the [table of calls](crate::types::call), with the
//! datatypes last.

use alloc::vec::Vec;

use super::varint::{put_length, put_signed, put_unsigned};
use super::{Table, code};
use crate::types::mpi::call::{Argument, Call};
use crate::types::{BoundsRule, Constructor, Distribution, Order, Type};

impl Table {
    /// Writes a type whose parts are already in the table.
    pub(super) fn write(&self, ty: &Type, out: &mut Vec<u8>) {
        let constructor = ty.constructor();
        // A type with parts follows the rules of its parts.
        let by_mpich = ty.bounds_rule() == BoundsRule::Mpich && constructor.has_no_parts();
        if by_mpich && self.distinguish_rules {
            out.push(code::BY_MPICH);
        }
        out.push(code::for_constructor(constructor));
        match *constructor {
            Constructor::Pair { name: Some(pair), .. } => out.push(pair as u8),
            Constructor::Pair { name: None, value, index, .. } => {
                out.extend([value.code(), index.code()]);
            }
            _ => ty.call().into_iter().for_each(|call| self.put_call(&call, out)),
        }
    }

    fn put_call(&self, call: &Call<'_>, out: &mut Vec<u8>) {
        let arguments = || call.arguments.iter();
        let order = arguments().find_map(|argument| match argument {
            Argument::Order(order) => Some(*order),
            _ => None,
        });
        // If all blocks have one length, it is written once. The sizes of an array are always written out.
        let equal = order.is_none() && arguments().any(Argument::is_equal_counts);
        for (_, argument) in call.parameters() {
            match argument {
                None => put_length(out, call.length(), equal || order == Some(Order::Fortran)),
                Some(Argument::Count(count)) => put_unsigned(out, *count),
                Some(Argument::Offset(offset)) => put_signed(out, *offset),
                Some(Argument::Counts(counts)) => {
                    let written = if equal { &counts[..1] } else { counts };
                    for count in written {
                        put_unsigned(out, *count);
                    }
                }
                Some(Argument::Offsets(offsets)) => put_offsets(out, offsets),
                Some(Argument::Distributions(all)) => {
                    all.iter().for_each(|distribution| put_distribution(out, *distribution));
                }
                Some(Argument::Digits(digits)) => {
                    put_unsigned(out, digits.map_or(0, |digits| u64::from(digits) + 1));
                }
                Some(Argument::Range(range)) => put_unsigned(out, u64::from(*range) + 1),
                Some(Argument::Order(_) | Argument::Type(_) | Argument::Types(_)) => {}
            }
        }
        call.types().for_each(|part| put_unsigned(out, self.number(part)));
    }
}

impl<T> Argument<'_, T> {
    fn is_equal_counts(&self) -> bool {
        match self {
            Self::Counts(counts) => {
                counts.first().is_some_and(|first| counts.iter().all(|count| count == first))
            }
            _ => false,
        }
    }
}

/// Writes each offset as the difference from the previous one, because most blocks are close to their neighbours in the list.
fn put_offsets(out: &mut Vec<u8>, offsets: &[i64]) {
    let mut before = 0;
    for offset in offsets {
        put_signed(out, offset.wrapping_sub(before));
        before = *offset;
    }
}

fn put_distribution(out: &mut Vec<u8>, distribution: Distribution) {
    let (kind, argument) = match distribution {
        Distribution::None => (code::NONE, None),
        Distribution::Block(None) => (code::BLOCK, None),
        Distribution::Block(length) => (code::BLOCK_OF, length),
        Distribution::Cyclic(None) => (code::CYCLIC, None),
        Distribution::Cyclic(length) => (code::CYCLIC_OF, length),
    };
    out.push(kind);
    if let Some(length) = argument {
        put_unsigned(out, length);
    }
}
