//! The calls that made a type, as a tree.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::types::{Constructor, Distribution, Fortran, Order, Type};

/// How many numbers of a list are written.
const MOST_NUMBERS: usize = 8;

/// How many datatypes are looked at for those that are used more than once.
const MOST_LOOKED_AT: usize = 1 << 16;

/// A type as the tree of the calls that made it: its `Display`. Made by [`Type::envelope_tree`].
#[derive(Clone, Debug)]
pub struct EnvelopeTree<'a> {
    root: &'a Type,
    lines: usize,
    /// The types that are used more than once, with their numbers, by where they are kept.
    shared: BTreeMap<usize, usize>,
}

impl Type {
    /// The envelope and the contents of this type (MPI-4.1 section 5.1.13) and of all that it is made of, as a tree of
    /// at most so many lines: the call, its arguments as they were given, size and bounds of the result. Strides of
    /// `hvector`, displacements of `hindexed`, `hindexed_block` and `structure`, and bounds are bytes. A type that is
    /// used in several places has a number, and is written out in the first of them.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let column = Type::vector(4, 1, 6, &Type::basic(Basic::F64))?;
    /// let both = Type::structure(&[1, 2], &[0, 8], &[column.clone(), column])?;
    /// assert_eq!(
    ///     both.envelope_tree(40).to_string(),
    ///     "\
    /// structure: 2 members; size 96, lb 0, extent 312
    /// ├ 1 at 0: vector #1: count 4, blocklength 1, stride 6; size 32, lb 0, extent 152
    /// │ └ f64
    /// └ 2 at 8: vector #1, as above
    /// "
    /// );
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn envelope_tree(&self, lines: usize) -> EnvelopeTree<'_> {
        EnvelopeTree { root: self, lines, shared: shared(self) }
    }
}

/// The types that are used more than once, numbered in the order in which they are met first.
fn shared(root: &Type) -> BTreeMap<usize, usize> {
    let mut uses: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    let mut waiting = Vec::from([root]);
    while let Some(ty) = waiting.pop() {
        let met = uses.len();
        let (_, number) = uses.entry(ty.address().addr()).or_insert((met, 0));
        *number += 1;
        if *number > 1 || met >= MOST_LOOKED_AT {
            continue;
        }
        let room = MOST_LOOKED_AT.saturating_sub(waiting.len());
        let from = waiting.len();
        waiting.extend(parts(ty).map(|(_, part)| part).filter(|part| !is_named(part)).take(room));
        // The first one is looked at first.
        waiting[from..].reverse();
    }
    let mut shared: Vec<(usize, usize)> =
        uses.into_iter().filter(|(_, use_)| use_.1 > 1).map(|(key, use_)| (use_.0, key)).collect();
    shared.sort_unstable();
    shared.into_iter().enumerate().map(|(i, (_, key))| (key, i + 1)).collect()
}

/// What a type is made of, with what a structure says of each.
fn parts(ty: &Type) -> impl Iterator<Item = (Option<(u64, i64)>, &Type)> {
    let members = match ty.constructor() {
        Constructor::Structure { members } => &**members,
        _ => &[],
    };
    let members = members.iter().map(|m| (Some((m.blocklength, m.displacement)), &m.ty));
    ty.constructor().old().map(|old| (None, old)).into_iter().chain(members)
}

/// Whether the name says it all.
fn is_named(ty: &Type) -> bool {
    matches!(
        ty.constructor(),
        Constructor::Basic(_)
            | Constructor::LbMarker
            | Constructor::UbMarker
            | Constructor::Pair { name: Some(_), .. }
    )
}

/// The first of some numbers.
fn list<N: ToString>(numbers: impl ExactSizeIterator<Item = N>) -> String {
    let left = numbers.len().saturating_sub(MOST_NUMBERS);
    let some: Vec<String> = numbers.take(MOST_NUMBERS).map(|number| number.to_string()).collect();
    let more = if left > 0 { format!(", … {left} more") } else { String::new() };
    format!("[{}{more}]", some.join(", "))
}

fn arguments(ty: &Type) -> String {
    match ty.constructor() {
        Constructor::Basic(_)
        | Constructor::LbMarker
        | Constructor::UbMarker
        | Constructor::Pair { name: Some(_), .. }
        | Constructor::Dup { .. } => String::new(),
        Constructor::Pair { name: None, value, index, .. } => {
            format!("value {value}, index {index}")
        }
        Constructor::Fortran { request, basic } => format!("{}, {basic} here", asked(*request)),
        Constructor::Contiguous { count, .. } => format!("count {count}"),
        Constructor::Vector { count, blocklength, stride, .. }
        | Constructor::Hvector { count, blocklength, stride, .. } => {
            format!("count {count}, blocklength {blocklength}, stride {stride}")
        }
        Constructor::Indexed { blocklengths, displacements, .. }
        | Constructor::Hindexed { blocklengths, displacements, .. } => format!(
            "blocklengths {}, displacements {}",
            list(blocklengths.iter()),
            list(displacements.iter())
        ),
        Constructor::IndexedBlock { blocklength, displacements, .. }
        | Constructor::HindexedBlock { blocklength, displacements, .. } => {
            format!("blocklength {blocklength}, displacements {}", list(displacements.iter()))
        }
        Constructor::Structure { members } => match members.len() {
            1 => "1 member".to_string(),
            number => format!("{number} members"),
        },
        Constructor::Subarray { arguments, .. } => format!(
            "sizes {}, subsizes {}, starts {}, order {}",
            list(arguments.sizes().iter()),
            list(arguments.subsizes().iter()),
            list(arguments.starts().iter()),
            order(arguments.order)
        ),
        Constructor::Darray { arguments, .. } => format!(
            "size {}, rank {}, gsizes {}, distributions {}, psizes {}, order {}",
            arguments.size,
            arguments.rank,
            list(arguments.gsizes.iter()),
            list(arguments.distributions.iter().map(distribution)),
            list(arguments.psizes.iter()),
            order(arguments.order)
        ),
        Constructor::Resized { .. } => {
            let (lb, extent) = ty.resize();
            format!("lb {lb}, extent {extent}")
        }
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

fn asked(request: Fortran) -> String {
    let digits = |what: &str, digits: Option<u32>| match digits {
        Some(digits) => format!("{what} {digits}"),
        None => format!("any {what}"),
    };
    match request {
        Fortran::Real { precision, range } | Fortran::Complex { precision, range } => {
            format!("{}, {}", digits("precision", precision), digits("range", range))
        }
        Fortran::Integer { range } => format!("range {range}"),
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
    /// The numbers of those shared types that have been written out.
    written: Vec<usize>,
    /// How many lines may follow.
    left: usize,
    /// Whether there were more.
    cut: bool,
}

impl Writer<'_, '_> {
    /// A type behind what is on its line already, and what it is made of behind `indent`.
    fn node(&mut self, ty: &Type, before: &str, indent: &str) -> fmt::Result {
        if self.left == 0 {
            self.cut = true;
            return Ok(());
        }
        self.left -= 1;
        let name = ty.constructor().name();
        if is_named(ty) {
            return writeln!(self.f, "{before}{name}");
        }
        let mut label = String::from(name);
        if let Some(number) = self.shared.get(&ty.address().addr()) {
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
        let mut parts = parts(ty).peekable();
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
