//! Compares a stored datatype with a type map, field by field.

use crate::convert::{Axis, Conversion, Count, What};
use crate::number::Numbers;
use crate::{Access, Item, Misfit, ReadOptions, StoredField, joined};
use dtype_runtime::Type;
use dtype_runtime::representation::ByteOrder;
use dtype_runtime::typemap::{Field, Meaning, Node, TypeMap};

/// The values that are copied without conversion: their places in an item, and in a packed record. Both have the same
/// signature.
pub(crate) struct Moved {
    pub(crate) stored: Type,
    pub(crate) packed: Type,
}

pub(crate) struct Walk {
    access: Access,
    options: ReadOptions,
    /// Whether the copied values of a structure are in the order of the item. Otherwise they are in the order of the record.
    by_item: bool,
    /// The byte order of the values so far.
    pub(crate) order: Option<ByteOrder>,
    /// Whether the values so far are packed.
    pub(crate) is_packed: bool,
    /// Bytes from the start of the item to the value or structure; in arrays, to the first one.
    stored: u64,
    /// The same in a packed record.
    packed: usize,
    /// The arrays around it, the outermost first.
    axes: Vec<Axis>,
    /// The structures around it that count their values, the outermost first.
    counts: Vec<Count>,
    pub(crate) conversions: Vec<Conversion>,
    /// Fields that the item lacks.
    pub(crate) missing: Vec<Missing>,
    pub(crate) left_out: Vec<String>,
}

/// A field of a record that an item lacks, and its place.
pub(crate) struct Missing {
    packed: usize,
    axes: Vec<Axis>,
    field: Field,
}

impl Missing {
    /// Writes the default to its places in a packed record.
    pub(crate) fn fill(&self, order: ByteOrder, record: &mut [u8]) {
        let value = self.field.default_in(order).unwrap_or_default();
        fill(&value, self.packed, &self.axes, record);
    }
}

fn fill(value: &[u8], at: usize, axes: &[Axis], record: &mut [u8]) {
    match axes.split_first() {
        None => record[at..][..value.len()].copy_from_slice(value),
        Some((axis, inner)) => {
            for index in 0..axis.length {
                fill(value, at + index * axis.packed, inner, record);
            }
        }
    }
}

