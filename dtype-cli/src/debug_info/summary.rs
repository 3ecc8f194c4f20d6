//! The cost of padding in a struct.

use serde::Serialize;

use dtype_text::structure::Structure;

/// A struct with its size and its padding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The name of the struct, with the scopes around it.
    #[serde(rename = "type")]
    pub name: String,
    /// What tells it from other structs of its name, to be written in parentheses after the file: the member of an archive or
    /// the source file. `None` if no other struct has its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// The size in bytes; `None` if it is not known.
    pub size: Option<u64>,
    /// Bytes between the members and after the last one; `None` if the places or sizes of some members are not known.
    pub padding: Option<u64>,
    /// The size with the members in the best order; `None` if it is not known what another order would give.
    pub reordered: Option<u64>,
}

impl Summary {
    pub(super) fn of(name: &str, size: Option<u64>, structure: Option<&Structure>) -> Self {
        let padding = structure.and_then(Structure::padding);
        let least = structure.and_then(Structure::least).map(|order| order.size);
        // Without padding, there is nothing to save.
        let reordered = least.or(size.filter(|_| padding == Some(0)));
        Self { name: name.to_owned(), part: None, size, padding, reordered }
    }

    /// How many bytes the best order saves; `None` if that is not known.
    pub fn saves(&self) -> Option<u64> {
        self.size?.checked_sub(self.reordered?)
    }
}
