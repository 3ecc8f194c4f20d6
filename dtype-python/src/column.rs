//! A field of a structured array as a column.

use dtype_npy::Kind;
use dtype_runtime::Type;
use numpy::PyArrayDescr;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::arrays::element;
use crate::error::of_engine;
use crate::memory::{Item, Memory};
use crate::transfer::Copy;

/// A field of a structure as a column.
pub(crate) struct Column {
    pub(crate) name: Py<PyString>,
    /// The dtype of the column, and the axes that it has besides that of the items.
    pub(crate) dtype: Py<PyArrayDescr>,
    pub(crate) shape: Vec<usize>,
    /// Bytes from the start of an item, and the values there.
    offset: usize,
    inside: Item,
    /// The values in the column.
    alone: Item,
    pub(crate) itemsize: usize,
}

impl Column {
    /// The columns of a layout; none if it is not a structure.
    pub(crate) fn all(
        dtype: &Bound<'_, PyArrayDescr>,
        item: &dtype_npy::Dtype,
    ) -> PyResult<Vec<Self>> {
        let Kind::Structure { fields } = item.kind() else { return Ok(Vec::new()) };
        let one = |field: &dtype_npy::DtypeField| {
            let object = dtype.get_item(&field.name)?.cast_into::<PyArrayDescr>()?;
            let alone = field.dtype.datatype().map_err(of_engine)?;
            // No size or offset exceeds that of an item in memory.
            let inside = Type::resized(&alone, 0, item.itemsize().cast_signed());
            let in_memory = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
            Ok(Self {
                name: PyString::new(dtype.py(), &field.name).unbind(),
                shape: field.dtype.axes().0.iter().map(|length| in_memory(*length)).collect(),
                dtype: element(&object).unbind(),
                offset: in_memory(field.offset),
                inside: Item::new(&inside.map_err(of_engine)?),
                alone: Item::new(&alone),
                itemsize: in_memory(field.dtype.itemsize()),
            })
        };
        fields.iter().map(one).collect()
    }

    /// The copy between this field of items and a contiguous column.
    pub(crate) fn copy(
        &self,
        items: &Memory,
        column: *mut u8,
        is_to_column: bool,
    ) -> PyResult<Copy<'_>> {
        let inside = items.at(self.offset);
        let alone = Memory::items(column, items.count, self.itemsize);
        let size = self.alone.size();
        let sides = self.inside.side(&inside).and_then(|one| Ok((one, self.alone.side(&alone)?)));
        let (inside, alone) = sides.map_err(of_engine)?;
        let (from, to) = if is_to_column { (inside, alone) } else { (alone, inside) };
        Ok(Copy::new(from, to, items.count, size))
    }
}
