//! The modules of `examples/particles.rs` and `modules/unusual.rs`, imported by a real Python.
//!
//! Without a Python that has NumPy the test prints a note, and passes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

/// A Python that has NumPy, of the path or of the system.
fn python() -> Option<&'static str> {
    ["python3", "/usr/bin/python3"].into_iter().find(|python| {
        let probe =
            Command::new(python).args(["-c", "import numpy"]).stderr(Stdio::null()).status();
        probe.is_ok_and(|status| status.success())
    })
}

/// A module that cargo has built together with this test.
fn module(name: &str) -> PathBuf {
    let program = env::current_exe().unwrap();
    let folder = program.ancestors().nth(2).unwrap().join("examples");
    [format!("lib{name}.so"), format!("lib{name}.dylib"), format!("{name}.dll")]
        .map(|name| folder.join(name))
        .into_iter()
        .find(|path| path.exists())
        .expect("cargo builds the examples of a crate before its tests")
}

/// Runs a program that imports a module.
fn import(name: &str, program: &str) {
    let Some(python) = python() else {
        eprintln!("left out: no python3 with numpy here");
        return;
    };
    let folder = env::temp_dir().join(format!("dtype-numpy-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join(name).with_extension(if cfg!(windows) { "pyd" } else { "so" });
    fs::copy(module(name), file).unwrap();
    run(python, &folder, program);
    fs::remove_dir_all(&folder).unwrap();
}

fn run(python: &str, folder: &Path, program: &str) {
    let output = Command::new(python)
        .args(["-X", "faulthandler", "-c", program])
        .current_dir(folder)
        .env("PYTHONPATH", folder)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn python_and_rust_have_the_same_records() {
    import("particles", PARTICLES);
}

#[test]
fn records_that_cannot_be_items_are_refused_and_subclasses_are_read() {
    import("unusual", UNUSUAL);
}

const UNUSUAL: &str = r"
import numpy as np
import unusual

def refused(function, *arguments, kind=ValueError):
    try:
        function(*arguments)
    except kind as error:
        return str(error)
    raise AssertionError(f'{function} accepted {arguments}')

# NumPy would make the axes of the records axes of the array, whose items are then smaller than the records.
subarray = 'records that are arrays cannot be the items of an array: make them a field of a struct'
assert refused(unusual.points) == subarray
assert refused(unusual.packed_points) == subarray
assert subarray in refused(unusual.element_points, kind=BaseException)

# Nothing tells how many records without data there are.
no_data = 'records without data cannot be in an array'
assert refused(unusual.units) == no_data
assert refused(unusual.packed_units) == no_data
for array in np.zeros(5, 'V0'), np.zeros(5, np.dtype([])), np.zeros(0, 'V0'):
    assert refused(unusual.count_units, array) == no_data
    assert refused(unusual.count_borrowed_units, array) == no_data

# The dtype is the one that NumPy would make itself, and is read again.
arrays, packed = unusual.arrays(), unusual.packed_arrays()
fields = [('one', 'f8', (1,)), ('größe [m] \'x\'', 'u1', (3, 1)), ('matrix', 'i2', (2, 3))]
assert arrays.dtype == np.dtype(fields, align=True) and packed.dtype == np.dtype(fields)
assert arrays['matrix'].tolist() == [[[1, 2, 3], [4, 5, 6]]] * 2 and arrays['größe [m] \'x\''].shape == (2, 3, 1)
assert np.concatenate([packed, np.zeros(1, fields)]).dtype == packed.dtype
assert unusual.are_arrays(arrays) and unusual.are_arrays(packed)

# A text is a string; in memory layout, its bytes are one.
packed, memory = unusual.named('Aïda', True), unusual.named('Aïda', False)
assert packed.dtype == np.dtype([('id', 'u1'), ('name', 'U6'), ('tags', 'U2', (2,))])
assert packed[1].tolist()[:2] == (7, 'Aïda') and packed['tags'].tolist() == [['a', 'é']] * 2
assert memory['name']['bytes'].view('S6')[:, 0].tolist() == ['Aïda'.encode()] * 2
assert unusual.are_named(packed, 'Aïda') and unusual.are_named(memory, 'Aïda')
packed['name'][0] = 'Tosca'
assert not unusual.are_named(packed, 'Aïda')
packed['name'] = 'Toscàà'
assert refused(unusual.are_named, packed, '') == \
    'record 0, field name: not a valid text: its length is 8, and the capacity 6'
assert 'it has a zero or a blank where' in refused(unusual.named, 'a\0', True)

# The items of a resized type are where Rust has them.
spaced = unusual.spaced()
assert spaced.dtype.itemsize == spaced.strides[0] == 16
assert spaced[2].tolist() == (7, 1) and unusual.count_spaced(spaced) == (3, 3)

deep = np.dtype('u1')
for _ in range(100):
    deep = np.dtype([('a', deep)])
assert refused(unusual.pairs, np.zeros(1, deep)).endswith('.a` is more than 64 dtypes deep')

# The values are those of the array, whatever a subclass makes of them.
array = np.array([(0, 7), (1, 7), (2, 7), (3, 7)], [('first', 'u8'), ('second', 'u8')])
expected = [(0, 7), (1, 7), (2, 7), (3, 7)]
masked = np.ma.masked_array(array, mask=[(0, 0), (1, 0), (0, 0), (0, 0)])
assert unusual.pairs(masked) == expected
assert unusual.pairs_after(masked, lambda: None) == expected
class Other(np.ndarray):
    def tobytes(self, *arguments):
        return bytes(64)
assert unusual.pairs(array.view(Other)) == expected

# A subclass sees each array that is made of it, and may change it.
seen = []
class Spying(np.ndarray):
    def __array_finalize__(self, source):
        seen.append(self)
spied = array.view(Spying)
seen.clear()
def change():
    for other in seen:
        other.dtype = 'u1'
assert unusual.pairs_after(spied, change) == expected
";

const PARTICLES: &str = r"
import gc
import numpy as np
import particles

# There: without a copy, with the names, offsets and kinds of the struct.
array = particles.make(5)
assert array.__array_interface__['data'][0] == particles.address()
assert array.shape == (5,) and array.flags.writeable and array.flags.aligned
assert array.dtype.names == ('charge', 'position', 'spins', 'wall', 'id')
assert array.dtype.itemsize == 64, array.dtype
assert [array.dtype.fields[n][1] for n in array.dtype.names] == [0, 8, 32, 56, 60], array.dtype
assert array.dtype['position'] == np.dtype(('f8', 3))
spin = array.dtype['spins'].base
assert spin['up'] == '?' and spin['phase'] == 'c8' and array.dtype['spins'].shape == (2,)
assert array.dtype['wall'] == 'u1' and array.dtype['charge'] == 'i1'
assert array['charge'].tolist() == [1, -1, 1, -1, 1]
assert array['position'].tolist()[3] == [3.0, 1.5, -3.0]
assert array['spins']['phase'].tolist() == [[1 + .5j, -1j]] * 5
assert array['wall'].tolist() == [1, 2, 2, 1, 2]

# Padding is zeros.
data = np.frombuffer(array.tobytes(), np.uint8).reshape(5, 64)
named = np.zeros(64, bool)
named[[0, *range(8, 32), 56, *range(60, 64)]] = True
for start in 32, 44:
    named[start] = True
    named[start + 4:start + 12] = True
assert (data[:, ~named] == 0).all()

# It outlives everything in Rust, and is freed once.
view = array[1:3]
del array
gc.collect()
assert view['id'].tolist() == [1, 2]
for _ in range(100):
    particles.make(1000)
array = particles.make(12)

# Packed.
packed = particles.make_packed(12)
assert packed.dtype.itemsize == 1 + 24 + 2 * 9 + 1 + 4
assert (packed['id'] == array['id']).all() and (packed['spins']['up'] == array['spins']['up']).all()
assert particles.make(0).shape == (0,) and particles.make_packed(0).shape == (0,)

# And back.
expected = (0, {'Reflect': 4, 'Absorb': 8})
assert particles.summary(array) == expected
assert particles.summary(packed) == expected
assert particles.summary(array.reshape(3, 4)) == expected
assert particles.summary(array.reshape(3, 4).T) == expected
assert particles.summary(array[::2]) == (6, {'Reflect': 2, 'Absorb': 4})
assert particles.summary(packed[::3]) == (0, {'Reflect': 4})
assert particles.summary(array[:0]) == (0, {})
assert particles.summary(array[::-2]) == (-6, {'Reflect': 2, 'Absorb': 4})
assert particles.summary(array.reshape(3, 4)[::-1, ::-1]) == expected
assert particles.summary(np.broadcast_to(array[:1], (2, 3))) == (6, {'Reflect': 6})
windows = np.lib.stride_tricks.as_strided(array, (3, 4), (64, 64))
assert particles.summary(windows) == particles.summary(windows.copy())
for order in '<', '>':
    assert particles.summary(array.astype(array.dtype.newbyteorder(order))) == expected
    assert particles.summary(packed.astype(packed.dtype.newbyteorder(order))) == expected
reordered = np.zeros(12, [('id', 'u4'), ('wall', 'u1'), ('spins', [('phase', 'c8'), ('up', '?')], 2),
    ('position', 'f8', 3), ('charge', 'i1')])
for name in array.dtype.names:
    if name != 'spins':
        reordered[name] = array[name]
assert particles.summary(reordered) == expected
assert particles.are(array, list(range(12)))
assert particles.are(array[3:7], [3, 4, 5, 6])
assert particles.are(array.reshape(2, 6), list(range(12)))
assert particles.are(array[:0], [])
assert not particles.are(array, [1])
other = particles.mirrored(packed)
assert (other['position'] == -array['position']).all() and other.dtype == array.dtype
array['charge'][5] = 100
assert particles.summary(array)[0] == 101

def refused(function, *arguments, kind=ValueError):
    try:
        function(*arguments)
    except kind as error:
        return str(error)
    raise AssertionError(f'{function} accepted {arguments}')

def with_format(name, format, source=packed):
    fields = [(n, source.dtype[n].base, source.dtype[n].shape) for n in source.dtype.names]
    return np.zeros(3, [(n, format, s) if n == name else (n, f, s) for n, f, s in fields])

# What is refused, by name.
assert refused(particles.summary, [1, 2], kind=TypeError) == 'expected a NumPy array, found list'
assert refused(particles.summary, np.zeros(3, 'm8[25s]')) == 'the item is <m8[25s] in the dtype, expected a structure'
assert refused(particles.summary, np.zeros(3)) == 'the item is <f8 in the dtype, expected a structure'
assert refused(particles.summary, packed[['id', 'wall']].copy()) == 'field `charge` is missing in the dtype'
assert refused(particles.summary, with_format('id', 'i4')) == 'field `id` is <i4 in the dtype, expected <u4'
assert refused(particles.summary, with_format('id', '>u4')) == 'field `id` has another byte order than the fields before'
assert refused(particles.are, array.astype(array.dtype.newbyteorder('>')), []).startswith('field `position` is big-endian')
assert refused(particles.summary, with_format('wall', 'O')) == 'field `wall` has values of the kind `O`, which records do not have'
assert refused(particles.summary, with_format('spins', [('up', '?'), ('phase', 'c16')])) == 'field `spins.phase` is <c16 in the dtype, expected <c8'
assert 'field `position` has the shape (2,)' in refused(particles.summary,
    np.zeros(3, [(n, packed.dtype[n].base, (2,) if n == 'position' else packed.dtype[n].shape) for n in packed.dtype.names]))
more = np.zeros(3, [(n, packed.dtype[n].base, packed.dtype[n].shape) for n in packed.dtype.names] + [('extra', 'u1')])
assert refused(particles.summary, more).startswith('field `extra` of the dtype is not a field of the type')
assert refused(particles.are, packed, []) == 'field `position` is at offset 1 of the dtype, expected 8 to use it in place'
assert refused(particles.are, array[::-1], []) == 'axis 0 has a stride of -64 bytes, expected 64 as in a contiguous array'
assert refused(particles.are, windows, []) == 'axis 0 has a stride of 64 bytes, expected 256 as in a contiguous array'
assert refused(particles.are, np.broadcast_to(array[:1], 4), []).startswith('axis 0 has a stride of 0 bytes, expected 64')
assert refused(particles.are, array[::2], []) == 'axis 0 has a stride of 128 bytes, expected 64 as in a contiguous array'
assert refused(particles.are, array.reshape(3, 4).T, []).startswith('axis 1 has a stride of 256 bytes')
class Other(np.ndarray):
    def view(self, *arguments):
        return np.broadcast_to(np.ndarray.view(np.asarray(self)[:1], *arguments), (100000,))
assert particles.are(np.ndarray.view(array[:3], Other), [0, 1, 2])
misaligned = np.zeros(65, np.uint8)[1:].view(array.dtype)
misaligned['wall'] = 1
assert 'alignment of the records' in refused(particles.are, misaligned, [])
assert particles.summary(misaligned) == (0, {'Reflect': 1})

# Shapes without an item whose other lengths overflow, and strides that lead nowhere.
for dtype in array.dtype, packed.dtype:
    wide = np.empty((2**40, 2**40, 1), 'V0')
    wide.dtype = dtype
    assert wide.shape == (2**40, 2**40, 0)
    try:
        assert particles.summary(wide) == (0, {})
        assert particles.are(wide, []) or dtype != array.dtype
    except ValueError as error:
        # NumPy's own.
        assert 'array is too big' in str(error) or 'is at offset 1' in str(error)
far = np.lib.stride_tricks.as_strided
for stride in 2**62, 2**63 - 1, -2**63, -2**63 + 1, -1:
    assert particles.are(far(array[:1], (1, 1), (stride, -2**63)), [0])
    assert particles.summary(far(array[:1], (1, 1), (stride, -2**63))) == (1, {'Reflect': 1})
    assert particles.are(far(array[:1], (0, 5), (stride, -2**63)), [])
    assert refused(particles.are, far(array[:1], (2,), (stride,)), []).startswith('axis 0 has a stride of')
refused(particles.summary, np.broadcast_to(array[:1], 2**56), kind=MemoryError)

# Invalid values, by record and field.
bad = array.copy()
bad['wall'][7] = 3
assert refused(particles.summary, bad) == 'record 7, field wall: 0x3 is not a valid Wall'
assert refused(particles.are, bad, []) == 'record 7, field wall: 0x3 is not a valid Wall'
bad = packed.copy()
bad['spins']['up'].view(np.uint8)[2, 1] = 2
assert refused(particles.summary, bad) == 'record 2, field spins[1].up: 0x2 is not a valid bool'
";
