//! Compares the texts of two schemas, field by field, in memory and time in proportion to their length: the sender's may come
//! from anyone.

use core::fmt;

/// What begins the values of a field, after its type.
pub(crate) const VALUES: &str = " {";

/// A difference between the sender's schema and the receiver's.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// The types have different names.
    Name {
        /// The receiver's name of the type.
        here: String,
        /// The sender's name of the type.
        there: String,
    },
    /// A field has another type.
    Type {
        /// The path of the field.
        path: String,
        /// The type of the field in the receiver.
        here: String,
        /// The type of the field in the sender.
        there: String,
    },
    /// A variant of an enum has another number, or only one side has it.
    Variant {
        /// The path of the field.
        path: String,
        /// The name of the variant.
        name: String,
        /// Its number in the receiver.
        here: Option<String>,
        /// Its number in the sender.
        there: Option<String>,
    },
    /// The sender lacks a field.
    OnlyHere {
        /// The path of the field.
        path: String,
        /// The type of the field.
        ty: String,
    },
    /// The receiver lacks a field.
    OnlyThere {
        /// The path of the field.
        path: String,
        /// The type of the field.
        ty: String,
    },
    /// The fields that both have are in different orders. These are the paths of the first two that differ: at the same place,
    /// the receiver has `here` and the sender has `there`.
    Order {
        /// The path of the receiver's field.
        here: String,
        /// The path of the sender's field.
        there: String,
    },
    /// The number of further differences.
    More {
        /// The number.
        count: usize,
    },
}

impl Difference {
    /// The greatest number of differences that a comparison returns. Their number is bounded because a peer chooses its schema.
    pub const MAX: usize = 100;

    /// The greatest number of characters of a name or a type in a difference. A longer one ends with `…`.
    pub const MAX_NAME: usize = 100;
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name { here, there } => {
                write!(f, "the type is `{there}` there and `{here}` here")
            }
            Self::Type { path, here, there } if path.is_empty() => {
                write!(f, "the values are {there} there and {here} here")
            }
            Self::Type { path, here, there } => {
                write!(f, "`{path}` is {there} there and {here} here")
            }
            Self::Variant { path, name, here, there } => match (here, there) {
                (Some(here), Some(there)) => {
                    write!(f, "the variant `{name}` of `{path}` is {there} there and {here} here")
                }
                (Some(number), None) => {
                    write!(f, "the variant `{name} = {number}` of `{path}` is only here")
                }
                (None, number) => {
                    let number = number.as_deref().unwrap_or_default();
                    write!(f, "the variant `{name} = {number}` of `{path}` is only there")
                }
            },
            Self::OnlyHere { path, ty } => write!(f, "`{path}: {ty}` is only here"),
            Self::OnlyThere { path, ty } => write!(f, "`{path}: {ty}` is only there"),
            Self::Order { here, there } => {
                write!(
                    f,
                    "the fields have another order: `{there}` comes there where `{here}` comes here"
                )
            }
            Self::More { count } => write!(f, "and {count} more"),
        }
    }
}

/// A list that holds a limited number of items, and counts the others.
pub(crate) struct Bounded<T> {
    pub(crate) items: Vec<T>,
    room: usize,
    others: usize,
}

impl<T> Bounded<T> {
    pub(crate) fn new(room: usize) -> Self {
        Self { items: Vec::new(), room, others: 0 }
    }

    pub(crate) fn push(&mut self, item: impl FnOnce() -> T) {
        if self.room == 0 {
            self.others += 1;
        } else {
            self.room -= 1;
            self.items.push(item());
        }
    }

    /// The number of items that are left, and the items with one for the number of the others.
    pub(crate) fn finish(mut self, others: impl FnOnce(usize) -> T) -> (usize, Vec<T>) {
        if self.others > 0 {
            self.items.push(others(self.others));
        }
        (self.room, self.items)
    }
}

