//! The padding of a structure, and how many bytes another order of its fields saves.
//!
//! Fields of descending alignment need no padding between them if their sizes are multiples of their alignments, as the sizes
//! of types are. Only the padding at the end remains, which no order avoids:
//!
//! ```text
//! struct{a: u8, b: f64, c: u16}    a·······bbbbbbbbcc······    24 bytes
//! struct{b: f64, c: u16, a: u8}    bbbbbbbbcca·····            16 bytes
//! ```

use std::cmp::Reverse;

use dtype_runtime::Flags;
use serde::Serialize;

use crate::notation::{Block, Parsed, Span};
use crate::value::bytes;

/// Bytes of a cache line.
const LINE: u64 = 64;

/// The maximum number of gaps and names to print.
const MAX_SHOWN: usize = 16;

/// The padding of a structure in its present order, and with its fields in another order.
#[derive(Debug, Serialize)]
pub(crate) struct Reorder {
    /// Bytes from one instance to the next.
    #[serde(skip)]
    extent: u64,
    /// Bytes between the fields and after the last one.
    padding: u64,
    gaps: Vec<Gap>,
    /// The number of cache lines of an instance that starts a line.
    cache_lines: u64,
    reordered: Option<Better>,
}

/// Consecutive bytes without a field.
#[derive(Debug, Serialize)]
struct Gap {
    /// The field before it; `None` at the start.
    after: Option<String>,
    offset: u64,
    bytes: u64,
    #[serde(skip)]
    is_last: bool,
}

/// A better order.
#[derive(Debug, Serialize)]
struct Better {
    extent: u64,
    saves: u64,
    cache_lines: u64,
    order: Vec<String>,
}

impl Reorder {
    /// The padding of a type; `None` unless it is a structure of at least two fields that lie apart from one another, as
    /// compilers lay them out.
    pub(crate) fn of(parsed: &Parsed) -> Option<Self> {
        let ty = &parsed.ty;
        let extent = u64::try_from(ty.extent()).ok().filter(|_| ty.lb() == 0)?;
        let fields = match parsed.fields.spans() {
            Some(spans) => spans.to_vec(),
            None => fields(parsed)?,
        };
        Self::of_spans(fields, extent)
    }

    /// The padding of a structure with these fields.
    fn of_spans(mut fields: Vec<Span>, extent: u64) -> Option<Self> {
        if fields.len() < 2 || fields.iter().any(|field| field.offset % field.align != 0) {
            return None;
        }
        fields.sort_by_key(|field| field.offset);
        let mut gaps = Vec::new();
        let mut end = 0_u64;
        let mut after = None;
        for field in &fields {
            let gap = field.offset.checked_sub(end)?;
            if gap > 0 {
                gaps.push(Gap { after: after.take(), offset: end, bytes: gap, is_last: false });
            }
            end = field.offset.checked_add(field.size)?;
            after = Some(field.name.clone());
        }
        let rest = extent.checked_sub(end)?;
        if rest > 0 {
            gaps.push(Gap { after, offset: end, bytes: rest, is_last: true });
        }
        let lines = |extent: u64| extent.div_ceil(LINE);
        let better = least(fields)?;
        let reordered = (better.0 < extent).then(|| Better {
            extent: better.0,
            saves: extent - better.0,
            cache_lines: lines(better.0),
            order: better.1,
        });
        let padding = gaps.iter().map(|gap| gap.bytes).sum();
        Some(Self { extent, padding, gaps, cache_lines: lines(extent), reordered })
    }

    /// Lines of text with their names. There are none for a structure without padding.
    pub(crate) fn lines(&self) -> Vec<(&'static str, String)> {
        if self.padding == 0 {
            return Vec::new();
        }
        let gap = |gap: &Gap| match &gap.after {
            _ if gap.is_last => format!("{} at the end", gap.bytes),
            Some(name) => format!("{} after `{name}`", gap.bytes),
            None => format!("{} at the start", gap.bytes),
        };
        let gaps = list(self.gaps.iter().map(gap).collect());
        let mut lines = vec![
            ("padding", format!("{}: {gaps}", bytes(self.padding.into()))),
            ("cache", cache_lines(self.cache_lines)),
        ];
        lines.push(match &self.reordered {
            Some(Better { extent, saves, cache_lines: lines, order }) => {
                let order = list(order.iter().map(|name| format!("`{name}`")).collect());
                let lines = if *lines == self.cache_lines {
                    String::new()
                } else {
                    format!(", {}", cache_lines(*lines))
                };
                ("reordered", format!("{}, saves {saves}{lines}: {order}", bytes((*extent).into())))
            }
            None => ("reordered", format!("{}, saves nothing", bytes(self.extent.into()))),
        });
        lines
    }
}

fn cache_lines(number: u64) -> String {
    format!("{number} {} of {LINE} bytes", if number == 1 { "line" } else { "lines" })
}

/// The first items of a list.
fn list(items: Vec<String>) -> String {
    let more = items.len().saturating_sub(MAX_SHOWN);
    let shown = items.into_iter().take(MAX_SHOWN).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{shown}, … {more} more") } else { shown }
}

