//! Records in datasets.

use std::marker::PhantomData;
use std::ops::Range;

use dtype_runtime::{Datatype, Error as RecordError};
use dtype_stored::{Access, Budget, Fit, Loaded, ReadOptions};
use hdf5_metno::{Dataset, Group, LocationType};
use hdf5_metno_sys::LOCK;

use crate::descriptor::packed_datatype;
use crate::error::Error;
use crate::library::{Items, created, opened, own, read_items, selected, stored, write_items};
use crate::part::{Part, TEXTS_AT_ONCE, axis, range, whole};
use crate::storage::{check_inside, check_space, check_written};

/// Creates a dataset of these records in the group or file: with one axis, of the packed datatype, in this machine's byte
/// order, without chunks and filters. In h5py, its dtype has the names of the fields.
///
/// For any other dataset, make one of the datatype [`packed_datatype`], and [`write()`] to it.
///
/// # Errors
///
/// As for [`descriptor`](crate::descriptor); [`Error::Occupied`] if an object of that name exists, or if an object on the way
/// to it is not a group; [`Error::Hdf5`]. There is then no new dataset, but groups on the way may have been created.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("samples.h5");
/// let file = hdf5_metno::File::create(path)?;
/// let dataset = dtype_hdf5::create(&file, "samples", &[(1_u8, 2.5_f64), (2, 3.5)])?;
/// assert_eq!((dataset.shape(), dataset.dtype()?.size()), (vec![2], 9));
/// # Ok::<(), dtype_hdf5::Error>(())
/// ```
pub fn create<T: Datatype>(group: &Group, name: &str, records: &[T]) -> Result<Dataset, Error> {
    let datatype = packed_datatype::<T>()?;
    let fit = Fit::<T>::new(&own(&datatype)?, Access::Write, ReadOptions::strict())?;
    check_values(&fit, records)?;
    // So that no other thread takes the name in between, or reads the dataset before the records are there.
    let _guard = LOCK.lock();
    check_free(group, name)?;
    let dataset = created(group, name, &datatype, records.len())?;
    let written =
        whole(&dataset).and_then(|part| write_pieces(&dataset, &datatype, &fit, &part, records));
    match written {
        Ok(()) => Ok(dataset),
        Err(error) => {
            // So that nothing reads fill values as records. The first error says more than an error of this call would.
            let _ = group.unlink(name);
            Err(error)
        }
    }
}

/// Opens a dataset of the group or file. The dataset is in the same file: unlike `dataset` of `hdf5-metno`, this does not follow
/// links to other files, which a file that someone else has made may name.
///
/// # Errors
///
/// [`Error::Elsewhere`] if a link on the way leads to another file; [`Error::Hdf5`].
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("samples.h5");
/// let file = hdf5_metno::File::create(path)?;
/// dtype_hdf5::create(&file, "day/samples", &[1_u8, 2])?;
/// let dataset = dtype_hdf5::open(&file, "day/samples")?;
/// assert_eq!(dtype_hdf5::read::<u8>(&dataset)?, [1, 2]);
/// # Ok::<(), dtype_hdf5::Error>(())
/// ```
pub fn open(group: &Group, name: &str) -> Result<Dataset, Error> {
    opened(group, name)
}

/// Checks that a new object can have this name. The library would only report a failure.
fn check_free(group: &Group, name: &str) -> Result<(), Error> {
    let names: Vec<&str> = name.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
    // Relative to the group, which need not have a path itself.
    let is_absolute = name.starts_with('/');
    let start = if is_absolute { "/".to_owned() } else { group.name() };
    let occupied = |path: &str, found, expected| {
        let path = path.trim_start_matches('/');
        let slash = if path.is_empty() || start.ends_with('/') { "" } else { "/" };
        let (file, name) = (group.filename(), format!("{start}{slash}{path}"));
        Err(Error::Occupied { file, name, found, expected })
    };
    let mut path = String::new();
    for (number, part) in names.iter().enumerate() {
        if number > 0 || is_absolute {
            path.push('/');
        }
        path.push_str(part);
        if !group.link_exists(&path) {
            // Groups that are missing on the way will be created.
            return Ok(());
        }
        #[allow(unreachable_patterns, reason = "newer libraries have more kinds of objects")]
        let found = match group.loc_type_by_name(&path) {
            Ok(LocationType::Group) => "a group",
            Ok(LocationType::Dataset) => "a dataset",
            Ok(LocationType::NamedDatatype) => "a datatype",
            Ok(_) => "another object",
            Err(_) => "a link that leads nowhere",
        };
        if number + 1 == names.len() {
            return occupied(&path, found, "nothing");
        }
        if found != "a group" {
            return occupied(&path, found, "a group");
        }
    }
    occupied(&path, "a group", "nothing")
}

