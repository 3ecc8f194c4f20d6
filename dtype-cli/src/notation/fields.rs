//! The names that a text gives to the fields of its structs. A datatype has no room for them.

use std::collections::HashMap;
use std::fmt;

use dtype_runtime::Type;

/// The names of fields, by the structure that they are in.
#[derive(Clone, Default)]
pub struct FieldNames {
    /// By where the structure is kept, which is kept with them, so that no other can be there.
    structures: HashMap<usize, (Type, Vec<Option<String>>)>,
}

impl FieldNames {
    /// Adds the names of a structure, one for each member.
    pub(super) fn add(&mut self, structure: &Type, names: Vec<Option<String>>) {
        if names.iter().any(Option::is_some) {
            self.structures.insert(structure.address().addr(), (structure.clone(), names));
        }
    }

    /// What the members of a structure are called; `None` where no member has a name.
    ///
    /// ```
    /// let parsed = dtype_cli::notation::parse("struct{x: f64, u8}").unwrap();
    /// let names = parsed.fields.of(&parsed.ty).unwrap();
    /// assert_eq!(names, [Some("x".to_owned()), None]);
    /// ```
    pub fn of(&self, structure: &Type) -> Option<&[Option<String>]> {
        self.structures.get(&structure.address().addr()).map(|(_, names)| names.as_slice())
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
