//! Arrays of structs as columns, one array for each field, and back.
//!
//! The records are visited in batches that stay in the first-level cache: for each batch, all columns are copied one after
//! another.
//!
//! ```text
//! records   x y y k . | x y y k . | x y y k .        struct { x: f64, y: [f32; 2], k: u8 }
//! columns   x: x x x     y: y y y y y y     k: k k k
//! ```

mod column;
mod copy;
mod leaf;
mod storage;

use alloc::alloc::handle_alloc_error;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use crate::basic::Basic;
use crate::datatype::Datatype;
use crate::error::Error;
use crate::kernel::{Pack, Unpack};
use crate::typed::{
    self, Layout, NOT_INITIALISED, clear_spare, is_clean, packed_size, refuse_skipped_fields, view,
    view_mut, with_room,
};
pub use column::{Column, ColumnIter};
use copy::{Leaves, each};
use leaf::{Found, Leaf, Route};
use storage::Storage;

/// The fields of records as arrays, one for each field: made by [`columns`](crate::columns), and turned back into records by
/// [`to_records`](Self::to_records).
///
/// A column is a basic datatype. Its path consists of the names on the way to it: `"position"`, `"header.flags"`, `"0.1"` for
/// tuples; it is empty if the records themselves are of a basic datatype. Arrays on the way are axes of the column: the column
/// `"tags.kind"` of a `tags: [Tag; 2]` has two elements for each record, one after the other. Skipped fields are not columns.
///
/// ```
/// use dtype_runtime::{Datatype, columns};
///
/// #[derive(Datatype, Clone, Debug, PartialEq)]
/// struct Particle {
///     position: [f64; 3],
///     spin: (i8, bool),
/// }
///
/// let particles = [
///     Particle { position: [1.0, 2.0, 3.0], spin: (1, true) },
///     Particle { position: [4.0, 5.0, 6.0], spin: (-1, false) },
/// ];
/// let mut columns = columns(&particles);
/// assert_eq!(columns.get::<[f64; 3]>("position")?[1], [4.0, 5.0, 6.0]);
/// assert_eq!(columns.get::<f64>("position")?.len(), 6);
/// assert_eq!(columns.get::<i8>("spin.0")?, [1, -1]);
/// columns.get_mut::<bool>("spin.1")?[1] = true;
/// assert!(columns.to_records()?[1].spin.1);
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
pub struct Columns<T> {
    len: usize,
    /// A column for each leaf; `None` if it was taken.
    storages: Vec<Option<Storage>>,
    /// Whether the columns are valid values of `T`: they came from records and were not written since.
    is_valid: bool,
    of: PhantomData<fn() -> T>,
}

/// A column, without its values.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnField {
    /// The names on the way to the field, with dots between them.
    pub path: String,
    /// The basic datatype of the elements.
    pub basic: Basic,
    /// Elements along each axis in a record, the outermost first; none for a single value.
    pub lengths: Vec<usize>,
}

/// One array for each field of the records: see [`Columns`].
///
/// On processors with AVX-512, short fields of small records are extracted for several records at a time.
///
/// ```
/// let columns = dtype_runtime::columns(&[(1_u8, 2.5_f32), (3, 4.5)]);
/// assert_eq!(columns.get::<u8>("0")?, [1, 3]);
/// assert_eq!(columns.get::<f32>("1")?, [2.5, 4.5]);
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
#[must_use]
pub fn columns<T: Datatype>(records: &[T]) -> Columns<T> {
    let filled = Columns::uninitialised(records.len()).and_then(|mut columns| {
        columns.fill(records)?;
        Ok(columns)
    });
    filled.unwrap_or_else(|_| handle_alloc_error(core::alloc::Layout::for_value(records)))
}

