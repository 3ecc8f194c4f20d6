//! The calls of the library. What is unsafe about them is here and in names.rs.
//!
//! A handle that is still alive is a [`Datatype`], and the functions take nothing else, so that what they
//! promise the library holds by their types. All of them return the library's error, and none of them ends
//! the program: see [`Session`].

#[cfg(large_counts)]
mod large;
mod small;

use std::fmt;
use std::marker::PhantomData;
use std::os::raw::{c_char, c_int};
use std::sync::{Mutex, MutexGuard, PoisonError};

use dtype_runtime::types::{Combiner, Envelope};
use mpi::ffi::{self, MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Errhandler};

use crate::error::{Error, MESSAGE};
use crate::names;

#[cfg(large_counts)]
pub(crate) use large::make as make_large;
pub(crate) use small::make;

/// The right to call the library, from here to its end: MPI runs, this thread may call it, and errors come
/// back as codes, where the communicators' error handlers would end the program.
pub(crate) struct Session {
    handlers: [(MPI_Comm, MPI_Errhandler); 2],
    /// Released when the handlers are back in their places.
    _alone: MutexGuard<'static, ()>,
}

/// Held by the one session that there is: of two at a time the second would take the first one's handlers for
/// the program's.
static ALONE: Mutex<()> = Mutex::new(());

impl Session {
    pub(crate) fn begin(call: &'static str) -> Result<Self, Error> {
        if let Some(state) = not_running() {
            return Err(Error::NotRunning { call, state });
        }
        let (mut level, mut main) = (0, 0);
        // SAFETY: MPI runs; both live through the calls.
        let multiple = unsafe {
            check("MPI_Query_thread", ffi::MPI_Query_thread(&raw mut level))?;
            check("MPI_Is_thread_main", ffi::MPI_Is_thread_main(&raw mut main))?;
            ffi::RSMPI_THREAD_MULTIPLE
        };
        if main == 0 && level != multiple {
            return Err(Error::Thread { call, level });
        }
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        // Errors about datatypes belong to no communicator: one library calls the handler of
        // MPI_COMM_WORLD for them, another that of MPI_COMM_SELF.
        // SAFETY: constants of the library.
        let communicators = unsafe { [ffi::RSMPI_COMM_WORLD, ffi::RSMPI_COMM_SELF] };
        let handlers = communicators.map(|communicator| {
            // SAFETY: MPI runs and the communicators are predefined; `before` lives through the call. The
            // calls cannot fail but for their arguments.
            unsafe {
                let mut before = ffi::RSMPI_ERRORS_RETURN;
                ffi::MPI_Comm_get_errhandler(communicator, &raw mut before);
                ffi::MPI_Comm_set_errhandler(communicator, ffi::RSMPI_ERRORS_RETURN);
                (communicator, before)
            }
        });
        Ok(Self { handlers, _alone: alone })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        for (communicator, before) in &mut self.handlers {
            // SAFETY: the session began with MPI running, and no call in it ends MPI. The handler is what
            // MPI_Comm_get_errhandler returned, to be given back with MPI_Errhandler_free.
            unsafe {
                ffi::MPI_Comm_set_errhandler(*communicator, *before);
                ffi::MPI_Errhandler_free(before);
            }
        }
    }
}

/// Why MPI cannot be called, if it cannot.
fn not_running() -> Option<&'static str> {
    if !mpi::environment::is_initialized() {
        Some("not initialised")
    } else if mpi::environment::is_finalized() {
        Some("finalized")
    } else {
        None
    }
}

/// The error that a return code stands for.
fn check(call: &'static str, code: c_int) -> Result<(), Error> {
    if code == 0 {
        return Ok(());
    }
    let mut bytes = [0_u8; MESSAGE];
    let mut length = 0;
    // SAFETY: the buffer has the length that the standard asks for.
    unsafe { ffi::MPI_Error_string(code, bytes.as_mut_ptr().cast::<c_char>(), &raw mut length) };
    Err(Error::Call { call, code, message: text(&bytes, length) })
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
