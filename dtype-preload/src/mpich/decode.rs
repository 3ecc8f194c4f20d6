//! From an MPICH datatype to a [`Type`], by its envelope and contents.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_int;

use dtype_runtime::Type;
use dtype_runtime::types::{Combiner, Contents, Named};

use super::library::{Count, FREE_PART, GET_CONTENTS, GET_ENVELOPE, GET_EXTENT};
use super::numbers::{
    COMBINER_NAMED, DEFAULT_ARGUMENT, DISTRIBUTE_DFLT_DARG, Handle, array, combiner, name,
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

/// Properties of a type's parts that its basic types do not show.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Parts {
    /// A value and an index, as `MPI_DOUBLE_INT`. MPICH treats the pair as one value.
    pub(super) has_pairs: bool,
    /// A type of Fortran's kinds, as `MPI_Type_create_f90_complex` makes them: in MPICH's eyes, one of C or one of
    /// Fortran's.
    pub(super) has_kinds: bool,
}

/// State that the levels of a type share while it is decoded.
#[derive(Debug, Default)]
struct Decoder {
    parts: Parts,
    /// Whether the library refused an answer and called the program's error handler. No further queries are made then.
    refused: bool,
}

impl Decoder {
    /// Whether the library answered: whether its function returned 0.
    fn answered(&mut self, code: c_int) -> Option<()> {
        self.refused |= code != 0;
        (code == 0).then_some(())
    }
}

/// A part of a type.
struct Part {
    /// `None` if it is left to the library.
    ty: Option<Type>,
    /// `None` if the library was not queried, or refused to answer.
    is_predefined: Option<bool>,
}

/// The [`Type`] of a datatype. `None` if a part of it is not supported.
///
/// # Safety
///
/// The handle belongs to a datatype that lives, and MPI may be called.
pub(super) unsafe fn decode(handle: Handle) -> Option<Decoded> {
    let mut decoder = Decoder::default();
    // SAFETY: the caller guarantees it.
    let ty = unsafe { decode_level(handle, envelope(handle)?, 0, &mut decoder) }?;
    Some(Decoded { ty, parts: decoder.parts })
}

/// # Safety
///
/// As for [`decode`].
unsafe fn decode_level(
    handle: Handle,
    envelope: Envelope,
    depth: u32,
    decoder: &mut Decoder,
) -> Option<Type> {
    if depth > MAX_DEPTH {
        return None;
    }
    if envelope.combiner == COMBINER_NAMED {
        // SAFETY: the caller guarantees it.
        let ty = unsafe { named(handle, decoder) }?;
        decoder.parts.has_pairs |= ty.elements() > 1;
        return Some(ty);
    }
    // SAFETY: likewise.
    let ty = unsafe { rebuild(handle, envelope, depth, decoder) }?;
    // SAFETY: likewise.
    unsafe { with_bounds_of(handle, ty, decoder) }
}

