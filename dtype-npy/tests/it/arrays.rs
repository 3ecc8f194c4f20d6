//! Arrays as Python's programs save them: in archives, in Fortran order, with times in any unit and axes of one element.
//!
//! Without `python3` and its `numpy`, the tests that need them print a note, and pass.

use crate::conversions::saved;
use dtype_npy::{Dtype, Header, NpyError, ReadOptions, Reader};
use dtype_runtime::time::{Microseconds, Milliseconds, Seconds};
use dtype_runtime::{Datatype, FixedStr, TimeSpan, Timestamp};

const CONVERTING: ReadOptions = ReadOptions::strict().with_number_conversion();

/// An array of these points in time, in a unit.
fn times(unit: &str, values: &str) -> Option<Vec<u8>> {
    saved("times", &format!("np.save(path, np.array({values}, '{unit}'))"))
}

#[test]
#[cfg_attr(miri, ignore = "Miri starts no Python")]
fn times_of_every_unit_are_points_in_time() {
    // NumPy itself says which seconds they are.
    let units = "Y M W D h m s ms us 2Y 25s 3D";
    let program = format!(
        "
with open(path, 'wb') as file:
    for i, unit in enumerate('{units}'.split()):
        values = ['2026-01-01', '1969-01-01', '2000-01-01', 'NaT', '1600-01-01', '2400-01-01']
        array = np.array(values, 'M8[' + unit + ']')
        np.save(file, array.astype(array.dtype.newbyteorder('<>'[i % 2])))
        np.save(file, array.astype('M8[s]'))
"
    );
    let Some(file) = saved("units", &program) else { return };
    let mut rest = &file[..];
    for unit in units.split(' ') {
        let array = rest;
        let times = dtype_npy::read_next_with::<Timestamp<Seconds>>(&mut rest, &CONVERTING);
        let times = times.unwrap().unwrap().records;
        let array = &array[..array.len() - rest.len()];
        let expected = dtype_npy::read_next::<Timestamp<Seconds>>(&mut rest).unwrap().unwrap();
        assert_eq!((&times, expected[3].count()), (&expected, i64::MIN), "{unit}");
        // And back in the same dtype.
        let dtype = Header::read(array).unwrap().dtype;
        let mut again = Vec::new();
        dtype_npy::write_as(&mut again, &expected, &dtype).unwrap();
        assert_eq!(again, array, "{unit}");
        let strict = dtype_npy::read::<Timestamp<Seconds>>(array);
        assert!(unit == "s" || matches!(strict, Err(NpyError::Dtype(_))), "{unit}");
    }
    assert!(dtype_npy::read_next::<Timestamp<Seconds>>(rest).unwrap().is_none());
    let Some(file) = times("m8[h]", "[-3, 0, 'NaT', 2**40]") else { return };
    let spans = dtype_npy::read_with::<TimeSpan<Milliseconds>>(&file[..], &CONVERTING).unwrap();
    let hour = 3_600_000;
    let expected = [-3 * hour, 0, i64::MIN, hour << 40].map(TimeSpan::new);
    assert_eq!(spans.records, expected);
}

#[test]
#[cfg_attr(miri, ignore = "Miri starts no Python")]
fn what_a_unit_would_lose_is_said() {
    let error = |unit: &str, values: &str| {
        let file = times(unit, values)?;
        let read = dtype_npy::read_with::<Timestamp<Milliseconds>>(&file[..], &CONVERTING);
        Some(read.unwrap_err().to_string())
    };
    let Some(parts) = error("M8[us]", "[1000, 1001]") else { return };
    assert_eq!(
        parts,
        "record 1: not a valid Timestamp: 1001 microseconds are no whole number of milliseconds of 64 bits"
    );
    assert_eq!(
        error("M8[W]", "[2**33, 2**62]").unwrap(),
        "record 1: not a valid Timestamp: 2789147703944884204339200000 is not one of its numbers"
    );
    // The least number is no time.
    let eights = Dtype::parse("'<M8[8s]'").unwrap();
    let unpack =
        |number: i64| eights.unpack::<Timestamp<Seconds>>(&number.to_le_bytes(), 1, &CONVERTING);
    assert_eq!(unpack(1 - (1 << 60)).unwrap().records, [Timestamp::new(i64::MIN + 8)]);
    assert_eq!(
        unpack(-(1 << 60)).unwrap_err().to_string(),
        "record 0: not a valid Timestamp: -1152921504606846976 times 8 seconds are no whole number of seconds of 64 bits"
    );
    // Without a unit, and a span of months, which have no fixed length.
    assert_eq!(error("M8", "['NaT']").unwrap(), "the item is <M8 in the dtype, expected <M8[ms]");
    let file = times("m8[M]", "[1]").unwrap();
    let read = dtype_npy::read_with::<TimeSpan<Seconds>>(&file[..], &CONVERTING);
    assert_eq!(read.unwrap_err().to_string(), "the item is <m8[M] in the dtype, expected <m8[s]");
    let years = times("m8[Y]", "[7]").unwrap();
    assert_eq!(dtype_npy::read_with::<i64>(&years[..], &CONVERTING).unwrap().records, [7]);
    // Written: only the first of a month is a month.
    let months = Dtype::parse("'M8[M]'").unwrap();
    let write = |days: i64| {
        let when = [Timestamp::<Microseconds>::new(days * 86_400_000_000)];
        dtype_npy::write_as(Vec::new(), &when, &months).map_err(|error| error.to_string())
    };
    assert_eq!(write(31), Ok(()));
    assert_eq!(
        write(32).unwrap_err(),
        "record 0: not a valid Timestamp: 2764800000000 microseconds are no whole number of months of 64 bits"
    );
}

