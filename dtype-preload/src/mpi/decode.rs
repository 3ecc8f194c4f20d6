//! Decodes a datatype to a [`Type`], by its envelope and contents.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_int;

use dtype_runtime::types::{self, Combiner, Contents, Library, Named};
use dtype_runtime::{Error, Type};

use super::abi::{STANDARD, Word, abi};
use super::library::{Count, FREE_PART, GET_CONTENTS, GET_ENVELOPE, GET_EXTENT};

/// The combiner of a datatype, as the library numbers it, and how many integers, addresses, large counts and datatypes its contents
/// have.
type Envelope = (i32, [usize; 4]);

/// # Safety
///
/// The handle must belong to a live datatype, and MPI must be running.
unsafe fn envelope(handle: Word) -> Option<Envelope> {
    let (mut numbers, mut combiner) = ([0; 4], 0);
    let [integers, addresses, large_counts, datatypes] = &mut numbers;
    let get = GET_ENVELOPE.get()?;
    // SAFETY: the caller guarantees the handle, and the five numbers live through the call.
    let code =
        unsafe { get(handle, integers, addresses, large_counts, datatypes, &raw mut combiner) };
    let lengths = numbers.map(|number: Count| usize::try_from(number).ok());
    let [Some(integers), Some(addresses), Some(large_counts), Some(datatypes)] = lengths else {
        return None;
    };
    (code == 0).then_some((combiner, [integers, addresses, large_counts, datatypes]))
}

/// The number of arguments of the call that made the type. It is a measure of the time to compile the type.
///
/// # Safety
///
/// As for [`decode`].
pub(super) unsafe fn parts(handle: Word) -> Option<usize> {
    // SAFETY: passed on to the caller.
    let (_, numbers) = unsafe { envelope(handle) }?;
    Some(numbers.into_iter().fold(0, usize::saturating_add))
}

/// A decoded type.
#[derive(Debug)]
pub(super) struct Decoded {
    /// The type, with the library's bounds at every level.
    pub(super) ty: Type,
    pub(super) parts: Parts,
}

/// Properties of a type's parts that its basic datatypes do not show.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Parts {
    /// A value and an index, as `MPI_DOUBLE_INT`. MPICH treats the pair as one value.
    pub(super) has_pairs: bool,
    /// A type of Fortran's kinds, as `MPI_Type_create_f90_complex` makes it. MPICH treats it as a type of C, or as one of
    /// Fortran.
    pub(super) has_kinds: bool,
}

/// The [`Type`] of a datatype; `None` if a part of it is not supported.
///
/// # Safety
///
/// The handle must belong to a live datatype, and MPI must be running.
pub(super) unsafe fn decode(handle: Word) -> Option<Decoded> {
    let mut library = Reader::default();
    let ty = Type::decode(&mut library, &Alive(handle)).ok()?;
    Some(Decoded { ty, parts: library.parts })
}

/// The handle of a datatype that is alive while MPI is running: either the one that the caller of [`decode`] guarantees, or a
/// part of it, to which the library has returned a reference.
struct Alive(Word);

/// The library, and what is known about the datatypes read so far.
#[derive(Debug, Default)]
struct Reader {
    parts: Parts,
    /// Whether the library owns a datatype.
    predefined: HashMap<Word, bool>,
    /// Whether the library refused a query and called the program's error handler. After that, it is not queried again.
    refused: bool,
}

/// A type that is left to the library.
struct Unsupported;

impl From<Error> for Unsupported {
    fn from(_: Error) -> Self {
        Self
    }
}

impl Library for Reader {
    type Datatype = Alive;
    type Key = Word;
    type Error = Unsupported;

    /// Types with more levels are left to the library.
    const MAX_DEPTH: u32 = 64;

    fn key(&self, datatype: &Alive) -> Word {
        datatype.0
    }

    fn read(&mut self, datatype: &Alive) -> Result<types::Decoded<Alive>, Unsupported> {
        let envelope = self.envelope(datatype).ok_or(Unsupported)?;
        let made = if envelope.0 == abi().combiner_named {
            self.named(datatype).map(types::Decoded::Named)
        } else {
            self.contents(datatype, envelope).map(types::Decoded::Made)
        };
        made.ok_or(Unsupported)
    }

    /// Uses the bounds that the library has computed, because MPICH's rule is not the standard's.
    fn adjust(&mut self, datatype: &Alive, ty: Type) -> Result<Type, Unsupported> {
        let (lb, extent) = self.extent(datatype).ok_or(Unsupported)?;
        if (ty.lb(), ty.extent()) == (lb, extent) {
            return Ok(ty);
        }
        Ok(Type::resized(&ty, lb, extent)?)
    }

