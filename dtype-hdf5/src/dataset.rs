//! Records in datasets.

use std::ops::Range;

use dtype_runtime::representation::ByteOrder;
use dtype_runtime::{
    Buffer, BufferMut, Datatype, Error as RecordError, pack, pack_as, packed_size, unpack,
    unpack_as,
};
use hdf5_metno::{Dataset, Group, LocationType};
use hdf5_metno_sys::LOCK;

use crate::compare::{Access, Fit, fit};
use crate::descriptor::packed_datatype;
use crate::error::Error;
use crate::library::{Part, created, read_items, shape, stored, write_items};
use crate::storage::{check_space, check_written, count_of};

/// Creates a dataset of these records in the group or file: with one axis, of the packed datatype, in this machine's byte
/// order, without chunks and filters. In h5py, its dtype has the names of the fields.
///
/// For another dataset, make one of [`packed_datatype`], and [`write()`] to it.
///
/// # Errors
///
/// As for [`descriptor`](crate::descriptor); [`Error::Occupied`] if there is something of that name, or what should be a
/// group on the way is none; [`Error::Hdf5`]. There is no new dataset then, but there may be groups on the way to it.
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
    let items = pack(records);
    // No other thread finds the name taken in between, or reads the dataset before the records are there.
    let _guard = LOCK.lock();
    check_free(group, name)?;
    let dataset = created(group, name, &datatype, records.len())?;
    match write_items(&dataset, &datatype, || whole(&dataset), &items) {
        Ok(()) => Ok(dataset),
        Err(error) => {
            // Nobody is to read fill values as records. The first error says more than one of this call would.
            let _ = group.unlink(name);
            Err(error)
        }
    }
}

/// Checks that a new object can have this name. The library would only report that it failed.
fn check_free(group: &Group, name: &str) -> Result<(), Error> {
    let names: Vec<&str> = name.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
    // From the group on: it need not have a path itself.
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
            // What is missing on the way is made.
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

/// Appends the records to a dataset with one axis that can grow: one that was made with chunks, and with a shape such as `0..`.
/// The datatypes are compared before the dataset grows. Threads may append at the same time: the records of each call stay
/// together.
///
/// A process that is killed before the file is closed or flushed can leave a file that the library does not open any more.
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
    let (datatype, items) = stored_items(dataset, records)?;
    // No other thread uses the library between these calls: another one's records would have the same place.
    let _guard = LOCK.lock();
    let len = axis(dataset)?;
    let end = len.saturating_add(records.len());
    dataset.resize(end)?;
    let written = write_items(dataset, &datatype, || range(dataset, len..end), &items);
    if written.is_err() {
        // Nobody is to read fill values as records. The first error says more than one of this call would.
        let _ = dataset.resize(len);
    }
    written
}

/// Reads all records of the dataset, in C order whatever the number of its axes.
///
/// The dataset's datatype must have the fields of `T`, by name, at any offset, all in one byte order. The library does not
/// convert anything: a field of another width is an error, not a rounded or cut value. The items are brought in order by the
/// kernels of `dtype-runtime`, and their values are checked. Values of an enumeration are converted by name.
///
/// A type that skips fields does not compile here, because nothing would initialise them.
///
/// # Errors
///
/// - [`Error::Missing`], [`Error::Unknown`], [`Error::Format`], [`Error::UnknownMember`], [`Error::Shape`],
///   [`Error::MixedByteOrder`] and [`Error::Malformed`] if the fields are not those of `T`; [`Error::NoData`],
///   [`Error::NoEquivalent`];
/// - [`Error::TooManyItems`], and [`Error::NotStored`] if the file does not have the items;
/// - [`Error::Unnamed`] for a value of an enumeration that is no member;
/// - [`Error::Records`] for an invalid `bool`, `char`, `NonZero` or enum, and if the records do not fit in memory;
/// - [`Error::Hdf5`].
pub fn read<T: Datatype>(dataset: &Dataset) -> Result<Vec<T>, Error> {
    read_part(dataset, || whole(dataset))
}

/// Reads the records of a part of a dataset with one axis.
///
/// # Errors
///
/// As for [`read`], with [`Error::Axes`] and [`Error::Range`].
pub fn read_range<T: Datatype>(dataset: &Dataset, items: Range<usize>) -> Result<Vec<T>, Error> {
    read_part(dataset, || range(dataset, items))
}

