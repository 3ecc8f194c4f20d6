//! A struct in a list, and the cost of its padding.

use serde::Serialize;

use dtype_text::structure::{Described, Source};

/// A struct of a file.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The name of the struct, with the scopes around it.
    pub name: String,
    /// What tells it from other structs of its name, to be written in parentheses after the file: the member of an archive or
    /// the source file. `None` if no other struct has its name.
    pub part: Option<String>,
    /// Its layout.
    pub described: Described,
}

impl Listed {
    /// Where it is declared, if that is known.
    pub fn source(&self) -> Option<&Source> {
        self.described.structure()?.source.as_ref()
    }
}

/// A struct with its size and its padding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The name of the struct, with the scopes around it.
    #[serde(rename = "type")]
    pub name: String,
    /// As [`Listed::part`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// The size in bytes; `None` if it is not known.
    pub size: Option<u64>,
    /// Bytes between the members and after the last one; `None` if the places or sizes of some members are not known.
    pub padding: Option<u64>,
    /// The size with the members in the best order; `None` if it is not known what another order would give.
    pub reordered: Option<u64>,
    /// The alignment in bytes; `None` if it is not known.
    pub align: Option<u64>,
    /// Bytes of padding inside the members.
    pub inner_padding: u64,
    /// The file and the line of the declaration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl Summary {
    /// The numbers of a struct.
    pub fn of(one: &Listed) -> Self {
        let Listed { name, part, described } = one;
        let structure = described.structure();
        let padding = structure.and_then(|structure| structure.padding());
        let least = structure.and_then(|structure| structure.least()).map(|order| order.size);
        let size = described.size;
        Self {
            name: name.clone(),
            part: part.clone(),
            size,
            padding,
            // Without padding, there is nothing to save.
            reordered: least.or(size.filter(|_| padding == Some(0))),
            align: structure.and_then(|structure| structure.align),
            inner_padding: structure.map_or(0, |structure| structure.inner_padding()),
            source: one.source().map(ToString::to_string),
        }
    }

    /// How many bytes the best order saves; `None` if that is not known.
    pub fn saves(&self) -> Option<u64> {
        self.size?.checked_sub(self.reordered?)
    }
}