#[derive(Datatype, Clone, Debug, PartialEq)]
struct Person {
    name: FixedStr<48>,
    tag: FixedStr<4>,
    born: Timestamp<Seconds>,
    weight: f64,
}

#[test]
#[cfg_attr(miri, ignore = "Miri starts no Python")]
fn records_go_back_in_the_dtype_of_their_file() {
    let program = "
a = np.zeros(3, [('weight', '>f4'), ('name', 'U12'), ('born', 'M8[D]'), ('tag', 'S4')])
a['name'], a['tag'] = ['Ann', 'Zoë', ''], [b'x', b'four', b'']
a['born'], a['weight'] = ['2000-02-29', 'NaT', '1969-12-31'], [.5, 60, -1]
np.save(path, a)
";
    let Some(file) = saved("people", program) else { return };
    let people = dtype_npy::read_with::<Person>(&file[..], &CONVERTING).unwrap().records;
    assert_eq!((people[0].name.as_str(), people[0].born.count()), ("Ann", 11_016 * 86_400));
    let dtype = Header::read(&file[..]).unwrap().dtype;
    let mut again = Vec::new();
    dtype_npy::write_as(&mut again, &people, &dtype).unwrap();
    assert_eq!(again, file);
    let longer = Person { tag: "four".parse().unwrap(), weight: 0.1, ..people[0].clone() };
    let error = dtype_npy::write_as(Vec::new(), &[people[1].clone(), longer], &dtype);
    assert_eq!(
        error.unwrap_err().to_string(),
        "record 1, field weight: not a valid f64: 0.1 is not one of its numbers"
    );
    let other = Dtype::parse("[('weight', 'f4')]").unwrap();
    assert!(matches!(
        dtype_npy::write_as(Vec::new(), &people, &other),
        Err(NpyError::Dtype(dtype_npy::DtypeError::Missing { .. }))
    ));
}

#[test]
#[cfg_attr(miri, ignore = "Miri starts no Python")]
fn axes_of_one_element_are_no_axes() {
    #[derive(Datatype, Clone, Debug, PartialEq)]
    struct Row {
        block: FixedStr<8>,
        one: i32,
        two: [[f32; 1]; 2],
    }
    let program = "
a = np.zeros(2, [('block', 'S8', (1,)), ('one', 'i4', (1, 1)), ('two', 'f4', (1, 2))])
a['block'], a['one'], a['two'] = [['first'], [b'8 bytes!']], [[[1]], [[-2]]], [[[.5, 1.5]], [[2, 3]]]
np.save(path, a)
";
    let Some(file) = saved("axes", program) else { return };
    let row = |block: &str, one, two: [f32; 2]| Row {
        block: block.parse().unwrap(),
        one,
        two: two.map(|number| [number]),
    };
    let expected = [row("first", 1, [0.5, 1.5]), row("8 bytes!", -2, [2.0, 3.0])];
    assert_eq!(dtype_npy::read::<Row>(&file[..]).unwrap(), expected);
}

