//! Decodes the datatypes of an MPI library to a [`Type`], level by level.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::Contents;
use crate::error::Error;
use crate::typemap::MAX_DEPTH;
use crate::types::Type;

/// An MPI library whose datatypes [`Type::decode`] reads.
///
/// ```
/// use dtype_runtime::types::{Combiner, Contents, Decoded, Library};
/// use dtype_runtime::{Basic, Error, Type};
///
/// /// Its datatypes are numbers: 0 is a `double`, and each other one is made of two of the one before.
/// struct Doubling;
///
/// impl Library for Doubling {
///     type Datatype = i32;
///     type Key = i32;
///     type Error = Error;
///
///     fn key(&self, datatype: &i32) -> i32 {
///         *datatype
///     }
///
///     fn read(&mut self, datatype: &i32) -> Result<Decoded<i32>, Error> {
///         Ok(match datatype {
///             0 => Decoded::Named(Type::basic(Basic::F64)),
///             number => Decoded::Made(Contents {
///                 combiner: Combiner::Contiguous,
///                 integers: vec![2],
///                 addresses: vec![],
///                 large_counts: vec![],
///                 datatypes: vec![number - 1],
///             }),
///         })
///     }
/// }
///
/// assert_eq!(Type::decode(&mut Doubling, &10)?.size(), 1024 * 8);
/// assert!(matches!(Type::decode(&mut Doubling, &-1), Err(Error::TooDeep { .. })));
/// # Ok::<(), Error>(())
/// ```
pub trait Library {
    /// A datatype of the library: a handle, or a value that owns one.
    type Datatype;
    /// A value that differs between any two live datatypes.
    type Key: Ord;
    /// The reason why a datatype has no [`Type`].
    type Error: From<Error>;

    /// The maximum number of levels below the datatype.
    const MAX_DEPTH: u32 = MAX_DEPTH;

    /// The error for a datatype that nests deeper than `limit` levels.
    fn too_deep(limit: u32) -> Self::Error {
        Error::TooDeep { depth: limit.saturating_add(1), limit }.into()
    }

    /// The datatype's key.
    fn key(&self, datatype: &Self::Datatype) -> Self::Key;

    /// The envelope and the contents of a datatype. [`Type::decode`] calls this once for each key.
    ///
    /// # Errors
    ///
    /// Any error ends the decoding.
    fn read(&mut self, datatype: &Self::Datatype) -> Result<Decoded<Self::Datatype>, Self::Error>;

    /// The type of a datatype, where `ty` is the type that its contents make. A library with other rules for bounds replaces
    /// the bounds.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    fn adjust(&mut self, datatype: &Self::Datatype, ty: Type) -> Result<Type, Self::Error> {
        let _ = datatype;
        Ok(ty)
    }

    /// Frees a datatype that [`read`](Self::read) returned in contents. [`Type::decode`] calls this at the end, even if
    /// decoding fails, and not before: a library may reuse the handle of a freed datatype.
    fn free(&mut self, part: Self::Datatype) {
        drop(part);
    }
}

/// How a datatype of a library was made.
#[derive(Debug)]
pub enum Decoded<T> {
    /// The datatype is predefined.
    Named(Type),
    /// A call with these arguments made the datatype. Constants have the numbers of the MPI-5.0 ABI.
    Made(Contents<T>),
}

impl Type {
    /// Rebuilds a type from the calls that made a library's datatype.
    ///
    /// # Errors
    ///
    /// The library's errors; [`Library::too_deep`]; the errors of [`Contents::rebuild`].
    pub fn decode<L: Library>(library: &mut L, datatype: &L::Datatype) -> Result<Self, L::Error> {
        let mut walk = Walk { library, known: BTreeMap::new(), parts: Vec::new() };
        let decoded = walk.level(datatype, 0);
        for part in walk.parts {
            walk.library.free(part);
        }
        decoded
    }
}

struct Walk<'a, L: Library> {
    library: &'a mut L,
    /// The types decoded so far. Datatypes share their parts, so the tree can be exponentially larger than its memory.
    known: BTreeMap<L::Key, Type>,
    parts: Vec<L::Datatype>,
}

impl<L: Library> Walk<'_, L> {
    fn level(&mut self, datatype: &L::Datatype, depth: u32) -> Result<Type, L::Error> {
        let key = self.library.key(datatype);
        if let Some(ty) = self.known.get(&key) {
            return Ok(ty.clone());
        }
        if depth > L::MAX_DEPTH {
            return Err(L::too_deep(L::MAX_DEPTH));
        }
        let ty = match self.library.read(datatype)? {
            Decoded::Named(ty) => ty,
            Decoded::Made(contents) => {
                let Contents { combiner, integers, addresses, large_counts, datatypes: parts } =
                    contents;
                let types: Result<_, L::Error> =
                    parts.iter().map(|part| self.level(part, depth + 1)).collect();
                self.parts.extend(parts);
                let datatypes = types?;
                let contents = Contents { combiner, integers, addresses, large_counts, datatypes };
                self.library.adjust(datatype, contents.rebuild()?)?
            }
        };
        self.known.insert(key, ty.clone());
        Ok(ty)
    }
}
