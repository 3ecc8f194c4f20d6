//! Compares a dtype with a type map, field by field.

use crate::dtype::{Dtype, DtypeField, Kind};
use crate::error::{DtypeError, NpyError};
use dtype_runtime::Basic;
use dtype_runtime::Datatype;
use dtype_runtime::Type;
use dtype_runtime::representation::ByteOrder;
use dtype_runtime::typemap::{Field, Node, TypeMap};

/// A dtype whose items hold the fields of a Rust type, wherever they are.
pub(crate) struct Fit {
    /// An item as a datatype: the values in the order of the packed records, at their displacements in the item, with the
    /// item's extent.
    pub(crate) item: Type,
    /// The byte order of the values.
    pub(crate) order: ByteOrder,
    /// Why the items cannot be used in place.
    pub(crate) obstacle: Option<DtypeError>,
    /// The first value whose order is not [`order`](Self::order).
    mixed: Option<DtypeError>,
}

impl Fit {
    /// An error if there are values in both byte orders.
    pub(crate) fn check_one_order(&self) -> Result<(), DtypeError> {
        match &self.mixed {
            None => Ok(()),
            Some(mixed) => Err(mixed.clone()),
        }
    }
}

impl Dtype {
    /// Whether an item has the memory layout of `T`: the same fields by name, of the same format and shape, at the same
    /// offsets, with this machine's byte order, in items of the size of `T`. The order of the fields does not count.
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
        match fit(self, T::TYPE_MAP)?.obstacle {
            None => Ok(()),
            Some(obstacle) => Err(obstacle),
        }
    }

    /// An item as a datatype: the values of `T` in the order of its packed records, at their displacements in the item,
    /// with the item's extent. With it, [`Committed::pack`](dtype_runtime::Committed::pack) makes the packed records of `T` from
    /// items, whose fields may be at any offset and in any order. Their values have the byte order that is returned.
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
        let fit = fit(self, T::TYPE_MAP)?;
        fit.check_one_order()?;
        Ok((fit.item, fit.order))
    }
}

/// Compares the dtype of an item with a Rust type.
pub(crate) fn fit(dtype: &Dtype, map: &TypeMap) -> Result<Fit, DtypeError> {
    fit_in(dtype, map, None)
}

/// As [`fit`], where the values have this byte order, if it is known.
pub(crate) fn fit_in(
    dtype: &Dtype,
    map: &TypeMap,
    order: Option<ByteOrder>,
) -> Result<Fit, DtypeError> {
    let mut walk = Walk { order, obstacle: None, mixed: None };
    let item = walk.item(dtype, map, "")?;
    let Walk { order, obstacle, mixed } = walk;
    Ok(Fit { item, order: order.unwrap_or(ByteOrder::NATIVE), obstacle, mixed })
}

struct Walk {
    /// The byte order of the values so far.
    order: Option<ByteOrder>,
    obstacle: Option<DtypeError>,
    mixed: Option<DtypeError>,
}

impl Walk {
    fn item(&mut self, dtype: &Dtype, map: &TypeMap, path: &str) -> Result<Type, DtypeError> {
        let (mut lengths, mut element) = (Vec::new(), map);
        while let Node::Array { count, element: inner } = *element.node() {
            lengths.push(count as u64);
            element = inner;
        }
        let (actual, item) = dtype.axes();
        if lengths != actual {
            let (field, actual) = (path.to_owned(), actual.to_vec());
            return Err(DtypeError::Shape { field, expected: lengths, actual });
        }
        let one = match *element.node() {
            Node::Basic { basic, .. } => self.value(item, basic, path)?,
            Node::Structure { fields, .. } => self.structure(item, fields, element, path)?,
            // The loop above ends at another node.
            Node::Array { .. } => Type::basic(Basic::Byte),
        };
        let count = lengths.iter().fold(1_u64, |all, length| all.saturating_mul(*length));
        if lengths.is_empty() {
            Ok(one)
        } else {
            Type::contiguous(count, &one).map_err(|_| too_large(path, dtype))
        }
    }

