//! From a datatype to a text that describes it.

use std::collections::HashMap;
use std::fmt::Write;

use dtype_runtime::types::{Combiner, Contents};
use dtype_runtime::{Bounds, Error, Type};

/// A type that contains more levels than this is given a name, so that brackets never nest too deep to be read again.
const LEVELS: u32 = 16;

/// A text that [`parse`](super::parse) makes an equal type of. A type that is used in several places is written once
/// and given a name by `let`.
///
/// # Errors
///
/// Those of [`Type::contents`], for the few types whose arguments MPI cannot tell: a count of 2⁶³ or more, a grid of
/// processes beyond 32 bits, a darray with blocks of 19.
///
/// ```
/// use dtype_cli::notation::{parse, print};
/// use dtype_runtime::{Basic, Type};
/// let column = Type::vector(4, 1, 6, &Type::basic(Basic::F64))?;
/// let both = Type::structure(&[1, 2], &[0, 8], &[column.clone(), column])?;
/// let text = print(&both)?;
/// assert_eq!(text, "let t1 = vector(4, 1, 6, f64);\nstruct{t1@0, [t1; 2]@8}");
/// assert_eq!(parse(&text).unwrap().ty, both);
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
pub fn print(ty: &Type) -> Result<String, Error> {
    let mut printer = Printer { nodes: HashMap::new(), bindings: String::new(), named: 0 };
    printer.visit(ty)?;
    let result = printer.text(ty);
    Ok(printer.bindings + &result)
}

/// What is known of a type that has parts.
struct Node {
    ty: Type,
    contents: Contents,
    uses: u64,
    /// Levels of brackets that its text has, where the names are not looked into.
    levels: u32,
    /// Its text, or its name.
    text: Option<String>,
}

struct Printer {
    /// By where the type is kept.
    nodes: HashMap<usize, Node>,
    bindings: String,
    named: usize,
}

impl Printer {
    /// Reads what a type is made of. Types nest at most 255 levels deep, and each is looked into once.
    fn visit(&mut self, ty: &Type) -> Result<(), Error> {
        if ty.named().is_some() {
            return Ok(());
        }
        if let Some(node) = self.nodes.get_mut(&ty.address().addr()) {
            node.uses += 1;
            return Ok(());
        }
        let contents = ty.contents()?;
        for part in &contents.datatypes {
            self.visit(part)?;
        }
        let node = Node { ty: ty.clone(), contents, uses: 1, levels: 0, text: None };
        self.nodes.insert(ty.address().addr(), node);
        Ok(())
    }

