//! The calls that return a datatype's envelope and contents.

#[cfg_attr(large_counts, path = "decoding/large.rs")]
#[cfg_attr(not(large_counts), path = "decoding/small.rs")]
mod form;

use dtype_runtime::types::{self, Combiner, Envelope};
use mpi::ffi::MPI_Datatype;

use super::arguments::in_abi;
use super::datatype::Datatype;
use super::session::Session;
use crate::error::Error;
use crate::names;

/// The arguments that made an MPI datatype (`MPI_Type_get_contents`), in the arrays and the order of the standard.
///
/// The datatypes are the library's. The constants for an order, a distribution, a default distribution argument and
/// an undefined precision have the numbers of the MPI-5.0 ABI.
pub type Contents = types::Contents<Datatype>;

impl Datatype {
    /// The constructor that made the datatype, and the number of its arguments of each kind
    /// (`MPI_Type_get_envelope`). A library that has large-count calls reports large counts even where the
    /// arguments would fit 32 bits.
    ///
    /// # Errors
    ///
    /// As [`size`](Self::size), and [`Error::UnknownCombiner`] for a combiner that MPI-4.1 does not have, such as
    /// the Fortran combiners that MPI-3 removed.
    pub fn envelope(&self) -> Result<Envelope, Error> {
        let _session = Session::begin("MPI_Type_get_envelope")?;
        envelope(self)
    }

    /// The arguments that made the datatype (`MPI_Type_get_contents`).
    ///
    /// # Errors
    ///
    /// As [`envelope`](Self::envelope); [`Error::Call`] for a named datatype, which has no contents;
    /// [`Error::Constant`] for arguments that the standard does not define.
    pub fn contents(&self) -> Result<Contents, Error> {
        let _session = Session::begin("MPI_Type_get_contents")?;
        contents(self, &envelope(self)?)
    }
}

/// The arrays as a call fills them.
struct Arrays {
    integers: Vec<i32>,
    addresses: Vec<i64>,
    large_counts: Vec<i64>,
    handles: Vec<MPI_Datatype>,
}

/// The envelope. Requires a session.
pub(crate) fn envelope(datatype: &Datatype) -> Result<Envelope, Error> {
    let (call, [integers, addresses, large_counts, datatypes], combiner) =
        form::envelope(datatype)?;
    let length = |number: i64| {
        usize::try_from(number).map_err(|_| Error::Argument { call, value: number, bits: 64 })
    };
    Ok(Envelope {
        num_integers: length(integers)?,
        num_addresses: length(addresses)?,
        num_large_counts: length(large_counts)?,
        num_datatypes: length(datatypes)?,
        combiner: names::combiner(combiner)?,
    })
}

/// The contents of a datatype that is not named. Requires a session.
pub(crate) fn contents(datatype: &Datatype, envelope: &Envelope) -> Result<Contents, Error> {
    let Arrays { integers, addresses, large_counts, handles } = form::contents(datatype, envelope)?;
    // From here on, every handle has an owner, even if a later step fails. Handles of predefined datatypes must not be freed;
    // the datatypes of Fortran's kinds count as predefined, although they have no name.
    let mut datatypes: Vec<Datatype> = handles.into_iter().map(Datatype::owned).collect();
    for datatype in &mut datatypes {
        let found = self::envelope(datatype);
        let is_predefined = matches!(
            found,
            Ok(Envelope {
                combiner: Combiner::Named
                    | Combiner::F90Real
                    | Combiner::F90Complex
                    | Combiner::F90Integer
                    | Combiner::ValueIndex,
                ..
            })
        );
        if is_predefined {
            datatype.disown();
        }
    }
    let combiner = envelope.combiner;
    let mut contents = Contents { combiner, integers, addresses, large_counts, datatypes };
    contents.integers = in_abi(&contents)?;
    Ok(contents)
}
