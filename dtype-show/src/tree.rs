//! The calls that made a type, as a tree.

use core::fmt;
use std::collections::BTreeMap;

use dtype_runtime::Type;
use dtype_runtime::types::{Argument, Combiner, Distribution, Order};

/// The maximum number of elements of a list to write.
const MAX_NUMBERS: usize = 8;

/// The maximum number of datatypes to visit in the search for shared ones.
const MAX_LOOKED_AT: usize = 1 << 16;

/// A type as the tree of the calls that made it: its `Display`. [`new`](Self::new) makes it.
#[derive(Clone, Debug)]
pub struct EnvelopeTree<'a> {
    root: &'a Type,
    lines: usize,
    /// The types that are used more than once, with their numbers, by address.
    shared: BTreeMap<usize, usize>,
}

impl<'a> EnvelopeTree<'a> {
    /// The envelope and the contents of a type (MPI-4.1 section 5.1.13) and of all its parts, as a tree of at
    /// most `lines` lines: the call, its original arguments, size and bounds of the result. Strides of `hvector`,
    /// displacements of `hindexed`, `hindexed_block` and `structure`, and bounds are bytes. A type that is used
    /// several times has a number, and is written out at its first occurrence.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// use dtype_show::EnvelopeTree;
    /// let column = Type::vector(4, 1, 6, &Type::basic(Basic::F64))?;
    /// let both = Type::structure(&[1, 2], &[0, 8], &[column.clone(), column])?;
    /// assert_eq!(
    ///     EnvelopeTree::new(&both, 40).to_string(),
    ///     "\
    /// structure: 2 members; size 96, lb 0, extent 312
    /// ├ 1 at 0: vector #1: count 4, blocklength 1, stride 6; size 32, lb 0, extent 152
    /// │ └ f64
    /// └ 2 at 8: vector #1, as above
    /// "
    /// );
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn new(ty: &'a Type, lines: usize) -> Self {
        Self { root: ty, lines, shared: shared(ty) }
    }
}

/// The types that are used more than once, numbered by their first occurrence.
fn shared(root: &Type) -> BTreeMap<usize, usize> {
    let mut uses: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    let mut open = Vec::from([root]);
    while let Some(ty) = open.pop() {
        let met = uses.len();
        let (_, number) = uses.entry(ty.as_ptr().addr()).or_insert((met, 0));
        *number += 1;
        if *number > 1 || met >= MAX_LOOKED_AT {
            continue;
        }
        let room = MAX_LOOKED_AT.saturating_sub(open.len());
        let from = open.len();
        open.extend(
            parts(ty)
                .into_iter()
                .map(|(_, part)| part)
                .filter(|part| part.named().is_none())
                .take(room),
        );
        // The stack is reversed, so that the first part is visited first.
        open[from..].reverse();
    }
    let mut shared: Vec<(usize, usize)> =
        uses.into_iter().filter(|(_, use_)| use_.1 > 1).map(|(key, use_)| (use_.0, key)).collect();
    shared.sort_unstable();
    shared.into_iter().enumerate().map(|(i, (_, key))| (key, i + 1)).collect()
}

/// The parts of a type. For a structure, each with its block length and displacement.
fn parts(ty: &Type) -> Vec<(Option<(u64, i64)>, &Type)> {
    let Some(call) = ty.call() else { return Vec::new() };
    match (call.combiner, &*call.arguments) {
        // A pair consists of named datatypes, which need no branches.
        (Combiner::ValueIndex, _) => Vec::new(),
        (
            Combiner::Structure,
            [Argument::Counts(lengths), Argument::Offsets(displacements), Argument::Types(types)],
        ) => {
            let members = lengths.iter().zip(&**displacements).zip(types);
            members.map(|((length, at), part)| (Some((*length, *at)), *part)).collect()
        }
        _ => call.types().map(|part| (None, *part)).collect(),
    }
}

/// The name of a datatype, or of the call that made it.
fn name(ty: &Type) -> &'static str {
    match ty.named() {
        Some(named) => named.name(),
        None => ty.call().map_or("", |call| call.combiner.name()),
    }
}

/// The first few numbers of a list.
fn list<N: ToString>(numbers: impl ExactSizeIterator<Item = N>) -> String {
    let left = numbers.len().saturating_sub(MAX_NUMBERS);
    let some: Vec<String> = numbers.take(MAX_NUMBERS).map(|number| number.to_string()).collect();
    let more = if left > 0 { format!(", … {left} more") } else { String::new() };
    format!("[{}{more}]", some.join(", "))
}

