//! Calls of the HDF5 library.
//!
//! The library is not thread-safe, so every call is made under the lock that `hdf5-metno` takes for its own calls. The library
//! checks the handles that it gets: a call with the handle of a closed object fails.

mod arena;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr;

use dtype_runtime::Error as RecordError;
use dtype_runtime::representation::ByteOrder;
use dtype_runtime::typemap::{Meaning, Node, TypeMap};
use dtype_stored::{Scratch, TextEnd, joined};
use hdf5_metno::datatype::ByteOrder as StoredOrder;
use hdf5_metno::globals::{H5P_DATASET_ACCESS, H5P_DATASET_XFER};
use hdf5_metno::plist::{DatasetCreate, LinkCreate, PropertyList};
use hdf5_metno::types::{CompoundField, TypeDescriptor};
use hdf5_metno::{Dataset, Dataspace, Datatype, Group};
use hdf5_metno_sys::LOCK;
use hdf5_metno_sys::h5::{H5free_memory, hsize_t};
use hdf5_metno_sys::h5d::{H5Dcreate2, H5Dopen2, H5Dread, H5Dwrite};
use hdf5_metno_sys::h5i::hid_t;
use hdf5_metno_sys::h5mm::{H5MM_allocate_t, H5MM_free_t};
use hdf5_metno_sys::h5p::{
    H5P_DEFAULT, H5Pcreate, H5Pget_external, H5Pget_external_count, H5Pset_elink_cb,
    H5Pset_vlen_mem_manager,
};
use hdf5_metno_sys::h5s::{H5Sget_simple_extent_dims, H5Sget_simple_extent_ndims};
use hdf5_metno_sys::h5t::{
    H5T_class_t, H5T_norm_t, H5T_sign_t, H5T_str_t, H5Tarray_create2, H5Tcreate,
    H5Tget_array_dims2, H5Tget_array_ndims, H5Tget_class, H5Tget_ebias, H5Tget_fields,
    H5Tget_member_index, H5Tget_member_name, H5Tget_member_offset, H5Tget_member_type,
    H5Tget_member_value, H5Tget_nmembers, H5Tget_norm, H5Tget_offset, H5Tget_precision,
    H5Tget_sign, H5Tget_strpad, H5Tget_super, H5Tinsert, H5Tis_variable_str,
};

use arena::Arena;

use crate::error::Error;
use crate::stored::{Form, Stored, StoredField};

/// How deep datatypes may nest, so that none can exhaust the stack.
const MAX_NESTING: usize = 64;

/// The greatest number of axes that the library allows.
const MAX_AXES: usize = 32;

/// The error of the library's last call.
fn failed() -> Error {
    hdf5_metno::Error::query().unwrap_or_else(|error| error).into()
}

/// A number that the library returns, which is negative for an error.
fn number(result: c_int) -> Result<usize, Error> {
    usize::try_from(result).map_err(|_| failed())
}

/// A datatype as a value, with times as the program stores them that has written the file of the dataset.
pub(crate) fn stored(dataset: &Dataset, datatype: &Datatype) -> Result<Stored, Error> {
    let stored = read(datatype, "", 0)?;
    let is_pytables = || Ok::<_, Error>(dataset.file()?.attr(PYTABLES).is_ok());
    Ok(if stored.has_times() && is_pytables()? { stored } else { stored.of_others() })
}

/// The attribute of the root group in files of PyTables.
const PYTABLES: &str = "PYTABLES_FORMAT_VERSION";

/// A datatype that this crate has made.
pub(crate) fn own(datatype: &Datatype) -> Result<Stored, Error> {
    read(datatype, "", 0)
}