/// The start of a text that came from the sender.
pub(crate) fn shown(text: &str) -> String {
    match text.char_indices().nth(Difference::MAX_NAME) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The differences between two schemas, at most `room`, and an item for the others. `room` becomes the room that is left.
pub(crate) fn schemas(here: &str, there: &str, room: &mut usize) -> Vec<Difference> {
    let mut found = Bounded::new(*room);
    let ((our_name, ours), (their_name, theirs)) = (parts(here), parts(there));
    if our_name != their_name {
        found.push(|| Difference::Name { here: shown(our_name), there: shown(their_name) });
    }
    let fields = |text| Entries::new(text, "\n", ": ");
    let (ours, theirs) = (fields(ours), fields(theirs));
    for (path, ty) in ours.in_order() {
        match theirs.get(path) {
            None => found.push(|| Difference::OnlyHere { path: shown(path), ty: shown(ty) }),
            Some(other) => types(path, ty, other, &mut found),
        }
    }
    for (path, ty) in theirs.in_order().filter(|(path, _)| ours.get(path).is_none()) {
        found.push(|| Difference::OnlyThere { path: shown(path), ty: shown(ty) });
    }
    let both_have = |entries: &Entries<'_>, path: &str| entries.get(path).is_some();
    let common_here = ours.in_order().filter(|(path, _)| both_have(&theirs, path));
    let common_there = theirs.in_order().filter(|(path, _)| both_have(&ours, path));
    let mut pairs = common_here.zip(common_there);
    if let Some(((here, _), (there, _))) = pairs.find(|(ours, theirs)| ours.0 != theirs.0) {
        found.push(|| Difference::Order { here: shown(here), there: shown(there) });
    }
    let (left, found) = found.finish(|count| Difference::More { count });
    *room = left;
    found
}

/// The first line of a schema, and the others.
fn parts(text: &str) -> (&str, &str) {
    text.split_once('\n').unwrap_or((text, ""))
}

/// Compares the types of a field. Enums of one name and one basic datatype are compared variant by variant.
fn types(path: &str, here: &str, there: &str, found: &mut Bounded<Difference>) {
    if here == there {
        return;
    }
    let (Some(ours), Some(theirs)) = (Enumeration::of(here), Enumeration::of(there)) else {
        return found.push(|| Difference::Type {
            path: shown(path),
            here: shown(here),
            there: shown(there),
        });
    };
    if (ours.name, ours.basic) != (theirs.name, theirs.basic) {
        return found.push(|| Difference::Type {
            path: shown(path),
            here: ours.to_string(),
            there: theirs.to_string(),
        });
    }
    let (ours, theirs) = (ours.variants(), theirs.variants());
    let mut variant = |name: &str, here: Option<&str>, there: Option<&str>| {
        if here != there {
            found.push(|| Difference::Variant {
                path: shown(path),
                name: shown(name),
                here: here.map(shown),
                there: there.map(shown),
            });
        }
    };
    for (name, number) in ours.in_order() {
        variant(name, Some(number), theirs.get(name));
    }
    for (name, number) in theirs.in_order().filter(|(name, _)| ours.get(name).is_none()) {
        variant(name, None, Some(number));
    }
}

/// The type of a field that is an enum, or an array of one: `State {u8: Idle = 0, Busy = 1}`.
pub(crate) struct Enumeration<'a> {
    name: &'a str,
    pub(crate) basic: &'a str,
    values: &'a str,
}

impl<'a> Enumeration<'a> {
    pub(crate) fn of(ty: &'a str) -> Option<Self> {
        let (name, values) = ty.strip_suffix('}')?.split_once(VALUES)?;
        let (basic, values) = values.split_once(": ")?;
        Some(Self { name, basic, values })
    }

    /// The numbers of the variants, by name.
    pub(crate) fn variants(&self) -> Entries<'a> {
        Entries::new(self.values, ", ", " = ")
    }
}

impl fmt::Display for Enumeration<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} as {}", shown(self.name), shown(self.basic))
    }
}

/// The entries of a text, each a key and a value. They are found by their keys; of equal keys, the first counts.
pub(crate) struct Entries<'a> {
    text: &'a str,
    between: &'static str,
    colon: &'static str,
    /// The bytes at which the entries start, in the order of their keys.
    starts: Vec<u32>,
}

impl<'a> Entries<'a> {
    fn new(text: &'a str, between: &'static str, colon: &'static str) -> Self {
        let mut entries = Self { text, between, colon, starts: Vec::new() };
        let mut starts: Vec<u32> = entries.all().map(|(start, _)| start).collect();
        starts.sort_unstable_by_key(|start| (entries.key(*start), *start));
        starts.dedup_by_key(|start| entries.key(*start));
        entries.starts = starts;
        entries
    }

    /// All entries and where they start. A text that is parsed is shorter than 4 GiB.
    fn all(&self) -> impl Iterator<Item = (u32, (&'a str, &'a str))> {
        let (colon, step, mut start) = (self.colon, self.between.len(), 0);
        self.text.split(self.between).filter_map(move |entry| {
            let here = u32::try_from(start).ok()?;
            start += entry.len() + step;
            Some((here, entry.split_once(colon)?))
        })
    }

    /// The entries in the order of the text.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let first =
            |start: u32, key: &str| self.position(key).is_ok_and(|at| self.starts[at] == start);
        self.all().filter(move |(start, (key, _))| first(*start, key)).map(|(_, entry)| entry)
    }

    fn entry(&self, start: u32) -> (&'a str, &'a str) {
        let rest = self.text.get(start as usize..).unwrap_or_default();
        let entry = rest.split(self.between).next().unwrap_or_default();
        entry.split_once(self.colon).unwrap_or_default()
    }

    fn key(&self, start: u32) -> &'a str {
        self.entry(start).0
    }

    fn position(&self, key: &str) -> Result<usize, usize> {
        self.starts.binary_search_by_key(&key, |start| self.key(*start))
    }

    pub(crate) fn get(&self, key: &str) -> Option<&'a str> {
        self.position(key).ok().map(|at| self.entry(self.starts[at]).1)
    }
}
