//! `dtype dump FILE.npy`: the dtype is the file's own.

use std::process::Output;

use crate::command::{Folder, done, dtype, failed, fed};
use dtype_npy::{Dtype, Header};
use dtype_runtime::{Datatype, FixedStr};

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

#[test]
fn files_that_are_refused() {
    let folder = Folder::new();
    for (bytes, expected) in [
        (npy("<i4", &[3], &[0; 8]), "the input has 2 of its 3 records"),
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
