//! From the constant type map of a Rust type to a [`Type`].

use alloc::vec::Vec;

use super::Type;
use super::parts::MAX_ENTRIES;
use crate::datatype::Datatype;
use crate::error::Error;
use crate::typemap::{Field, Node, TypeMap};

impl Type {
    /// The datatype of a Rust type.
    ///
    /// Its bounds are 0 and `size_of::<T>()`, unless the struct's attributes say otherwise. It becomes a
    /// `structure`, which is wrapped in `resized` only if its natural bounds differ, so that no needless marker
    /// affects types built from it. An array field becomes a block length, at Rust's stride, whatever extent its
    /// element was resized to; a bare array of such elements has the bounds that their markers give it.
    ///
    /// A type with more than 16 million fields, fields of nested structs included, does not compile.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let t = Type::of::<(f64, u8)>();
    /// assert_eq!((t.size(), t.extent()), (9, 16));
    /// ```
    pub fn of<T: Datatype>() -> Self {
        const {
            assert!(
                T::TYPE_MAP.entries() as u64 <= MAX_ENTRIES,
                "a type map of more than 16 million entries"
            );
        }
        match Self::from_map(T::TYPE_MAP) {
            Ok(ty) => ty,
            // Entries, depth and the bounds set by attributes were checked in constants; an object and its offsets
            // are too small for the sums to overflow.
            Err(error) => unreachable!("{}: {error}", core::any::type_name::<T>()),
        }
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
                let mut call = StructureCall::default();
                for field in fields {
                    call.field(field)?;
                }
                if let Some(lb) = markers.lb() {
                    call.push(1, lb, Self::lb_marker());
                }
                if let Some(ub) = markers.ub() {
                    call.push(1, ub, Self::ub_marker());
                }
                let natural = call.make()?;
                let (lb, extent) = markers.resize().unwrap_or_else(|| {
                    let lb = markers.lb().unwrap_or(0);
                    (lb, markers.ub().unwrap_or(signed(map.stride())) - lb)
                });
                if (natural.lb(), natural.extent()) == (lb, extent) && markers.resize().is_none() {
                    Ok(natural)
                } else {
                    Self::resized(&natural, lb, extent)
                }
            }
        }
    }
}

/// The arguments of a `structure` call.
#[derive(Default)]
struct StructureCall {
    blocklengths: Vec<u64>,
    displacements: Vec<i64>,
    types: Vec<Type>,
}

impl StructureCall {
    fn push(&mut self, blocklength: u64, displacement: i64, ty: Type) {
        self.blocklengths.push(blocklength);
        self.displacements.push(displacement);
        self.types.push(ty);
    }

    fn field(&mut self, field: &Field) -> Result<(), Error> {
        let Some(map) = field.map() else { return Ok(()) };
        let displacement = signed(field.offset());
        if let Node::Array { count, element } = *map.node() {
            let old = Type::from_map(element)?;
            let (count, stride) = (count as u64, signed(element.stride()));
            if old.extent() == stride {
                self.push(count, displacement, old);
            } else {
                self.push(1, displacement, Type::hvector(count, 1, stride, &old)?);
            }
            return Ok(());
        }
        self.push(1, displacement, Type::from_map(map)?);
        Ok(())
    }

    fn make(&self) -> Result<Type, Error> {
        Type::structure(&self.blocklengths, &self.displacements, &self.types)
    }
}

/// Offsets and strides inside an object, which is never larger than `isize::MAX`.
fn signed(bytes: usize) -> i64 {
    (bytes as u64).cast_signed()
}
