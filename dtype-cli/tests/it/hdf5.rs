//! `dtype dump FILE.h5:DATASET`: the datatype is the dataset's own.

use std::path::Path;
use std::process::Command;

use crate::command::{Folder, done, dtype, failed};
use dtype_runtime::{Datatype, FixedStr};
use hdf5_metno::types::VarLenUnicode;
use hdf5_metno::{Dataset, File, H5Type};

#[allow(unreachable_pub, reason = "as the command writes it")]
mod records;

#[derive(Datatype, Clone, Copy)]
struct Record {
    id: u16,
    at: [f64; 2],
    name: FixedStr<4>,
    on: bool,
}

fn dump(path: &Path, dataset: &str, options: &[&str]) -> String {
    let mut name = path.as_os_str().to_owned();
    name.push(":");
    name.push(dataset);
    String::from_utf8(done(reader().args(options).arg(name))).unwrap()
}

/// The library's files are inherited by every process that a test starts meanwhile, with their locks.
fn reader() -> Command {
    let mut command = dtype();
    command.env("HDF5_USE_FILE_LOCKING", "FALSE").arg("dump");
    command
}

/// Closed, so that another process can open it.
fn file(path: &Path, make: impl FnOnce(&File)) {
    let file = File::create(path).unwrap();
    make(&file);
    file.close().unwrap();
}

fn data<T: H5Type>(file: &File, name: &str, all: &[T]) -> Dataset {
    file.new_dataset_builder().with_data(all).create(name).unwrap()
}

#[test]
fn records_of_a_dataset() {
    let folder = Folder::new();
    let path = folder.path("a:file.h5");
    file(&path, |file| {
        let record = |id| Record {
            id,
            at: [0.5, f64::from(id)],
            name: "Aï".parse().unwrap(),
            on: id % 2 == 0,
        };
        let records: Vec<Record> = (0..3).map(record).collect();
        dtype_hdf5::create(file, "group/records", &records).unwrap();
    });
    assert_eq!(
        dump(&path, "group/records", &["--records", "1.."]),
        "record  id  at          name  on\n     \
              1   1  [0.5, 1.0]  Aï    false\n     \
              2   2  [0.5, 2.0]  Aï    true\n"
    );
    let json = dump(&path, "/group/records", &["--json", "--records", "0..1"]);
    assert_eq!(json, "{\"id\":0,\"at\":[0.5,0.0],\"name\":\"Aï\",\"on\":true}\n");
}

#[test]
fn the_type_of_a_dataset() {
    let folder = Folder::new();
    let path = folder.path("file.h5");
    file(&path, |file| {
        let record = Record { id: 1, at: [0.5; 2], name: "Aï".parse().unwrap(), on: true };
        let dataset = dtype_hdf5::create(file, "group/records", &[record; 3]).unwrap();
        // The struct that the command writes reads it.
        let read = dtype_hdf5::read::<records::Record>(&dataset).unwrap();
        assert_eq!((read[2].name.as_str(), read[2].at, read[2].on), ("Aï", [0.5; 2], true));
    });
    let name = format!("{}:group/records", path.to_str().unwrap());
    let run = |command: &[&str]| {
        let mut dtype = dtype();
        dtype.env("HDF5_USE_FILE_LOCKING", "FALSE").args(command);
        String::from_utf8(done(&mut dtype)).unwrap()
    };
    assert_eq!(run(&["show", &name, "--as", "rust-struct"]), include_str!("hdf5/records.rs"));
    let same = "[('id', 'u2'), ('at', 'f8', (2,)), ('name', 'U4'), ('on', '?')]";
    for name in [&name, &format!("@{name}")] {
        for command in [&["show", "--as", "numpy"][..], &["info"], &["show", "--packed"], &[]] {
            let of = |ty| run(&[command, &[ty]].concat());
            assert_eq!(of(name), of(same), "{command:?}");
        }
        assert!(run(&["compare", name, same]).contains("the same type"));
    }
    let message = failed(dtype().args(["show", path.to_str().unwrap()]));
    assert!(message.contains("name one: `"), "{message}");
}

#[test]
fn values_of_any_dataset() {
    let folder = Folder::new();
    let path = folder.path("values.h5");
    file(&path, |file| {
        let texts = ["", "longest", "é"].map(|text| text.parse::<VarLenUnicode>().unwrap());
        data(file, "texts", &texts);
        data(file, "chunked:", &[0_i8]);
        let grid = file.new_dataset::<u32>().chunk((2, 3)).shape((5, 4)).create("grid").unwrap();
        dtype_hdf5::write(&grid, &(0..20_u32).collect::<Vec<_>>()).unwrap();
        let one = file.new_dataset::<f32>().create("one").unwrap();
        one.write_scalar(&2.5_f32).unwrap();
        let complex =
            dtype_hdf5::packed_datatype::<(u8, [num_complex::Complex<f64>; 1])>().unwrap();
        file.new_dataset_builder().empty_as(complex).shape(1).create("complex").unwrap();
    });
    assert_eq!(dump(&path, "texts", &["--as", "csv"]), "value\n\nlongest\né\n");
    let grid = dump(&path, "grid", &["--as", "csv"]);
    let expected: Vec<String> = (0..20).map(|i: u32| i.to_string()).collect();
    assert_eq!(grid, format!("value\n{}\n", expected.join("\n")));
    assert_eq!(dump(&path, "one", &["--as", "csv"]), "value\n2.5\n");
    assert_eq!(dump(&path, "chunked:", &["--as", "csv"]), "value\n0\n");
    assert_eq!(dump(&path, "complex", &["--as", "csv"]).lines().count(), 2);
    let message = failed(reader().arg(&path));
    assert!(message.contains("has datasets, each with a type of its own"), "{message}");
    let message = failed(reader().arg(folder.path("values.h5:none")));
    assert!(message.contains("values.h5:none"), "{message}");
}
