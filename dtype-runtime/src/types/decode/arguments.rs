//! The arguments of each constructor, in the order of its call.

use alloc::vec;
use alloc::vec::Vec;

use super::Combiner;
use crate::types::array::{Darray, Distribution, Order};
use crate::types::subarray::Subarray;
use crate::types::{Constructor, Fortran, Type};

/// An argument that is a number. Wider than any array that it goes to, so that nothing is lost before
/// it is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Argument {
    /// An `int` in every form of the call.
    Int(i128),
    /// An `int` in the small form, a count in the large.
    Count(i128),
    /// An address in the small form, a count in the large.
    Address(i64),
}

/// Whether one of the arguments needs the large form.
pub(super) fn are_large(arguments: &[Argument]) -> bool {
    arguments.iter().any(|argument| match argument {
        Argument::Count(value) => i32::try_from(*value).is_err(),
        Argument::Int(_) | Argument::Address(_) => false,
    })
}

/// The numbers of the MPI-5.0 ABI.
pub(super) const ORDER_C: i32 = 12;
pub(super) const ORDER_FORTRAN: i32 = 15;
pub(super) const DISTRIBUTE_NONE: i32 = 16;
pub(super) const DISTRIBUTE_BLOCK: i32 = 17;
pub(super) const DISTRIBUTE_CYCLIC: i32 = 18;
pub(super) const DISTRIBUTE_DFLT_DARG: i32 = 19;
/// `MPI_UNDEFINED`, the same in every library.
pub(super) const UNDEFINED: i32 = -32766;

fn order(order: Order) -> Argument {
    Argument::Int(
        match order {
            Order::C => ORDER_C,
            Order::Fortran => ORDER_FORTRAN,
        }
        .into(),
    )
}

fn count(value: impl Into<i128>) -> Argument {
    Argument::Count(value.into())
}

fn length<T>(array: &[T]) -> i128 {
    array.len() as i128
}

impl Type {
    pub(super) fn combiner(&self) -> Combiner {
        match self.constructor() {
            Constructor::Basic(_)
            | Constructor::LbMarker
            | Constructor::UbMarker
            | Constructor::Pair { name: Some(_), .. } => Combiner::Named,
            Constructor::Pair { name: None, .. } => Combiner::ValueIndex,
            Constructor::Fortran { request, .. } => match request {
                Fortran::Real { .. } => Combiner::F90Real,
                Fortran::Complex { .. } => Combiner::F90Complex,
                Fortran::Integer { .. } => Combiner::F90Integer,
            },
            Constructor::Dup { .. } => Combiner::Dup,
            Constructor::Contiguous { .. } => Combiner::Contiguous,
            Constructor::Vector { .. } => Combiner::Vector,
            Constructor::Hvector { .. } => Combiner::Hvector,
            Constructor::Indexed { .. } => Combiner::Indexed,
            Constructor::Hindexed { .. } => Combiner::Hindexed,
            Constructor::IndexedBlock { .. } => Combiner::IndexedBlock,
            Constructor::HindexedBlock { .. } => Combiner::HindexedBlock,
            Constructor::Structure { .. } => Combiner::Structure,
            Constructor::Subarray { .. } => Combiner::Subarray,
            Constructor::Darray { .. } => Combiner::Darray,
            Constructor::Resized { .. } => Combiner::Resized,
        }
    }

    /// The datatypes among the arguments.
    pub(super) fn parts(&self) -> Vec<Type> {
        let constructor = self.constructor();
        if let Constructor::Pair { name: None, value, index, .. } = constructor {
            let part = |basic| Type::basic(basic).by(self.bounds());
            return vec![part(*value), part(*index)];
        }
        (0..).map_while(|index| constructor.part(index).cloned()).collect()
    }

