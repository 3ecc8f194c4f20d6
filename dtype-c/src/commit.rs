//! Committed types, with the representation of their packed bytes and the checks of their values.

use std::ffi::c_char;

use dtype_runtime::convertor::{Conversion, ValueChecks};
use dtype_runtime::representation::{Architecture, ByteOrder, Widths};
use dtype_runtime::{Committed, Error, Representation, Type, Unpacker};

use crate::arguments::Array;
use crate::boundary::{functions, release, structs};
use crate::error::Failure;
use crate::handle::objects;
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

    /// An unpacker of this machine's packed bytes, with the checks.
    ///
    /// # Safety
    ///
    /// The data of `count` instances must be writable at their displacements from `origin`, and nothing else access them, for as
    /// long as the result lives.
    pub(crate) unsafe fn unpacker(
        &self,
        origin: *mut u8,
        count: usize,
    ) -> Result<Unpacker<'static>, Error> {
        // SAFETY: the caller guarantees the data.
        let unpacker = unsafe { Unpacker::from_raw(&self.ty, origin, count)? };
        match &self.checks {
            None => Ok(unpacker),
            Some(checks) => unpacker.with_checks(checks),
        }
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

structs! { COMMITTED_STRUCTS:
    dtype_architecture {
        order: i32, long_bytes: u8, address_bytes: u8, wide_char_bytes: u8, logical_bytes: u8,
    }
    dtype_values {
        element: u64, count: u64, name: *const c_char, name_length: usize, values: *const u64,
        number: usize,
    }
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

impl dtype_architecture {
    fn representation(self) -> Result<Representation, Failure> {
        let order = match representation(self.order) {
            Ok(Representation::LittleEndian) => ByteOrder::Little,
            Ok(Representation::BigEndian) => ByteOrder::Big,
            _ => {
                return Err(Failure::argument(format!("order is {}, expected 2 or 3", self.order)));
            }
        };
        let or = |bytes, here| if bytes == 0 { here } else { bytes };
        let widths = Widths {
            long: or(self.long_bytes, Widths::HOST.long),
            address: or(self.address_bytes, Widths::HOST.address),
            wide_char: or(self.wide_char_bytes, Widths::HOST.wide_char),
            logical: or(self.logical_bytes, Widths::HOST.logical),
            ..Widths::HOST
        };
        Ok(Representation::Foreign(Architecture::from_widths(order, widths)?))
    }
}

functions! { COMMITTED:
    /// `MPI_Type_commit`.
    fn dtype_commit(object: [&dtype_type], out: [new dtype_committed]) {
        out.put_new(Prepared::new(object.get()?, Representation::Native)?)
    }

    /// As `dtype_commit`, for packed bytes in a representation.
    fn dtype_commit_as(object: [&dtype_type], form: i32, out: [new dtype_committed]) {
        out.put_new(Prepared::new(object.get()?, representation(form)?)?)
    }

    /// As `dtype_commit`, for packed bytes of another machine.
    fn dtype_commit_for(
        object: [&dtype_type], machine: [dtype_architecture; 1], out: [new dtype_committed]
    ) {
        out.put_new(Prepared::new(object.get()?, machine.get()?[0].representation()?)?)
    }

    /// The same committed type, with checks of its values.
    fn dtype_checked(
        committed: [&dtype_committed], fields: [dtype_values; number], number: usize,
        out: [new dtype_committed]
    ) {
        let prepared = committed.get()?;
        let mut checks = ValueChecks::new(&prepared.ty)?;
        for field in fields.get()? {
            // SAFETY: the name and the values are NULL or as long as the field says, as the section above demands of pointers.
            let (name, values) = unsafe {
                let name = Array::new(field.name.cast::<u8>(), field.name_length, "fields[i].name");
                (name, Array::new(field.values, field.number, "fields[i].values"))
            };
            let end = field.element.checked_add(field.count);
            let end = end.ok_or_else(|| Failure::argument("element + count exceeds 64 bits".into()))?;
            // A number of 64 bits has the same bits with a sign or without.
            let values = values.get()?.iter().map(|value| i128::from(value.cast_signed()));
            let values = values.collect::<Vec<_>>();
            checks.restrict(field.element..end, name.text()?, &values)?;
        }
        out.put_new(Prepared { checks: Some(checks), ..prepared.clone() })
    }

    /// Adds a reference.
    fn dtype_committed_retain(committed: [&dtype_committed]) { committed.retain() }

    /// `MPI_Pack_size`.
    fn dtype_packed_size(committed: [&dtype_committed], count: usize, out: [out usize]) {
        out.put(committed.get()?.packed_size(count)?)
    }
}

release!(dtype_committed_release, dtype_committed);