#[test]
#[cfg_attr(miri, ignore = "Miri starts no Python")]
fn arrays_in_fortran_order() {
    let save = |array: &str, order: &str| {
        saved("fortran", &format!("np.save(path, np.array({array}, order='{order}'))"))
    };
    let numbers = "np.arange(2 * 30 * 5 * 7).reshape(2, 1, 30, 5, 7).astype('>i4')";
    let Some(file) = save(numbers, "F") else { return };
    assert!(Header::read(&file[..]).unwrap().fortran_order);
    let expected: Vec<i32> = (0..2100).collect();
    assert_eq!(dtype_npy::read::<i32>(&file[..]).unwrap(), expected);
    let rows = dtype_npy::read::<[[i32; 7]; 5]>(&file[..]).unwrap();
    assert_eq!(rows.as_flattened().as_flattened(), expected);
    // Piece by piece, and structures.
    let reader = Reader::<i32, _>::new(&file[..], &ReadOptions::strict()).unwrap();
    let batches: Vec<_> = reader.batches(999).map(Result::unwrap).collect();
    assert_eq!(batches.iter().map(Vec::len).collect::<Vec<_>>(), [999, 999, 102]);
    assert_eq!(batches.concat(), expected);
    let pairs = "np.array([[(1, .5), (2, 1)], [(3, 2), (4, 4)]], [('0', 'u1'), ('1', 'f8')])";
    let (file, in_c) = (save(pairs, "F").unwrap(), save(pairs, "C").unwrap());
    let read = |file: &[u8]| dtype_npy::read::<(u8, f64)>(file);
    assert_ne!(file, in_c);
    assert_eq!(read(&file).unwrap(), read(&in_c).unwrap());
    let cut = read(&file[..file.len() - 1]);
    assert!(matches!(cut, Err(NpyError::Truncated { expected: 36, actual: 35 })), "{cut:?}");
    assert!(matches!(dtype_npy::view_packed::<(u8, f64)>(&file), Err(NpyError::FortranOrder)));
    // Only what is in the file takes memory.
    let dtype = Dtype::parse("'f8'").unwrap();
    let shape = vec![1 << 40, 2];
    let huge = Header { version: (1, 0), dtype, fortran_order: true, shape }.to_bytes().unwrap();
    let read = dtype_npy::read::<f64>(&huge[..]);
    assert!(matches!(read, Err(NpyError::Truncated { actual: 0, .. })), "{read:?}");
}

#[cfg(feature = "npz")]
mod archives {
    use std::io::{Cursor, Read};

    use super::*;
    use dtype_npy::{Budget, Exceeded, Npz};

    fn open(file: &[u8]) -> Result<Npz<Cursor<&[u8]>>, NpyError> {
        Npz::new(Cursor::new(file))
    }

    const PROGRAM: &str = "
a = np.array([(1, .5), (2, 1.5)], [('0', 'u1'), ('1', 'f8')])
with open(path, 'wb') as file:
    np.SAVE(file, a=a, größe=np.arange(10000, dtype='f4'), text=np.array(['x', 'yz']), empty=np.zeros(0, 'i8'),
        fortran=np.asfortranarray(np.arange(6).reshape(2, 3)))
";

