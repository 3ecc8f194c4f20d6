//! The text of the program that makes a type again, in C or Rust.

mod c;
mod fill;
mod rust;

use core::fmt;
use std::collections::BTreeMap;

use dtype_runtime::Basic;
use dtype_runtime::Type;
use dtype_runtime::outline::structure_of_pair;
use dtype_runtime::types::{Call, Named};
use fill::Fill;

/// The language of a [`CallingSequence`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Language {
    /// The C binding of MPI-4.1.
    C,
    /// Rust, with `dtype-runtime`.
    Rust,
}

/// The calls that make a type, as program text: its `Display`. [`new`](Self::new) makes it.
///
/// Each intermediate type is a variable, `t1`, `t2` and so on, and the last one is the result. A type that is used
/// several times is made once. Named datatypes are written where they are used. The arguments are the original
/// ones. Lines are broken at 100 columns.
#[derive(Clone, Debug)]
pub struct CallingSequence<'a> {
    language: Language,
    root: &'a Type,
    /// The types that need a variable, in an order in which parts come first.
    made: Vec<&'a Type>,
    /// The number of each type's variable: its index in `made`, counted from 1.
    numbers: BTreeMap<Key, usize>,
    /// Whether one of the markers is used.
    markers: bool,
}

/// The identity of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// A basic datatype without a name.
    Basic(Basic),
    /// A type, by its address.
    Address(usize),
}

impl<'a> CallingSequence<'a> {
    /// The program text that makes a type again: "the calling sequence used in their initial
    /// definition" (MPI-4.1 section 5.1.13).
    ///
    /// # Rust
    ///
    /// The text compiles unchanged inside a function that returns `Result<_, Error>`, with these imports, as far as it needs
    /// them:
    ///
    /// ```
    /// use dtype_runtime::types::{BoundsRule, Distribution, Order, Pair};
    /// use dtype_runtime::{Basic, Error, Type};
    /// ```
    ///
    /// If the bounds of a type follow [another rule](Type::with_bounds_rule) than the standard's, the text sets that rule for
    /// the predefined datatypes.
    ///
    /// ```
    /// use dtype_show::{CallingSequence, Language};
    /// use dtype_runtime::{Basic, Type};
    /// let column = Type::vector(4, 1, 6, &Type::basic(Basic::F64))?;
    /// let both = Type::structure(&[1, 2], &[0, 8], &[column.clone(), column])?;
    /// assert_eq!(
    ///     CallingSequence::new(&both, Language::Rust).to_string(),
    ///     "\
    /// let t1 = Type::vector(4, 1, 6, &Type::basic(Basic::F64))?;
    /// let t2 = Type::structure(&[1, 2], &[0, 8], &[t1.clone(), t1.clone()])?;
    /// "
    /// );
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    ///
    /// # C
    ///
    /// The text is a part of a C99 function that runs between the initialisation and the finalization of MPI. It
    /// commits the result, unless that is predefined, and frees the intermediate types. If an argument does not fit an
    /// `int`, it calls the large-count form, which MPI-4.0 introduced; an argument that fits neither form has a comment
    /// that says so. The library computes the bounds from these calls.
    ///
    /// Some datatypes do not exist in MPI, and comments say how they were replaced. The markers are written as
    /// `MPI_LB` and `MPI_UB`, which MPI-3.0 removed. A basic datatype without a [name in MPI](dtype_runtime::Basic::mpi_name)
    /// becomes a block of `MPI_BYTE`, which is moved but never converted, and has no alignment, so the bounds of
    /// types made of it may lack padding; a [`value_index`](Type::value_index) of one is a structure. Names that
    /// the standard makes optional, such as `MPI_INTEGER16`, may be missing in a library.
    ///
    /// ```
    /// use dtype_show::{CallingSequence, Language};
    /// use dtype_runtime::{Basic, Type};
    /// let column = Type::vector(4, 1, 6, &Type::basic(Basic::F64))?;
    /// let both = Type::structure(&[1, 2], &[0, 8], &[column.clone(), column])?;
    /// assert_eq!(
    ///     CallingSequence::new(&both, Language::C).to_string(),
    ///     "\
    /// MPI_Datatype t1;
    /// MPI_Type_vector(4, 1, 6, MPI_DOUBLE, &t1);
    /// static const int t2_blocklengths[] = {1, 2};
    /// static const MPI_Aint t2_displacements[] = {0, 8};
    /// const MPI_Datatype t2_types[] = {t1, t1};
    /// MPI_Datatype t2;
    /// MPI_Type_create_struct(2, t2_blocklengths, t2_displacements, t2_types, &t2);
    /// MPI_Type_commit(&t2);
    /// MPI_Type_free(&t1);
    /// "
    /// );
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn new(ty: &'a Type, language: Language) -> Self {
        let mut sequence =
            Self { language, root: ty, made: Vec::new(), numbers: BTreeMap::new(), markers: false };
        sequence.visit(ty);
        sequence
    }

    /// The number of variables in the text: the result is `t` followed by this number.
    ///
    /// ```
    /// use dtype_show::{CallingSequence, Language};
    /// use dtype_runtime::{Basic, Type};
    /// let pairs = Type::contiguous(2, &Type::basic(Basic::Int))?;
    /// let two = Type::hvector(2, 1, 100, &pairs)?;
    /// assert_eq!(CallingSequence::new(&two, Language::C).variables(), 2);
    /// assert_eq!(CallingSequence::new(&pairs, Language::C).variables(), 1);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn variables(&self) -> usize {
        self.made.len().max(1)
    }

    /// Adds the parts of `ty`, and then `ty`, unless they were added before. Types nest at most 255 levels deep.
    fn visit(&mut self, ty: &'a Type) {
        let ty = self.written_as(ty);
        self.markers |= matches!(ty.named(), Some(Named::LbMarker | Named::UbMarker));
        let Some(key) = self.key(ty) else { return };
        if self.numbers.contains_key(&key) {
            return;
        }
        // A block, so that the lists of the call are freed before the next level.
        let parts: Vec<&Type> = ty.call().iter().flat_map(Call::types).copied().collect();
        for part in parts {
            self.visit(part);
        }
        self.made.push(ty);
        self.numbers.insert(key, self.made.len());
    }

    /// The type whose call is written for this one: the type itself, or in C the structure that replaces a pair that MPI lacks.
    fn written_as(&self, ty: &'a Type) -> &'a Type {
        let lacks_name = |part: &&Type| part.named().and_then(Named::mpi_name).is_none();
        match structure_of_pair(ty) {
            Some(structure)
                if self.language == Language::C
                    && ty.call().is_some_and(|call| call.types().any(lacks_name)) =>
            {
                structure
            }
            _ => ty,
        }
    }

    /// The key of a type's variable; `None` for a type that is written where it is used.
    fn key(&self, ty: &Type) -> Option<Key> {
        match (ty.named(), self.language) {
            (Some(Named::Basic(basic)), Language::C) if basic.mpi_name().is_none() => {
                Some(Key::Basic(basic))
            }
            (Some(_), _) => None,
            (None, _) => Some(Key::Address(ty.as_ptr().addr())),
        }
    }

    /// The number of the variable of a type, if it has one.
    fn variable(&self, ty: &'a Type) -> Option<usize> {
        self.key(self.written_as(ty)).and_then(|key| self.numbers.get(&key).copied())
    }
}

impl fmt::Display for CallingSequence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Fill::new(f);
        match self.language {
            Language::C => c::program(self, &mut out),
            Language::Rust => rust::program(self, &mut out),
        }
    }
}