/// The index of the column at a path, if its values are those of `F`.
fn index_of<T: Datatype, F: Datatype>(path: &str) -> Result<usize, Error> {
    let asked = F::TYPE_MAP;
    let other = |actual: String| {
        let (path, asked) = (path.to_owned(), asked.to_string());
        Error::FieldType { path, asked, actual }
    };
    let index = match leaf::find(T::TYPE_MAP, path) {
        Found::Leaf(index) => index,
        Found::Structure(map) => return Err(other(map.to_string())),
        Found::Nothing { parent, rest } => {
            let (path, parent) = (path.to_owned(), parent.to_string());
            return Err(Error::NoField { path, parent, field: rest });
        }
    };
    let Route { map, lengths, .. } = leaf::route(T::TYPE_MAP, index);
    // The element, or an array of the innermost axes.
    let (mut fingerprint, mut size) = (map.fingerprint(), map.size());
    for length in lengths.iter().rev().map(Some).chain([None]) {
        if fingerprint == asked.fingerprint() && size == asked.size() {
            return Ok(index);
        }
        if let Some(length) = length {
            (fingerprint, size) = (fingerprint.repeated(*length as u64), size * length);
        }
    }
    let arrays =
        lengths.iter().rev().fold(map.to_string(), |of, length| format!("[{of}; {length}]"));
    Err(other(arrays))
}

/// The error for a column that was taken.
fn taken<T: Datatype>(path: &str) -> Error {
    let (path, parent) = (path.to_owned(), format!("Columns<{}>", T::TYPE_MAP));
    Error::NoField { field: path.clone(), path, parent }
}

impl<T: Datatype> Columns<T> {
    /// Columns of zeros for this number of records, to be written to.
    ///
    /// # Errors
    ///
    /// [`Error::Allocation`] if the columns do not fit in memory.
    pub fn zeroed(len: usize) -> Result<Self, Error> {
        let mut columns = Self::uninitialised(len)?;
        for storage in columns.storages.iter_mut().flatten() {
            storage.zero();
        }
        Ok(columns)
    }

    /// Columns with uninitialised bytes, which must be written first.
    fn uninitialised(len: usize) -> Result<Self, Error> {
        let leaves = Leaves::<T>::all();
        let mut storages = Vec::with_capacity(leaves.len());
        for leaf in leaves.iter() {
            let bytes = leaf.size().checked_mul(len);
            match bytes.and_then(|bytes| Storage::uninitialised(bytes, leaf.basic().align())) {
                None => return Err(Error::Allocation { count: len, stride: size_of::<T>() }),
                storage => storages.push(storage),
            }
        }
        Ok(Self { len, storages, is_valid: false, of: PhantomData })
    }

    /// Replaces all columns by those of these records. The memory is reused if the number of records is the same and no column
    /// was taken.
    ///
    /// # Errors
    ///
    /// [`Error::Allocation`] if the columns do not fit in memory; nothing changes then.
    pub fn fill(&mut self, records: &[T]) -> Result<(), Error> {
        if self.len != records.len() || self.storages.iter().any(Option::is_none) {
            // Without records, nothing is written below, and there are no bytes to initialise.
            *self = Self::uninitialised(records.len())?;
        }
        if const { T::TYPE_MAP.size() == 0 } {
            // There may be up to `usize::MAX` records without data: too many for a loop.
            self.is_valid = true;
            return Ok(());
        }
        let base = records.as_ptr().cast::<u8>().cast_mut();
        let leaves = Leaves::<T>::all();
        let batch = Leaves::<T>::at_a_time();
        for first in (0..records.len()).step_by(batch) {
            let count = batch.min(records.len() - first);
            let memory = base.wrapping_add(first * size_of::<T>());
            let starts =
                self.storages.iter_mut().map(|storage| storage.as_mut().map(Storage::start));
            // SAFETY: the leaves were computed from the map of `T`, so they name data of each record, which by the promise of
            // `Datatype` are initialised; they are only read. Each column has room for those of all records, and is borrowed
            // exclusively.
            unsafe { each::<T, Pack>(&leaves, first, count, memory, starts) };
        }
        self.is_valid = true;
        Ok(())
    }