/// The fields of a structure.
fn fields(parsed: &Parsed) -> Option<Vec<Span>> {
    let ty = &parsed.ty;
    if ty.flags().contains(Flags::USER_LB) || ty.flags().contains(Flags::USER_UB) {
        return None;
    }
    let mut fields = Vec::new();
    for (number, block) in parsed.fields.members(ty)?.into_iter().enumerate() {
        let Block { name, length, displacement, ty: member } = block;
        if member.size() == 0 || length == 0 {
            continue;
        }
        let (extent, align) = (u64::try_from(member.extent()).ok()?, member.align());
        let offset = u64::try_from(displacement).ok()?;
        // Only a member that lies inside its bounds can be moved as a block.
        let is_block = member.lb() == 0 && member.true_lb() >= 0 && member.true_ub() <= member.ub();
        if !is_block {
            return None;
        }
        let size = extent.checked_mul(length)?;
        let name = name.unwrap_or_else(|| number.to_string());
        fields.push(Span { name, offset, size, align });
    }
    Some(fields)
}

/// The extent with fields of descending alignment, and their order.
pub(crate) fn least(mut fields: Vec<Span>) -> Option<(u64, Vec<String>)> {
    fields.sort_by_key(|field| Reverse(field.align));
    let mut end = 0_u64;
    for field in &fields {
        end = end.checked_next_multiple_of(field.align)?.checked_add(field.size)?;
    }
    let extent = end.checked_next_multiple_of(fields.first()?.align)?;
    Some((extent, fields.into_iter().map(|field| field.name).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::parse;

    fn lines(text: &str) -> Option<Vec<String>> {
        let lines = Reorder::of(&parse(text).unwrap())?.lines();
        Some(lines.into_iter().map(|(name, value)| format!("{name} {value}")).collect())
    }

    #[test]
    fn orders_that_save_bytes() {
        assert_eq!(
            lines("struct{a: u8, b: f64, c: u16}").unwrap(),
            [
                "padding 13 bytes: 7 after `a`, 6 at the end",
                "cache 1 line of 64 bytes",
                "reordered 16 bytes, saves 8: `b`, `c`, `a`"
            ]
        );
        // Of fields with equal alignments, the first one comes first; an inner structure is moved as a whole.
        let nested = "struct{a: u8, [struct{u8, u16}; 2], b: u8, c: [f64; 7], d: u8, u32}";
        assert_eq!(
            lines(nested).unwrap()[1..],
            [
                "cache 2 lines of 64 bytes",
                "reordered 72 bytes, saves 8: `c`, `5`, `1`, `a`, `b`, `d`"
            ]
        );
        assert_eq!(
            lines("struct{a: f64, b: u8}").unwrap(),
            [
                "padding 7 bytes: 7 at the end",
                "cache 1 line of 64 bytes",
                "reordered 16 bytes, saves nothing"
            ]
        );
        assert_eq!(lines("struct{a: f64, b: u64}").unwrap(), [""; 0]);
    }

    #[test]
    fn types_for_which_an_order_means_nothing() {
        for text in [
            "f64",
            "[struct{u8, f64}; 3]",
            "struct{f64}",
            "struct{}",
            "struct{f64@0, u8@4}",
            "struct{u8@-8, f64@0}",
            "struct{u8@0, f64@9}",
            "struct{u8@0, ub@20, u16@2}",
            "struct{vector(2, 1, -1, u16)@8, u8@0}",
            "struct{resized(u8, 0, 0x7fffffffffffffff)@0, u8@0}",
        ] {
            assert!(Reorder::of(&parse(text).unwrap()).is_none(), "{text}");
        }
    }

    /// Every order of some fields, laid out as C does.
    #[test]
    fn no_order_is_better() {
        let types = ["u8", "u16", "f64", "[u8; 3]", "struct{u32, u8}"];
        let names = ["a", "b", "c", "d", "e"];
        let mut least = u64::MAX;
        let mut order = [0, 1, 2, 3, 4];
        // Heap's algorithm without recursion.
        let mut counts = [0; 5];
        let mut extents = Vec::new();
        let mut measure = |order: &[usize; 5]| {
            let fields = order.map(|i| format!("{}: {}", names[i], types[i])).join(", ");
            let parsed = parse(&format!("struct{{{fields}}}")).unwrap();
            let reorder = Reorder::of(&parsed).unwrap();
            least = least.min(reorder.extent);
            extents.push(reorder.reordered.map_or(reorder.extent, |better| better.extent));
        };
        measure(&order);
        let mut i = 0;
        while i < 5 {
            if counts[i] < i {
                order.swap(if i % 2 == 0 { 0 } else { counts[i] }, i);
                measure(&order);
                counts[i] += 1;
                i = 0;
            } else {
                counts[i] = 0;
                i += 1;
            }
        }
        assert_eq!(extents.len(), 120);
        assert!(extents.iter().all(|extent| *extent == least), "{least}: {extents:?}");
    }
}
