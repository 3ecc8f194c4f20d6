//! The constructors as calls: one table of their names and parameters.
//!
//! Envelope and contents, the rules for bounds, marshalling, the calling sequences, the tree, the command's
//! notation and the bridge to MPI all read this table. To add a constructor, add a row here, an arm in
//! [`Type::call`] and an arm in [`Call::make`]; the compiler points to the rest.
//!
//! ```
//! use dtype_runtime::types::{Argument, Combiner};
//! use dtype_runtime::{Basic, Type};
//! let column = Type::vector(4, 1, 6, &Type::basic(Basic::F64))?;
//! let call = column.call().ok_or("a named datatype")?;
//! let signature = call.combiner.signature().ok_or("a named datatype")?;
//! assert_eq!(signature.mpi_name, "MPI_Type_vector");
//! let names: Vec<&str> = signature.parameters.iter().map(|parameter| parameter.name).collect();
//! assert_eq!(names, ["count", "blocklength", "stride", "type"]);
//! assert!(matches!(call.arguments[2], Argument::Offset(6)));
//! assert_eq!(call.make()?, column);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;
use core::borrow::Borrow;

use super::array::{Darray, Distribution, Order};
use super::equality::all_equal;
use super::{Constructor, Fortran, Type};
use crate::error::Error;

/// How a constructor is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Signature {
    /// The function's name in this crate, `vector`.
    pub name: &'static str,
    /// The function's name in MPI, `MPI_Type_vector`; the large-count form adds `_c`.
    pub mpi_name: &'static str,
    /// The parameters, in the order of both calls.
    pub parameters: &'static [Parameter],
}

/// A parameter of a constructor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameter {
    /// The name in this crate, `displacements`.
    pub name: &'static str,
    /// The name in MPI, `array_of_displacements`.
    pub mpi_name: &'static str,
    /// What it takes.
    pub kind: Kind,
}

/// What a parameter takes.
///
/// No variant will be added without a new version of this crate's interface: code that prints or reads calls has
/// to know all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The length of the lists in the call. Only C's calls take it; the lists here know their lengths.
    Length(CType),
    /// A number of elements, blocks or processes.
    Count(CType),
    /// A stride, a displacement, a bound or an extent: in bytes if it is an address, otherwise in extents of the
    /// old type.
    Offset(CType),
    /// A list of counts.
    Counts(CType),
    /// A list of offsets.
    Offsets(CType),
    /// A datatype.
    Type,
    /// A list of datatypes.
    Types,
    /// An order of an array's dimensions.
    Order,
    /// A list of distributions; two lists in C, of the distributions and of their arguments.
    Distributions,
    /// A number of decimal digits or a decimal exponent range, or neither.
    Digits,
    /// A decimal exponent range.
    Range,
}

/// The type of a number in the two forms of a call in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CType {
    /// An `int` in both forms.
    Int,
    /// An `int`, and an `MPI_Count` in the large-count form.
    Count,
    /// An `MPI_Aint`, and an `MPI_Count` in the large-count form.
    Address,
}

