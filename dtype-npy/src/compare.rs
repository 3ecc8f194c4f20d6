//! Compares a dtype with a type map, field by field.

use crate::dtype::{Dtype, DtypeField, Kind};
use crate::error::{DtypeError, NpyError};
use crate::options::NumpyLayout;
use crate::unit::DateUnit;
use dtype_runtime::representation::ByteOrder;
use dtype_runtime::typemap::{Node, TypeMap};
use dtype_runtime::{Datatype, Type};
use dtype_stored::{
    Access, Fit, Item, Loaded, Misfit, Number, NumberKind, ReadOptions, Scratch, StoredField, Text,
    TextEnd, Time, Value, joined,
};

impl Dtype {
    /// Whether an item has the memory layout of `T`: the same fields by name, of the same format and shape, at the same
    /// offsets, with this machine's byte order, in items of the size of `T`. The order of the fields does not matter.
    ///
    /// # Errors
    ///
    /// [`DtypeError`] with the first field that differs.
    ///
    /// ```
    /// use dtype_npy::{Dtype, NumpyOptions};
    ///
    /// #[derive(dtype_runtime::Datatype)]
    /// #[repr(C)]
    /// struct Sample {
    ///     valid: bool,
    ///     value: f64,
    /// }
    ///
    /// let memory = Dtype::of::<Sample>(&NumpyOptions::memory());
    /// assert!(memory.check_memory::<Sample>().is_ok());
    /// let packed = Dtype::of::<Sample>(&NumpyOptions::packed());
    /// assert_eq!(
    ///     packed.check_memory::<Sample>().unwrap_err().to_string(),
    ///     "field `value` is at offset 1 of the dtype, expected 8 to use it in place"
    /// );
    /// ```
    pub fn check_memory<T: Datatype>(&self) -> Result<(), DtypeError> {
        match Fit::<T>::new(self, Access::Read, ReadOptions::strict()) {
            // The other byte order is an obstacle, and so are two byte orders in one item.
            Ok(_) | Err(DtypeError::MixedByteOrder { .. }) => {
                in_place(self, T::TYPE_MAP, NumpyLayout::Memory, "")
            }
            Err(error) => Err(error),
        }
    }

    /// An item as a datatype: the values of `T` in the order of its packed records, at their displacements in the item, with
    /// the item's extent. With this datatype, [`Committed::pack`](dtype_runtime::Committed::pack) makes the packed records of
    /// `T` from items, whose fields may be at any offset and in any order. The values are in the byte order that is returned as
    /// well.
    ///
    /// # Errors
    ///
    /// [`NpyError::Dtype`] if the fields are not those of `T`, by name, with the same format and shape, or have several byte
    /// orders.
    ///
    /// ```
    /// use dtype_npy::{Dtype, NumpyOptions};
    /// use dtype_runtime::representation::ByteOrder;
    /// let aligned = Dtype::of::<(u8, u16)>(&NumpyOptions::memory().with_order(ByteOrder::Big));
    /// let (item, order) = aligned.item_type::<(u8, u16)>()?;
    /// assert_eq!((item.size(), item.extent(), order), (3, 4, ByteOrder::Big));
    /// # Ok::<(), dtype_npy::NpyError>(())
    /// ```
    pub fn item_type<T: Datatype>(&self) -> Result<(Type, ByteOrder), NpyError> {
        let fit = Fit::<T>::new(self, Access::Read, ReadOptions::strict())?;
        match (fit.first_converted(), fit.item_type()) {
            (None, Some(item)) => Ok((item.clone(), fit.order())),
            (Some(field), _) => Err(not_moved(field, self).into()),
            (None, None) => Err(NpyError::NoData),
        }
    }

