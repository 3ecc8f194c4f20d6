//! What HDF5 stores otherwise than a record has it: strings, numbers of another width, and fields that a record lacks.
//!
//! Without a Python that has h5py the tests that need one print a note, and pass.

use std::path::Path;
use std::process::Command;

use crate::alone;
use dtype_hdf5::{Error, ReadOptions};
use dtype_runtime::{Datatype, FixedStr, Maybe};
use dtype_test_support::python;
use hdf5_metno::File;

fn run(python: &str, file: &Path, program: &str) {
    let output = Command::new(python).args(["-c", program]).arg(file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Sample {
    id: u32,
    name: FixedStr<8>,
    parts: [(bool, FixedStr<6>); 2],
    note: Maybe<FixedStr<3>>,
    value: f64,
}

fn samples(count: u32) -> Vec<Sample> {
    (0..count)
        .map(|i| Sample {
            id: i,
            name: ["Aïda", "", "Fidelio!"][i as usize % 3].parse().unwrap(),
            parts: [(true, "first".parse().unwrap()), (false, FixedStr::EMPTY)],
            note: (i % 2 == 0).then(|| "abc".parse().unwrap()).into(),
            value: f64::from(i) / 2.0,
        })
        .collect()
}

#[test]
fn strings_both_ways() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("strings.h5");
    let samples = samples(100);
    let file = File::create(&path).unwrap();
    let dataset = dtype_hdf5::create(&file, "samples", &samples).unwrap();
    assert_eq!(dtype_hdf5::read::<Sample>(&dataset).unwrap(), samples);
    // As fields, in memory.
    let memory = dtype_hdf5::datatype::<Sample>().unwrap();
    let memory = file.new_dataset_builder().empty_as(memory).shape((4, 25)).create("memory");
    let memory = memory.unwrap();
    dtype_hdf5::write(&memory, &samples).unwrap();
    assert_eq!(dtype_hdf5::read::<Sample>(&memory).unwrap(), samples);
    drop((dataset, memory));
    file.close().unwrap();
    let Some(python) = python::with("h5py") else { return };
    run(python, &path, MORE);
    let file = File::open_rw(&path).unwrap();
    for name in ["variable", "ascii", "wide"] {
        let dataset = file.dataset(name).unwrap();
        let read = dtype_hdf5::read::<Sample>(&dataset).unwrap();
        assert_eq!(read, samples, "{name}");
        assert_eq!(dtype_hdf5::read_range::<Sample>(&dataset, 7..9).unwrap(), samples[7..9]);
        // Written again, other records in their place.
        let turned: Vec<_> = samples.iter().rev().copied().collect();
        dtype_hdf5::write(&dataset, &turned).unwrap();
        assert_eq!(dtype_hdf5::read::<Sample>(&dataset).unwrap(), turned, "{name}");
    }
    let names = dtype_hdf5::read::<FixedStr<8>>(&file.dataset("names").unwrap()).unwrap();
    assert_eq!(names, ["a", "", "ccc"]);
    file.close().unwrap();
    run(python, &path, AGAIN);
}

const MORE: &str = r"
import sys
import h5py
import numpy as np
with h5py.File(sys.argv[1], 'r+') as file:
    a = file['samples'][()]
    text = h5py.check_string_dtype(file['samples'].dtype['name'])
    assert text.encoding == 'utf-8' and text.length == 8, text
    assert [b.decode() for b in a['name'][:3]] == ['Aïda', '', 'Fidelio!'], a['name'][:3]
    assert a['parts']['1'][0].tolist() == [b'first', b''] and a['note']['value'][2] == b'abc'
    assert a['note']['value'][1] == b''
    variable = h5py.string_dtype()
    # h5py itself loses strings of variable length in arrays.
    part = np.dtype([('1', 'S7'), ('0', '?')])
    note = np.dtype([('present', '?'), ('value', variable)])
    b = np.zeros(100, [('name', variable), ('value', 'f8'), ('parts', part, 2), ('note', note), ('id', 'u4')])
    c = np.zeros(100, [('id', 'u4'), ('name', 'S12'), ('parts', [('0', '?'), ('1', 'S6')], 2),
        ('note', [('present', '?'), ('value', 'S5')]), ('value', 'f8')])
    for name in 'id', 'name', 'value', 'note':
        c[name] = a[name]
    for name in 'id', 'value':
        b[name] = a[name]
    for name in '0', '1':
        c['parts'][name] = a['parts'][name]
    b['name'] = [t.decode() for t in a['name']]
    for name in '0', '1':
        b['parts'][name] = a['parts'][name]
    b['note']['present'] = a['note']['present']
    b['note']['value'] = [t.decode() for t in a['note']['value']]
    file.create_dataset('variable', data=b)
    file.create_dataset('ascii', data=c)
    file.create_dataset('wide', data=c, chunks=(7,), compression='gzip')
    file.create_dataset('names', data=['a', '', 'ccc'], dtype=variable)
";

const AGAIN: &str = r"
import sys
import h5py
with h5py.File(sys.argv[1], 'r') as file:
    a, b, c = file['samples'][()][::-1], file['variable'][()], file['wide'][()]
    assert b['name'].tolist() == a['name'].tolist() == c['name'].tolist(), (b['name'], a['name'])
    assert b['parts']['1'].tolist() == a['parts']['1'].tolist()
";

/// A string has zeros inside, unless its datatype says that the first one ends it.
#[test]
fn strings_end_as_their_padding_says() {
    let _alone = alone();
    let Some(python) = python::with("h5py") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("padded.h5");
    run(python, &path, PADDINGS);
    let file = File::open(&path).unwrap();
    for (name, expected) in [
        ("term", ["ab", "ab c", ""]),
        ("zeros", ["ab\0c  ", "ab c", "\0\0\0\0\0x"]),
        ("blanks", ["ab\0c", "ab c\0\0", "\0\0\0\0\0x"]),
    ] {
        let dataset = file.dataset(name).unwrap();
        assert_eq!(dtype_hdf5::read::<FixedStr<6>>(&dataset).unwrap(), expected, "{name}");
        let (mut items, mut bytes) = (dtype_hdf5::items(&dataset).unwrap(), Vec::new());
        while items.read_onto(&mut bytes).unwrap() > 0 {}
        let found = items.dtype().unpack::<FixedStr<6>>(&bytes, 3, &ReadOptions::strict()).unwrap();
        // A `U` has no zeros at its end.
        let expected = expected.map(|text| text.trim_end_matches('\0'));
        assert_eq!(found.records, expected, "{name}");
    }
}

const PADDINGS: &str = r"
import sys
import h5py
import numpy as np
from h5py import h5d, h5s, h5t
with h5py.File(sys.argv[1], 'w') as file:
    for name, padding in ('term', h5t.STR_NULLTERM), ('zeros', h5t.STR_NULLPAD), ('blanks', h5t.STR_SPACEPAD):
        text = h5t.C_S1.copy()
        text.set_size(6)
        text.set_strpad(padding)
        dataset = h5d.create(file.id, name.encode(), text, h5s.create_simple((3,)))
        all = np.frombuffer(b'ab\0c  ' b'ab c\0\0' b'\0\0\0\0\0x', 'S6')
        dataset.write(h5s.ALL, h5s.ALL, all, mtype=text)
";

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Some {
    name: FixedStr<4>,
    inner: [Inner; 2],
    id: u64,
    mass: f64,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Inner {
    y: i64,
}

#[test]
fn some_of_the_fields_in_other_widths() {
    let _alone = alone();
    let Some(python) = python::with("h5py") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("columns.h5");
    run(python, &path, COLUMNS);
    let file = File::open(&path).unwrap();
    for name in ["rows", "big", "zipped", "grid"] {
        let dataset = file.dataset(name).unwrap();
        assert!(matches!(dtype_hdf5::read::<Some>(&dataset), Err(Error::Format { .. })));
        let numbers = ReadOptions::strict().with_number_conversion();
        let error = dtype_hdf5::read_with::<Some>(&dataset, &numbers).unwrap_err();
        assert!(matches!(error, Error::Unknown { field } if field == "inner.x"), "{name}");
        let all = dtype_hdf5::read_with::<Some>(&dataset, &numbers.with_other_fields()).unwrap();
        assert_eq!(all.left_out.len(), 51, "{:?}", all.left_out);
        assert!(all.left_out.contains(&"inner.x".to_owned()));
        assert_eq!(all.records.len(), 30);
        for (i, record) in (0_i16..).zip(&all.records) {
            let y = Inner { y: i64::from(-i) };
            let expected = Some {
                name: ["a", "é"][usize::from(i % 2 == 1)].parse().unwrap(),
                inner: [y, y],
                id: i.unsigned_abs().into(),
                mass: f64::from(i) / 2.0,
            };
            assert_eq!(*record, expected, "{name}");
        }
    }
    let dataset = file.dataset("zipped").unwrap();
    let options = ReadOptions::strict().with_number_conversion().with_other_fields();
    let batches = dtype_hdf5::batches::<Some>(&dataset, 8, &options).unwrap();
    assert_eq!(batches.size_hint(), (1, Option::Some(4)));
    let batches: Vec<_> = batches.map(Result::unwrap).collect();
    assert_eq!(batches.iter().map(Vec::len).collect::<Vec<_>>(), [8, 8, 8, 6]);
    assert_eq!(batches.concat(), dtype_hdf5::read_with(&dataset, &options).unwrap().records);
    assert!(matches!(
        dtype_hdf5::batches::<Some>(&file.dataset("grid").unwrap(), 8, &options),
        Err(Error::Axes { actual: 2 })
    ));
}

const COLUMNS: &str = r"
import sys
import h5py
import numpy as np
def rows(sign):
    more = [(f'c{i}', 'f8' if i % 2 else h5py.string_dtype()) for i in range(50)]
    inner = [('x', 'f4'), ('y', sign + 'i2')]
    a = np.zeros(30, more[:25] + [('id', sign + 'i4'), ('inner', inner, 2), ('name', 'S6')] + more[25:] + [('mass', sign + 'f4')])
    i = np.arange(30)
    a['id'], a['mass'], a['inner']['y'] = i, i / 2, -i[:, None]
    a['name'] = np.where(i % 2, 'é'.encode(), b'a')
    for n, t in more:
        if t != 'f8':
            a[n] = 'left out'
    return a
with h5py.File(sys.argv[1], 'w') as file:
    file['rows'] = rows('<')
    file['big'] = rows('>')
    file['grid'] = rows('<').reshape(5, 6)
    file.create_dataset('zipped', data=rows('<'), chunks=(4,), compression='gzip')
";

#[test]
fn values_that_do_not_fit_are_errors() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let file = File::create(folder.path().join("wrong.h5")).unwrap();
    let text = |text: &str| text.parse::<FixedStr<6>>().unwrap();
    let long = [(text("a"),), (text("abcde"),)];
    let dataset = dtype_hdf5::create(&file, "long", &long).unwrap();
    let error = dtype_hdf5::read::<(FixedStr<4>,)>(&dataset).unwrap_err().to_string();
    assert_eq!(error, "record 1, field 0: not a valid text: its length is 5, and the capacity 4");
    // Nothing is written of records that do not fit.
    let short = dtype_hdf5::create(&file, "short", &[(text("xy"),); 2]);
    drop(short.unwrap());
    let datatype = dtype_hdf5::packed_datatype::<(FixedStr<4>,)>().unwrap();
    let narrow = file.new_dataset_builder().empty_as(datatype).shape(2).create("narrow").unwrap();
    dtype_hdf5::write(&narrow, &[(text("xy"),); 2]).unwrap();
    let error = dtype_hdf5::write(&narrow, &long).unwrap_err().to_string();
    assert_eq!(
        error,
        "record 1, field 0: not a valid text: it has 5 bytes, and there is room for 4"
    );
    let left = dtype_hdf5::read::<(FixedStr<4>,)>(&narrow).unwrap();
    assert!(left.iter().all(|record| record.0 == "xy"));
    let zero = dtype_hdf5::create(&file, "zero", &[(text("a\0"),)]).unwrap_err().to_string();
    assert!(zero.ends_with("it has a zero or a blank where the stored text would end"), "{zero}");
    assert!(!file.link_exists("zero"));
    let numbers = dtype_hdf5::create(&file, "numbers", &[(1_i64,), (-1,)]).unwrap();
    let options = ReadOptions::strict().with_number_conversion();
    let error = dtype_hdf5::read_with::<(u8,)>(&numbers, &options).unwrap_err().to_string();
    assert_eq!(error, "record 1, field 0: not a valid u8: -1 is not one of its numbers");
}

/// Datasets of several megabytes are read and written in pieces, with any number of axes and any chunks.
#[test]
fn pieces_join() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let file = File::create(folder.path().join("pieces.h5")).unwrap();
    let records: Vec<(u32, [u16; 6])> = (0..360_360).map(|i| (i, [7; 6])).collect();
    let whole = dtype_hdf5::create(&file, "whole", &records).unwrap();
    assert!(dtype_hdf5::read::<(u32, [u16; 6])>(&whole).unwrap() == records);
    let part = dtype_hdf5::read_range::<(u32, [u16; 6])>(&whole, 13..350_000).unwrap();
    assert!(part == records[13..350_000]);
    let datatype = || dtype_hdf5::packed_datatype::<(u32, [u16; 6])>().unwrap();
    let builder = || file.new_dataset_builder().empty_as(datatype());
    for (name, dataset) in [
        ("cube", builder().shape((360, 77, 13)).create("cube")),
        ("row", builder().shape((1, 360_360)).create("row")),
        ("chunks", builder().chunk(100_001).shape(360_360).create("chunks")),
        ("tiles", builder().chunk((250, 500)).shape((360, 1001)).create("tiles")),
    ] {
        let dataset = dataset.unwrap();
        dtype_hdf5::write(&dataset, &records).unwrap();
        assert!(dtype_hdf5::read::<(u32, [u16; 6])>(&dataset).unwrap() == records, "{name}");
    }
}
