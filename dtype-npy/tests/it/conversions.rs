//! What NumPy stores otherwise than a record has it: text, numbers of another width, times, and fields that a record lacks.
//!
//! Without `python3` and its `numpy`, the tests that need them print a note, and pass.

#![allow(clippy::items_after_statements, reason = "structs beside the test that uses them")]
#![allow(clippy::trivially_copy_pass_by_ref, reason = "as the crate takes them")]

use std::fs;
use std::io::{self, Cursor, Read};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use dtype_npy::{Dtype, Header, NpyError, NumpyOptions, NumpyText, ReadOptions, Reader, Writer};
use dtype_runtime::representation::ByteOrder;
use dtype_runtime::time::{Milliseconds, Nanoseconds};
use dtype_runtime::{Datatype, FixedStr, FixedVec, Maybe, TimeSpan, Timestamp};
use dtype_test_support::python;

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Sample {
    id: u32,
    name: FixedStr<8>,
    tags: [FixedStr<4>; 2],
    parts: [(bool, FixedStr<6>); 2],
    at: Timestamp<Nanoseconds>,
    value: f64,
}

fn samples() -> Vec<Sample> {
    let text = |i: usize| ["Aïda", "", "Fidelio", "Tosca"][i % 4];
    (0..5)
        .map(|i| Sample {
            id: u32::try_from(i).unwrap(),
            name: text(i).parse().unwrap(),
            tags: ["é".parse().unwrap(), "abcd".parse().unwrap()],
            parts: [(true, "first".parse().unwrap()), (false, FixedStr::EMPTY)],
            at: Timestamp::new(1_000_000_007 * i64::try_from(i).unwrap()),
            value: 0.5,
        })
        .collect()
}

fn file_of<T: Datatype>(records: &[T], options: &NumpyOptions) -> Vec<u8> {
    let mut file = Vec::new();
    dtype_npy::write_with(&mut file, records, options).unwrap();
    file
}

/// Runs a program with the path of a file; false without NumPy.
fn run(program: &str, path: &PathBuf) -> bool {
    let Some(python) = python::with("numpy") else { return false };
    let output = Command::new(python).args(["-c", program]).arg(path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    true
}

/// The file that a program saves; `None` without NumPy.
pub(crate) fn saved(name: &str, program: &str) -> Option<Vec<u8>> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("dtype-npy-{name}-{}-{number}.npy", std::process::id());
    let path = std::env::temp_dir().join(name);
    let program = format!("import sys\nimport numpy as np\npath = sys.argv[1]\n{program}");
    let file = run(&program, &path).then(|| fs::read(&path).unwrap());
    drop(fs::remove_file(&path));
    file
}

#[test]
fn text_comes_back() {
    let samples = samples();
    for text in [NumpyText::Fields, NumpyText::Characters, NumpyText::Bytes] {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let options = NumpyOptions::packed().with_text(text).with_order(order);
            let file = file_of(&samples, &options);
            assert_eq!(dtype_npy::read::<Sample>(&file[..]).unwrap(), samples, "{options:?}");
        }
    }
    let memory = NumpyOptions::memory().with_text(NumpyText::Characters);
    assert_eq!(dtype_npy::read::<Sample>(&file_of(&samples, &memory)[..]).unwrap(), samples);
    // An absent text is an empty one.
    let maybe = [Maybe::<FixedStr<3>>::none(), Maybe::some("abc".parse().unwrap())];
    let file = file_of(&maybe, &NumpyOptions::file());
    assert_eq!(dtype_npy::read::<Maybe<FixedStr<3>>>(&file[..]).unwrap(), maybe);
    let none = [FixedStr::<0>::EMPTY; 2];
    let file = file_of(&none, &NumpyOptions::file());
    assert!(matches!(dtype_npy::read::<FixedStr<0>>(&file[..]), Err(NpyError::NoData)));
}

