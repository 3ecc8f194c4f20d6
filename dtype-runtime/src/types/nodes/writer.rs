//! A node's bytes: its code and the arguments of its call.

use alloc::vec::Vec;

use super::varint::{put_length, put_signed, put_unsigned};
use super::{Table, code};
use crate::types::array::{Darray, Distribution, Order};
use crate::types::subarray::Subarray;
use crate::types::{BoundsRule, Constructor, Fortran, Type};

impl Table {
    /// Writes a type whose parts are already in the table.
    pub(super) fn write(&self, ty: &Type, out: &mut Vec<u8>) {
        let constructor = ty.constructor();
        // A type made of others follows their rules.
        match ty.bounds_rule() {
            BoundsRule::Mpich if self.tells_rules && constructor.has_no_parts() => {
                out.push(code::BY_MPICH);
            }
            BoundsRule::Literal | BoundsRule::Mpich => {}
        }
        out.push(code::of(constructor));
        match constructor {
            Constructor::Basic(_) | Constructor::LbMarker | Constructor::UbMarker => {}
            Constructor::Pair { name: Some(pair), .. } => out.push(*pair as u8),
            Constructor::Pair { name: None, value, index, .. } => {
                out.extend([value.code(), index.code()]);
            }
            Constructor::Fortran { request, .. } => put_fortran(out, *request),
            Constructor::Dup { old } => self.put_part(out, old),
            Constructor::Contiguous { count, old } => {
                put_unsigned(out, *count);
                self.put_part(out, old);
            }
            Constructor::Vector { count, blocklength, stride, old }
            | Constructor::Hvector { count, blocklength, stride, old } => {
                put_unsigned(out, *count);
                put_unsigned(out, *blocklength);
                put_signed(out, *stride);
                self.put_part(out, old);
            }
            Constructor::Indexed { blocklengths, displacements, old }
            | Constructor::Hindexed { blocklengths, displacements, old } => {
                put_blocklengths(out, blocklengths.iter());
                put_displacements(out, displacements.iter());
                self.put_part(out, old);
            }
            Constructor::IndexedBlock { blocklength, displacements, old }
            | Constructor::HindexedBlock { blocklength, displacements, old } => {
                put_length(out, displacements.len(), false);
                put_unsigned(out, *blocklength);
                put_displacements(out, displacements.iter());
                self.put_part(out, old);
            }
            Constructor::Structure { members } => {
                put_blocklengths(out, members.iter().map(|member| member.blocklength));
                put_displacements(out, members.iter().map(|member| member.displacement));
                for member in members {
                    self.put_part(out, &member.ty);
                }
            }
            Constructor::Subarray { arguments, old, .. } => {
                put_subarray(out, arguments);
                self.put_part(out, old);
            }
            Constructor::Darray { arguments, old, .. } => {
                put_darray(out, arguments);
                self.put_part(out, old);
            }
            Constructor::Resized { old } => {
                let (lb, extent) = ty.resize();
                put_signed(out, lb);
                put_signed(out, extent);
                self.put_part(out, old);
            }
        }
    }

    fn put_part(&self, out: &mut Vec<u8>, part: &Type) {
        put_unsigned(out, self.number(part));
    }
}

fn put_fortran(out: &mut Vec<u8>, request: Fortran) {
    let mut digits = |value: Option<u32>| put_unsigned(out, value.map_or(0, |n| u64::from(n) + 1));
    match request {
        Fortran::Real { precision, range } | Fortran::Complex { precision, range } => {
            digits(precision);
            digits(range);
        }
        Fortran::Integer { range } => digits(Some(range)),
    }
}

/// Writes the number of lengths and all of them; or only the first, if all are equal.
fn put_blocklengths(out: &mut Vec<u8>, blocklengths: impl ExactSizeIterator<Item = u64> + Clone) {
    let first = blocklengths.clone().next();
    let equal = first.is_some_and(|first| blocklengths.clone().all(|length| length == first));
    put_length(out, blocklengths.len(), equal);
    let written = if equal { 1 } else { usize::MAX };
    blocklengths.take(written).for_each(|length| put_unsigned(out, length));
}

/// Writes each as the distance from the previous one: most blocks are close to their neighbours in the list.
fn put_displacements(out: &mut Vec<u8>, displacements: impl Iterator<Item = i64>) {
    let mut before = 0;
    for displacement in displacements {
        put_signed(out, displacement.wrapping_sub(before));
        before = displacement;
    }
}

fn put_ndims(out: &mut Vec<u8>, ndims: usize, order: Order) {
    put_length(out, ndims, order == Order::Fortran);
}

fn put_subarray(out: &mut Vec<u8>, arguments: &Subarray) {
    put_ndims(out, arguments.sizes().len(), arguments.order);
    let lists = [arguments.sizes(), arguments.subsizes(), arguments.starts()];
    for argument in lists.into_iter().flatten() {
        put_unsigned(out, *argument);
    }
}

fn put_darray(out: &mut Vec<u8>, arguments: &Darray) {
    let Darray { size, rank, gsizes, distributions, psizes, order, .. } = arguments;
    put_unsigned(out, *size);
    put_unsigned(out, *rank);
    put_ndims(out, gsizes.len(), *order);
    gsizes.iter().for_each(|size| put_unsigned(out, *size));
    for distribution in distributions {
        let (kind, argument) = match *distribution {
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
    psizes.iter().for_each(|size| put_unsigned(out, *size));
}
