//! `dtype show FILE.parquet --as rust-struct`: the struct reads the file.

use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use arrow_array::builder::{
    FixedSizeListBuilder, ListBuilder, StringDictionaryBuilder, UInt16Builder,
};
use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Date64Array, Float64Array, Int64Array,
    RecordBatch, StringArray, StructArray, Time32MillisecondArray, TimestampMicrosecondArray,
};
use arrow_schema::{DataType, Field};
use dtype_arrow::{ReadOptions, from_batch};
use dtype_runtime::{Datatype, Maybe, TimeSpan, Timestamp};
use dtype_test_support::python;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::command::{Folder, done, dtype, failed};

#[allow(unreachable_pub, reason = "as the command writes it")]
mod columns;
#[allow(unreachable_pub, reason = "as the command writes it")]
mod pandas;

fn write(path: &Path, batches: &[RecordBatch]) {
    let mut writer =
        ArrowWriter::try_new(File::create(path).unwrap(), batches[0].schema(), None).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
        writer.flush().unwrap();
    }
    writer.close().unwrap();
}

fn read<T: Datatype>(path: &Path) -> Vec<T> {
    let file = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let options = ReadOptions::strict().with_number_conversion();
    let batches =
        file.build().unwrap().map(|batch| from_batch::<T>(&batch.unwrap(), &options).unwrap());
    batches.flatten().collect()
}

fn shown(path: &Path) -> String {
    String::from_utf8(done(dtype().args(["show", "--as", "rust-struct"]).arg(path))).unwrap()
}

