//! The library's predefined datatypes by their names, and its constants by the numbers of the MPI-5.0 ABI.
//!
//! The tables come from names.c once, and are the only thing that is read from it.

use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::LazyLock;

use dtype_runtime::types::{Combiner, Pair};
use dtype_runtime::{Basic, Type};
use mpi::ffi::{self, MPI_Datatype};
use std::os::raw::{c_char, c_int};

use crate::error::Error;

unsafe extern "C" {
    fn dtype_mpi_name(index: usize, handle: *mut MPI_Datatype) -> *const c_char;
    fn dtype_mpi_constant(
        index: usize,
        kind: *mut c_int,
        abi: *mut c_int,
        here: *mut c_int,
    ) -> c_int;
    fn dtype_mpi_handle_size() -> usize;
}

/// A handle that was compared and copied, not used: no call is made with it on this page.
#[derive(Clone, Copy, PartialEq)]
struct Named(MPI_Datatype);

// SAFETY: a predefined handle is the address of a global, or an integer; both stay what they are for as long
// as the program runs, whichever thread looks at them.
unsafe impl Send for Named {}
// SAFETY: as above; nothing is changed through it.
unsafe impl Sync for Named {}

/// What stands behind the names that this library has.
static NAMES: LazyLock<HashMap<&'static str, Named>> = LazyLock::new(|| {
    // SAFETY: a function without arguments that returns a constant.
    let size = unsafe { dtype_mpi_handle_size() };
    assert_eq!(
        size,
        size_of::<MPI_Datatype>(),
        "dtype-mpi and the mpi crate were compiled for different MPI libraries: use one target folder for each"
    );
    // SAFETY: a constant of the library.
    let null = unsafe { ffi::RSMPI_DATATYPE_NULL };
    let mut names = HashMap::new();
    for index in 0.. {
        let mut handle = null;
        // SAFETY: `handle` lives through the call; the name is a string literal, or null behind the last.
        let name = unsafe {
            let name = dtype_mpi_name(index, &raw mut handle);
            if name.is_null() { None } else { Some(CStr::from_ptr::<'static>(name)) }
        };
        let Some(name) = name else { break };
        if handle != null {
            let name = name.to_str().expect("names are ASCII");
            names.insert(name, Named(handle));
        }
    }
    names
});

/// What a constant is about; names.c numbers them in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Kind {
    Combiner,
    Order,
    Distribution,
    Darg,
    Undefined,
}

struct Constant {
    kind: c_int,
    abi: i32,
    here: i32,
}

static CONSTANTS: LazyLock<Vec<Constant>> = LazyLock::new(|| {
    let mut constants = Vec::new();
    loop {
        let (mut kind, mut abi, mut here) = (0, 0, 0);
        // SAFETY: the three live through the call.
        let found = unsafe {
            dtype_mpi_constant(constants.len(), &raw mut kind, &raw mut abi, &raw mut here)
        };
        if found == 0 {
            return constants;
        }
        constants.push(Constant { kind, abi, here });
    }
});

/// The library's number for a constant of the ABI.
pub(crate) fn from_abi(kind: Kind, abi: i32) -> Option<i32> {
    let found = CONSTANTS.iter().find(|entry| (entry.kind, entry.abi) == (kind as i32, abi));
    found.map(|entry| entry.here)
}

/// The ABI's number for a constant of the library.
pub(crate) fn to_abi(kind: Kind, here: i32) -> Option<i32> {
    let found = CONSTANTS.iter().find(|entry| (entry.kind, entry.here) == (kind as i32, here));
    found.map(|entry| entry.abi)
}

/// Every combiner that a datatype can have here.
const COMBINERS: [Combiner; 17] = [
    Combiner::Named,
    Combiner::Dup,
    Combiner::Contiguous,
    Combiner::Vector,
    Combiner::Hvector,
    Combiner::Indexed,
    Combiner::Hindexed,
    Combiner::IndexedBlock,
    Combiner::HindexedBlock,
    Combiner::Structure,
    Combiner::Subarray,
    Combiner::Darray,
    Combiner::F90Real,
    Combiner::F90Complex,
    Combiner::F90Integer,
    Combiner::Resized,
    Combiner::ValueIndex,
];

/// The combiner that the library numbers so.
pub(crate) fn combiner(here: i32) -> Result<Combiner, Error> {
    let abi = to_abi(Kind::Combiner, here);
    COMBINERS
        .into_iter()
        .find(|combiner| Some(combiner.abi_value()) == abi)
        .ok_or(Error::UnknownCombiner { value: here })
}