    /// The text of a type, or its name if it has one.
    fn text(&mut self, ty: &Type) -> String {
        if let Some(named) = ty.named() {
            return by_rules(ty, named.name().to_owned());
        }
        let key = ty.address().addr();
        let Some(mut node) = self.nodes.remove(&key) else { return String::new() };
        if let Some(text) = node.text.take() {
            let again = Node { text: Some(text.clone()), ..node };
            self.nodes.insert(key, again);
            return text;
        }
        let parts: Vec<String> =
            node.contents.datatypes.iter().map(|part| self.text(part)).collect();
        let levels = node
            .contents
            .datatypes
            .iter()
            .filter_map(|part| self.nodes.get(&part.address().addr()).map(|part| part.levels));
        node.levels = levels.max().unwrap_or(0) + 1;
        let mut text = call(&node.contents, &parts);
        if node.contents.datatypes.is_empty() {
            text = by_rules(&node.ty, text);
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

/// A type that is made of no others follows the rules that it was told to; others follow their parts.
fn by_rules(ty: &Type, text: String) -> String {
    match ty.bounds() {
        Bounds::Mpich => format!("mpich_bounds({text})"),
        _ => text,
    }
}

/// The call with these contents. They are a type's own, so they have what the combiner asks for.
fn call(contents: &Contents, parts: &[String]) -> String {
    let large = !contents.large_counts.is_empty();
    let mut arguments = Arguments {
        integers: contents.integers.iter().map(|&n| n.into()).collect::<Vec<i64>>().into_iter(),
        addresses: contents.addresses.clone().into_iter(),
        large: contents.large_counts.clone().into_iter(),
        is_large: large,
    };
    let a = &mut arguments;
    let old = parts.first().map_or("", String::as_str);
    let name = contents.combiner.name();
    match contents.combiner {
        Combiner::Contiguous => format!("{name}({}, {old})", a.count()),
        Combiner::Vector => format!("{name}({}, {}, {}, {old})", a.count(), a.count(), a.count()),
        Combiner::Hvector => {
            format!("{name}({}, {}, {}, {old})", a.count(), a.count(), a.address())
        }
        Combiner::Indexed => {
            let n = a.count();
            format!("{name}({}, {}, {old})", a.counts(n), a.counts(n))
        }
        Combiner::Hindexed => {
            let n = a.count();
            format!("{name}({}, {}, {old})", a.counts(n), a.addresses(n))
        }
        Combiner::IndexedBlock => {
            let n = a.count();
            format!("{name}({}, {}, {old})", a.count(), a.counts(n))
        }
        Combiner::HindexedBlock => {
            let n = a.count();
            format!("{name}({}, {}, {old})", a.count(), a.addresses(n))
        }
        Combiner::Structure => structure(a, parts),
        Combiner::Subarray => {
            let n = a.int();
            let arrays = [a.counts(n), a.counts(n), a.counts(n)].join(", ");
            format!("{name}({arrays}, {}, {old})", a.order())
        }
        Combiner::Darray => darray(a, old),
        Combiner::Resized => format!("{name}({old}, {}, {})", a.address(), a.address()),
        Combiner::ValueIndex => format!("{name}({})", parts.join(", ")),
        Combiner::F90Real | Combiner::F90Complex => {
            format!("{name}({}, {})", a.digits(), a.digits())
        }
        Combiner::F90Integer => format!("{name}({})", a.digits()),
        // A dup; there is no other that is not named.
        _ => format!("{name}({old})"),
    }
}

fn structure(a: &mut Arguments, parts: &[String]) -> String {
    let n = a.count();
    let lengths: Vec<i64> = (0..n).map(|_| a.count()).collect();
    let fields = parts.iter().zip(lengths).map(|(part, length)| {
        let place = a.address();
        if length == 1 { format!("{part}@{place}") } else { format!("[{part}; {length}]@{place}") }
    });
    format!("struct{{{}}}", fields.collect::<Vec<_>>().join(", "))
}

fn darray(a: &mut Arguments, old: &str) -> String {
    /// The numbers of MPI's ABI.
    const BLOCK: i64 = 17;
    const CYCLIC: i64 = 18;
    const DEFAULT: i64 = 19;
    let (size, rank, n) = (a.int(), a.int(), a.int());
    let gsizes = a.counts(n);
    let kinds: Vec<i64> = (0..n).map(|_| a.int()).collect();
    let distributions = kinds.into_iter().map(|kind| {
        let name = match kind {
            BLOCK => "block",
            CYCLIC => "cyclic",
            _ => "none",
        };
        match a.int() {
            DEFAULT => name.to_owned(),
            length => format!("{name}({length})"),
        }
    });
    let distributions = distributions.collect::<Vec<_>>().join(", ");
    let psizes: Vec<String> = (0..n).map(|_| a.int().to_string()).collect();
    let (psizes, order) = (psizes.join(", "), a.order());
    format!("darray({size}, {rank}, {gsizes}, [{distributions}], [{psizes}], {order}, {old})")
}

/// Takes the arguments off the arrays.
struct Arguments {
    integers: std::vec::IntoIter<i64>,
    addresses: std::vec::IntoIter<i64>,
    large: std::vec::IntoIter<i64>,
    is_large: bool,
}

impl Arguments {
    fn int(&mut self) -> i64 {
        self.integers.next().unwrap_or(0)
    }

    fn count(&mut self) -> i64 {
        let array = if self.is_large { &mut self.large } else { &mut self.integers };
        array.next().unwrap_or(0)
    }

    fn address(&mut self) -> i64 {
        let array = if self.is_large { &mut self.large } else { &mut self.addresses };
        array.next().unwrap_or(0)
    }

    fn counts(&mut self, n: i64) -> String {
        list(n, || self.count())
    }

    fn addresses(&mut self, n: i64) -> String {
        list(n, || self.address())
    }

    fn digits(&mut self) -> String {
        // A negative number is MPI's for one that is undefined.
        match self.int() {
            digits @ 0.. => digits.to_string(),
            _ => "undefined".into(),
        }
    }

    fn order(&mut self) -> &'static str {
        const FORTRAN: i64 = 15;
        if self.int() == FORTRAN { "fortran" } else { "C" }
    }
}

fn list(n: i64, mut next: impl FnMut() -> i64) -> String {
    let mut out = String::from("[");
    for i in 0..n {
        let comma = if i > 0 { ", " } else { "" };
        let _ = write!(out, "{comma}{}", next());
    }
    out + "]"
}
