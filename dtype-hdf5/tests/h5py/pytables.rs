//! Files of PyTables, whose times and single values have forms of their own.
//!
//! Without a Python that has the modules the tests print a note, and pass.

use crate::alone;
use crate::files::run;
use dtype_hdf5::{Error, ReadOptions};
use dtype_runtime::time::{Microseconds, Nanoseconds, Seconds};
use dtype_runtime::{Datatype, FixedStr, Timestamp};
use dtype_test_support::python;
use hdf5_metno::File;

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Row {
    id: i32,
    began: Timestamp<Seconds>,
    ended: Timestamp<Microseconds>,
    block: FixedStr<8>,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct End<T> {
    ended: T,
}

/// Of `conversions`, only the seconds: PyTables keeps them in four bytes.
const CONVERTING: ReadOptions = ReadOptions::strict().with_number_conversion();

fn rows() -> [Row; 3] {
    [(1, 1_800_000_000, 1_800_000_000_250_000), (2, 0, -1_500_000), (3, -7, 2_147_483_647_999_999)]
        .map(|(id, began, ended)| Row {
            id,
            began: Timestamp::new(began),
            ended: Timestamp::new(ended),
            block: "é 4".parse().unwrap(),
        })
}

/// A file whose times are made by hand, as PyTables makes them; it has PyTables' mark if `is_marked`.
fn by_hand(is_marked: bool) -> String {
    format!(
        "
times = [(s << 32) | (us & 0xffffffff) for s, us in [(1800000000, 250000), (-1, -500000), (2147483647, 999999)]]
row = h5py.h5t.create(h5py.h5t.COMPOUND, 24)
row.insert(b'id', 0, h5py.h5t.NATIVE_INT32)
row.insert(b'began', 4, h5py.h5t.UNIX_D32LE)
row.insert(b'ended', 8, h5py.h5t.UNIX_D64LE)
text = h5py.h5t.C_S1.copy()
text.set_size(8)
row.insert(b'block', 16, h5py.h5t.array_create(text, (1,)))
data = np.zeros(3, [('id', 'i4'), ('began', 'i4'), ('ended', 'i8'), ('block', 'S8')])
data['id'], data['began'], data['block'] = [1, 2, 3], [1800000000, 0, -7], 'é 4'.encode()
data['ended'] = np.array(times, dtype=object).astype('i8')
with h5py.File(path, 'w') as file:
    if {}:
        file.attrs['PYTABLES_FORMAT_VERSION'] = '2.1'
    space = h5py.h5s.create_simple((3,))
    dataset = h5py.h5d.create(file.id, b'rows', row, space)
    dataset.write(space, space, data.view('V24'), mtype=row)
",
        if is_marked { "True" } else { "False" }
    )
}

#[test]
fn times_of_pytables_are_points_in_time() {
    let _alone = alone();
    let programs = [
        ("h5py", by_hand(true)),
        (
            "h5py, tables",
            "
import tables
class Row(tables.IsDescription):
    id = tables.Int32Col(pos=0)
    began = tables.Time32Col(pos=1)
    ended = tables.Time64Col(pos=2)
    block = tables.StringCol(8, shape=(1,), pos=3)
with tables.open_file(path, 'w') as file:
    table = file.create_table('/', 'rows', Row)
    times = [(1, 1800000000, 1800000000.25), (2, 0, -1.5), (3, -7, 2147483647.999999)]
    table.append([(*row, ['é 4'.encode()]) for row in times])
"
            .to_owned(),
        ),
    ];
    for (modules, program) in programs {
        let Some(python) = python::with(modules) else { continue };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.h5");
        run(python, &path, &program);
        let file = File::open_rw(&path).unwrap();
        let dataset = file.dataset("rows").unwrap();
        let read = || dtype_hdf5::read_with::<Row>(&dataset, &CONVERTING).map(|all| all.records);
        assert_eq!(read().unwrap(), rows(), "{modules}");
        // Seconds in four bytes are numbers of another width.
        let strict = dtype_hdf5::read::<Row>(&dataset).unwrap_err();
        let began = "field `began` is a time in seconds in the dataset, expected i64";
        assert_eq!(strict.to_string(), began);
        let others = ReadOptions::strict().with_other_fields();
        let ends =
            dtype_hdf5::read_with::<End<Timestamp<Microseconds>>>(&dataset, &others).unwrap();
        assert_eq!(ends.records, rows().map(|row| End { ended: row.ended }));
        let number = dtype_hdf5::read_with::<End<f64>>(&dataset, &others.with_number_conversion());
        assert_eq!(
            number.unwrap_err().to_string(),
            "field `ended` is a time in seconds and microseconds in the dataset, expected f64"
        );
        let nano = others.with_number_conversion();
        let ends = dtype_hdf5::read_with::<End<Timestamp<Nanoseconds>>>(&dataset, &nano).unwrap();
        assert_eq!(ends.records[1].ended.count(), -1_500_000_000);

        // Without a type.
        let mut items = dtype_hdf5::items(&dataset).unwrap();
        assert_eq!(
            items.dtype().to_string(),
            "[('id', '<i4'), ('began', '<M8[s]'), ('ended', '<M8[us]'), ('block', '<U8', (1,))]"
        );
        let mut bytes = Vec::new();
        while items.read_onto(&mut bytes).unwrap() > 0 {}
        let unpacked = items.dtype().unpack::<Row>(&bytes, 3, &ReadOptions::strict());
        assert_eq!(unpacked.unwrap().records, rows());

        // Written: only what fits.
        let ends = End { ended: Timestamp::<Microseconds>::new(i64::MAX) };
        let written = dtype_hdf5::write(&dataset, &[ends; 3]);
        assert!(
            matches!(written, Err(Error::Missing { .. } | Error::Unknown { .. })),
            "{written:?}"
        );
    }
}

#[test]
fn times_of_other_programs_have_no_known_unit() {
    let _alone = alone();
    let Some(python) = python::with("h5py") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.h5");
    run(python, &path, &by_hand(false));
    let file = File::open(&path).unwrap();
    let dataset = file.dataset("rows").unwrap();
    let read = dtype_hdf5::read_with::<Row>(&dataset, &CONVERTING).unwrap_err();
    assert_eq!(
        read.to_string(),
        "field `ended` is a time of no known unit in the dataset, expected i64"
    );
}
