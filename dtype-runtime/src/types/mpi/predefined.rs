//! The predefined datatypes that have more than one basic datatype, or no name.
//!
//! The predefined datatypes with a name and a single value are the variants of [`Basic`]; [`Type::basic`] makes a datatype from
//! a variant.

use super::call::Combiner;
use crate::basic::{Basic, Kind};
use crate::error::Error;
use crate::types::parts::Parts;
use crate::types::{BoundsRule, Constructor, Flags, Type};

/// A named pair of a value and an index, for reductions that find the index of an extreme value
/// (MPI-4.1 section 6.9.4).
///
/// In memory the pair is laid out as C's `struct { value; index; }`. Padding is not packed, and the pair counts as
/// two elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Pair {
    /// `float` and `int` (`MPI_FLOAT_INT`).
    FloatInt,
    /// `double` and `int` (`MPI_DOUBLE_INT`).
    DoubleInt,
    /// `long` and `int` (`MPI_LONG_INT`).
    LongInt,
    /// Two `int` (`MPI_2INT`).
    TwoInt,
    /// `short` and `int` (`MPI_SHORT_INT`).
    ShortInt,
    /// `long double` and `int` (`MPI_LONG_DOUBLE_INT`).
    LongDoubleInt,
    /// Two `REAL` (`MPI_2REAL`).
    TwoReal,
    /// Two `DOUBLE PRECISION` (`MPI_2DOUBLE_PRECISION`).
    TwoDoublePrecision,
    /// Two `INTEGER` (`MPI_2INTEGER`).
    TwoInteger,
}

impl Pair {
    /// All of them. The order never changes: a marshalled type has a pair's index in this list.
    pub const ALL: &'static [Self] = &[
        Self::FloatInt,
        Self::DoubleInt,
        Self::LongInt,
        Self::TwoInt,
        Self::ShortInt,
        Self::LongDoubleInt,
        Self::TwoReal,
        Self::TwoDoublePrecision,
        Self::TwoInteger,
    ];

    /// The name in lower case, as in MPI.
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// The name of MPI's predefined datatype.
    pub const fn mpi_name(self) -> &'static str {
        self.row().1
    }

    /// The types of the value and of the index.
    pub const fn parts(self) -> (Basic, Basic) {
        (self.row().2, self.row().3)
    }

    /// Both names, the value and the index.
    const fn row(self) -> (&'static str, &'static str, Basic, Basic) {
        match self {
            Self::FloatInt => ("float_int", "MPI_FLOAT_INT", Basic::F32, Basic::Int),
            Self::DoubleInt => ("double_int", "MPI_DOUBLE_INT", Basic::F64, Basic::Int),
            Self::LongInt => ("long_int", "MPI_LONG_INT", Basic::Long, Basic::Int),
            Self::TwoInt => ("2int", "MPI_2INT", Basic::Int, Basic::Int),
            Self::ShortInt => ("short_int", "MPI_SHORT_INT", Basic::Short, Basic::Int),
            Self::LongDoubleInt => {
                ("long_double_int", "MPI_LONG_DOUBLE_INT", Basic::LongDouble, Basic::Int)
            }
            Self::TwoReal => ("2real", "MPI_2REAL", Basic::Real, Basic::Real),
            Self::TwoDoublePrecision => {
                let real = Basic::DoublePrecision;
                ("2double_precision", "MPI_2DOUBLE_PRECISION", real, real)
            }
            Self::TwoInteger => ("2integer", "MPI_2INTEGER", Basic::Integer, Basic::Integer),
        }
    }

    /// The named pair of these two basic datatypes. Rust's `i32` and `i16` are accepted as C's `int` and `short`.
    fn from_parts(value: Basic, index: Basic) -> Option<Self> {
        let in_c = |basic| match basic {
            Basic::I16 => Basic::Short,
            Basic::I32 => Basic::Int,
            other => other,
        };
        let parts = (in_c(value), in_c(index));
        Self::ALL.iter().copied().find(|pair| pair.parts() == parts)
    }
}

/// A class of types of different sizes (`MPI_TYPECLASS_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeClass {
    /// `MPI_TYPECLASS_INTEGER`.
    Integer,
    /// `MPI_TYPECLASS_REAL`.
    Real,
    /// `MPI_TYPECLASS_COMPLEX`.
    Complex,
}

impl TypeClass {
    /// The name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Real => "real",
            Self::Complex => "complex",
        }
    }
}

