//! What a text or a compiler tells about structs and a datatype cannot store: the names of fields, and bytes that are not data.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use dtype_npy::{DateUnit, Dtype};
use dtype_runtime::outline::{Names, Outline, Parts};
use dtype_runtime::types::{Combiner, Member};
use dtype_runtime::{Basic, Error, Type};

use super::restriction::Restriction;

use crate::structure::Structure;

/// A block of a type, such as a member of a structure: `length` instances of `ty`, the first at a displacement in bytes.
#[derive(Clone, Debug)]
pub struct Block {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// The number of instances.
    pub length: u64,
    /// Bytes from the origin of the type to that of the first instance.
    pub displacement: i64,
    /// The type of an instance.
    pub ty: Type,
}

/// How to print the value of a type, if not by its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A length as `u32`, and that many bytes of UTF-8.
    Text,
    /// Characters of four bytes, and zeros after them.
    Characters,
    /// Bytes of a text, and zeros after them.
    Bytes,
    /// An `i64` of these units since the beginning of 1970; of no unit that is known, if there is none.
    Time(Option<DateUnit>),
    /// An `i64` of these units.
    Span(Option<DateUnit>),
    /// A length as `u32`, and room for `capacity` items, the first of which are in use.
    List {
        /// The number of items that there is room for.
        capacity: u64,
    },
    /// A `bool`, and the value if it is true.
    Optional,
    /// An IPv4 or IPv6 address; its size tells which.
    Address,
    /// The 16 bytes of a UUID.
    Uuid,
    /// The version of IP, 16 bytes of address, the port, and the two numbers of IPv6.
    SocketAddress,
    /// The bytes of a number, the most significant byte first or last.
    Number {
        /// The number.
        basic: Basic,
        /// Whether the most significant byte is first.
        is_big: bool,
    },
}

impl Meaning {
    /// Whether the value is printed as a whole, like a number.
    pub fn is_one_value(self) -> bool {
        !matches!(self, Self::List { .. } | Self::Optional)
    }
}

/// The dtype of stored records.
#[derive(Clone, Debug)]
pub struct Stored {
    /// The dtype.
    pub dtype: Dtype,
    /// Bytes of UTF-8 that a character of a text takes at most.
    pub character: u64,
    /// Whether other numbers and times are read than the dtype has.
    pub converts: bool,
}

/// The names of fields, by structure.
#[derive(Clone, Default)]
pub struct FieldNames {
    /// Keyed by the address of the structure. The structure is stored as well, so that no other type gets its address.
    structures: HashMap<usize, (Type, Vec<Option<String>>)>,
    /// The names of the structs themselves, keyed by the address of the type.
    types: HashMap<usize, (Type, String)>,
    /// How to print a type's values, keyed by the address of the type.
    meanings: HashMap<usize, (Type, Meaning)>,
    /// Which values the members of some structures have, by the address of the structure and the number of the member.
    restrictions: HashMap<(usize, usize), (Type, Arc<Restriction>)>,
    /// Which values the whole type has, if it is not a structure.
    whole: Option<Arc<Restriction>>,
    /// All members of the whole type, if a compiler or a declaration tells where they are.
    layout: Option<Arc<Structure>>,
    /// The dtype of the whole type, if it comes from a file.
    stored: Option<Arc<Stored>>,
}

impl FieldNames {
    /// Makes a structure, and keeps the names of its members.
    ///
    /// # Errors
    ///
    /// The errors of [`Type::structure`].
    pub fn structure(&mut self, members: Vec<Block>) -> Result<Type, Error> {
        let lengths: Vec<u64> = members.iter().map(|member| member.length).collect();
        let displacements: Vec<i64> = members.iter().map(|member| member.displacement).collect();
        let types: Vec<Type> = members.iter().map(|member| member.ty.clone()).collect();
        let ty = Type::structure(&lengths, &displacements, &types)?;
        let names: Vec<_> = members.into_iter().map(|member| member.name).collect();
        if names.iter().any(Option::is_some) {
            self.structures.insert(ty.as_ptr().addr(), (ty.clone(), names));
        }
        Ok(ty)
    }