/// Rows of everything that records have, the second batch with longer texts and lists.
fn batch(last: &str, values: &[u16]) -> RecordBatch {
    let mut kinds = StringDictionaryBuilder::<Int8Type>::new();
    kinds.append_value("wind");
    kinds.append_null();
    let mut lists = ListBuilder::new(UInt16Builder::new());
    lists.append_value([]);
    lists.append_value(values.iter().map(|value| Some(*value)));
    let mut pairs = FixedSizeListBuilder::new(UInt16Builder::new(), 2);
    for value in [1, 2, 3, 4] {
        pairs.values().append_value(value);
    }
    pairs.append(true);
    pairs.append(true);
    let field = |name, ty| Arc::new(Field::new(name, ty, true));
    let place = StructArray::from(vec![
        (
            field("latitude", DataType::Float64),
            Arc::new(Float64Array::from(vec![1.0, 2.0])) as ArrayRef,
        ),
        (field("of day", DataType::Boolean), Arc::new(BooleanArray::from(vec![Some(true), None]))),
    ]);
    let columns: [(&str, ArrayRef); 11] = [
        ("name", Arc::new(StringArray::from(vec!["a", last]))),
        ("kind", Arc::new(kinds.finish())),
        ("at", Arc::new(TimestampMicrosecondArray::from(vec![5, -5]).with_timezone("UTC"))),
        ("day", Arc::new(Date32Array::from(vec![1, -1]))),
        ("noon", Arc::new(Date64Array::from(vec![86_400_000, 0]))),
        ("time", Arc::new(Time32MillisecondArray::from(vec![250, 500]))),
        ("place", Arc::new(place)),
        ("values", Arc::new(lists.finish())),
        ("pair", Arc::new(pairs.finish())),
        ("mass", Arc::new(Int64Array::from(vec![Some(7), None]))),
        ("raw", Arc::new(BinaryArray::from(vec![&b"x"[..], b""]))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

#[test]
fn the_struct_of_columns_reads_them() {
    let folder = Folder::new();
    let path = folder.path("rows.parquet");
    write(&path, &[batch("longer", &[1]), batch("", &[1, 2, 3])]);
    let output = dtype().args(["show", "--as", "rust-struct"]).arg(&path).output().unwrap();
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "note: the column \"raw\", Binary, is left out\n"
    );
    assert_eq!(String::from_utf8(output.stdout).unwrap(), include_str!("parquet/columns.rs"));
    let rows = read::<columns::Record>(&path);
    let place = |latitude, of_day| columns::Place { latitude, of_day };
    let expected = columns::Record {
        name: "longer".parse().unwrap(),
        kind: Maybe::none(),
        at: Timestamp::new(-5),
        day: Timestamp::new(-86_400),
        noon: Timestamp::new(0),
        time: TimeSpan::new(500),
        place: place(2.0, Maybe::none()),
        values: [1][..].try_into().unwrap(),
        pair: [3, 4],
        mass: Maybe::none(),
    };
    assert_eq!((rows.len(), rows[1]), (4, expected));
    assert_eq!(rows[2].kind, Maybe::some("wind".parse().unwrap()));
    assert_eq!(&rows[3].values[..], [1, 2, 3]);
    // The type is that of the records.
    let info = String::from_utf8(done(dtype().arg("info").arg(&path))).unwrap();
    assert!(info.starts_with("size       76 bytes\n"), "{info}");
}

const PANDAS: &str = "
import datetime, sys
import numpy as np
import pandas as pd
frame = pd.DataFrame({
    'name': ['a', 'zoë', ''],
    'kind': pd.Categorical(['x', 'yy', 'x']),
    'at': pd.to_datetime(['2020-01-01', '2021-01-01', '1969-12-31']).astype('datetime64[us]'),
    'day': [datetime.date(2020, 1, 1), None, datetime.date(1969, 12, 31)],
    'mass': [1.5, np.nan, -2],
    'count': pd.array([1, None, 3], dtype='Int32'),
    'values': [[1, 2], [], [3]],
    'place': [{'x': 1.0}, {'x': 2.0}, {'x': 3.0}],
    'raw': [b'1', b'2', b'3'],
})
frame.to_parquet(sys.argv[1])
";

#[test]
fn the_struct_reads_what_pandas_wrote() {
    let Some(python) = python::with("pandas, pyarrow") else { return };
    let folder = Folder::new();
    let path = folder.path("frame.parquet");
    assert!(Command::new(python).args(["-c", PANDAS]).arg(&path).status().unwrap().success());
    assert_eq!(shown(&path), include_str!("parquet/pandas.rs"));
    let rows = read::<pandas::Record>(&path);
    let day = 86_400;
    let expected = pandas::Record {
        name: "zoë".parse().unwrap(),
        kind: "yy".parse().unwrap(),
        at: Timestamp::new(18_628 * day * 1_000_000),
        day: Maybe::none(),
        mass: Maybe::none(),
        count: Maybe::none(),
        values: [][..].try_into().unwrap(),
        place: pandas::Place { x: 2.0 },
    };
    assert_eq!((rows.len(), rows[1]), (3, expected));
    assert_eq!((rows[2].day, rows[2].mass), (Some(Timestamp::new(-day)).into(), Some(-2.0).into()));
}

#[test]
fn files_without_records_are_refused() {
    let folder = Folder::new();
    let path = folder.path("raw.parquet");
    let raw: ArrayRef = Arc::new(BinaryArray::from(vec![&b"x"[..]]));
    write(&path, &[RecordBatch::try_from_iter([("raw", raw)]).unwrap()]);
    let refused = |path: &Path| failed(dtype().args(["show", "--as", "rust-struct"]).arg(path));
    assert!(refused(&path).ends_with("raw.parquet: no column has a type of records\n"));
    let bytes = std::fs::read(&path).unwrap();
    for end in [4, 12, bytes.len() - 5] {
        let cut = folder.file("cut.parquet", &bytes[..end]);
        assert!(refused(&cut).contains("cut.parquet: "));
    }
    // No text and no list has an item.
    let texts: ArrayRef = Arc::new(StringArray::from(vec![""]));
    let mut lists = ListBuilder::new(UInt16Builder::new());
    lists.append_value([]);
    let lists: ArrayRef = Arc::new(lists.finish());
    write(&path, &[RecordBatch::try_from_iter([("text", texts), ("list", lists)]).unwrap()]);
    assert!(shown(&path).contains("    pub text: FixedStr<0>,\n    pub list: FixedVec<u16, 1>,\n"));
}
