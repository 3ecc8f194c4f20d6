//! Reads files as records.

use std::fmt;
use std::io::Read;

use dtype_runtime::Basic;
use dtype_runtime::typemap::Node;
use dtype_runtime::{Buffer, Datatype, Error, Type};
use dtype_stored::{Access, Fit, Loaded, ReadOptions, Scratch};

use crate::dtype::Dtype;
use crate::error::NpyError;
use crate::header::Header;

pub(crate) const SKIPS_FIELDS: &str = "this type skips fields, which `read` could not initialise: unpack the items with `Dtype::item_type`";

/// Bytes of items that are read at a time.
const AT_ONCE: usize = 1 << 20;

/// Reads the records of a `.npy` file, in C order whatever the number of its axes; the reader is then at the first byte
/// after them. An array of several axes in Fortran order is read as a whole, and brought into C order. The dtype must have the
/// fields of `T`, by name, at any offset, all in one byte order. If `T` is an array, its axes are the last axes of the file; axes
/// of one element may be there or not. An `S` or a `U` becomes a [`FixedStr`](dtype_runtime::FixedStr).
///
/// A type that skips fields does not compile here, because nothing would initialise them.
///
/// # Errors
///
/// - [`NpyError`] for a bad header, and for a file that ends too early;
/// - [`NpyError::Dtype`] if the fields are not those of `T`;
/// - [`NpyError::Records`] with [`Error::InvalidValue`] for an invalid `bool`, `char`, `NonZero` or enum, with
///   [`Error::CheckFailed`] for a text that is too long or no text, or with [`Error::Allocation`].
pub fn read<T: Datatype>(from: impl Read) -> Result<Vec<T>, NpyError> {
    const { assert!(!T::TYPE_MAP.skips_fields(), "{}", SKIPS_FIELDS) }
    Ok(read_with(from, &ReadOptions::strict())?.records)
}

/// As [`read`], with what the options accept beyond exactly the fields of `T`, and with the fields that were left out.
///
/// # Errors
///
/// As for [`read`]; [`NpyError::Records`] with [`Error::CheckFailed`] for a number that its field in `T` does not have.
///
/// ```
/// use dtype_npy::ReadOptions;
///
/// #[derive(dtype_runtime::Datatype)]
/// struct Id {
///     id: u64,
/// }
///
/// #[derive(dtype_runtime::Datatype)]
/// struct Row {
///     id: u32,
///     mass: f64,
/// }
///
/// let mut file = Vec::new();
/// dtype_npy::write(&mut file, &[Row { id: 7, mass: 0.5 }])?;
/// let options = ReadOptions::strict().with_other_fields().with_number_conversion();
/// let ids = dtype_npy::read_with::<Id>(&file[..], &options)?;
/// assert_eq!((ids.records[0].id, &*ids.left_out), (7, &["mass".to_owned()][..]));
/// # Ok::<(), dtype_npy::NpyError>(())
/// ```
pub fn read_with<T: Datatype>(
    from: impl Read,
    options: &ReadOptions,
) -> Result<Loaded<T>, NpyError> {
    const { assert!(!T::TYPE_MAP.skips_fields(), "{}", SKIPS_FIELDS) }
    Reader::new(from, options)?.loaded()
}

/// Reads the next array of a stream of `.npy` arrays, one after another: `None` if the stream ended after the last one.
///
/// ```
/// let mut stream = Vec::new();
/// dtype_npy::write(&mut stream, &[1_u16, 2])?;
/// dtype_npy::write(&mut stream, &[3_u16])?;
/// let (mut rest, mut all) = (&stream[..], Vec::new());
/// while let Some(records) = dtype_npy::read_next::<u16>(&mut rest)? {
///     all.push(records);
/// }
/// assert_eq!(all, [vec![1, 2], vec![3]]);
/// # Ok::<(), dtype_npy::NpyError>(())
/// ```
///
/// # Errors
///
/// As for [`read`]. A stream that ends inside an array is an error.
pub fn read_next<T: Datatype>(from: impl Read) -> Result<Option<Vec<T>>, NpyError> {
    const { assert!(!T::TYPE_MAP.skips_fields(), "{}", SKIPS_FIELDS) }
    Ok(read_next_with(from, &ReadOptions::strict())?.map(|loaded| loaded.records))
}

/// As [`read_next`], with what [`read_with`] accepts.
///
/// # Errors
///
/// As for [`read_with`]. A stream that ends inside an array is an error.
pub fn read_next_with<T: Datatype>(
    from: impl Read,
    options: &ReadOptions,
) -> Result<Option<Loaded<T>>, NpyError> {
    const { assert!(!T::TYPE_MAP.skips_fields(), "{}", SKIPS_FIELDS) }
    Reader::next_array(from, options)?.map(Reader::loaded).transpose()
}