fn read(datatype: &Datatype, path: &str, depth: usize) -> Result<Stored, Error> {
    if depth > MAX_NESTING {
        return Err(Error::Malformed { field: path.to_owned() });
    }
    let size = datatype.size() as u64;
    let _guard = LOCK.lock();
    // SAFETY: the call reads a datatype, and checks the handle.
    let class = unsafe { H5Tget_class(datatype.id()) };
    #[allow(
        clippy::match_wildcard_for_single_variants,
        reason = "newer libraries have more classes"
    )]
    let form = match class {
        H5T_class_t::H5T_INTEGER => integer(datatype),
        H5T_class_t::H5T_FLOAT => float(datatype),
        H5T_class_t::H5T_BITFIELD => bits(datatype),
        H5T_class_t::H5T_ENUM => enumeration(datatype, path)?,
        H5T_class_t::H5T_STRING => text(datatype),
        H5T_class_t::H5T_COMPOUND => compound(datatype, path, depth)?,
        H5T_class_t::H5T_ARRAY => array(datatype, path, depth)?,
        H5T_class_t::H5T_TIME => match order(datatype) {
            Some(order) if matches!(size, 4 | 8) => Form::Time { order },
            _ => Form::Other("a time of another format"),
        },
        H5T_class_t::H5T_OPAQUE => Form::Other("opaque bytes"),
        H5T_class_t::H5T_REFERENCE => Form::Other("a reference"),
        H5T_class_t::H5T_VLEN => Form::Other("a list of variable length"),
        H5T_class_t::H5T_NO_CLASS => return Err(failed()),
        _ => Form::Other("of a class that is not known"),
    };
    Ok(Stored { form, size })
}

/// The byte order of a number. For a single byte it does not matter.
fn order(datatype: &Datatype) -> Option<ByteOrder> {
    match datatype.byte_order() {
        StoredOrder::LittleEndian => Some(ByteOrder::Little),
        StoredOrder::BigEndian => Some(ByteOrder::Big),
        _ => (datatype.size() == 1).then_some(ByteOrder::NATIVE),
    }
}

/// Whether all bits of a number are significant.
fn is_whole(datatype: &Datatype) -> bool {
    // SAFETY: the calls read a datatype, and check the handle.
    let (precision, offset) =
        unsafe { (H5Tget_precision(datatype.id()), H5Tget_offset(datatype.id())) };
    offset == 0 && precision.checked_div(8) == Some(datatype.size()) && precision % 8 == 0
}

fn integer(datatype: &Datatype) -> Form {
    // SAFETY: the call reads a datatype, and checks the handle.
    let sign = unsafe { H5Tget_sign(datatype.id()) };
    match (order(datatype), sign) {
        (Some(order), H5T_sign_t::H5T_SGN_NONE | H5T_sign_t::H5T_SGN_2) if is_whole(datatype) => {
            Form::Integer { signed: sign == H5T_sign_t::H5T_SGN_2, order }
        }
        _ => Form::Other("an integer of another format"),
    }
}

fn bits(datatype: &Datatype) -> Form {
    match order(datatype) {
        Some(order) if is_whole(datatype) => Form::Bits { order },
        _ => Form::Other("a bit field of another format"),
    }
}

fn float(datatype: &Datatype) -> Form {
    let id = datatype.id();
    let (mut sign, mut exponent, mut exponent_bits) = (0, 0, 0);
    let (mut mantissa, mut mantissa_bits) = (0, 0);
    // SAFETY: the calls read a datatype, check the handle, and write to the five numbers.
    let (status, bias, norm) = unsafe {
        let status = H5Tget_fields(
            id,
            &raw mut sign,
            &raw mut exponent,
            &raw mut exponent_bits,
            &raw mut mantissa,
            &raw mut mantissa_bits,
        );
        (status, H5Tget_ebias(id), H5Tget_norm(id))
    };
    // The widths and the bias of the formats of IEEE 754.
    let ieee = match datatype.size() {
        2 => (5, 10, 15),
        4 => (8, 23, 127),
        8 => (11, 52, 1023),
        _ => return Form::Other("a float of another format"),
    };
    let is_ieee = status >= 0
        && (exponent_bits, mantissa_bits, bias) == ieee
        && (mantissa, exponent) == (0, mantissa_bits)
        && sign == exponent + exponent_bits
        && norm == H5T_norm_t::H5T_NORM_IMPLIED
        && is_whole(datatype);
    match order(datatype) {
        Some(order) if is_ieee => Form::Float { order },
        _ => Form::Other("a float of another format"),
    }
}