    /// The numbers among the arguments.
    pub(super) fn arguments(&self) -> Vec<Argument> {
        match self.constructor() {
            Constructor::Basic(_)
            | Constructor::LbMarker
            | Constructor::UbMarker
            | Constructor::Pair { .. }
            | Constructor::Dup { .. } => Vec::new(),
            Constructor::Fortran { request, .. } => fortran(*request),
            Constructor::Contiguous { count: n, .. } => vec![count(*n)],
            Constructor::Vector { count: n, blocklength, stride, .. } => {
                vec![count(*n), count(*blocklength), count(*stride)]
            }
            Constructor::Hvector { count: n, blocklength, stride, .. } => {
                vec![count(*n), count(*blocklength), Argument::Address(*stride)]
            }
            Constructor::Indexed { blocklengths, displacements, .. } => {
                let mut all = vec![count(blocklengths.len() as i128)];
                all.extend(blocklengths.iter().map(count));
                all.extend(displacements.iter().map(count));
                all
            }
            Constructor::Hindexed { blocklengths, displacements, .. } => {
                let mut all = vec![count(blocklengths.len() as i128)];
                all.extend(blocklengths.iter().map(count));
                all.extend(displacements.iter().map(Argument::Address));
                all
            }
            Constructor::IndexedBlock { blocklength, displacements, .. } => {
                let mut all = vec![count(displacements.len() as i128), count(*blocklength)];
                all.extend(displacements.iter().map(count));
                all
            }
            Constructor::HindexedBlock { blocklength, displacements, .. } => {
                let mut all = vec![count(displacements.len() as i128), count(*blocklength)];
                all.extend(displacements.iter().map(Argument::Address));
                all
            }
            Constructor::Structure { members } => {
                let mut all = vec![count(length(members))];
                all.extend(members.iter().map(|member| count(member.blocklength)));
                all.extend(members.iter().map(|member| Argument::Address(member.displacement)));
                all
            }
            Constructor::Subarray { arguments, .. } => subarray(arguments),
            Constructor::Darray { arguments, .. } => darray(arguments),
            Constructor::Resized { .. } => {
                let (lb, extent) = self.resize();
                vec![Argument::Address(lb), Argument::Address(extent)]
            }
        }
    }
}

fn fortran(request: Fortran) -> Vec<Argument> {
    let int = |value: Option<u32>| Argument::Int(value.map_or(UNDEFINED.into(), i128::from));
    match request {
        Fortran::Real { precision, range } | Fortran::Complex { precision, range } => {
            vec![int(precision), int(range)]
        }
        Fortran::Integer { range } => vec![int(Some(range))],
    }
}

fn subarray(arguments: &Subarray) -> Vec<Argument> {
    let mut all = vec![Argument::Int(length(arguments.sizes()))];
    let lists = [arguments.sizes(), arguments.subsizes(), arguments.starts()];
    all.extend(lists.into_iter().flatten().map(|&n| count(n)));
    all.push(order(arguments.order));
    all
}

fn darray(arguments: &Darray) -> Vec<Argument> {
    let Darray { size, rank, gsizes, distributions, psizes, order: o, .. } = arguments;
    let int = |value: i128| Argument::Int(value);
    let mut all = vec![int((*size).into()), int((*rank).into()), int(length(gsizes))];
    all.extend(gsizes.iter().map(|&n| count(n)));
    all.extend(distributions.iter().map(|distribution| {
        int(match distribution {
            Distribution::None => DISTRIBUTE_NONE,
            Distribution::Block(_) => DISTRIBUTE_BLOCK,
            Distribution::Cyclic(_) => DISTRIBUTE_CYCLIC,
        }
        .into())
    }));
    all.extend(distributions.iter().map(|distribution| match distribution {
        Distribution::Block(Some(darg)) | Distribution::Cyclic(Some(darg)) => int((*darg).into()),
        _ => int(DISTRIBUTE_DFLT_DARG.into()),
    }));
    all.extend(psizes.iter().map(|&n| int(n.into())));
    all.push(order(*o));
    all
}
