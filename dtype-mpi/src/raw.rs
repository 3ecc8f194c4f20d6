//! The calls of the library. What is unsafe about them is here and in names.rs.
//!
//! A handle that is still alive is a [`Datatype`], and the functions take nothing else, so that what they
//! promise the library holds by their types. All of them return the library's error, and none of them ends
//! the program: see [`Session`].

pub(crate) mod attributes;
pub(crate) mod collective;
#[cfg(large_counts)]
mod large;
pub(crate) mod operation;
pub(crate) mod point_to_point;
mod session;
mod small;

use std::fmt;
use std::marker::PhantomData;
use std::os::raw::{c_char, c_int, c_void};

use dtype_runtime::types::{Combiner, Envelope};
use mpi::ffi::{self, MPI_Aint, MPI_Count, MPI_Datatype};

use crate::error::{Error, MESSAGE};
use crate::names;

#[cfg(large_counts)]
pub(crate) use large::make as make_large;
use session::not_running;
pub(crate) use session::{OnCommunicator, Session, check_running};
pub(crate) use small::make;

/// The error that a return code stands for.
fn check(call: &'static str, code: c_int) -> Result<(), Error> {
    if code == 0 {
        return Ok(());
    }
    let mut bytes = [0_u8; MESSAGE];
    let (mut length, mut class) = (0, 0);
    // SAFETY: the buffer has the length that the standard asks for, and all live through the calls.
    unsafe {
        ffi::MPI_Error_class(code, &raw mut class);
        ffi::MPI_Error_string(code, bytes.as_mut_ptr().cast::<c_char>(), &raw mut length);
    }
    Err(Error::Call { call, code, class, message: text(&bytes, length) })
}

fn text(bytes: &[u8], length: c_int) -> String {
    let length = usize::try_from(length).unwrap_or(0).min(bytes.len());
    String::from_utf8_lossy(&bytes[..length]).into_owned()
}

/// An address as the library has it.
fn aint(call: &'static str, value: i64) -> Result<MPI_Aint, Error> {
    #[allow(
        clippy::useless_conversion,
        reason = "an i64 under one library, an isize under another"
    )]
    MPI_Aint::try_from(value).map_err(|_| Error::Argument { call, value, bits: MPI_Aint::BITS })
}

/// An MPI datatype that lives as long as this value.
///
/// It is freed when it is dropped, unless it is predefined, or MPI was finalized in the meantime.
///
/// The value stays on its thread: most programs initialise MPI at a level where one thread alone may call it,
/// and dropping is a call.
pub struct Datatype {
    handle: MPI_Datatype,
    owned: bool,
    thread: PhantomData<*const ()>,
}

impl Datatype {
    /// Takes over a handle that a call has just returned.
    fn owned(handle: MPI_Datatype) -> Self {
        Self { handle, owned: true, thread: PhantomData }
    }

    /// A handle that nobody frees.
    fn predefined(handle: MPI_Datatype) -> Self {
        Self { handle, owned: false, thread: PhantomData }
    }

    /// A handle that belongs to someone else.
    ///
    /// # Safety
    ///
    /// It is the null handle, or alive for as long as the value.
    pub(crate) unsafe fn borrowed(handle: MPI_Datatype) -> Self {
        Self::predefined(handle)
    }

    pub(crate) fn named(name: &'static str) -> Result<Self, Error> {
        names::handle(name).map(Self::predefined)
    }

    pub(crate) fn handle(&self) -> MPI_Datatype {
        self.handle
    }

    pub(crate) fn is_null(&self) -> bool {
        // SAFETY: a constant of the library.
        self.handle == unsafe { ffi::RSMPI_DATATYPE_NULL }
    }

    /// A number that no other datatype has, as long as both are alive.
    pub(crate) fn number(&self) -> i32 {
        // SAFETY: the handle is alive; a session is in progress.
        unsafe { ffi::RSMPI_Type_c2f(self.handle) }
    }

    /// Whether its handle is one that everyone has.
    pub(crate) fn is_predefined(&self) -> bool {
        !self.owned
    }

    /// Whether it has to be freed by whoever takes the handle away.
    pub(crate) fn into_handle(self) -> (MPI_Datatype, bool) {
        let this = std::mem::ManuallyDrop::new(self);
        (this.handle, this.owned)
    }