fn text(datatype: &Datatype) -> Form {
    // SAFETY: the calls read a datatype, and check the handle.
    let (is_variable, padding) =
        unsafe { (H5Tis_variable_str(datatype.id()), H5Tget_strpad(datatype.id())) };
    match (is_variable, padding) {
        (0, H5T_str_t::H5T_STR_NULLTERM) => Form::Text { end: TextEnd::FirstZero },
        (0, H5T_str_t::H5T_STR_SPACEPAD) => Form::Text { end: TextEnd::Blanks },
        (0, _) => Form::Text { end: TextEnd::Zeros },
        _ => Form::VariableText,
    }
}

/// The base type of an array or enumeration.
fn base(datatype: &Datatype) -> Result<Datatype, Error> {
    // SAFETY: the call reads a datatype, and checks the handle. Only the value made from the new handle owns it.
    Ok(unsafe { hdf5_metno::from_id(H5Tget_super(datatype.id())) }?)
}

/// The number of members of a compound or an enumeration.
fn member_count(datatype: &Datatype) -> Result<c_uint, Error> {
    // SAFETY: the call reads a datatype, and checks the handle.
    let members = unsafe { H5Tget_nmembers(datatype.id()) };
    c_uint::try_from(members).map_err(|_| failed())
}

/// The name of a member. A name that is not UTF-8 is read as Latin-1, so that different names stay different.
fn name(datatype: &Datatype, member: c_uint) -> Result<String, Error> {
    // SAFETY: the call reads a datatype, and checks the handle and the index.
    let text = unsafe { H5Tget_member_name(datatype.id(), member) };
    if text.is_null() {
        return Err(failed());
    }
    // SAFETY: a string with its terminator. The caller owns it until it is freed, and it is copied before that.
    let bytes = unsafe { CStr::from_ptr(text) }.to_bytes();
    let name = match std::str::from_utf8(bytes) {
        Ok(name) => name.to_owned(),
        Err(_) => bytes.iter().copied().map(char::from).collect(),
    };
    // SAFETY: the library allocated this memory, and nothing refers to it any more.
    unsafe { H5free_memory(text.cast()) };
    Ok(name)
}

fn enumeration(datatype: &Datatype, path: &str) -> Result<Form, Error> {
    let (base, size) = (base(datatype)?, datatype.size());
    let mut bytes = [0_u8; 16];
    let (signed, order) = match integer(&base) {
        Form::Integer { signed, order } if size == base.size() && size <= bytes.len() => {
            (signed, order)
        }
        _ => return Ok(Form::Other("an enumeration of another format")),
    };
    let (mut all, mut numbers) = (BTreeMap::new(), BTreeSet::new());
    for member in 0..member_count(datatype)? {
        let name = name(datatype, member)?;
        // SAFETY: the call reads a datatype, checks the handle and the index, and writes as many bytes as the datatype has, for
        // which there is room.
        number(unsafe { H5Tget_member_value(datatype.id(), member, bytes.as_mut_ptr().cast()) })?;
        let value = zero_extended(&bytes[..size], order);
        // The library does not make such members, but reads them from files.
        if !numbers.insert(value) || all.insert(name, value).is_some() {
            return Err(Error::Malformed { field: path.to_owned() });
        }
    }
    Ok(Form::Enumeration { signed, order, members: all })
}

/// The number of at most 16 bytes, zero-extended.
fn zero_extended(bytes: &[u8], order: ByteOrder) -> u128 {
    let append = |number: u128, byte: &u8| number << 8 | u128::from(*byte);
    match order {
        ByteOrder::Big => bytes.iter().fold(0, append),
        ByteOrder::Little => bytes.iter().rev().fold(0, append),
    }
}

