//! From the datatypes of an MPI library to a [`Type`], level by level.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::Contents;
use crate::error::Error;
use crate::typemap::MAX_DEPTH;
use crate::types::Type;

/// An MPI library whose datatypes [`Type::decode`] reads.
pub trait Library {
    /// A datatype of the library: a handle, or a value that owns one.
    type Datatype;
    /// What equals only the keys of the same datatype, among the datatypes that are alive.
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

    /// Envelope and contents of a datatype. It is called once for each datatype.
    ///
    /// # Errors
    ///
    /// Whatever prevents it. The decoding ends with this error.
    fn read(&mut self, datatype: &Self::Datatype) -> Result<Decoded<Self::Datatype>, Self::Error>;

    /// The type of a datatype, from the one that its contents make: a library with rules of its own for bounds replaces them.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    fn adjust(&mut self, _: &Self::Datatype, ty: Type) -> Result<Type, Self::Error> {
        Ok(ty)
    }

    /// Takes back a part from the contents that [`read`](Self::read) returned. Parts are alive until the end, also that of a
    /// decoding that fails, because a library may give the handle of a freed datatype to another one.
    fn free(&mut self, part: Self::Datatype) {
        drop(part);
    }
}

/// How a datatype of a library was made.
#[derive(Debug)]
pub enum Decoded<T> {
    /// It is predefined.
    Named(Type),
    /// By a call with these arguments. Constants have the numbers of the MPI-5.0 ABI.
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
        walk.parts.into_iter().for_each(|part| walk.library.free(part));
        decoded
    }
}

struct Walk<'a, L: Library> {
    library: &'a mut L,
    /// The datatypes decoded so far. Types share their parts, and the tree can be exponentially larger than its memory.
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
