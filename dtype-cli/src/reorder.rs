//! The padding of a structure, and how many bytes another order of its fields saves.
//!
//! ```text
//! struct{a: u8, b: f64, c: u16}    a·······bbbbbbbbcc······    24 bytes
//! struct{b: f64, c: u16, a: u8}    bbbbbbbbcca·····            16 bytes
//! ```

use dtype_runtime::Flags;
use serde::Serialize;

use crate::members::{self, LINE};
use crate::value::bytes;
use dtype_text::declaration::layout::described;
use dtype_text::notation::{Block, Parsed};
use dtype_text::structure::{Form, Kind, Member, Structure, Tag};

/// The maximum number of gaps and names to print.
const MAX_SHOWN: usize = 16;

/// The padding of a structure in its present order, and with its fields in another order.
#[derive(Debug, Serialize)]
pub(crate) struct Reorder {
    /// Bytes from one instance to the next.
    #[serde(skip)]
    extent: u64,
    /// Bytes between the fields and after the last one; `None` if that is not known.
    padding: Option<u64>,
    /// Bytes of padding inside the members.
    inner_padding: u64,
    /// The members with the most of it.
    #[serde(skip)]
    inside: Vec<String>,
    gaps: Vec<Gap>,
    /// The number of cache lines of an instance that starts a line.
    cache_lines: u64,
    reordered: Option<Better>,
    /// Why the padding, or what another order would save, is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_known: Option<String>,
    /// The name of the type; null if it has none.
    name: Option<String>,
    /// `struct`, `union` or `enum`.
    form: &'static str,
    /// The size and the alignment of the type itself.
    size: Option<u64>,
    align: Option<u64>,
    /// Where it is declared: the path and the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    /// The place and the type of the number that tells which variant of an enum is in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    tag: Option<TagPlace>,
    members: Vec<members::Row>,
    /// Lines about the variants of an enum.
    #[serde(skip)]
    variants: Vec<(&'static str, String)>,
}

/// The number that tells which variant of an enum is in use.
#[derive(Debug, Serialize)]
struct TagPlace {
    offset: u64,
    bytes: u64,
    /// The field that does not use these values of its own; null if the number has bytes for itself.
    niche: Option<String>,
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
    /// The padding of a type; `None` unless it is a structure. One in the notation has at least two fields that lie apart from
    /// one another, as compilers lay them out.
    pub(crate) fn of(parsed: &Parsed) -> Option<Self> {
        let extent = u64::try_from(parsed.ty.extent()).ok().filter(|_| parsed.ty.lb() == 0)?;
        match parsed.fields.layout() {
            Some(structure) => Some(Self::of_structure(structure, extent)),
            None => Some(Self::of_structure(&in_notation(parsed, extent)?, extent)),
        }
    }

    fn of_structure(structure: &Structure, extent: u64) -> Self {
        let name = |number: usize| {
            let name = structure.members[number].name.clone();
            name.unwrap_or_else(|| number.to_string())
        };
        let gaps = structure.gaps();
        let padding = structure.padding();
        let gaps = gaps.unwrap_or_default().into_iter().map(|(after, gap)| Gap {
            after,
            offset: gap.start,
            bytes: gap.end - gap.start,
            is_last: gap.end == extent,
        });
        let lines = |extent: u64| extent.div_ceil(LINE);
        let least = structure.least();
        let not_known = structure.doubt().map(str::to_owned).or_else(|| {
            let why = "the members are not placed by the usual rules of compilers";
            least.is_none().then(|| why.to_owned())
        });
        let least = least.filter(|least| least.size < extent);
        let reordered = least.map(|least| Better {
            extent: least.size,
            saves: extent - least.size,
            cache_lines: lines(least.size),
            order: least.members.into_iter().map(name).collect(),
        });
        let inside = structure.members.iter().filter(|member| member.padding() > 0);
        let (form, tag) = match &structure.form {
            Form::Struct => ("struct", None),
            Form::Union => ("union", None),
            Form::Enum(tag) => ("enum", Some(tag)),
        };
        let place = |tag: &Tag| {
            let bytes = tag.bytes.clone()?;
            let niche = tag.niche.clone();
            Some(TagPlace { offset: bytes.start, bytes: bytes.end - bytes.start, niche })
        };
        Self {
            extent,
            padding: padding.filter(|_| tag.is_none()),
            inner_padding: structure.inner_padding(),
            inside: inside.map(Member::label).collect(),
            gaps: gaps.collect(),
            cache_lines: lines(extent),
            reordered,
            not_known: not_known.filter(|_| form == "struct"),
            name: structure.name.as_deref().map(str::to_owned),
            form,
            size: structure.size,
            align: structure.align,
            source: structure.source.as_ref().map(ToString::to_string),
            tag: tag.and_then(place),
            members: members::rows(structure),
            variants: members::variants(structure),
        }
    }

    /// Lines of text with their names. Those of the padding are missing if there is none.
    pub(crate) fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = self.variants.clone();
        if self.form != "enum" {
            lines.extend(self.padding_lines());
        }
        lines.extend(self.source.clone().map(|source| ("source", source)));
        lines
    }

