//! What a file says of its datasets, beside what is in it.

use std::ffi::{CString, c_int};
use std::path::Path;

use dtype_hdf5::Error;
use dtype_runtime::FixedStr;
use hdf5_metno::dataset::Layout;
use hdf5_metno::plist::DatasetCreate;
use hdf5_metno::types::{EnumMember, EnumType, IntSize, TypeDescriptor, VarLenUnicode};
use hdf5_metno::{Dataset, Datatype, File};
use hdf5_metno_sys::LOCK;
use hdf5_metno_sys::h5::hsize_t;
use hdf5_metno_sys::h5d::H5Dcreate2;
use hdf5_metno_sys::h5p::H5P_DEFAULT;
use hdf5_metno_sys::h5s::{H5Sclose, H5Screate_simple};

use crate::texts::shared;

#[derive(dtype_runtime::Datatype, Clone, Copy, Debug, PartialEq)]
struct Sample {
    valid: bool,
    value: f64,
}

const SAMPLES: [Sample; 8] = [Sample { valid: true, value: 2.5 }; 8];

/// A dataset with chunks. The builder of `hdf5-metno` multiplies the lengths.
fn chunked(file: &File, name: &str, shape: &[hsize_t], chunk: &[usize]) -> Dataset {
    let datatype = dtype_hdf5::packed_datatype::<Sample>().unwrap();
    let properties = DatasetCreate::build().chunk(chunk.to_vec()).finish().unwrap();
    let (name, axes) = (CString::new(name).unwrap(), c_int::try_from(shape.len()).unwrap());
    let _guard = LOCK.lock();
    // SAFETY: the library checks the handles, and copies the name and as many lengths as there are. The dataset's new handle
    // belongs to the value that is made of it alone.
    let dataset = unsafe {
        let space = H5Screate_simple(axes, shape.as_ptr(), std::ptr::null());
        let (links, access) = (H5P_DEFAULT, H5P_DEFAULT);
        let (file, datatype, properties) = (file.id(), datatype.id(), properties.id());
        let id = H5Dcreate2(file, name.as_ptr(), datatype, space, links, properties, access);
        H5Sclose(space);
        hdf5_metno::from_id(id)
    };
    dataset.unwrap()
}

#[test]
fn items_that_cannot_be_counted_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = File::create(folder.path().join("many.h5")).unwrap();
    for (name, shape, chunk) in [
        // Modulo 2⁶⁴: five, none, eight, and a number that is negative where it is signed.
        ("five", &[3, 6_148_914_691_236_517_207][..], &[1, 1024][..]),
        ("none", &[1 << 21, 1 << 21, 1 << 22], &[8, 8, 8]),
        ("eight", &[8, 1, (1 << 61) + 1], &[1, 1, 64]),
        ("negative", &[3, 1 << 31, 1 << 32], &[1, 1, 2]),
        ("axes", &[255; 31], &[1; 31]),
    ] {
        let dataset = chunked(&file, name, shape, chunk);
        let message =
            format!("the dataset has the shape {shape:?}, of more items than can be counted");
        let error = dtype_hdf5::read::<Sample>(&dataset).unwrap_err();
        assert!(matches!(error, Error::TooManyItems { .. }));
        assert_eq!(error.to_string(), message);
        for count in [0, 5, 8] {
            let error = dtype_hdf5::write(&dataset, &SAMPLES[..count]).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }
    // No item, however long the other axes are.
    let none = chunked(&file, "no item", &[1 << 40, 1 << 40, 0], &[8, 8, 1]);
    assert_eq!(dtype_hdf5::read::<Sample>(&none).unwrap(), []);
    dtype_hdf5::write::<Sample>(&none, &[]).unwrap();
}

#[test]
fn items_that_no_memory_has_room_for_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = File::create(folder.path().join("large.h5")).unwrap();
    for items in [1 << 40, 1 << 56, 1 << 62] {
        let large = chunked(&file, &items.to_string(), &[items as hsize_t], &[1 << 20]);
        let error = dtype_hdf5::read::<Sample>(&large).unwrap_err();
        let bytes = 9 * items as u128;
        let message = format!("the file has 0 of the {bytes} bytes of {items} items");
        assert_eq!(error.to_string(), message);
        let error = dtype_hdf5::write(&large, &SAMPLES).unwrap_err();
        assert!(matches!(error, Error::Length { expected: 8, actual } if actual == items));
        // A part of it fits.
        dtype_hdf5::write_at(&large, items - 4, &SAMPLES[..3]).unwrap();
        let part = dtype_hdf5::read_range::<Sample>(&large, items - 4..items - 1).unwrap();
        assert_eq!(part, SAMPLES[..3]);
        let error = dtype_hdf5::read_range::<Sample>(&large, items - 2..items + 1).unwrap_err();
        assert!(matches!(error, Error::Range { len, .. } if len == items));
    }
}