    fn value(&mut self, dtype: &Dtype, basic: Basic, path: &str) -> Result<Type, DtypeError> {
        let expected = Dtype::of_basic(basic, ByteOrder::NATIVE);
        let same = match (dtype.kind(), expected.kind()) {
            (Kind::Scalar { letter, .. }, Kind::Scalar { letter: wanted, .. }) => letter == wanted,
            _ => false,
        };
        if !same || dtype.itemsize() != expected.itemsize() {
            let (expected, actual) = (expected.format(), dtype.format());
            return Err(DtypeError::Format { field: path.to_owned(), expected, actual });
        }
        let order = match dtype.kind() {
            Kind::Scalar { order: Some(order), .. } => Some(*order),
            // The bytes of a number that NumPy does not know are in this machine's order.
            _ if basic.size() > 1 => Some(ByteOrder::NATIVE),
            _ => None,
        };
        if let Some(actual) = order {
            if *self.order.get_or_insert(actual) != actual {
                let mixed = || DtypeError::MixedByteOrder { field: path.to_owned() };
                self.mixed.get_or_insert_with(mixed);
            }
            if actual != ByteOrder::NATIVE {
                self.obstacle(|| DtypeError::ByteOrder { field: path.to_owned(), actual });
            }
        }
        Ok(Type::basic(basic))
    }

    fn structure(
        &mut self,
        dtype: &Dtype,
        fields: &[Field],
        map: &TypeMap,
        path: &str,
    ) -> Result<Type, DtypeError> {
        let Kind::Structure { fields: theirs } = dtype.kind() else {
            let (expected, actual) = ("a structure".to_owned(), dtype.format());
            return Err(DtypeError::Format { field: path.to_owned(), expected, actual });
        };
        let inner = |name: &str| {
            if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
        };
        let ours = || {
            fields
                .iter()
                .filter_map(|field| Some((field, field.map()?)))
                .filter(|(_, map)| map.size() > 0)
        };
        let (mut displacements, mut types) = (Vec::new(), Vec::new());
        for (field, map) in ours() {
            let path = inner(field.name());
            let is_it = |their: &&DtypeField| their.name == field.name();
            let Some(their) = theirs.iter().find(is_it) else {
                return Err(DtypeError::Missing { field: path });
            };
            let (expected, actual) = (field.offset() as u64, their.offset);
            if expected != actual {
                self.obstacle(|| DtypeError::Offset { field: path.clone(), expected, actual });
            }
            types.push(self.item(&their.dtype, map, &path)?);
            // A dtype is not larger than this.
            displacements.push(actual.cast_signed());
        }
        // As many, and each of ours is there: no other is, unless a name is there twice.
        if theirs.len() != types.len() {
            let is_ours = |name: &str| ours().any(|(field, _)| field.name() == name);
            let unknown = theirs.iter().enumerate().find(|(i, their)| {
                !is_ours(&their.name) || theirs[..*i].iter().any(|before| before.name == their.name)
            });
            let field = inner(unknown.map_or("", |(_, their)| &their.name));
            return Err(DtypeError::Unknown { field });
        }
        let (expected, actual) = (map.stride() as u64, dtype.itemsize());
        if expected != actual {
            self.obstacle(|| DtypeError::ItemSize { field: path.to_owned(), expected, actual });
        }
        let lengths = vec![1; types.len()];
        let made = Type::structure(&lengths, &displacements, &types)
            .and_then(|all| Type::resized(&all, 0, actual.cast_signed()));
        made.map_err(|_| too_large(path, dtype))
    }

    /// Keeps the first obstacle.
    fn obstacle(&mut self, obstacle: impl FnOnce() -> DtypeError) {
        self.obstacle.get_or_insert_with(obstacle);
    }
}

/// A type map and a dtype nest too deep together, which no pair of real ones does.
fn too_large(path: &str, dtype: &Dtype) -> DtypeError {
    let (expected, actual): (String, String) =
        ("a shallower structure".to_string(), dtype.format());
    DtypeError::Format { field: path.to_owned(), expected, actual }
}