/// An argument of a call. `T` is the type of a datatype argument, for example `Type` or `&Type`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument<'a, T> {
    /// Of [`Kind::Count`].
    Count(u64),
    /// Of [`Kind::Offset`].
    Offset(i64),
    /// Of [`Kind::Counts`].
    Counts(Cow<'a, [u64]>),
    /// Of [`Kind::Offsets`].
    Offsets(Cow<'a, [i64]>),
    /// Of [`Kind::Type`].
    Type(T),
    /// Of [`Kind::Types`].
    Types(Vec<T>),
    /// Of [`Kind::Order`].
    Order(Order),
    /// Of [`Kind::Distributions`].
    Distributions(Cow<'a, [Distribution]>),
    /// Of [`Kind::Digits`].
    Digits(Option<u32>),
    /// Of [`Kind::Range`].
    Range(u32),
}

/// A constructor with its arguments: from [`Type::call`], or assembled by hand for [`make`](Self::make).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call<'a, T = &'a Type> {
    /// The constructor.
    pub combiner: Combiner,
    /// The arguments: one for each of the signature's parameters, except for parameters of [`Kind::Length`].
    pub arguments: Vec<Argument<'a, T>>,
}

const fn parameter(name: &'static str, mpi_name: &'static str, kind: Kind) -> Parameter {
    Parameter { name, mpi_name, kind }
}

const LENGTH: Parameter = parameter("count", "count", Kind::Length(CType::Count));
const NDIMS: Parameter = parameter("ndims", "ndims", Kind::Length(CType::Int));
const COUNT: Parameter = parameter("count", "count", Kind::Count(CType::Count));
const BLOCKLENGTH: Parameter = parameter("blocklength", "blocklength", Kind::Count(CType::Count));
const BLOCKLENGTHS: Parameter = counts("blocklengths", "array_of_blocklengths");
const STRIDE: Parameter = parameter("stride", "stride", Kind::Offset(CType::Count));
const BYTE_STRIDE: Parameter = parameter("stride", "stride", Kind::Offset(CType::Address));
const DISPLACEMENTS: Parameter = displacements(CType::Count);
const BYTE_DISPLACEMENTS: Parameter = displacements(CType::Address);
const OLD: Parameter = parameter("type", "oldtype", Kind::Type);
const ORDER: Parameter = parameter("order", "order", Kind::Order);
const PRECISION: Parameter = parameter("precision", "p", Kind::Digits);
const RANGE: Parameter = parameter("range", "r", Kind::Digits);

const fn counts(name: &'static str, mpi_name: &'static str) -> Parameter {
    parameter(name, mpi_name, Kind::Counts(CType::Count))
}

const fn displacements(number: CType) -> Parameter {
    parameter("displacements", "array_of_displacements", Kind::Offsets(number))
}

macro_rules! combiners {
    ($(
        $(#[doc = $doc:literal])+
        $variant:ident = $abi:literal, $name:literal, $mpi:literal, [$($parameter:expr),* $(,)?];
    )+) => {
        /// The call that made a datatype.
        ///
        /// The discriminants are the numbers of the MPI-5.0 ABI.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
        #[non_exhaustive]
        #[repr(i32)]
        pub enum Combiner {
            /// A named predefined datatype, or a marker (`MPI_COMBINER_NAMED`).
            Named = 101,
            $( $(#[doc = $doc])+ $variant = $abi, )+
        }

        impl Combiner {
            /// Every combiner, in the order of [`abi_value`](Self::abi_value).
            pub const ALL: &'static [Self] = &[Self::Named, $( Self::$variant, )+];

            /// The constructor's name in this crate.
            pub const fn name(self) -> &'static str {
                match self {
                    Self::Named => "named",
                    $( Self::$variant => $name, )+
                }
            }

            /// How the constructor is called; `None` for a named datatype, which is not made by a call.
            pub const fn signature(self) -> Option<&'static Signature> {
                match self {
                    Self::Named => None,
                    $( Self::$variant => const {
                        const PARAMETERS: &[Parameter] = &[$($parameter),*];
                        Some(&Signature { name: $name, mpi_name: $mpi, parameters: PARAMETERS })
                    }, )+
                }
            }
        }
    };
}

combiners! {
    /// [`Type::dup`] (`MPI_COMBINER_DUP`).
    Dup = 102, "dup", "MPI_Type_dup", [OLD];
    /// [`Type::contiguous`] (`MPI_COMBINER_CONTIGUOUS`).
    Contiguous = 103, "contiguous", "MPI_Type_contiguous", [COUNT, OLD];
    /// [`Type::vector`] (`MPI_COMBINER_VECTOR`).
    Vector = 104, "vector", "MPI_Type_vector", [COUNT, BLOCKLENGTH, STRIDE, OLD];
    /// [`Type::hvector`] (`MPI_COMBINER_HVECTOR`).
    Hvector = 105, "hvector", "MPI_Type_create_hvector", [COUNT, BLOCKLENGTH, BYTE_STRIDE, OLD];
    /// [`Type::indexed`] (`MPI_COMBINER_INDEXED`).
    Indexed = 106, "indexed", "MPI_Type_indexed", [LENGTH, BLOCKLENGTHS, DISPLACEMENTS, OLD];
    /// [`Type::hindexed`] (`MPI_COMBINER_HINDEXED`).
    Hindexed = 107, "hindexed", "MPI_Type_create_hindexed",
        [LENGTH, BLOCKLENGTHS, BYTE_DISPLACEMENTS, OLD];
    /// [`Type::indexed_block`] (`MPI_COMBINER_INDEXED_BLOCK`).
    IndexedBlock = 108, "indexed_block", "MPI_Type_create_indexed_block",
        [LENGTH, BLOCKLENGTH, DISPLACEMENTS, OLD];
    /// [`Type::hindexed_block`] (`MPI_COMBINER_HINDEXED_BLOCK`).
    HindexedBlock = 109, "hindexed_block", "MPI_Type_create_hindexed_block",
        [LENGTH, BLOCKLENGTH, BYTE_DISPLACEMENTS, OLD];
    /// [`Type::structure`] (`MPI_COMBINER_STRUCT`).
    Structure = 110, "structure", "MPI_Type_create_struct",
        [LENGTH, BLOCKLENGTHS, BYTE_DISPLACEMENTS, parameter("types", "array_of_types", Kind::Types)];
    /// [`Type::subarray`] (`MPI_COMBINER_SUBARRAY`).
    Subarray = 111, "subarray", "MPI_Type_create_subarray",
        [NDIMS, counts("sizes", "array_of_sizes"), counts("subsizes", "array_of_subsizes"),
         counts("starts", "array_of_starts"), ORDER, OLD];
    /// [`Type::darray`] (`MPI_COMBINER_DARRAY`).
    Darray = 112, "darray", "MPI_Type_create_darray",
        [parameter("size", "size", Kind::Count(CType::Int)),
         parameter("rank", "rank", Kind::Count(CType::Int)),
         NDIMS, counts("gsizes", "array_of_gsizes"),
         parameter("distributions", "array_of_distribs", Kind::Distributions),
         parameter("psizes", "array_of_psizes", Kind::Counts(CType::Int)), ORDER, OLD];
    /// [`Type::f90_real`] (`MPI_COMBINER_F90_REAL`).
    F90Real = 113, "f90_real", "MPI_Type_create_f90_real", [PRECISION, RANGE];
    /// [`Type::f90_complex`] (`MPI_COMBINER_F90_COMPLEX`).
    F90Complex = 114, "f90_complex", "MPI_Type_create_f90_complex", [PRECISION, RANGE];
    /// [`Type::f90_integer`] (`MPI_COMBINER_F90_INTEGER`).
    F90Integer = 115, "f90_integer", "MPI_Type_create_f90_integer",
        [parameter("range", "r", Kind::Range)];
    /// [`Type::resized`] (`MPI_COMBINER_RESIZED`).
    Resized = 116, "resized", "MPI_Type_create_resized",
        [OLD, parameter("lb", "lb", Kind::Offset(CType::Address)),
         parameter("extent", "extent", Kind::Offset(CType::Address))];
    /// [`Type::value_index`] without a name (`MPI_COMBINER_VALUE_INDEX`).
    ValueIndex = 117, "value_index", "MPI_Type_get_value_index",
        [parameter("value", "value_type", Kind::Type), parameter("index", "index_type", Kind::Type)];
}

impl Combiner {
    /// The number of the MPI-5.0 ABI.
    pub const fn abi_value(self) -> i32 {
        self as i32
    }

    /// The combiner with this number in the MPI-5.0 ABI.
    ///
    /// ```
    /// use dtype_runtime::types::Combiner;
    /// assert_eq!(Combiner::from_abi_value(104), Some(Combiner::Vector));
    /// assert_eq!(Combiner::from_abi_value(100), None);
    /// ```
    pub fn from_abi_value(value: i32) -> Option<Self> {
        Self::ALL.iter().copied().find(|combiner| combiner.abi_value() == value)
    }
}

/// `MPI_UNDEFINED`, the same in every library.
pub(super) const UNDEFINED: i32 = -32766;
/// `MPI_DISTRIBUTE_DFLT_DARG` of the MPI-5.0 ABI.
pub(super) const DFLT_DARG: i32 = 19;

impl Order {
    /// The number of the MPI-5.0 ABI.
    pub const fn abi_value(self) -> i32 {
        match self {
            Self::C => 12,
            Self::Fortran => 15,
        }
    }
}

impl Distribution {
    /// The numbers of the MPI-5.0 ABI for the distribution and its argument.
    pub(super) fn abi_values(self) -> (i32, i128) {
        let argument = |length: Option<u64>| length.map_or(DFLT_DARG.into(), i128::from);
        match self {
            Self::None => (16, DFLT_DARG.into()),
            Self::Block(length) => (17, argument(length)),
            Self::Cyclic(length) => (18, argument(length)),
        }
    }

    /// The distribution that these numbers represent, if the first is one of the ABI's.
    pub(super) fn from_abi_values(kind: i32, length: Option<u64>) -> Option<Self> {
        let all = [Self::None, Self::Block(length), Self::Cyclic(length)];
        all.into_iter().find(|distribution| distribution.abi_values().0 == kind)
    }

    /// Whether its argument is the number that means the default in the MPI-5.0 ABI.
    pub(crate) fn reads_as_default(self) -> bool {
        match self {
            Self::Block(Some(length)) | Self::Cyclic(Some(length)) => {
                i128::from(length) == DFLT_DARG.into()
            }
            Self::None | Self::Block(None) | Self::Cyclic(None) => false,
        }
    }
}

impl Type {
    /// The call that made this type, with its original arguments; `None` for a [named](Self::named) datatype. It
    /// takes time linear in the lengths of the lists.
    ///
    /// ```
    /// use dtype_runtime::types::{Argument, Combiner};
    /// use dtype_runtime::{Basic, Type};
    /// let byte = Type::basic(Basic::U8);
    /// assert!(byte.call().is_none());
    /// let wide = Type::resized(&byte, -4, 16)?;
    /// let call = wide.call().unwrap();
    /// assert_eq!(call.combiner, Combiner::Resized);
    /// assert_eq!(call.arguments[1..], [Argument::Offset(-4), Argument::Offset(16)]);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn call(&self) -> Option<Call<'_>> {
        use Argument as A;
        let arguments = match self.constructor() {
            Constructor::Basic(_)
            | Constructor::LbMarker
            | Constructor::UbMarker
            | Constructor::Pair { name: Some(_), .. } => return None,
            Constructor::Pair { name: None, built, .. } => match built.constructor() {
                Constructor::Structure { members } => {
                    members.iter().map(|member| A::Type(&member.ty)).collect()
                }
                // Pairs are built as structures.
                _ => return None,
            },
            Constructor::Fortran { request, .. } => match *request {
                Fortran::Real { precision, range } | Fortran::Complex { precision, range } => {
                    vec![A::Digits(precision), A::Digits(range)]
                }
                Fortran::Integer { range } => vec![A::Range(range)],
            },
            Constructor::Dup { old } => vec![A::Type(old)],
            Constructor::Contiguous { count, old } => vec![A::Count(*count), A::Type(old)],
            Constructor::Vector { count, blocklength, stride, old }
            | Constructor::Hvector { count, blocklength, stride, old } => {
                vec![A::Count(*count), A::Count(*blocklength), A::Offset(*stride), A::Type(old)]
            }
            Constructor::Indexed { blocklengths, displacements, old }
            | Constructor::Hindexed { blocklengths, displacements, old } => vec![
                A::Counts(blocklengths.to_vec().into()),
                A::Offsets(displacements.to_vec().into()),
                A::Type(old),
            ],
            Constructor::IndexedBlock { blocklength, displacements, old }
            | Constructor::HindexedBlock { blocklength, displacements, old } => vec![
                A::Count(*blocklength),
                A::Offsets(displacements.to_vec().into()),
                A::Type(old),
            ],
            Constructor::Structure { members } => vec![
                A::Counts(members.iter().map(|member| member.blocklength).collect()),
                A::Offsets(members.iter().map(|member| member.displacement).collect()),
                A::Types(members.iter().map(|member| &member.ty).collect()),
            ],
            Constructor::Subarray { arguments, old } => vec![
                A::Counts(arguments.sizes().into()),
                A::Counts(arguments.subsizes().into()),
                A::Counts(arguments.starts().into()),
                A::Order(arguments.order),
                A::Type(old),
            ],
            Constructor::Darray { arguments, old } => {
                let Darray { size, rank, gsizes, distributions, psizes, order, .. } = &**arguments;
                vec![
                    A::Count(*size),
                    A::Count(*rank),
                    A::Counts((&**gsizes).into()),
                    A::Distributions((&**distributions).into()),
                    A::Counts((&**psizes).into()),
                    A::Order(*order),
                    A::Type(old),
                ]
            }
            Constructor::Resized { old } => {
                let (lb, extent) = self.resize();
                vec![A::Type(old), A::Offset(lb), A::Offset(extent)]
            }
        };
        Some(Call { combiner: self.constructor().combiner(), arguments })
    }
}

impl Constructor {
    pub(super) fn combiner(&self) -> Combiner {
        match self {
            Self::Basic(_) | Self::LbMarker | Self::UbMarker | Self::Pair { name: Some(_), .. } => {
                Combiner::Named
            }
            Self::Pair { name: None, .. } => Combiner::ValueIndex,
            Self::Fortran { request, .. } => match request {
                Fortran::Real { .. } => Combiner::F90Real,
                Fortran::Complex { .. } => Combiner::F90Complex,
                Fortran::Integer { .. } => Combiner::F90Integer,
            },
            Self::Dup { .. } => Combiner::Dup,
            Self::Contiguous { .. } => Combiner::Contiguous,
            Self::Vector { .. } => Combiner::Vector,
            Self::Hvector { .. } => Combiner::Hvector,
            Self::Indexed { .. } => Combiner::Indexed,
            Self::Hindexed { .. } => Combiner::Hindexed,
            Self::IndexedBlock { .. } => Combiner::IndexedBlock,
            Self::HindexedBlock { .. } => Combiner::HindexedBlock,
            Self::Structure { .. } => Combiner::Structure,
            Self::Subarray { .. } => Combiner::Subarray,
            Self::Darray { .. } => Combiner::Darray,
            Self::Resized { .. } => Combiner::Resized,
        }
    }

    /// The name in this crate: of the constructor, or of the datatype if it is a named one.
    pub(crate) fn name(&self) -> &'static str {
        self.named().map_or(self.combiner().name(), super::Named::name)
    }
}