/// Writes the records as all items of the dataset, in C order whatever the number of its axes.
///
/// The dataset's datatype must have the fields of `T`, by name, at any offset, all in one byte order. Gaps between them become
/// zeros.
///
/// # Errors
///
/// - [`Error::Missing`], [`Error::Unknown`], [`Error::Format`], [`Error::MissingMember`], [`Error::Shape`],
///   [`Error::MixedByteOrder`] and [`Error::Malformed`] if the fields are not those of `T`; [`Error::NoData`],
///   [`Error::NoEquivalent`];
/// - [`Error::Length`] and [`Error::TooManyItems`] if the dataset has another number of items;
/// - [`Error::NotStored`] if the dataset's space in the file is shorter;
/// - [`Error::Elsewhere`] if its items are outside the file, or it is virtual;
/// - [`Error::Hdf5`].
pub fn write<T: Datatype>(dataset: &Dataset, records: &[T]) -> Result<(), Error> {
    write_part(dataset, records, || {
        let part = whole(dataset)?;
        if part.count != records.len() {
            return Err(Error::Length { expected: records.len(), actual: part.count });
        }
        Ok(part)
    })
}

/// Writes the records to a dataset with one axis, from the item `first` on.
///
/// # Errors
///
/// As for [`write()`], with [`Error::Axes`] and [`Error::Range`] instead of [`Error::Length`].
pub fn write_at<T: Datatype>(dataset: &Dataset, first: usize, records: &[T]) -> Result<(), Error> {
    write_part(dataset, records, || range(dataset, first..first.saturating_add(records.len())))
}

/// Appends the records to a dataset with one axis that can grow: one that was created with chunks and a shape such as `0..`.
/// The datatypes are compared before the dataset grows. Threads may append at the same time: the records of each call stay
/// together.
///
/// If a process is killed before the file is closed or flushed, the library may no longer open the file.
///
/// # Errors
///
/// As for [`write_at`], and [`Error::Hdf5`] if the dataset cannot grow.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("log.h5");
/// let file = hdf5_metno::File::create(path)?;
/// let datatype = dtype_hdf5::packed_datatype::<(u64, f32)>()?;
/// let log =
///     file.new_dataset_builder().chunk(1024).empty_as(datatype).shape(0..).create("log")?;
/// dtype_hdf5::append(&log, &[(1_u64, 0.5_f32), (2, 1.5)])?;
/// dtype_hdf5::append(&log, &[(3_u64, 2.5_f32)])?;
/// assert_eq!(dtype_hdf5::read_range::<(u64, f32)>(&log, 1..3)?, [(2, 1.5), (3, 2.5)]);
/// # Ok::<(), dtype_hdf5::Error>(())
/// ```
pub fn append<T: Datatype>(dataset: &Dataset, records: &[T]) -> Result<(), Error> {
    let (datatype, fit) = fit_of::<T>(dataset, Access::Write, ReadOptions::strict())?;
    check_values(&fit, records)?;
    // No other thread may use the library between these calls, or its records would go to the same place.
    let _guard = LOCK.lock();
    check_inside(dataset)?;
    let len = axis(dataset)?;
    let end = len.saturating_add(records.len());
    dataset.resize(end)?;
    let written = range(dataset, len..end)
        .and_then(|part| write_pieces(dataset, &datatype, &fit, &part, records));
    if written.is_err() {
        // So that nothing reads fill values as records. The first error says more than an error of this call would.
        let _ = dataset.resize(len);
    }
    written
}

/// Reads all records of the dataset, in C order whatever the number of its axes.
///
/// The dataset's datatype must have the fields of `T`, by name, at any offset, all in one byte order. The library does not
/// convert anything: a field of another width is an error, not a rounded or cut value. The kernels of `dtype-runtime` bring the
/// items into order, and their values are checked. Values of an enumeration are converted by name.
///
/// A type that skips fields does not compile here, because nothing would initialise them.
///
/// # Errors
///
/// - [`Error::Missing`], [`Error::Unknown`], [`Error::Format`], [`Error::UnknownMember`], [`Error::Shape`],
///   [`Error::MixedByteOrder`] and [`Error::Malformed`] if the fields are not those of `T`; [`Error::NoData`],
///   [`Error::NoEquivalent`];
/// - [`Error::Elsewhere`] if the items are outside the file, or the dataset is virtual;
/// - [`Error::TooManyItems`], and [`Error::NotStored`] if the file does not have the items; [`Error::Exceeded`] for chunks that
///   are far larger than the file;
/// - [`Error::Texts`] for strings of variable length that are far longer than the records have room for;
/// - [`Error::Unnamed`] for a value of an enumeration that is not one of its members;
/// - [`Error::Records`] for an invalid `bool`, `char`, `NonZero` or enum, and if the records do not fit in memory;
/// - [`Error::Hdf5`].
pub fn read<T: Datatype>(dataset: &Dataset) -> Result<Vec<T>, Error> {
    Ok(read_with(dataset, &ReadOptions::strict())?.records)
}

