//! A constructor as a call with arguments, in the order that MPI and this crate share.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use crate::basic::Basic;
use crate::types::{Constructor, Distribution, Fortran, Integers, Member, Order, Type};

/// One call.
pub(super) struct Call<'a> {
    /// The name here.
    pub(super) rust: &'static str,
    /// MPI's name, without what the form with large counts adds.
    pub(super) mpi: &'static str,
    pub(super) arguments: Vec<Argument<'a>>,
}

/// One argument of a call.
pub(super) enum Argument<'a> {
    /// A number.
    Number(Form, i128),
    /// The length of the lists behind it, which only C needs.
    Length(usize),
    /// Numbers, and what the list is called.
    List(&'static str, Form, Numbers<'a>),
    /// Decimal digits, or an exponent range.
    Digits(Option<u32>),
    Order(Order),
    /// One argument here, two lists in C.
    Distributions(&'a [Distribution]),
    /// A named datatype.
    Basic(Basic),
    Type(&'a Type),
    /// The types of the members.
    Types(&'a [Member]),
}

/// What a number is in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// An `int`.
    Int,
    /// An `int`, or in the large form a count.
    Count,
    /// An address, or in the large form a count.
    Address,
}

/// A list of numbers where it is kept.
#[derive(Clone, Copy)]
pub(super) enum Numbers<'a> {
    Counts(&'a [u64]),
    Lengths(&'a Integers<u64>),
    Places(&'a Integers<i64>),
    Blocklengths(&'a [Member]),
    Displacements(&'a [Member]),
}

impl<'a> Numbers<'a> {
    pub(super) fn iter(self) -> Box<dyn Iterator<Item = i128> + 'a> {
        match self {
            Self::Counts(list) => Box::new(list.iter().map(|&n| n.into())),
            Self::Lengths(list) => Box::new(list.iter().map(i128::from)),
            Self::Places(list) => Box::new(list.iter().map(i128::from)),
            Self::Blocklengths(members) => Box::new(members.iter().map(|m| m.blocklength.into())),
            Self::Displacements(members) => Box::new(members.iter().map(|m| m.displacement.into())),
        }
    }
}

impl<'a> Call<'a> {
    /// The call that made a type; `None` for one that has a name instead.
    pub(super) fn of(ty: &'a Type) -> Option<Self> {
        use Form::{Address, Count, Int};
        let count = |n: u64| Argument::Number(Count, n.into());
        let address = |n: i64| Argument::Number(Address, n.into());
        let lengths = |list| Argument::List("blocklengths", Count, Numbers::Lengths(list));
        let places = |form, list| Argument::List("displacements", form, Numbers::Places(list));
        let (rust, mpi, arguments) = match ty.constructor() {
            Constructor::Basic(_)
            | Constructor::LbMarker
            | Constructor::UbMarker
            | Constructor::Pair { name: Some(_), .. } => return None,
            Constructor::Pair { name: None, value, index, .. } => {
                let arguments = vec![Argument::Basic(*value), Argument::Basic(*index)];
                ("value_index", "MPI_Type_get_value_index", arguments)
            }
            Constructor::Fortran { request, .. } => fortran(*request),
            Constructor::Dup { old } => ("dup", "MPI_Type_dup", vec![Argument::Type(old)]),
            Constructor::Contiguous { count: n, old } => {
                ("contiguous", "MPI_Type_contiguous", vec![count(*n), Argument::Type(old)])
            }
            Constructor::Vector { count: n, blocklength, stride, old } => {
                let stride = Argument::Number(Count, (*stride).into());
                let arguments = vec![count(*n), count(*blocklength), stride, Argument::Type(old)];
                ("vector", "MPI_Type_vector", arguments)
            }
            Constructor::Hvector { count: n, blocklength, stride, old } => {
                let stride = address(*stride);
                let arguments = vec![count(*n), count(*blocklength), stride, Argument::Type(old)];
                ("hvector", "MPI_Type_create_hvector", arguments)
            }
            Constructor::Indexed { blocklengths, displacements, old } => {
                let (n, displacements) =
                    (Argument::Length(displacements.len()), places(Count, displacements));
                let arguments = vec![n, lengths(blocklengths), displacements, Argument::Type(old)];
                ("indexed", "MPI_Type_indexed", arguments)
            }
            Constructor::Hindexed { blocklengths, displacements, old } => {
                let (n, displacements) =
                    (Argument::Length(displacements.len()), places(Address, displacements));
                let arguments = vec![n, lengths(blocklengths), displacements, Argument::Type(old)];
                ("hindexed", "MPI_Type_create_hindexed", arguments)
            }
            Constructor::IndexedBlock { blocklength, displacements, old } => {
                let (n, displacements) =
                    (Argument::Length(displacements.len()), places(Count, displacements));
                let arguments = vec![n, count(*blocklength), displacements, Argument::Type(old)];
                ("indexed_block", "MPI_Type_create_indexed_block", arguments)
            }
            Constructor::HindexedBlock { blocklength, displacements, old } => {
                let (n, displacements) =
                    (Argument::Length(displacements.len()), places(Address, displacements));
                let arguments = vec![n, count(*blocklength), displacements, Argument::Type(old)];
                ("hindexed_block", "MPI_Type_create_hindexed_block", arguments)
            }
            Constructor::Structure { members } => {
                let arguments = vec![
                    Argument::Length(members.len()),
                    Argument::List("blocklengths", Count, Numbers::Blocklengths(members)),
                    Argument::List("displacements", Address, Numbers::Displacements(members)),
                    Argument::Types(members),
                ];
                ("structure", "MPI_Type_create_struct", arguments)
            }
            Constructor::Subarray { arguments, old, .. } => {
                let list = |name, list| Argument::List(name, Count, Numbers::Counts(list));
                let arguments = vec![
                    Argument::Length(arguments.sizes().len()),
                    list("sizes", arguments.sizes()),
                    list("subsizes", arguments.subsizes()),
                    list("starts", arguments.starts()),
                    Argument::Order(arguments.order),
                    Argument::Type(old),
                ];
                ("subarray", "MPI_Type_create_subarray", arguments)
            }
            Constructor::Darray { arguments, old, .. } => {
                let list = |name, form, list| Argument::List(name, form, Numbers::Counts(list));
                let arguments = vec![
                    Argument::Number(Int, arguments.size.into()),
                    Argument::Number(Int, arguments.rank.into()),
                    Argument::Length(arguments.gsizes.len()),
                    list("gsizes", Count, &arguments.gsizes),
                    Argument::Distributions(&arguments.distributions),
                    list("psizes", Int, &arguments.psizes),
                    Argument::Order(arguments.order),
                    Argument::Type(old),
                ];
                ("darray", "MPI_Type_create_darray", arguments)
            }
            Constructor::Resized { old } => {
                let (lb, extent) = ty.resize();
                let arguments = vec![Argument::Type(old), address(lb), address(extent)];
                ("resized", "MPI_Type_create_resized", arguments)
            }
        };
        Some(Self { rust, mpi, arguments })
    }

    /// The types among the arguments.
    pub(super) fn types(&self) -> impl Iterator<Item = &'a Type> {
        self.arguments.iter().flat_map(|argument| {
            let (one, members): (Option<&'a Type>, &'a [Member]) = match argument {
                Argument::Type(ty) => (Some(ty), &[]),
                Argument::Types(members) => (None, members),
                _ => (None, &[]),
            };
            one.into_iter().chain(members.iter().map(|member| &member.ty))
        })
    }
}

fn fortran<'a>(request: Fortran) -> (&'static str, &'static str, Vec<Argument<'a>>) {
    match request {
        Fortran::Real { precision, range } => {
            let arguments = vec![Argument::Digits(precision), Argument::Digits(range)];
            ("f90_real", "MPI_Type_create_f90_real", arguments)
        }
        Fortran::Complex { precision, range } => {
            let arguments = vec![Argument::Digits(precision), Argument::Digits(range)];
            ("f90_complex", "MPI_Type_create_f90_complex", arguments)
        }
        Fortran::Integer { range } => {
            let arguments = vec![Argument::Number(Form::Int, range.into())];
            ("f90_integer", "MPI_Type_create_f90_integer", arguments)
        }
    }
}
