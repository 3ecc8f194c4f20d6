//! `dtype dump FILE.npy`: the dtype is the file's own.

use std::process::{Command, Output};

use crate::command::{Folder, done, dtype, failed, fed};
use dtype_npy::{Dtype, Header};
use dtype_runtime::{Datatype, FixedStr, pack};
use dtype_test_support::python;

#[derive(Datatype, Clone, Copy)]
struct Record {
    id: u16,
    at: [f64; 2],
    name: FixedStr<4>,
}

/// A file with this dtype and shape.
fn npy(dtype: &str, shape: &[u64], data: &[u8]) -> Vec<u8> {
    let dtype = Dtype::parse(dtype).unwrap();
    let header = Header { version: (1, 0), dtype, fortran_order: false, shape: shape.to_vec() };
    [&header.to_bytes().unwrap()[..], data].concat()
}

fn csv(file: &[u8]) -> String {
    let Output { stdout, stderr, .. } = fed(dtype().args(["dump", "--as", "csv", "-"]), file);
    String::from_utf8(stdout).unwrap() + &String::from_utf8(stderr).unwrap()
}

#[test]
fn records_of_a_file() {
    let records: Vec<Record> = (0..3)
        .map(|id| Record { id, at: [0.5, f64::from(id)], name: "ab".parse().unwrap() })
        .collect();
    let mut file = Vec::new();
    dtype_npy::write(&mut file, &records).unwrap();
    let folder = Folder::new();
    let path = folder.file("records.npy", &file);
    let text = done(dtype().args(["dump", "--records", "1.."]).arg(&path));
    assert_eq!(
        String::from_utf8(text).unwrap(),
        "record  id  at          name\n     \
              1   1  [0.5, 1.0]  ab\n     \
              2   2  [0.5, 2.0]  ab\n"
    );
    // With a type, a file is bytes like any other.
    let start = file.len() - 3 * 36;
    let same = done(dtype().args(["dump", "--origin", &start.to_string(), "[u8; 36]"]).arg(&path));
    assert_eq!(String::from_utf8(same).unwrap().lines().count(), 4);
}

#[test]
fn values_of_any_machine() {
    let big = npy(">i4", &[2, 2], &[0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0xFF, 0xFF, 0xFF, 0xFF]);
    assert_eq!(csv(&big), "value\n1\n2\n3\n-1\n");
    let text: Vec<u8> = "é€b\0\0\0".chars().flat_map(|c| u32::from(c).to_be_bytes()).collect();
    assert_eq!(csv(&npy("'>U3'", &[2], &text)), "value\né€b\n\"\"\n".replace("\"\"", ""));
    assert_eq!(
        csv(&npy("'<U2'", &[1], &[0xFF; 8])),
        "value\ninvalid \\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\n"
    );
    assert_eq!(csv(&npy("'S3'", &[], b"ab\0")), "value\nab\n");
    assert_eq!(csv(&npy("'<f8'", &[0], &[])), "value\n");
    let fields = npy("[('a', '|u1'), ('b', '>u2', (2,))]", &[1], &[7, 0, 1, 0, 2]);
    assert_eq!(csv(&fields), "a,b[0],b[1]\n7,1,2\n");
    // Further bytes are another array.
    assert_eq!(csv(&[npy("|u1", &[1], &[5]), big].concat()), "value\n5\n");
}

