//! `.npz` files: archives of arrays with names, as `np.savez` and `np.savez_compressed` write them.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

use dtype_runtime::Datatype;
use dtype_stored::{Budget, Loaded, ReadOptions};
use flate2::read::DeflateDecoder;
use rawzip::{
    CompressionMethod, ErrorKind, MAX_CENTRAL_DIRECTORY_RECORD_SIZE, RangeReader, ReaderAt,
    ZipArchive, ZipArchiveEntryWayfinder, ZipLocator,
};

use crate::error::NpyError;
use crate::read::{Reader, SKIPS_FIELDS};

/// Reads the arrays of a `.npz` file: see the [example](Self::read).
///
/// The file may come from an untrusted source. A few bytes of it may announce, and may even contain, arrays of any length: what
/// the names together, and the records of one array, take in memory is limited by a [`Budget`].
pub struct Npz<R> {
    archive: ZipArchive<Arc<Shared<R>>>,
    arrays: BTreeMap<String, Entry>,
    budget: Budget,
}

/// An array in the archive.
#[derive(Clone, Copy)]
struct Entry {
    place: ZipArchiveEntryWayfinder,
    method: CompressionMethod,
    is_encrypted: bool,
}

/// How the names of arrays end in the archive.
const SUFFIX: &str = ".npy";

impl<R: Read + Seek> Npz<R> {
    /// Reads the names of the arrays. The budget is [`Budget::for_input`] for the length of the file.
    ///
    /// # Errors
    ///
    /// [`NpyError::Archive`] if it is no such archive, or has two arrays of one name; [`NpyError::Exceeded`]; [`NpyError::Io`].
    pub fn new(mut from: R) -> Result<Self, NpyError> {
        let len = from.seek(SeekFrom::End(0))?;
        Self::with_budget(from, Budget::for_input(len))
    }

