//! Files that name other files, and files that need far more memory than they have bytes.

use std::fs;

use dtype_hdf5::{Error, Exceeded, ReadOptions};
use dtype_runtime::FixedStr;
use dtype_test_support::counting::max_in_use;
use hdf5_metno::File;
use hdf5_metno::types::{FixedAscii, VarLenUnicode};

/// What `dtype-hdf5` says of the dataset.
fn refused(result: Result<(), Error>) -> String {
    match result {
        Err(error @ Error::Elsewhere { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn items_in_another_file_are_neither_read_nor_written() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    fs::write(&secret, b"a secret").unwrap();
    let path = secret.to_str().unwrap();
    let file = File::create(folder.path().join("names.h5")).unwrap();
    let builder = file.new_dataset::<u8>().external(path, 0, 8);
    let dataset = builder.shape(8).create("external").unwrap();
    // One that grows.
    let builder = file.new_dataset::<u8>().external(path, 0, 16);
    let growing = builder.shape(8..=16).create("growing").unwrap();
    let message = format!(
        "the items of the dataset are in the file `{path}`, and other files are not opened"
    );
    for dataset in [&dataset, &growing] {
        for result in [
            dtype_hdf5::read::<u8>(dataset).map(drop),
            dtype_hdf5::read_range::<u8>(dataset, 1..3).map(drop),
            dtype_hdf5::batches::<u8>(dataset, 3, &ReadOptions::default())
                .unwrap()
                .next()
                .unwrap()
                .map(drop),
            dtype_hdf5::items(dataset).map(drop),
            dtype_hdf5::write(dataset, b"another."),
            dtype_hdf5::write_at(dataset, 0, b"a"),
            dtype_hdf5::append(dataset, b"more"),
        ] {
            assert_eq!(refused(result), message);
        }
    }
    assert_eq!(fs::read(&secret).unwrap(), b"a secret");
    let options = ReadOptions::strict().with_other_files();
    assert_eq!(dtype_hdf5::read_with::<u8>(&dataset, &options).unwrap().records, b"a secret");
    let budget = dtype_hdf5::Budget::for_input(0);
    let mut bytes = Vec::new();
    dtype_hdf5::items_with(&dataset, &options, &budget).unwrap().read_onto(&mut bytes).unwrap();
    assert_eq!(bytes, b"a secret");
}

#[test]
fn links_to_another_file_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let other = File::create(folder.path().join("other.h5")).unwrap();
    dtype_hdf5::create(&other, "group/secret", &[1_u8, 2, 3]).unwrap();
    let file = File::create(folder.path().join("links.h5")).unwrap();
    dtype_hdf5::create(&file, "own", &[4_u8]).unwrap();
    file.link_external("other.h5", "/group/secret", "dataset").unwrap();
    file.link_external("other.h5", "/group", "group").unwrap();
    file.link_soft("/group/secret", "soft").unwrap();
    file.link_soft("/own", "inside").unwrap();
    let message = "the name leads to the file `other.h5`, and other files are not opened";
    for name in ["dataset", "group/secret", "soft"] {
        assert_eq!(refused(dtype_hdf5::open(&file, name).map(drop)), message, "{name}");
        // Whoever opens it otherwise may read it.
        let dataset = file.dataset(name).unwrap();
        assert_eq!(dtype_hdf5::read::<u8>(&dataset).unwrap(), [1, 2, 3]);
    }
    assert_eq!(refused(dtype_hdf5::create(&file, "group/new", &[5_u8]).map(drop)), message);
    assert!(!other.link_exists("group/new"));
    for name in ["own", "inside"] {
        let dataset = dtype_hdf5::open(&file, name).unwrap();
        assert_eq!(dtype_hdf5::read::<u8>(&dataset).unwrap(), [4]);
    }
    assert!(matches!(dtype_hdf5::open(&file, "none"), Err(Error::Hdf5(_))));
}

/// The library has a whole chunk in memory, of which the file may have a few bytes.
#[test]
fn chunks_far_larger_than_the_file_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = File::create(folder.path().join("chunks.h5")).unwrap();
    let chunked = |name: &str, chunk: usize| {
        let builder = file.new_dataset::<u8>().chunk(chunk).shape(0..);
        let dataset = builder.create(name).unwrap();
        dataset.resize(1).unwrap();
        dataset
    };
    assert_eq!(dtype_hdf5::read::<u8>(&chunked("small", 1 << 20)).unwrap(), [0]);
    let large = chunked("large", (1 << 32) - 1);
    let exceeded = |result: Result<(), Error>| {
        assert!(matches!(result, Err(Error::Exceeded(Exceeded::Bytes { .. }))), "{result:?}");
    };
    exceeded(dtype_hdf5::read::<u8>(&large).map(drop));
    exceeded(dtype_hdf5::items(&large).map(drop));
}

/// In an item, each string has room for the longest one.
#[test]
fn one_long_string_among_many_makes_no_long_item() {
    let folder = tempfile::tempdir().unwrap();
    let file = File::create(folder.path().join("texts.h5")).unwrap();
    let builder = file.new_dataset::<[VarLenUnicode; 1000]>();
    let dataset = builder.shape(1).create("texts").unwrap();
    let write = |len: usize| {
        let mut texts = vec![VarLenUnicode::new(); 1000];
        texts[7] = "x".repeat(len).parse().unwrap();
        let texts: [VarLenUnicode; 1000] = texts.try_into().unwrap();
        dataset.write_raw(&[texts]).unwrap();
    };
    write(1000);
    let mut bytes = Vec::new();
    dtype_hdf5::items(&dataset).unwrap().read_onto(&mut bytes).unwrap();
    assert_eq!(bytes.len(), 4 * 1000 * 1000);
    write(1 << 20);
    let (most, result) = max_in_use(|| dtype_hdf5::items(&dataset).map(drop));
    assert!(matches!(result, Err(Error::Exceeded(Exceeded::Bytes { .. }))), "{result:?}");
    assert!(most < 32 << 20, "{most}");
}

#[test]
fn a_reader_prints_its_state_and_no_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let file = File::create(folder.path().join("many.h5")).unwrap();
    let dataset = dtype_hdf5::create(&file, "many", &vec![7_u8; 100_000]).unwrap();
    let mut items = dtype_hdf5::items(&dataset).unwrap();
    items.read_onto(&mut Vec::new()).unwrap();
    let text = format!("{items:?}");
    assert!(text.contains("shape: [100000]") && text.len() < 300, "{text}");
}

/// A fixed string of the file may be far shorter than that of the records.
#[test]
fn records_are_in_proportion_to_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = File::create(folder.path().join("texts.h5")).unwrap();
    let builder = file.new_dataset::<FixedAscii<1>>();
    let texts = builder.shape(1 << 20).create("texts").unwrap();
    let read = dtype_hdf5::read::<FixedStr<200>>(&texts);
    assert!(matches!(read, Err(Error::NotStored { stored: 0, .. })));
}