/// All items of a dataset.
fn whole(dataset: &Dataset) -> Result<Part, Error> {
    let space = dataset.space()?;
    let shape = shape(&space)?;
    let count = count_of(&shape)?;
    Ok(Part { space, shape, count })
}

/// The length of the only axis.
fn axis(dataset: &Dataset) -> Result<usize, Error> {
    match *shape(&dataset.space()?)? {
        [len] => count_of(&[len]),
        ref other => Err(Error::Axes { actual: other.len() }),
    }
}

/// Some items of a dataset with one axis.
fn range(dataset: &Dataset, items: Range<usize>) -> Result<Part, Error> {
    let len = axis(dataset)?;
    let Range { start, end } = items;
    if start > end || end > len {
        return Err(Error::Range { start, end, len });
    }
    let count = end - start;
    let space = dataset.space()?;
    // Nothing is read from an empty part.
    let space = if count == 0 { space } else { space.select(start..end)? };
    Ok(Part { space, shape: vec![count as u64], count })
}

/// The dataset's datatype, beside the fields of `T`.
fn fit_of<T: Datatype>(
    dataset: &Dataset,
    access: Access,
) -> Result<(hdf5_metno::Datatype, Fit), Error> {
    if T::TYPE_MAP.size() == 0 {
        return Err(Error::NoData);
    }
    let datatype = dataset.dtype()?;
    let fit = fit(&stored(&datatype)?, T::TYPE_MAP, access)?;
    Ok((datatype, fit))
}

/// `size` bytes of zeros.
fn zeros(count: usize, stride: usize) -> Result<Vec<u8>, Error> {
    let refused = RecordError::Allocation { count, stride };
    let Some(size) = count.checked_mul(stride) else { return Err(refused.into()) };
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|_| refused)?;
    bytes.resize(size, 0);
    Ok(bytes)
}

/// The records as the dataset stores them, with its datatype.
fn stored_items<T: Datatype>(
    dataset: &Dataset,
    records: &[T],
) -> Result<(hdf5_metno::Datatype, Vec<u8>), Error> {
    let (datatype, fit) = fit_of::<T>(dataset, Access::Write)?;
    let packed = if fit.order == ByteOrder::NATIVE {
        pack(records)
    } else {
        pack_as(records, fit.order.into())?
    };
    let mut items = if fit.is_packed {
        packed
    } else {
        let mut items = zeros(records.len(), datatype.size())?;
        fit.item.commit().unpack(&packed, BufferMut::new(&mut items), records.len())?;
        items
    };
    for renumbering in &fit.renumberings {
        renumbering.apply(&mut items, datatype.size())?;
    }
    Ok((datatype, items))
}

fn write_part<T: Datatype>(
    dataset: &Dataset,
    records: &[T],
    part: impl FnOnce() -> Result<Part, Error>,
) -> Result<(), Error> {
    let (datatype, items) = stored_items(dataset, records)?;
    let part = || {
        let part = part()?;
        check_space(dataset, &datatype)?;
        Ok(part)
    };
    write_items(dataset, &datatype, part, &items)
}

fn read_part<T: Datatype>(
    dataset: &Dataset,
    part: impl FnOnce() -> Result<Part, Error>,
) -> Result<Vec<T>, Error> {
    let (datatype, fit) = fit_of::<T>(dataset, Access::Read)?;
    let part = || {
        let part = part()?;
        check_space(dataset, &datatype)?;
        check_written(dataset, &datatype, &part)?;
        Ok(part)
    };
    let (mut items, count) = read_items(dataset, &datatype, part)?;
    for renumbering in &fit.renumberings {
        renumbering.apply(&mut items, datatype.size())?;
    }
    let packed = if fit.is_packed {
        items
    } else {
        let mut packed = zeros(count, packed_size::<T>(1))?;
        fit.item.commit().pack(Buffer::new(&items), count, &mut packed)?;
        packed
    };
    if fit.order == ByteOrder::NATIVE {
        Ok(unpack(&packed)?)
    } else {
        Ok(unpack_as(&packed, fit.order.into())?)
    }
}
