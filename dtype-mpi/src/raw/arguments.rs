//! The arguments of a call as C takes them, from the arrays of a type's contents.
//!
//! `dtype_runtime`'s table of calls has the parameters of each constructor and their C types. From it, this module derives
//! where the arguments are in the arrays, and which of the integers are constants with numbers of the library's own.

use std::ops::Range;
use std::os::raw::c_int;

use dtype_runtime::types::call::{ArgumentKind, CType};
use dtype_runtime::types::{Combiner, Contents};
use mpi::ffi::{MPI_Aint, MPI_Datatype};

use super::code::aint;
use crate::error::Error;
use crate::names::{Constant, from_abi, to_abi};

// small.rs and large.rs have calls for these. A new constructor needs its call there, and its number in names.c.
const _: () = assert!(Combiner::ALL.len() == 17);

/// The arguments of a call, with the constants as the library numbers them.
///
/// # Invariants
///
/// The arrays have at least as many elements as the combiner's parameters take, given `length`: [`new`](Self::new)
/// has counted them, and nothing changes their lengths.
#[derive(Debug)]
pub struct Arguments {
    pub(super) combiner: Combiner,
    /// The length of the lists among the arguments; 0 if there are no lists.
    pub(super) length: usize,
    pub(super) integers: Vec<c_int>,
    pub(super) addresses: Vec<MPI_Aint>,
    #[cfg_attr(not(large_counts), expect(dead_code, reason = "calls with large counts take them"))]
    pub(super) large_counts: Vec<i64>,
    pub(super) handles: Vec<MPI_Datatype>,
}

impl Arguments {
    /// The arguments for contents, with `handles` for their datatypes.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchCall`] for a datatype that no call of the library makes; [`Error::Contents`] for arrays that
    /// are too short; [`Error::Constant`] for a constant that the library does not have; [`Error::Argument`] for an
    /// address that does not fit.
    pub fn new<T>(contents: &Contents<T>, handles: Vec<MPI_Datatype>) -> Result<Self, Error> {
        let combiner = contents.combiner;
        let signature = match (combiner, combiner.signature()) {
            (Combiner::ValueIndex, _) | (_, None) => {
                return Err(Error::NoSuchCall { combiner: combiner.name() });
            }
            (_, Some(signature)) => signature,
        };
        let places = Places::in_arrays(contents, handles.len())?;
        // A number that is not a constant of the ABI is unchanged.
        let number = |kind, value| Some(from_abi(kind, value).unwrap_or(value));
        let addresses = contents.addresses.iter().map(|&value| aint(signature.mpi_name, value));
        Ok(Self {
            combiner,
            length: places.length,
            integers: places.renumbered(contents, from_abi, number)?,
            addresses: addresses.collect::<Result<_, _>>()?,
            large_counts: contents.large_counts.clone(),
            handles,
        })
    }

    /// The datatypes, so that the caller can replace them with others that are alive during the call.
    pub fn handles_mut(&mut self) -> &mut [MPI_Datatype] {
        &mut self.handles
    }
}

/// One of the arrays of contents.
#[derive(Clone, Copy, PartialEq)]
enum Array {
    Integers,
    Addresses,
    LargeCounts,
    Datatypes,
}

/// The positions of a call's arguments in the arrays.
struct Places {
    /// The length of the lists among the arguments; 0 if there are no lists.
    length: usize,
    /// For each parameter, its kind and the part of an array that holds its arguments.
    all: Vec<(ArgumentKind, Array, Range<usize>)>,
}