    /// Gives the reference back. The library refuses to free predefined types, so if it is not known whether a part is
    /// predefined, the part keeps its reference.
    fn free(&mut self, part: Alive) {
        if !self.predefined.contains_key(&part.0) && !self.refused {
            self.envelope(&part);
        }
        if self.predefined.get(&part.0) == Some(&false) {
            let mut handle: Word = 0;
            let at = (&raw mut handle).cast();
            // SAFETY: there is room for any handle. The reference is given back once.
            FREE_PART.get().map(|free| unsafe {
                abi().write(at, part.0);
                free(at)
            });
        }
    }
}

impl Reader {
    /// `Some` if the library's function returned 0.
    fn answered(&mut self, code: c_int) -> Option<()> {
        self.refused |= code != 0;
        (code == 0).then_some(())
    }

    fn envelope(&mut self, datatype: &Alive) -> Option<Envelope> {
        // SAFETY: the datatype lives.
        let envelope = unsafe { envelope(datatype.0) };
        self.refused |= envelope.is_none();
        let envelope = envelope?;
        // The library also owns types of Fortran's kinds.
        let is_predefined =
            envelope.0 == abi().combiner_named || is_kind(abi().combiner(envelope.0));
        self.predefined.insert(datatype.0, is_predefined);
        Some(envelope)
    }

    /// The lower bound and the extent.
    fn extent(&mut self, datatype: &Alive) -> Option<(i64, i64)> {
        let (mut lb, mut extent) = (0, 0);
        // SAFETY: the datatype lives, and so do both numbers through the call.
        self.answered(unsafe { GET_EXTENT.get()?(datatype.0, &raw mut lb, &raw mut extent) })?;
        Some((lb as i64, extent as i64))
    }

    /// The arguments of the call that made the datatype.
    fn contents(
        &mut self,
        datatype: &Alive,
        (number, [integers, addresses, large_counts, datatypes]): Envelope,
    ) -> Option<Contents<Alive>> {
        let combiner = abi().combiner(number)?;
        self.parts.has_kinds |= is_kind(Some(combiner));
        let (mut integers, mut addresses) = (vec![0; integers], vec![0; addresses]);
        let (mut large_counts, mut handles) = (vec![0; large_counts], vec![0_usize; datatypes]);
        // SAFETY: the datatype lives, and the vectors have the lengths that the envelope says.
        let code = unsafe {
            GET_CONTENTS.get()?(
                datatype.0,
                Count::try_from(integers.len()).ok()?,
                Count::try_from(addresses.len()).ok()?,
                Count::try_from(large_counts.len()).ok()?,
                Count::try_from(datatypes).ok()?,
                integers.as_mut_ptr(),
                addresses.as_mut_ptr(),
                large_counts.as_mut_ptr(),
                handles.as_mut_ptr().cast(),
            )
        };
        self.answered(code)?;
        let addresses = addresses.into_iter().map(|address| address as i64).collect();
        let handles = handles.as_ptr().cast();
        // SAFETY: the library has written that many handles to the vector, whose elements have the size of the longest.
        let datatypes = (0..datatypes).map(|index| Alive(unsafe { abi().read(handles, index) }));
        let datatypes: Vec<_> = datatypes.collect();
        if renumber(combiner, &mut integers).is_none() {
            for part in datatypes {
                self.free(part);
            }
            return None;
        }
        Some(Contents { combiner, integers, addresses, large_counts, datatypes })
    }

    /// A predefined type, identified by its handle, because a program can give it any name, even that of another type.
    fn named(&mut self, datatype: &Alive) -> Option<Type> {
        let handle = datatype.0;
        let known = NAMED.try_with(|named| named.borrow().get(&handle).cloned()).ok().flatten();
        let found = known.unwrap_or_else(|| {
            let found = self.look_up(datatype);
            let _ = NAMED.try_with(|named| named.borrow_mut().insert(handle, found.clone()));
            found
        });
        self.parts.has_pairs |= found.as_ref().is_some_and(|ty| ty.elements() > 1);
        found
    }

    fn look_up(&mut self, datatype: &Alive) -> Option<Type> {
        let ty = Named::from_mpi_name(abi().name(datatype.0)?)?.datatype();
        (self.extent(datatype)? == (ty.lb(), ty.extent())).then_some(ty)
    }
}

thread_local! {
    /// Predefined types that this thread has looked up. Their handles are constants.
    static NAMED: RefCell<HashMap<Word, Option<Type>>> = RefCell::new(HashMap::new());
}

/// Whether a type is one of Fortran's kinds, as `MPI_Type_create_f90_real` makes them.
fn is_kind(combiner: Option<Combiner>) -> bool {
    matches!(combiner, Some(Combiner::F90Real | Combiner::F90Complex | Combiner::F90Integer))
}

