//! From an MPICH datatype to a [`Type`], by its envelope and contents.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, c_char};

use dtype_runtime::types::{Combiner, Contents, Pair};
use dtype_runtime::{Basic, Type};

use super::library::{Count, FREE_PART, GET_CONTENTS, GET_ENVELOPE, GET_EXTENT, GET_NAME};
use super::numbers::{
    COMBINER_NAMED, DEFAULT_ARGUMENT, DISTRIBUTE_DFLT_DARG, Handle, MAX_OBJECT_NAME, array,
    combiner,
};

/// Deeper types are left to the library.
const MAX_DEPTH: u32 = 64;

/// The number of arguments of a call, by kind, and the call.
#[derive(Clone, Copy)]
struct Envelope {
    integers: usize,
    addresses: usize,
    large_counts: usize,
    datatypes: usize,
    combiner: i32,
}

/// # Safety
///
/// The handle belongs to a datatype that lives, and MPI may be called.
unsafe fn envelope(handle: Handle) -> Option<Envelope> {
    let mut numbers = [0; 4];
    let mut combiner = 0;
    let [integers, addresses, large_counts, datatypes] = &mut numbers;
    let get = GET_ENVELOPE.get()?;
    // SAFETY: the caller guarantees it, and the five numbers live through the call.
    let code =
        unsafe { get(handle, integers, addresses, large_counts, datatypes, &raw mut combiner) };
    if code != 0 {
        return None;
    }
    let [integers, addresses, large_counts, datatypes] =
        numbers.map(|number: Count| usize::try_from(number).ok());
    Some(Envelope {
        integers: integers?,
        addresses: addresses?,
        large_counts: large_counts?,
        datatypes: datatypes?,
        combiner,
    })
}

/// The number of arguments of the call that made the type: a measure of the work to compile it.
///
/// # Safety
///
/// As for [`decode`].
pub(super) unsafe fn parts(handle: Handle) -> Option<usize> {
    // SAFETY: the caller guarantees it.
    let envelope = unsafe { envelope(handle) }?;
    let Envelope { integers, addresses, large_counts, datatypes, .. } = envelope;
    Some(integers + addresses + large_counts + datatypes)
}

/// A decoded type.
#[derive(Debug)]
pub(super) struct Decoded {
    /// With MPICH's bounds at every level.
    pub(super) ty: Type,
    pub(super) parts: Parts,
}

/// What is among the parts of a type that its basic types do not tell.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Parts {
    /// A value and an index, as `MPI_DOUBLE_INT`: a single value in MPICH's eyes.
    pub(super) has_pairs: bool,
    /// A type of Fortran's kinds, as `MPI_Type_create_f90_complex` makes them: in MPICH's eyes, one of C or one of
    /// Fortran's.
    pub(super) has_kinds: bool,
}

/// The type that a datatype stands for. `None` if it has something that is not known.
///
/// # Safety
///
/// The handle belongs to a datatype that lives, and MPI may be called.
pub(super) unsafe fn decode(handle: Handle) -> Option<Decoded> {
    let mut parts = Parts::default();
    // SAFETY: the caller guarantees it.
    let ty = unsafe { decode_level(handle, 0, &mut parts) }?;
    Some(Decoded { ty, parts })
}

/// # Safety
///
/// As for [`decode`].
unsafe fn decode_level(handle: Handle, depth: u32, parts: &mut Parts) -> Option<Type> {
    if depth > MAX_DEPTH {
        return None;
    }
    // SAFETY: the caller guarantees it.
    let envelope = unsafe { envelope(handle) }?;
    if envelope.combiner == COMBINER_NAMED {
        // SAFETY: likewise.
        let ty = unsafe { named(handle) }?;
        parts.has_pairs |= ty.elements() > 1;
        return Some(ty);
    }
    // SAFETY: likewise.
    let ty = unsafe { rebuild(handle, envelope, depth, parts) }?;
    // SAFETY: likewise.
    unsafe { with_bounds_of(handle, ty) }
}

/// Calls the constructor again.
///
/// # Safety
///
/// As for [`decode`].
unsafe fn rebuild(
    handle: Handle,
    envelope: Envelope,
    depth: u32,
    parts: &mut Parts,
) -> Option<Type> {
    let combiner = combiner(envelope.combiner)?;
    parts.has_kinds |=
        matches!(combiner, Combiner::F90Real | Combiner::F90Complex | Combiner::F90Integer);
    let mut integers = vec![0; envelope.integers];
    let mut addresses = vec![0; envelope.addresses];
    let mut large_counts = vec![0; envelope.large_counts];
    let mut handles = vec![0; envelope.datatypes];
    let (get, free) = (GET_CONTENTS.get()?, FREE_PART.get()?);
    // SAFETY: the vectors have the lengths that the envelope says.
    let code = unsafe {
        get(
            handle,
            Count::try_from(integers.len()).ok()?,
            Count::try_from(addresses.len()).ok()?,
            Count::try_from(large_counts.len()).ok()?,
            Count::try_from(handles.len()).ok()?,
            integers.as_mut_ptr(),
            addresses.as_mut_ptr(),
            large_counts.as_mut_ptr(),
            handles.as_mut_ptr(),
        )
    };
    if code != 0 {
        return None;
    }
    let mut datatypes: Vec<Type> = Vec::with_capacity(handles.len());
    let mut known = true;
    let mut before: HashMap<Handle, Type> = HashMap::new();
    for part in &mut handles {
        // A structure of many equal parts has the same handle many times.
        let ty = match before.get(part) {
            Some(ty) => Some(ty.clone()),
            // SAFETY: the library returned it with a reference.
            None if known => unsafe { decode_level(*part, depth + 1, parts) },
            None => None,
        };
        match ty {
            Some(ty) => {
                before.insert(*part, ty.clone());
                datatypes.push(ty);
            }
            None => known = false,
        }
        // SAFETY: a reference to a datatype that is not predefined is ours to give back.
        unsafe {
            if !is_named(*part) {
                free(part);
            }
        }
    }
    if !known {
        return None;
    }
    renumber(combiner, &mut integers)?;
    let addresses = addresses.into_iter().map(|address| address as i64).collect();
    Contents { combiner, integers, addresses, large_counts, datatypes }.rebuild().ok()
}

