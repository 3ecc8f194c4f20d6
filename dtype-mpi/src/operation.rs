//! Reduction operations with a function of the program, on types of the program.

use std::fmt;
use std::marker::PhantomData;

use dtype_runtime::Datatype as Described;

use crate::error::Error;
use crate::raw::operation::UserFunction;

/// A function that combines two values, for
/// [`reduce_packed`](crate::traits::PackedCollectives::reduce_packed) and
/// [`all_reduce_packed`](crate::traits::PackedCollectives::all_reduce_packed) (`MPI_Op_create`, MPI-4.1 section
/// 6.9.5).
///
/// MPI's own operations are defined on numbers: [`flatten`](crate::flatten) views a struct of numbers of one type
/// as such numbers. `Operation` is for all other types.
///
/// The function gets the value of the lower ranks and combines it into the value of the higher ranks. It must be
/// associative. If it panics, the reduction returns an error at every rank.
///
/// ```
/// use dtype_mpi::Operation;
/// use dtype_mpi::traits::*;
///
/// #[derive(dtype_runtime::Datatype, Clone, Copy, Debug, PartialEq)]
/// struct Nearest {
///     distance: f64,
///     found: bool,
/// }
///
/// let universe = mpi::initialize().expect("MPI runs once");
/// let nearer = Operation::commutative(|a: &Nearest, b: &mut Nearest| {
///     if a.found && (!b.found || a.distance < b.distance) {
///         *b = *a;
///     }
/// })?;
/// let own = [Nearest { distance: 2.5, found: true }];
/// assert_eq!(universe.world().all_reduce_packed(&own, &nearer)?, own);
/// # Ok::<(), dtype_mpi::Error>(())
/// ```
pub struct Operation<'f, T> {
    /// `None` for a type without data, which has nothing to combine.
    function: Option<UserFunction<'f>>,
    types: PhantomData<fn(&T, &mut T)>,
}

impl<'f, T: Described> Operation<'f, T> {
    /// An operation that does not depend on the order of the ranks.
    ///
    /// A type that skips fields does not compile here: nothing would initialise them.
    ///
    /// # Errors
    ///
    /// [`Error::NotRunning`], [`Error::Thread`], [`Error::Call`]; [`Error::Count`] for a type of more than
    /// 2³¹ − 1 packed bytes.
    pub fn commutative(function: impl Fn(&T, &mut T) + Sync + 'f) -> Result<Self, Error> {
        Self::new(true, function)
    }

    /// An operation that is only associative: the values are combined in the order of the ranks.
    ///
    /// # Errors
    ///
    /// As [`commutative`](Self::commutative).
    pub fn associative(function: impl Fn(&T, &mut T) + Sync + 'f) -> Result<Self, Error> {
        Self::new(false, function)
    }

    fn new(commutes: bool, function: impl Fn(&T, &mut T) + Sync + 'f) -> Result<Self, Error> {
        let packed = move |from: &[u8], into: &mut [u8]| -> Result<(), Error> {
            // A peer's bytes may not be valid values, and the library's memory may have any alignment.
            let values = dtype_runtime::unpack::<T>(from)?;
            let mut combined = dtype_runtime::unpack::<T>(into)?;
            for (value, combined) in values.iter().zip(&mut combined) {
                function(value, combined);
            }
            dtype_runtime::pack_into(&combined, into)?;
            Ok(())
        };
        let function = match T::TYPE_MAP.size() {
            0 => None,
            size => Some(UserFunction::new(size, commutes, Box::new(packed))?),
        };
        Ok(Self { function, types: PhantomData })
    }

    pub(crate) fn function(&self) -> Option<&UserFunction<'f>> {
        self.function.as_ref()
    }
}

impl<T> fmt::Debug for Operation<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operation").finish_non_exhaustive()
    }
}
