//! Datatypes of HDF5 for Rust types.

use dtype_runtime::Datatype;
use dtype_runtime::typemap::{Meaning, Node, TypeMap};
use dtype_stored::joined;
use hdf5_metno::types::{CompoundField, CompoundType, TypeDescriptor};

use crate::error::Error;
use crate::leaf::Leaf;
use crate::library::made;

/// The memory of `T` as a datatype: fields at their offsets, padding and skipped fields as gaps, and the size of `T`.
///
/// The fields are in the order of their offsets, as `hdf5-metno` requires; their index is the order of their declaration.
/// Fields without data and skipped fields are not in it.
///
/// For a new dataset, `hdf5-metno` computes the layout of a descriptor again, by its own rules. Give it a [`datatype`] or
/// [`packed_datatype`] instead, which it uses unchanged.
///
/// # Errors
///
/// - [`Error::NoData`] for a type without data;
/// - [`Error::NoEquivalent`] for integers of 128 bits, `bf16` and `long double`, which HDF5 does not have as numbers of this
///   kind or `hdf5-metno` cannot describe;
/// - [`Error::TooLarge`] for a type of 4 GiB or more.
///
/// ```
/// use hdf5_metno::types::{FloatSize, IntSize, TypeDescriptor};
///
/// #[derive(dtype_runtime::Datatype)]
/// #[repr(C)]
/// struct Particle {
///     charge: i8,
///     position: [f32; 3],
/// }
///
/// let TypeDescriptor::Compound(memory) = dtype_hdf5::descriptor::<Particle>()? else { panic!() };
/// assert_eq!((&*memory.fields[1].name, memory.fields[1].offset, memory.size), ("position", 4, 16));
/// let position = TypeDescriptor::FixedArray(Box::new(TypeDescriptor::Float(FloatSize::U4)), 3);
/// assert_eq!(memory.fields[1].ty, position);
/// # Ok::<(), dtype_hdf5::Error>(())
/// ```
pub fn descriptor<T: Datatype>() -> Result<TypeDescriptor, Error> {
    of_type(T::TYPE_MAP, Layout::Memory)
}

/// The packed records of `T` as a datatype: the fields in the order of their declaration, without gaps. A
/// [`FixedStr<N>`](dtype_runtime::FixedStr) is a string of `N` bytes of UTF-8, so its item is shorter than its packed bytes.
///
/// # Errors
///
/// As for [`descriptor`].
///
/// ```
/// let packed = dtype_hdf5::packed_descriptor::<(u8, f64)>()?;
/// assert_eq!(packed.size(), 9);
/// assert_eq!(dtype_hdf5::descriptor::<(u8, f64)>()?.size(), 16);
/// # Ok::<(), dtype_hdf5::Error>(())
/// ```
pub fn packed_descriptor<T: Datatype>() -> Result<TypeDescriptor, Error> {
    of_type(T::TYPE_MAP, Layout::Packed)
}

/// The memory of `T` as a datatype of the library. A dataset of it contains the padding of the records, which
/// [`write`](crate::write) sets to zeros. For programs in C that read whole structs.
///
/// The fields are in the order of their declaration, and arrays of arrays have several axes.
///
/// # Errors
///
/// As for [`descriptor`], and [`Error::Hdf5`].
pub fn datatype<T: Datatype>() -> Result<hdf5_metno::Datatype, Error> {
    made(&descriptor::<T>()?)
}

/// The packed records of `T` as a datatype of the library, from which a dataset can be made with chunks, filters and axes of
/// any kind. [`write`](crate::write) writes the records into it.
///
/// # Errors
///
/// As for [`descriptor`], and [`Error::Hdf5`].
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("samples.h5");
/// let file = hdf5_metno::File::create(path)?;
/// let samples = vec![(1_u8, 2.5_f64); 1000];
/// let dataset = file
///     .new_dataset_builder()
///     .empty_as(dtype_hdf5::packed_datatype::<(u8, f64)>()?)
///     .shape(samples.len())
///     .create("samples")?;
/// dtype_hdf5::write(&dataset, &samples)?;
/// # Ok::<(), dtype_hdf5::Error>(())
/// ```
pub fn packed_datatype<T: Datatype>() -> Result<hdf5_metno::Datatype, Error> {
    made(&packed_descriptor::<T>()?)
}

/// The maximum size in bytes of a datatype in a file.
const MAX_BYTES: u64 = u32::MAX as u64;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Memory,
    Packed,
}

fn of_type(map: &TypeMap, layout: Layout) -> Result<TypeDescriptor, Error> {
    if map.size() == 0 {
        return Err(Error::NoData);
    }
    let descriptor = of_map(map, layout, "")?;
    // When it writes a datatype, the library cuts off the upper half of its size, and of the length of an array.
    match descriptor.size() as u64 {
        size if size > MAX_BYTES => Err(Error::TooLarge { size, limit: MAX_BYTES }),
        _ => Ok(descriptor),
    }
}

fn of_map(map: &TypeMap, layout: Layout, path: &str) -> Result<TypeDescriptor, Error> {
    match *map.node() {
        Node::Basic { basic, .. } => match Leaf::from_basic(basic) {
            Some(leaf) => Ok(leaf.descriptor()),
            None => Err(Error::NoEquivalent { field: path.to_owned(), basic }),
        },
        Node::Array { count, element } => {
            let element = of_map(element, layout, path)?;
            Ok(TypeDescriptor::FixedArray(Box::new(element), count))
        }
        // The length takes four bytes, and a string of HDF5 has at least one byte.
        Node::Structure { .. }
            if layout == Layout::Packed && map.meaning() == Some(Meaning::Text) =>
        {
            Ok(TypeDescriptor::FixedUnicode(map.size().saturating_sub(4).max(1)))
        }
        Node::Structure { fields: all, .. } => {
            let (mut fields, mut position) = (Vec::new(), 0);
            for field in all {
                let Some(map) = field.map().filter(|map| map.size() > 0) else { continue };
                let inner = of_map(map, layout, &joined(path, field.name()))?;
                let offset = if layout == Layout::Packed { position } else { field.offset() };
                position += inner.size();
                fields.push(CompoundField::new(field.name(), inner, offset, fields.len()));
            }
            fields.sort_by_key(|field| field.offset);
            let size = if layout == Layout::Packed { position } else { map.stride() };
            Ok(TypeDescriptor::Compound(CompoundType { fields, size }))
        }
    }
}
