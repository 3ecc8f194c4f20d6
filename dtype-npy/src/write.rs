//! Writes records to files.

use std::io::{Seek, SeekFrom, Write};

use dtype_runtime::Datatype;
use dtype_runtime::representation::ByteOrder;
use dtype_stored::{Access, Fit, ReadOptions, Scratch};

use crate::dtype::Dtype;
use crate::error::NpyError;
use crate::header::Header;
use crate::options::NumpyOptions;

/// Bytes of records that are written at a time.
const AT_ONCE: usize = 1 << 16;

/// Writes the records as a `.npy` file with one axis: packed, in this machine's byte order, with a
/// [`FixedStr`](dtype_runtime::FixedStr) as a `U`. The bytes are those that `np.save` writes for an array of the same dtype and
/// values.
///
/// # Errors
///
/// As for [`write_with`].
pub fn write<T: Datatype>(to: impl Write, records: &[T]) -> Result<(), NpyError> {
    write_with(to, records, &NumpyOptions::file())
}

/// As [`write()`], in another layout or byte order. In [memory](crate::NumpyLayout::Memory) layout, padding and skipped fields are
/// zeros in the file.
///
/// # Errors
///
/// - [`NpyError::Io`];
/// - [`NpyError::NoData`] for a type without data;
/// - [`DtypeError::MixedByteOrder`](crate::DtypeError::MixedByteOrder) if the order is not this machine's, and the type has
///   values that are raw bytes in NumPy;
/// - [`NpyError::Records`] for a text that ends with a zero byte, because NumPy would take the byte for padding;
/// - [`NpyError::HeaderLength`] if the names make a header of more than a mebibyte. The limit of `np.load` is lower, but can be
///   raised: see [`Header::to_bytes`].
///
/// ```
/// use dtype_npy::NumpyOptions;
///
/// let records = [(1_u8, 2.5_f64), (3, 4.5)];
/// let mut file = Vec::new();
/// dtype_npy::write_with(&mut file, &records, &NumpyOptions::memory())?;
/// assert_eq!(file.len(), 128 + 2 * 16);
/// # Ok::<(), dtype_npy::NpyError>(())
/// ```
pub fn write_with<T: Datatype>(
    mut to: impl Write,
    records: &[T],
    options: &NumpyOptions,
) -> Result<(), NpyError> {
    let (mut items, header) = Items::new(records.len(), *options)?;
    to.write_all(&header.to_bytes()?)?;
    items.write(&mut to, records)
}

/// As [`write()`], in a dtype that has the fields of `T`, such as that of the file from which the records come: an `S4` stays an
/// `S4`, and days stay days. Fields may be at any offset and in any order, and numbers and times may have another width, order or
/// unit, as in [`ReadOptions::with_number_conversion`]; each must keep its value. Gaps are zeros.
///
/// # Errors
///
/// - As for [`write_with`];
/// - [`NpyError::Dtype`] if the dtype does not have the fields of `T`, or has others;
/// - [`NpyError::Records`] for a value that the dtype does not have: a text that is too long, for example.
///
/// ```
/// use dtype_npy::{Dtype, Header};
/// use dtype_runtime::time::Seconds;
/// use dtype_runtime::{FixedStr, Timestamp};
///
/// #[derive(dtype_runtime::Datatype)]
/// struct Person {
///     name: FixedStr<48>,
///     born: Timestamp<Seconds>,
/// }
///
/// let people = [Person { name: "Ann".parse()?, born: Timestamp::new(86_400) }];
/// let mut file = Vec::new();
/// let dtype = Dtype::parse("[('name', 'S4'), ('born', 'M8[D]')]")?;
/// dtype_npy::write_as(&mut file, &people, &dtype)?;
/// assert_eq!(Header::read(&file[..])?.dtype, dtype);
/// assert_eq!(file.len(), 128 + 4 + 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_as<T: Datatype>(
    mut to: impl Write,
    records: &[T],
    dtype: &Dtype,
) -> Result<(), NpyError> {
    let options = ReadOptions::strict().with_number_conversion();
    let (mut items, header) = Items::of(records.len(), dtype, options, None)?;
    to.write_all(&header.to_bytes()?)?;
    items.write(&mut to, records)
}

/// How records are written to a file.
#[derive(Debug)]
struct Items<T> {
    fit: Fit<T>,
    scratch: Scratch,
    bytes: Vec<u8>,
}