    /// The records of `count` items, whose fields may be at any offset and in any order, and the fields that the items have
    /// besides those of `T`.
    ///
    /// A type that skips fields does not compile here, because nothing would initialise them.
    ///
    /// # Errors
    ///
    /// [`NpyError::Dtype`] if the fields are not those of `T`; [`NpyError::Records`] for a value that `T` does not have, and if
    /// `items` has another length.
    ///
    /// ```
    /// use dtype_npy::{Dtype, ReadOptions};
    /// use dtype_runtime::FixedStr;
    /// let dtype = Dtype::parse("'S3'")?;
    /// let names = dtype.unpack::<FixedStr<8>>(b"Ann\0\0\0Bo\0", 3, &ReadOptions::strict())?.records;
    /// assert_eq!(names, ["Ann", "", "Bo"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn unpack<T: Datatype>(
        &self,
        items: &[u8],
        count: usize,
        options: &ReadOptions,
    ) -> Result<Loaded<T>, NpyError> {
        let fit = Fit::<T>::new(self, Access::Read, *options)?;
        let mut records = Vec::new();
        fit.unpack_onto(items, 0..count, &mut Scratch::default(), &mut records)?;
        Ok(Loaded { records, left_out: fit.left_out().to_vec() })
    }

    /// The items of records, with zeros between the fields: what [`unpack`](Self::unpack) reads.
    ///
    /// # Errors
    ///
    /// [`NpyError::Dtype`] if the fields are not those of `T`; [`NpyError::Records`] for a value that the dtype does not have: a
    /// text that is too long, or that ends with a zero byte.
    ///
    /// ```
    /// use dtype_npy::{Dtype, NumpyOptions};
    /// use dtype_runtime::FixedStr;
    /// let dtype = Dtype::of::<FixedStr<3>>(&NumpyOptions::file());
    /// let items = dtype.pack::<FixedStr<3>>(&["ab".parse()?])?;
    /// assert_eq!(items, dtype_runtime::pack(&[u32::from('a'), u32::from('b'), 0]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn pack<T: Datatype>(&self, records: &[T]) -> Result<Vec<u8>, NpyError> {
        let fit = Fit::<T>::new(self, Access::Write, ReadOptions::strict())?;
        let mut items = Vec::new();
        fit.pack_into(records, &mut Scratch::default(), &mut items)?;
        Ok(items)
    }
}

fn stored_field(field: &DtypeField) -> StoredField<'_, Dtype> {
    StoredField { name: &field.name, offset: field.offset, item: &field.dtype }
}

/// The error for a field whose values would have to be converted, if the item is to be a datatype.
fn not_moved(field: &str, dtype: &Dtype) -> DtypeError {
    let (expected, actual) = ("its length and its bytes".to_owned(), dtype.format());
    DtypeError::Format { field: field.to_owned(), expected, actual }
}

impl Item for Dtype {
    type Error = DtypeError;

    const STRUCTURE: &'static str = "a structure";

    fn size(&self) -> u64 {
        self.itemsize()
    }

    fn axes(&self) -> (Vec<u64>, &Self) {
        let (lengths, element) = Self::axes(self);
        (lengths.to_vec(), element)
    }