/// A kind of real: its decimal digits and decimal exponent range, and the basic datatypes of the number and of the
/// complex number made of it.
struct RealKind {
    precision: u32,
    range: u32,
    real: Basic,
    complex: Basic,
}

/// From the smallest to the largest.
const REALS: [RealKind; 5] = [
    RealKind { precision: 3, range: 4, real: Basic::F16, complex: Basic::Complex4 },
    RealKind { precision: 6, range: 37, real: Basic::F32, complex: Basic::C32 },
    RealKind { precision: 15, range: 307, real: Basic::F64, complex: Basic::C64 },
    RealKind {
        precision: 18,
        range: 4931,
        real: Basic::LongDouble,
        complex: Basic::LongDoubleComplex,
    },
    RealKind { precision: 33, range: 4931, real: Basic::Real16, complex: Basic::Complex32 },
];

/// The decimal exponent range of each integer.
const INTEGERS: [(u32, Basic); 5] =
    [(2, Basic::I8), (4, Basic::I16), (9, Basic::I32), (18, Basic::I64), (38, Basic::I128)];

impl Type {
    /// A named pair type.
    ///
    /// ```
    /// use dtype_runtime::Type;
    /// use dtype_runtime::types::Pair;
    /// let pair = Type::pair(Pair::DoubleInt);
    /// assert_eq!((pair.size(), pair.extent(), pair.elements()), (12, 16, 2));
    /// ```
    #[doc(alias = "MPI_FLOAT_INT")]
    #[doc(alias = "MPI_2INT")]
    pub fn pair(pair: Pair) -> Self {
        let (value, index) = pair.parts();
        Self::value_then_index(Some(pair), value, index, BoundsRule::Literal)
    }

    /// The pair of a value and an index (MPI-4.1 section 6.9.4): the named pair type if there is one, and
    /// otherwise an unnamed predefined datatype, for any two integers or floating-point numbers.
    ///
    /// # Errors
    ///
    /// [`Error::ArgumentType`] when one of the two is not a named integer or floating-point type.
    ///
    /// ```
    /// use dtype_runtime::types::Combiner;
    /// use dtype_runtime::{Basic, Type};
    /// let [float, double, int, index] =
    ///     [Basic::F32, Basic::F64, Basic::I32, Basic::U64].map(Type::basic);
    /// assert_eq!(Type::value_index(&float, &int)?.envelope().combiner, Combiner::Named);
    /// let pair = Type::value_index(&double, &index)?;
    /// assert_eq!((pair.size(), pair.extent(), pair.elements()), (16, 16, 2));
    /// assert_eq!(pair.envelope().combiner, Combiner::ValueIndex);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Type_get_value_index")]
    pub fn value_index(value_type: &Self, index_type: &Self) -> Result<Self, Error> {
        let number = |argument, ty: &Self| match *ty.constructor() {
            Constructor::Basic(basic)
                if matches!(basic.kind(), Kind::Integer | Kind::Unsigned | Kind::Float) =>
            {
                Ok(basic)
            }
            ref other => {
                let (call, expected) = ("value_index", "a named integer or floating-point type");
                Err(Error::ArgumentType { call, argument, expected, actual: other.name() })
            }
        };
        let value = number("value_type", value_type)?;
        let index = number("index_type", index_type)?;
        let rule = value_type.bounds_rule().max(index_type.bounds_rule());
        Ok(Self::value_then_index(Pair::from_parts(value, index), value, index, rule))
    }

    /// A pair, laid out as C's `struct { value; index; }` under every rule for bounds.
    pub(super) fn value_then_index(
        name: Option<Pair>,
        value: Basic,
        index: Basic,
        rule: BoundsRule,
    ) -> Self {
        let displacement = value.size().next_multiple_of(index.align()) as i64;
        let types = [value, index].map(|basic| Self::basic(basic).by(rule));
        let pair = || {
            let built = Self::structure(&[1, 1], &[0, displacement], &types)?;
            let mut parts = Parts::copy_of("value_index", &built)?;
            parts.user = Flags::COMMITTED;
            parts.finish(|| Constructor::Pair { name, value, index, built })
        };
        // The extents of two numbers of at most 32 bytes cannot overflow.
        pair().unwrap_or_else(|error| unreachable!("{error}"))
    }