impl<T: Datatype> Items<T> {
    /// Also returns the header of a file with `count` records.
    fn new(count: usize, options: NumpyOptions) -> Result<(Self, Header), NpyError> {
        let dtype = Dtype::of_map(T::TYPE_MAP, options);
        // Finds values whose byte order NumPy could not express.
        Self::of(count, &dtype, ReadOptions::strict(), Some(options.order))
    }

    /// Of a dtype for the records, whose values are in this byte order, if it is known.
    fn of(
        count: usize,
        dtype: &Dtype,
        options: ReadOptions,
        order: Option<ByteOrder>,
    ) -> Result<(Self, Header), NpyError> {
        if T::TYPE_MAP.size() == 0 {
            return Err(NpyError::NoData);
        }
        let fit = Fit::in_order(dtype, Access::Write, options, order)?;
        // The axes of an array are axes of the file.
        let (lengths, item) = dtype.axes();
        let shape = [&[count as u64], lengths].concat();
        let header = Header { version: (1, 0), dtype: item.clone(), fortran_order: false, shape };
        Ok((Self { fit, scratch: Scratch::default(), bytes: Vec::new() }, header))
    }

    fn write(&mut self, to: &mut impl Write, records: &[T]) -> Result<(), NpyError> {
        let at_once = (AT_ONCE / size_of::<T>().max(1)).max(1);
        for (number, records) in records.chunks(at_once).enumerate() {
            let packed = self.fit.pack_into(records, &mut self.scratch, &mut self.bytes);
            packed.map_err(|error| error.records_later(number * at_once))?;
            to.write_all(&self.bytes)?;
        }
        Ok(())
    }
}

/// Writes a `.npy` file piece by piece. At the end, the number of records is written into its header.
///
/// ```
/// let mut file = std::io::Cursor::new(Vec::new());
/// let mut writer = dtype_npy::Writer::new(&mut file, &dtype_npy::NumpyOptions::file())?;
/// for step in 0..10_u32 {
///     writer.write(&[(step, 0.5_f64); 1000])?;
/// }
/// writer.finish()?;
/// assert_eq!(dtype_npy::read::<(u32, f64)>(&file.get_ref()[..])?.len(), 10_000);
/// # Ok::<(), dtype_npy::NpyError>(())
/// ```
#[derive(Debug)]
pub struct Writer<T, W> {
    to: W,
    /// The position in `to` where the file begins.
    start: u64,
    header: Header,
    items: Items<T>,
}

impl<T: Datatype, W: Write + Seek> Writer<T, W> {
    /// Writes the header of a file with no records yet.
    ///
    /// # Errors
    ///
    /// As for [`write_with`].
    pub fn new(mut to: W, options: &NumpyOptions) -> Result<Self, NpyError> {
        let (items, header) = Items::new(0, *options)?;
        let start = to.stream_position()?;
        to.write_all(&header.to_bytes()?)?;
        Ok(Self { to, start, header, items })
    }

    /// Appends records.
    ///
    /// # Errors
    ///
    /// [`NpyError::Io`] and [`NpyError::Records`], in which the number of the record counts from the first of this call. Some
    /// of the records may then be in the file, but its header does not count them.
    pub fn write(&mut self, records: &[T]) -> Result<(), NpyError> {
        let end = self.to.stream_position()?;
        if let Err(error) = self.items.write(&mut self.to, records) {
            // The next records overwrite these.
            self.to.seek(SeekFrom::Start(end))?;
            return Err(error);
        }
        if let Some(count) = self.header.shape.first_mut() {
            *count += records.len() as u64;
        }
        Ok(())
    }

    /// Writes the number of records into the header, and returns the writer, which is then after the last record. Without this
    /// call, the header says that the file has no records.
    ///
    /// # Errors
    ///
    /// [`NpyError::Io`].
    pub fn finish(mut self) -> Result<W, NpyError> {
        let end = self.to.stream_position()?;
        self.to.seek(SeekFrom::Start(self.start))?;
        // Headers have room for longer numbers, as NumPy's do, so the length is the same.
        self.to.write_all(&self.header.to_bytes()?)?;
        self.to.seek(SeekFrom::Start(end))?;
        self.to.flush()?;
        Ok(self.to)
    }
}