fn compound(datatype: &Datatype, path: &str, depth: usize) -> Result<Form, Error> {
    let mut fields = Vec::new();
    for member in 0..member_count(datatype)? {
        let name = name(datatype, member)?;
        let inner = joined(path, &name);
        // SAFETY: the calls read a datatype, and check the handle and the index. Only the value made from the new handle owns
        // it.
        let (offset, of) = unsafe {
            let id = datatype.id();
            (H5Tget_member_offset(id, member), hdf5_metno::from_id(H5Tget_member_type(id, member)))
        };
        let (offset, datatype_of) = (offset as u64, read(&of?, &inner, depth + 1)?);
        let end = offset.checked_add(datatype_of.size);
        if end.is_none_or(|end| end > datatype.size() as u64) {
            return Err(Error::Malformed { field: inner });
        }
        fields.push(StoredField { name, offset, datatype: datatype_of });
    }
    Ok(Form::Compound(fields))
}

fn array(datatype: &Datatype, path: &str, depth: usize) -> Result<Form, Error> {
    let malformed = || Error::Malformed { field: path.to_owned() };
    // SAFETY: the call reads a datatype, and checks the handle.
    let axes = number(unsafe { H5Tget_array_ndims(datatype.id()) })?;
    if !(1..=MAX_AXES).contains(&axes) {
        return Err(malformed());
    }
    let mut lengths: Vec<hsize_t> = vec![0; axes];
    // SAFETY: the call reads a datatype, checks the handle, and writes a length for each axis, of which there are as many as it
    // just said: the lock is held, and a datatype does not change.
    number(unsafe { H5Tget_array_dims2(datatype.id(), lengths.as_mut_ptr()) })?;
    let element = read(&base(datatype)?, path, depth + 1)?;
    let size = lengths.iter().try_fold(element.size, |size, length| size.checked_mul(*length));
    if size != Some(datatype.size() as u64) {
        return Err(malformed());
    }
    Ok(Form::Array { lengths, element: Box::new(element) })
}

/// Makes a datatype exactly as the descriptor describes it: with fields at their offsets, inserted in the order of their index,
/// and arrays of arrays as arrays of several axes. `Datatype::from_descriptor` refuses such an order, and nests the arrays.
pub(crate) fn made(descriptor: &TypeDescriptor) -> Result<Datatype, Error> {
    let _guard = LOCK.lock();
    match descriptor {
        TypeDescriptor::Compound(compound) => {
            let mut fields: Vec<_> = compound.fields.iter().collect();
            fields.sort_by_key(|field| field.index);
            let member =
                |field: &&CompoundField| Ok((c_text(&field.name)?, field.offset, made(&field.ty)?));
            let members = fields.iter().map(member).collect::<Result<Vec<_>, Error>>()?;
            made_compound(compound.size, &members)
        }
        TypeDescriptor::FixedArray(..) => {
            let (mut lengths, mut element) = (Vec::new(), descriptor);
            while let TypeDescriptor::FixedArray(inner, length) = element {
                lengths.push(*length as hsize_t);
                element = inner;
            }
            made_array(&made(element)?, &lengths)
        }
        leaf => Ok(Datatype::from_descriptor(leaf)?),
    }
}

/// Creates a dataset with one axis of `count` items, and the groups on the way to it. (`hdf5-metno` loses the error of this
/// call.)
pub(crate) fn created(
    group: &Group,
    name: &str,
    datatype: &Datatype,
    count: usize,
) -> Result<Dataset, Error> {
    let _guard = LOCK.lock();
    let name = c_text(name)?;
    let space = Dataspace::try_new(count)?;
    let links = LinkCreate::build().create_intermediate_group(true).finish()?;
    // Without times, so that the same records make the same file.
    let properties = DatasetCreate::build().obj_track_times(false).finish()?;
    inside(|access| {
        // SAFETY: the library checks the handles, and copies the name.
        unsafe {
            H5Dcreate2(
                group.id(),
                name.as_ptr(),
                datatype.id(),
                space.id(),
                links.id(),
                properties.id(),
                access,
            )
        }
    })
}

/// Opens a dataset of the same file.
pub(crate) fn opened(group: &Group, name: &str) -> Result<Dataset, Error> {
    let _guard = LOCK.lock();
    let name = c_text(name)?;
    // SAFETY: the library checks the handles, and reads the name.
    inside(|access| unsafe { H5Dopen2(group.id(), name.as_ptr(), access) })
}

