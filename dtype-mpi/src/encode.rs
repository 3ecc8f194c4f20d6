//! Converts a [`Type`] to an MPI datatype, call by call.

use std::collections::HashMap;
use std::rc::Rc;

use dtype_runtime::types::{Combiner, Contents, Named};
use dtype_runtime::{Basic, Type};

use crate::agreement::Agreement;
use crate::error::Error;
use crate::raw::{self, Datatype, Session};

impl Datatype {
    /// Makes and commits the MPI datatype that the same constructor calls make.
    ///
    /// Every constructor call that made `ty` is repeated with the library, so that the envelope and the contents of
    /// the datatype equal those of `ty`, level by level. A part that occurs several times in `ty` is made once.
    ///
    /// A basic datatype that MPI lacks becomes another one of the same size, and decodes to the latter: a `char` becomes an
    /// `MPI_UINT32_T`; a 128-bit integer, an `f16` or a `bf16` becomes an array of `MPI_BYTE`, which no library converts
    /// between byte orders, and which a receiver can only match with bytes. If the substitute has a smaller alignment, a
    /// datatype built from it is resized to the bounds of its `Type`.
    ///
    /// The library computes the layout. If it interprets the standard's rules for bounds differently, the
    /// datatype's bounds differ from those of `ty`.
    ///
    /// # Errors
    ///
    /// [`Error::NotRunning`], [`Error::Thread`]; [`Error::NoSuchType`] and [`Error::NoSuchCall`] for types and calls that the
    /// library lacks; [`Error::LargeCounts`] for arguments of more than 32 bits if it has no calls for them; [`Error::Type`]
    /// for a type whose contents are unknown; [`Error::Call`] if the library refuses the arguments.
    #[doc(alias = "MPI_Type_commit")]
    pub fn new(ty: &Type) -> Result<Self, Error> {
        let _session = Session::begin("MPI_Type_commit")?;
        Made::default().whole(ty)
    }

    /// As [`new`](Self::new), compared with `ty` part by part. Requires a session.
    pub(crate) fn compared(ty: &Type) -> Result<(Self, Agreement), Error> {
        let mut agreement = Agreement::new();
        let made = Made { agreement: Some(&mut agreement), ..Made::default() };
        let datatype = made.whole(ty)?;
        Ok((datatype, agreement))
    }
}

/// The datatypes made so far. Equal types become one datatype, because some libraries treat two equal datatypes as
/// different.
#[derive(Default)]
struct Made<'a> {
    /// Keyed by the addresses of the types. The types live as long as the type being converted, so each address belongs to one
    /// type.
    by_address: HashMap<*const (), Rc<Part>>,
    /// Keyed by the types themselves, for equal types at other addresses.
    by_type: HashMap<Type, Rc<Part>>,
    /// Keeps types alive that are not parts of the type being converted.
    kept: Vec<Type>,
    /// The agreement that every part is added to, if there is one.
    agreement: Option<&'a mut Agreement>,
}

/// A datatype that was made.
struct Part {
    datatype: Datatype,
    /// Whether the datatype contains a substitute for a type that the library lacks. The substitute may have another
    /// alignment, so that the library pads differently.
    substituted: bool,
}

impl Made<'_> {
    /// The committed datatype. Requires a session.
    fn whole(mut self, ty: &Type) -> Result<Datatype, Error> {
        let whole = self.datatype(ty)?;
        drop(self);
        let mut whole =
            Rc::into_inner(whole).unwrap_or_else(|| unreachable!("nothing else has it"));
        whole.datatype.commit()?;
        Ok(whole.datatype)
    }

    /// Compares a part with its datatype, if there is an agreement to complete.
    fn compare(
        &mut self,
        part: (&Type, &Datatype),
        combiner: Combiner,
        parts: &[(&Type, &Datatype)],
    ) -> Result<(), Error> {
        match &mut self.agreement {
            Some(agreement) => agreement.see(part, combiner, parts),
            None => Ok(()),
        }
    }

    fn datatype(&mut self, ty: &Type) -> Result<Rc<Part>, Error> {
        if let Some(part) = self.by_address.get(&ty.as_ptr()) {
            return Ok(Rc::clone(part));
        }
        let part = match self.by_type.get(ty) {
            Some(part) => Rc::clone(part),
            None => Rc::new(self.make(ty)?),
        };
        self.by_address.insert(ty.as_ptr(), Rc::clone(&part));
        self.by_type.insert(ty.clone(), Rc::clone(&part));
        Ok(part)
    }

    fn make(&mut self, ty: &Type) -> Result<Part, Error> {
        if let Some(named) = ty.named() {
            if let Some(other) = substitute(named) {
                let other = other?;
                self.kept.push(other.clone());
                let Part { datatype, .. } = self.make(&other)?;
                return Ok(Part { datatype, substituted: true });
            }
            let name = named.mpi_name().ok_or(Error::NoSuchType { name: named.name() })?;
            let datatype = Datatype::named(name)?;
            self.compare((ty, &datatype), Combiner::Named, &[])?;
            return Ok(Part { datatype, substituted: false });
        }
        let contents = ty.contents()?;
        let parts: Result<Vec<Rc<Part>>, Error> =
            contents.datatypes.iter().map(|part| self.datatype(part)).collect();
        let parts = parts?;
        let substituted = parts.iter().any(|part| part.substituted);
        let parts: Vec<&Datatype> = parts.iter().map(|part| &part.datatype).collect();
        let mut datatype = raw::make(&contents, &parts)?;
        let bounds = (ty.lb(), ty.extent());
        if substituted && datatype.bounds()? != bounds {
            let resize = Contents {
                combiner: Combiner::Resized,
                integers: Vec::new(),
                addresses: vec![bounds.0, bounds.1],
                large_counts: Vec::new(),
                datatypes: vec![ty],
            };
            datatype = raw::make(&resize, &[&datatype])?;
        }
        let pairs: Vec<_> = contents.datatypes.iter().zip(parts).collect();
        self.compare((ty, &datatype), contents.combiner, &pairs)?;
        Ok(Part { datatype, substituted })
    }
}

/// The substitute for a basic datatype that MPI does not have: an unsigned integer for `char`, and bytes for the
/// others.
fn substitute(named: Named) -> Option<Result<Type, dtype_runtime::Error>> {
    match named {
        Named::Basic(basic) if basic.mpi_name().is_some() => None,
        Named::Basic(Basic::Char) => Some(Ok(Type::basic(Basic::U32))),
        Named::Basic(basic) => {
            Some(Type::contiguous(basic.size() as u64, &Type::basic(Basic::Byte)))
        }
        _ => None,
    }
}