/// How the items of a file become records.
pub(crate) struct Items<T> {
    fit: Fit<T>,
    /// The items of a record: an array, if `T` is one.
    pub(crate) dtype: Dtype,
    /// The number of records.
    count: usize,
    /// The bytes of all items.
    pub(crate) bytes: usize,
    /// The items of the file in C order, if they are in Fortran order there.
    pub(crate) in_c_order: Option<Type>,
}

impl<T: Datatype> Items<T> {
    pub(crate) fn new(header: &Header, options: ReadOptions) -> Result<Self, NpyError> {
        let map = T::TYPE_MAP;
        if map.size() == 0 {
            return Err(NpyError::NoData);
        }
        let items = header.items()?;
        // If records are arrays, the last axes belong to the records.
        let (mut axes, mut element) = (0, map);
        while let Node::Array { element: inner, .. } = *element.node() {
            (axes, element) = (axes + 1, inner);
        }
        let (outer, inner) = header.shape.split_at(header.shape.len().saturating_sub(axes));
        let too_large = || NpyError::TooLarge {
            shape: header.shape.clone(),
            itemsize: header.dtype.itemsize(),
        };
        let dtype = Dtype::array(inner, header.dtype.clone()).ok_or_else(too_large)?;
        let fit = Fit::<T>::new(&dtype, Access::Read, options)?;
        // A text without bytes: nothing would be read for the records that the header announces, however many.
        if fit.item_size() == 0 {
            return Err(NpyError::NoData);
        }
        // The record's axes are not 0, because it has data.
        let per_record = inner.iter().product::<u64>().max(1);
        let count =
            if outer.contains(&0) { 0 } else { items / usize::try_from(per_record).unwrap_or(1) };
        let bytes = count.checked_mul(fit.item_size()).ok_or_else(too_large)?;
        // With a single axis that is not of length 1, both orders are the same, and Julia writes vectors in Fortran's order.
        let long = header.shape.iter().filter(|length| **length > 1).count();
        let is_other = header.fortran_order && long > 1 && bytes > 0;
        let in_c_order = is_other.then(|| in_c_order(header)).transpose()?;
        Ok(Self { fit, dtype, count, bytes, in_c_order })
    }
}

/// The items of an array in Fortran order, one after another in C order.
fn in_c_order(header: &Header) -> Result<Type, Error> {
    let size = header.dtype.itemsize();
    let mut stride = i64::try_from(size).unwrap_or(i64::MAX);
    let mut axes = Vec::new();
    // Those of one element change nothing, and there may be many.
    for length in header.shape.iter().filter(|length| **length != 1) {
        axes.push((*length, stride));
        stride = stride.saturating_mul(i64::try_from(*length).unwrap_or(i64::MAX));
    }
    let one = Type::contiguous(size, &Type::basic(Basic::Byte))?;
    axes.iter()
        .rev()
        .try_fold(one, |all, (length, stride)| Type::hvector(*length, 1, *stride, &all))
}

/// Reads the records of a `.npy` file piece by piece.
///
/// ```
/// use dtype_npy::{ReadOptions, Reader};
///
/// let mut file = Vec::new();
/// dtype_npy::write(&mut file, &(0..1000_u32).map(|i| (i, f64::from(i))).collect::<Vec<_>>())?;
/// let mut sum = 0.0;
/// for batch in Reader::<(u32, f64), _>::new(&file[..], &ReadOptions::strict())?.batches(300) {
///     sum += batch?.iter().map(|record| record.1).sum::<f64>();
/// }
/// assert_eq!(sum, 499_500.0);
/// # Ok::<(), dtype_npy::NpyError>(())
/// ```
pub struct Reader<T, R> {
    from: R,
    items: Items<T>,
    /// The number of records read so far.
    done: usize,
    /// What was read of the next records, and the position of the first of them.
    bytes: Vec<u8>,
    start: usize,
    scratch: Scratch,
}

impl<T: Datatype, R: Read> Reader<T, R> {
    /// Reads the header.
    ///
    /// # Errors
    ///
    /// As for [`read_with`].
    pub fn new(mut from: R, options: &ReadOptions) -> Result<Self, NpyError> {
        let header = Header::read(&mut from)?;
        Self::of(from, &header, *options)
    }

    /// Reads the header of the next array of a stream: `None` if the stream ended after the last array. The reader of the array
    /// before must have read all of it.
    ///
    /// # Errors
    ///
    /// As for [`read_with`].
    pub fn next_array(mut from: R, options: &ReadOptions) -> Result<Option<Self>, NpyError> {
        let header = Header::read_next(&mut from)?;
        header.map(|header| Self::of(from, &header, *options)).transpose()
    }

    fn of(from: R, header: &Header, options: ReadOptions) -> Result<Self, NpyError> {
        let items = Items::new(header, options)?;
        Ok(Self { from, items, done: 0, bytes: Vec::new(), start: 0, scratch: Scratch::default() })
    }