    /// Makes the datatype ready to communicate with.
    pub(crate) fn commit(&mut self) -> Result<(), Error> {
        if !self.owned {
            return Ok(());
        }
        // SAFETY: the handle is alive, and stays the same; some libraries take a pointer all the same.
        check("MPI_Type_commit", unsafe { ffi::MPI_Type_commit(&raw mut self.handle) })
    }

    /// The name that the library has for the datatype.
    pub(crate) fn library_name(&self) -> Result<String, Error> {
        let mut bytes = [0_u8; ffi::MPI_MAX_OBJECT_NAME as usize];
        let mut length = 0;
        let at = bytes.as_mut_ptr().cast::<c_char>();
        // SAFETY: the handle is alive, and the buffer has the length that the standard asks for.
        check("MPI_Type_get_name", unsafe {
            ffi::MPI_Type_get_name(self.handle, at, &raw mut length)
        })?;
        Ok(text(&bytes, length))
    }

    /// Packed bytes of one instance (`MPI_Type_size`).
    ///
    /// # Errors
    ///
    /// [`Error::NotRunning`], [`Error::Thread`]; [`Error::Call`] when the library fails.
    pub fn size(&self) -> Result<i64, Error> {
        let _session = Session::begin("MPI_Type_size_x")?;
        let mut size: MPI_Count = 0;
        // SAFETY: the handle is alive, and so is `size`.
        let code = unsafe { ffi::MPI_Type_size_x(self.handle, &raw mut size) };
        check("MPI_Type_size_x", code)?;
        Ok(wide(size))
    }

    /// The lower bound and the extent in bytes, as the library has them (`MPI_Type_get_extent`).
    ///
    /// # Errors
    ///
    /// As [`size`](Self::size).
    pub fn extent(&self) -> Result<(i64, i64), Error> {
        let _session = Session::begin("MPI_Type_get_extent_x")?;
        self.bounds()
    }

    /// As [`extent`](Self::extent), in a session.
    pub(crate) fn bounds(&self) -> Result<(i64, i64), Error> {
        let (mut lb, mut extent): (MPI_Count, MPI_Count) = (0, 0);
        // SAFETY: the handle is alive, and so are the two.
        let code = unsafe { ffi::MPI_Type_get_extent_x(self.handle, &raw mut lb, &raw mut extent) };
        check("MPI_Type_get_extent_x", code)?;
        Ok((wide(lb), wide(extent)))
    }

    /// The lower bound and the extent in bytes of the data alone (`MPI_Type_get_true_extent`).
    ///
    /// # Errors
    ///
    /// As [`size`](Self::size).
    pub fn true_extent(&self) -> Result<(i64, i64), Error> {
        let _session = Session::begin("MPI_Type_get_true_extent_x")?;
        let (mut lb, mut extent): (MPI_Count, MPI_Count) = (0, 0);
        // SAFETY: the handle is alive, and so are the two.
        let code =
            unsafe { ffi::MPI_Type_get_true_extent_x(self.handle, &raw mut lb, &raw mut extent) };
        check("MPI_Type_get_true_extent_x", code)?;
        Ok((wide(lb), wide(extent)))
    }

    /// How many arguments of which kind made the datatype (`MPI_Type_get_envelope`). A library that has calls
    /// with large counts tells of them also where their arguments would have fitted 32 bits.
    ///
    /// # Errors
    ///
    /// As [`size`](Self::size), and [`Error::UnknownCombiner`] for a combiner that MPI-4.1 does not have, the
    /// ones of Fortran that MPI-3 removed, say.
    pub fn envelope(&self) -> Result<Envelope, Error> {
        let _session = Session::begin("MPI_Type_get_envelope")?;
        envelope(self)
    }

    /// The arguments that made the datatype (`MPI_Type_get_contents`).
    ///
    /// # Errors
    ///
    /// As [`envelope`](Self::envelope); [`Error::Call`] for a named datatype, which has none;
    /// [`Error::Constant`] for arguments that the standard does not know.
    pub fn contents(&self) -> Result<Contents, Error> {
        let _session = Session::begin("MPI_Type_get_contents")?;
        contents(self, &envelope(self)?)
    }
}

