//! `.npy` files: written here and read by NumPy, written by NumPy and read here, and everything that is wrong with one.
//!
//! Without `python3` and its `numpy`, the tests that need them print a note, and pass.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "everything here is small"
)]
#![allow(clippy::items_after_statements, reason = "structs beside the test that uses them")]
#![allow(clippy::trivially_copy_pass_by_ref, reason = "as the crate takes them")]

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::process::Command;

use dtype_npy::{Dtype, DtypeError, DtypeField, Header, NpyError, NumpyOptions};
use dtype_runtime::representation::ByteOrder;
use dtype_runtime::{Datatype, Error, pack};
use dtype_test_support::model;
use dtype_test_support::python;
use dtype_test_support::tags::{Kind, Tag};
use proptest::prelude::*;

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Body {
    charge: i8,
    position: [f64; 3],
    tags: [[Tag; 2]; 1],
    on: bool,
    r#type: (u16, i64),
}

fn bodies(count: usize) -> Vec<Body> {
    (0..count)
        .map(|i| Body {
            charge: (i as i8).wrapping_sub(5),
            position: [1.5, -2.25, i as f64],
            tags: [[
                Tag { letter: 'é', kind: Kind::Free },
                Tag { letter: '😀', kind: Kind::Fixed },
            ]],
            on: i % 2 == 0,
            r#type: (65_535, -1 - i as i64),
        })
        .collect()
}

fn file_of<T: Datatype>(records: &[T], options: &NumpyOptions) -> Vec<u8> {
    let mut file = Vec::new();
    dtype_npy::write_with(&mut file, records, options).unwrap();
    file
}

fn every_option() -> impl Iterator<Item = NumpyOptions> {
    [NumpyOptions::packed(), NumpyOptions::memory()].into_iter().flat_map(|options| {
        [ByteOrder::Little, ByteOrder::Big].map(|order| options.with_order(order))
    })
}

/// A file with this header, and these bytes after it.
fn with_header(version: (u8, u8), text: &[u8], data: &[u8]) -> Vec<u8> {
    let mut file = b"\x93NUMPY".to_vec();
    file.extend([version.0, version.1]);
    let width = if version.0 == 1 { 2 } else { 4 };
    file.extend(&(text.len() as u32).to_le_bytes()[..width]);
    file.extend(text);
    file.extend(data);
    file
}

/// Runs a program in a folder; false without NumPy.
fn run(program: &str, folder: &Path) -> bool {
    let Some(python) = python::with("numpy") else { return false };
    let output = Command::new(python).args(["-c", program]).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    true
}

