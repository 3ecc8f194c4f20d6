//! The layouts of `DDTBench` (Schneider, Gerstenberger, Hoefler: "Micro-applications for communication data access
//! patterns and MPI datatypes"), with the loops that the applications used before they had datatypes.
//!
//! In every layout, `x` varies fastest. Both directions use the layout of the sender.

mod fft;
mod lammps;
mod loops;
mod milc;
mod nas;
mod specfem;
mod wrf;

use anyhow::Result;
use dtype_runtime::Type;
use zerocopy::{FromBytes, Immutable};
/// The traits that a visitor needs to allocate elements.
pub use zerocopy::{FromZeros, IntoBytes};

use crate::noise::Random;

/// The elements of a layout.
pub trait Element:
    Copy + PartialEq + FromBytes + FromZeros + IntoBytes + Immutable + 'static
{
}

impl<E: Copy + PartialEq + FromBytes + IntoBytes + Immutable + 'static> Element for E {}

/// A hand-written layout.
pub trait ByHand: 'static {
    /// The element type of the memory.
    type Element: Element;

    /// Copies the elements of the layout from the memory to `out`, in order.
    fn pack(&self, memory: &[Self::Element], out: &mut [Self::Element]);

    /// Copies the packed elements back to the memory.
    fn unpack(&self, packed: &[Self::Element], memory: &mut [Self::Element]);
}

/// Instances of a type in a memory, and the same data by hand.
#[derive(Debug)]
pub struct Pattern<H> {
    /// The application and the direction.
    pub family: &'static str,
    /// The size of the grid, of the list, and the like.
    pub parameters: String,
    /// The type of one instance.
    pub ty: Type,
    /// The number of instances.
    pub count: usize,
    /// The element at which the first instance starts.
    pub base: usize,
    /// The memory's length in elements.
    pub length: usize,
    /// The loops.
    pub by_hand: H,
}

/// Work that is done with each pattern.
pub trait Visitor {
    /// Does the work with one pattern.
    ///
    /// # Errors
    ///
    /// What went wrong with the pattern.
    fn visit<H: ByHand>(&mut self, pattern: Pattern<H>) -> Result<()>;
}

/// A pattern of any element type.
pub trait Visit<V> {
    /// Passes the pattern to the visitor.
    ///
    /// # Errors
    ///
    /// The visitor's.
    fn visit(self: Box<Self>, visitor: &mut V) -> Result<()>;
}

impl<H: ByHand, V: Visitor> Visit<V> for Pattern<H> {
    fn visit(self: Box<Self>, visitor: &mut V) -> Result<()> {
        visitor.visit(*self)
    }
}

/// The patterns of one family, from the smallest to the largest.
pub type Patterns<V> = Vec<Box<dyn Visit<V>>>;

type Family<V> = Result<Patterns<V>>;

/// The patterns of all families.
///
/// # Errors
///
/// None, unless a layout is wrong.
pub fn families<V: Visitor>() -> Result<[Patterns<V>; 14]> {
    Ok([
        nas::lu_x()?,
        nas::lu_y()?,
        nas::mg_x()?,
        nas::mg_y()?,
        nas::mg_z()?,
        milc::su3_zd()?,
        fft::gather()?,
        fft::scatter()?,
        lammps::full()?,
        lammps::atomic()?,
        specfem::oc()?,
        specfem::cm()?,
        specfem::mt()?,
        wrf::all()?,
    ])
}

/// The first `number` entries of a random order of the numbers below `all`: the applications shuffle their lists, too. The
/// order is the same in every run.
pub fn shuffled(number: u32, all: u32) -> Vec<u32> {
    let mut order: Vec<u32> = (0..all).collect();
    let mut random = Random::new(u64::from(all));
    for place in 0..number {
        order.swap(place as usize, (place + random.below(all - place)) as usize);
    }
    order.truncate(number as usize);
    order
}

/// The numbers of a list as displacements in elements: `each` times the number.
fn displacements(list: &[u32], each: i64) -> Vec<i64> {
    list.iter().map(|&place| each * i64::from(place)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_name_each_place_once() {
        let mut list = shuffled(300, 1000);
        assert_ne!(list, shuffled(300, 999));
        list.sort_unstable();
        list.dedup();
        assert_eq!(list.len(), 300);
        assert!(list.iter().all(|&place| place < 1000));
    }
}