    /// The real type of Fortran's `SELECTED_REAL_KIND(p, r)` (MPI-4.1 section 19.1.5): the smallest type with at
    /// least this many decimal digits and at least this decimal exponent range. Either may be undefined. Equal
    /// arguments give equal types.
    ///
    /// # Errors
    ///
    /// [`Error::Undefined`] when both are undefined; [`Error::ArgumentRange`] beyond 33 digits or a range of 4931.
    ///
    /// ```
    /// use dtype_runtime::Type;
    /// assert_eq!(Type::f90_real(Some(15), None)?.size(), 8);
    /// assert_eq!(Type::f90_real(Some(6), Some(100))?.size(), 8);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Type_create_f90_real")]
    pub fn f90_real(precision: Option<u32>, range: Option<u32>) -> Result<Self, Error> {
        let kind = real_kind("f90_real", precision, range)?;
        Ok(Self::fortran(Combiner::F90Real, [precision, range], kind.real))
    }

    /// The complex type of two [`f90_real`](Self::f90_real) values of this precision and range (MPI-4.1 section
    /// 19.1.5).
    ///
    /// # Errors
    ///
    /// As [`f90_real`](Self::f90_real).
    ///
    /// ```
    /// use dtype_runtime::Type;
    /// assert_eq!(Type::f90_complex(Some(6), Some(37))?.size(), 8);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Type_create_f90_complex")]
    pub fn f90_complex(precision: Option<u32>, range: Option<u32>) -> Result<Self, Error> {
        let kind = real_kind("f90_complex", precision, range)?;
        Ok(Self::fortran(Combiner::F90Complex, [precision, range], kind.complex))
    }

    /// The integer type of Fortran's `SELECTED_INT_KIND(r)` (MPI-4.1 section 19.1.5): the smallest type with at
    /// least this decimal exponent range.
    ///
    /// # Errors
    ///
    /// [`Error::ArgumentRange`] for a range above 38.
    ///
    /// ```
    /// use dtype_runtime::Type;
    /// assert_eq!(Type::f90_integer(9)?.size(), 4);
    /// assert_eq!(Type::f90_integer(10)?.size(), 8);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Type_create_f90_integer")]
    pub fn f90_integer(range: u32) -> Result<Self, Error> {
        let found = INTEGERS.iter().find(|(greatest, _)| range <= *greatest);
        let Some(&(_, basic)) = found else {
            return Err(beyond("f90_integer", "r", range, INTEGERS[INTEGERS.len() - 1].0));
        };
        Ok(Self::fortran(Combiner::F90Integer, [Some(range), None], basic))
    }

    /// The named type of this class with a size of `size` bytes (MPI-4.1 section 19.1.5).
    ///
    /// # Errors
    ///
    /// [`Error::NoMatch`] when no type matches.
    ///
    /// ```
    /// use dtype_runtime::types::TypeClass;
    /// use dtype_runtime::Type;
    /// assert_eq!(Type::match_size(TypeClass::Complex, 16)?.size(), 16);
    /// assert!(Type::match_size(TypeClass::Integer, 3).is_err());
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Type_match_size")]
    pub fn match_size(class: TypeClass, size: u64) -> Result<Self, Error> {
        // Fortran's types that have their size in the name.
        let found = Basic::ALL.iter().find(|basic| {
            let number = basic.name().strip_prefix(class.name());
            number.is_some_and(|number| number.parse() == Ok(size))
        });
        found.map(|basic| Self::basic(*basic)).ok_or(Error::NoMatch { class: class.name(), size })
    }
}

fn real_kind(
    call: &'static str,
    precision: Option<u32>,
    range: Option<u32>,
) -> Result<&'static RealKind, Error> {
    if precision.is_none() && range.is_none() {
        return Err(Error::Undefined { call, arguments: "p and r" });
    }
    let [p, r] = [precision, range].map(Option::unwrap_or_default);
    let greatest = &REALS[REALS.len() - 1];
    REALS.iter().find(|kind| p <= kind.precision && r <= kind.range).ok_or_else(|| {
        if p > greatest.precision {
            beyond(call, "p", p, greatest.precision)
        } else {
            beyond(call, "r", r, greatest.range)
        }
    })
}

fn beyond(call: &'static str, argument: &'static str, value: u32, greatest: u32) -> Error {
    let (value, greatest) = (value.into(), greatest.into());
    Error::ArgumentRange { call, argument, index: None, value, least: 0, greatest }
}