/// A folder that is removed at the end.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("dtype-npy-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri starts no Python")]
fn numpy_reads_what_is_written_here_and_writes_the_same() {
    let folder = Folder::new("there");
    let records = bodies(3);
    for (i, options) in every_option().enumerate() {
        fs::write(folder.0.join(format!("{i}.npy")), file_of(&records, &options)).unwrap();
    }
    fs::write(
        folder.0.join("numbers.npy"),
        file_of(&[[[1_i16, 2, 3]; 2]; 4], &NumpyOptions::packed()),
    )
    .unwrap();
    // Everything comes back equal, and NumPy writes the very same file.
    let program = "
import numpy as np
def plain(value):
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    return type(value)(map(plain, value)) if isinstance(value, (list, tuple)) else value
expected = [
    (-5, [1.5, -2.25, 0.0], [[('é', 3), ('😀', 200)]], True, (65535, -1)),
    (-4, [1.5, -2.25, 1.0], [[('é', 3), ('😀', 200)]], False, (65535, -2)),
    (-3, [1.5, -2.25, 2.0], [[('é', 3), ('😀', 200)]], True, (65535, -3))]
again = tuple(int(n) for n in np.__version__.split('.')[:2]) >= (1, 23)
for name in ['0', '1', '2', '3', 'numbers']:
    array = np.load(name + '.npy')
    if name == 'numbers':
        assert array.shape == (4, 2, 3) and array.dtype == '<i2' and (array == [1, 2, 3]).all()
    else:
        assert plain(array) == expected, array
        assert array.dtype.names == ('charge', 'position', 'tags', 'on', 'type'), array.dtype
        assert array.dtype['position'].base.byteorder == ('=' if name in '02' else '>'), name
        assert array.dtype.itemsize == (46 if name in '01' else 72), array.dtype
    np.save('again.npy', array)
    ours, theirs = open(name + '.npy', 'rb').read(), open('again.npy', 'rb').read()
    assert not again or ours == theirs, (ours, theirs)
";
    if cfg!(target_endian = "little") {
        run(program, &folder.0);
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri starts no Python")]
fn numpy_writes_what_is_read_here() {
    let folder = Folder::new("back");
    let program = "
import numpy as np
values = [
    (-5, [1.5, -2.25, 0.0], [[('é', 3), ('😀', 200)]], True, (65535, -1)),
    (-4, [1.5, -2.25, 1.0], [[('é', 3), ('😀', 200)]], False, (65535, -2))]
def fields(order):
    tag = [('letter', order + 'U1'), ('kind', 'u1')]
    return [('charge', 'i1'), ('position', order + 'f8', 3), ('tags', tag, (1, 2)), ('on', '?'),
            ('type', [('0', order + 'u2'), ('1', order + 'i8')])]
def aligned(order):
    return np.dtype([(n, np.dtype(t, align=True) if isinstance(t, list) else t, *s) for n, t, *s in fields(order)], align=True)
np.save('packed.npy', np.array(values, dtype=fields('<')))
np.save('big.npy', np.array(values, dtype=fields('>')))
np.save('aligned.npy', np.array(values, dtype=aligned('<')))
other = fields('<')
np.save('order.npy', np.array([(v[3], v[1], v[4], v[0], v[2]) for v in values],
    dtype=[other[i] for i in (3, 1, 4, 0, 2)]))
np.save('two.npy', np.array([values, values], dtype=fields('<')))
np.save('zero.npy', np.array(values[0], dtype=fields('<')))
np.save('empty.npy', np.zeros((0, 5), dtype=fields('<')))
with open('second.npy', 'wb') as file:
    np.lib.format.write_array(file, np.array(values, dtype=fields('<')), version=(2, 0))
with open('third.npy', 'wb') as file:
    np.lib.format.write_array(file, np.array(values, dtype=fields('<')), version=(3, 0))
np.save('fortran.npy', np.asfortranarray(np.zeros((2, 3))))
np.save('names.npy', np.array([(1, 2)], dtype=[('größe', '<u4'), ('温度', '<i2')]))
np.save('numbers.npy', np.arange(12, dtype='>i4').reshape(2, 2, 3))
np.save('dates.npy', np.array([1, 2], dtype='M8[ns]'))
np.save('object.npy', np.array([None, {}], dtype=object), allow_pickle=True)
np.save('mixed.npy', np.array([(1, 2)], dtype=[('a', '<u4'), ('b', '>u4')]))
np.save('complex.npy', np.array([1 + 2j]))
np.save('void.npy', np.array([(bytes(range(16)), 1)], dtype=[('a', 'V16'), ('b', '<u2')]))
";
    if !run(program, &folder.0) || cfg!(target_endian = "big") {
        return;
    }
    let file = |name: &str| fs::read(folder.0.join(format!("{name}.npy"))).unwrap();
    let read = |name: &str| dtype_npy::read::<Body>(&file(name)[..]);
    for name in ["packed", "big", "aligned", "order", "second", "third"] {
        assert_eq!(read(name).unwrap(), bodies(2), "{name}");
    }
    assert_eq!(read("two").unwrap(), [bodies(2), bodies(2)].concat());
    assert_eq!(read("zero").unwrap(), bodies(1));
    assert_eq!(read("empty").unwrap(), []);
    assert_eq!(Header::read(&file("third")[..]).unwrap().version, (3, 0));
    assert_eq!(dtype_npy::read::<f64>(&file("fortran")[..]).unwrap(), [0.0; 6]);

    #[derive(Datatype, Debug, PartialEq)]
    struct Named {
        größe: u32,
        温度: i16,
    }
    let names = file("names");
    assert_eq!(Header::read(&names[..]).unwrap().version, (3, 0));
    assert_eq!(dtype_npy::read::<Named>(&names[..]).unwrap(), [Named { größe: 1, 温度: 2 }]);
    assert_eq!(file_of(&[Named { größe: 1, 温度: 2 }], &NumpyOptions::packed()), names);

    let numbers = file("numbers");
    assert_eq!(dtype_npy::read::<i32>(&numbers[..]).unwrap(), (0..12).collect::<Vec<_>>());
    assert_eq!(dtype_npy::read::<[i32; 3]>(&numbers[..]).unwrap()[3], [9, 10, 11]);
    assert_eq!(
        dtype_npy::read::<[[i32; 3]; 2]>(&numbers[..]).unwrap()[1],
        [[6, 7, 8], [9, 10, 11]]
    );
    assert!(matches!(
        dtype_npy::read::<[i32; 2]>(&numbers[..]),
        Err(NpyError::Dtype(DtypeError::Shape { .. }))
    ));
    assert!(matches!(
        dtype_npy::read::<i64>(&file("dates")[..]),
        Err(NpyError::Dtype(DtypeError::Format { .. }))
    ));
    assert!(dtype_npy::read::<u64>(&file("object")[..]).is_err());
    let mixed = dtype_npy::read::<Pair>(&file("mixed")[..]).unwrap_err();
    assert_eq!(mixed.to_string(), "field `b` has another byte order than the fields before");

    #[derive(Datatype, Debug, PartialEq)]
    struct Wide {
        a: u128,
        b: u16,
    }
    let a = u128::from_le_bytes(core::array::from_fn(|i| i as u8));
    assert_eq!(dtype_npy::read::<Wide>(&file("void")[..]).unwrap(), [Wide { a, b: 1 }]);
    assert_eq!(
        dtype_npy::read::<num_complex::Complex<f64>>(&file("complex")[..]).unwrap(),
        [num_complex::Complex::new(1.0, 2.0)]
    );
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Pair {
    a: u32,
    b: u32,
}

#[test]
fn records_come_back_in_every_layout_and_order() {
    // Each file takes Miri seconds.
    let counts: &[usize] = if cfg!(miri) { &[2] } else { &[0, 1, 3, 5000] };
    for &count in counts {
        let records = bodies(count);
        for options in every_option() {
            let file = file_of(&records, &options);
            let header = Header::read(&file[..]).unwrap();
            assert_eq!(header.shape, [count as u64]);
            let start = file.len() - count * header.dtype.itemsize() as usize;
            assert_eq!(start % 64, 0);
            assert_eq!(file[start - 1], b'\n');
            assert_eq!(dtype_npy::read::<Body>(&file[..]).unwrap(), records, "{options:?}");
        }
    }
}

#[test]
fn a_reader_is_left_after_the_array() {
    let mut files = file_of(&[1_u16, 2], &NumpyOptions::packed());
    files.extend(file_of(&[3_u8], &NumpyOptions::packed()));
    let mut rest = &files[..];
    assert_eq!(dtype_npy::read::<u16>(&mut rest).unwrap(), [1, 2]);
    assert_eq!(dtype_npy::read::<u8>(&mut rest).unwrap(), [3]);
    assert!(
        matches!(dtype_npy::read::<u8>(&mut rest), Err(NpyError::Magic { found }) if found.is_empty())
    );
}

#[test]
fn padding_is_zero_in_memory_layout() {
    let file = file_of(&[(1_u8, 2_u32)], &NumpyOptions::memory());
    let item = &file[file.len() - 8..];
    assert_eq!(item.iter().filter(|byte| **byte != 0).count(), 2, "{item:?}");
}

/// The items of a file lie as the records of a slice do, whatever extent the type has for MPI.
#[test]
fn a_resized_type_has_the_stride_of_a_slice() {
    fn check<T: Datatype>(records: &[T], pairs: &[(u32, u8)]) {
        let expected = file_of(pairs, &NumpyOptions::memory());
        let file = file_of(records, &NumpyOptions::memory());
        let items = 8 * records.len();
        assert_eq!(file[file.len() - items..], expected[expected.len() - items..]);
        assert_eq!(pack(&dtype_npy::read::<T>(&file[..]).unwrap()), pack(records));
    }
    macro_rules! check {
        ($($extent:literal)*) => { $({
            #[derive(Datatype)]
            #[dtype(resize(lb = 0, extent = $extent))]
            #[repr(C)]
            struct Resized {
                a: u32,
                b: u8,
            }
            let pairs = [(1, 2), (0x0304_0506, 7), (8, 9)];
            check(&pairs.map(|(a, b)| Resized { a, b }), &pairs);
        })* };
    }
    // The end of the data, less than that, the size, and more.
    check!(5 4 8 16);
}

/// Bytes at a multiple of 64.
fn aligned(bytes: &[u8]) -> (Vec<u8>, usize) {
    let mut all = vec![0; bytes.len() + 64];
    let start = all.as_ptr().align_offset(64).min(64);
    all[start..start + bytes.len()].copy_from_slice(bytes);
    (all, start)
}

#[test]
fn a_file_is_viewed_in_place() {
    let count = if cfg!(miri) { 3 } else { 300 };
    let records = bodies(count);
    let memory = NumpyOptions::memory();
    let (all, start) = aligned(&file_of(&records, &memory));
    let file = &all[start..];
    let view: &[Body] = dtype_npy::view(file).unwrap();
    assert_eq!(view, records);
    assert!(file.as_ptr_range().contains(&view.as_ptr().cast()));
    let written = file_of(&records, &memory).len();
    assert!(matches!(
        dtype_npy::view::<Body>(&file[..written - 1]),
        Err(NpyError::Truncated { expected, actual })
            if expected == 72 * count as u64 && actual == expected - 1
    ));
    // An invalid value in the last record.
    let on = start + written - size_of::<Body>() + core::mem::offset_of!(Body, on);
    let mut bad = all.clone();
    let shift = bad.as_ptr().align_offset(64).min(64);
    bad.copy_within(start..start + written, shift);
    bad[on - start + shift] = 2;
    let error = dtype_npy::view::<Body>(&bad[shift..]).unwrap_err();
    let text = format!("record {}, field on: 0x2 is not a valid bool", count - 1);
    assert_eq!(error.to_string(), text);

    let packed = file_of(&records, &NumpyOptions::packed());
    assert_eq!(
        dtype_npy::view::<Body>(&packed).unwrap_err().to_string(),
        "field `position` is at offset 1 of the dtype, expected 8 to use it in place"
    );
    let other =
        if ByteOrder::NATIVE == ByteOrder::Little { ByteOrder::Big } else { ByteOrder::Little };
    let big = file_of(&records, &memory.with_order(other));
    assert!(matches!(
        dtype_npy::view::<Body>(&big),
        Err(NpyError::Dtype(DtypeError::ByteOrder { field, .. })) if field == "position"
    ));
}

#[test]
fn a_misaligned_file_is_refused() {
    let file = file_of(&[1_u64, 2], &NumpyOptions::packed());
    let (mut all, start) = aligned(&file);
    all.rotate_right(1);
    assert!(matches!(
        dtype_npy::view::<u64>(&all[start + 1..]),
        Err(NpyError::Records(Error::Misaligned { offset: 1, alignment: 8 }))
    ));
}

/// Julia writes vectors in Fortran's order.
#[test]
fn the_order_of_one_axis_does_not_count() {
    for (shape, in_place) in [("(4,)", true), ("(1, 4, 1)", true), ("()", true), ("(2, 2)", false)]
    {
        let dict = format!("{{'descr': '|u1', 'fortran_order': True, 'shape': {shape}, }}");
        let file = with_header((1, 0), dict.as_bytes(), &[1, 2, 3, 4]);
        let (read, view) = (dtype_npy::read::<u8>(&file[..]), dtype_npy::view::<u8>(&file));
        assert_eq!((read.is_ok(), view.is_ok()), (true, in_place), "{shape}");
        assert!(view.is_ok() || matches!(view, Err(NpyError::FortranOrder)));
    }
}

#[test]
fn bad_headers_say_what_was_found() {
    let says = |file: &[u8], expected: &str| {
        let error = dtype_npy::read::<Pair>(file).unwrap_err();
        assert_eq!(error.to_string(), expected);
        // The headers are little-endian, which a view on other machines may say first.
        if cfg!(target_endian = "little") {
            assert_eq!(dtype_npy::view::<Pair>(file).unwrap_err().to_string(), expected);
        }
    };
    let header = |text: &str| with_header((1, 0), text.as_bytes(), &[0; 64]);
    let descr = |descr: &str| {
        header(&format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (2,), }}"))
    };
    says(b"PK\x03\x04 not", r#"not a .npy file: it begins with "PK\\x03\\x04 n""#);
    says(b"\x93NUMPY", "the file ends after 6 of 8 bytes");
    says(b"\x93NUMPY\x01\x00\x10", "the file ends after 9 of 10 bytes");
    says(b"\x93NUMPY\x01\x00\x10\x00{", "the file ends after 11 of 26 bytes");
    says(b"\x93NUMPY\x04\x00", "version 4.0 of the .npy format, expected 1.0, 2.0 or 3.0");
    says(b"\x93NUMPY\x01\x01", "version 1.1 of the .npy format, expected 1.0, 2.0 or 3.0");
    says(
        b"\x93NUMPY\x02\x00\xff\xff\xff\xff",
        "a header of 4294967295 bytes, expected at most 1048576",
    );
    says(&with_header((3, 0), b"{'\xff'", &[]), "byte 2 of the header: not UTF-8");
    says(
        &header("{'descr': "),
        "byte 10 of the header: expected a string, a number, `True`, `False` or a bracket",
    );
    says(&header("[]"), "the header is a list, expected a dict");
    says(&header("{}"), "the header has no key `descr`");
    says(&header("{'descr': 'u1', 'descr': 'u1'}"), "the header has the key `descr` 2 times");
    says(
        &header("{'x': 1}"),
        "the header has the unknown key `x`, expected `descr`, `fortran_order` and `shape`",
    );
    says(
        &header("{'descr': 'u1', 'fortran_order': 0, 'shape': ()}"),
        "`fortran_order` is a number, expected `True` or `False`",
    );
    says(
        &header("{'descr': 'u1', 'fortran_order': False, 'shape': 2}"),
        "`shape` is a number, expected a tuple of lengths",
    );
    says(
        &header(
            "{'descr': [('a', '<u4'), ('b', '<u4')], 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
        ),
        "an array of shape (4294967296, 4294967296) with items of 8 bytes is larger than memory can address",
    );
    says(&descr("7"), "`descr` is a number, expected a format or a list of fields");
    says(&descr("'<f3'"), "`descr` is `<f3`, expected a format such as `<f8`, `|b1` or `|V16`");
    says(
        &descr("[('a', '<u4'), ('b', 'x')]"),
        "field `b` is `x`, expected a format such as `<f8`, `|b1` or `|V16`",
    );
    says(
        &descr("[('a', '<u4'), ('a', '<u4')]"),
        "field `a` is there twice, expected a name of its own",
    );
    says(
        &descr("[('a', '|V9223372036854775807'), ('b', '<u4')]"),
        "field `b` is larger than memory can address, expected a size of at most 63 bits",
    );
    says(&descr("'<u8'"), "the item is <u8 in the dtype, expected a structure");
    says(&descr("[('a', '<u4')]"), "field `b` is missing in the dtype");
    says(
        &descr("[('a', '<u4'), ('b', '<u4'), ('c', '<u4')]"),
        "field `c` of the dtype is not a field of the type, or is there twice",
    );
    let native = if ByteOrder::NATIVE == ByteOrder::Little { '<' } else { '>' };
    says(
        &descr("[('a', '<u4'), ('b', '<f4')]"),
        &format!("field `b` is <f4 in the dtype, expected {native}u4"),
    );
    says(
        &descr("[('a', '<u4'), ('b', '<u4', (2,))]"),
        "field `b` has the shape (2,) in the dtype, expected no shape",
    );
    says(
        &with_header(
            (1, 0),
            b"{'descr': [('a', '<u4'), ('b', '<u4')], 'fortran_order': False, 'shape': (9,), }",
            &[0; 64],
        ),
        "the file ends after 64 of 72 bytes",
    );
}

/// A byte of Latin-1 in the file is two in UTF-8, in memory.
#[test]
fn errors_name_the_byte_of_the_file() {
    for (version, e, at) in
        [((1, 0), &b"\xe9"[..], 25), ((2, 0), b"\xe9", 25), ((3, 0), "é".as_bytes(), 26)]
    {
        let text = [b"{'descr': [('", e, b"', '<u4'), ?"].concat();
        assert_eq!(text[at], b'?');
        let error = Header::read(&with_header(version, &text, &[])[..]).unwrap_err();
        assert!(matches!(error, NpyError::Header { offset, .. } if offset == at), "{error}");
    }
}

#[test]
fn names_in_errors_are_escaped() {
    let (name, there) = (r"\x1b[2J\n", r"field `\u{1b}[2J\n`");
    let says = |descr: &str, expected: &str| {
        let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (2,), }}");
        let error = dtype_npy::read::<Pair>(&with_header((1, 0), text.as_bytes(), &[0; 64])[..]);
        assert_eq!(error.unwrap_err().to_string(), format!("{there} {expected}"));
    };
    says(&format!("[('{name}', 'x')]"), "is `x`, expected a format such as `<f8`, `|b1` or `|V16`");
    says(
        &format!("[('a', '<u4'), ('b', '<u4'), ('{name}', '<u4')]"),
        "of the dtype is not a field of the type, or is there twice",
    );
}

#[test]
fn a_huge_shape_takes_no_memory() {
    let text = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({},), }}", i64::MAX);
    let file = with_header((1, 0), text.as_bytes(), &[1, 2, 3]);
    assert!(matches!(dtype_npy::read::<u8>(&file[..]), Err(NpyError::Truncated { actual: 3, .. })));
    // No item, whatever the other axes are.
    let text =
        format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({0}, {0}, 0), }}", i64::MAX);
    assert_eq!(
        dtype_npy::read::<u8>(&with_header((1, 0), text.as_bytes(), &[])[..]).unwrap(),
        [0; 0]
    );
    assert!(matches!(dtype_npy::read::<()>(&file[..]), Err(NpyError::NoData)));
    assert!(matches!(dtype_npy::write(io::sink(), &[()]), Err(NpyError::NoData)));
}

