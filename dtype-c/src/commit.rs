//! Committed types, with the representation of their packed bytes and the checks of their values.

use std::ffi::c_char;

use dtype_runtime::convertor::{Conversion, ValueChecks};
use dtype_runtime::explain::ExplainStyle;
use dtype_runtime::representation::{Architecture, ByteOrder, Widths};
use dtype_runtime::{Committed, Representation, Type};

use crate::arguments::{Array, In, Out, Room, text};
use crate::error::{Failure, boundary, dtype_error};
use crate::handle::{objects, release};
use crate::types::dtype_type;

objects! {
    /// A committed type.
    dtype_committed = 0x6474_7402, "a committed type", Prepared;
}

/// What packing and unpacking need.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub(crate) ty: Committed,
    /// Present unless the packed bytes are this machine's.
    pub(crate) conversion: Option<Conversion>,
    pub(crate) checks: Option<ValueChecks>,
}

impl Prepared {
    fn new(ty: &Type, representation: Representation) -> Result<Self, Failure> {
        let ty = ty.commit();
        let conversion = match representation {
            Representation::Native => None,
            other => Some(ty.conversion(other)?),
        };
        Ok(Self { ty, conversion, checks: None })
    }

    #[inline(always)]
    pub(crate) fn packed_size(&self, count: usize) -> Result<usize, Failure> {
        Ok(match &self.conversion {
            None => self.ty.packed_size(count)?,
            Some(conversion) => conversion.packed_size(count)?,
        })
    }

    /// The type, if its packed bytes are this machine's.
    pub(crate) fn native(&self) -> Result<&Committed, Failure> {
        match self.conversion {
            None => Ok(&self.ty),
            Some(_) => {
                Err(Failure::unsupported("the type has another representation than this machine's"))
            }
        }
    }
}

/// `dtype_architecture` of `dtype.h`.
#[allow(non_camel_case_types, reason = "the name in dtype.h")]
#[allow(missing_docs, reason = "dtype.h has them")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dtype_architecture {
    pub order: i32,
    pub long_bytes: u8,
    pub address_bytes: u8,
    pub wide_char_bytes: u8,
    pub logical_bytes: u8,
}

/// `dtype_values` of `dtype.h`.
#[allow(non_camel_case_types, reason = "the name in dtype.h")]
#[allow(missing_docs, reason = "dtype.h has them")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dtype_values {
    pub element: u64,
    pub count: u64,
    pub name: *const c_char,
    pub name_length: usize,
    pub values: *const u64,
    pub number: usize,
}

fn representation(number: i32) -> Result<Representation, Failure> {
    match number {
        0 => Ok(Representation::Native),
        1 => Ok(Representation::External32),
        2 => Ok(Representation::LittleEndian),
        3 => Ok(Representation::BigEndian),
        other => Err(Failure::argument(format!("representation is {other}, expected 0 to 3"))),
    }
}

/// `MPI_Type_commit`.
///
/// # Safety
///
/// `ty` is null or a handle that lives, `out` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_commit(
    ty: *const dtype_type,
    out: *mut *mut dtype_committed,
) -> dtype_error {
    // SAFETY: what the caller promises of this function, which is the same.
    unsafe { dtype_commit_as(ty, 0, out) }
}

/// As `dtype_commit`, for packed bytes in a representation.
///
/// # Safety
///
/// `ty` is null or a handle that lives, `out` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_commit_as(
    ty: *const dtype_type,
    representation: i32,
    out: *mut *mut dtype_committed,
) -> dtype_error {
    // SAFETY: `ty` is null or a handle, `out` null or writable.
    let (ty, out) = unsafe { (In::new(ty), Out::new(out)) };
    boundary(|| {
        let (ty, out) = (ty.get("type")?, out.place("out")?);
        out.put_new(Prepared::new(ty, self::representation(representation)?)?);
        Ok(())
    })
}