#[test]
#[cfg_attr(miri, ignore = "Miri starts no Python")]
fn numpy_sees_strings_and_times() {
    let path = std::env::temp_dir().join(format!("dtype-npy-strings-{}.npy", std::process::id()));
    let program = "
import sys
import numpy as np
a = np.load(sys.argv[1])
assert a['name'].tolist() == ['Aïda', '', 'Fidelio', 'Tosca', 'Aïda'], a['name']
assert a['name'].dtype == '<U8' and a['tags'].shape == (5, 2), a.dtype
assert a['tags'][3].tolist() == ['é', 'abcd']
assert a['parts']['1'][0].tolist() == ['first', '']
assert a['at'].dtype == 'M8[ns]' and a['at'][1] == np.datetime64(1000000007, 'ns'), a['at']
";
    fs::write(&path, file_of(&samples(), &NumpyOptions::file())).unwrap();
    run(program, &path);
    let bytes = NumpyOptions::packed().with_text(NumpyText::Bytes);
    fs::write(&path, file_of(&samples(), &bytes)).unwrap();
    let program = "
import sys
import numpy as np
a = np.load(sys.argv[1])
assert a['name'].dtype == 'S8' and np.char.decode(a['name'])[0] == 'Aïda', a
";
    run(program, &path);
    drop(fs::remove_file(&path));
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Row {
    id: u64,
    small: i16,
    mass: f64,
    name: FixedStr<6>,
    when: Timestamp<Milliseconds>,
    took: TimeSpan<Nanoseconds>,
}

const ROWS: &str = "
a = np.zeros(3, [('pad', 'i8'), ('mass', ORDER + 'f4'), ('id', ORDER + 'u4'), ('name', TEXT), ('more', 'f8', (2, 2)),
    ('small', ORDER + 'i8'), ('when', ORDER + 'M8[ms]'), ('took', ORDER + 'm8[ns]'), ('inner', [('x', 'i1')])])
a['id'] = [1, 2, 2**32 - 1]
a['mass'] = [.5, np.inf, -1]
a['small'] = [-1, 32767, -32768]
a['name'] = [b'one', b'', b'sixsix'] if 'S' in TEXT else ['één', '', 'sixsix']
a['when'] = ['1970-01-01T00:00:01', '2026-11-27', '1969-12-31T23:59:59']
a['took'] = [-1, 0, 2**40]
np.save(path, a)
";

#[test]
#[cfg_attr(miri, ignore = "Miri starts no Python")]
fn some_of_the_fields_of_numpy_in_other_widths() {
    for order in ["<", ">"] {
        for (text, first) in [("'S8'", "one"), ("ORDER + 'U7'", "één")] {
            let program = ROWS.replace("TEXT", &format!("({text})"));
            let program = program.replace("ORDER", &format!("'{order}'"));
            let Some(file) = saved("rows", &program) else { return };
            let error = dtype_npy::read::<Row>(&file[..]).unwrap_err().to_string();
            assert!(error.starts_with("field `id` is "), "{error}");
            let options = ReadOptions::strict().with_number_conversion();
            let error = dtype_npy::read_with::<Row>(&file[..], &options).unwrap_err().to_string();
            assert_eq!(
                error,
                "field `pad` of the dtype is not a field of the type, or is there twice"
            );
            let all = dtype_npy::read_with::<Row>(&file[..], &options.with_other_fields()).unwrap();
            assert_eq!(all.left_out, ["pad", "more", "inner"]);
            let row = |id, small, mass, name: &str, when, took| Row {
                id,
                small,
                mass,
                name: name.parse().unwrap(),
                when: Timestamp::new(when),
                took: TimeSpan::new(took),
            };
            let expected = [
                row(1, -1, 0.5, first, 1000, -1),
                row(2, 32767, f64::INFINITY, "", 1_795_737_600_000, 0),
                row((1 << 32) - 1, -32768, -1.0, "sixsix", -1000, 1 << 40),
            ];
            assert_eq!(all.records, expected);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri starts no Python")]
fn values_that_a_record_does_not_have_are_errors() {
    #[derive(Datatype, Debug, PartialEq)]
    struct Short {
        names: [FixedStr<3>; 2],
    }
    #[derive(Datatype, Debug, PartialEq)]
    struct Number {
        n: u8,
    }
    #[derive(Datatype, Debug, PartialEq)]
    struct Single {
        x: f32,
    }
    #[derive(Datatype, Debug, PartialEq)]
    struct Seconds {
        t: Timestamp<Nanoseconds>,
    }
    fn error<T: Datatype>(program: &str) -> Option<String> {
        let file = saved("wrong", &format!("np.save(path, {program})"))?;
        let options = ReadOptions::strict().with_number_conversion();
        Some(dtype_npy::read_with::<T>(&file[..], &options).err().unwrap().to_string())
    }
    let names = "np.array([(['a', 'b'],), (['c', LAST],)], [('names', 'FORMAT', 2)])";
    let names = |last: &str, format: &str| names.replace("LAST", last).replace("FORMAT", format);
    let Some(long) = error::<Short>(&names("'dddd'", "U5")) else { return };
    let at = "record 1, field names[1]: not a valid text:";
    assert_eq!(long, format!("{at} its length is 4, and the capacity 3"));
    assert_eq!(error::<Short>(&names("'dddd'", "S5")).unwrap(), long);
    // Two characters of two bytes each.
    assert_eq!(error::<Short>(&names("'éé'", "U2")).unwrap(), long);
    let invalid = error::<Short>(&names("b'\\xff'", "S5")).unwrap();
    assert_eq!(invalid, format!("{at} invalid utf-8 sequence of 1 bytes from index 0"));
    let surrogate = error::<Short>("np.array([(['a', '\\ud800'],)], [('names', 'U3', 2)])");
    assert_eq!(
        surrogate.unwrap(),
        "record 0, field names[1]: not a valid text: 0xd800 is not a valid char"
    );
    let numbers = |values: &str| format!("np.array({values}, [('n', '>i8')])");
    assert_eq!(
        error::<Number>(&numbers("[(255,), (-3,)]")).unwrap(),
        "record 1, field n: not a valid u8: -3 is not one of its numbers"
    );
    assert_eq!(
        error::<Number>(&numbers("[(256,)]")).unwrap(),
        "record 0, field n: not a valid u8: 256 is not one of its numbers"
    );
    assert_eq!(
        error::<Single>("np.array([(.5,), (.1,)], [('x', 'f8')])").unwrap(),
        "record 1, field x: not a valid f32: 0.1 is not one of its numbers"
    );
    assert_eq!(
        error::<Single>("np.array([(1,)], [('x', 'i8')])").unwrap(),
        "field `x` is <i8 in the dtype, expected <f4"
    );
    assert_eq!(
        error::<Seconds>("np.zeros(1, [('t', 'm8[s]')])").unwrap(),
        "field `t` is <m8[s] in the dtype, expected <M8[ns]"
    );
    assert_eq!(
        error::<Seconds>("np.array([('2262-04-11',), ('2262-04-12',)], [('t', 'M8[D]')])").unwrap(),
        "record 1, field t: not a valid Timestamp: 9223372800000000000 is not one of its numbers"
    );
    assert_eq!(
        error::<Seconds>("np.array([(5,), (1,)], [('t', 'M8[200ps]')])").unwrap(),
        "record 1, field t: not a valid Timestamp: 1 times 200/1000000000000 seconds are no whole number of nanoseconds of 64 bits"
    );
    let days = saved("days", "np.save(path, np.array(['1970-01-03', 'NaT'], 'M8[D]'))").unwrap();
    let options = ReadOptions::strict().with_number_conversion();
    let days = dtype_npy::read_with::<i64>(&days[..], &options).unwrap().records;
    assert_eq!(days, [2, i64::MIN]);
    assert_eq!(
        error::<Seconds>("np.zeros(1, [('t', 'i4')])").unwrap(),
        "field `t` is <i4 in the dtype, expected <M8[ns]"
    );
}

#[test]
fn text_that_numpy_cannot_tell_from_padding_is_refused() {
    let records =
        [(1_u8, "a"), (2, "b\0")].map(|(i, text)| (i, text.parse::<FixedStr<2>>().unwrap()));
    let error = dtype_npy::write(Vec::new(), &records).unwrap_err().to_string();
    assert_eq!(
        error,
        "record 1, field 1: not a valid text: it has a zero or a blank where the stored text would end"
    );
    let fields = NumpyOptions::packed();
    assert_eq!(
        dtype_npy::read::<(u8, FixedStr<2>)>(&file_of(&records, &fields)[..]).unwrap(),
        records
    );
}

#[test]
fn files_are_read_and_written_piece_by_piece() {
    let all: Vec<(u16, FixedStr<4>)> =
        (0..1000).map(|i| (i, (i % 97).to_string().parse().unwrap())).collect();
    let mut file = Cursor::new(b"before".to_vec());
    file.set_position(6);
    let mut writer = Writer::new(&mut file, &NumpyOptions::file()).unwrap();
    all.chunks(7).for_each(|some| writer.write(some).unwrap());
    // A piece that is refused is not in the file.
    assert!(writer.write(&[(0, "1".parse().unwrap()), (1, "\0".parse().unwrap())]).is_err());
    writer.write(&all[..1]).unwrap();
    writer.finish().unwrap();
    let file = &file.into_inner()[6..];
    let expected = [&all[..], &all[..1]].concat();
    assert_eq!(file, file_of(&expected, &NumpyOptions::file()));

    let reader = Reader::<(u16, FixedStr<4>), _>::new(file, &ReadOptions::strict()).unwrap();
    assert_eq!((reader.len(), reader.position()), (1001, 0));
    let batches = reader.batches(300);
    assert_eq!(batches.size_hint(), (1, Some(4)));
    let batches: Vec<_> = batches.map(Result::unwrap).collect();
    assert_eq!(batches.iter().map(Vec::len).collect::<Vec<_>>(), [300, 300, 300, 101]);
    assert_eq!(batches.concat(), expected);
    // Cut off: the records before it, one error, and the end.
    let cut = &file[..file.len() - 1];
    let reader = Reader::<(u16, FixedStr<4>), _>::new(cut, &ReadOptions::strict()).unwrap();
    let mut batches = reader.batches(1000);
    assert_eq!(batches.next().unwrap().unwrap().len(), 1000);
    let error = batches.next().unwrap().unwrap_err();
    let items = 1001 * 18;
    assert!(
        matches!(error, NpyError::Truncated { expected, actual } if (expected, actual) == (items, items - 1))
    );
    assert!(batches.next().is_none());
}

/// An error counts all records of the file.
#[test]
fn an_error_counts_the_records_before_its_batch() {
    let mut file = file_of(&[true; 200], &NumpyOptions::packed());
    file[128 + 150] = 2;
    let reader = Reader::<bool, _>::new(&file[..], &ReadOptions::strict()).unwrap();
    let error = reader.batches(100).find_map(Result::err).unwrap().to_string();
    assert_eq!(error, "record 150: 0x2 is not a valid bool");
    let error = dtype_npy::read::<bool>(&file[..]).unwrap_err().to_string();
    assert_eq!(error, "record 150: 0x2 is not a valid bool");
    // Also where the records of the file are appended to others.
    let mut reader = Reader::<bool, _>::new(&file[..], &ReadOptions::strict()).unwrap();
    let mut records = vec![false; 170];
    assert_eq!(reader.read_onto(120, &mut records).unwrap(), 120);
    records.extend([true; 7]);
    let error = reader.read_onto(40, &mut records).unwrap_err().to_string();
    assert_eq!(error, "record 150: 0x2 is not a valid bool");
    assert_eq!((reader.position(), records.len()), (160, 297));
    // And after an error.
    file[128 + 199] = 3;
    let mut reader = Reader::<bool, _>::new(&file[..], &ReadOptions::strict()).unwrap();
    reader.read_onto(160, &mut records).unwrap_err();
    assert_eq!(reader.read_onto(30, &mut records).unwrap(), 30);
    let error = reader.read_onto(30, &mut records).unwrap_err().to_string();
    assert_eq!(error, "record 199: 0x3 is not a valid bool");
    assert_eq!(reader.read_onto(30, &mut records).unwrap(), 0);
}

/// Reads a few bytes at a time, and fails in between.
struct Failing<'a> {
    rest: &'a [u8],
    fails: bool,
}

impl Read for Failing<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.fails = !self.fails;
        if self.fails && self.rest.len() < 900 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let len = out.len().min(5);
        self.rest.read(&mut out[..len])
    }
}

#[test]
fn records_are_read_on_after_the_file_has_failed() {
    let records: Vec<(u8, u32)> = (0..200).map(|i| (7, i)).collect();
    let file = file_of(&records, &NumpyOptions::packed());
    let failing = Failing { rest: &file, fails: false };
    let mut reader = Reader::<(u8, u32), _>::new(failing, &ReadOptions::strict()).unwrap();
    let (mut found, mut most) = (Vec::new(), 0);
    loop {
        most = most % 9 + 1;
        match reader.read_onto(most, &mut found) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) => assert!(matches!(error, NpyError::Io(_)), "{error}"),
        }
        assert_eq!(reader.position(), found.len());
    }
    assert_eq!(found, records);
}