thread_local! {
    /// The file of a link that [`refuse`] has seen.
    static REFUSED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Makes a call that returns a new handle of a dataset, with properties by which the library follows no link to another file.
fn inside(call: impl FnOnce(hid_t) -> hid_t) -> Result<Dataset, Error> {
    // SAFETY: the call makes a property list, and only the value made from its handle owns the handle. The function that the
    // list gets needs no data, so it may be called for as long as the library keeps the list.
    let access: PropertyList = unsafe {
        let list: PropertyList = hdf5_metno::from_id(H5Pcreate(*H5P_DATASET_ACCESS))?;
        done(H5Pset_elink_cb(list.id(), Some(refuse), ptr::null_mut()))?;
        list
    };
    REFUSED.take();
    let id = call(access.id());
    if id < 0 {
        return Err(REFUSED.take().map_or_else(failed, |file| Error::Elsewhere {
            what: format!("the name leads to the file `{}`", file.escape_debug()),
        }));
    }
    // SAFETY: a new handle, which only this value owns.
    Ok(unsafe { hdf5_metno::from_id(id) }?)
}

/// The function that the library calls before it opens another file. A negative number makes the library fail.
extern "C" fn refuse(
    _file: *const c_char,
    _group: *const c_char,
    other_file: *const c_char,
    _name: *const c_char,
    _flags: *mut c_uint,
    _properties: hid_t,
    _data: *mut c_void,
) -> c_int {
    // SAFETY: the library passes a terminated text, which is copied before the call ends.
    let name = unsafe { CStr::from_ptr(other_file) }.to_string_lossy().into_owned();
    REFUSED.set(Some(name));
    -1
}

/// A text for the library.
fn c_text(text: &str) -> Result<CString, Error> {
    Ok(CString::new(text).map_err(|error| hdf5_metno::Error::Internal(error.to_string()))?)
}

/// The lengths of a dataset's axes, the outermost first. An empty dataspace has no items; its shape is one axis of length 0.
pub(crate) fn shape(space: &Dataspace) -> Result<Vec<hsize_t>, Error> {
    let _guard = LOCK.lock();
    if space.is_null() {
        return Ok(vec![0]);
    }
    // SAFETY: the call reads a dataspace, and checks the handle.
    let axes = number(unsafe { H5Sget_simple_extent_ndims(space.id()) })?;
    let mut lengths: Vec<hsize_t> = vec![0; axes];
    // SAFETY: the call reads a dataspace, checks the handle, and writes a length for each axis, of which there are as many as
    // it just said: the lock is held. It does not write the greatest lengths.
    number(unsafe {
        H5Sget_simple_extent_dims(space.id(), lengths.as_mut_ptr(), std::ptr::null_mut())
    })?;
    Ok(lengths)
}

/// The first file outside the dataset's own that has its items; `None` if the dataset's file has them.
pub(crate) fn external_file(properties: &DatasetCreate) -> Result<Option<String>, Error> {
    let _guard = LOCK.lock();
    // SAFETY: the call reads a property list, and checks the handle.
    if number(unsafe { H5Pget_external_count(properties.id()) })? == 0 {
        return Ok(None);
    }
    let mut name: [c_char; 1024] = [0; 1024];
    let (len, text) = (name.len() - 1, name.as_mut_ptr());
    // SAFETY: the call reads a property list, checks the handle and the index, and writes at most `len` bytes of the name. It
    // does not write the offset and the size.
    done(unsafe {
        H5Pget_external(properties.id(), 0, len, text, ptr::null_mut(), ptr::null_mut())
    })?;
    // SAFETY: the last byte is a zero, whatever the call has written.
    let name = unsafe { CStr::from_ptr(name.as_ptr()) };
    Ok(Some(name.to_string_lossy().into_owned()))
}

/// The datatype of the dataset's items, with only the fields of a type, packed. It is for memory: the library reads nothing
/// else. The dataset must have these fields.
pub(crate) fn selected(datatype: &Datatype, map: &TypeMap) -> Result<Datatype, Error> {
    let _guard = LOCK.lock();
    // SAFETY: the call reads a datatype, and checks the handle.
    match (unsafe { H5Tget_class(datatype.id()) }, map.node()) {
        (H5T_class_t::H5T_ARRAY, _) => {
            let Form::Array { lengths, .. } = array(datatype, "", 0)? else {
                return Ok(datatype.clone());
            };
            made_array(&selected(&base(datatype)?, map)?, &lengths)
        }
        (_, Node::Array { element, .. }) => selected(datatype, element),
        (H5T_class_t::H5T_COMPOUND, Node::Structure { fields, .. })
            if map.meaning() != Some(Meaning::Text) =>
        {
            let mut members = Vec::new();
            let mut size = 0;
            for field in *fields {
                let Some(map) = field.map().filter(|map| map.size() > 0) else { continue };
                let name = c_text(field.name())?;
                // SAFETY: the calls read a datatype, and check the handle, the name and the index. Only the value made from the
                // new handle owns it.
                let of: Datatype = unsafe {
                    let index = number(H5Tget_member_index(datatype.id(), name.as_ptr()))?;
                    let index = c_uint::try_from(index).unwrap_or(c_uint::MAX);
                    hdf5_metno::from_id(H5Tget_member_type(datatype.id(), index))
                }?;
                let of = selected(&of, map)?;
                let offset = size;
                size += of.size();
                members.push((name, offset, of));
            }
            made_compound(size, &members)
        }
        _ => Ok(datatype.clone()),
    }
}

/// A compound of these members.
fn made_compound(size: usize, members: &[(CString, usize, Datatype)]) -> Result<Datatype, Error> {
    // SAFETY: the call makes a datatype. Only the value made from the handle owns it.
    let all: Datatype = unsafe { hdf5_metno::from_id(H5Tcreate(H5T_class_t::H5T_COMPOUND, size)) }?;
    for (name, offset, of) in members {
        // SAFETY: the call changes a datatype that nothing else refers to, checks the handles and the offset, and copies the
        // name.
        number(unsafe { H5Tinsert(all.id(), name.as_ptr(), *offset, of.id()) })?;
    }
    Ok(all)
}

/// An array of these axes.
fn made_array(element: &Datatype, lengths: &[hsize_t]) -> Result<Datatype, Error> {
    let axes = c_uint::try_from(lengths.len()).unwrap_or(c_uint::MAX);
    // SAFETY: the call makes a datatype, and checks the handle and the number of axes before it reads the lengths. There are as
    // many lengths: a descriptor does not nest `c_uint::MAX` levels deep, and no datatype has as many axes. Only the value made
    // of it owns the handle.
    let id = unsafe { H5Tarray_create2(element.id(), axes, lengths.as_ptr()) };
    // SAFETY: as above.
    Ok(unsafe { hdf5_metno::from_id(id) }?)
}

/// The bytes of items in memory, which the library reads and writes, and the items' texts outside these bytes.
#[derive(Debug, Default)]
pub(crate) struct Items {
    pub(crate) bytes: Vec<u8>,
    pub(crate) scratch: Scratch,
}

/// Reads `count` items of a part of the dataset in the form that they have in memory. `datatype` is the dataset's own, or has
/// some of its fields, and `stored` describes it. The texts of variable length, which have at most `limit` bytes together, go
/// to the scratch memory; at the place of each is its index there. Returns the bytes that the library has copied for texts.
///
/// The caller must hold the lock: another thread could make the dataset shorter after its length was queried, and past the end
/// of a dataset the library reads fill values. Bytes that are not in the file, because nothing was ever written there, are also
/// zeros or the dataset's fill value.
pub(crate) fn read_items(
    dataset: &Dataset,
    datatype: &Datatype,
    (space, count): (&Dataspace, usize),
    (stored, limit): (&Stored, usize),
    items: &mut Items,
) -> Result<usize, Error> {
    let _guard = LOCK.lock();
    let Items { bytes, scratch } = items;
    let stride = datatype.size();
    let mut arena = Arena::new(limit);
    let refused = || RecordError::Allocation { count, stride };
    let size = count.checked_mul(stride).ok_or_else(refused)?;
    scratch.texts.clear();
    bytes.clear();
    bytes.try_reserve_exact(size).map_err(|_| refused())?;
    bytes.resize(size, 0);
    if count == 0 {
        return Ok(0);
    }
    let memory = Dataspace::try_new(count)?;
    // SAFETY: the call makes a property list, and only the value made from its handle owns the handle. The arena lives until
    // the list has been used for the last time, and nothing else uses it while the library reads.
    let transfer: PropertyList = unsafe {
        let list: PropertyList = hdf5_metno::from_id(H5Pcreate(*H5P_DATASET_XFER))?;
        let (allocate, free): (H5MM_allocate_t, H5MM_free_t) =
            (Some(Arena::allocate), Some(Arena::free));
        let arena = (&raw mut arena).cast();
        done(H5Pset_vlen_mem_manager(list.id(), allocate, arena, free, arena))?;
        list
    };
    // SAFETY: the library checks the handles, and that both dataspaces have the same number of items. It writes to the items of
    // `memory`, as values of `datatype`: these are the bytes of the vector.
    let read = done(unsafe {
        let (to, from) = (memory.id(), space.id());
        H5Dread(dataset.id(), datatype.id(), to, from, transfer.id(), bytes.as_mut_ptr().cast())
    });
    if arena.is_full() {
        return Err(Error::Texts { items: count, limit });
    }
    read?;
    let texts = &mut scratch.texts;
    texts.try_reserve_exact(arena.len()).map_err(|_| refused())?;
    stored.each_text(bytes, &mut |place| {
        let text = arena.text(usize::from_ne_bytes(*place));
        *place = text.map_or(usize::MAX, |_| texts.len()).to_ne_bytes();
        if let Some(text) = text {
            texts.extend_from_slice(text.to_bytes_with_nul());
        }
    });
    Ok(arena.len())
}

/// Writes `count` items of a part of the dataset in the form in which they are stored. `datatype` is the dataset's own, and
/// `stored` describes it. A string of variable length is the index of a text in the scratch memory.
///
/// The caller must hold the lock: if another thread made the dataset shorter in between, the items would be lost.
pub(crate) fn write_items(
    dataset: &Dataset,
    datatype: &Datatype,
    (space, count): (&Dataspace, usize),
    stored: &Stored,
    items: &mut Items,
) -> Result<(), Error> {
    let _guard = LOCK.lock();
    let Items { bytes, scratch } = items;
    let (expected, actual) = (count.saturating_mul(datatype.size()) as u64, bytes.len() as u64);
    if expected != actual {
        return Err(RecordError::PackedLength { expected, actual }.into());
    }
    if count == 0 {
        return Ok(());
    }
    // Each text ends with a zero.
    let texts = &scratch.texts;
    stored.each_text(bytes, &mut |place| {
        let rest = texts.get(usize::from_ne_bytes(*place)..);
        let text = rest.filter(|rest| rest.contains(&0)).map_or(ptr::null(), <[u8]>::as_ptr);
        *place = text.expose_provenance().to_ne_bytes();
    });
    let memory = Dataspace::try_new(count)?;
    // SAFETY: the library checks the handles, and that both dataspaces have the same number of items. It reads the items of
    // `memory`, as values of `datatype`: these are the bytes of the vector. At strings of variable length in the datatype, they
    // have null pointers, or pointers to terminated texts, which do not change: such places do not overlap, because the library
    // refuses a datatype whose members do.
    done(unsafe {
        H5Dwrite(
            dataset.id(),
            datatype.id(),
            memory.id(),
            space.id(),
            H5P_DEFAULT,
            bytes.as_ptr().cast(),
        )
    })
}

/// The result of a call of the library. The lock is still held, so the error belongs to this call.
fn done(status: c_int) -> Result<(), Error> {
    number(status).map(drop)
}
