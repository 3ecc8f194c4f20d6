//! Makes a [`Type`] from the constant type map of a Rust type.

use alloc::vec::Vec;

use super::equality::all_equal;
use super::parts::MAX_ENTRIES;
use super::{Member, Type};
use crate::datatype::Datatype;
use crate::error::Error;
use crate::typemap::{Field, Node, TypeMap};

impl Type {
    /// The datatype of a Rust type.
    ///
    /// Its bounds are 0 and `size_of::<T>()`, unless the struct's attributes say otherwise. The type is a `structure`, wrapped
    /// in `resized` only if its natural bounds differ, so that no needless marker affects types built from it. An array field
    /// becomes a block length, at Rust's stride, whatever extent its element was resized to. A bare array of resized elements
    /// has the bounds that their markers give it.
    ///
    /// A type with more than 16 million fields, fields of nested structs included, does not compile.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let t = Type::of::<(f64, u8)>();
    /// assert_eq!((t.size(), t.extent()), (9, 16));
    /// ```
    pub fn of<T: Datatype>() -> Self {
        made_of::<T>(Self::from_map)
    }

    /// The datatype of a record: as [`of`](Self::of), but its bounds are 0 and `size_of::<T>()`, whatever the
    /// struct's attributes say, so that instance `n` is value `n` of a `[T]`.
    ///
    /// If `T` is an array, the attributes of its elements are ignored in the same way.
    ///
    /// A type with more than 16 million fields, fields of nested structs included, does not compile.
    ///
    /// ```
    /// use dtype_runtime::{Datatype, Type};
    ///
    /// // A column of a matrix with 4 columns: the attribute is for layouts that are built from it.
    /// #[derive(Datatype, Clone, Copy)]
    /// #[dtype(resize(lb = 0, extent = 8))]
    /// struct Cell(u16);
    ///
    /// assert_eq!(Type::of::<Cell>().extent(), 8);
    /// assert_eq!(Type::of_record::<Cell>().extent(), 2);
    ///
    /// // The bytes of two cells, one after the other.
    /// let mut packed = [0; 4];
    /// Type::of_record::<Cell>().commit().pack(&[5, 0, 6, 0], 2, &mut packed)?;
    /// assert_eq!(packed, [5, 0, 6, 0]);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn of_record<T: Datatype>() -> Self {
        made_of::<T>(Self::from_record)
    }

    fn from_map(map: &'static TypeMap) -> Result<Self, Error> {
        match *map.node() {
            Node::Basic { basic, .. } => Ok(Self::basic(basic)),
            Node::Array { count, element } => {
                let old = Self::from_map(element)?;
                let (count, stride) = (count as u64, signed(element.stride()));
                if old.extent() == stride {
                    Self::contiguous(count, &old)
                } else {
                    Self::hvector(count, 1, stride, &old)
                }
            }
            Node::Structure { fields, markers, .. } => {
                let lb = markers.lb().map(|lb| member(1, lb, Self::lb_marker()));
                let ub = markers.ub().map(|ub| member(1, ub, Self::ub_marker()));
                let natural = structure(fields, lb.into_iter().chain(ub))?;
                if let Some((lb, extent)) = markers.resize() {
                    return Self::resized(&natural, lb, extent);
                }
                let lb = markers.lb().unwrap_or(0);
                let ub = markers.ub().unwrap_or(signed(map.stride()));
                natural.with_bounds(lb, ub - lb)
            }
        }
    }

    fn from_record(map: &'static TypeMap) -> Result<Self, Error> {
        match *map.node() {
            Node::Basic { basic, .. } => Ok(Self::basic(basic)),
            Node::Array { count, element } => {
                Self::contiguous(count as u64, &Self::from_record(element)?)
            }
            Node::Structure { fields, .. } => {
                structure(fields, [])?.with_bounds(0, signed(map.stride()))
            }
        }
    }

    /// Wraps the type in `resized`, but only if its bounds differ.
    fn with_bounds(self, lb: i64, extent: i64) -> Result<Self, Error> {
        if (self.lb(), self.extent()) == (lb, extent) {
            Ok(self)
        } else {
            Self::resized(&self, lb, extent)
        }
    }
}

fn made_of<T: Datatype>(make: fn(&'static TypeMap) -> Result<Type, Error>) -> Type {
    const {
        assert!(
            T::TYPE_MAP.entries() as u64 <= MAX_ENTRIES,
            "a type map of more than 16 million entries"
        );
    }
    match make(T::TYPE_MAP) {
        Ok(ty) => ty,
        // Entries, depth and the bounds that attributes set were checked in constants. An object and its offsets are too small
        // for the sums to overflow.
        Err(error) => unreachable!("{}: {error}", core::any::type_name::<T>()),
    }
}

/// The structure of the fields with data, and of these markers.
fn structure(fields: &[Field], markers: impl IntoIterator<Item = Member>) -> Result<Type, Error> {
    let mut members = Vec::with_capacity(fields.len());
    for field in fields {
        let Some(map) = field.map() else { continue };
        let displacement = signed(field.offset());
        members.push(if let Node::Array { count, element } = *map.node() {
            let old = Type::from_map(element)?;
            let (count, stride) = (count as u64, signed(element.stride()));
            if old.extent() == stride {
                member(count, displacement, old)
            } else {
                member(1, displacement, Type::hvector(count, 1, stride, &old)?)
            }
        } else {
            member(1, displacement, Type::from_map(map)?)
        });
    }
    members.extend(markers);
    Type::structure_of(members.into(), all_equal)
}

const fn member(blocklength: u64, displacement: i64, ty: Type) -> Member {
    Member { blocklength, displacement, ty }
}

/// An offset or a stride inside an object as a signed number. It fits: no object is larger than `isize::MAX`.
fn signed(bytes: usize) -> i64 {
    (bytes as u64).cast_signed()
}
