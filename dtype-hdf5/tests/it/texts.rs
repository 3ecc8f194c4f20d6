//! Strings of variable length in the items of any dataset.

use std::path::Path;

use dtype_hdf5::{Budget, Error, ReadOptions};
use dtype_runtime::FixedStr;
use dtype_test_support::counting::max_in_use;
use hdf5_metno::types::{EnumMember, EnumType, IntSize, TypeDescriptor, VarLenUnicode};
use hdf5_metno::{Dataset, Datatype, File};

/// A dataset whose items all refer to one string.
pub(crate) fn shared(path: &Path, text: &str, items: usize) -> Dataset {
    let place = {
        let file = File::create(path).unwrap();
        let mut texts = vec![VarLenUnicode::new(); items];
        texts[0] = text.parse().unwrap();
        let dataset = file.new_dataset_builder().with_data(&texts).create("texts").unwrap();
        usize::try_from(dataset.offset().unwrap()).unwrap()
    };
    // A reference: the length, the place in the file, and a number there.
    let mut bytes = std::fs::read(path).unwrap();
    let one = bytes[place..place + 16].to_vec();
    bytes[place..place + 16 * items].copy_from_slice(&one.repeat(items));
    std::fs::write(path, bytes).unwrap();
    File::open(path).unwrap().dataset("texts").unwrap()
}

/// The number of items, and whether all have this text.
fn all_are(dataset: &Dataset, text: &str) -> usize {
    let mut items = dtype_hdf5::items(dataset).unwrap();
    let (mut all, mut bytes) = (0, Vec::new());
    let expected: Vec<u8> = text.chars().flat_map(|c| u32::from(c).to_ne_bytes()).collect();
    loop {
        bytes.clear();
        match items.read_onto(&mut bytes).unwrap() {
            0 => return all,
            count => {
                assert!(bytes == expected.repeat(count));
                all += count;
            }
        }
    }
}

#[test]
fn all_strings_together_have_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let one = "x".repeat(1 << 20);
    let dataset = shared(&folder.path().join("long.h5"), &one, 400);
    let most = Budget::for_input(dataset.file().unwrap().size()).bytes_left();
    // With its zero, an item has a byte more than a mebibyte.
    let first = most / one.len() + 1;
    match dtype_hdf5::items(&dataset).unwrap_err() {
        // The library may read a few at a time.
        Error::Texts { items, limit } => {
            assert!(limit == most && (first - 1..first + 16).contains(&items), "{items}");
        }
        other => panic!("{other}"),
    }
    let dataset = shared(&folder.path().join("short.h5"), "Aida", 500);
    assert_eq!(all_are(&dataset, "Aida"), 500);
    let within =
        |bytes| dtype_hdf5::items_with(&dataset, &ReadOptions::strict(), &Budget::new(bytes, 0));
    let error = within(2499).unwrap_err().to_string();
    assert_eq!(error, "the strings of 500 items have more than 2499 bytes");
    assert!(within(2500).is_ok());
}

#[test]
fn a_row_may_have_many_megabytes_of_strings() {
    let folder = tempfile::tempdir().unwrap();
    let file = File::create(folder.path().join("row.h5")).unwrap();
    let text = "x".repeat(1 << 20);
    let texts = vec![text.parse::<VarLenUnicode>().unwrap(); 17];
    let dataset = file.new_dataset::<VarLenUnicode>().shape((1, 17)).create("row").unwrap();
    dataset.write_raw(&texts).unwrap();
    assert_eq!(all_are(&dataset, &text), 17);
}

#[test]
fn a_datatype_with_many_strings_takes_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let file = File::create(folder.path().join("many.h5")).unwrap();
    let text = TypeDescriptor::VarLenUnicode;
    let array = TypeDescriptor::FixedArray(Box::new(text), 1 << 27);
    let datatype = Datatype::from_descriptor(&array).unwrap();
    let dataset = file.new_dataset_builder().empty_as(datatype).shape(0).create("many").unwrap();
    let (most, count) = max_in_use(|| {
        let mut items = dtype_hdf5::items(&dataset).unwrap();
        items.read_onto(&mut Vec::new()).unwrap()
    });
    assert!(most < 1 << 20, "{most} bytes");
    assert_eq!(count, 0);
}

/// Strings that were never written take the memory of the items alone.
#[test]
fn empty_strings_take_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let file = File::create(folder.path().join("empty.h5")).unwrap();
    let builder = file.new_dataset::<VarLenUnicode>().chunk((1, 1 << 20));
    let dataset = builder.shape((1, 1 << 20)).create("empty").unwrap();
    let (most, items) = max_in_use(|| dtype_hdf5::items(&dataset).unwrap());
    assert!(most < 12 << 20, "{most} bytes");
    assert_eq!((items.shape(), &*items.dtype().to_string()), (&[1, 1 << 20][..], "'<U1'"));
    let (most, texts) = max_in_use(|| dtype_hdf5::read::<FixedStr<1>>(&dataset).unwrap());
    assert!(most < 32 << 20, "{most} bytes");
    assert_eq!(texts.len(), 1 << 20);
}

/// NumPy takes any byte but 0 for true, and a `bool` of Rust does not.
#[test]
fn truth_values_other_than_0_and_1_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = File::create(folder.path().join("bools.h5")).unwrap();
    let flags = [[[true, false], [false, true]]; 3];
    let dataset = dtype_hdf5::create(&file, "flags", &flags.map(|flags| (1_u16, flags))).unwrap();
    let member = |name: &str, value| EnumMember { name: name.to_owned(), value };
    let members = vec![member("FALSE", 0), member("TRUE", 1)];
    let datatype = EnumType { size: IntSize::U1, signed: true, members };
    let datatype = Datatype::from_descriptor(&TypeDescriptor::Enum(datatype)).unwrap();
    let alone = file.new_dataset_builder().empty_as(datatype).shape(4).create("alone").unwrap();
    let place = usize::try_from(dataset.offset().unwrap()).unwrap();
    alone.write_raw(&[true, true, false, true]).unwrap();
    let other = usize::try_from(alone.offset().unwrap()).unwrap();
    drop((dataset, alone));
    drop(file);
    let path = folder.path().join("bools.h5");
    let mut bytes = std::fs::read(&path).unwrap();
    // Items of six bytes: the number and four flags.
    bytes[place + 6 * 2 + 2 + 3] = 7;
    bytes[other + 1] = 0xff;
    std::fs::write(&path, bytes).unwrap();

    let file = File::open(&path).unwrap();
    let read = |name| {
        let mut bytes = vec![5];
        let error = dtype_hdf5::items(&file.dataset(name).unwrap())?.read_onto(&mut bytes);
        assert_eq!(bytes, [5]);
        error
    };
    let message = "no member of the dataset's enumeration has the number";
    let error = read("flags").unwrap_err().to_string();
    assert_eq!(error, format!("record 2, field 1[1][1]: {message} 0x7"));
    assert_eq!(read("alone").unwrap_err().to_string(), format!("record 1: {message} 0xff"));
}