/// Where bytes to be sent are. An empty slice may be at address 1, which is `MPI_IN_PLACE` in Open MPI; no bytes
/// have an address of their own here.
pub(crate) fn sending(bytes: &[u8]) -> *const c_void {
    static NOTHING: u8 = 0;
    let at = if bytes.is_empty() { &raw const NOTHING } else { bytes.as_ptr() };
    at.cast()
}

/// Where bytes are to be received: as [`sending`]. No bytes have another address than there, because some
/// libraries refuse the same one on both sides.
pub(crate) fn receiving(at: *mut u8, bytes: usize) -> *mut c_void {
    static NOTHING: u8 = 0;
    let at = if bytes == 0 { (&raw const NOTHING).cast_mut() } else { at };
    at.cast()
}

/// An address as an `i64`.
fn offset(value: MPI_Aint) -> i64 {
    #[allow(clippy::unnecessary_cast, reason = "a long under one library, an isize under another")]
    let value = value as i64;
    value
}

/// A count as an `i64`.
fn wide(value: MPI_Count) -> i64 {
    #[allow(
        clippy::useless_conversion,
        reason = "a long under one library, a long long under another"
    )]
    value.into()
}

impl fmt::Debug for Datatype {
    /// Whether it is freed when it is dropped; the handle is a number or an address that says nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Datatype").field("owned", &self.owned).finish_non_exhaustive()
    }
}

impl Drop for Datatype {
    fn drop(&mut self) {
        if self.owned && not_running().is_none() {
            // SAFETY: the handle is alive, was returned by a constructor or by MPI_Type_get_contents, and
            // is not used again. What was built from it keeps what it needs.
            unsafe { ffi::MPI_Type_free(&raw mut self.handle) };
        }
    }
}

/// The arguments that made an MPI datatype (`MPI_Type_get_contents`), in the arrays and at the places where the
/// standard puts them.
///
/// As [`dtype_runtime::types::Contents`], with the datatypes still the library's. What stands for an order, a
/// distribution, its default argument or an undefined precision is numbered as in the ABI of MPI-5.0.
#[derive(Debug)]
pub struct Contents {
    /// The call.
    pub combiner: Combiner,
    /// The arguments of type `int`.
    pub integers: Vec<i32>,
    /// The arguments of type `MPI_Aint`.
    pub addresses: Vec<i64>,
    /// The arguments of type `MPI_Count`.
    pub large_counts: Vec<i64>,
    /// The datatypes.
    pub datatypes: Vec<Datatype>,
}

/// The arrays as a call fills them.
struct Arrays {
    integers: Vec<i32>,
    addresses: Vec<i64>,
    large_counts: Vec<i64>,
    handles: Vec<MPI_Datatype>,
}

/// The envelope, in a session.
pub(crate) fn envelope(datatype: &Datatype) -> Result<Envelope, Error> {
    #[cfg(large_counts)]
    let (call, [integers, addresses, large_counts, datatypes], combiner) =
        large::envelope(datatype)?;
    #[cfg(not(large_counts))]
    let (call, [integers, addresses, large_counts, datatypes], combiner) =
        small::envelope(datatype)?;
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

/// The contents of a datatype that is not a named one, in a session.
pub(crate) fn contents(datatype: &Datatype, envelope: &Envelope) -> Result<Contents, Error> {
    #[cfg(large_counts)]
    let arrays = large::contents(datatype, envelope)?;
    #[cfg(not(large_counts))]
    let arrays = small::contents(datatype, envelope)?;
    let Arrays { integers, addresses, large_counts, handles } = arrays;
    // From here on every handle has an owner, whatever fails. Those of predefined datatypes must not be
    // freed; those of Fortran's kinds count as such, although they have no name.
    let mut datatypes: Vec<Datatype> = handles.into_iter().map(Datatype::owned).collect();
    for datatype in &mut datatypes {
        let found = self::envelope(datatype);
        datatype.owned = !matches!(
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
    }
    let combiner = envelope.combiner;
    let integers = names::in_abi(combiner, integers)?;
    Ok(Contents { combiner, integers, addresses, large_counts, datatypes })
}