#[test]
fn a_stream_of_arrays_ends_between_two() {
    let arrays = [vec![(1_u8, 0.5_f64), (2, 1.5)], vec![], vec![(3, 2.5)]];
    let mut stream = Vec::new();
    let mut ends = vec![0];
    for array in &arrays {
        dtype_npy::write(&mut stream, array).unwrap();
        ends.push(stream.len());
    }
    for end in 0..=stream.len() {
        let mut from = &stream[..end];
        let mut found = Vec::new();
        let last = loop {
            match dtype_npy::read_next::<(u8, f64)>(&mut from) {
                Ok(Some(array)) => found.push(array),
                last => break last,
            }
        };
        assert_eq!(found, arrays[..found.len()]);
        match last {
            Ok(None) => assert!(ends.contains(&end), "{end}"),
            Err(NpyError::Truncated { .. } | NpyError::Magic { .. }) => {
                assert!(!ends.contains(&end), "{end}");
            }
            other => panic!("{end}: {other:?}"),
        }
    }
    // Piece by piece, and with options.
    let (mut from, options) = (&stream[..], ReadOptions::strict().with_other_fields());
    let mut numbers = Vec::new();
    while let Some(reader) = Reader::<(u8,), _>::next_array(&mut from, &options).unwrap() {
        assert_eq!(reader.left_out(), ["1"]);
        numbers.extend(reader.batches(1).map(Result::unwrap));
    }
    assert_eq!(numbers.concat(), [(1,), (2,), (3,)]);
    let mut from = &stream[..];
    let first = dtype_npy::read_next_with::<(u8,)>(&mut from, &options).unwrap().unwrap();
    assert_eq!((first.records.len(), from.len()), (2, stream.len() - ends[1]));
    assert_eq!(Header::read_next(&mut from).unwrap().unwrap().shape, [0]);
    // One array that is not there is an error.
    let error = dtype_npy::read::<u8>(&[][..]).unwrap_err().to_string();
    assert_eq!(error, "not a .npy file: it is empty");
}