#[test]
fn raw_bytes_have_no_other_order() {
    let other =
        if ByteOrder::NATIVE == ByteOrder::Little { ByteOrder::Big } else { ByteOrder::Little };
    let records = [(1_u16, 2_u128)];
    let error =
        dtype_npy::write_with(io::sink(), &records, &NumpyOptions::packed().with_order(other));
    assert_eq!(
        error.unwrap_err().to_string(),
        "field `1` has another byte order than the fields before"
    );
    let file = file_of(&records, &NumpyOptions::packed());
    assert_eq!(dtype_npy::read::<(u16, u128)>(&file[..]).unwrap(), records);
    // Also where no other value shows the order; bytes have none.
    for options in [NumpyOptions::packed(), NumpyOptions::memory()].map(|o| o.with_order(other)) {
        let mixed =
            |result| matches!(result, Err(NpyError::Dtype(DtypeError::MixedByteOrder { .. })));
        assert!(mixed(dtype_npy::write_with(io::sink(), &[1_i128, 2], &options)));
        assert!(mixed(dtype_npy::write_with(io::sink(), &[(1_u8, 1_i128)], &options)));
        assert!(dtype_npy::write_with(io::sink(), &[(1_u8, true)], &options).is_ok());
    }
}

/// Without a panic, and without a byte from outside the buffer.
#[test]
fn a_reader_that_claims_more_than_it_may_is_refused() {
    struct Lies(u8);
    impl Read for Lies {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            self.0 += 1;
            Ok(if self.0 == 1 { 3 } else { usize::MAX })
        }
    }
    assert!(dtype_npy::read::<u8>(Lies(0)).is_err());
}

