//! Files that h5py reads and writes.
//!
//! Without a Python that has h5py the tests print a note, and pass.

use std::path::Path;
use std::process::Command;

use crate::alone;
use dtype_runtime::Datatype;
use dtype_test_support::particles::{Particle, Wall};
use dtype_test_support::python;
use hdf5_metno::File;

/// Runs a program whose argument is the file's path.
pub(crate) fn run(python: &str, file: &Path, program: &str) {
    let program = format!("{COMMON}\n{program}");
    let output = Command::new(python).args(["-c", &program]).arg(file).output().unwrap();
    assert!(
        output.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The records of `Particle::several`, computed in Python.
const COMMON: &str = r"
import sys
import h5py
import numpy as np

path = sys.argv[1]
spin = [('up', '?'), ('phase', 'c8')]
fields = [('charge', 'i1'), ('position', 'f8', 3), ('spins', spin, 2), ('wall', 'u1'), ('id', 'u4'),
    ('metric', 'f4', (2, 3)), ('weight', 'f2'), ('symbol', 'u4')]
packed = np.dtype(fields)

def particles(count, dtype=packed):
    a, i = np.zeros(count, dtype), np.arange(count)
    a['charge'] = 1 - 2 * (i % 2)
    a['position'] = np.stack([i, i / 2, -i], 1)
    a['spins']['up'] = np.stack([i % 3 == 0, i >= 0], 1)
    a['spins']['phase'] = np.stack([i + .5j, i - .5j], 1)
    a['wall'] = 1 + i % 2
    a['id'] = i
    row = np.stack([i, i + 1, i + 2], 1), np.stack([-i, 0 * i + .25, 0 * i + 1e10], 1)
    a['metric'] = np.stack(row, 1)
    a['weight'] = i / 4
    a['symbol'] = np.where(i % 2, ord('ß'), ord('e'))
    return a
";

#[test]
fn h5py_reads_what_rust_writes() {
    let _alone = alone();
    let Some(python) = python::with("h5py") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("particles.h5");
    let records = Particle::several(100);
    {
        let file = File::create(&path).unwrap();
        dtype_hdf5::create(&file, "packed", &records).unwrap();
        let memory = dtype_hdf5::datatype::<Particle>().unwrap();
        let memory = file.new_dataset_builder().empty_as(memory).shape((4, 25)).create("memory");
        dtype_hdf5::write(&memory.unwrap(), &records).unwrap();
        let datatype = dtype_hdf5::packed_datatype::<Particle>().unwrap();
        let builder = file.new_dataset_builder().chunk(16).shuffle().deflate(4);
        let log = builder.empty_as(datatype).shape(0..).create("log").unwrap();
        records.chunks(7).for_each(|part| dtype_hdf5::append(&log, part).unwrap());
        dtype_hdf5::create(&file, "numbers", &[[1_i64, -2], [3, 4]]).unwrap();
    }
    run(python, &path, &format!("size = {}\n{READS}", size_of::<Particle>()));
}

const READS: &str = r"
expected = particles(100)
with h5py.File(path, 'r') as file:
    for name in 'packed', 'log':
        assert file[name].dtype == packed, file[name].dtype
        assert file[name].dtype.itemsize == 1 + 24 + 2 * 9 + 1 + 4 + 24 + 2 + 4
        assert (file[name][()] == expected).all(), name
        assert (file[name]['metric'][3] == expected['metric'][3]).all()
    memory = file['memory']
    assert memory.shape == (4, 25) and memory.dtype.itemsize == size, memory.dtype
    assert memory.dtype.names == packed.names
    for name in packed.names:
        assert memory.dtype[name].base == packed[name].base or name == 'spins', name
        found = memory[()].reshape(100)[name]
        if name == 'spins':
            assert (found['up'] == expected[name]['up']).all()
            assert (found['phase'] == expected[name]['phase']).all()
        else:
            assert (found == expected[name]).all(), name
    # Gaps are zeros.
    data = np.frombuffer(memory[()].tobytes(), np.uint8).reshape(100, size)
    named = np.zeros(size, bool)
    def mark(dtype, at):
        if dtype.names:
            for n in dtype.names:
                mark(dtype.fields[n][0], at + dtype.fields[n][1])
        elif dtype.subdtype:
            for i in range(int(np.prod(dtype.shape))):
                mark(dtype.base, at + i * dtype.base.itemsize)
        else:
            named[at:at + dtype.itemsize] = True
    mark(memory.dtype, 0)
    assert named.sum() == packed.itemsize and (data[:, ~named] == 0).all()
    assert file['numbers'].shape == (2, 2) or file['numbers'].dtype.shape == (2,)
    assert file['numbers'][()].tolist() == [[1, -2], [3, 4]]
    # As h5py writes them itself.
    with h5py.File('x', 'w', driver='core', backing_store=False) as own:
        own['packed'] = expected
        theirs, ours = own['packed'].id.get_type(), file['packed'].id.get_type()
        assert theirs == ours
";

/// An enum that h5py wrote as an enumeration.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(i32)]
enum Level {
    Low = -1,
    High = 70_000,
}

#[test]
fn rust_reads_what_h5py_writes() {
    let _alone = alone();
    let Some(python) = python::with("h5py") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("particles.h5");
    run(python, &path, WRITES);
    let file = File::open(&path).unwrap();
    let expected = Particle::several(50);
    for name in ["packed", "aligned", "big", "permuted", "grid", "zipped", "gaps", "named"] {
        let dataset = file.dataset(name).unwrap();
        let read = dtype_hdf5::read::<Particle>(&dataset).unwrap();
        let difference = read.iter().zip(&expected).find(|(read, expected)| read != expected);
        assert_eq!((read.len(), difference), (expected.len(), None), "{name}");
        if dataset.ndim() == 1 {
            let part = dtype_hdf5::read_range::<Particle>(&dataset, 7..20).unwrap();
            assert_eq!(part, expected[7..20], "{name}");
        }
    }
    let one = dtype_hdf5::read::<Particle>(&file.dataset("one").unwrap()).unwrap();
    assert_eq!(one, expected[4..5]);
    assert_eq!(dtype_hdf5::read::<Particle>(&file.dataset("none").unwrap()).unwrap(), []);

    let refused = |name: &str| {
        let dataset = file.dataset(name).unwrap();
        dtype_hdf5::read::<Particle>(&dataset).expect_err(name).to_string()
    };
    for (name, message) in [
        ("missing", "field `wall` is missing in the dataset"),
        ("extra", "field `mass` of the dataset is not a field of the records, or is there twice"),
        ("narrow", "field `position` is f32 in the dataset, expected f64"),
        ("unsigned", "field `charge` is u8 in the dataset, expected i8"),
        ("float", "field `id` is f32 in the dataset, expected u32"),
        ("short", "field `position` has the shape [2] in the dataset, expected the shape [3]"),
        ("turned", "field `metric` has the shape [3, 2] in the dataset, expected the shape [2, 3]"),
        ("mixed", "field `id` has another byte order than the fields before"),
        (
            "complex",
            "field `spins.phase` is a complex number of 16 bytes in the dataset, \
             expected a complex number of 8 bytes",
        ),
        (
            "parts",
            "field `spins.phase` is a compound in the dataset, expected a complex number of 8 bytes",
        ),
        ("inner", "field `spins.up` is missing in the dataset"),
        ("flat", "field `spins` is u8 in the dataset, expected a compound"),
        ("text", "field `wall` is a string of 5 bytes in the dataset, expected u8"),
        ("vlen", "field `wall` is a string of variable length in the dataset, expected u8"),
        ("list", "field `wall` is a list of variable length in the dataset, expected u8"),
        ("reference", "field `wall` is a reference in the dataset, expected u8"),
        ("opaque", "field `wall` is opaque bytes in the dataset, expected u8"),
        ("numbers", "the item is f64 in the dataset, expected a compound"),
        ("wall", "record 7, field wall: 0x3 is not a valid Wall"),
        ("bool", "record 2, field spins[1].up: 0x2 is not a valid bool"),
        ("char", "record 9, field symbol: 0xd800 is not a valid char"),
        ("big char", "record 9, field symbol: 0xd800 is not a valid char"),
    ] {
        assert_eq!(refused(name), message, "{name}");
    }

    let levels = dtype_hdf5::read::<Level>(&file.dataset("levels").unwrap()).unwrap();
    assert_eq!(levels, [Level::High, Level::Low, Level::High]);
    let level = dtype_hdf5::read::<Wall>(&file.dataset("levels").unwrap()).unwrap_err();
    assert_eq!(level.to_string(), "the item is an enumeration of i32 in the dataset, expected u8");
    let bools = dtype_hdf5::read::<bool>(&file.dataset("bools").unwrap()).unwrap();
    assert_eq!(bools, [true, false, true]);
}

const WRITES: &str = r"
def changed(**formats):
    return np.dtype([(n, *formats.get(n, f)) for n, *f in fields if formats.get(n, f)])

def of(dtype, count=50):
    a = np.zeros(count, dtype)
    all = particles(count)
    for name in dtype.names:
        if name not in packed.names or dtype[name].base.kind in 'OSV' and name != 'spins':
            continue
        if name != 'spins':
            if a[name].shape == all[name].shape:
                a[name] = all[name]
        elif dtype[name].base.names:
            for part in dtype[name].base.names:
                if part in packed[name].base.names and a[name][part].dtype.names is None:
                    a[name][part] = all[name][part]
    return a

with h5py.File(path, 'w') as file:
    good = particles(50)
    file['packed'] = good
    aligned = np.dtype([(n, np.dtype(spin, align=True), 2) if n == 'spins' else (n, *f) for n, *f in fields], align=True)
    assert aligned.itemsize > packed.itemsize
    file['aligned'] = of(aligned)
    file['big'] = of(packed.newbyteorder('>'))
    file['permuted'] = of(np.dtype([(n, spin[::-1], 2) if n == 'spins' else (n, *f) for n, *f in fields[::-1]]))
    file['grid'] = good.reshape(5, 10)
    file.create_dataset('zipped', data=of(aligned), chunks=(8,), compression='gzip', shuffle=True)
    names = list(packed.names)
    offsets = [3 + 40 * names.index(n) for n in names]
    formats = [packed[n] for n in names]
    file['gaps'] = of(np.dtype({'names': names, 'formats': formats, 'offsets': offsets[::-1], 'itemsize': 400}))
    file['type'] = packed
    file.create_dataset('named', data=good, dtype=file['type'])
    file['one'] = good[4]
    file['none'] = good[:0]

    file['missing'] = of(changed(wall=[]))
    file['extra'] = of(np.dtype(fields + [('mass', 'f8')]))
    file['narrow'] = of(changed(position=('f4', 3)))
    file['unsigned'] = of(changed(charge=('u1',)))
    file['float'] = of(changed(id=('f4',)))
    file['short'] = of(changed(position=('f8', 2)))
    file['turned'] = of(changed(metric=('f4', (3, 2))))
    file['mixed'] = of(changed(id=('>u4',)))
    file['complex'] = of(changed(spins=([('up', '?'), ('phase', 'c16')], 2)))
    file['parts'] = of(changed(spins=([('up', '?'), ('phase', [('re', 'f4'), ('im', 'f4')])], 2)))
    file['inner'] = of(changed(spins=([('down', '?'), ('phase', 'c8')], 2)))
    file['flat'] = of(changed(spins=('u1', 2)))
    file['text'] = of(changed(wall=('S5',)))
    file.create_dataset('vlen', (3,), changed(wall=(h5py.string_dtype(),)))
    file.create_dataset('list', (3,), changed(wall=(h5py.vlen_dtype('u1'),)))
    file.create_dataset('reference', (3,), changed(wall=(h5py.ref_dtype,)))
    file['opaque'] = of(changed(wall=('V1',)))
    file['numbers'] = np.arange(3.)

    bad = good.copy()
    bad['wall'][7] = 3
    file['wall'] = bad
    # As a program in C stores truth values.
    bad = of(changed(spins=([('up', 'u1'), ('phase', 'c8')], 2)))
    bad['spins']['up'][2, 1] = 2
    file['bool'] = bad
    bad = good.copy()
    bad['symbol'][9] = 0xd800
    file['char'] = bad
    file['big char'] = bad.astype(packed.newbyteorder('>'))

    level = h5py.enum_dtype({'Low': -1, 'High': 70000}, basetype='>i4')
    file.create_dataset('levels', data=np.array([70000, -1, 70000]), dtype=level)
    file['bools'] = np.array([True, False, True])
";

/// An enum whose numbers h5py's enumerations do not have.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(i32)]
enum Kind {
    A,
    B,
    C,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Step<K> {
    time: f64,
    kinds: [K; 3],
}

#[test]
fn enumerations_are_converted_as_the_library_converts_them() {
    let _alone = alone();
    let Some(python) = python::with("h5py") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kinds.h5");
    run(python, &path, KINDS);
    let file = File::open_rw(&path).unwrap();
    for name in ["little", "big", "zipped"] {
        let dataset = file.dataset(name).unwrap();
        let kinds = dtype_hdf5::read::<Kind>(&dataset).unwrap();
        assert_eq!(kinds, [Kind::B, Kind::A, Kind::C], "{name}");
        // What H5Dread made of them.
        let library = file.dataset(&format!("{name} read")).unwrap();
        let numbers: Vec<i32> = kinds.iter().map(|kind| *kind as i32).collect();
        assert_eq!(dtype_hdf5::read::<i32>(&library).unwrap(), numbers);
        dtype_hdf5::write(&dataset, &[Kind::A, Kind::B, Kind::C]).unwrap();
    }
    let steps = file.dataset("steps").unwrap();
    let expected = [0.5, 1.5].map(|time| Step { time, kinds: [Kind::C, Kind::B, Kind::A] });
    assert_eq!(dtype_hdf5::read::<Step<Kind>>(&steps).unwrap(), expected);
    dtype_hdf5::write(&steps, &expected.map(|step| Step { kinds: [Kind::A; 3], ..step })).unwrap();
    let flags = file.dataset("flags").unwrap();
    assert_eq!(dtype_hdf5::read::<bool>(&flags).unwrap(), [true, false]);
    drop((flags, steps));
    file.close().unwrap();
    run(python, &path, KINDS_WRITTEN);
}

const KINDS: &str = r"
turned = {'A': 1, 'B': 0, 'C': 2}
little, big = (h5py.enum_dtype(turned, basetype=base) for base in ('<i4', '>i4'))
flags = h5py.h5t.enum_create(h5py.h5t.NATIVE_INT8)
flags.enum_insert(b'FALSE', 1)
flags.enum_insert(b'TRUE', 0)
with h5py.File(path, 'w') as file:
    file.create_dataset('little', data=[0, 1, 2], dtype=little)
    file.create_dataset('big', data=[0, 1, 2], dtype=big)
    file.create_dataset('zipped', data=[0, 1, 2], dtype=little, compression='gzip')
    memory = h5py.h5t.enum_create(h5py.h5t.NATIVE_INT32)
    for number, member in enumerate([b'A', b'B', b'C']):
        memory.enum_insert(member, number)
    for name in 'little', 'big', 'zipped':
        read = np.zeros(3, 'i4')
        file[name].id.read(h5py.h5s.ALL, h5py.h5s.ALL, read, memory)
        file[name + ' read'] = read
    step = np.dtype([('kinds', little, 3), ('time', 'f8')])
    file['steps'] = np.array([([2, 0, 1], .5), ([2, 0, 1], 1.5)], step)
    space = h5py.h5s.create_simple((2,))
    dataset = h5py.h5d.create(file.id, b'flags', flags, space)
    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([0, 1], 'i1'), flags)
";

const KINDS_WRITTEN: &str = r"
with h5py.File(path, 'r') as file:
    for name in 'little', 'big', 'zipped':
        assert file[name][()].tolist() == [1, 0, 2], name
    assert file['steps']['kinds'].tolist() == [[1, 1, 1], [1, 1, 1]]
";

#[test]
fn rust_writes_into_what_h5py_made() {
    let _alone = alone();
    let Some(python) = python::with("h5py") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("particles.h5");
    run(python, &path, MAKES);
    {
        let file = File::open_rw(&path).unwrap();
        for name in ["big", "permuted", "aligned"] {
            let dataset = file.dataset(name).unwrap();
            dtype_hdf5::write(&dataset, &Particle::several(30)).unwrap();
            dtype_hdf5::append(&dataset, &Particle::several(20)).unwrap();
        }
        let error = dtype_hdf5::append(&file.dataset("other").unwrap(), &Particle::several(1));
        assert_eq!(error.unwrap_err().to_string(), "field `charge` is missing in the dataset");
    }
    run(python, &path, FILLED);
}

const MAKES: &str = r"
with h5py.File(path, 'w') as file:
    def make(name, dtype):
        file.create_dataset(name, (30,), dtype, maxshape=(None,), chunks=(7,))
    make('big', packed.newbyteorder('>'))
    make('permuted', np.dtype(fields[::-1]))
    make('aligned', np.dtype(fields, align=True))
    make('other', 'f8')
    make('other2', np.dtype([('x', 'f8')]))
    del file['other']
    file['other'] = file['other2']
";

const FILLED: &str = r"
with h5py.File(path, 'r') as file:
    expected = np.concatenate([particles(30), particles(20)])
    for name in 'big', 'permuted', 'aligned':
        found = file[name][()]
        for field in packed.names:
            if field == 'spins':
                assert (found[field]['up'] == expected[field]['up']).all(), name
                assert (found[field]['phase'] == expected[field]['phase']).all(), name
            else:
                assert (found[field] == expected[field]).all(), (name, field)
";

/// Their sources may be any file.
#[test]
fn virtual_datasets_are_read_on_request() {
    let _alone = alone();
    let Some(python) = python::with("h5py") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("virtual.h5");
    let program = r"
import os
with h5py.File(os.path.join(os.path.dirname(path), 'source.h5'), 'w') as f:
    f['numbers'] = np.arange(5, dtype='u1')
with h5py.File(path, 'w') as f:
    for name, source in ('other', 'source.h5'), ('same', '.'):
        layout = h5py.VirtualLayout(shape=(5,), dtype='u1')
        layout[:] = h5py.VirtualSource(source, 'numbers', shape=(5,))
        f.create_virtual_dataset(name, layout)
    f['numbers'] = np.arange(5, dtype='u1') + 5
";
    run(python, &path, program);
    let file = File::open(&path).unwrap();
    for (name, expected) in [("other", [0, 1, 2, 3, 4]), ("same", [5, 6, 7, 8, 9])] {
        let dataset = dtype_hdf5::open(&file, name).unwrap();
        let message = "the items of the dataset are those of other datasets (it is virtual), and other files are not opened";
        assert_eq!(dtype_hdf5::read::<u8>(&dataset).unwrap_err().to_string(), message);
        assert_eq!(dtype_hdf5::items(&dataset).unwrap_err().to_string(), message);
        assert_eq!(dtype_hdf5::write(&dataset, &[1_u8; 5]).unwrap_err().to_string(), message);
        let options = dtype_hdf5::ReadOptions::strict().with_other_files();
        let loaded = dtype_hdf5::read_with::<u8>(&dataset, &options).unwrap();
        assert_eq!(loaded.records, expected);
    }
}