    fn padding_lines(&self) -> Vec<(&'static str, String)> {
        if self.padding == Some(0) && self.inner_padding == 0 {
            return Vec::new();
        }
        let gap = |gap: &Gap| match &gap.after {
            _ if gap.is_last => format!("{} at the end", gap.bytes),
            Some(name) => format!("{} after `{name}`", gap.bytes),
            None => format!("{} at the start", gap.bytes),
        };
        let gaps = list(self.gaps.iter().map(gap).collect());
        let why = self.not_known.as_deref().unwrap_or_default();
        let padding = match self.padding {
            Some(0) => bytes(0),
            Some(padding) => format!("{}: {gaps}", bytes(padding.into())),
            None => format!("not known: {why}"),
        };
        let padding = if self.inner_padding > 0 {
            let names = self.inside.iter().map(|name| format!("`{name}`")).collect();
            format!("{padding}, and {} more inside {}", self.inner_padding, list(names))
        } else {
            padding
        };
        if self.form != "struct" {
            return vec![("padding", padding), ("cache", cache_lines(self.cache_lines))];
        }
        let reordered = match &self.reordered {
            Some(Better { extent, saves, cache_lines: lines, order }) => {
                let order = list(order.iter().map(|name| format!("`{name}`")).collect());
                let lines = if *lines == self.cache_lines {
                    String::new()
                } else {
                    format!(", {}", cache_lines(*lines))
                };
                format!("{}, saves {saves}{lines}: {order}", bytes((*extent).into()))
            }
            None if self.not_known.is_some() => format!("not known: {why}"),
            None => format!("{}, saves nothing", bytes(self.extent.into())),
        };
        vec![
            ("padding", padding),
            ("cache", cache_lines(self.cache_lines)),
            ("reordered", reordered),
        ]
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

/// A structure in the notation, whose fields may be anywhere.
fn in_notation(parsed: &Parsed, extent: u64) -> Option<Structure> {
    let ty = &parsed.ty;
    if ty.flags().contains(Flags::USER_LB) || ty.flags().contains(Flags::USER_UB) {
        return None;
    }
    let mut members = Vec::new();
    for (number, block) in parsed.fields.members(ty)?.into_iter().enumerate() {
        let Block { name, length, displacement, ty: member } = block;
        if member.size() == 0 || length == 0 {
            continue;
        }
        let (extent, align) = (u64::try_from(member.extent()).ok()?, member.align());
        let offset = u64::try_from(displacement).ok().filter(|at| at.is_multiple_of(align))?;
        // Only a member that lies inside its bounds can be moved as a block.
        let is_block = member.lb() == 0 && member.true_lb() >= 0 && member.true_ub() <= member.ub();
        if !is_block {
            return None;
        }
        let size = extent.checked_mul(length)?;
        let name = Some(name.unwrap_or_else(|| number.to_string()));
        let (offset, size, align) = (Some(offset), Some(size), Some(align));
        let of = described(&member, extent, member.align());
        let of = if length == 1 { of } else { of.array(vec![length]) };
        members.push(Member { name, offset, size, align, kind: Kind::Field, of, line: None });
    }
    let structure = Structure::new(Some(extent), None, members);
    let members = &structure.members;
    let apart = members.windows(2).all(|pair| {
        let bytes = |member: &Member| member.bytes();
        bytes(&pair[0]).zip(bytes(&pair[1])).is_some_and(|(one, next)| one.end <= next.start)
    });
    let is_inside = members.last()?.bytes()?.end <= extent;
    (members.len() > 1 && apart && is_inside).then(|| structure.anew())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dtype_text::notation::parse;

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

    /// The struct's own alignment, and that of its fields, stay as they are declared.
    #[test]
    fn declared_alignment() {
        use dtype_text::declaration::{Language, parse};
        for (source, language, align, extent, least) in [
            (
                "struct __attribute__((aligned(64))) S { char a; int b; char c; };",
                Language::C,
                64,
                64,
                64,
            ),
            ("struct S { char a; _Alignas(64) int b; char c; };", Language::C, 64, 128, 64),
            ("struct __attribute__((packed)) S { char a; int b; char c; };", Language::C, 1, 6, 6),
            ("struct S { char a; struct { char b; double d; }; char c; };", Language::C, 8, 32, 24),
            ("#[repr(C, align(64))] struct S { a: u8, b: u32, c: u8 }", Language::Rust, 64, 64, 64),
            ("#[repr(C, packed(2))] struct S { a: u8, b: u32, c: u8 }", Language::Rust, 2, 8, 6),
        ] {
            let parsed = parse(source, language, None).unwrap();
            let reorder = Reorder::of(&parsed).unwrap();
            let better = reorder.reordered.map_or(reorder.extent, |better| better.extent);
            assert_eq!(
                (parsed.align(), reorder.extent, better),
                (Some(align), extent, least),
                "{source}"
            );
        }
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