/// The arguments of the call, without the datatypes, which are branches.
fn arguments(ty: &Type) -> String {
    let Some(call) = ty.call() else { return String::new() };
    let written = call.parameters().filter_map(|(parameter, argument)| {
        let value = match argument? {
            Argument::Count(count) => count.to_string(),
            Argument::Offset(offset) => offset.to_string(),
            Argument::Counts(counts) => list(counts.iter()),
            Argument::Offsets(offsets) => list(offsets.iter()),
            Argument::Order(order) => self::order(*order).to_string(),
            Argument::Distributions(all) => list(all.iter().map(distribution)),
            Argument::Digits(Some(digits)) => digits.to_string(),
            Argument::Digits(None) => return Some(format!("any {}", parameter.name)),
            Argument::Range(range) => range.to_string(),
            Argument::Type(part) if call.combiner == Combiner::ValueIndex => name(part).to_string(),
            Argument::Type(_) | Argument::Types(_) => return None,
        };
        Some(format!("{} {value}", parameter.name))
    });
    match call.combiner {
        // The branches show the other arguments.
        Combiner::Structure => match call.length() {
            1 => "1 member".to_string(),
            number => format!("{number} members"),
        },
        Combiner::F90Real | Combiner::F90Complex | Combiner::F90Integer => {
            let basic = ty.signature().runs().next().map_or("nothing", |(basic, _)| basic.name());
            format!("{}, {basic} here", written.collect::<Vec<String>>().join(", "))
        }
        _ => written.collect::<Vec<String>>().join(", "),
    }
}

fn order(order: Order) -> &'static str {
    match order {
        Order::C => "C",
        Order::Fortran => "Fortran",
    }
}

fn distribution(one: &Distribution) -> String {
    match one {
        Distribution::None => "none".to_string(),
        Distribution::Block(None) => "block".to_string(),
        Distribution::Block(Some(length)) => format!("block({length})"),
        Distribution::Cyclic(None) => "cyclic".to_string(),
        Distribution::Cyclic(Some(length)) => format!("cyclic({length})"),
    }
}

impl fmt::Display for EnvelopeTree<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut writer =
            Writer { f, shared: &self.shared, written: Vec::new(), left: self.lines, cut: false };
        writer.node(self.root, "", "")?;
        if writer.cut { f.write_str("…\n") } else { Ok(()) }
    }
}

struct Writer<'a, 'f> {
    f: &'a mut fmt::Formatter<'f>,
    shared: &'a BTreeMap<usize, usize>,
    /// The numbers of the shared types that have been written out.
    written: Vec<usize>,
    /// The number of lines that may still be written.
    left: usize,
    /// Whether lines were left out.
    cut: bool,
}

impl Writer<'_, '_> {
    /// Writes a type after `before`, and its parts on lines that start with `indent`.
    fn node(&mut self, ty: &Type, before: &str, indent: &str) -> fmt::Result {
        if self.left == 0 {
            self.cut = true;
            return Ok(());
        }
        self.left -= 1;
        let name = name(ty);
        if ty.named().is_some() {
            return writeln!(self.f, "{before}{name}");
        }
        let mut label = String::from(name);
        if let Some(number) = self.shared.get(&ty.as_ptr().addr()) {
            label = format!("{label} #{number}");
            if self.written.contains(number) {
                return writeln!(self.f, "{before}{label}, as above");
            }
            self.written.push(*number);
        }
        let arguments = arguments(ty);
        let colon = if arguments.is_empty() { "" } else { ": " };
        let (size, lb, extent) = (ty.size(), ty.lb(), ty.extent());
        writeln!(
            self.f,
            "{before}{label}{colon}{arguments}; size {size}, lb {lb}, extent {extent}"
        )?;
        let mut parts = parts(ty).into_iter().peekable();
        while let Some((member, part)) = parts.next() {
            if self.left == 0 {
                self.cut = true;
                break;
            }
            let (branch, below) =
                if parts.peek().is_some() { ("├", "│") } else { ("└", " ") };
            let place = match member {
                Some((blocklength, displacement)) => format!("{blocklength} at {displacement}: "),
                None => String::new(),
            };
            self.node(part, &format!("{indent}{branch} {place}"), &format!("{indent}{below} "))?;
        }
        Ok(())
    }
}
