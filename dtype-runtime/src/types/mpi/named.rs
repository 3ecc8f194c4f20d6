//! The named datatypes at which decoding ends.

use super::Pair;
use crate::basic::Basic;
use crate::types::{Constructor, Type};

/// A datatype with a name. No call made it, so it has no [contents](Type::contents).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Named {
    /// Made by [`Type::basic`].
    Basic(Basic),
    /// Made by [`Type::pair`], or by [`Type::value_index`] if the pair has a name.
    Pair(Pair),
    /// Made by [`Type::lb_marker`].
    LbMarker,
    /// Made by [`Type::ub_marker`].
    UbMarker,
}

impl Named {
    /// The datatype with this name.
    pub fn datatype(self) -> Type {
        match self {
            Self::Basic(basic) => Type::basic(basic),
            Self::Pair(pair) => Type::pair(pair),
            Self::LbMarker => Type::lb_marker(),
            Self::UbMarker => Type::ub_marker(),
        }
    }

    /// The datatype with this MPI name: a predefined datatype of C, C++ or Fortran, a pair type, or a marker of
    /// MPI-1. `None` if the name is unknown.
    ///
    /// ```
    /// use dtype_runtime::types::Named;
    /// let named = Named::from_mpi_name("MPI_DOUBLE_INT").map(Named::datatype);
    /// assert_eq!(named.map(|ty| ty.size()), Some(12));
    /// ```
    pub fn from_mpi_name(name: &str) -> Option<Self> {
        let pair = || Pair::ALL.iter().copied().find(|pair| pair.mpi_name() == name);
        match name {
            "MPI_LB" => Some(Self::LbMarker),
            "MPI_UB" => Some(Self::UbMarker),
            _ => Basic::from_mpi_name(name).map(Self::Basic).or_else(|| pair().map(Self::Pair)),
        }
    }

    /// The name in this crate.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Basic(basic) => basic.name(),
            Self::Pair(pair) => pair.name(),
            Self::LbMarker => "lb_marker",
            Self::UbMarker => "ub_marker",
        }
    }

    /// The name in MPI, if it has one. The markers have their MPI-1 names.
    pub const fn mpi_name(self) -> Option<&'static str> {
        match self {
            Self::Basic(basic) => basic.mpi_name(),
            Self::Pair(pair) => Some(pair.mpi_name()),
            Self::LbMarker => Some("MPI_LB"),
            Self::UbMarker => Some("MPI_UB"),
        }
    }
}

impl Type {
    /// Which named datatype this is, if the combiner is [`Combiner::Named`](super::call::Combiner::Named); otherwise
    /// `None`.
    ///
    /// ```
    /// use dtype_runtime::types::{Named, Pair};
    /// use dtype_runtime::{Basic, Type};
    /// let column = Type::vector(4, 1, 6, &Type::basic(Basic::Int))?;
    /// assert_eq!(column.named(), None);
    /// let named = column.contents()?.datatypes[0].named();
    /// assert_eq!(named, Some(Named::Basic(Basic::Int)));
    /// assert_eq!(named.and_then(Named::mpi_name), Some("MPI_INT"));
    /// assert_eq!(Type::pair(Pair::TwoInt).named(), Some(Named::Pair(Pair::TwoInt)));
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_COMBINER_NAMED")]
    #[doc(alias = "MPI_Type_get_name")]
    pub fn named(&self) -> Option<Named> {
        self.constructor().named()
    }
}

impl Constructor {
    pub(super) const fn named(&self) -> Option<Named> {
        match self {
            Self::Basic(basic) => Some(Named::Basic(*basic)),
            Self::LbMarker => Some(Named::LbMarker),
            Self::UbMarker => Some(Named::UbMarker),
            Self::Pair { name: Some(pair), .. } => Some(Named::Pair(*pair)),
            _ => None,
        }
    }
}