/// As `dtype_commit`, for packed bytes of another machine.
///
/// # Safety
///
/// `ty` is null or a handle that lives, `machine` null or readable, `out` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_commit_for(
    ty: *const dtype_type,
    machine: *const dtype_architecture,
    out: *mut *mut dtype_committed,
) -> dtype_error {
    // SAFETY: `ty` is null or a handle, `machine` null or readable, `out` null or writable.
    let (ty, machine, out) = unsafe { (In::new(ty), Array::new(machine, 1), Out::new(out)) };
    boundary(|| {
        let (ty, out) = (ty.get("type")?, out.place("out")?);
        let machine = machine.get("machine")?[0];
        let order = match representation(machine.order) {
            Ok(Representation::LittleEndian) => ByteOrder::Little,
            Ok(Representation::BigEndian) => ByteOrder::Big,
            _ => {
                return Err(Failure::argument(format!(
                    "order is {}, expected 2 or 3",
                    machine.order
                )));
            }
        };
        let or = |bytes, here| if bytes == 0 { here } else { bytes };
        let widths = Widths {
            long: or(machine.long_bytes, Widths::HOST.long),
            address: or(machine.address_bytes, Widths::HOST.address),
            wide_char: or(machine.wide_char_bytes, Widths::HOST.wide_char),
            logical: or(machine.logical_bytes, Widths::HOST.logical),
            ..Widths::HOST
        };
        let machine = Representation::Foreign(Architecture::from_widths(order, widths)?);
        out.put_new(Prepared::new(ty, machine)?);
        Ok(())
    })
}

/// The same committed type, with checks of its values.
///
/// # Safety
///
/// `committed` is null or a handle that lives. `fields` is null or has `number` elements, whose texts and arrays are null or as
/// long as they say. `out` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_checked(
    committed: *const dtype_committed,
    fields: *const dtype_values,
    number: usize,
    out: *mut *mut dtype_committed,
) -> dtype_error {
    // SAFETY: `committed` is null or a handle, `fields` null or `number` elements, `out` null or writable.
    let (committed, fields, out) =
        unsafe { (In::new(committed), Array::new(fields, number), Out::new(out)) };
    boundary(|| {
        let (prepared, out) = (committed.get("committed")?, out.place("out")?);
        let mut checks = ValueChecks::new(&prepared.ty)?;
        for field in fields.get("fields")? {
            // SAFETY: the name and the values are null or as long as the field says.
            let (name, values) = unsafe {
                (
                    Array::new(field.name.cast(), field.name_length),
                    Array::new(field.values, field.number),
                )
            };
            let end = field.element.checked_add(field.count);
            let end = end.ok_or_else(|| Failure::argument("element + count exceeds 64 bits"))?;
            // A number of 64 bits has the same bits with a sign or without.
            let values = values.get("fields[i].values")?.iter();
            let values = values.map(|value| i128::from(value.cast_signed()));
            let name = text(name, "fields[i].name")?;
            checks.restrict(field.element..end, name, &values.collect::<Vec<_>>())?;
        }
        out.put_new(Prepared { checks: Some(checks), ..prepared.clone() });
        Ok(())
    })
}

/// Adds a reference.
///
/// # Safety
///
/// `committed` is null or a handle that lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_committed_retain(committed: *const dtype_committed) -> dtype_error {
    // SAFETY: `committed` is null or a handle.
    let committed = unsafe { In::new(committed) };
    boundary(|| committed.retain("committed"))
}

/// Removes a reference.
///
/// # Safety
///
/// `committed` is null or a handle of which the caller owns a reference.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_committed_release(committed: *mut dtype_committed) {
    // SAFETY: `committed` is null or a handle with a reference of the caller.
    unsafe { release(committed) }
}

/// `MPI_Pack_size`.
///
/// # Safety
///
/// `committed` is null or a handle that lives, `out` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_packed_size(
    committed: *const dtype_committed,
    count: usize,
    out: *mut usize,
) -> dtype_error {
    // SAFETY: `committed` is null or a handle, `out` null or writable.
    let (committed, out) = unsafe { (In::new(committed), Out::new(out)) };
    boundary(|| {
        let (committed, out) = (committed.get("committed")?, out.place("out")?);
        out.put(committed.packed_size(count)?);
        Ok(())
    })
}

/// What is executed.
///
/// # Safety
///
/// `committed` is null or a handle that lives, `out` null or writable for `out_size` bytes, `size` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dtype_explain(
    committed: *const dtype_committed,
    count: u64,
    out: *mut c_char,
    out_size: usize,
    size: *mut usize,
) -> dtype_error {
    // SAFETY: `committed` is null or a handle, `out` null or writable for `out_size` bytes, `size` null or writable.
    let (committed, out, size) =
        unsafe { (In::new(committed), Room::new(out.cast::<u8>(), out_size), Out::new(size)) };
    boundary(|| {
        let prepared = committed.get("committed")?;
        let style = ExplainStyle::default().with_instances(count);
        let text = match &prepared.conversion {
            None => prepared.ty.explain(&style).to_string(),
            Some(conversion) => conversion.explain(&style).to_string(),
        };
        out.fill_text(size, text)
    })
}