/// Replaces these bytes wherever they are in the file.
fn patch(path: &Path, old: &[u8], new: &[u8]) {
    let mut bytes = std::fs::read(path).unwrap();
    let is_old = |at: &usize| bytes[*at..].starts_with(old);
    let places: Vec<_> = (0..bytes.len()).filter(is_old).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + new.len()].copy_from_slice(new);
    }
    std::fs::write(path, bytes).unwrap();
}

/// A file whose dataset was written with another first length than it says to have.
fn patched(path: &Path, layout: Layout, length: u64) -> File {
    const WRITTEN: usize = 7919;
    {
        let file = File::create(path).unwrap();
        let builder = file.new_dataset::<u8>().layout(layout);
        let builder = if layout == Layout::Chunked { builder.chunk((11, 3)) } else { builder };
        let dataset = builder.shape((WRITTEN, 3)).create("patched").unwrap();
        dtype_hdf5::write(&dataset, &vec![1_u8; WRITTEN * 3]).unwrap();
        // What follows is not the dataset's.
        dtype_hdf5::create(&file, "other", &vec![2_u8; 100_000]).unwrap();
    }
    patch(path, &(WRITTEN as u64).to_le_bytes(), &length.to_le_bytes());
    File::open_rw(path).unwrap()
}

#[test]
fn items_that_the_file_does_not_have_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for layout in [Layout::Contiguous, Layout::Compact] {
        // Up to where memory has room for them.
        for length in [7920, 10_000, 1 << 30, 1 << 40, 1 << 62] {
            let path = folder.path().join(format!("{layout:?}{length}.h5"));
            let file = patched(&path, layout, length);
            let dataset = file.dataset("patched").unwrap();
            let items = 3 * length;
            let message = format!("the file has 23757 of the {items} bytes of {items} items");
            assert_eq!(dtype_hdf5::read::<u8>(&dataset).unwrap_err().to_string(), message);
            if length < 1 << 20 {
                let records = vec![3_u8; usize::try_from(items).unwrap()];
                let error = dtype_hdf5::write(&dataset, &records).unwrap_err();
                assert_eq!(error.to_string(), message);
            }
            let other = file.dataset("other").unwrap();
            assert_eq!(dtype_hdf5::read::<u8>(&other).unwrap(), vec![2; 100_000]);
        }
    }
}

#[test]
fn chunks_that_were_never_written_are_read_only_so_many() {
    let folder = tempfile::tempdir().unwrap();
    let read = |length| {
        let path = folder.path().join(format!("{length}.h5"));
        let file = patched(&path, Layout::Chunked, length);
        dtype_hdf5::read::<u8>(&file.dataset("patched").unwrap())
    };
    let mut expected = vec![1; 7919 * 3];
    expected.resize(3 << 16, 0);
    assert_eq!(read(1 << 16).unwrap(), expected);
    for length in [1 << 30, 1 << 40, 1 << 62] {
        assert!(matches!(read(length), Err(Error::NotStored { stored: 23760, .. })));
    }
}

#[test]
fn an_empty_dataspace_has_no_items() {
    let folder = tempfile::tempdir().unwrap();
    let file = File::create(folder.path().join("null.h5")).unwrap();
    let null = file.new_dataset::<u8>().shape(hdf5_metno::Extents::Null).create("null").unwrap();
    assert!(dtype_hdf5::read::<u8>(&null).unwrap().is_empty());
    assert!(matches!(
        dtype_hdf5::write(&null, &[1_u8]),
        Err(Error::Length { expected: 1, actual: 0 })
    ));
}

