//! The functions of Yaksa that make datatypes and list their pieces.

use std::fmt::Display;
use std::os::raw::{c_char, c_int, c_void};
use std::ptr;

use anyhow::{Result, anyhow, bail, ensure};
use dtype_runtime::Type;
use dtype_runtime::types::Argument::{Count, Counts, Offset, Offsets};
use dtype_runtime::types::Combiner;

/// `yaksa_type_t`.
type Number = u64;

/// `struct iovec`. The base is a displacement, because all lists are of instances at address 0.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct Piece {
    base: usize,
    len: usize,
}

/// A null pointer: no hints.
type Info = *mut c_void;

// The declarations of `yaksa.h` in the version that MPICH 4 contains.
unsafe extern "C" {
    fn yaksa_init(info: Info) -> c_int;
    fn yaksa_type_create_contig(count: isize, old: Number, info: Info, new: *mut Number) -> c_int;
    fn yaksa_type_create_vector(
        count: isize,
        blocklength: isize,
        stride: isize,
        old: Number,
        info: Info,
        new: *mut Number,
    ) -> c_int;
    fn yaksa_type_create_hvector(
        count: isize,
        blocklength: isize,
        stride: isize,
        old: Number,
        info: Info,
        new: *mut Number,
    ) -> c_int;
    fn yaksa_type_create_indexed_block(
        count: isize,
        blocklength: isize,
        displacements: *const isize,
        old: Number,
        info: Info,
        new: *mut Number,
    ) -> c_int;
    fn yaksa_type_create_indexed(
        count: isize,
        blocklengths: *const isize,
        displacements: *const isize,
        old: Number,
        info: Info,
        new: *mut Number,
    ) -> c_int;
    fn yaksa_type_create_struct(
        count: isize,
        blocklengths: *const isize,
        displacements: *const isize,
        types: *const Number,
        info: Info,
        new: *mut Number,
    ) -> c_int;
    fn yaksa_type_create_resized(
        old: Number,
        lb: isize,
        extent: isize,
        info: Info,
        new: *mut Number,
    ) -> c_int;
    fn yaksa_type_free(ty: Number, info: Info) -> c_int;
    fn yaksa_iov_len(count: usize, ty: Number, len: *mut usize) -> c_int;
    fn yaksa_iov(
        buffer: *const c_char,
        count: usize,
        ty: Number,
        offset: usize,
        pieces: *mut Piece,
        room: usize,
        found: *mut usize,
    ) -> c_int;
}

/// Starts Yaksa, for as long as the process lives.
pub(crate) fn start() -> Result<()> {
    // SAFETY: called before all other functions.
    let code = unsafe { yaksa_init(ptr::null_mut()) };
    ensure!(code == 0, "yaksa_init returns {code}");
    Ok(())
}

impl Piece {
    /// Displacement and length.
    pub(crate) fn place(&self) -> (u64, u64) {
        (self.base as u64, self.len as u64)
    }
}

/// A datatype, with the datatypes that it was made of.
pub(crate) struct Handle {
    number: Number,
    parts: Vec<Handle>,
}

