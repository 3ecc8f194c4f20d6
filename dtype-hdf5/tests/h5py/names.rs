//! Members of compounds and of enumerations whose names are not Rust's.
//!
//! Without a Python that has h5py the test prints a note, and passes.

use std::path::Path;
use std::process::Command;

use crate::alone;
use dtype_hdf5::Error;
use dtype_runtime::Datatype;
use dtype_test_support::python;
use hdf5_metno::File;

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Step {
    #[dtype(rename = "total blocks")]
    total_blocks: i32,
    time: f64,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(u8)]
enum Valve {
    #[dtype(rename = "on/off")]
    OnOff = 3,
    #[dtype(rename = "größer als 0")]
    Above = 1,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Outer {
    #[dtype(rename = "a.b [m/s] \"é\"")]
    steps: [Step; 2],
    valve: Valve,
    #[dtype(rename = "type")]
    kind: u16,
}

fn step(i: i32) -> Step {
    Step { total_blocks: 10 * i, time: f64::from(i) / 2.0 }
}

fn outers() -> Vec<Outer> {
    let valve = |i| if i % 2 == 0 { Valve::OnOff } else { Valve::Above };
    let outer =
        |i: u16| Outer { steps: [step(i.into()), step(-i32::from(i))], valve: valve(i), kind: i };
    (0..9).map(outer).collect()
}

fn run(python: &str, file: &Path, program: &str) {
    let program = format!("import sys, h5py, numpy as np\npath = sys.argv[1]\n{program}");
    let output = Command::new(python).args(["-c", &program]).arg(file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn h5py_writes_and_reads_the_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.h5");
    let steps: Vec<Step> = (0..7).map(step).collect();
    {
        let file = File::create(&path).unwrap();
        let dataset = dtype_hdf5::create(&file, "steps", &steps).unwrap();
        assert_eq!(dtype_hdf5::read::<Step>(&dataset).unwrap(), steps);
        let dataset = dtype_hdf5::create(&file, "outers", &outers()).unwrap();
        assert_eq!(dtype_hdf5::read::<Outer>(&dataset).unwrap(), outers());
    }
    let _alone = alone();
    let Some(python) = python::with("h5py") else { return };
    run(
        python,
        &path,
        r#"
valve = h5py.enum_dtype({'größer als 0': 1, 'on/off': 3}, basetype='u1')
step = [('total blocks', '<i4'), ('time', '<f8')]
outer = [('a.b [m/s] "é"', step, 2), ('valve', valve), ('type', '<u2')]
with h5py.File(path, 'a') as file:
    steps, outers = file['steps'][:], file['outers'][:]
    assert steps.dtype.names == ('total blocks', 'time'), steps.dtype
    assert outers.dtype.names == tuple(name for name, *_ in outer), outers.dtype
    assert (steps['total blocks'] == 10 * np.arange(7)).all()
    assert (outers['a.b [m/s] "é"']['time'][:, 0] == np.arange(9) / 2).all()
    file['their steps'] = steps[['time', 'total blocks']].astype([step[1], step[0]])
    file.create_dataset('their outers', data=outers.astype(outer), dtype=outer)
    file['others'] = steps.astype([('total_blocks', '<i4'), ('time', '<f8')])
"#,
    );
    let file = File::open(&path).unwrap();
    let dataset = |name: &str| file.dataset(name).unwrap();
    assert_eq!(dtype_hdf5::read::<Step>(&dataset("their steps")).unwrap(), steps);
    assert_eq!(dtype_hdf5::read::<Outer>(&dataset("their outers")).unwrap(), outers());
    let error = dtype_hdf5::read::<Step>(&dataset("others")).unwrap_err();
    assert!(matches!(&error, Error::Missing { field } if field == "total blocks"), "{error}");
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Coffee {
    #[dtype(rename = "café")]
    with: u8,
    #[dtype(rename = "cafè")]
    without: u8,
}

/// Names in Latin-1, as files from before UTF-8 have them.
#[test]
fn names_that_are_not_utf_8_stay_different() {
    let _alone = alone();
    let Some(python) = python::with("h5py") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("latin.h5");
    run(
        python,
        &path,
        r"
from h5py import h5d, h5s, h5t
with h5py.File(path, 'w') as file:
    record, kind = h5t.create(h5t.COMPOUND, 2), h5t.enum_create(h5t.STD_U8LE)
    for number, name in enumerate([b'caf\xe9', b'caf\xe8']):
        record.insert(name, number, h5t.STD_U8LE)
        kind.enum_insert(name, number)
    for name, datatype in (b'record', record), (b'kind', kind):
        dataset = h5d.create(file.id, name, datatype, h5s.create_simple((1,)))
        dataset.write(h5s.ALL, h5s.ALL, np.array([[1, 2]], 'u1'), datatype)
",
    );
    let file = File::open(&path).unwrap();
    let record = file.dataset("record").unwrap();
    assert_eq!(dtype_hdf5::read::<Coffee>(&record).unwrap(), [Coffee { with: 1, without: 2 }]);
    assert_eq!(dtype_hdf5::read::<u8>(&file.dataset("kind").unwrap()).unwrap(), [1]);
}