    #[test]
    #[cfg_attr(miri, ignore = "Miri starts no Python")]
    fn numpy_saves_several_arrays() {
        for save in ["savez", "savez_compressed"] {
            let Some(file) = saved(save, &PROGRAM.replace("SAVE", save)) else { return };
            let all = open(&file).unwrap();
            let names: Vec<&str> = all.names().collect();
            assert_eq!(names, ["a", "empty", "fortran", "größe", "text"]);
            assert_eq!(all.read::<(u8, f64)>("a").unwrap(), [(1, 0.5), (2, 1.5)]);
            assert_eq!(all.read::<f32>("größe").unwrap()[9_998..], [9_998.0, 9_999.0]);
            assert_eq!(all.read::<FixedStr<8>>("text").unwrap(), ["x", "yz"]);
            assert_eq!(all.read::<i64>("empty").unwrap(), []);
            assert_eq!(all.read::<i64>("fortran").unwrap(), [0, 1, 2, 3, 4, 5]);
            let narrow = all.read_with::<u16>("fortran", &CONVERTING).unwrap();
            assert_eq!(narrow.records, [0, 1, 2, 3, 4, 5]);
            assert_eq!(
                all.read::<u8>("b").unwrap_err().to_string(),
                "the archive has no array \"b\", expected one of \"a\", \"empty\", \"fortran\", \"größe\", \"text\""
            );
            // Two arrays at once, piece by piece.
            let strict = ReadOptions::strict();
            let large = Reader::<f32, _>::new(all.array("größe").unwrap(), &strict).unwrap();
            let mut small = Reader::<(u8, f64), _>::new(all.array("a").unwrap(), &strict).unwrap();
            let mut pairs = Vec::new();
            for (number, batch) in large.batches(3_000).enumerate() {
                let first = 3_000.0 * f32::from(u8::try_from(number).unwrap());
                assert_eq!(batch.unwrap()[..1], [first]);
                small.read_onto(1, &mut pairs).unwrap();
            }
            assert_eq!(pairs, [(1, 0.5), (2, 1.5)]);
            // Each byte that is wrong somewhere is an error, or changes nothing.
            let expected = all.read::<(u8, f64)>("a").unwrap();
            for place in (0..file.len()).filter(|i| *i < 400 || *i > file.len() - 600) {
                let mut wrong = file.clone();
                wrong[place] ^= 0x41;
                if let Ok(found) = open(&wrong).and_then(|all| all.read::<(u8, f64)>("a")) {
                    assert_eq!(found, expected, "{place}");
                }
            }
            for end in (0..file.len()).step_by(97) {
                assert!(open(&file[..end]).is_err(), "{end}");
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri starts no Python")]
    fn archives_that_numpy_does_not_write_are_refused() {
        assert_eq!(
            open(b"\x93NUMPY").unwrap_err().to_string(),
            "not an archive of NumPy: Missing end of central directory"
        );
        let zip = |body: &str| {
            let body = body.replace('\n', "\n    ");
            let open = "import zipfile, io, warnings\nwarnings.simplefilter('ignore')\nbytes = io.BytesIO()\nnp.save(bytes, np.arange(3))";
            saved("zip", &format!("{open}\nwith zipfile.ZipFile(path, 'w') as zip:\n    {body}"))
        };
        let Some(file) = zip("zip.writestr('a.npy', bytes.getvalue(), zipfile.ZIP_BZIP2)") else {
            return;
        };
        assert_eq!(
            open(&file).unwrap().read::<i64>("a").unwrap_err().to_string(),
            "not an archive of NumPy: the array \"a\" is compressed by the method 12 (BZIP2), expected 0 or 8"
        );
        let file = zip("zip.writestr('a.npy', b'')\nzip.writestr('a.npy', b'')").unwrap();
        assert_eq!(
            open(&file).unwrap_err().to_string(),
            "not an archive of NumPy: two arrays are called \"a\""
        );
        // Other files in the archive do not count; what is no array says so.
        let file =
            zip("zip.writestr('note.txt', b'text')\nzip.writestr('a.npy', b'text')").unwrap();
        let all = open(&file).unwrap();
        assert_eq!(all.names().collect::<Vec<_>>(), ["a"]);
        assert!(matches!(all.read::<u8>("a"), Err(NpyError::Magic { .. })));
        // A wrong checksum is found where the array ends.
        let mut file = zip("zip.writestr('a.npy', bytes.getvalue())").unwrap();
        let place = file.windows(8).rposition(|bytes| bytes == 2_i64.to_le_bytes()).unwrap();
        file[place] = 3;
        let error = open(&file).unwrap().read::<i64>("a").unwrap_err();
        assert!(
            matches!(&error, NpyError::Io(_)) && error.to_string().contains("checksum"),
            "{error}"
        );
        // Also if the archive says that the array is longer than it is.
        let record = file.windows(4).rposition(|bytes| bytes == b"PK\x01\x02").unwrap();
        file[record + 24] += 1;
        let error = open(&file).unwrap().read::<i64>("a").unwrap_err();
        assert_eq!(error.to_string(), "Invalid size: expected 153, got 152");
        let file = zip("zip.writestr('a.npy', bytes.getvalue() + b'more')").unwrap();
        assert_eq!(
            open(&file).unwrap().read::<i64>("a").unwrap_err().to_string(),
            "not an archive of NumPy: more bytes follow the array \"a\""
        );
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri starts no Python")]
    fn a_budget_limits_what_a_short_file_becomes() {
        let program = "
with open(path, 'wb') as file:
    np.savez_compressed(file, a=np.zeros(40_000_000, 'u1'), f=np.asfortranarray(np.zeros((2000, 2000), 'u1')))
";
        let Some(file) = saved("zeros", program) else { return };
        assert!(file.len() < 100_000);
        let with =
            |bytes| Npz::with_budget(Cursor::new(&file[..]), Budget::new(bytes, 100)).unwrap();
        let most = |bytes: usize, name| with(bytes).read::<u8>(name).map(|records| records.len());
        assert!(matches!(
            most(39_999_999, "a"),
            Err(NpyError::Exceeded(Exceeded::Bytes { limit: 39_999_999 }))
        ));
        assert_eq!(most(40_001_000, "a").unwrap(), 40_000_000);
        // In Fortran order, all items are in memory twice.
        assert!(matches!(most(11_999_999, "f"), Err(NpyError::Exceeded(_))));
        assert_eq!(most(12_001_000, "f").unwrap(), 4_000_000);
        // Each array has the whole budget.
        let all = with(40_001_000);
        assert!(all.read::<u8>("a").is_ok() && all.read::<u8>("a").is_ok());
        assert!(open(&file).unwrap().read::<u8>("a").is_ok());
        assert!(matches!(open(&file).unwrap().read::<[u8; 2]>("a"), Err(NpyError::Dtype(_))));
        let few = Npz::with_budget(Cursor::new(&file[..]), Budget::new(1 << 30, 1));
        assert!(matches!(few, Err(NpyError::Exceeded(Exceeded::Steps { limit: 1 }))));
        // Without the budget, the bytes are those of the file.
        let mut bytes = Vec::new();
        all.array("a").unwrap().take(200).read_to_end(&mut bytes).unwrap();
        assert_eq!(&bytes[..6], b"\x93NUMPY");
    }
}
