//! One field of packed records.

use alloc::borrow::{Cow, ToOwned};
use alloc::string::ToString;
use core::fmt;
use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::ops::Range;

use crate::datatype::Datatype;
use crate::error::Error;
use crate::typed::{
    Packed, clean_copy, is_clean, packed_size, refuse_skipped_fields, unpack_record, unpack_records,
};
use crate::typemap::{Field, Node, TypeMap, first_of_path, next_segment};

impl<'a, T: Datatype> Packed<'a, T> {
    /// One field of all records, without the other fields. `path` is written as in Rust, and as in the messages of
    /// [`Error::InvalidValue`]: `"header.flags[2]"`, `"0.1"`. An empty path is the whole record.
    ///
    /// `F` is the field's type, or any datatype with the same type signature, such as `[f32; 3]` for a
    /// struct of three `f32`.
    ///
    /// # Errors
    ///
    /// - [`Error::NoField`] if the path leads to no field, or to a skipped one;
    /// - [`Error::FieldType`] if the field has another type signature than `F`;
    /// - [`Error::InvalidValue`] if `F` accepts fewer values than the field's type, and a record has another one. If `F` is
    ///   restricted, this check takes time linear in the number of records.
    pub fn column<F: Datatype>(&self, path: &str) -> Result<Column<'a, F>, Error> {
        Column::new(self.as_bytes(), self.len(), T::TYPE_MAP, path)
    }
}

/// One field of all records of a [`Packed`](crate::Packed), which
/// [`Packed::column`](crate::Packed::column) makes.
///
/// ```
/// use dtype_runtime::{Packed, pack};
///
/// let bytes = pack(&[(1_u8, 10_u32), (2, 20), (3, 30)]);
/// let packed = Packed::<(u8, u32)>::new(&bytes)?;
/// let mut numbers = [0; 3];
/// packed.column::<u32>("1")?.copy_to(&mut numbers)?;
/// assert_eq!(numbers, [10, 20, 30]);
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
pub struct Column<'a, F> {
    /// Whole records. In each of them, the packed bytes of a valid `F` begin at `position`.
    records: &'a [u8],
    /// The packed size of a record, not less than `position` plus the packed size of `F`.
    record: usize,
    position: usize,
    /// The range of the column's records, all within `records`.
    range: Range<usize>,
    /// Whether the packed bytes of the field are clean in all records.
    is_clean: bool,
    of: PhantomData<fn() -> F>,
}

impl<F> Clone for Column<'_, F> {
    fn clone(&self) -> Self {
        Self { range: self.range.clone(), ..*self }
    }
}

impl<F: Datatype> fmt::Debug for Column<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Column")
            .field("of", &format_args!("{}", F::TYPE_MAP))
            .field("len", &self.len())
            .finish()
    }
}

impl<'a, F: Datatype> Column<'a, F> {
    /// The field at `path` of the `count` valid records in `records`, whose map is `map`.
    fn new(
        records: &'a [u8],
        count: usize,
        map: &'static TypeMap,
        path: &str,
    ) -> Result<Self, Error> {
        let (field, position) = find(map, path)?;
        if field.fingerprint() != F::TYPE_MAP.fingerprint() || field.size() != F::TYPE_MAP.size() {
            let (asked, actual) = (F::TYPE_MAP.to_string(), field.to_string());
            return Err(Error::FieldType { path: path.to_owned(), asked, actual });
        }
        let mut column = Self {
            records,
            record: map.size(),
            position,
            range: 0..count,
            is_clean: true,
            of: PhantomData,
        };
        if const { F::TYPE_MAP.is_restricted() } {
            for index in 0..count {
                column.is_clean &= is_clean::<F>(column.bytes(index), 1)
                    .map_err(|error| error.records_later(index))?;
            }
        }
        Ok(column)
    }

    /// The packed bytes of the field in a record, which must be one of `range`.
    #[inline]
    fn bytes(&self, record: usize) -> &'a [u8] {
        let start = record * self.record + self.position;
        &self.records[start..start + packed_size::<F>(1)]
    }

    /// The packed bytes of the field in a record, which must be one of `range`, clean.
    #[inline]
    fn clean_bytes(&self, record: usize) -> Cow<'a, [u8]> {
        let bytes = self.bytes(record);
        if self.is_clean { Cow::Borrowed(bytes) } else { Cow::Owned(clean_copy::<F>(bytes)) }
    }

    /// The number of records.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// Unpacks the field of the record at `index`; `None` if `index` is not less than [`len`](Self::len).
    ///
    /// A type that skips fields does not compile here, because nothing would initialise them.
    pub fn get(&self, index: usize) -> Option<F> {
        const { refuse_skipped_fields::<F>(NOT_INITIALISED) }
        if index >= self.len() {
            return None;
        }
        let value = self.clean_bytes(self.range.start + index);
        // SAFETY: the record is one of `range`, so its bytes are valid for `F`, which skips no fields.
        Some(unsafe { unpack_record(&value) })
    }

    /// Unpacks the field of each record, from either end.
    ///
    /// A type that skips fields does not compile here, because nothing would initialise them.
    pub fn iter(&self) -> ColumnIter<'a, F> {
        const { refuse_skipped_fields::<F>(NOT_INITIALISED) }
        ColumnIter { rest: self.clone() }
    }

    /// Unpacks the field of each record over `items`. Padding and skipped fields are unchanged.
    ///
    /// # Errors
    ///
    /// [`Error::PackedLength`] if there are not as many records as items; nothing is written then.
    pub fn copy_to(&self, items: &mut [F]) -> Result<(), Error> {
        if items.len() != self.len() {
            let (expected, actual) = (packed_size::<F>(items.len()), packed_size::<F>(self.len()));
            return Err(Error::PackedLength { expected: expected as u64, actual: actual as u64 });
        }
        for (record, item) in self.range.clone().zip(items) {
            // SAFETY: the record is one of `range`, so its bytes are valid for `F`; the item is borrowed
            // exclusively, so the bytes do not overlap it.
            unsafe { unpack_records::<F>(&self.clean_bytes(record), item, 1) };
        }
        Ok(())
    }
}