#[test]
fn packed_files_are_read_in_place() {
    let records = [(1_u8, 2.5_f64, [7_u16; 3]), (2, 3.5, [8; 3])];
    let file = file_of(&records, &NumpyOptions::file());
    let packed = dtype_npy::view_packed::<(u8, f64, [u16; 3])>(&file).unwrap();
    assert_eq!(packed.iter().collect::<Vec<_>>(), records);
    let error = |options: NumpyOptions| {
        let file = file_of(&records, &options);
        dtype_npy::view_packed::<(u8, f64, [u16; 3])>(&file).err().unwrap().to_string()
    };
    let foreign =
        if ByteOrder::NATIVE == ByteOrder::Big { ByteOrder::Little } else { ByteOrder::Big };
    assert!(error(NumpyOptions::packed().with_order(foreign)).contains("in place on a machine"));
    assert!(error(NumpyOptions::memory()).contains("to use it in place"));
    let names = ["a".parse::<FixedStr<3>>().unwrap()];
    let file = file_of(&names, &NumpyOptions::file());
    let error = dtype_npy::view_packed::<FixedStr<3>>(&file).err().unwrap().to_string();
    assert_eq!(error, "the item is <U3 in the dtype, expected its length and its bytes");
    let file = file_of(&names, &NumpyOptions::packed());
    assert_eq!(dtype_npy::view_packed::<FixedStr<3>>(&file).unwrap().get(0), Some(names[0]));
}