    fn fields(&self) -> Option<Vec<StoredField<'_, Self>>> {
        let Kind::Structure { fields } = self.kind() else { return None };
        Some(fields.iter().map(stored_field).collect())
    }

    fn value(
        &self,
        leaf: &TypeMap,
        _path: &str,
        _access: Access,
    ) -> Result<Option<Value>, DtypeError> {
        let expected = Self::of_leaf(leaf, ByteOrder::NATIVE);
        let order = match (self.kind(), expected.kind()) {
            (
                Kind::Scalar { letter, unit, order },
                Kind::Scalar { letter: wanted, unit: wanted_unit, .. },
            ) if letter == wanted && unit == wanted_unit => *order,
            _ => return Ok(None),
        };
        if self.itemsize() != expected.itemsize() {
            return Ok(None);
        }
        // Bytes of a number that NumPy does not have are in this machine's order.
        let order = order.or((leaf.size() > 1).then_some(ByteOrder::NATIVE));
        Ok(Some(Value { order, renumbered: None }))
    }

    fn text(&self) -> Option<Text> {
        let Kind::Scalar { letter, order, .. } = *self.kind() else { return None };
        let size = usize::try_from(self.itemsize()).ok()?;
        match letter {
            'S' => Some(Text::Bytes { size, end: TextEnd::Zeros }),
            'U' => {
                let order = order.unwrap_or(ByteOrder::NATIVE);
                Some(Text::Characters { length: size / 4, order })
            }
            _ => None,
        }
    }

    fn number(&self, _leaf: &TypeMap) -> Option<Number> {
        let Kind::Scalar { letter, order, unit } = *self.kind() else { return None };
        let kind = match letter {
            'u' => NumberKind::Unsigned,
            'i' | 'M' | 'm' => NumberKind::Signed,
            'f' if matches!(self.itemsize(), 2 | 4 | 8) => NumberKind::Float,
            _ => return None,
        };
        let size = usize::try_from(self.itemsize()).ok()?;
        let time = unit.and_then(DateUnit::period);
        let time = time.map(|unit| Time { is_point: letter == 'M', unit, has_nat: true });
        Some(Number { kind, size, order: order.unwrap_or(ByteOrder::NATIVE), time })
    }

    fn describe(&self) -> String {
        self.format()
    }

    fn expected(leaf: &TypeMap) -> String {
        Self::of_leaf(leaf, ByteOrder::NATIVE).format()
    }
}

impl From<Misfit> for DtypeError {
    fn from(misfit: Misfit) -> Self {
        match misfit {
            Misfit::Missing { field } => Self::Missing { field },
            Misfit::Unknown { field } => Self::Unknown { field },
            Misfit::Format { field, expected, actual } => Self::Format { field, expected, actual },
            Misfit::Shape { field, expected, actual } => Self::Shape { field, expected, actual },
            Misfit::MixedByteOrder { field } => Self::MixedByteOrder { field },
            // A type map and a dtype that nest too deeply together. No real pair does.
            Misfit::Malformed { field } => {
                let (expected, actual) = ("a shallower structure", "a structure");
                Self::Format { field, expected: expected.to_owned(), actual: actual.to_owned() }
            }
        }
    }
}

/// Checks whether the items of a dtype that fits are the records themselves, in this layout. The error is the first obstacle.
pub(crate) fn in_place(
    dtype: &Dtype,
    map: &TypeMap,
    layout: NumpyLayout,
    path: &str,
) -> Result<(), DtypeError> {
    let (item, mut element) = (dtype.axes().1, map);
    while let Node::Array { element: inner, .. } = *element.node() {
        element = inner;
    }
    let Node::Structure { fields, .. } = *element.node() else {
        return match *item.kind() {
            Kind::Scalar { order: Some(actual), .. } if actual != ByteOrder::NATIVE => {
                Err(DtypeError::ByteOrder { field: path.to_owned(), actual })
            }
            _ => Ok(()),
        };
    };
    let Kind::Structure { fields: theirs } = item.kind() else {
        return Err(not_moved(path, item));
    };
    let is_packed = layout == NumpyLayout::Packed;
    let mut position = 0;
    for field in fields {
        let Some(map) = field.map().filter(|map| map.size() > 0) else { continue };
        let Some(their) = theirs.iter().find(|their| their.name == field.name()) else { continue };
        let path = joined(path, field.name());
        let expected = if is_packed { position } else { field.offset() } as u64;
        let actual = their.offset;
        if expected != actual {
            return Err(DtypeError::Offset { field: path, expected, actual });
        }
        in_place(&their.dtype, map, layout, &path)?;
        position += map.size();
    }
    let expected = if is_packed { position } else { element.stride() } as u64;
    let actual = item.itemsize();
    if expected == actual {
        Ok(())
    } else {
        Err(DtypeError::ItemSize { field: path.to_owned(), expected, actual })
    }
}