/// The map of the field at `path`, and its position in the packed record.
///
/// A path is a sequence of names, each after a `.` except at the start, and of indices in brackets.
fn find(map: &'static TypeMap, path: &str) -> Result<(&'static TypeMap, usize), Error> {
    let (mut map, mut position, mut rest) = (map, 0, path);
    while !rest.is_empty() {
        // `rest` is at a name or at a bracket.
        let Some((field, offset, next)) = part(map, rest) else {
            let (parent, field) = (map.to_string(), rest.to_owned());
            return Err(Error::NoField { path: path.to_owned(), parent, field });
        };
        (map, position, rest) = (field, position + offset, next);
    }
    Ok((map, position))
}

/// The part of a type that the first segment of a path names, `"[2]"` or `"flags"`; its position in the packed bytes of the
/// whole; and the next segments.
fn part<'p>(map: &TypeMap, path: &'p str) -> Option<(&'static TypeMap, usize, &'p str)> {
    match *map.node() {
        Node::Basic { .. } => None,
        Node::Array { count, element } => {
            let (digits, rest) = path.strip_prefix('[')?.split_once(']')?;
            let (index, next) = (index(digits)?, next_segment(rest)?);
            // No overflow, because the element is part of the array.
            (index < count).then(|| (element, index * element.size(), next))
        }
        Node::Structure { fields, .. } => {
            let (index, next) = first_of_path(fields, path)?;
            let before = fields[..index].iter().filter_map(Field::map);
            Some((fields[index].map()?, before.map(TypeMap::size).sum(), next))
        }
    }
}

/// The index in brackets. Each element has only one path, so `+1` and `01`, which `parse` would accept, are refused.
fn index(digits: &str) -> Option<usize> {
    let is_canonical = digits == "0" || digits.starts_with(|first| matches!(first, '1'..='9'));
    if is_canonical { digits.parse().ok() } else { None }
}

impl<'a, F: Datatype> IntoIterator for Column<'a, F> {
    type Item = F;
    type IntoIter = ColumnIter<'a, F>;

    fn into_iter(self) -> ColumnIter<'a, F> {
        self.iter()
    }
}

impl<'a, F: Datatype> IntoIterator for &Column<'a, F> {
    type Item = F;
    type IntoIter = ColumnIter<'a, F>;

    fn into_iter(self) -> ColumnIter<'a, F> {
        self.iter()
    }
}

/// Iterator over a [`Column`].
pub struct ColumnIter<'a, F> {
    rest: Column<'a, F>,
}

impl<F> Clone for ColumnIter<'_, F> {
    fn clone(&self) -> Self {
        Self { rest: self.rest.clone() }
    }
}

impl<F: Datatype> fmt::Debug for ColumnIter<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ColumnIter").field("rest", &self.rest).finish()
    }
}

impl<F: Datatype> Iterator for ColumnIter<'_, F> {
    type Item = F;

    fn next(&mut self) -> Option<F> {
        self.nth(0)
    }

    fn nth(&mut self, n: usize) -> Option<F> {
        let value = self.rest.get(n);
        let Range { start, end } = self.rest.range;
        self.rest.range.start = start.saturating_add(n).saturating_add(1).min(end);
        value
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.rest.len(), Some(self.rest.len()))
    }
}

impl<F: Datatype> DoubleEndedIterator for ColumnIter<'_, F> {
    fn next_back(&mut self) -> Option<F> {
        let last = self.rest.len().checked_sub(1)?;
        let value = self.rest.get(last);
        self.rest.range.end -= 1;
        value
    }
}

impl<F: Datatype> ExactSizeIterator for ColumnIter<'_, F> {}
impl<F: Datatype> FusedIterator for ColumnIter<'_, F> {}

const NOT_INITIALISED: &str =
    "this type skips fields, which nothing would initialise: use `copy_to`";