#[test]
fn items_of_a_dtype_are_unpacked() {
    let dtype = Dtype::parse("[('n', '>u2'), ('more', 'u1')]").unwrap();
    let options = ReadOptions::strict().with_other_fields().with_number_conversion();
    #[derive(Datatype, Debug, PartialEq)]
    struct Number {
        n: i32,
    }
    let all = dtype.unpack::<Number>(&[1, 2, 9, 0, 1, 9], 2, &options).unwrap();
    assert_eq!(
        (all.records, all.left_out.concat()),
        (vec![Number { n: 258 }, Number { n: 1 }], "more".into())
    );
    assert!(dtype.unpack::<Number>(&[1, 2, 9, 0], 2, &options).is_err());
}

/// A text is checked where there is one.
#[test]
fn a_text_below_an_absent_value_is_not_checked() {
    #[derive(Datatype, Debug, PartialEq)]
    struct Named {
        name: Maybe<FixedStr<2>>,
        all: FixedVec<FixedStr<1>, 2>,
    }
    let dtype = "[('name', [('present', 'b1'), ('value', 'S3')]), ('all', [('len', '>u4'), ('items', 'U2', (2,))])]";
    let dtype = Dtype::parse(dtype).unwrap();
    let item = |present, name: [u8; 3], len: u8, items: [char; 4]| {
        let mut item = vec![present];
        item.extend(name);
        item.extend(u32::from(len).to_be_bytes());
        item.extend(items.iter().flat_map(|c| u32::from(*c).to_ne_bytes()));
        item
    };
    let read = |item: &[u8]| dtype.unpack::<Named>(item, 1, &ReadOptions::strict());
    let some = read(&item(1, *b"ab\0", 1, ['c', '\0', 'd', 'e'])).unwrap().records.remove(0);
    assert_eq!(
        (some.name.unwrap_or_default(), &some.all[..]),
        ("ab".parse().unwrap(), &["c".parse().unwrap()][..])
    );
    let none = read(&item(0, *b"abc", 0, ['c', 'd', 'e', 'f'])).unwrap().records.remove(0);
    assert!(none.name.is_none() && none.all.is_empty());
    // An absent value is zeros.
    assert!(dtype_runtime::pack(&[none]).iter().all(|byte| *byte == 0));
    let error = |item: &[u8]| read(item).unwrap_err().to_string();
    assert_eq!(
        error(&item(1, *b"abc", 0, ['c'; 4])),
        "record 0, field name.value: not a valid text: its length is 3, and the capacity 2"
    );
    assert_eq!(
        error(&item(0, *b"abc", 2, ['c', '\0', 'd', 'e'])),
        "record 0, field all.items[1]: not a valid text: its length is 2, and the capacity 1"
    );
}