    /// As [`new`](Self::new), with another budget: for records that take more memory than 128 MiB and 16 times the file.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn with_budget(mut from: R, budget: Budget) -> Result<Self, NpyError> {
        let len = from.seek(SeekFrom::End(0))?;
        let from = Arc::new(Shared(Mutex::new(from)));
        let mut buffer = vec![0; MAX_CENTRAL_DIRECTORY_RECORD_SIZE];
        let located = ZipLocator::new().locate_in_reader(from, &mut buffer, len);
        let archive = located.map_err(|(_, error)| error)?;
        let (mut all, mut arrays) = (archive.entries(&mut buffer), BTreeMap::new());
        while let Some(entry) = all.next_entry()? {
            budget.work(1)?;
            let path = entry.file_path();
            let Some(name) = path.as_ref().strip_suffix(SUFFIX.as_bytes()) else { continue };
            budget.hold(name.len() + size_of::<(String, Entry)>())?;
            let name = String::from_utf8_lossy(name).into_owned();
            let (place, method) = (entry.wayfinder(), entry.compression_method());
            let is_encrypted = entry.flags().is_encrypted();
            if arrays.insert(name.clone(), Entry { place, method, is_encrypted }).is_some() {
                return Err(bad(format!("two arrays are called {name:?}")));
            }
        }
        Ok(Self { archive, arrays, budget })
    }

    /// The names of the arrays, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.arrays.keys().map(String::as_str)
    }

    /// Reads the records of an array, as [`read`](crate::read()) reads those of a file.
    ///
    /// # Errors
    ///
    /// - [`NpyError::NoArray`], and [`NpyError::Archive`] if the archive has the array in a form other than NumPy's;
    /// - [`NpyError::Exceeded`] if the records take more memory than the budget allows;
    /// - [`NpyError::Io`] also for compressed bytes that are damaged, and if the checksum is wrong;
    /// - as for [`read`](crate::read()).
    ///
    /// ```no_run
    /// // np.savez_compressed('run.npz', times=times, cells=cells)
    /// let run = dtype_npy::Npz::new(std::fs::File::open("run.npz")?)?;
    /// let times = run.read::<f64>("times")?;
    /// let cells = run.read::<(u32, f32)>("cells")?;
    /// # Ok::<(), dtype_npy::NpyError>(())
    /// ```
    pub fn read<T: Datatype>(&self, name: &str) -> Result<Vec<T>, NpyError> {
        const { assert!(!T::TYPE_MAP.skips_fields(), "{}", SKIPS_FIELDS) }
        Ok(self.read_with(name, &ReadOptions::strict())?.records)
    }

    /// As [`read`](Self::read), with what the options accept beyond exactly the fields of `T`.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read); [`NpyError::Records`] for a number that its field in `T` does not have.
    pub fn read_with<T: Datatype>(
        &self,
        name: &str,
        options: &ReadOptions,
    ) -> Result<Loaded<T>, NpyError> {
        const { assert!(!T::TYPE_MAP.skips_fields(), "{}", SKIPS_FIELDS) }
        let mut bytes = self.array(name)?;
        let reader = Reader::<T, _>::new(&mut bytes, options)?;
        self.budget.clone().hold(reader.memory())?;
        let loaded = reader.loaded()?;
        // The checksum is compared at the end of the bytes, wherever the archive says that it is.
        if io::copy(&mut bytes.take(1), &mut io::sink())? > 0 {
            return Err(bad(format!("more bytes follow the array {name:?}")));
        }
        Ok(loaded)
    }

    /// The bytes of an array: those of a `.npy` file, for a [`Reader`], which reads it piece by piece and whose caller sets the
    /// limits. If the checksum is wrong, the read that would return 0 bytes at the end is an error instead.
    ///
    /// # Errors
    ///
    /// [`NpyError::NoArray`], [`NpyError::Archive`], [`NpyError::Io`].
    pub fn array(&self, name: &str) -> Result<impl Read + use<R>, NpyError> {
        let Entry { place, method, .. } = self.entry(name)?;
        let entry = self.archive.get_entry(place)?;
        let (start, end) = entry.compressed_data_range();
        let bytes = RangeReader::new(Arc::clone(self.archive.get_ref()), start..end);
        let bytes = match method {
            CompressionMethod::STORE => Bytes::Stored(bytes),
            _ => Bytes::Deflated(DeflateDecoder::new(bytes)),
        };
        Ok(entry.verifying_reader(bytes))
    }

    fn entry(&self, name: &str) -> Result<Entry, NpyError> {
        let Some(entry) = self.arrays.get(name) else {
            let names = self.names().map(str::to_owned).collect();
            return Err(NpyError::NoArray { name: name.to_owned(), names });
        };
        match (entry.is_encrypted, entry.method) {
            (true, _) => Err(bad(format!("the array {name:?} is encrypted"))),
            (_, CompressionMethod::STORE | CompressionMethod::DEFLATE) => Ok(*entry),
            (_, method) => Err(bad(format!(
                "the array {name:?} is compressed by the method {method}, expected 0 or 8"
            ))),
        }
    }
}

/// A reader for several arrays, each at its own position.
struct Shared<R>(Mutex<R>);

impl<R: Read + Seek> ReaderAt for Shared<R> {
    fn read_at(&self, out: &mut [u8], offset: u64) -> io::Result<usize> {
        // Each call seeks first, whatever a call that panicked has left.
        let mut from = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        from.seek(SeekFrom::Start(offset))?;
        from.read(out)
    }
}

/// The bytes of an array, uncompressed.
enum Bytes<R> {
    Stored(R),
    Deflated(DeflateDecoder<R>),
}

impl<R: Read> Read for Bytes<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Stored(bytes) => bytes.read(out),
            Self::Deflated(bytes) => bytes.read(out),
        }
    }
}

fn bad(what: String) -> NpyError {
    NpyError::Archive { what }
}

impl From<rawzip::Error> for NpyError {
    fn from(error: rawzip::Error) -> Self {
        match error.into_kind() {
            ErrorKind::IO(error) => Self::Io(error),
            kind => bad(kind.to_string()),
        }
    }
}

impl<R> fmt::Debug for Npz<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Npz").field("arrays", &self.arrays.keys()).finish_non_exhaustive()
    }
}