/// As [`read`], with what the options accept beyond exactly the fields of `T`, and with the fields that were left out. The
/// library does not read fields that are left out.
///
/// # Errors
///
/// As for [`read`]; [`Error::Records`] for a number that its field in `T` does not have.
///
/// ```
/// use dtype_hdf5::ReadOptions;
/// use dtype_runtime::Datatype;
///
/// #[derive(Datatype, Clone)]
/// struct Row {
///     id: u32,
///     mass: f64,
///     name: dtype_runtime::FixedStr<8>,
/// }
///
/// #[derive(Datatype, Debug, PartialEq)]
/// struct Mass {
///     mass: f64,
/// }
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("rows.h5");
/// let file = hdf5_metno::File::create(path)?;
/// let rows = [Row { id: 7, mass: 0.5, name: "Aïda".parse()? }];
/// let dataset = dtype_hdf5::create(&file, "rows", &rows)?;
/// let masses =
///     dtype_hdf5::read_with::<Mass>(&dataset, &ReadOptions::strict().with_other_fields())?;
/// assert_eq!((masses.records, masses.left_out.join(" ")), (vec![Mass { mass: 0.5 }], "id name".into()));
/// # Ok::<(), dtype_hdf5::Error>(())
/// ```
pub fn read_with<T: Datatype>(
    dataset: &Dataset,
    options: &ReadOptions,
) -> Result<Loaded<T>, Error> {
    read_part(dataset, *options, || whole(dataset))
}

/// Reads the records of a part of a dataset with one axis. An error has the number of the item in the dataset.
///
/// # Errors
///
/// As for [`read`], with [`Error::Axes`] and [`Error::Range`].
pub fn read_range<T: Datatype>(dataset: &Dataset, items: Range<usize>) -> Result<Vec<T>, Error> {
    Ok(read_range_with(dataset, items, &ReadOptions::strict())?.records)
}

/// As [`read_range`], with [options](ReadOptions).
///
/// # Errors
///
/// As for [`read_with`], with [`Error::Axes`] and [`Error::Range`].
pub fn read_range_with<T: Datatype>(
    dataset: &Dataset,
    items: Range<usize>,
    options: &ReadOptions,
) -> Result<Loaded<T>, Error> {
    read_part(dataset, *options, || range(dataset, items))
}

/// The records of a dataset with one axis, in batches of `most`. The last batch may have fewer.
///
/// # Errors
///
/// [`Error::Axes`]. The items are those of [`read_range_with`].
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("numbers.h5");
/// let file = hdf5_metno::File::create(path)?;
/// let numbers: Vec<(u32, f64)> = (0..1000).map(|i| (i, 0.5)).collect();
/// let dataset = dtype_hdf5::create(&file, "numbers", &numbers)?;
/// let mut sum = 0;
/// for batch in dtype_hdf5::batches::<(u32, f64)>(&dataset, 300, &Default::default())? {
///     sum += batch?.iter().map(|record| record.0).sum::<u32>();
/// }
/// assert_eq!(sum, 499_500);
/// # Ok::<(), dtype_hdf5::Error>(())
/// ```
pub fn batches<T: Datatype>(
    dataset: &Dataset,
    most: usize,
    options: &ReadOptions,
) -> Result<Batches<T>, Error> {
    let (dataset, options, len) = (dataset.clone(), *options, axis(dataset)?);
    Ok(Batches { dataset, options, next: 0, len, most: most.max(1), of: PhantomData })
}

/// The records of a dataset, some at a time: see [`batches`]. After an error there are no more.
#[derive(Clone, Debug)]
pub struct Batches<T> {
    dataset: Dataset,
    options: ReadOptions,
    next: usize,
    len: usize,
    most: usize,
    of: PhantomData<fn() -> T>,
}

impl<T: Datatype> Iterator for Batches<T> {
    type Item = Result<Vec<T>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.len {
            return None;
        }
        let end = self.len.min(self.next.saturating_add(self.most));
        let batch = read_range_with(&self.dataset, self.next..end, &self.options);
        self.next = if batch.is_ok() { end } else { self.len };
        Some(batch.map(|batch| batch.records))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let rest = (self.len - self.next).div_ceil(self.most);
        (rest.min(1), Some(rest))
    }
}