/// What lies below an absent value, or after the end of a list, is no value: any bytes may be there.
#[test]
fn bytes_below_absent_values_are_not_checked() {
    #[derive(Datatype, Clone, Copy, Debug, PartialEq)]
    #[repr(u8)]
    enum Level {
        Low = 3,
        High = 4,
    }
    type Values = (FixedStr<2>, Level, u16, bool);
    let dtype = "[('0', 'U2'), ('1', 'u1'), ('2', '<i8'), ('3', '?')]";
    let options = ReadOptions::strict().with_number_conversion();
    let valid = [&b"a\0\0\0b\0\0\0\x04\xff\xff\0\0\0\0\0\0\x01"[..]].concat();
    let invalid = [&[0xff; 8][..], &[9], &[0xff; 8], &[2]].concat();
    let expected: Values = ("ab".parse().unwrap(), Level::High, 0xffff, true);

    let optional = Dtype::parse(&format!("[('present', '?'), ('value', {dtype})]")).unwrap();
    let items = [&[0][..], &invalid, &[1], &valid, &[0], &valid].concat();
    let found = optional.unpack::<Maybe<Values>>(&items, 3, &options).unwrap().records;
    assert_eq!(found, [Maybe::none(), Maybe::some(expected), Maybe::none()]);
    // Where there is a value, each of the four is checked, and so is whether there is one.
    for (at, message) in [
        (3, "record 1, field value.0: not a valid text: 0xff000061 is not a valid char"),
        (8, "record 1, field value.1: 0xff is not a valid Level"),
        (
            16,
            "record 1, field value.2: not a valid u16: -72057594037862401 is not one of its numbers",
        ),
        (17, "record 1, field value.3: 0xff is not a valid bool"),
    ] {
        let mut items = items.clone();
        items[20 + at] = 0xff;
        let error = optional.unpack::<Maybe<Values>>(&items, 3, &options).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
    let mut items = items;
    items[38] = 2;
    let error = optional.unpack::<Maybe<Values>>(&items, 3, &options).unwrap_err().to_string();
    assert_eq!(error, "record 2, field present: 0x2 is not a valid bool");

    let list = Dtype::parse(&format!("[('len', '>u8'), ('items', {dtype}, (2,))]")).unwrap();
    let items = [&[0, 0, 0, 0, 0, 0, 0, 1][..], &valid, &invalid, &[0; 8], &invalid, &invalid];
    let mut items = items.concat();
    let found = list.unpack::<FixedVec<Values, 2>>(&items, 2, &options).unwrap().records;
    assert!(found[0].as_slice() == [expected] && found[1].is_empty());
    items[7] = 3;
    items[26..44].copy_from_slice(&valid);
    let error = list.unpack::<FixedVec<Values, 2>>(&items, 2, &options).unwrap_err().to_string();
    assert_eq!(error, "record 0: not a valid FixedVec: the length is 3, and the capacity 2");
}