impl<'a, T> Call<'a, T> {
    /// The arguments with their parameters, in the order of the call. The length of the lists, which only C's
    /// calls take, is [`None`].
    pub fn parameters(
        &self,
    ) -> impl Iterator<Item = (&'static Parameter, Option<&Argument<'a, T>>)> {
        let parameters =
            self.combiner.signature().map_or(&[][..], |signature| signature.parameters);
        let mut arguments = self.arguments.iter();
        parameters.iter().map(move |parameter| match parameter.kind {
            Kind::Length(_) => (parameter, None),
            _ => (parameter, arguments.next()),
        })
    }

    /// The length of the lists in the call, 0 without lists.
    pub fn length(&self) -> usize {
        let lengths = self.arguments.iter().filter_map(|argument| match argument {
            Argument::Counts(list) => Some(list.len()),
            Argument::Offsets(list) => Some(list.len()),
            _ => None,
        });
        lengths.max().unwrap_or(0)
    }

    /// The datatypes among the arguments.
    pub fn types(&self) -> impl Iterator<Item = &T> {
        self.arguments.iter().flat_map(|argument| match argument {
            Argument::Type(ty) => core::slice::from_ref(ty),
            Argument::Types(types) => types,
            _ => &[],
        })
    }

    /// The same call with other datatypes.
    pub(super) fn with_types<U, E>(
        self,
        mut other: impl FnMut(T) -> Result<U, E>,
    ) -> Result<Call<'a, U>, E> {
        let arguments = self.arguments.into_iter().map(|argument| {
            Ok(match argument {
                Argument::Type(ty) => Argument::Type(other(ty)?),
                Argument::Types(types) => {
                    Argument::Types(types.into_iter().map(&mut other).collect::<Result<_, E>>()?)
                }
                Argument::Count(count) => Argument::Count(count),
                Argument::Offset(offset) => Argument::Offset(offset),
                Argument::Counts(list) => Argument::Counts(list),
                Argument::Offsets(list) => Argument::Offsets(list),
                Argument::Order(order) => Argument::Order(order),
                Argument::Distributions(list) => Argument::Distributions(list),
                Argument::Digits(digits) => Argument::Digits(digits),
                Argument::Range(range) => Argument::Range(range),
            })
        });
        Ok(Call { combiner: self.combiner, arguments: arguments.collect::<Result<_, E>>()? })
    }

    /// Every number that C's call takes, in the order of the call, with its C type; constants have their MPI-5.0
    /// ABI values. A number that is wider than every C type is returned unchanged.
    pub(crate) fn each_number(&self, mut each: impl FnMut(CType, i128)) {
        for (parameter, argument) in self.parameters() {
            match (parameter.kind, argument) {
                (Kind::Length(number), _) => each(number, self.length() as i128),
                (Kind::Count(number), Some(Argument::Count(count))) => {
                    each(number, (*count).into());
                }
                (Kind::Offset(number), Some(Argument::Offset(offset))) => {
                    each(number, (*offset).into());
                }
                (Kind::Counts(number), Some(Argument::Counts(list))) => {
                    list.iter().for_each(|&count| each(number, count.into()));
                }
                (Kind::Offsets(number), Some(Argument::Offsets(list))) => {
                    list.iter().for_each(|&offset| each(number, offset.into()));
                }
                (Kind::Order, Some(Argument::Order(order))) => {
                    each(CType::Int, order.abi_value().into());
                }
                (Kind::Distributions, Some(Argument::Distributions(list))) => {
                    list.iter().for_each(|one| each(CType::Int, one.abi_values().0.into()));
                    list.iter().for_each(|one| each(CType::Int, one.abi_values().1));
                }
                (Kind::Digits, Some(Argument::Digits(digits))) => {
                    each(CType::Int, digits.map_or(UNDEFINED.into(), i128::from));
                }
                (Kind::Range, Some(Argument::Range(range))) => each(CType::Int, (*range).into()),
                // Datatypes, and arguments that do not fit the parameter: no call can be made with those.
                _ => {}
            }
        }
    }
}

