//! The constructors as calls: one table of their names and parameters.
//!
//! All code about calls reads this table: envelope and contents, the rules for bounds, marshalling, the calling sequences, the
//! tree, the command's notation and the bridge to MPI. To add a constructor, add a row here, an arm in [`Type::call`] and an
//! arm in [`Call::make`]; the compiler points to the rest.
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

use crate::types::array::{Darray, Distribution, Order};
use crate::types::blocks::Lengths;
use crate::types::{Constructor, Type, Unit};

/// A constructor's names and parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallSignature {
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
    /// The kind of argument that the parameter takes.
    pub kind: ArgumentKind,
}

/// The kind of argument of a parameter.
///
/// Adding a variant is a breaking change, because code that prints or reads calls has to know all variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArgumentKind {
    /// The length of the lists in the call. Only calls in C take it; lists in Rust know their lengths.
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
    /// For [`ArgumentKind::Count`].
    Count(u64),
    /// For [`ArgumentKind::Offset`].
    Offset(i64),
    /// For [`ArgumentKind::Counts`].
    Counts(Cow<'a, [u64]>),
    /// For [`ArgumentKind::Offsets`].
    Offsets(Cow<'a, [i64]>),
    /// For [`ArgumentKind::Type`].
    Type(T),
    /// For [`ArgumentKind::Types`].
    Types(Vec<T>),
    /// For [`ArgumentKind::Order`].
    Order(Order),
    /// For [`ArgumentKind::Distributions`].
    Distributions(Cow<'a, [Distribution]>),
    /// For [`ArgumentKind::Digits`].
    Digits(Option<u32>),
    /// For [`ArgumentKind::Range`].
    Range(u32),
}

/// A constructor with its arguments: from [`Type::call`], or assembled by hand for [`make`](Self::make).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call<'a, T = &'a Type> {
    /// The constructor.
    pub combiner: Combiner,
    /// The arguments: one for each of the signature's parameters, except for parameters of [`ArgumentKind::Length`].
    pub arguments: Vec<Argument<'a, T>>,
}

const fn parameter(name: &'static str, mpi_name: &'static str, kind: ArgumentKind) -> Parameter {
    Parameter { name, mpi_name, kind }
}

const LENGTH: Parameter = parameter("count", "count", ArgumentKind::Length(CType::Count));
const NDIMS: Parameter = parameter("ndims", "ndims", ArgumentKind::Length(CType::Int));
const COUNT: Parameter = parameter("count", "count", ArgumentKind::Count(CType::Count));
const BLOCKLENGTH: Parameter =
    parameter("blocklength", "blocklength", ArgumentKind::Count(CType::Count));
const BLOCKLENGTHS: Parameter = counts("blocklengths", "array_of_blocklengths");
const STRIDE: Parameter = parameter("stride", "stride", ArgumentKind::Offset(CType::Count));
const BYTE_STRIDE: Parameter = parameter("stride", "stride", ArgumentKind::Offset(CType::Address));
const DISPLACEMENTS: Parameter = displacements(CType::Count);
const BYTE_DISPLACEMENTS: Parameter = displacements(CType::Address);
const OLD: Parameter = parameter("type", "oldtype", ArgumentKind::Type);
const ORDER: Parameter = parameter("order", "order", ArgumentKind::Order);
const PRECISION: Parameter = parameter("precision", "p", ArgumentKind::Digits);
const RANGE: Parameter = parameter("range", "r", ArgumentKind::Digits);

const fn counts(name: &'static str, mpi_name: &'static str) -> Parameter {
    parameter(name, mpi_name, ArgumentKind::Counts(CType::Count))
}

const fn displacements(number: CType) -> Parameter {
    parameter("displacements", "array_of_displacements", ArgumentKind::Offsets(number))
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

            /// The constructor's parameters; `None` for a named datatype, which no call makes.
            pub const fn signature(self) -> Option<&'static CallSignature> {
                match self {
                    Self::Named => None,
                    $( Self::$variant => const {
                        const PARAMETERS: &[Parameter] = &[$($parameter),*];
                        Some(&CallSignature { name: $name, mpi_name: $mpi, parameters: PARAMETERS })
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
        [LENGTH, BLOCKLENGTHS, BYTE_DISPLACEMENTS, parameter("types", "array_of_types", ArgumentKind::Types)];
    /// [`Type::subarray`] (`MPI_COMBINER_SUBARRAY`).
    Subarray = 111, "subarray", "MPI_Type_create_subarray",
        [NDIMS, counts("sizes", "array_of_sizes"), counts("subsizes", "array_of_subsizes"),
         counts("starts", "array_of_starts"), ORDER, OLD];
    /// [`Type::darray`] (`MPI_COMBINER_DARRAY`).
    Darray = 112, "darray", "MPI_Type_create_darray",
        [parameter("size", "size", ArgumentKind::Count(CType::Int)),
         parameter("rank", "rank", ArgumentKind::Count(CType::Int)),
         NDIMS, counts("gsizes", "array_of_gsizes"),
         parameter("distributions", "array_of_distribs", ArgumentKind::Distributions),
         parameter("psizes", "array_of_psizes", ArgumentKind::Counts(CType::Int)), ORDER, OLD];
    /// [`Type::f90_real`] (`MPI_COMBINER_F90_REAL`).
    F90Real = 113, "f90_real", "MPI_Type_create_f90_real", [PRECISION, RANGE];
    /// [`Type::f90_complex`] (`MPI_COMBINER_F90_COMPLEX`).
    F90Complex = 114, "f90_complex", "MPI_Type_create_f90_complex", [PRECISION, RANGE];
    /// [`Type::f90_integer`] (`MPI_COMBINER_F90_INTEGER`).
    F90Integer = 115, "f90_integer", "MPI_Type_create_f90_integer",
        [parameter("range", "r", ArgumentKind::Range)];
    /// [`Type::resized`] (`MPI_COMBINER_RESIZED`).
    Resized = 116, "resized", "MPI_Type_create_resized",
        [OLD, parameter("lb", "lb", ArgumentKind::Offset(CType::Address)),
         parameter("extent", "extent", ArgumentKind::Offset(CType::Address))];
    /// [`Type::value_index`] without a name (`MPI_COMBINER_VALUE_INDEX`).
    ValueIndex = 117, "value_index", "MPI_Type_get_value_index",
        [parameter("value", "value_type", ArgumentKind::Type), parameter("index", "index_type", ArgumentKind::Type)];
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

    /// The distribution that these numbers represent; `None` if the ABI has no distribution `kind`.
    pub(super) fn from_abi_values(kind: i32, length: Option<u64>) -> Option<Self> {
        let all = [Self::None, Self::Block(length), Self::Cyclic(length)];
        all.into_iter().find(|distribution| distribution.abi_values().0 == kind)
    }

    /// Whether the length of the blocks is the number that means the default in the MPI-5.0 ABI.
    pub(crate) fn reads_as_default(self) -> bool {
        let default = i128::from(DFLT_DARG);
        matches!(self, Self::Block(Some(n)) | Self::Cyclic(Some(n)) if i128::from(n) == default)
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
            Constructor::Fortran {
                combiner: Combiner::F90Integer,
                digits: [Some(range), _],
                ..
            } => vec![A::Range(*range)],
            Constructor::Fortran { digits, .. } => digits.map(A::Digits).into(),
            Constructor::Dup { old } => vec![A::Type(old)],
            Constructor::Contiguous { count, old } => vec![A::Count(*count), A::Type(old)],
            Constructor::Vector { count, blocklength, stride, old, .. } => {
                vec![A::Count(*count), A::Count(*blocklength), A::Offset(*stride), A::Type(old)]
            }
            Constructor::Blocks { lengths, displacements, old, .. } => vec![
                match lengths {
                    Lengths::Each(lengths) => A::Counts((&**lengths).into()),
                    Lengths::Same(length) => A::Count(*length),
                },
                A::Offsets((&**displacements).into()),
                A::Type(old),
            ],
            Constructor::Structure { members } => vec![
                A::Counts(members.iter().map(|member| member.blocklength).collect()),
                A::Offsets(members.iter().map(|member| member.displacement).collect()),
                A::Types(members.iter().map(|member| &member.ty).collect()),
            ],
            Constructor::Subarray { arguments, old, .. } => {
                let [sizes, subsizes, starts] =
                    arguments.lists().map(|list| A::Counts(list.into()));
                vec![sizes, subsizes, starts, A::Order(arguments.order), A::Type(old)]
            }
            Constructor::Darray { arguments, old, .. } => {
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
    pub(in crate::types) fn combiner(&self) -> Combiner {
        match self {
            Self::Basic(_) | Self::LbMarker | Self::UbMarker | Self::Pair { name: Some(_), .. } => {
                Combiner::Named
            }
            Self::Pair { name: None, .. } => Combiner::ValueIndex,
            Self::Fortran { combiner, .. } => *combiner,
            Self::Dup { .. } => Combiner::Dup,
            Self::Contiguous { .. } => Combiner::Contiguous,
            Self::Vector { unit: Unit::Extent, .. } => Combiner::Vector,
            Self::Vector { unit: Unit::Byte, .. } => Combiner::Hvector,
            Self::Blocks { unit, lengths, .. } => match (unit, lengths) {
                (Unit::Extent, Lengths::Each(_)) => Combiner::Indexed,
                (Unit::Byte, Lengths::Each(_)) => Combiner::Hindexed,
                (Unit::Extent, Lengths::Same(_)) => Combiner::IndexedBlock,
                (Unit::Byte, Lengths::Same(_)) => Combiner::HindexedBlock,
            },
            Self::Structure { .. } => Combiner::Structure,
            Self::Subarray { .. } => Combiner::Subarray,
            Self::Darray { .. } => Combiner::Darray,
            Self::Resized { .. } => Combiner::Resized,
        }
    }

    /// The name of the constructor in this crate, or of the datatype if it has a name.
    pub(crate) fn name(&self) -> &'static str {
        self.named().map_or(self.combiner().name(), super::Named::name)
    }
}

impl<'a, T> Call<'a, T> {
    /// The arguments with their parameters, in the order of the call. For the length of the lists, which only calls in C take,
    /// the argument is [`None`].
    pub fn parameters(
        &self,
    ) -> impl Iterator<Item = (&'static Parameter, Option<&Argument<'a, T>>)> {
        let parameters =
            self.combiner.signature().map_or(&[][..], |signature| signature.parameters);
        let mut arguments = self.arguments.iter();
        parameters.iter().map(move |parameter| match parameter.kind {
            ArgumentKind::Length(_) => (parameter, None),
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

    /// The datatypes among the arguments, for replacing them.
    pub(super) fn types_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.arguments.iter_mut().flat_map(|argument| match argument {
            Argument::Type(ty) => core::slice::from_mut(ty),
            Argument::Types(types) => types,
            _ => &mut [],
        })
    }

    /// Every number that C's call takes, in the order of the call, with its C type; constants have their MPI-5.0 ABI values. A
    /// number that fits no C type is returned unchanged.
    #[doc(hidden)]
    pub fn each_number(&self, mut each: impl FnMut(CType, i128)) {
        for (parameter, argument) in self.parameters() {
            match (parameter.kind, argument) {
                (ArgumentKind::Length(number), _) => each(number, self.length() as i128),
                (ArgumentKind::Count(number), Some(Argument::Count(count))) => {
                    each(number, (*count).into());
                }
                (ArgumentKind::Offset(number), Some(Argument::Offset(offset))) => {
                    each(number, (*offset).into());
                }
                (ArgumentKind::Counts(number), Some(Argument::Counts(list))) => {
                    list.iter().for_each(|&count| each(number, count.into()));
                }
                (ArgumentKind::Offsets(number), Some(Argument::Offsets(list))) => {
                    list.iter().for_each(|&offset| each(number, offset.into()));
                }
                (ArgumentKind::Order, Some(Argument::Order(order))) => {
                    each(CType::Int, order.abi_value().into());
                }
                (ArgumentKind::Distributions, Some(Argument::Distributions(list))) => {
                    list.iter().for_each(|one| each(CType::Int, one.abi_values().0.into()));
                    list.iter().for_each(|one| each(CType::Int, one.abi_values().1));
                }
                (ArgumentKind::Digits, Some(Argument::Digits(digits))) => {
                    each(CType::Int, digits.map_or(UNDEFINED.into(), i128::from));
                }
                (ArgumentKind::Range, Some(Argument::Range(range))) => {
                    each(CType::Int, (*range).into());
                }
                // Datatypes are not numbers. Arguments that do not fit the parameter belong to no call.
                _ => {}
            }
        }
    }
}