    /// The number of records.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no records.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The columns, in the order of the packed record, including those that were taken.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = ColumnField> + use<T> {
        Self::all_fields()
    }

    /// As [`fields`](Self::fields), which are the same for all records of `T`.
    pub fn all_fields() -> impl ExactSizeIterator<Item = ColumnField> + use<T> {
        (0..Leaves::<T>::COUNT).map(|index| {
            let Route { path, lengths, .. } = leaf::route(T::TYPE_MAP, index);
            let basic = Leaf::new(T::TYPE_MAP, index).basic();
            ColumnField { path, basic, lengths }
        })
    }

    /// The column at a path. `F` is the type of its elements, or an array of the innermost axes: for a field of `[f64; 3]`,
    /// `f64` or `[f64; 3]`. It may be any type with this signature that is all data, as for [`view`](crate::view).
    ///
    /// # Errors
    ///
    /// - [`Error::NoField`] if the path leads to no column, or to one that was taken;
    /// - [`Error::FieldType`] if the column has another type, or the path leads to a struct;
    /// - [`Error::InvalidValue`] if `F` does not accept the values.
    pub fn get<F: Datatype>(&self, path: &str) -> Result<&[F], Error> {
        let index = index_of::<T, F>(path)?;
        match self.storages.get(index) {
            Some(Some(storage)) => view(storage.bytes()),
            _ => Err(taken::<T>(path)),
        }
    }

    /// As [`get`](Self::get), for writing. [`to_records`](Self::to_records) checks the values afterwards.
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    pub fn get_mut<F: Datatype>(&mut self, path: &str) -> Result<&mut [F], Error> {
        let index = index_of::<T, F>(path)?;
        self.is_valid = false;
        match self.storages.get_mut(index) {
            Some(Some(storage)) => view_mut(storage.bytes_mut()),
            _ => Err(taken::<T>(path)),
        }
    }

    /// Copies values to a column.
    ///
    /// # Errors
    ///
    /// [`Error::NoField`] and [`Error::FieldType`] as for [`get`](Self::get); [`Error::PackedLength`] if there are more or
    /// fewer values than the column has.
    ///
    /// ```
    /// use dtype_runtime::Columns;
    /// let mut columns = Columns::<(u16, bool)>::zeroed(2)?;
    /// columns.set::<u16>("0", &[7, 8])?;
    /// columns.set("1", &[true, false])?;
    /// assert_eq!(columns.to_records()?, [(7, true), (8, false)]);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn set<F: Datatype>(&mut self, path: &str, values: &[F]) -> Result<(), Error> {
        let index = index_of::<T, F>(path)?;
        let Some(Some(storage)) = self.storages.get_mut(index) else {
            return Err(taken::<T>(path));
        };
        let column = storage.bytes_mut();
        let (expected, actual) = (column.len() as u64, packed_size::<F>(values.len()) as u64);
        if expected != actual {
            return Err(Error::PackedLength { expected, actual });
        }
        self.is_valid = false;
        typed::pack_into(values, column).map(drop)
    }

    /// Removes the column at a path and returns it as a vector, without a copy if `F` has the alignment of the column's
    /// basic datatype.
    ///
    /// # Errors
    ///
    /// The errors of [`get`](Self::get), and [`Error::Allocation`]. In either case, the column stays.
    pub fn take<F: Datatype>(&mut self, path: &str) -> Result<Vec<F>, Error> {
        self.take_raw(index_of::<T, F>(path)?)
    }

    /// As [`take`](Self::take), for the column with this index in [`all_fields`](Self::all_fields) and any type whose values the
    /// bytes are: for a format that stores a `bool` in a bit, the bytes as `u8`.
    ///
    /// # Errors
    ///
    /// In each case, the column stays:
    ///
    /// - [`Error::NoField`] if the column was taken, or there are fewer;
    /// - [`Error::PartialRecord`] if the bytes are not whole values of `F`;
    /// - [`Error::InvalidValue`] if `F` does not accept a value;
    /// - [`Error::Allocation`] if a copy does not fit in memory.
    pub fn take_raw<F: Datatype>(&mut self, index: usize) -> Result<Vec<F>, Error> {
        const { refuse_skipped_fields::<F>(NOT_INITIALISED) }
        let place = self.storages.get_mut(index).and_then(|place| Some((place.take()?, place)));
        let Some((storage, place)) = place else {
            return Err(taken::<T>(&leaf::route(T::TYPE_MAP, index).path));
        };
        if const { F::TYPE_MAP.is_packed() }
            && let Err(error) = typed::view_memory::<F>(storage.bytes())
            && !matches!(error, Error::Misaligned { .. })
        {
            *place = Some(storage);
            return Err(error);
        }
        let storage = if const { F::TYPE_MAP.is_packed() } {
            // SAFETY: all bytes of `F` are data, in the order of the map, and the view has just accepted these bytes as whole
            // values of it. If they are not aligned, the alignment is not that of `F` either.
            match unsafe { storage.into_vec::<F>() } {
                Ok(mut values) => {
                    clear_spare(&mut values);
                    return Ok(values);
                }
                Err(storage) => storage,
            }
        } else {
            storage
        };
        match typed::unpack(storage.bytes()) {
            Ok(values) => Ok(values),
            Err(error) => {
                *place = Some(storage);
                Err(error)
            }
        }
    }

    /// Copies bytes to the column with this index. They are checked when a column is viewed or records are made.
    ///
    /// # Errors
    ///
    /// - [`Error::NoField`] if the column was taken, or there are fewer;
    /// - [`Error::PackedLength`] for another number of bytes than the column has.
    pub fn set_raw(&mut self, index: usize, bytes: &[u8]) -> Result<(), Error> {
        let Some(Some(storage)) = self.storages.get_mut(index) else {
            return Err(taken::<T>(&leaf::route(T::TYPE_MAP, index).path));
        };
        let column = storage.bytes_mut();
        if column.len() != bytes.len() {
            let (expected, actual) = (column.len() as u64, bytes.len() as u64);
            return Err(Error::PackedLength { expected, actual });
        }
        column.copy_from_slice(bytes);
        self.is_valid = false;
        Ok(())
    }

    /// The shape of the column at a path, with elements of type `F`.
    #[cfg(feature = "ndarray")]
    pub(crate) fn shape<F: Datatype>(&self, path: &str) -> Result<Vec<usize>, Error> {
        let index = index_of::<T, F>(path)?;
        let Route { map, lengths: mut shape, .. } = leaf::route(T::TYPE_MAP, index);
        let mut size = map.size();
        while size < F::TYPE_MAP.size() {
            size = size.saturating_mul(shape.pop().unwrap_or(usize::MAX));
        }
        shape.insert(0, self.len);
        Ok(shape)
    }

    /// The records.
    ///
    /// A type that skips fields does not compile here, because nothing would initialise them: use
    /// [`write_to`](Self::write_to).
    ///
    /// # Errors
    ///
    /// As for [`write_to`](Self::write_to); [`Error::Allocation`] if the records do not fit in memory.
    pub fn to_records(&self) -> Result<Vec<T>, Error> {
        const { refuse_skipped_fields::<T>(NOT_INITIALISED) }
        let is_clean = self.check()?;
        let mut items = with_room(self.len)?;
        // SAFETY: the vector has room for the records, and the columns were checked. All data bytes are written, and a type
        // that skips fields was refused: by the promise of `Datatype` these are values.
        unsafe {
            self.scatter_all(items.as_mut_ptr());
            items.set_len(self.len);
        }
        if !is_clean {
            clear_spare(&mut items);
        }
        Ok(items)
    }

    /// Writes the records over `items`. Padding and skipped fields are unchanged.
    ///
    /// # Errors
    ///
    /// - [`Error::PackedLength`] if there are not as many items as records;
    /// - [`Error::NoField`] if a column was taken;
    /// - [`Error::InvalidValue`] and [`Error::CheckFailed`] as for [`unpack`](crate::unpack), if the columns were written to.
    ///
    /// Nothing is written then.
    pub fn write_to(&self, items: &mut [T]) -> Result<(), Error> {
        let (expected, actual) = (packed_size::<T>(items.len()), packed_size::<T>(self.len));
        if items.len() != self.len {
            return Err(Error::PackedLength { expected: expected as u64, actual: actual as u64 });
        }
        let is_clean = self.check()?;
        // SAFETY: as many items as records, borrowed exclusively; the columns were checked.
        unsafe { self.scatter_all(items.as_mut_ptr()) };
        if !is_clean {
            clear_spare(items);
        }
        Ok(())
    }

    /// Checks that no column was taken and that the columns make valid values, and returns whether these are clean.
    fn check(&self) -> Result<bool, Error> {
        if let Some(index) = self.storages.iter().position(Option::is_none) {
            return Err(taken::<T>(&leaf::route(T::TYPE_MAP, index).path));
        }
        if self.is_valid || const { !T::TYPE_MAP.is_restricted() } {
            return Ok(true);
        }
        if const { T::TYPE_MAP.size() == 0 } {
            return is_clean::<T>(&[], self.len);
        }
        let mut all_clean = true;
        let batch = Leaves::<T>::TILE.min(self.len);
        let mut records = with_room::<T>(batch)?;
        let mut packed = alloc::vec![0; packed_size::<T>(batch)];
        for first in (0..self.len).step_by(Leaves::<T>::TILE) {
            let count = batch.min(self.len - first);
            let packed = &mut packed[..packed_size::<T>(count)];
            // SAFETY: there is room for the records. Their data are written, and only these are read, so the records need not
            // be valid.
            unsafe {
                self.scatter(first, count, records.as_mut_ptr());
                Layout::<T>::execute::<Pack>(
                    records.as_mut_ptr().cast(),
                    packed.as_mut_ptr(),
                    count,
                );
            }
            all_clean &=
                is_clean::<T>(packed, count).map_err(|error| error.records_later(first))?;
        }
        Ok(all_clean)
    }

    /// Writes all records.
    ///
    /// # Safety
    ///
    /// `items` must be valid for writing as many records as there are, and no column must have been taken.
    unsafe fn scatter_all(&self, items: *mut T) {
        if const { T::TYPE_MAP.size() == 0 } {
            return;
        }
        let batch = Leaves::<T>::at_a_time();
        for first in (0..self.len).step_by(batch) {
            let count = batch.min(self.len - first);
            // SAFETY: these are some of the records that `items` is valid for, and no column was taken: the caller guarantees
            // both.
            unsafe { self.scatter(first, count, items.wrapping_add(first)) };
        }
    }

    /// Writes the data of `count` records from record `first` on to `items`.
    ///
    /// # Safety
    ///
    /// There must be these records, `items` must be valid for writing them, and no column must have been taken.
    unsafe fn scatter(&self, first: usize, count: usize, items: *mut T) {
        let starts = self
            .storages
            .iter()
            .map(|storage| storage.as_ref().map(|storage| storage.bytes().as_ptr().cast_mut()));
        // SAFETY: the leaves name data of each record, inside of it; `Unpack` only reads the columns, which are long enough.
        // The caller guarantees that `items` is valid for writing these records.
        unsafe { each::<T, Unpack>(&Leaves::<T>::all(), first, count, items.cast(), starts) };
    }
}

impl<T: Datatype> fmt::Debug for Columns<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Columns")
            .field("of", &format_args!("{}", T::TYPE_MAP))
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}
