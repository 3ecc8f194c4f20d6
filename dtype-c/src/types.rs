//! Types: constructors, queries, marshalled bytes, texts.

use std::ffi::{c_char, c_void};

use dtype_npy::{Dtype, NumpyDtype, NumpyOptions};
use dtype_runtime::types::Order;
use dtype_runtime::{Basic, Error, Flags, Type};
use dtype_show::{
    CallingSequence, DescriptionTable, Diagram, EnvelopeTree, Language, SvgStyle, TextStyle, View,
};

use crate::arguments::{Array, In, Out, Room, natural, naturals, text};
use crate::error::{DTYPE_ERROR_TEXT, Failure, boundary, dtype_error};
use crate::handle::{objects, release};

objects! {
    /// A datatype.
    dtype_type = 0x6474_7401, "a type", Type;
}

/// The most lines of a tree, and the most entries of a description, in a text.
const LINES: usize = 10_000;

/// `dtype_type_info` of `dtype.h`.
#[allow(non_camel_case_types, reason = "the name in dtype.h")]
#[allow(missing_docs, reason = "dtype.h has them")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dtype_type_info {
    pub size: u64,
    pub lb: i64,
    pub extent: i64,
    pub true_lb: i64,
    pub true_extent: i64,
    pub align: u64,
    pub elements: u64,
    pub signature_hash: u64,
    pub flags: u32,
    pub reserved: u32,
}

/// Makes a type.
fn make(
    out: Out<*mut dtype_type>,
    build: impl FnOnce() -> Result<Result<Type, Error>, Failure>,
) -> dtype_error {
    boundary(|| {
        let out = out.place("out")?;
        out.put_new(build()??);
        Ok(())
    })
}

/// Makes a basic datatype.
///
/// # Safety
///
/// `out` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_type_basic(basic: i32, out: *mut *mut dtype_type) -> dtype_error {
    // SAFETY: `out` is null or writable.
    let out = unsafe { Out::new(out) };
    make(out, || {
        let known = u8::try_from(basic).ok().and_then(Basic::from_code);
        let known = known
            .ok_or_else(|| Failure::argument(format!("basic is {basic}, which is unknown")))?;
        Ok(Ok(Type::basic(known)))
    })
}

/// `MPI_Type_contiguous`.
///
/// # Safety
///
/// `old` is null or a handle that lives, `out` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_type_contiguous(
    count: i64,
    old: *const dtype_type,
    out: *mut *mut dtype_type,
) -> dtype_error {
    // SAFETY: `old` is null or a handle, `out` null or writable.
    let (old, out) = unsafe { (In::new(old), Out::new(out)) };
    make(out, || Ok(Type::contiguous(natural(count, "count")?, old.get("old")?)))
}

/// `MPI_Type_vector`.
///
/// # Safety
///
/// `old` is null or a handle that lives, `out` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_type_vector(
    count: i64,
    blocklength: i64,
    stride: i64,
    old: *const dtype_type,
    out: *mut *mut dtype_type,
) -> dtype_error {
    // SAFETY: `old` is null or a handle, `out` null or writable.
    let (old, out) = unsafe { (In::new(old), Out::new(out)) };
    make(out, || {
        let (count, length) = (natural(count, "count")?, natural(blocklength, "blocklength")?);
        Ok(Type::vector(count, length, stride, old.get("old")?))
    })
}

/// `MPI_Type_create_hvector`.
///
/// # Safety
///
/// `old` is null or a handle that lives, `out` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_type_hvector(
    count: i64,
    blocklength: i64,
    stride: i64,
    old: *const dtype_type,
    out: *mut *mut dtype_type,
) -> dtype_error {
    // SAFETY: `old` is null or a handle, `out` null or writable.
    let (old, out) = unsafe { (In::new(old), Out::new(out)) };
    make(out, || {
        let (count, length) = (natural(count, "count")?, natural(blocklength, "blocklength")?);
        Ok(Type::hvector(count, length, stride, old.get("old")?))
    })
}

type Irregular = fn(&[u64], &[i64], &Type) -> Result<Type, Error>;

/// `MPI_Type_indexed`.
///
/// # Safety
///
/// The arrays are null or have `number` elements, `old` is null or a handle that lives, `out` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_type_indexed(
    number: usize,
    blocklengths: *const i64,
    displacements: *const i64,
    old: *const dtype_type,
    out: *mut *mut dtype_type,
) -> dtype_error {
    // SAFETY: what the caller promises of this function, which is the same.
    unsafe { irregular(Type::indexed, number, blocklengths, displacements, old, out) }
}

