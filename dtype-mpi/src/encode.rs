//! From a [`Type`] to an MPI datatype, call by call.

use std::collections::HashMap;
use std::rc::Rc;

use dtype_runtime::Type;
use dtype_runtime::types::Combiner;

use crate::error::Error;
use crate::names;
use crate::raw::{self, Datatype, Session};

impl Datatype {
    /// Makes the MPI datatype that the same calls make, and commits it.
    ///
    /// Every constructor of `ty` is called as it was called here, so that the envelope and the contents of
    /// the datatype are those of `ty`, level by level. A part that `ty` has in several places is made once.
    ///
    /// The layout is the library's business: where one takes the standard's bounds another way, its datatype
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
        whole.commit()?;
        Ok(whole)
    }
}

/// The datatypes that were made so far. Equal types become one datatype, as a program would make one and use it
/// repeatedly; there are libraries that tell two of them apart.
#[derive(Default)]
struct Made {
    /// By the addresses of the types, which are alive as long as the one that is being converted, so that an
    /// address means one type.
    by_address: HashMap<*const (), Rc<Datatype>>,
    /// By what the types are, for equal ones at other addresses.
    by_type: HashMap<Type, Rc<Datatype>>,
}

impl Made {
    fn datatype(&mut self, ty: &Type) -> Result<Rc<Datatype>, Error> {
        if let Some(datatype) = self.by_address.get(&ty.address()) {
            return Ok(Rc::clone(datatype));
        }
        let datatype = match self.by_type.get(ty) {
            Some(datatype) => Rc::clone(datatype),
            None => Rc::new(self.make(ty)?),
        };
        self.by_address.insert(ty.address(), Rc::clone(&datatype));
        self.by_type.insert(ty.clone(), Rc::clone(&datatype));
        Ok(datatype)
    }

    fn make(&mut self, ty: &Type) -> Result<Datatype, Error> {
        let contents = match ty.contents() {
            Err(dtype_runtime::Error::NoContents { name }) => {
                return Datatype::named(names::of(name)?);
            }
            contents => contents?,
        };
        if contents.combiner == Combiner::ValueIndex {
            return Err(Error::NoSuchCall { combiner: contents.combiner.name() });
        }
        let parts: Result<Vec<Rc<Datatype>>, Error> =
            contents.datatypes.iter().map(|part| self.datatype(part)).collect();
        let parts = parts?;
        let parts: Vec<&Datatype> = parts.iter().map(Rc::as_ref).collect();
        if contents.large_counts.is_empty() {
            return raw::make(&contents, &parts);
        }
        #[cfg(large_counts)]
        return raw::make_large(&contents, &parts);
        #[cfg(not(large_counts))]
        Err(Error::LargeCounts {
            combiner: contents.combiner.name(),
            number: contents.large_counts.len(),
        })
    }
}