impl Handle {
    pub(crate) fn of(ty: &Type) -> Result<Self> {
        let Some(call) = ty.call() else { return Self::predefined(ty) };
        let parts = call.types().map(|part| Self::of(part)).collect::<Result<Vec<_>>>()?;
        let numbers: Vec<Number> = parts.iter().map(|part| part.number).collect();
        let [first, ..] = numbers[..] else { bail!("a datatype without parts") };
        let (none, mut new) = (ptr::null_mut(), 0);
        // SAFETY: the parts are alive, and each list has the number of elements that the call passes, because `call` belongs to
        // a type.
        let code = unsafe {
            match (call.combiner, &call.arguments[..]) {
                (Combiner::Contiguous, [Count(count), _]) => {
                    yaksa_type_create_contig(signed(*count)?, first, none, &raw mut new)
                }
                (
                    combiner @ (Combiner::Vector | Combiner::Hvector),
                    [Count(count), Count(len), Offset(stride), _],
                ) => {
                    let is_hvector = combiner == Combiner::Hvector;
                    let make = if is_hvector {
                        yaksa_type_create_hvector
                    } else {
                        yaksa_type_create_vector
                    };
                    let [count, len] = [signed(*count)?, signed(*len)?];
                    make(count, len, signed(*stride)?, first, none, &raw mut new)
                }
                (Combiner::IndexedBlock, [Count(len), Offsets(places), _]) => {
                    let places = all_signed(places)?;
                    let (number, len) = (signed(places.len())?, signed(*len)?);
                    yaksa_type_create_indexed_block(
                        number,
                        len,
                        places.as_ptr(),
                        first,
                        none,
                        &raw mut new,
                    )
                }
                (Combiner::Indexed, [Counts(lens), Offsets(places), _]) => {
                    let [lens, places] = [all_signed(lens)?, all_signed(places)?];
                    let number = signed(lens.len())?;
                    let (lens, places) = (lens.as_ptr(), places.as_ptr());
                    yaksa_type_create_indexed(number, lens, places, first, none, &raw mut new)
                }
                (Combiner::Structure, [Counts(lens), Offsets(places), _]) => {
                    let [lens, places] = [all_signed(lens)?, all_signed(places)?];
                    let number = signed(lens.len())?;
                    let (lens, places, types) = (lens.as_ptr(), places.as_ptr(), numbers.as_ptr());
                    yaksa_type_create_struct(number, lens, places, types, none, &raw mut new)
                }
                (Combiner::Resized, [_, Offset(lb), Offset(extent)]) => {
                    let [lb, extent] = [signed(*lb)?, signed(*extent)?];
                    yaksa_type_create_resized(first, lb, extent, none, &raw mut new)
                }
                (other, arguments) => bail!("no call for {other:?} {arguments:?}"),
            }
        };
        ensure!(code == 0, "Yaksa refuses {:?} with {code}", call.combiner);
        Ok(Self { number: new, parts })
    }

    /// The basic datatype as an integer of the same size.
    fn predefined(ty: &Type) -> Result<Self> {
        // `YAKSA_TYPE__INT8_T` and so on.
        let number = match ty.size() {
            1 => 6,
            2 => 7,
            4 => 8,
            8 => 9,
            other => bail!("no predefined datatype has {other} bytes"),
        };
        Ok(Self { number, parts: Vec::new() })
    }

    pub(crate) fn number_of_pieces(&self, count: usize) -> Result<usize> {
        let mut len = 0;
        // SAFETY: the datatype is alive, and so is `len`.
        let code = unsafe { yaksa_iov_len(count, self.number, &raw mut len) };
        ensure!(code == 0, "yaksa_iov_len returns {code}");
        Ok(len)
    }

    /// Lists pieces from number `offset` on, until the list is full or the pieces end. Returns the number of listed pieces.
    pub(crate) fn pieces(&self, count: usize, offset: usize, pieces: &mut [Piece]) -> usize {
        let (at, room, mut found) = (pieces.as_mut_ptr(), pieces.len(), 0);
        // SAFETY: the datatype is alive, and the list has this much room. Yaksa accesses no memory of the instances.
        let code =
            unsafe { yaksa_iov(ptr::null(), count, self.number, offset, at, room, &raw mut found) };
        if code == 0 { found } else { 0 }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let is_made = !self.parts.is_empty();
        if is_made {
            // SAFETY: this value owns the datatype, and does not use it again.
            unsafe { yaksa_type_free(self.number, ptr::null_mut()) };
        }
    }
}

fn signed<N: Copy + Display>(number: N) -> Result<isize>
where
    isize: TryFrom<N>,
{
    isize::try_from(number).map_err(|_| anyhow!("{number} is too large"))
}

fn all_signed<N: Copy + Display>(numbers: &[N]) -> Result<Vec<isize>>
where
    isize: TryFrom<N>,
{
    numbers.iter().copied().map(signed).collect()
}
