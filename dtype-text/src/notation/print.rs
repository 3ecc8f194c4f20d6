//! Prints a datatype as a text that describes it.

use std::collections::{HashMap, HashSet};
use std::fmt::{Display, Write};

use dtype_runtime::types::{Argument, Call, Combiner, Distribution, Order};
use dtype_runtime::{BoundsRule, Type};

use super::fields::FieldNames;

/// A type with more levels than this is given a name, so that brackets never nest too deeply for `parse`.
const LEVELS: u32 = 16;

/// A text from which [`parse`](super::parse) makes an equal type. A type that is used several times is written once
/// and given a name by `let`.
///
/// ```
/// use dtype_text::notation::{parse, print};
/// use dtype_runtime::{Basic, Type};
/// let column = Type::vector(4, 1, 6, &Type::basic(Basic::F64))?;
/// let both = Type::structure(&[1, 2], &[0, 8], &[column.clone(), column])?;
/// let text = print(&both);
/// assert_eq!(text, "let t1 = vector(4, 1, 6, f64);\nstruct{t1@0, [t1; 2]@8}");
/// assert_eq!(parse(&text).unwrap().ty, both);
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
pub fn print(ty: &Type) -> String {
    print_named(ty, &FieldNames::default())
}

/// As [`print()`], with the names of fields. A name that is not a word is written in quotes. If two fields of a struct have one
/// name, only the first keeps it.
///
/// ```
/// use dtype_text::notation::{parse, print_named};
/// let parsed = parse("struct{x: f64, kind: u8}").unwrap();
/// assert_eq!(print_named(&parsed.ty, &parsed.fields), "struct{x: f64@0, kind: u8@8}");
/// ```
pub fn print_named(ty: &Type, fields: &FieldNames) -> String {
    let mut printer = Printer { nodes: HashMap::new(), bindings: String::new(), named: 0, fields };
    printer.visit(ty);
    let result = printer.text(ty);
    printer.bindings + &result
}

/// A type that a call made.
struct Node<'a> {
    call: Call<'a>,
    uses: u64,
    /// Levels of brackets in the type's text, not counting the text that names stand for.
    levels: u32,
    /// The text of the type, or its name.
    text: Option<String>,
}

struct Printer<'a> {
    /// Keyed by the address of the type.
    nodes: HashMap<usize, Node<'a>>,
    bindings: String,
    named: usize,
    fields: &'a FieldNames,
}

impl<'a> Printer<'a> {
    /// Collects the parts of a type. Types nest at most 255 levels deep, and each is visited once.
    fn visit(&mut self, ty: &'a Type) {
        if let Some(node) = self.nodes.get_mut(&ty.as_ptr().addr()) {
            node.uses += 1;
            return;
        }
        let Some(call) = ty.call() else { return };
        for part in call.types() {
            self.visit(part);
        }
        self.nodes.insert(ty.as_ptr().addr(), Node { call, uses: 1, levels: 0, text: None });
    }

    /// The text of a type, or its name if it has one.
    fn text(&mut self, ty: &Type) -> String {
        if let Some(named) = ty.named() {
            return by_rules(ty, named.name().to_owned());
        }
        let key = ty.as_ptr().addr();
        let Some(mut node) = self.nodes.remove(&key) else { return String::new() };
        if let Some(text) = node.text.take() {
            let again = Node { text: Some(text.clone()), ..node };
            self.nodes.insert(key, again);
            return text;
        }
        let types: Vec<String> = node.call.types().map(|part| self.text(part)).collect();
        let levels = node
            .call
            .types()
            .filter_map(|part| self.nodes.get(&part.as_ptr().addr()).map(|part| part.levels));
        node.levels = levels.max().unwrap_or(0) + 1;
        let mut text = written(&node.call, &types, self.fields.of(ty).unwrap_or(&[]));
        if types.is_empty() {
            text = by_rules(ty, text);
        }
        if node.uses > 1 || node.levels > LEVELS {
            self.named += 1;
            let name = format!("t{}", self.named);
            let _ = writeln!(self.bindings, "let {name} = {text};");
            text = name;
            node.levels = 0;
        }
        node.text = Some(text.clone());
        self.nodes.insert(key, node);
        text
    }
}

/// A type without parts has its own rule for bounds; other types follow the rule of their parts.
fn by_rules(ty: &Type, text: String) -> String {
    match ty.bounds_rule() {
        BoundsRule::Mpich => format!("mpich_bounds({text})"),
        _ => text,
    }
}

/// A call, with its datatypes written as `types`, and the names of its fields.
fn written(call: &Call<'_>, types: &[String], names: &[Option<String>]) -> String {
    if call.combiner == Combiner::Structure {
        return structure(call, types, names);
    }
    let mut types = types.iter();
    let arguments = call.arguments.iter().map(|argument| match argument {
        Argument::Count(count) => count.to_string(),
        Argument::Offset(offset) => offset.to_string(),
        Argument::Counts(counts) => list(counts.iter()),
        Argument::Offsets(offsets) => list(offsets.iter()),
        Argument::Type(_) => types.next().cloned().unwrap_or_default(),
        Argument::Types(all) => list(types.by_ref().take(all.len())),
        Argument::Order(Order::C) => "C".to_owned(),
        Argument::Order(Order::Fortran) => "fortran".to_owned(),
        Argument::Distributions(all) => list(all.iter().map(distribution)),
        Argument::Digits(Some(digits)) => digits.to_string(),
        Argument::Digits(None) => "undefined".to_owned(),
        Argument::Range(range) => range.to_string(),
    });
    format!("{}({})", call.combiner.name(), arguments.collect::<Vec<_>>().join(", "))
}

fn distribution(one: &Distribution) -> String {
    match one {
        Distribution::None => "none".to_owned(),
        Distribution::Block(None) => "block".to_owned(),
        Distribution::Block(Some(length)) => format!("block({length})"),
        Distribution::Cyclic(None) => "cyclic".to_owned(),
        Distribution::Cyclic(Some(length)) => format!("cyclic({length})"),
    }
}

/// A structure as a struct with displacements, which is easier to read than three lists.
fn structure(call: &Call<'_>, types: &[String], names: &[Option<String>]) -> String {
    let [Argument::Counts(lengths), Argument::Offsets(displacements), _] = &*call.arguments else {
        unreachable!("a structure is called with lengths, displacements and types")
    };
    let fields = types.iter().zip(&**lengths).zip(&**displacements);
    let mut used = HashSet::new();
    let names = names.iter().map(Option::as_deref).chain(std::iter::repeat(None));
    let fields = fields.zip(names).map(|(((part, length), displacement), name)| {
        let name = name.filter(|name| !name.is_empty() && used.insert(*name));
        let name = name.map_or(String::new(), |name| written_name(name) + ": ");
        match length {
            1 => format!("{name}{part}@{displacement}"),
            _ => format!("{name}[{part}; {length}]@{displacement}"),
        }
    });
    format!("struct{{{}}}", fields.collect::<Vec<_>>().join(", "))
}

/// A name as a word, or in quotes. Characters that a terminal could interpret as commands are escaped.
fn written_name(name: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    if name.starts_with(|c: char| c.is_alphabetic() || c == '_') && name.chars().all(is_part) {
        return name.to_owned();
    }
    let mut out = String::from('"');
    for c in name.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            _ if c.is_alphanumeric() => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out + "\""
}

fn list(items: impl Iterator<Item = impl Display>) -> String {
    let mut out = String::from("[");
    for (i, item) in items.enumerate() {
        let comma = if i > 0 { ", " } else { "" };
        let _ = write!(out, "{comma}{item}");
    }
    out + "]"
}
