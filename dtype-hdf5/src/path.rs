//! Paths of fields.

/// The path of a field: `header.flags`. That of an item is empty.
pub(crate) fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