    /// All records that were not read yet.
    pub(crate) fn loaded(mut self) -> Result<Loaded<T>, NpyError> {
        let mut records = Vec::new();
        while self.read_onto(self.at_once(), &mut records)? > 0 {}
        Ok(Loaded { records, left_out: self.left_out().to_vec() })
    }

    /// The records in the file, as its header says.
    pub fn len(&self) -> usize {
        self.items.count
    }

    /// Whether the file has no records.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of records read so far.
    pub fn position(&self) -> usize {
        self.done
    }

    /// The paths of the fields that are left out.
    pub fn left_out(&self) -> &[String] {
        self.items.fit.left_out()
    }

    /// The memory in bytes for all records, and for the items if they must all be read first.
    #[cfg(feature = "npz")]
    pub(crate) fn memory(&self) -> usize {
        let Items { count, bytes, in_c_order, .. } = &self.items;
        let items = if in_c_order.is_some() { bytes.saturating_mul(2) } else { 0 };
        count.saturating_mul(size_of::<T>()).saturating_add(items)
    }

    /// A number of records for which reading is fast.
    fn at_once(&self) -> usize {
        (AT_ONCE / self.items.fit.item_size().max(1)).max(1)
    }

    /// Appends the next records, at most `most`, and returns their number: 0 at the end.
    ///
    /// # Errors
    ///
    /// As for [`read_with`]; an error has the number of the record in the file. `records` is then unchanged. If a value was
    /// invalid, the next call reads the records after those of this call. After [`NpyError::Io`], it goes on where the file could
    /// not be read.
    pub fn read_onto(&mut self, most: usize, records: &mut Vec<T>) -> Result<usize, NpyError> {
        let Items { fit, count, bytes, in_c_order, .. } = &mut self.items;
        let (count, bytes) = (*count, *bytes);
        let rest = count - self.done;
        let number = most.min(rest);
        let size = number * fit.item_size();
        // In Fortran order, a record's items may be anywhere.
        let needed = if in_c_order.is_some() { bytes } else { size };
        let read = self.bytes.len() - self.start;
        let missing = needed.saturating_sub(read);
        // The memory grows with what the reader returns.
        (&mut self.from).take(missing as u64).read_to_end(&mut self.bytes)?;
        if self.bytes.len() - self.start < needed {
            let actual = (self.done * fit.item_size() + self.bytes.len()) as u64;
            return Err(NpyError::Truncated { expected: bytes as u64, actual });
        }
        if let Some(order) = in_c_order.take() {
            let mut items = Vec::new();
            items
                .try_reserve_exact(bytes)
                .map_err(|_| Error::Allocation { count: 1, stride: bytes })?;
            items.resize(bytes, 0);
            order.commit().pack(Buffer::new(&self.bytes), 1, &mut items)?;
            self.bytes = items;
        }
        // Room for as many records again, but not for more than remain.
        let more = rest.min(number.max(records.len()));
        let refused = |_| Error::Allocation { count: more, stride: size_of::<T>() };
        if records.capacity() - records.len() < number {
            records.try_reserve_exact(more).map_err(refused)?;
        }
        let numbers = self.done..self.done + number;
        let items = &self.bytes[self.start..][..size];
        let unpacked = fit.unpack_onto(items, numbers, &mut self.scratch, records);
        self.start += size;
        if self.start == self.bytes.len() {
            self.bytes.clear();
            self.start = 0;
        }
        self.done += number;
        Ok(unpacked.map(|()| number)?)
    }

    /// The records in batches of `most`. The last batch may have fewer.
    pub fn batches(self, most: usize) -> Batches<T, R> {
        Batches { reader: self, most: most.max(1), failed: false }
    }
}

impl<T, R> fmt::Debug for Reader<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("position", &self.done)
            .field("len", &self.items.count)
            .finish_non_exhaustive()
    }
}

/// The records of a file, some at a time: see [`Reader::batches`]. After an error there are no more.
#[derive(Debug)]
pub struct Batches<T, R> {
    reader: Reader<T, R>,
    most: usize,
    failed: bool,
}

impl<T, R> Batches<T, R> {
    /// The reader below.
    pub const fn reader(&self) -> &Reader<T, R> {
        &self.reader
    }
}

impl<T: Datatype, R: Read> Iterator for Batches<T, R> {
    type Item = Result<Vec<T>, NpyError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let mut records = Vec::new();
        match self.reader.read_onto(self.most, &mut records) {
            Ok(0) => None,
            Ok(_) => Some(Ok(records)),
            Err(error) => {
                self.failed = true;
                Some(Err(error))
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let rest = (self.reader.len() - self.reader.position()).div_ceil(self.most);
        (if self.failed { 0 } else { rest.min(1) }, Some(rest))
    }
}
