//! Dtypes in the headers of `.npy` files: what is written is what NumPy writes, and what has no form there is refused.
//!
//! Without `python3` and its `numpy`, the tests that need them print a note, and compare nothing with NumPy.

use std::fmt::Write as _;

use crate::program::{hex, output};
use dtype_npy::{DateUnit, Dtype, DtypeField, Header, Kind, NpyError};
use dtype_runtime::representation::ByteOrder;

/// Reads lines of Python expressions for dtypes, and prints the files of arrays of no items.
const FILES: &str = "
import io, numpy as np, sys, warnings
warnings.simplefilter('ignore')
for line in sys.stdin:
    file = io.BytesIO()
    np.save(file, np.zeros(0, eval(line)))
    print(file.getvalue().hex())
";

fn header_of(dtype: Dtype) -> Header {
    Header { version: (1, 0), dtype, fortran_order: false, shape: vec![0] }
}

/// Whether NumPy writes these files for arrays of these dtypes.
fn check_files(files: &[(String, Vec<u8>)]) {
    let lines: Vec<&str> = files.iter().map(|(expression, _)| expression.as_str()).collect();
    let Some(theirs) = output(FILES, &lines.join("\n")) else { return };
    assert_eq!(theirs.lines().count(), files.len());
    for ((expression, file), theirs) in files.iter().zip(theirs.lines()) {
        assert_eq!(hex(file), theirs, "{expression}");
    }
}

fn scalar(letter: char, itemsize: u64) -> Dtype {
    Dtype::scalar(letter, itemsize, ByteOrder::Little).unwrap()
}

fn field(name: &str, offset: u64, dtype: Dtype) -> DtypeField {
    DtypeField { name: name.to_owned(), offset, dtype }
}

fn structure(fields: &[DtypeField], itemsize: u64) -> Dtype {
    Dtype::structure(fields.to_vec(), itemsize).unwrap()
}

/// The header of a file with this text in place of the dtype.
fn read(descr: &str) -> Result<Header, NpyError> {
    let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (0,), }}");
    let mut file = b"\x93NUMPY\x03\x00".to_vec();
    file.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
    file.extend(text.as_bytes());
    Header::read(&file[..])
}

#[test]
#[cfg_attr(miri, ignore = "Miri starts no Python")]
fn dates_keep_their_unit() {
    let formats = [
        "<M8[Y]",
        ">m8[25s]",
        "<M8[2147483647as]",
        "<m8[M]",
        ">M8[m]",
        "<M8[us]",
        "<M8[ns]",
        "<M8",
        "<m8[0D]",
    ];
    let files = formats.map(|format| {
        let text = format!("'{format}'");
        let header = read(&text).unwrap();
        assert_eq!(header.dtype.to_string(), text);
        (text, header.to_bytes().unwrap())
    });
    check_files(&files);
    let nanoseconds = read("[('a', '<M8[ns]'), ('b', '<M8[ns]', (2,))]").unwrap();
    let text = nanoseconds.dtype.to_string();
    assert_eq!(text, "[('a', '<M8[ns]'), ('b', '<M8[ns]', (2,))]");
    assert_ne!(read("'<M8[ns]'").unwrap(), read("'<M8[s]'").unwrap());
    // As NumPy, which writes them otherwise.
    for (format, same) in [
        ("M8[μs]", "<M8[us]"),
        ("<M8[generic]", "<M8"),
        ("<M8[1D]", "<M8[D]"),
        ("<M8[D/2]", "<M8[12h]"),
        ("<M8[3s/100]", "<M8[30ms]"),
        ("datetime64[Y/5]", "<M8[73D]"),
    ] {
        let dtype = read(&format!("'{format}'")).unwrap().dtype;
        assert_eq!(dtype, read(&format!("'{same}'")).unwrap().dtype);
    }
    // NumPy takes the Greek letter, and not the sign for micro, which looks the same.
    assert_eq!(read("'<M8[µs]'").unwrap(), read("'<M8[us]'").unwrap());
    // NumPy refuses all of these.
    for format in [
        "<M8[garbage",
        "<M8[garbage]",
        "<M8[ns]//2",
        "<M8[]",
        "<M8ns]",
        "<M8[ ns]",
        "<M8[-1s]",
        "<M8[2147483648s]",
        "<M8[25]",
        "<M8[ns]]",
        "<M8[s/7]",
        "<M8[s/0]",
        "<f8[ns]",
        "<M4[ns]",
    ] {
        let error = read(&format!("[('a', '{format}')]")).unwrap_err().to_string();
        let place = format!("field `a` is `{format}`, expected a format");
        assert!(error.starts_with(&place), "{error}");
    }
    let unit = DateUnit::new("ns").unwrap();
    let other = scalar('f', 8);
    assert_eq!(other.clone().with_unit(unit), other);
    let Kind::Scalar { unit: found, .. } = *scalar('m', 8).with_unit(unit).kind() else { panic!() };
    assert_eq!(found, Some(unit));
}

