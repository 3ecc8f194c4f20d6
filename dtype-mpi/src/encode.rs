//! From a [`Type`] to an MPI datatype, call by call.

use std::collections::HashMap;
use std::rc::Rc;

use dtype_runtime::types::{Combiner, Contents};
use dtype_runtime::{Basic, Type};

use crate::error::Error;
use crate::names;
use crate::raw::{self, Datatype, Session};

impl Datatype {
    /// Makes the MPI datatype that the same calls make, and commits it.
    ///
    /// Every constructor of `ty` is called as it was called here, so that the envelope and the contents of
    /// the datatype are those of `ty`, level by level. A part that `ty` has in several places is made once.
    ///
    /// What MPI has no datatype for is something else of the same size there, and comes back as that: a `char`
    /// is an `MPI_UINT32_T`; a 128-bit integer, a `f16` or a `bf16` is as many `MPI_BYTE`s, which no library
    /// converts between byte orders, and which match nothing but bytes. Where such a substitute is aligned
    /// less, what is built from it is resized to the bounds that it has here.
    ///
    /// The layout is the library's business otherwise: where one takes the standard's bounds another way, its datatype
    /// has other bounds than `ty`.
    ///
    /// # Errors
    ///
    /// [`Error::NotRunning`], [`Error::Thread`]; [`Error::NoSuchType`] and [`Error::NoSuchCall`] for what the
    /// library does not have; [`Error::LargeCounts`] for arguments of more than 32 bits where it has no calls
    /// for them; [`Error::Type`] for a type whose contents cannot be told; [`Error::Call`] when the library
    /// refuses the arguments.
    #[doc(alias = "MPI_Type_commit")]
    pub fn new(ty: &Type) -> Result<Self, Error> {
        let _session = Session::begin("MPI_Type_commit")?;
        let mut made = Made::default();
        let whole = made.datatype(ty)?;
        drop(made);
        let mut whole =
            Rc::into_inner(whole).unwrap_or_else(|| unreachable!("nothing else has it"));
        whole.datatype.commit()?;
        Ok(whole.datatype)
    }
}

/// The datatypes that were made so far. Equal types become one datatype, as a program would make one and use it
/// repeatedly; there are libraries that tell two of them apart.
#[derive(Default)]
struct Made {
    /// By the addresses of the types, which are alive as long as the one that is being converted, so that an
    /// address means one type.
    by_address: HashMap<*const (), Rc<Part>>,
    /// By what the types are, for equal ones at other addresses.
    by_type: HashMap<Type, Rc<Part>>,
    /// Types that are no part of the one that is being converted.
    kept: Vec<Type>,
}

/// A datatype that was made.
struct Part {
    datatype: Datatype,
    /// Whether another type stands in it for one that the library lacks. That may be aligned differently, so
    /// that the library pads differently.
    substituted: bool,
}

impl Made {
    fn datatype(&mut self, ty: &Type) -> Result<Rc<Part>, Error> {
        if let Some(part) = self.by_address.get(&ty.address()) {
            return Ok(Rc::clone(part));
        }
        let part = match self.by_type.get(ty) {
            Some(part) => Rc::clone(part),
            None => Rc::new(self.make(ty)?),
        };
        self.by_address.insert(ty.address(), Rc::clone(&part));
        self.by_type.insert(ty.clone(), Rc::clone(&part));
        Ok(part)
    }

    fn make(&mut self, ty: &Type) -> Result<Part, Error> {
        let contents = match ty.contents() {
            Err(dtype_runtime::Error::NoContents { name }) => {
                return match substitute(name) {
                    None => {
                        let datatype = Datatype::named(names::of(name)?)?;
                        Ok(Part { datatype, substituted: false })
                    }
                    Some(other) => {
                        let other = other?;
                        self.kept.push(other.clone());
                        let Part { datatype, .. } = self.make(&other)?;
                        Ok(Part { datatype, substituted: true })
                    }
                };
            }
            contents => contents?,
        };
        if contents.combiner == Combiner::ValueIndex {
            return Err(Error::NoSuchCall { combiner: contents.combiner.name() });
        }
        let parts: Result<Vec<Rc<Part>>, Error> =
            contents.datatypes.iter().map(|part| self.datatype(part)).collect();
        let parts = parts?;
        let substituted = parts.iter().any(|part| part.substituted);
        let parts: Vec<&Datatype> = parts.iter().map(|part| &part.datatype).collect();
        let datatype = call(&contents, &parts)?;
        let bounds = (ty.lb(), ty.extent());
        if !substituted || datatype.bounds()? == bounds {
            return Ok(Part { datatype, substituted });
        }
        let combiner = Combiner::Resized;
        let (addresses, datatypes) = (vec![bounds.0, bounds.1], contents.datatypes);
        let resize = Contents {
            combiner,
            integers: Vec::new(),
            addresses,
            large_counts: Vec::new(),
            datatypes,
        };
        Ok(Part { datatype: raw::make(&resize, &[&datatype])?, substituted })
    }
}

/// Calls the constructor that contents stand for.
fn call(contents: &Contents, parts: &[&Datatype]) -> Result<Datatype, Error> {
    if contents.large_counts.is_empty() {
        return raw::make(contents, parts);
    }
    #[cfg(large_counts)]
    return raw::make_large(contents, parts);
    #[cfg(not(large_counts))]
    Err(Error::LargeCounts {
        combiner: contents.combiner.name(),
        number: contents.large_counts.len(),
    })
}

/// What stands for a basic datatype of `dtype-runtime` that MPI does not have: the unsigned integer that a
/// `char` is, and for the others as many bytes.
fn substitute(name: &str) -> Option<Result<Type, dtype_runtime::Error>> {
    let basic =
        Basic::ALL.iter().find(|basic| basic.name() == name && basic.mpi_name().is_none())?;
    Some(match basic {
        Basic::Char => Ok(Type::basic(Basic::U32)),
        other => Type::contiguous(other.size() as u64, &Type::basic(Basic::Byte)),
    })
}