/// `MPI_Type_create_hindexed`.
///
/// # Safety
///
/// The arrays are null or have `number` elements, `old` is null or a handle that lives, `out` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_type_hindexed(
    number: usize,
    blocklengths: *const i64,
    displacements: *const i64,
    old: *const dtype_type,
    out: *mut *mut dtype_type,
) -> dtype_error {
    // SAFETY: what the caller promises of this function, which is the same.
    unsafe { irregular(Type::hindexed, number, blocklengths, displacements, old, out) }
}

/// # Safety
///
/// The arrays are null or have `number` elements, `old` is null or a handle that lives, `out` null or writable.
unsafe fn irregular(
    build: Irregular,
    number: usize,
    blocklengths: *const i64,
    displacements: *const i64,
    old: *const dtype_type,
    out: *mut *mut dtype_type,
) -> dtype_error {
    // SAFETY: the arrays are null or have `number` elements, `old` is null or a handle, `out` null or writable.
    let (lengths, places, old, out) = unsafe {
        let arrays = (Array::new(blocklengths, number), Array::new(displacements, number));
        (arrays.0, arrays.1, In::new(old), Out::new(out))
    };
    make(out, || {
        let lengths = naturals(lengths.get("blocklengths")?, "blocklengths")?;
        Ok(build(&lengths, places.get("displacements")?, old.get("old")?))
    })
}

type Blocks = fn(u64, &[i64], &Type) -> Result<Type, Error>;

/// `MPI_Type_create_indexed_block`.
///
/// # Safety
///
/// `displacements` is null or has `number` elements, `old` is null or a handle that lives, `out` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_type_indexed_block(
    number: usize,
    blocklength: i64,
    displacements: *const i64,
    old: *const dtype_type,
    out: *mut *mut dtype_type,
) -> dtype_error {
    // SAFETY: what the caller promises of this function, which is the same.
    unsafe { blocks(Type::indexed_block, number, blocklength, displacements, old, out) }
}

/// `MPI_Type_create_hindexed_block`.
///
/// # Safety
///
/// `displacements` is null or has `number` elements, `old` is null or a handle that lives, `out` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_type_hindexed_block(
    number: usize,
    blocklength: i64,
    displacements: *const i64,
    old: *const dtype_type,
    out: *mut *mut dtype_type,
) -> dtype_error {
    // SAFETY: what the caller promises of this function, which is the same.
    unsafe { blocks(Type::hindexed_block, number, blocklength, displacements, old, out) }
}

/// # Safety
///
/// `displacements` is null or has `number` elements, `old` is null or a handle that lives, `out` null or writable.
unsafe fn blocks(
    build: Blocks,
    number: usize,
    blocklength: i64,
    displacements: *const i64,
    old: *const dtype_type,
    out: *mut *mut dtype_type,
) -> dtype_error {
    // SAFETY: `displacements` is null or has `number` elements, `old` is null or a handle, `out` null or writable.
    let (places, old, out) =
        unsafe { (Array::new(displacements, number), In::new(old), Out::new(out)) };
    make(out, || {
        let length = natural(blocklength, "blocklength")?;
        Ok(build(length, places.get("displacements")?, old.get("old")?))
    })
}

/// `MPI_Type_create_struct`.
///
/// # Safety
///
/// The arrays are null or have `number` elements. Those of `types` are null or handles that live. `out` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_type_struct(
    number: usize,
    blocklengths: *const i64,
    displacements: *const i64,
    types: *const *const dtype_type,
    out: *mut *mut dtype_type,
) -> dtype_error {
    // SAFETY: the arrays are null or have `number` elements, `out` is null or writable.
    let (lengths, places, types, out) = unsafe {
        let arrays = (Array::new(blocklengths, number), Array::new(displacements, number));
        (arrays.0, arrays.1, Array::new(types, number), Out::new(out))
    };
    make(out, || {
        let lengths = naturals(lengths.get("blocklengths")?, "blocklengths")?;
        let places = places.get("displacements")?;
        // SAFETY: the elements are null or handles.
        let members =
            types.get("types")?.iter().map(|ty| unsafe { In::new(*ty) }.get("types[i]").cloned());
        let members = members.collect::<Result<Vec<_>, _>>()?;
        Ok(Type::structure(&lengths, places, &members))
    })
}

