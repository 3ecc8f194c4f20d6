//! UCX's structures: fields, each of which repeats with its own stride.

use alloc::vec::Vec;

use super::equality::all_equal;
use super::parts::MAX_ENTRIES;
use super::{Member, Type};
use crate::error::Error;

const CALL: &str = "ucp_struct";

/// One field of a [`Type::ucp_struct`] (`ucp_struct_dt_desc_t`).
#[doc(alias = "ucp_struct_dt_desc_t")]
#[derive(Clone, Debug)]
pub struct UcpField {
    /// Displacement of the field's first repetition, in bytes from the origin (`displ`).
    pub displacement: i64,
    /// Bytes from one repetition of the field to the next (`extent`, "aka stride"). UCX's is unsigned; here it may be negative,
    /// and then goes backwards.
    pub extent: i64,
    /// The type of the field (`dt`).
    pub ty: Type,
}

impl Type {
    /// A structure of these fields, `repeat` times (`ucp_dt_create_struct` of UCX's struct datatype proposal).
    ///
    /// Repetition `r` of a field is one instance of its type, at displacement `displacement + r · extent`. The packed bytes go
    /// repetition by repetition, and within one repetition field by field: the structure is the unit that is repeated. The
    /// proposal does not say this for fields of different extents; this crate reads "how many times the structure has to be
    /// repeated" in the same way for them.
    ///
    /// The type is made of MPI's constructors, and [decodes](Self::envelope) to them:
    ///
    /// - If all extents are the same, it is an [`hvector`](Self::hvector) of a [`structure`](Self::structure). The extent of a
    ///   field whose type has neither data nor markers does not count.
    /// - If they differ, it is one `structure` with a member for each repetition of each field.
    /// - For `repeat` 1, it is only this structure; for 0, a structure whose blocks have length 0.
    ///
    /// Its bounds are the bounds of these types, without additional markers: the extents of fields are the strides
    /// of repetitions, not of instances. To repeat the structure further, make it a field of another structure;
    /// the extent of that field is the stride.
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`]; [`Error::TooDeep`], where each repeated structure counts as two levels;
    /// [`Error::TooManyEntries`], which limits the repetitions of fields with different extents.
    ///
    /// ```
    /// use dtype_runtime::types::UcpField;
    /// use dtype_runtime::{Basic, Type};
    /// // Two bytes of every 8, twice, and that twice at a distance of 32.
    /// let ty = Type::contiguous(2, &Type::basic(Basic::U8))?;
    /// let inner = Type::ucp_struct(&[UcpField { displacement: 0, extent: 8, ty }], 2)?;
    /// let field = UcpField { displacement: 0, extent: 32, ty: inner };
    /// let outer = Type::ucp_struct(&[field], 2)?;
    /// let displacements: Vec<i64> = outer.type_map().map(|entry| entry.displacement).collect();
    /// assert_eq!(displacements, [0, 1, 8, 9, 32, 33, 40, 41]);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "ucp_dt_create_struct")]
    pub fn ucp_struct(fields: &[UcpField], repeat: u64) -> Result<Self, Error> {
        let made = match common_extent(fields) {
            // Without a second repetition, its displacement has no effect, and may be anything.
            _ if repeat <= 1 => once(fields, repeat),
            Some(extent) => {
                once(fields, 1).and_then(|structure| Self::hvector(repeat, 1, extent, &structure))
            }
            None => written_out(fields, repeat),
        };
        made.map_err(|error| match error {
            // The caller called `ucp_struct`, not `hvector`.
            Error::Overflow { quantity, .. } => Error::Overflow { call: CALL, quantity },
            other => other,
        })
    }
}

/// The common extent of all fields with data or markers, if they have one.
fn common_extent(fields: &[UcpField]) -> Option<i64> {
    let mut extents = fields.iter().filter(|field| field.ty.has_bounds()).map(|field| field.extent);
    let first = extents.next().unwrap_or(0);
    extents.all(|extent| extent == first).then_some(first)
}

/// The first repetition, with blocks of this length.
fn once(fields: &[UcpField], blocklength: u64) -> Result<Type, Error> {
    let members = fields.iter().map(|UcpField { displacement, ty, .. }| Member {
        blocklength,
        displacement: *displacement,
        ty: ty.clone(),
    });
    Type::structure_of(members.collect(), all_equal)
}

/// One structure with every repetition of every field as a member.
fn written_out(fields: &[UcpField], repeat: u64) -> Result<Type, Error> {
    // Counted as the structure counts them, so that no list is made only to be refused. Unlike there, members without data
    // count here, because they take memory.
    let each = fields.iter().map(|field| field.ty.0.entries.saturating_add(4));
    let each = each.fold(0, u64::saturating_add);
    let entries = each.saturating_mul(repeat);
    if entries > MAX_ENTRIES {
        return Err(Error::TooManyEntries { entries, limit: MAX_ENTRIES });
    }
    let mut members = Vec::new();
    for repetition in 0..repeat {
        for UcpField { displacement, extent, ty } in fields {
            let place = i64::try_from(repetition)
                .ok()
                .and_then(|repetition| extent.checked_mul(repetition))
                .and_then(|advance| displacement.checked_add(advance));
            let place = match place {
                Some(place) => place,
                // A field without data or markers can be at any displacement.
                None if !ty.has_bounds() => 0,
                None => return Err(Error::Overflow { call: CALL, quantity: "displacement" }),
            };
            members.push(Member { blocklength: 1, displacement: place, ty: ty.clone() });
        }
    }
    Type::structure_of(members.into(), all_equal)
}