/// As in NumPy, a string ends at its last byte that is not zero.
#[test]
fn strings_have_zeros_inside() {
    let record = |bytes: &[u8], text: &str| {
        let mut text: Vec<u32> = text.chars().map(u32::from).collect();
        text.resize(5, 0);
        [bytes, &pack(&text)].concat()
    };
    let records = [
        record(b"ab\0c\0", "ab\0c"),
        record(b"\0\0\0\0x", "\0\0\0\0x"),
        record(b"\xff\0\0\0\0", "é"),
        record(&[0; 5], ""),
    ]
    .concat();
    let own = "[('s', 'S5'), ('u', 'U5')]";
    let file = npy(own, &[4], &records);
    let csv_text =
        "s,u\nab\\x00c,ab\\u{0}c\n\\x00\\x00\\x00\\x00x,\\u{0}\\u{0}\\u{0}\\u{0}x\n\\xff,é\n,\n";
    assert_eq!(csv(&file), csv_text);
    let json = fed(dtype().args(["dump", "--json", "-"]), &file).stdout;
    let json = String::from_utf8(json).unwrap();
    assert_eq!(json.lines().next(), Some(r#"{"s":"ab\u0000c","u":"ab\u0000c"}"#));
    // The dtype as a text means the same, and so does a single character.
    let text = fed(dtype().args(["dump", "--as", "csv", own, "-"]), &records).stdout;
    assert_eq!(String::from_utf8(text).unwrap(), csv_text);
    assert_eq!(csv(&npy("'S1'", &[2], b"a\0")), "value\na\n\n");
    assert_eq!(csv(&npy("'U1'", &[1], &[0; 4])), "value\n\n");
    assert_eq!(csv(&npy("[('s', 'S2', (2,))]", &[1], b"a\0\0b")), "s[0],s[1]\na,\\x00b\n");
    // A string of C ends at its first zero.
    let c = fed(dtype().args(["dump", "--as", "csv", "[c_char; 5]", "-"]), b"ab\0c\0").stdout;
    assert_eq!(String::from_utf8(c).unwrap(), "value\nab\n");
}

#[test]
fn times_are_dates_and_spans_have_units() {
    let record = |number: i64| pack(&[[number; 4]]);
    let records = [record(-1), record(i64::MIN)].concat();
    let dtype_text =
        "[('at', '<M8[ms]'), ('took', '<m8[25us]'), ('days', '<M8[D]'), ('none', '<m8')]";
    let file = npy(dtype_text, &[2], &records);
    assert_eq!(
        csv(&file),
        "at,took,days,none\n1969-12-31T23:59:59.999,-25 us,1969-12-31,-1\nNaT,NaT,NaT,NaT\n"
    );
    let printed = |form: &str| {
        let printed = fed(dtype().args(["dump", "--as", form, "-"]), &file).stdout;
        String::from_utf8(printed).unwrap()
    };
    assert_eq!(
        printed("json"),
        "{\"at\":\"1969-12-31T23:59:59.999\",\"took\":\"-25 us\",\"days\":\"1969-12-31\",\"none\":-1}\n\
         {\"at\":\"NaT\",\"took\":\"NaT\",\"days\":\"NaT\",\"none\":\"NaT\"}\n"
    );
    assert_eq!(
        printed("table"),
        "record  at                       took    days        none\n     \
              0  1969-12-31T23:59:59.999  -25 us  1969-12-31  -1\n     \
              1  NaT                      NaT     NaT         NaT\n"
    );
    for line in ["at    M8[ms]", "took  m8[25us]", "days  M8[D]", "none  m8"] {
        assert!(printed("hex").contains(line), "{line}");
    }
    // Of another machine, and several in a field.
    let big = [1_i64, 2].map(i64::to_be_bytes).concat();
    let days = npy("[('days', '>M8[D]', (2,))]", &[1], &big);
    let table = String::from_utf8(fed(dtype().args(["dump", "-"]), &days).stdout).unwrap();
    assert!(table.ends_with("[1970-01-02, 1970-01-03]\n"), "{table}");
}

/// NumPy's own texts, in all units.
#[test]
fn dates_are_those_of_numpy() {
    const PROGRAM: &str = r"
import sys
import numpy as np
units = '[25s] [7M] [Y] [M] [W] [D] [h] [m] [s] [ms] [us] [ns] [ps] [fs] [as]'.split()
values = np.random.default_rng(1).integers(-2**52, 2**52, 300) >> np.arange(300) % 52
a = np.zeros(300, [(unit, 'M8' + unit) for unit in units])
for unit in units:
    a[unit] = values
np.save(sys.argv[1], a)
for record in a:
    print(','.join(str(value) for value in [record[unit] for unit in units]))
";
    let Some(python) = python::with("numpy") else { return };
    let folder = Folder::new();
    let path = folder.path("dates.npy");
    let expected = done(Command::new(python).args(["-c", PROGRAM]).arg(&path));
    let found = done(dtype().args(["dump", "--as", "csv"]).arg(&path));
    let (expected, found) =
        (String::from_utf8(expected).unwrap(), String::from_utf8(found).unwrap());
    assert_eq!(found.lines().skip(1).collect::<Vec<_>>(), expected.lines().collect::<Vec<_>>());
}

#[test]
fn a_file_with_a_type_of_its_own_is_a_type() {
    let folder = Folder::new();
    let dtype_text = "[('id', '<u2'), ('at', '<f8', (2,)), ('name', '<U4')]";
    let file = npy(dtype_text, &[1], &[7; 34]);
    let path = folder.file("people.npy", &file);
    let path = path.to_str().unwrap();
    let at = format!("@{path}");
    for name in [path, &at] {
        let shown = |command: &[&str]| {
            let of = |ty: &str| {
                let output = dtype().args(command).arg(ty).output().unwrap();
                assert!(output.status.success(), "{output:?}");
                String::from_utf8(output.stdout).unwrap()
            };
            assert_eq!(of(name), of(dtype_text), "{command:?}");
        };
        for command in [&[][..], &["show"], &["show", "--packed"], &["show", "--json"], &["info"]] {
            shown(command);
        }
        done(dtype().args(["compare", name, dtype_text]));
        // Two records without a name: not all numbers are characters.
        let data: Vec<u8> = (0..68).map(|at| if at % 34 < 18 { at } else { 0 }).collect();
        for command in ["pack", "unpack"] {
            let moved = fed(dtype().args([command, name, "-", "-"]), &data);
            assert_eq!(moved.stdout, data, "{command}: {:?}", moved.stderr);
        }
        let printed =
            fed(dtype().args(["dump", "--as", "csv", name, "-"]), &file[file.len() - 34..]);
        assert!(printed.stdout.starts_with(b"id,at[0],at[1],name\n1799,"));
    }
    // From a pipe, even with more data than the longest text.
    let long = npy("|u1", &[5 << 20], &vec![0; 5 << 20]);
    let info = fed(dtype().args(["info", "-"]), &long);
    assert!(info.stdout.starts_with(b"size       1 byte\n"), "{info:?}");
    let message = failed(dtype().arg("show").arg(folder.file("o.npy", &npy("'O'", &[1], &[0; 8]))));
    assert!(message.contains("Python objects are not data"), "{message}");
}

/// A type does not say in which byte order values are.
#[test]
fn a_file_of_another_machine_is_shown_but_its_type_moves_no_values() {
    let folder = Folder::new();
    let other = if cfg!(target_endian = "little") { '>' } else { '<' };
    let file = npy(&format!("{other}i4"), &[1], &[0, 0, 0, 1]);
    let path = folder.file("other.npy", &file);
    let output = dtype().arg("info").arg(&path).output().unwrap();
    assert!(output.stdout.starts_with(b"size       4 bytes\n"));
    let note = String::from_utf8(output.stderr).unwrap();
    assert!(note.starts_with("note: the values of ") && note.contains("-endian"), "{note}");
    let message = failed(dtype().arg("dump").arg(&path).arg(&path));
    assert!(message.contains("and this machine is not\nhelp: give the type"), "{message}");
    assert!(message.contains(": i32"), "{message}");
}

#[test]
fn numpy_gets_its_own_dtype_back() {
    for dtype_text in [
        "np.dtype('S5')",
        "np.dtype('<M8[25s]')",
        "np.dtype({'names': ['s', 'u', 'at', 'took', 'days', 'c'], 'formats': ['S5', '<U3', '<M8[ms]', '<m8', ('<M8[D]', (3,)), \
         ('S1', (2,))], 'offsets': [0, 5, 17, 25, 33, 57], 'itemsize': 59})",
    ] {
        let order = if cfg!(target_endian = "big") { ">" } else { "<" };
        let dtype_text = dtype_text.replace('<', order);
        let printed = done(dtype().args(["show", &dtype_text, "--as", "numpy"]));
        assert_eq!(String::from_utf8(printed).unwrap().trim_end(), dtype_text);
    }
}

#[test]
fn a_file_without_a_type_names_the_command_for_it() {
    let folder = Folder::new();
    let path = folder.file("data.bin", b"abc\xff");
    let message = failed(dtype().args(["show", &format!("@{}", path.to_str().unwrap())]));
    assert!(
        message.contains("is not UTF-8 text: invalid byte at offset 3\nhelp: `dtype dump TYPE ")
    );
}

#[cfg(not(feature = "hdf5"))]
#[test]
fn a_build_without_hdf5_says_so() {
    let folder = Folder::new();
    let path = folder.file("file.h5", b"\x89HDF\r\n\x1a\n and more");
    let path = path.to_str().unwrap();
    for name in [path, &format!("{path}:objects"), &format!("@{path}:group/objects")] {
        for command in [&["show"][..], &["info"], &["compare", "u8"], &["pack", "-", "-"]] {
            let message = failed(dtype().arg(command[0]).arg(name).args(&command[1..]));
            assert!(message.contains("this build of the command reads no HDF5 files"), "{message}");
            assert!(message.contains("--features hdf5"), "{message}");
        }
    }
    let message = failed(dtype().arg("dump").arg(format!("{path}:objects")));
    assert!(message.contains("this build of the command reads no HDF5 files"), "{message}");
}

#[test]
fn files_that_are_refused() {
    let folder = Folder::new();
    for (bytes, expected) in [
        (npy("<i4", &[3], &[0; 8]), "the input ends after 2 of the 3 records in its header"),
        (npy("<i4", &[3], &[0; 9]), "1 byte remains at offset"),
        (
            npy("[('a', '<i4'), ('b', '>i4')]", &[1], &[0; 8]),
            "field `b`: the fields are of different byte orders",
        ),
        (npy("'O'", &[1], &[0; 8]), "the header: Python objects are not data"),
        (b"\x93NUMPY\x01\x00\x02\x00{}".to_vec(), "the header: "),
        (b"\x93NUMPY\x09".to_vec(), "the header: "),
        (vec![0; 100], "has no type of its own"),
    ] {
        let path = folder.file("file", &bytes);
        let output = dtype().args(["dump", "--as", "json"]).arg(&path).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains(expected), "{expected}: {message}");
        assert_eq!(output.status.code(), Some(2));
    }
    let path = folder.file("file", &npy("<i4", &[1], &[0; 4]));
    let message = failed(dtype().args(["dump", "--packed"]).arg(&path));
    assert!(message.contains("go with a TYPE"), "{message}");
}