/// `MPI_Type_create_subarray`.
///
/// # Safety
///
/// The arrays are null or have `dimensions` elements, `old` is null or a handle that lives, `out` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_type_subarray(
    dimensions: usize,
    sizes: *const i64,
    subsizes: *const i64,
    starts: *const i64,
    order: i32,
    old: *const dtype_type,
    out: *mut *mut dtype_type,
) -> dtype_error {
    // SAFETY: the arrays are null or have `dimensions` elements, `old` is null or a handle, `out` null or writable.
    let (arrays, old, out) = unsafe {
        (
            [sizes, subsizes, starts].map(|array| Array::new(array, dimensions)),
            In::new(old),
            Out::new(out),
        )
    };
    make(out, || {
        let order = match order {
            0 => Order::C,
            1 => Order::Fortran,
            other => return Err(Failure::argument(format!("order is {other}, expected 0 or 1"))),
        };
        let [sizes, subsizes, starts] = arrays;
        let sizes = naturals(sizes.get("sizes")?, "sizes")?;
        let subsizes = naturals(subsizes.get("subsizes")?, "subsizes")?;
        let starts = naturals(starts.get("starts")?, "starts")?;
        Ok(Type::subarray(&sizes, &subsizes, &starts, order, old.get("old")?))
    })
}

/// `MPI_Type_create_resized`.
///
/// # Safety
///
/// `old` is null or a handle that lives, `out` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_type_resized(
    old: *const dtype_type,
    lb: i64,
    extent: i64,
    out: *mut *mut dtype_type,
) -> dtype_error {
    // SAFETY: `old` is null or a handle, `out` null or writable.
    let (old, out) = unsafe { (In::new(old), Out::new(out)) };
    make(out, || Ok(Type::resized(old.get("old")?, lb, extent)))
}

/// Adds a reference.
///
/// # Safety
///
/// `ty` is null or a handle that lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_type_retain(ty: *const dtype_type) -> dtype_error {
    // SAFETY: `ty` is null or a handle.
    let ty = unsafe { In::new(ty) };
    boundary(|| ty.retain("type"))
}

/// Removes a reference.
///
/// # Safety
///
/// `ty` is null or a handle of which the caller owns a reference.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_type_release(ty: *mut dtype_type) {
    // SAFETY: `ty` is null or a handle with a reference of the caller.
    unsafe { release(ty) }
}

/// Sizes, bounds, hash and flags.
///
/// # Safety
///
/// `ty` is null or a handle that lives, `out` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_type_get_info(
    ty: *const dtype_type,
    out: *mut dtype_type_info,
) -> dtype_error {
    // SAFETY: `ty` is null or a handle, `out` null or writable.
    let (ty, out) = unsafe { (In::new(ty), Out::new(out)) };
    boundary(|| {
        let (ty, out) = (ty.get("type")?, out.place("out")?);
        out.put(dtype_type_info {
            size: ty.size(),
            lb: ty.lb(),
            extent: ty.extent(),
            true_lb: ty.true_lb(),
            true_extent: ty.true_extent(),
            align: ty.align(),
            elements: ty.elements(),
            signature_hash: ty.signature_hash(),
            flags: flags(ty),
            reserved: 0,
        });
        Ok(())
    })
}

/// The flags that `dtype.h` names, by its numbers.
fn flags(ty: &Type) -> u32 {
    let all = ty.flags();
    let named = [(Flags::OVERLAP, 4), (Flags::CONTIGUOUS, 8), (Flags::NO_GAPS, 16)];
    named.iter().filter(|(flag, _)| all.contains(*flag)).map(|(_, number)| number).sum()
}

/// # Safety
///
/// `a` and `b` are null or handles that live, `out` null or writable.
unsafe fn compare(
    a: *const dtype_type,
    b: *const dtype_type,
    out: *mut bool,
    same: fn(&Type, &Type) -> bool,
) -> dtype_error {
    // SAFETY: `a` and `b` are null or handles, `out` null or writable.
    let (a, b, out) = unsafe { (In::new(a), In::new(b), Out::new(out)) };
    boundary(|| {
        let (a, b, out) = (a.get("a")?, b.get("b")?, out.place("out")?);
        out.put(same(a, b));
        Ok(())
    })
}

