//! The cost of padding in a struct.

use serde::Serialize;

use crate::notation::Span;
use crate::reorder::least;

/// A struct with its size and its padding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The name of the struct, with its namespaces.
    #[serde(rename = "type")]
    pub name: String,
    /// The size in bytes.
    pub size: u64,
    /// Bytes between the members and after the last one; 0 if bit-fields or virtual base classes hide them.
    pub padding: u64,
    /// The size with the members in the best order.
    pub reordered: u64,
}

impl Summary {
    pub(super) fn of(name: &str, size: u64, spans: &[Span]) -> Self {
        let is_packed = spans.iter().any(|span| !span.offset.is_multiple_of(span.align));
        let best = least(spans.to_vec()).filter(|_| !is_packed);
        Self {
            name: name.to_owned(),
            size,
            padding: if spans.is_empty() { 0 } else { padding(spans, size) },
            reordered: best.map_or(size, |(best, _)| best.min(size)),
        }
    }

    /// How many bytes the best order saves.
    pub fn saves(&self) -> u64 {
        self.size - self.reordered
    }
}

/// How many bytes no member takes. The members are in the order of their addresses.
fn padding(spans: &[Span], size: u64) -> u64 {
    let (mut end, mut padding) = (0_u64, 0);
    for span in spans {
        padding += span.offset.saturating_sub(end);
        end = end.max(span.offset.saturating_add(span.size));
    }
    padding + size.saturating_sub(end)
}