#[test]
fn failures_of_the_reader_and_the_writer_are_returned() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("no"))
        }
    }
    impl io::Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::other("full"))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    assert!(
        matches!(dtype_npy::read::<u8>(Failing), Err(NpyError::Io(error)) if error.to_string() == "no")
    );
    assert!(
        matches!(dtype_npy::write(Failing, &[1_u8]), Err(NpyError::Io(error)) if error.to_string() == "full")
    );
}

/// A file whose items have the fields of `Body` at random places, beside the naive reference: a loop over the items that
/// copies the bytes of each value.
fn scrambled(records: &[Body], order: &[usize], gaps: &[u64], big: bool) -> Vec<u8> {
    let byte_order = if big { ByteOrder::Big } else { ByteOrder::Little };
    let whole = Dtype::of::<Body>(&NumpyOptions::packed().with_order(byte_order));
    let dtype_npy::Kind::Structure { fields } = whole.kind() else { panic!("{whole}") };
    let packed = file_of(records, &NumpyOptions::packed().with_order(byte_order));
    let size = pack(&records[..1]).len();
    let packed = &packed[packed.len() - size * records.len()..];
    let (mut placed, mut at) = (Vec::new(), 0);
    for (index, gap) in order.iter().zip(gaps) {
        let field = &fields[*index];
        at += gap;
        placed.push((
            field.offset as usize,
            at as usize,
            field.dtype.itemsize() as usize,
            DtypeField { offset: at, ..field.clone() },
        ));
        at += field.dtype.itemsize();
    }
    let itemsize = at + gaps[5];
    let mut data = vec![0xaa; itemsize as usize * records.len()];
    for (item, record) in data.chunks_mut(itemsize as usize).zip(packed.chunks(size)) {
        for (from, to, len, _) in &placed {
            item[*to..to + len].copy_from_slice(&record[*from..from + len]);
        }
    }
    let fields = placed.into_iter().map(|(.., field)| field).collect();
    let dtype = Dtype::structure(fields, itemsize).unwrap();
    let header =
        Header { version: (1, 0), dtype, fortran_order: false, shape: vec![records.len() as u64] };
    [header.to_bytes().unwrap(), data].concat()
}

proptest! {
    #![proptest_config(model::config(64))]

    #[test]
    fn fields_are_found_wherever_they_are(
        order in Just((0..5).collect::<Vec<usize>>()).prop_shuffle(),
        gaps in proptest::collection::vec(0_u64..9, 6),
        count in 1_usize..20,
        big: bool,
    ) {
        let records = bodies(count);
        let file = scrambled(&records, &order, &gaps, big);
        prop_assert_eq!(dtype_npy::read::<Body>(&file[..]).unwrap(), records);
    }

    #[test]
    fn random_bytes_are_refused_or_read(bytes in proptest::collection::vec(any::<u8>(), 0..80), at in 0_usize..120, byte: u8) {
        prop_assert!(dtype_npy::read::<Body>(&bytes[..]).is_err());
        // One byte of a good file is another.
        let mut file = file_of(&bodies(2), &NumpyOptions::packed());
        file[at] = byte;
        if let Ok(header) = Header::read(&file[..]) {
            let again = header.to_bytes().unwrap();
            let read_again = Header::read(&again[..]).unwrap();
            prop_assert_eq!((read_again.dtype, read_again.shape), (header.dtype, header.shape));
        }
        let _ = dtype_npy::read::<Body>(&file[..]);
    }
}
