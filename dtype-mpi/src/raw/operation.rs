//! Reduction operations that are functions of the program.

use std::any::Any;
use std::marker::PhantomData;
use std::os::raw::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;
use std::sync::{Mutex, PoisonError};

use dtype_runtime::types::{Combiner, Contents};
use mpi::ffi::{self, MPI_Datatype, MPI_Op};

use super::code::check;
use super::collective::Block;
use super::session::{not_running, without_calls};
use super::{Datatype, Session, attributes, make};
use crate::error::Error;

/// Combines the packed elements of the first slice into the elements of the second.
type Function<'f> = dyn Fn(&[u8], &mut [u8]) -> Result<(), Error> + Sync + 'f;

/// An operation of the library. The library passes its function only one pointer that can carry context: the pointer to the
/// datatype. So the context is attached to a datatype that only this operation uses.
pub(crate) struct UserFunction<'f> {
    operation: MPI_Op,
    datatype: Datatype,
    context: Box<Context<'f>>,
    size: usize,
    /// Keeps the value on its thread, because drop makes a call.
    thread: PhantomData<*const ()>,
}

struct Context<'f> {
    function: Box<Function<'f>>,
    size: usize,
    failed: Mutex<Option<Error>>,
}

impl<'f> UserFunction<'f> {
    /// An operation on elements of `size` bytes (at least one).
    pub(crate) fn new(
        size: usize,
        commutes: bool,
        function: Box<Function<'f>>,
    ) -> Result<Self, Error> {
        let call = "MPI_Op_create";
        let _session = Session::begin(call)?;
        let byte = Datatype::named("MPI_BYTE")?;
        let count = c_int::try_from(size).map_err(|_| Error::Count {
            call: "MPI_Type_contiguous",
            count: size as u64,
            limit: u64::from(c_int::MAX.unsigned_abs()),
        })?;
        let contiguous: Contents = Contents {
            combiner: Combiner::Contiguous,
            integers: vec![count],
            addresses: Vec::new(),
            large_counts: Vec::new(),
            datatypes: Vec::new(),
        };
        let mut datatype = make(&contiguous, &[&byte])?;
        datatype.commit()?;
        let context = Box::new(Context { function, size, failed: Mutex::new(None) });
        let address = std::ptr::from_ref::<Context<'f>>(&context).cast::<c_void>().cast_mut();
        attributes::attach(datatype.handle(), address)?;
        // SAFETY: a constant of the library.
        let mut operation = unsafe { ffi::RSMPI_SUM };
        // SAFETY: the function has the type that the standard requires, and `operation` lives through the call.
        check(call, unsafe {
            ffi::MPI_Op_create(Some(apply), commutes.into(), &raw mut operation)
        })?;
        Ok(Self { operation, datatype, context, size, thread: PhantomData })
    }

    pub(crate) fn handle(&self) -> MPI_Op {
        self.operation
    }

    /// The datatype that the operation works on.
    pub(crate) fn block(&self) -> Block {
        Block { handle: self.datatype.handle(), size: self.size }
    }

    /// The failure since the last call of this function.
    pub(crate) fn failure(&self) -> Option<Error> {
        self.context.failed.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for UserFunction<'_> {
    fn drop(&mut self) {
        if not_running().is_none() {
            // SAFETY: the operation is alive and not used again; the blocking collective calls with it have ended.
            unsafe { ffi::MPI_Op_free(&raw mut self.operation) };
        }
    }
}

/// The function that the library calls: an `MPI_User_function` (MPI-4.1 section 6.9.5).
unsafe extern "C" fn apply(
    from: *mut c_void,
    into: *mut c_void,
    count: *mut c_int,
    datatype: *mut MPI_Datatype,
) {
    // SAFETY: the library passes valid pointers to both.
    let (count, datatype) = unsafe { (*count, *datatype) };
    let Some(context) = attributes::attached(datatype) else { return };
    if count == 0 {
        return;
    }
    // SAFETY: the operation is used only with its own datatype, to which its context is attached; a collective call
    // with it is in progress, so the context is alive.
    let context = unsafe { &*context.cast::<Context<'_>>() };
    let mut failed = context.failed.lock().unwrap_or_else(PoisonError::into_inner);
    if failed.is_some() {
        return;
    }
    let Some(bytes) = bytes_of(count, context.size) else {
        let (call, value) = ("MPI_User_function", count.into());
        *failed = Some(Error::Argument { call, value, bits: isize::BITS });
        return;
    };
    // SAFETY: the library passes `count` elements of the datatype, which are dense bytes that it has received or
    // copied, and no other code accesses them during the call. They fit a slice, as just computed.
    let (from, into) = unsafe {
        (
            slice::from_raw_parts(from.cast::<u8>(), bytes),
            slice::from_raw_parts_mut(into.cast::<u8>(), bytes),
        )
    };
    // A panic must not unwind through the library, which may be C.
    *failed =
        match catch_unwind(AssertUnwindSafe(|| without_calls(|| (context.function)(from, into)))) {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error),
            Err(payload) => Some(Error::Panic { message: message(payload) }),
        };
}

/// The bytes of `count` elements, if memory can have as many.
fn bytes_of(count: c_int, size: usize) -> Option<usize> {
    let bytes = usize::try_from(count).ok()?.checked_mul(size)?;
    (bytes <= isize::MAX.unsigned_abs()).then_some(bytes)
}

fn message(payload: Box<dyn Any + Send>) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    // Dropping the payload may panic again.
    std::mem::forget(payload);
    text.unwrap_or_else(|| "a value that is no text".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_library_passes_fits_memory() {
        assert_eq!(bytes_of(3, 7), Some(21));
        assert_eq!(bytes_of(1, isize::MAX.unsigned_abs()), Some(isize::MAX.unsigned_abs()));
        for (count, size) in [(-1, 1), (c_int::MIN, 8), (2, 1 << 62), (c_int::MAX, 1 << 33)] {
            assert_eq!(bytes_of(count, size), None, "{count} of {size}");
        }
    }
}