impl<T: Borrow<Type>> Call<'_, T> {
    /// Makes the call.
    ///
    /// # Errors
    ///
    /// [`Error::Contents`] when an argument is not of the kind that its parameter takes, and the errors of the
    /// constructor.
    ///
    /// ```
    /// use dtype_runtime::types::{Argument, Call, Combiner};
    /// use dtype_runtime::{Basic, Type};
    /// let arguments = vec![Argument::Count(3), Argument::Type(Type::basic(Basic::F32))];
    /// let call = Call { combiner: Combiner::Contiguous, arguments };
    /// assert_eq!(call.make()?, Type::contiguous(3, &Type::basic(Basic::F32))?);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn make(&self) -> Result<Type, Error> {
        self.make_by(all_equal)
    }

    /// As [`make`](Self::make), for callers with a faster way to tell whether the types are equal.
    pub(super) fn make_by(&self, are_equal: fn(&[&Type]) -> bool) -> Result<Type, Error> {
        let mut a = Arguments { combiner: self.combiner, rest: &self.arguments };
        let made = match self.combiner {
            Combiner::Named => return Err(a.wrong("a named datatype, which no call makes")),
            Combiner::Dup => Type::dup(a.ty()?),
            Combiner::Contiguous => Type::contiguous(a.count()?, a.ty()?),
            Combiner::Vector => Type::vector(a.count()?, a.count()?, a.offset()?, a.ty()?),
            Combiner::Hvector => Type::hvector(a.count()?, a.count()?, a.offset()?, a.ty()?),
            Combiner::Indexed => Type::indexed(a.counts()?, a.offsets()?, a.ty()?),
            Combiner::Hindexed => Type::hindexed(a.counts()?, a.offsets()?, a.ty()?),
            Combiner::IndexedBlock => Type::indexed_block(a.count()?, a.offsets()?, a.ty()?),
            Combiner::HindexedBlock => Type::hindexed_block(a.count()?, a.offsets()?, a.ty()?),
            Combiner::Structure => {
                Type::structure_by(a.counts()?, a.offsets()?, a.types()?, are_equal)
            }
            Combiner::Subarray => {
                Type::subarray(a.counts()?, a.counts()?, a.counts()?, a.order()?, a.ty()?)
            }
            Combiner::Darray => Type::darray(
                a.count()?,
                a.count()?,
                a.counts()?,
                a.distributions()?,
                a.counts()?,
                a.order()?,
                a.ty()?,
            ),
            Combiner::F90Real => Type::f90_real(a.digits()?, a.digits()?),
            Combiner::F90Complex => Type::f90_complex(a.digits()?, a.digits()?),
            Combiner::F90Integer => Type::f90_integer(a.range()?),
            Combiner::Resized => Type::resized(a.ty()?, a.offset()?, a.offset()?),
            Combiner::ValueIndex => Type::value_index(a.ty()?, a.ty()?),
        }?;
        if a.rest.is_empty() { Ok(made) } else { Err(a.wrong("too many arguments")) }
    }
}

