//! The names that a text gives to the fields of its structs. A datatype cannot store them.

use std::collections::HashMap;
use std::fmt;

use dtype_runtime::Type;

/// The names of fields, by structure.
#[derive(Clone, Default)]
pub struct FieldNames {
    /// Keyed by the address of the structure. The structure is stored as well, so that the address stays its own.
    structures: HashMap<usize, (Type, Vec<Option<String>>)>,
    /// The names of the structs themselves, by the address of the type.
    types: HashMap<usize, (Type, String)>,
}

impl FieldNames {
    /// Adds the names of a structure, one for each member.
    pub(crate) fn add(&mut self, structure: &Type, names: Vec<Option<String>>) {
        if names.iter().any(Option::is_some) {
            self.structures.insert(structure.as_ptr().addr(), (structure.clone(), names));
        }
    }

    /// The names of the members of a structure; `None` for a member without a name.
    ///
    /// ```
    /// let parsed = dtype_cli::notation::parse("struct{x: f64, u8}").unwrap();
    /// let names = parsed.fields.of(&parsed.ty).unwrap();
    /// assert_eq!(names, [Some("x".to_owned()), None]);
    /// ```
    pub fn of(&self, structure: &Type) -> Option<&[Option<String>]> {
        self.structures.get(&structure.as_ptr().addr()).map(|(_, names)| names.as_slice())
    }

    /// Adds the name of a struct.
    pub(crate) fn add_type(&mut self, ty: &Type, name: &str) {
        self.types.insert(ty.as_ptr().addr(), (ty.clone(), name.to_owned()));
    }

    /// The name of a struct, if its declaration has one.
    pub(crate) fn type_name(&self, ty: &Type) -> Option<&str> {
        self.types.get(&ty.as_ptr().addr()).map(|(_, name)| name.as_str())
    }

    /// Whether no field has a name.
    pub fn is_empty(&self) -> bool {
        self.structures.is_empty()
    }
}

impl fmt::Debug for FieldNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.structures.values().map(|(_, names)| names)).finish()
    }
}