/// # Safety
///
/// As for [`decode`].
unsafe fn is_named(handle: Handle) -> bool {
    // SAFETY: the caller guarantees it.
    unsafe { envelope(handle) }.is_none_or(|envelope| {
        // Types of Fortran's kinds are the library's own, too.
        matches!(envelope.combiner, COMBINER_NAMED | 15..=17)
    })
}

/// Replaces MPICH's constants by those of the ABI. Their positions are those of the standard, MPI-4.1 section 5.1.13.
fn renumber(combiner: Combiner, integers: &mut [i32]) -> Option<()> {
    let replace = |one: &mut i32| array(*one).map(|abi| *one = abi);
    match combiner {
        Combiner::Subarray => replace(integers.last_mut()?),
        Combiner::Darray => {
            let dimensions = usize::try_from(*integers.get(2)?).ok()?;
            let (from, to) = (3 + dimensions, 3 + 2 * dimensions);
            integers.get_mut(from..to)?.iter_mut().try_for_each(replace)?;
            for argument in integers.get_mut(to..to + dimensions)? {
                match *argument {
                    DISTRIBUTE_DFLT_DARG => *argument = DEFAULT_ARGUMENT,
                    // The number means something else in the ABI.
                    DEFAULT_ARGUMENT => return None,
                    _ => {}
                }
            }
            replace(integers.last_mut()?)
        }
        _ => Some(()),
    }
}

/// A type with the bounds that the library has computed for it: MPICH's rule is not the standard's.
///
/// # Safety
///
/// As for [`decode`].
unsafe fn with_bounds_of(handle: Handle, ty: Type) -> Option<Type> {
    let (mut lb, mut extent) = (0, 0);
    // SAFETY: the caller guarantees it; both numbers live through the call.
    if unsafe { GET_EXTENT.get()?(handle, &raw mut lb, &raw mut extent) } != 0 {
        return None;
    }
    let (lb, extent) = (lb as i64, extent as i64);
    if (ty.lb(), ty.extent()) == (lb, extent) {
        return Some(ty);
    }
    Type::resized(&ty, lb, extent).ok()
}

thread_local! {
    /// Predefined types that this thread has looked up. Their handles are constants.
    static NAMED: RefCell<HashMap<Handle, Option<Type>>> = RefCell::new(HashMap::new());
}

/// A predefined type, by its name. A program that renames one has it left to the library.
///
/// # Safety
///
/// As for [`decode`].
unsafe fn named(handle: Handle) -> Option<Type> {
    let known = NAMED.try_with(|named| named.borrow().get(&handle).cloned()).ok().flatten();
    if let Some(known) = known {
        return known;
    }
    // SAFETY: the caller guarantees it.
    let found = unsafe { look_up(handle) };
    let _ = NAMED.try_with(|named| named.borrow_mut().insert(handle, found.clone()));
    found
}

/// # Safety
///
/// As for [`decode`].
unsafe fn look_up(handle: Handle) -> Option<Type> {
    let mut name: [c_char; MAX_OBJECT_NAME] = [0; MAX_OBJECT_NAME];
    let mut len = 0;
    // SAFETY: the caller guarantees the handle; the name has the room that the library's header asks for.
    if unsafe { GET_NAME.get()?(handle, name.as_mut_ptr(), &raw mut len) } != 0 {
        return None;
    }
    name[MAX_OBJECT_NAME - 1] = 0;
    // SAFETY: it ends with a zero, at the latest the one that was just written.
    let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_str().ok()?;
    let ty = match Basic::from_mpi_name(name) {
        Some(basic) => Type::basic(basic),
        None => match Pair::ALL.iter().find(|pair| pair.mpi_name() == name) {
            Some(pair) => Type::pair(*pair),
            None => match name {
                "MPI_LB" => Type::lb_marker(),
                "MPI_UB" => Type::ub_marker(),
                _ => return None,
            },
        },
    };
    let (mut lb, mut extent) = (0, 0);
    // SAFETY: likewise.
    let code = unsafe { GET_EXTENT.get()?(handle, &raw mut lb, &raw mut extent) };
    (code == 0 && (lb as i64, extent as i64) == (ty.lb(), ty.extent())).then_some(ty)
}