/// The remaining arguments.
struct Arguments<'c, 'a, T> {
    combiner: Combiner,
    rest: &'c [Argument<'a, T>],
}

/// Takes the next argument, which must be of this kind.
macro_rules! take {
    ($self:ident, $pattern:pat => $value:expr) => {{
        let (first, rest) =
            $self.rest.split_first().ok_or_else(|| $self.wrong("too few arguments"))?;
        $self.rest = rest;
        match first {
            $pattern => Ok($value),
            _ => Err($self.wrong("an argument of another kind than the parameter's")),
        }
    }};
}

impl<'c, T: Borrow<Type>> Arguments<'c, '_, T> {
    fn wrong(&self, problem: &'static str) -> Error {
        Error::Contents { combiner: self.combiner.name(), problem }
    }

    fn count(&mut self) -> Result<u64, Error> {
        take!(self, Argument::Count(count) => *count)
    }

    fn offset(&mut self) -> Result<i64, Error> {
        take!(self, Argument::Offset(offset) => *offset)
    }

    fn counts(&mut self) -> Result<&'c [u64], Error> {
        take!(self, Argument::Counts(list) => list)
    }

    fn offsets(&mut self) -> Result<&'c [i64], Error> {
        take!(self, Argument::Offsets(list) => list)
    }

    fn ty(&mut self) -> Result<&'c Type, Error> {
        take!(self, Argument::Type(ty) => ty.borrow())
    }

    fn types(&mut self) -> Result<&'c [T], Error> {
        take!(self, Argument::Types(types) => types)
    }

    fn order(&mut self) -> Result<Order, Error> {
        take!(self, Argument::Order(order) => *order)
    }

    fn distributions(&mut self) -> Result<&'c [Distribution], Error> {
        take!(self, Argument::Distributions(list) => list)
    }

    fn digits(&mut self) -> Result<Option<u32>, Error> {
        take!(self, Argument::Digits(digits) => *digits)
    }

    fn range(&mut self) -> Result<u32, Error> {
        take!(self, Argument::Range(range) => *range)
    }
}