    /// The names of the members of a structure; `None` for a member without a name.
    ///
    /// ```
    /// let parsed = dtype_text::notation::parse("struct{x: f64, u8}").unwrap();
    /// let names = parsed.fields.of(&parsed.ty).unwrap();
    /// assert_eq!(names, [Some("x".to_owned()), None]);
    /// ```
    pub fn of(&self, structure: &Type) -> Option<&[Option<String>]> {
        self.structures.get(&structure.as_ptr().addr()).map(|(_, names)| names.as_slice())
    }

    /// The members of a type with their names, if it is a structure.
    pub fn members(&self, ty: &Type) -> Option<Vec<Block>> {
        let Parts::Members(members, Names::Numbers) = Outline::Type(ty).parts() else {
            return None;
        };
        let names = self.of(ty).unwrap_or(&[]).iter().cloned().chain(std::iter::repeat(None));
        let block = |(member, name): (&Member, _)| Block {
            name,
            length: member.blocklength,
            displacement: member.displacement,
            ty: member.ty.clone(),
        };
        Some(members.iter().zip(names).map(block).collect())
    }

    /// Adds the name of a struct.
    pub fn add_type(&mut self, ty: &Type, name: &str) {
        for ty in [ty, &unresized(ty)] {
            self.types.insert(ty.as_ptr().addr(), (ty.clone(), name.to_owned()));
        }
    }

    /// Restricts the values of a member of a structure, or of the elements of an array that it is.
    pub fn restrict(&mut self, structure: &Type, member: usize, to: Arc<Restriction>) {
        let structure = unresized(structure);
        self.restrictions.insert((structure.as_ptr().addr(), member), (structure, to));
    }

    /// The values that a member of a structure has, if they are not all of its basic datatype.
    pub fn restriction(&self, structure: &Type, member: usize) -> Option<&Arc<Restriction>> {
        if self.restrictions.is_empty() {
            return None;
        }
        let key = (unresized(structure).as_ptr().addr(), member);
        self.restrictions.get(&key).map(|(_, values)| values)
    }

    /// Restricts the values of the whole type, which is not a structure.
    pub fn restrict_whole(&mut self, to: Option<Arc<Restriction>>) {
        self.whole = to;
    }

    /// The values that the whole type has, if it is not a structure and they are not all of its basic datatype.
    pub fn whole_restriction(&self) -> Option<&Arc<Restriction>> {
        self.whole.as_ref()
    }

    /// The name of a struct, if its declaration has one.
    pub fn type_name(&self, ty: &Type) -> Option<&str> {
        self.types.get(&ty.as_ptr().addr()).map(|(_, name)| name.as_str())
    }

    /// Adds the meaning of a type's values. The type is not a predefined one, which others have as well.
    pub fn add_meaning(&mut self, ty: &Type, meaning: Meaning) {
        self.meanings.insert(ty.as_ptr().addr(), (ty.clone(), meaning));
    }

    /// The meaning of a type's values, if it is not that of its fields.
    pub fn meaning(&self, ty: &Type) -> Option<Meaning> {
        self.meanings.get(&ty.as_ptr().addr()).map(|(_, meaning)| *meaning)
    }

    /// Sets the dtype of the whole type.
    pub fn set_stored(&mut self, stored: Stored) {
        self.stored = Some(Arc::new(stored));
    }

    /// The dtype of the whole type, if it comes from a file.
    pub fn stored(&self) -> Option<&Stored> {
        self.stored.as_deref()
    }

    /// Sets the members of the whole type.
    pub fn set_layout(&mut self, layout: Option<Arc<Structure>>) {
        self.layout = layout;
    }

    /// The members of the whole type with those that are not data, if it comes from a compiler or from a declaration.
    pub fn layout(&self) -> Option<&Structure> {
        self.layout.as_deref()
    }

    /// Whether no field has a name.
    pub fn is_empty(&self) -> bool {
        self.structures.is_empty()
    }
}

/// The type whose bounds a resized type changes; another type itself.
fn unresized(ty: &Type) -> Type {
    let call = ty.call().filter(|call| call.combiner == Combiner::Resized);
    let inner = call.and_then(|call| call.types().next().map(|ty| Type::clone(ty)));
    inner.unwrap_or_else(|| ty.clone())
}

impl fmt::Debug for FieldNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.structures.values().map(|(_, names)| names)).finish()
    }
}
