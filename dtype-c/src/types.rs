//! Types: constructors, queries, marshalled bytes, texts.

use std::ffi::c_char;

use dtype_runtime::types::Order;
use dtype_runtime::{Basic, Flags, Type};

use crate::arguments::{In, natural};
use crate::boundary::{functions, release, structs};
use crate::error::Failure;
use crate::handle::objects;
use crate::text;

objects! {
    /// A datatype.
    dtype_type = 0x6474_7401, "a type", Type;
}

structs! { TYPE_STRUCTS:
    dtype_type_info {
        size: u64, lb: i64, extent: i64, true_lb: i64, true_extent: i64, align: u64,
        elements: u64, signature_hash: u64, flags: u32, reserved: u32,
    }
}

functions! { TYPES:
    /// A basic datatype.
    fn dtype_type_basic(basic: i32, out: [new dtype_type]) {
        let known = u8::try_from(basic).ok().and_then(Basic::from_code);
        let unknown = || Failure::argument(format!("basic is {basic}, which is unknown"));
        out.put_new(Type::basic(known.ok_or_else(unknown)?))
    }

    /// `MPI_Type_contiguous`.
    fn dtype_type_contiguous(count: i64, old: [&dtype_type], out: [new dtype_type]) {
        out.put_new(Type::contiguous(natural(count, "count")?, old.get()?)?)
    }

    /// `MPI_Type_vector`.
    fn dtype_type_vector(
        count: i64, blocklength: i64, stride: i64, old: [&dtype_type], out: [new dtype_type]
    ) {
        let (count, length) = (natural(count, "count")?, natural(blocklength, "blocklength")?);
        out.put_new(Type::vector(count, length, stride, old.get()?)?)
    }

    /// `MPI_Type_create_hvector`.
    fn dtype_type_hvector(
        count: i64, blocklength: i64, stride: i64, old: [&dtype_type], out: [new dtype_type]
    ) {
        let (count, length) = (natural(count, "count")?, natural(blocklength, "blocklength")?);
        out.put_new(Type::hvector(count, length, stride, old.get()?)?)
    }

    /// `MPI_Type_indexed`.
    fn dtype_type_indexed(
        number: usize, blocklengths: [i64; number], displacements: [i64; number],
        old: [&dtype_type], out: [new dtype_type]
    ) {
        out.put_new(Type::indexed(&blocklengths.naturals()?, displacements.get()?, old.get()?)?)
    }

    /// `MPI_Type_create_hindexed`.
    fn dtype_type_hindexed(
        number: usize, blocklengths: [i64; number], displacements: [i64; number],
        old: [&dtype_type], out: [new dtype_type]
    ) {
        out.put_new(Type::hindexed(&blocklengths.naturals()?, displacements.get()?, old.get()?)?)
    }

    /// `MPI_Type_create_indexed_block`.
    fn dtype_type_indexed_block(
        number: usize, blocklength: i64, displacements: [i64; number],
        old: [&dtype_type], out: [new dtype_type]
    ) {
        let length = natural(blocklength, "blocklength")?;
        out.put_new(Type::indexed_block(length, displacements.get()?, old.get()?)?)
    }

    /// `MPI_Type_create_hindexed_block`.
    fn dtype_type_hindexed_block(
        number: usize, blocklength: i64, displacements: [i64; number],
        old: [&dtype_type], out: [new dtype_type]
    ) {
        let length = natural(blocklength, "blocklength")?;
        out.put_new(Type::hindexed_block(length, displacements.get()?, old.get()?)?)
    }

    /// `MPI_Type_create_struct`.
    fn dtype_type_struct(
        number: usize, blocklengths: [i64; number], displacements: [i64; number],
        types: [handles dtype_type; number], out: [new dtype_type]
    ) {
        // SAFETY: the elements are NULL or handles that live, as the section above demands of pointers.
        let member = |ty: &*const dtype_type| unsafe { In::new(*ty, "types[i]") }.get().cloned();
        let members = types.get()?.iter().map(member).collect::<Result<Vec<_>, _>>()?;
        out.put_new(Type::structure(&blocklengths.naturals()?, displacements.get()?, &members)?)
    }

    /// `MPI_Type_create_subarray`.
    fn dtype_type_subarray(
        dimensions: usize, sizes: [i64; dimensions], subsizes: [i64; dimensions],
        starts: [i64; dimensions], order: i32, old: [&dtype_type], out: [new dtype_type]
    ) {
        let order = match order {
            0 => Order::C,
            1 => Order::Fortran,
            other => return Err(Failure::argument(format!("order is {other}, expected 0 or 1"))),
        };
        let (sizes, subsizes, starts) = (sizes.naturals()?, subsizes.naturals()?, starts.naturals()?);
        out.put_new(Type::subarray(&sizes, &subsizes, &starts, order, old.get()?)?)
    }

    /// `MPI_Type_create_resized`.
    fn dtype_type_resized(old: [&dtype_type], lb: i64, extent: i64, out: [new dtype_type]) {
        out.put_new(Type::resized(old.get()?, lb, extent)?)
    }

    /// Adds a reference.
    fn dtype_type_retain(object: [&dtype_type]) { object.retain() }

    /// Sizes, bounds, hash and flags.
    fn dtype_type_get_info(object: [&dtype_type], out: [out dtype_type_info]) {
        let ty = object.get()?;
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
        })
    }

    /// Whether the same calls made both.
    fn dtype_type_equal(a: [&dtype_type], b: [&dtype_type], out: [out bool]) {
        out.put(a.get()? == b.get()?)
    }

    /// Whether both have the same signature.
    fn dtype_type_compatible(a: [&dtype_type], b: [&dtype_type], out: [out bool]) {
        out.put(a.get()?.signature() == b.get()?.signature())
    }

    /// A type as bytes.
    fn dtype_type_marshal(
        object: [&dtype_type], out: [mut bytes; out_size], out_size: usize, size: [out usize]
    ) {
        out.fill(size, &object.get()?.marshal())
    }

    /// Bytes as a type.
    fn dtype_type_unmarshal(bytes: [bytes; size], size: usize, out: [new dtype_type]) {
        out.put_new(Type::unmarshal(bytes.get()?)?)
    }

    /// The type of a text.
    fn dtype_type_from_text(
        text: [c_char; length], length: usize, form: i32, out: [new dtype_type]
    ) {
        out.put_new(text::read(text.text()?, form)?)
    }

    /// A type as a text.
    fn dtype_type_text(
        object: [&dtype_type], form: i32, out: [mut c_char; out_size], out_size: usize,
        size: [out usize]
    ) {
        out.fill_text(size, text::write(object.get()?, form)?)
    }
}

release!(dtype_type_release, dtype_type);

/// The flags that `dtype.h` names, by its numbers.
fn flags(ty: &Type) -> u32 {
    let all = ty.flags();
    let named = [(Flags::OVERLAP, 4), (Flags::CONTIGUOUS, 8), (Flags::NO_GAPS, 16)];
    named.iter().filter(|(flag, _)| all.contains(*flag)).map(|(_, number)| number).sum()
}