/// Replaces the library's constants by those of [`Contents`]. Their positions are those of the standard, MPI-4.1 section 5.1.13.
fn renumber(combiner: Combiner, integers: &mut [i32]) -> Option<()> {
    let replace = |one: &mut i32| abi().array(*one).map(|number| *one = number);
    match combiner {
        Combiner::Subarray => replace(integers.last_mut()?),
        Combiner::Darray => {
            let dimensions = usize::try_from(*integers.get(2)?).ok()?;
            let (from, to) = (3 + dimensions, 3 + 2 * dimensions);
            integers.get_mut(from..to)?.iter_mut().try_for_each(replace)?;
            for argument in integers.get_mut(to..to + dimensions)? {
                if *argument == abi().default_argument {
                    *argument = STANDARD.default_argument;
                } else if *argument == STANDARD.default_argument {
                    // Among the contents, this number has another meaning.
                    return None;
                }
            }
            replace(integers.last_mut()?)
        }
        _ => Some(()),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::c_void;
    use std::sync::Mutex;

    use super::*;
    use crate::mpi::abi::MPICH;
    use crate::mpi::library::Aint;

    const INT: Word = 0x4C00_0405;
    const PLAIN: Word = 0x8C00_0005;
    const REFUSED: Word = 0x8C00_0006;
    const NESTED: Word = 0x8C00_0007;
    const GOOD: Word = 0x8C00_0008;
    const BAD: Word = 0x8C00_0009;

    /// Words whose envelope was queried, and handles that were freed since.
    static ASKED: Mutex<Vec<Word>> = Mutex::new(Vec::new());
    static FREED: Mutex<Vec<Word>> = Mutex::new(Vec::new());

    /// The parts of structures of one `int` after another.
    fn members(handle: Word) -> &'static [Word] {
        match handle {
            PLAIN => &[INT],
            NESTED => &[REFUSED],
            GOOD => &[PLAIN, INT, PLAIN],
            BAD => &[PLAIN, NESTED, REFUSED, INT, REFUSED, PLAIN],
            _ => panic!("{handle:x} has no parts"),
        }
    }

    unsafe extern "C" fn envelope_of(
        handle: Word,
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
            *combiner = if handle == INT { MPICH.combiner_named } else { 12 };
        }
        0
    }

    unsafe extern "C" fn contents_of(
        handle: Word,
        _: Count,
        _: Count,
        _: Count,
        _: Count,
        integers: *mut c_int,
        addresses: *mut Aint,
        _: *mut Count,
        datatypes: *mut c_void,
    ) -> c_int {
        let members = members(handle);
        // SAFETY: the caller's arrays, of the lengths that the envelope says.
        unsafe {
            *integers = c_int::try_from(members.len()).unwrap();
            for (index, member) in members.iter().enumerate() {
                *integers.add(index + 1) = 1;
                *addresses.add(index) = 4 * isize::try_from(index).unwrap();
                abi().write(datatypes.cast::<u32>().add(index).cast(), *member);
            }
        }
        0
    }

    unsafe extern "C" fn extent_of(handle: Word, lb: *mut Aint, extent: *mut Aint) -> c_int {
        let parts = if handle == INT { 1 } else { members(handle).len() };
        // SAFETY: the caller's numbers.
        unsafe { (*lb, *extent) = (0, 4 * isize::try_from(parts).unwrap()) };
        0
    }

    unsafe extern "C" fn free(handle: *mut c_void) -> c_int {
        // SAFETY: the caller's handle.
        FREED.lock().unwrap().push(unsafe { abi().read(handle, 0) });
        0
    }

    #[test]
    fn a_part_that_is_refused_leaves_the_type_to_the_library() {
        GET_ENVELOPE.replace(envelope_of);
        GET_CONTENTS.replace(contents_of);
        GET_EXTENT.replace(extent_of);
        FREE_PART.replace(free);
        let take = |handles: &Mutex<Vec<Word>>| std::mem::take(&mut *handles.lock().unwrap());

        // SAFETY: the functions above know the handle.
        let good = unsafe { decode(GOOD) }.unwrap();
        assert_eq!(good.ty.size(), 12);
        assert_eq!(take(&ASKED), [GOOD, PLAIN, INT]);
        assert_eq!(take(&FREED), [PLAIN, PLAIN]);

        // SAFETY: as above.
        assert!(unsafe { decode(BAD) }.is_none());
        // Each refusal calls the program's error handler, so after the first one there are no more queries. A part that was not
        // queried may be predefined, and keeps its reference.
        assert_eq!(take(&ASKED), [BAD, PLAIN, INT, NESTED, REFUSED]);
        assert_eq!(take(&FREED), [PLAIN, NESTED, PLAIN]);

        // SAFETY: as above.
        assert!(unsafe { decode(REFUSED) }.is_none());
        assert_eq!(take(&ASKED), [REFUSED]);
        assert_eq!(take(&FREED), []);
    }
}