/// Whether the same calls made both.
///
/// # Safety
///
/// `a` and `b` are null or handles that live, `out` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_type_equal(
    a: *const dtype_type,
    b: *const dtype_type,
    out: *mut bool,
) -> dtype_error {
    // SAFETY: what the caller promises of this function, which is the same.
    unsafe { compare(a, b, out, Type::eq) }
}

/// Whether both have the same signature.
///
/// # Safety
///
/// `a` and `b` are null or handles that live, `out` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_type_compatible(
    a: *const dtype_type,
    b: *const dtype_type,
    out: *mut bool,
) -> dtype_error {
    // SAFETY: what the caller promises of this function, which is the same.
    unsafe { compare(a, b, out, |a, b| a.signature() == b.signature()) }
}

/// A type as bytes.
///
/// # Safety
///
/// `ty` is null or a handle that lives, `out` null or writable for `out_size` bytes, `size` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_type_marshal(
    ty: *const dtype_type,
    out: *mut c_void,
    out_size: usize,
    size: *mut usize,
) -> dtype_error {
    // SAFETY: `ty` is null or a handle, `out` null or writable for `out_size` bytes, `size` null or writable.
    let (ty, out, size) =
        unsafe { (In::new(ty), Room::new(out.cast::<u8>(), out_size), Out::new(size)) };
    boundary(|| out.fill(size, &ty.get("type")?.marshal()))
}

/// Bytes as a type.
///
/// # Safety
///
/// `bytes` is null or readable for `size` bytes, `out` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_type_unmarshal(
    bytes: *const c_void,
    size: usize,
    out: *mut *mut dtype_type,
) -> dtype_error {
    // SAFETY: `bytes` is null or readable for `size` bytes, `out` null or writable.
    let (bytes, out) = unsafe { (Array::new(bytes.cast(), size), Out::new(out)) };
    make(out, || Ok(Type::unmarshal(bytes.get("bytes")?)))
}

/// The type of a NumPy dtype.
///
/// # Safety
///
/// `source` is null or readable for `length` bytes, `out` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_type_from_numpy(
    source: *const c_char,
    length: usize,
    out: *mut *mut dtype_type,
) -> dtype_error {
    // SAFETY: `source` is null or readable for `length` bytes, `out` null or writable.
    let (source, out) = unsafe { (Array::new(source.cast(), length), Out::new(out)) };
    make(out, || {
        let dtype = Dtype::parse_native(text(source, "text")?);
        let dtype = dtype.map_err(|error| {
            let (place, message) = (error.span.start, error.message);
            Failure::Other(DTYPE_ERROR_TEXT, format!("byte {place} of the text: {message}"))
        })?;
        Ok(dtype.datatype())
    })
}

/// A type as a text.
///
/// # Safety
///
/// `ty` is null or a handle that lives, `out` null or writable for `out_size` bytes, `size` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_type_text(
    ty: *const dtype_type,
    form: i32,
    out: *mut c_char,
    out_size: usize,
    size: *mut usize,
) -> dtype_error {
    // SAFETY: `ty` is null or a handle, `out` null or writable for `out_size` bytes, `size` null or writable.
    let (ty, out, size) =
        unsafe { (In::new(ty), Room::new(out.cast::<u8>(), out_size), Out::new(size)) };
    boundary(|| {
        let ty = ty.get("type")?;
        let diagram = || Diagram::of_type(ty, &View::default());
        let numpy = |options| {
            let dtype = NumpyDtype::of_type(ty, &options);
            dtype.map_err(|error| Failure::unsupported(&error.to_string()))
        };
        let text = match form {
            0 => diagram().text(&TextStyle::default()).to_string(),
            1 => diagram().svg(&SvgStyle::default()),
            2 => EnvelopeTree::new(ty, LINES).to_string(),
            3 => DescriptionTable::new(&ty.description(), LINES).to_string(),
            4 => CallingSequence::new(ty, Language::C).to_string(),
            5 => CallingSequence::new(ty, Language::Rust).to_string(),
            6 => numpy(NumpyOptions::memory())?.to_string(),
            7 => numpy(NumpyOptions::packed())?.to_string(),
            other => return Err(Failure::argument(format!("form is {other}, expected 0 to 7"))),
        };
        out.fill_text(size, text)
    })
}