#[test]
fn members_that_are_there_twice_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let member = |name: &str, value| EnumMember { name: name.to_owned(), value };
    let members = vec![member("First", 0x0101), member("Other", 0x0202)];
    let datatype = EnumType { size: IntSize::U2, signed: false, members };
    let datatype = Datatype::from_descriptor(&TypeDescriptor::Enum(datatype)).unwrap();
    for (name, old, new) in [
        ("name", &b"Other"[..], &b"First"[..]),
        ("number", &[2, 2], &[1, 1]),
        ("", b"Other", b"Other"),
    ] {
        let path = folder.path().join(format!("{name}.h5"));
        {
            let file = File::create(&path).unwrap();
            let builder = file.new_dataset_builder().empty_as(&datatype);
            builder.shape(3).create("twice").unwrap();
        }
        patch(&path, old, new);
        let read = dtype_hdf5::read::<u16>(&File::open(&path).unwrap().dataset("twice").unwrap());
        if name.is_empty() {
            assert_eq!(read.unwrap(), [0; 3]);
        } else {
            assert!(matches!(read, Err(Error::Malformed { .. })), "{name}");
        }
    }
}

/// Many items can refer to one long string, of which the library would make a copy for each.
#[test]
fn a_string_that_all_items_share_is_copied_only_so_often() {
    let folder = tempfile::tempdir().unwrap();
    let shared = |name: &str, text: &str, items| shared(&folder.path().join(name), text, items);
    let short = shared("short.h5", "Aïda", 5000);
    let texts = dtype_hdf5::read::<FixedStr<5>>(&short).unwrap();
    assert!(texts.len() == 5000 && texts.iter().all(|text| text == "Aïda"));
    // A mebibyte five thousand times.
    let long = shared("long.h5", &"x".repeat(1 << 20), 5000);
    let error = dtype_hdf5::read::<FixedStr<5>>(&long).unwrap_err();
    let expected = (16 << 20) + 5000 * 9;
    assert!(matches!(error, Error::Texts { items: 5000, limit } if limit == expected), "{error}");
    // Some of them are read, and one of those has the first text that is too long.
    let error = dtype_hdf5::read_range::<FixedStr<5>>(&long, 7..9).unwrap_err().to_string();
    assert_eq!(error, "record 7: not a valid text: its length is 1048576, and the capacity 5");
}

/// Each string of the items has room for the longest one.
#[test]
fn one_long_string_makes_no_long_piece() {
    const LONG: usize = 1 << 16;
    let folder = tempfile::tempdir().unwrap();
    let file = File::create(folder.path().join("texts.h5")).unwrap();
    let mut texts = vec![VarLenUnicode::new(); 200];
    texts[70] = "x".repeat(LONG).parse().unwrap();
    let builder = file.new_dataset_builder().chunk(200);
    let dataset = builder.with_data(&texts).create("texts").unwrap();
    let mut items = dtype_hdf5::items(&dataset).unwrap();
    let (mut bytes, mut lengths) = (Vec::new(), Vec::new());
    loop {
        bytes.clear();
        let count = items.read_onto(&mut bytes).unwrap();
        assert!(bytes.len() == 4 * LONG * count && count <= 16, "{count} items");
        if count == 0 {
            break;
        }
        let text = |item: &[u8]| item.iter().filter(|byte| **byte != 0).count();
        lengths.extend(bytes.chunks_exact(4 * LONG).map(text));
    }
    assert_eq!(lengths.len(), 200);
    assert!(lengths.iter().enumerate().all(|(i, len)| *len == if i == 70 { LONG } else { 0 }));

    // Another writer is not to have its text cut.
    let mut items = dtype_hdf5::items(&dataset).unwrap();
    texts[3] = "x".repeat(LONG + 1).parse().unwrap();
    dataset.write(&texts).unwrap();
    let error = items.read_onto(&mut bytes).unwrap_err();
    assert!(matches!(error, Error::Texts { items: 1, limit: LONG }), "{error}");
}

/// A short text in a file can be a long one in memory.
#[test]
fn items_that_were_never_written_are_no_gibibytes_of_records() {
    let folder = tempfile::tempdir().unwrap();
    let file = File::create(folder.path().join("texts.h5")).unwrap();
    let datatype = Datatype::from_descriptor(&TypeDescriptor::FixedAscii(1)).unwrap();
    let builder = file.new_dataset_builder().empty_as(&datatype);
    let texts = builder.shape(1 << 20).create("texts").unwrap();
    let read = dtype_hdf5::read::<FixedStr<1100>>(&texts);
    assert!(matches!(read, Err(Error::NotStored { stored: 0, .. })));
    assert_eq!(dtype_hdf5::read::<FixedStr<9>>(&texts).unwrap().len(), 1 << 20);
}