/// The dataset's datatype compared with the fields of `T`.
fn fit_of<T: Datatype>(
    dataset: &Dataset,
    access: Access,
    options: ReadOptions,
) -> Result<(hdf5_metno::Datatype, Fit<T>), Error> {
    if T::TYPE_MAP.size() == 0 {
        return Err(Error::NoData);
    }
    let datatype = dataset.dtype()?;
    let fit = Fit::new(&stored(dataset, &datatype)?, access, options)?;
    Ok((datatype, fit))
}

/// Checks that each record can be stored: for example, a text may be too long. Nothing is written before that.
fn check_values<T: Datatype>(fit: &Fit<T>, records: &[T]) -> Result<(), Error> {
    if fit.first_converted().is_none() {
        return Ok(());
    }
    let mut items = Items::default();
    for (number, some) in records.chunks(CHECKED_AT_ONCE).enumerate() {
        let packed = fit.pack_into(some, &mut items.scratch, &mut items.bytes);
        packed.map_err(|error| error.records_later(number * CHECKED_AT_ONCE))?;
    }
    Ok(())
}

/// The number of records to check at a time.
const CHECKED_AT_ONCE: usize = 1 << 14;

/// Writes the records as the items of the part.
fn write_pieces<T: Datatype>(
    dataset: &Dataset,
    datatype: &hdf5_metno::Datatype,
    fit: &Fit<T>,
    part: &Part,
    records: &[T],
) -> Result<(), Error> {
    let (expected, actual) = (part.count, records.len());
    if expected != actual {
        return Err(Error::Length { expected: actual, actual: expected });
    }
    let (stored, mut items) = (stored(dataset, datatype)?, Items::default());
    part.pieces(dataset, datatype.size(), |space, piece| {
        let count = piece.len();
        fit.pack_into(&records[piece], &mut items.scratch, &mut items.bytes)?;
        write_items(dataset, datatype, (space, count), &stored, &mut items)
    })
}

fn write_part<T: Datatype>(
    dataset: &Dataset,
    records: &[T],
    part: impl FnOnce() -> Result<Part, Error>,
) -> Result<(), Error> {
    let (datatype, fit) = fit_of::<T>(dataset, Access::Write, ReadOptions::strict())?;
    check_values(&fit, records)?;
    // Another thread could make the dataset shorter.
    let _guard = LOCK.lock();
    let part = part()?;
    check_inside(dataset)?;
    check_space(dataset, &datatype)?;
    write_pieces(dataset, &datatype, &fit, &part, records)
}

fn read_part<T: Datatype>(
    dataset: &Dataset,
    options: ReadOptions,
    part: impl FnOnce() -> Result<Part, Error>,
) -> Result<Loaded<T>, Error> {
    let (datatype, fit) = fit_of::<T>(dataset, Access::Read, options)?;
    let left_out = fit.left_out().to_vec();
    let (memory, fit) = if left_out.is_empty() {
        (datatype.clone(), fit)
    } else {
        let memory = selected(&datatype, T::TYPE_MAP)?;
        let fit = Fit::new(&stored(dataset, &memory)?, Access::Read, options)?;
        (memory, fit)
    };
    // Another thread could make the dataset shorter.
    let _guard = LOCK.lock();
    let part = part()?;
    if !options.other_files {
        check_inside(dataset)?;
    }
    check_space(dataset, &datatype)?;
    let budget = Budget::for_input(dataset.file()?.size());
    check_written(dataset, &datatype, &part, size_of::<T>(), &budget)?;
    let mut records = Vec::new();
    let refused = |_| RecordError::Allocation { count: part.count, stride: size_of::<T>() };
    records.try_reserve_exact(part.count).map_err(refused)?;
    let stored = stored(dataset, &memory)?;
    let (size, mut items) = (memory.size().max(T::TYPE_MAP.size()), Items::default());
    part.pieces(dataset, size, |space, piece| {
        // Some texts may be longer than their places in the records: the error then has the number of the record.
        let limit = piece.len().saturating_mul(T::TYPE_MAP.size()).saturating_add(TEXTS_AT_ONCE);
        read_items(dataset, &memory, (space, piece.len()), (&stored, limit), &mut items)?;
        // With one axis, a record's number is that of its item in the dataset.
        let numbers = part.first + piece.start..part.first + piece.end;
        Ok(fit.unpack_onto(&items.bytes, numbers, &mut items.scratch, &mut records)?)
    })?;
    Ok(Loaded { records, left_out })
}