#[test]
fn values_that_numpy_does_not_have_are_refused() {
    for (letter, itemsize) in [
        ('U', 5),
        ('i', 3),
        ('u', 16),
        ('f', 1),
        ('f', 10),
        ('c', 4),
        ('b', 2),
        ('M', 4),
        ('O', 4),
        ('?', 1),
        ('x', 8),
        ('V', 1 << 63),
        ('U', 1 << 63),
    ] {
        assert_eq!(Dtype::scalar(letter, itemsize, ByteOrder::Little), None, "{letter}{itemsize}");
    }
    // Each of the others is read as what was written.
    for letter in "biufcmMSUVO".chars() {
        for itemsize in 0..=32 {
            for order in [ByteOrder::Little, ByteOrder::Big] {
                let Some(dtype) = Dtype::scalar(letter, itemsize, order) else { continue };
                assert_eq!(read(&dtype.to_string()).unwrap().dtype, dtype, "{dtype}");
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri starts no Python")]
fn fields_are_written_where_they_are() {
    let (u4, nothing) = (scalar('u', 4), scalar('V', 0));
    // Fields without bytes, wherever something begins or ends.
    let empty = Dtype::array(&[0], u4.clone()).unwrap();
    let fields = [
        field("a", 0, u4.clone()),
        field("z", 0, nothing.clone()),
        field("y", 4, empty),
        field("b", 4, u4.clone()),
        field("x", 8, nothing.clone()),
    ];
    let header = header_of(structure(&fields, 12));
    let file = header.to_bytes().unwrap();
    let again = Header::read(&file[..]).unwrap();
    assert_eq!(again.dtype.itemsize(), 12);
    let Kind::Structure { fields: found } = again.dtype.kind() else { panic!() };
    for field in &fields {
        assert!(found.contains(field), "{field:?} in {}", again.dtype);
    }
    let expression = "np.dtype({'names': ['z', 'a', 'y', 'b', 'x'], \
        'formats': ['V0', '<u4', ('<u4', (0,)), '<u4', 'V0'], 'offsets': [0, 0, 4, 4, 8], 'itemsize': 12})";
    check_files(&[(expression.to_owned(), file)]);
    // Fields in another order than that of memory are written in that of memory.
    let swapped = header_of(structure(&[field("b", 6, u4.clone()), field("a", 0, u4.clone())], 10));
    let in_order = structure(&[field("a", 0, u4.clone()), field("b", 6, u4)], 10);
    assert_eq!(Header::read(&swapped.to_bytes().unwrap()[..]).unwrap().dtype, in_order);
}

#[test]
fn what_a_header_cannot_say_is_refused() {
    let u4 = scalar('u', 4);
    let inner = |fields: &[DtypeField], itemsize| {
        let inner = Dtype::array(&[2], structure(fields, itemsize)).unwrap();
        header_of(structure(&[field("in\n", 0, inner)], 2 * itemsize)).to_bytes().unwrap_err()
    };
    let overlap = inner(&[field("a", 0, u4.clone()), field("b", 2, u4.clone())], 8);
    assert!(
        matches!(&overlap, NpyError::Overlap { field, expected: 4, actual: 2 } if field == "in\n.b")
    );
    assert_eq!(
        overlap.to_string(),
        r"field `in\n.b` is at offset 2, expected at least 4: overlapping fields cannot be in a file"
    );
    // Without bytes, but inside another.
    let inside = inner(&[field("a", 0, u4.clone()), field("z", 2, scalar('V', 0))], 8);
    assert!(matches!(inside, NpyError::Overlap { expected: 4, actual: 2, .. }));
    let twice = inner(&[field("a", 0, u4.clone()), field("a", 4, u4.clone())], 8);
    assert_eq!(twice.to_string(), r"field `in\n.a` is there twice, expected a name of its own");
    // Read as a gap.
    let unnamed = inner(&[field("", 0, scalar('V', 4))], 8);
    assert_eq!(unnamed.to_string(), r"field `in\n.` is without a name, expected a name of its own");
    let mut deep = u4;
    for _ in 0..31 {
        let itemsize = deep.itemsize();
        deep = structure(&[field("a", 0, deep)], itemsize);
    }
    let header = header_of(deep.clone());
    assert_eq!(Header::read(&header.to_bytes().unwrap()[..]).unwrap(), header);
    let too_deep = header_of(structure(&[field("a", 0, deep)], 4)).to_bytes().unwrap_err();
    assert!(matches!(too_deep, NpyError::Header { expected: "fewer nested brackets", .. }));
}

#[test]
#[cfg_attr(miri, ignore = "Miri starts no Python")]
fn names_are_written_as_python_writes_them() {
    let names = [
        "nl\n",
        "\r\t\\",
        "\x01\x7f",
        "\u{ad}",
        "\u{a0}",
        "\u{2028}",
        "\u{feff}",
        "\u{e000}",
        "\u{e0001}",
        "é",
        "'",
        "\"",
        "'\"",
        "温度",
        "😀",
        "e\u{301}",
        "\u{301}",
        "ß\u{85}",
    ];
    let files = names.map(|name| {
        let header = header_of(structure(&[field(name, 0, scalar('u', 4))], 4));
        let file = header.to_bytes().unwrap();
        assert_eq!(Header::read(&file[..]).unwrap().dtype, header.dtype);
        (format!("[(bytes.fromhex('{}').decode(), '<u4')]", hex(name.as_bytes())), file)
    });
    check_files(&files);
    // Characters that have had their categories for long.
    let mut input = String::new();
    let others = ['\u{1d100}', '\u{20000}', '\u{2a6d0}', '\u{e0000}', '\u{f0000}', '\u{10ff80}'];
    let others = others.into_iter().flat_map(|first| (first..=char::MAX).take(128));
    for c in ('\0'..='\u{ffff}').chain(others) {
        let text = structure(&[field(&c.to_string(), 0, scalar('u', 4))], 4).to_string();
        writeln!(input, "{:x} {}", u32::from(c), hex(text.as_bytes())).unwrap();
    }
    let program = "
import sys, unicodedata
for line in sys.stdin:
    code, text = line.split()
    c = chr(int(code, 16))
    if unicodedata.ucd_3_2_0.category(c) != 'Cn':
        if bytes.fromhex(text).decode() != repr([(c, '<u4')]):
            print(code)
";
    if let Some(different) = output(program, &input) {
        assert_eq!(different, "");
    }
}