/// The handle of a predefined datatype, by MPI's name for it.
pub(crate) fn handle(name: &'static str) -> Result<MPI_Datatype, Error> {
    NAMES.get(name).map(|named| named.0).ok_or(Error::NoSuchType { name })
}

/// `MPI_BYTE`, found once: messages ask for it all the time.
pub(crate) fn byte() -> Result<MPI_Datatype, Error> {
    static BYTE: LazyLock<Result<Named, Error>> = LazyLock::new(|| handle("MPI_BYTE").map(Named));
    BYTE.as_ref().map(|named| named.0).map_err(Clone::clone)
}

/// `MPI_PACKED`, found once.
pub(crate) fn packed() -> Result<MPI_Datatype, Error> {
    static PACKED: LazyLock<Result<Named, Error>> =
        LazyLock::new(|| handle("MPI_PACKED").map(Named));
    PACKED.as_ref().map(|named| named.0).map_err(Clone::clone)
}

/// The names of MPI-1's markers.
const MARKERS: [(&str, &str); 2] = [("lb_marker", "MPI_LB"), ("ub_marker", "MPI_UB")];

/// MPI's name for what is called `name` in `dtype-runtime`.
pub(crate) fn of(name: &'static str) -> Result<&'static str, Error> {
    let basic = Basic::ALL.iter().find(|basic| basic.name() == name);
    let pair = || Pair::ALL.iter().find(|pair| pair.name() == name).map(|pair| pair.mpi_name());
    let marker = || MARKERS.iter().find(|marker| marker.0 == name).map(|marker| marker.1);
    let named = basic.and_then(|basic| basic.mpi_name()).or_else(pair).or_else(marker);
    named.ok_or(Error::NoSuchType { name })
}

/// The datatype of `dtype-runtime` that a predefined handle stands for, and the name that both have.
pub(crate) fn predefined(handle: MPI_Datatype) -> Option<(&'static str, Type)> {
    let (&name, _) = NAMES.iter().find(|(_, named)| named.0 == handle)?;
    let basic = Basic::ALL.iter().find(|basic| basic.mpi_name() == Some(name));
    let ty = match (basic, Pair::ALL.iter().find(|pair| pair.mpi_name() == name), name) {
        (Some(basic), _, _) => Type::basic(*basic),
        (_, Some(pair), _) => Type::pair(*pair),
        (_, _, "MPI_LB") => Type::lb_marker(),
        (_, _, "MPI_UB") => Type::ub_marker(),
        _ => return None,
    };
    Some((name, ty))
}

/// The integers of contents with the library's constants numbered as in the ABI.
pub(crate) fn in_abi(combiner: Combiner, mut integers: Vec<i32>) -> Result<Vec<i32>, Error> {
    let name = combiner.name();
    let constant = |value: &mut i32, kind, what| -> Result<(), Error> {
        *value =
            to_abi(kind, *value).ok_or(Error::Constant { combiner: name, what, value: *value })?;
        Ok(())
    };
    // A number stays a number, unless the ABI has given it another meaning.
    let number = |value: &mut i32, kind, what| -> Result<(), Error> {
        match to_abi(kind, *value) {
            Some(abi) => {
                *value = abi;
                Ok(())
            }
            None if from_abi(kind, *value).is_some() => {
                Err(Error::Constant { combiner: name, what, value: *value })
            }
            None => Ok(()),
        }
    };
    match combiner {
        Combiner::Subarray | Combiner::Darray => {
            let order =
                integers.last_mut().ok_or(Error::Contents { combiner: name, what: "an order" })?;
            constant(order, Kind::Order, "an order")?;
        }
        Combiner::F90Real | Combiner::F90Complex | Combiner::F90Integer => {
            for value in &mut integers {
                number(value, Kind::Undefined, "a precision or a range")?;
            }
        }
        _ => {}
    }
    if combiner == Combiner::Darray {
        // Size, rank, dimensions, with or without the global sizes, distributions, their arguments, the
        // grid, the order: the three arrays before the order are there in both forms.
        let ends = Error::Contents { combiner: name, what: "a distribution" };
        let dimensions =
            integers.get(2).and_then(|&n| usize::try_from(n).ok()).ok_or(ends.clone())?;
        let end = integers.len() - 1;
        let start = dimensions.checked_mul(3).and_then(|n| end.checked_sub(n)).ok_or(ends)?;
        for i in start..start + dimensions {
            constant(&mut integers[i], Kind::Distribution, "a distribution")?;
            number(&mut integers[i + dimensions], Kind::Darg, "a distribution argument")?;
        }
    }
    Ok(integers)
}