impl Places {
    /// Assigns array elements to the parameters, for this number of datatypes.
    fn in_arrays<T>(contents: &Contents<T>, datatypes: usize) -> Result<Self, Error> {
        let combiner = contents.combiner.name();
        let large = !contents.large_counts.is_empty();
        let array = |number| match number {
            CType::Count | CType::Address if large => Array::LargeCounts,
            CType::Address => Array::Addresses,
            CType::Int | CType::Count => Array::Integers,
        };
        let lengths = [
            (contents.integers.len(), "all integers"),
            (contents.addresses.len(), "all addresses"),
            (contents.large_counts.len(), "all large counts"),
            (datatypes, "all datatypes"),
        ];
        let (mut taken, mut length, mut all) = ([0_usize; 4], 0_usize, Vec::new());
        for parameter in contents.combiner.signature().map_or(&[][..], |found| found.parameters) {
            let (array, number) = match parameter.kind {
                ArgumentKind::Length(number)
                | ArgumentKind::Count(number)
                | ArgumentKind::Offset(number) => (array(number), Some(1)),
                ArgumentKind::Counts(number) | ArgumentKind::Offsets(number) => {
                    (array(number), Some(length))
                }
                ArgumentKind::Type => (Array::Datatypes, Some(1)),
                ArgumentKind::Types => (Array::Datatypes, Some(length)),
                ArgumentKind::Order | ArgumentKind::Digits | ArgumentKind::Range => {
                    (Array::Integers, Some(1))
                }
                // First the distributions, then their arguments.
                ArgumentKind::Distributions => (Array::Integers, length.checked_mul(2)),
            };
            let start = taken[array as usize];
            let (available, what) = lengths[array as usize];
            let end = number.and_then(|number| start.checked_add(number));
            let end = end.filter(|&end| end <= available);
            let end = end.ok_or(Error::Contents { combiner, what })?;
            taken[array as usize] = end;
            if let ArgumentKind::Length(_) = parameter.kind {
                let found = match array {
                    Array::LargeCounts => contents.large_counts[start],
                    Array::Addresses => contents.addresses[start],
                    Array::Integers | Array::Datatypes => contents.integers[start].into(),
                };
                let what = "an array of negative length";
                length = usize::try_from(found).map_err(|_| Error::Contents { combiner, what })?;
            }
            all.push((parameter.kind, array, start..end));
        }
        Ok(Self { length, all })
    }

    /// The integers, with each constant, and each number that may be a constant, replaced.
    fn renumbered<T>(
        self,
        contents: &Contents<T>,
        constant: impl Fn(Constant, i32) -> Option<i32>,
        number: impl Fn(Constant, i32) -> Option<i32>,
    ) -> Result<Vec<i32>, Error> {
        let combiner = contents.combiner.name();
        let mut integers = contents.integers.clone();
        let replace = |values: &mut [i32], what, with: &dyn Fn(i32) -> Option<i32>| {
            for value in values {
                *value = with(*value).ok_or(Error::Constant { combiner, what, value: *value })?;
            }
            Ok::<(), Error>(())
        };
        for (kind, _, range) in self.all {
            match kind {
                ArgumentKind::Order => {
                    let order = |value| constant(Constant::Order, value);
                    replace(&mut integers[range], "an order", &order)?;
                }
                ArgumentKind::Distributions => {
                    let (kinds, lengths) = integers[range.clone()].split_at_mut(range.len() / 2);
                    let known = |value| constant(Constant::Distribution, value);
                    replace(kinds, "a distribution", &known)?;
                    let length = |value| number(Constant::Darg, value);
                    replace(lengths, "a distribution argument", &length)?;
                }
                ArgumentKind::Digits | ArgumentKind::Range => {
                    let digits = |value| number(Constant::Undefined, value);
                    replace(&mut integers[range], "a precision or a range", &digits)?;
                }
                ArgumentKind::Length(_)
                | ArgumentKind::Count(_)
                | ArgumentKind::Offset(_)
                | ArgumentKind::Counts(_)
                | ArgumentKind::Offsets(_)
                | ArgumentKind::Type
                | ArgumentKind::Types => {}
            }
        }
        Ok(integers)
    }
}

/// The integers of contents, converted from the library's numbering to the ABI's.
pub(super) fn in_abi<T>(contents: &Contents<T>) -> Result<Vec<i32>, Error> {
    // A number is unchanged, unless the ABI gives it another meaning.
    let number = |kind, value| match (to_abi(kind, value), from_abi(kind, value)) {
        (Some(abi), _) => Some(abi),
        (None, Some(_)) => None,
        (None, None) => Some(value),
    };
    Places::in_arrays(contents, contents.datatypes.len())?.renumbered(contents, to_abi, number)
}
