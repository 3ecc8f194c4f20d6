//! Whether a layout names the values that the registered memory holds.
//!
//! The memory consists of records, one after another, so the contents at a displacement depend only on its remainder modulo the
//! record's stride. The check walks the layout's description instead of its elements: a loop is a set of remainders, which has
//! at most as many members as the record has bytes, and exactly one if the loop's stride is a multiple of the record's.
//!
//! ```text
//! records of 16 bytes: f64 at 0, i32 at 8
//! layout: loop, 1000 times, stride 32        remainders {0}
//!           loop, 2 times, stride 8          remainders {0, 8}
//!             f64 at 0                       at 0 an f64, good; at 8 an i32: refused
//! ```

use std::collections::{BTreeMap, BTreeSet};

use dtype_runtime::types::Entry;
use dtype_runtime::{Basic, Type};

use crate::error::Error;

/// The values of a record and their displacements.
pub(crate) struct Record {
    /// The distance after which the contents of the memory repeat.
    period: i64,
    values: BTreeMap<i64, Basic>,
}

impl Record {
    pub(crate) fn new(ty: &Type) -> Self {
        let mut runs = ty.signature().runs();
        // In an array of values that touch, the contents repeat after each value.
        let dense = ty.size().cast_signed() == ty.extent() && ty.lb() == 0;
        if let (Some((basic, _)), None, true) = (runs.next(), runs.next(), dense) {
            return Self { period: size(basic), values: BTreeMap::from([(0, basic)]) };
        }
        let values = ty.type_map().map(|entry| (entry.displacement, entry.basic));
        Self { period: ty.extent(), values: values.collect() }
    }

    /// Checks that the layout, with its origin at a displacement, names at each displacement the basic datatype that is there.
    pub(crate) fn check(&self, layout: &Type, origin: i64) -> Result<(), Error> {
        if layout.size() == 0 {
            return Ok(());
        }
        // Remainders of the repetitions of the loops around an entry.
        let mut loops = vec![BTreeSet::from([self.remainder(origin.into())])];
        for entry in layout.description().entries() {
            let Some(starts) = loops.last() else { break };
            match entry {
                Entry::Loop(head) => {
                    let inner = starts
                        .iter()
                        .flat_map(|&start| self.repeated(start, head.loops, head.extent));
                    let inner = inner.collect();
                    loops.push(inner);
                }
                Entry::Elem(elem) => {
                    let at =
                        |&start: &i64| self.remainder(i128::from(start) + i128::from(elem.disp));
                    let found = starts
                        .iter()
                        .map(at)
                        .flat_map(|at| self.repeated(at, elem.count, elem.extent));
                    for at in found {
                        let memory = self.values.get(&at).copied();
                        if memory != Some(elem.basic) {
                            let memory = memory.map_or("no value", Basic::name);
                            let displacement = origin.wrapping_add(elem.disp);
                            let layout = elem.basic.name();
                            return Err(Error::RemoteLayout { displacement, layout, memory });
                        }
                    }
                }
                Entry::EndLoop(_) => drop(loops.pop()),
            }
        }
        Ok(())
    }

    fn remainder(&self, displacement: i128) -> i64 {
        // A record without data has no extent, and no layout with data fits it.
        let remainder = displacement.rem_euclid(i128::from(self.period.max(1)));
        #[expect(clippy::cast_possible_truncation, reason = "it is less than the period")]
        let remainder = remainder as i64;
        remainder
    }

    /// The different remainders of the repetitions.
    fn repeated(&self, start: i64, count: u64, stride: i64) -> impl Iterator<Item = i64> + '_ {
        let step = self.remainder(stride.into());
        (0..count).scan(start, move |at, index| {
            if index > 0 {
                *at = self.remainder(i128::from(*at) + i128::from(step));
                if *at == start {
                    return None;
                }
            }
            Some(*at)
        })
    }
}

fn size(basic: Basic) -> i64 {
    Type::basic(basic).size().cast_signed()
}

#[cfg(test)]
mod tests;
