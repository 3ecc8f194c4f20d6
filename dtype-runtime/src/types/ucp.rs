//! UCX's structures: fields that are each repeated at a distance of their own.

use alloc::vec::Vec;

use super::Type;
use super::parts::MAX_ENTRIES;
use crate::error::Error;

const CALL: &str = "ucp_struct";

/// One field of a [`Type::ucp_struct`] (`ucp_struct_dt_desc_t`).
#[doc(alias = "ucp_struct_dt_desc_t")]
#[derive(Clone, Debug)]
pub struct StructField {
    /// Where the field's first repetition lies, in bytes from the origin (`displ`).
    pub displacement: i64,
    /// Bytes from one repetition of the field to the next (`extent`, "aka stride"). The seed's is
    /// unsigned; a negative one here goes backwards.
    pub extent: i64,
    /// What the field contains (`dt`).
    pub ty: Type,
}

impl Type {
    /// A structure of these fields, `repeat` times (`ucp_dt_create_struct` of seed `ucp_struct_dt_desc_t`).
    ///
    /// Repetition `r` of a field lies at `displacement + r · extent`, one instance of its type. The
    /// packed bytes go repetition by repetition, and within one field by field: the structure is what is
    /// repeated. The seed does not say so for fields of different extents, for which "how many times the
    /// structure has to be repeated" is read in the same way.
    ///
    /// It is made of MPI's constructors, and [decodes](Self::envelope) as those:
    ///
    /// - where all extents are the same, an [`hvector`](Self::hvector) of a
    ///   [`structure`](Self::structure); a field whose type has neither data nor markers lies nowhere, and
    ///   its extent does not count;
    /// - where they differ, one `structure` with a member for each repetition of each field;
    /// - once, just that structure, and no time at all, one whose blocks have the length 0.
    ///
    /// Its bounds are those that these have, without a marker of its own: the extents of fields say where
    /// the repetitions are, not how far apart instances lie. So to repeat it further, make it a field of
    /// another one, whose extent says how far.
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`]; [`Error::TooDeep`], where each structure that is repeated counts as two levels;
    /// [`Error::TooManyEntries`], which is what bounds the repetitions of fields with different extents.
    ///
    /// ```
    /// use dtype_runtime::types::StructField;
    /// use dtype_runtime::{Basic, Type};
    /// // Two bytes of every 8, twice, and that twice at a distance of 32.
    /// let ty = Type::contiguous(2, &Type::basic(Basic::U8))?;
    /// let inner = Type::ucp_struct(&[StructField { displacement: 0, extent: 8, ty }], 2)?;
    /// let field = StructField { displacement: 0, extent: 32, ty: inner };
    /// let outer = Type::ucp_struct(&[field], 2)?;
    /// let places: Vec<i64> = outer.type_map().map(|entry| entry.displacement).collect();
    /// assert_eq!(places, [0, 1, 8, 9, 32, 33, 40, 41]);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "ucp_dt_create_struct")]
    pub fn ucp_struct(fields: &[StructField], repeat: u64) -> Result<Self, Error> {
        let made = match common_extent(fields) {
            // What is not there has no effect, however absurd its place.
            _ if repeat <= 1 => once(fields, repeat),
            Some(extent) => {
                once(fields, 1).and_then(|structure| Self::hvector(repeat, 1, extent, &structure))
            }
            None => written_out(fields, repeat),
        };
        made.map_err(|error| match error {
            // The caller asked for a structure, and knows of no `hvector`.
            Error::Overflow { quantity, .. } => Error::Overflow { call: CALL, quantity },
            other => other,
        })
    }
}

/// The extent of all fields whose place matters, if it is one.
fn common_extent(fields: &[StructField]) -> Option<i64> {
    let mut extents = fields.iter().filter(|field| field.ty.has_bounds()).map(|field| field.extent);
    let first = extents.next().unwrap_or(0);
    extents.all(|extent| extent == first).then_some(first)
}

/// The first repetition, with blocks of this length.
fn once(fields: &[StructField], blocklength: u64) -> Result<Type, Error> {
    let displacements: Vec<i64> = fields.iter().map(|field| field.displacement).collect();
    let types: Vec<Type> = fields.iter().map(|field| field.ty.clone()).collect();
    Type::structure(&alloc::vec![blocklength; fields.len()], &displacements, &types)
}

/// Every repetition of every field as a member of one structure.
fn written_out(fields: &[StructField], repeat: u64) -> Result<Type, Error> {
    // As the structure counts them, so that no list is made that it would refuse. It counts no member
    // without data; here they take memory all the same.
    let each = fields.iter().map(|field| field.ty.0.entries.saturating_add(4));
    let each = each.fold(0, u64::saturating_add);
    let entries = each.saturating_mul(repeat);
    if entries > MAX_ENTRIES {
        return Err(Error::TooManyEntries { entries, limit: MAX_ENTRIES });
    }
    let (mut displacements, mut types) = (Vec::new(), Vec::new());
    for repetition in 0..repeat {
        for StructField { displacement, extent, ty } in fields {
            let place = i64::try_from(repetition)
                .ok()
                .and_then(|repetition| extent.checked_mul(repetition))
                .and_then(|advance| displacement.checked_add(advance));
            let place = match place {
                Some(place) => place,
                // It has no place, so one that does not fit is no harm.
                None if !ty.has_bounds() => 0,
                None => return Err(Error::Overflow { call: CALL, quantity: "displacement" }),
            };
            displacements.push(place);
            types.push(ty.clone());
        }
    }
    Type::structure(&alloc::vec![1; types.len()], &displacements, &types)
}