impl Walk {
    pub(crate) fn new(access: Access, options: ReadOptions, order: Option<ByteOrder>) -> Self {
        Self {
            access,
            options,
            by_item: false,
            order,
            is_packed: true,
            stored: 0,
            packed: 0,
            axes: Vec::new(),
            counts: Vec::new(),
            conversions: Vec::new(),
            missing: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// The same with the copied values in the order of the item, so that they are one run if the item has no others.
    pub(crate) fn by_item(self) -> Self {
        Self { by_item: true, ..self }
    }

    /// Compares an item with a map. The result is `None` if all values are converted.
    pub(crate) fn item<I: Item>(
        &mut self,
        stored: &I,
        map: &TypeMap,
        path: &str,
    ) -> Result<Option<Moved>, I::Error> {
        let (mut expected, mut element) = (Vec::new(), map);
        while let Node::Array { count, element: inner } = *element.node() {
            expected.push(count as u64);
            element = inner;
        }
        let (actual, item) = stored.axes();
        // An axis of one element does not change the values: PyTables writes single values with it.
        let longer = |lengths: &[u64]| -> Vec<u64> {
            lengths.iter().copied().filter(|length| *length != 1).collect()
        };
        if expected != actual && longer(&expected) != longer(&actual) {
            return Err(Misfit::Shape { field: path.to_owned(), expected, actual }.into());
        }
        let malformed = || Misfit::Malformed { field: path.to_owned() };
        let sizes = (item.size(), element.size());
        let (count, axes) = axes(&expected, sizes, path.len()).ok_or_else(malformed)?;
        // A format may contradict itself: without this check, values outside the item could be converted.
        if item.size().checked_mul(count) != Some(stored.size()) {
            return Err(malformed().into());
        }
        let outer = self.axes.len();
        self.axes.extend(axes);
        let one = match *element.node() {
            Node::Structure { fields, .. } => self.structure(item, element, fields, path)?,
            // The loop above ends at another node than an array.
            _ => self.value(item, element, path)?,
        };
        self.axes.truncate(outer);
        match one {
            Some(Moved { stored, packed }) if !expected.is_empty() => {
                let array = |one| Type::contiguous(count, &one).map_err(|_| malformed());
                Ok(Some(Moved { stored: array(stored)?, packed: array(packed)? }))
            }
            other => Ok(other),
        }
    }

    fn value<I: Item>(
        &mut self,
        item: &I,
        leaf: &TypeMap,
        path: &str,
    ) -> Result<Option<Moved>, I::Error> {
        let Node::Basic { basic, .. } = *leaf.node() else {
            return Err(Misfit::Malformed { field: path.to_owned() }.into());
        };
        let Some(value) = item.value(leaf, path, self.access)? else {
            let Some(numbers) = Numbers::new(item.number(leaf), leaf, self.options) else {
                let (expected, actual) = (I::expected(leaf), item.describe());
                return Err(Misfit::Format { field: path.to_owned(), expected, actual }.into());
            };
            self.convert(What::Number(numbers), item.size(), path)?;
            return Ok(None);
        };
        if let Some(order) = value.order
            && *self.order.get_or_insert(order) != order
        {
            return Err(Misfit::MixedByteOrder { field: path.to_owned() }.into());
        }
        if let Some(numbers) = value.renumbered {
            let order = value.order.unwrap_or(ByteOrder::NATIVE);
            self.convert(What::Renumber { size: basic.size(), order, numbers }, item.size(), path)?;
            return Ok(None);
        }
        let one = Type::basic(basic);
        Ok(Some(Moved { stored: one.clone(), packed: one }))
    }

    /// Adds a conversion of values of this size in an item.
    fn convert(&mut self, what: What, size: u64, path: &str) -> Result<(), Misfit> {
        let malformed = || Misfit::Malformed { field: path.to_owned() };
        if what.stored_size().is_none_or(|needed| needed as u64 > size) {
            return Err(malformed());
        }
        self.conversions.push(Conversion {
            path: path.to_owned(),
            stored: usize::try_from(self.stored).map_err(|_| malformed())?,
            packed: self.packed,
            axes: self.axes.clone(),
            counts: self.counts.clone(),
            what,
        });
        Ok(())
    }

    fn structure<I: Item>(
        &mut self,
        item: &I,
        map: &TypeMap,
        fields: &[Field],
        path: &str,
    ) -> Result<Option<Moved>, I::Error> {
        if map.meaning() == Some(Meaning::Text)
            && let Some(text) = item.text()
        {
            // The length is a number of four bytes.
            let capacity = map.size().saturating_sub(4);
            self.convert(What::Text { text, capacity }, item.size(), path)?;
            return Ok(None);
        }
        let Some(theirs) = item.fields() else {
            let (expected, actual) = (I::STRUCTURE.to_owned(), item.describe());
            return Err(Misfit::Format { field: path.to_owned(), expected, actual }.into());
        };
        let ours = || {
            fields
                .iter()
                .filter_map(|field| Some((field.name(), field.map()?, field)))
                .filter(|(_, map, _)| map.size() > 0)
        };
        let (meaning, mut found, mut position) = (map.meaning(), 0, 0);
        let mut members = Vec::new();
        let (outer, outer_packed, outer_counts) = (self.stored, self.packed, self.counts.len());
        for (name, map, default) in ours() {
            let path = joined(path, name);
            let is_it = |their: &&StoredField<'_, I>| their.name == name;
            let Some(their) = theirs.iter().find(is_it) else {
                self.missing(default, map, outer_packed + position, path)?;
                position += map.size();
                continue;
            };
            found += 1;
            self.is_packed &= their.offset == position as u64;
            let malformed = || Misfit::Malformed { field: path.clone() };
            let displacement = i64::try_from(their.offset).map_err(|_| malformed())?;
            let end = their.offset.checked_add(their.item.size());
            if end.is_none_or(|end| end > item.size()) {
                return Err(malformed().into());
            }
            self.stored = outer.checked_add(their.offset).ok_or_else(malformed)?;
            self.packed = outer_packed + position;
            if let Some(moved) = self.item(their.item, map, &path)? {
                members.push((displacement, position.cast_signed() as i64, moved));
            }
            // In a structure that counts its values, the first field is their number.
            if let (0, Some(of @ (Meaning::Optional | Meaning::List))) = (position, meaning) {
                self.counts.push(Count {
                    packed: outer_packed,
                    size: map.size(),
                    axes: self.axes.len(),
                    is_list: of == Meaning::List,
                });
            }
            position += map.size();
        }
        (self.stored, self.packed) = (outer, outer_packed);
        self.counts.truncate(outer_counts);
        // There are equally many, and each field of the type was found; so there are no others, unless a name is repeated.
        if theirs.len() != found {
            self.others(&theirs, |name| ours().any(|(field, ..)| field == name), path)?;
        }
        self.is_packed &= item.size() == position as u64;
        if members.is_empty() {
            return Ok(None);
        }
        if self.by_item {
            members.sort_by_key(|(displacement, ..)| *displacement);
        }
        let malformed = || Misfit::Malformed { field: path.to_owned() };
        let extent = i64::try_from(item.size()).map_err(|_| malformed())?;
        let stored = members.iter().map(|(at, _, moved)| (*at, moved.stored.clone()));
        let stored = structure(stored, extent).ok_or_else(malformed)?;
        let packed = members.iter().map(|(_, at, moved)| (*at, moved.packed.clone()));
        let packed = structure(packed, position.cast_signed() as i64).ok_or_else(malformed)?;
        Ok(Some(Moved { stored, packed }))
    }

    /// Notes the value of a field that the item lacks, if it has a default and that is allowed.
    fn missing(
        &mut self,
        field: &Field,
        map: &TypeMap,
        packed: usize,
        path: String,
    ) -> Result<(), Misfit> {
        let size = field.default_in(ByteOrder::NATIVE).map(|value| value.len());
        let is_allowed = self.options.defaults && self.access == Access::Read;
        if !is_allowed || size != Some(map.size()) {
            return Err(Misfit::Missing { field: path });
        }
        self.is_packed = false;
        self.missing.push(Missing { packed, axes: self.axes.clone(), field: *field });
        Ok(())
    }

    /// Leaves out fields that the type does not have, if that is allowed.
    fn others<I>(
        &mut self,
        theirs: &[StoredField<'_, I>],
        is_ours: impl Fn(&str) -> bool,
        path: &str,
    ) -> Result<(), Misfit> {
        for (i, their) in theirs.iter().enumerate() {
            let is_twice = theirs[..i].iter().any(|before| before.name == their.name);
            let is_other = !is_ours(their.name);
            if is_twice || is_other && !self.options.other_fields {
                return Err(Misfit::Unknown { field: joined(path, their.name) });
            }
            if is_other {
                self.left_out.push(joined(path, their.name));
            }
        }
        Ok(())
    }
}

/// A structure of these members at their displacements.
fn structure(members: impl Iterator<Item = (i64, Type)>, extent: i64) -> Option<Type> {
    let (displacements, types): (Vec<_>, Vec<_>) = members.unzip();
    let lengths = vec![1; types.len()];
    let all = Type::structure(&lengths, &displacements, &types).ok()?;
    Type::resized(&all, 0, extent).ok()
}

/// The number of elements of an array in the item, and its axes, the outermost first. `sizes` are the sizes of an element in
/// the item and in a packed record.
fn axes(lengths: &[u64], sizes: (u64, usize), path: usize) -> Option<(u64, Vec<Axis>)> {
    let (mut count, mut all) = (1_u64, Vec::new());
    for length in lengths.iter().rev() {
        let elements = usize::try_from(count).ok()?;
        all.push(Axis {
            length: usize::try_from(*length).ok()?,
            stored: usize::try_from(sizes.0.checked_mul(count)?).ok()?,
            packed: sizes.1.checked_mul(elements)?,
            path,
        });
        count = count.checked_mul(*length)?;
    }
    all.reverse();
    Some((count, all))
}