/// Decodes a part, if that `is_wanted`.
///
/// # Safety
///
/// As for [`decode`].
unsafe fn decode_part(handle: Handle, is_wanted: bool, depth: u32, decoder: &mut Decoder) -> Part {
    if decoder.refused {
        return Part { ty: None, is_predefined: None };
    }
    // SAFETY: the caller guarantees it.
    let Some(envelope) = (unsafe { envelope(handle) }) else {
        decoder.refused = true;
        return Part { ty: None, is_predefined: None };
    };
    // Types of Fortran's kinds are the library's own, too.
    let is_predefined = Some(matches!(envelope.combiner, COMBINER_NAMED | 15..=17));
    let ty = if is_wanted {
        // SAFETY: likewise.
        unsafe { decode_level(handle, envelope, depth, decoder) }
    } else {
        None
    };
    Part { ty, is_predefined }
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
    decoder: &mut Decoder,
) -> Option<Type> {
    let combiner = combiner(envelope.combiner)?;
    decoder.parts.has_kinds |=
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
    decoder.answered(code)?;
    let mut datatypes: Vec<Type> = Vec::with_capacity(handles.len());
    let mut known = true;
    let mut before: HashMap<Handle, Part> = HashMap::new();
    for handle in &mut handles {
        // A structure of many equal parts has the same handle many times.
        let part = before.entry(*handle).or_insert_with(|| {
            // SAFETY: the library returned it with a reference.
            unsafe { decode_part(*handle, known, depth + 1, decoder) }
        });
        match &part.ty {
            Some(ty) => datatypes.push(ty.clone()),
            None => known = false,
        }
        // An unknown type keeps its reference, because the library refuses to free one that is predefined.
        if part.is_predefined == Some(false) {
            // SAFETY: the reference is ours to give back.
            unsafe { free(handle) };
        }
    }
    if !known {
        return None;
    }
    renumber(combiner, &mut integers)?;
    let addresses = addresses.into_iter().map(|address| address as i64).collect();
    Contents { combiner, integers, addresses, large_counts, datatypes }.rebuild().ok()
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
unsafe fn with_bounds_of(handle: Handle, ty: Type, decoder: &mut Decoder) -> Option<Type> {
    let (mut lb, mut extent) = (0, 0);
    // SAFETY: the caller guarantees it; both numbers live through the call.
    decoder.answered(unsafe { GET_EXTENT.get()?(handle, &raw mut lb, &raw mut extent) })?;
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

/// A predefined type, by its handle: a program may give it any name, also that of another one.
///
/// # Safety
///
/// As for [`decode`].
unsafe fn named(handle: Handle, decoder: &mut Decoder) -> Option<Type> {
    let known = NAMED.try_with(|named| named.borrow().get(&handle).cloned()).ok().flatten();
    if let Some(known) = known {
        return known;
    }
    // SAFETY: the caller guarantees it.
    let found = unsafe { look_up(handle, decoder) };
    let _ = NAMED.try_with(|named| named.borrow_mut().insert(handle, found.clone()));
    found
}

/// # Safety
///
/// As for [`decode`].
unsafe fn look_up(handle: Handle, decoder: &mut Decoder) -> Option<Type> {
    let ty = Named::from_mpi_name(name(handle)?)?.datatype();
    let (mut lb, mut extent) = (0, 0);
    // SAFETY: the caller guarantees the handle; both numbers live through the call.
    decoder.answered(unsafe { GET_EXTENT.get()?(handle, &raw mut lb, &raw mut extent) })?;
    ((lb as i64, extent as i64) == (ty.lb(), ty.extent())).then_some(ty)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::mpich::library::Aint;

    const INT: Handle = 0x4C00_0405;
    const PLAIN: Handle = 0x8C00_0005_u32.cast_signed();
    const REFUSED: Handle = 0x8C00_0006_u32.cast_signed();
    const NESTED: Handle = 0x8C00_0007_u32.cast_signed();
    const GOOD: Handle = 0x8C00_0008_u32.cast_signed();
    const BAD: Handle = 0x8C00_0009_u32.cast_signed();

    /// Handles whose envelope was queried and that were freed since.
    static ASKED: Mutex<Vec<Handle>> = Mutex::new(Vec::new());
    static FREED: Mutex<Vec<Handle>> = Mutex::new(Vec::new());

    /// The parts of structures of one `int` after another.
    fn members(handle: Handle) -> &'static [Handle] {
        match handle {
            PLAIN => &[INT],
            NESTED => &[REFUSED],
            GOOD => &[PLAIN, INT, PLAIN],
            BAD => &[PLAIN, NESTED, REFUSED, INT, REFUSED, PLAIN],
            _ => panic!("{handle:x} has no parts"),
        }
    }

    unsafe extern "C" fn envelope_of(
        handle: Handle,
        integers: *mut Count,
        addresses: *mut Count,
        large_counts: *mut Count,
        datatypes: *mut Count,
        combiner: *mut c_int,
    ) -> c_int {
        ASKED.lock().unwrap().push(handle);
        if handle == REFUSED {
            return 3;
        }
        let parts = if handle == INT { 0 } else { Count::try_from(members(handle).len()).unwrap() };
        // SAFETY: the caller's numbers.
        unsafe {
            *integers = if handle == INT { 0 } else { parts + 1 };
            (*addresses, *large_counts, *datatypes) = (parts, 0, parts);
            *combiner = if handle == INT { COMBINER_NAMED } else { 12 };
        }
        0
    }

    unsafe extern "C" fn contents_of(
        handle: Handle,
        _: Count,
        _: Count,
        _: Count,
        _: Count,
        integers: *mut c_int,
        addresses: *mut Aint,
        _: *mut Count,
        datatypes: *mut Handle,
    ) -> c_int {
        let members = members(handle);
        // SAFETY: the caller's arrays, of the lengths that the envelope says.
        unsafe {
            *integers = c_int::try_from(members.len()).unwrap();
            for (index, member) in members.iter().enumerate() {
                *integers.add(index + 1) = 1;
                *addresses.add(index) = 4 * isize::try_from(index).unwrap();
                *datatypes.add(index) = *member;
            }
        }
        0
    }

    unsafe extern "C" fn extent_of(handle: Handle, lb: *mut Aint, extent: *mut Aint) -> c_int {
        let parts = if handle == INT { 1 } else { members(handle).len() };
        // SAFETY: the caller's numbers.
        unsafe { (*lb, *extent) = (0, 4 * isize::try_from(parts).unwrap()) };
        0
    }

    unsafe extern "C" fn free(handle: *mut Handle) -> c_int {
        // SAFETY: the caller's handle.
        FREED.lock().unwrap().push(unsafe { *handle });
        0
    }

    #[test]
    fn a_part_that_is_refused_leaves_the_type_to_the_library() {
        GET_ENVELOPE.replace(envelope_of);
        GET_CONTENTS.replace(contents_of);
        GET_EXTENT.replace(extent_of);
        FREE_PART.replace(free);
        let take = |handles: &Mutex<Vec<Handle>>| std::mem::take(&mut *handles.lock().unwrap());

        // SAFETY: the functions above know the handle.
        let good = unsafe { decode(GOOD) }.unwrap();
        assert_eq!(good.ty.size(), 12);
        assert_eq!(take(&ASKED), [GOOD, PLAIN, INT, INT]);
        assert_eq!(take(&FREED), [PLAIN, PLAIN]);

        // SAFETY: likewise.
        assert!(unsafe { decode(BAD) }.is_none());
        // Each refusal calls the program's error handler. A part that was not asked about may be predefined, and keeps its
        // reference.
        assert_eq!(take(&ASKED), [BAD, PLAIN, INT, NESTED, REFUSED]);
        assert_eq!(take(&FREED), [PLAIN, NESTED, PLAIN]);

        // SAFETY: likewise.
        assert!(unsafe { decode(REFUSED) }.is_none());
        assert_eq!(take(&ASKED), [REFUSED]);
        assert_eq!(take(&FREED), []);
    }
}
