//! `dtype show FILE --as rust-struct` for files that have a type of their own. The structs are compiled into this test, and read
//! the files.

use dtype_npy::{Dtype, Header, Npz, ReadOptions};
use dtype_runtime::time::Seconds;
use dtype_runtime::{Datatype, FixedStr, Maybe, Timestamp};
use rawzip::ZipArchiveWriter;
use std::fs::File;
use std::io::Write as _;
use std::mem::offset_of;
use std::path::Path;

use crate::command::{Folder, done, dtype, failed};

// What the command writes. Where that has changed, these files are what it should be.
#[allow(unreachable_pub, dead_code, reason = "as the command writes it")]
mod aligned;
#[allow(
    unreachable_pub,
    dead_code,
    non_snake_case,
    non_camel_case_types,
    reason = "as the command writes it"
)]
mod names;
#[allow(
    unreachable_pub,
    non_snake_case,
    clippy::struct_field_names,
    reason = "as the command writes it"
)]
mod people;
#[allow(unreachable_pub, dead_code, reason = "as the command writes it")]
mod wire;

/// What the command writes.
fn shown(of: &str) -> String {
    String::from_utf8(done(dtype().args(["show", of, "--as", "rust-struct"]))).unwrap()
}

/// A dtype with everything that a file may have.
const PEOPLE: &str = "[('name', 'U12'), ('born', 'M8[D]'), ('at', 'M8[us]', (2,)), ('took', 'm8[25s]'), ('tag', 'S4'),
    ('total blocks', 'i4'), ('type', [('self', 'u1'), ('x', 'f4', (2, 3))]), ('maybe', [('present', '?'), ('value', 'f8')]),
    ('some', [('len', 'u4'), ('items', [('x', 'i2')], (4,))]), ('record', [('datatype', 'i8')]), ('raw', 'V3'), ('half', 'f2'),
    ('z', 'c16'), ('count', 'M8'), ('years', 'm8[Y]'), ('big', 'V16'), ('Seconds', [('y', 'f4')]), ('pico', 'M8[ps]')]";

/// A `.npy` file with this dtype, and these items.
fn npy(dtype: &str, items: &[u8]) -> Vec<u8> {
    let dtype = Dtype::parse(&dtype.replace('\n', "")).unwrap();
    let shape = vec![items.len() as u64 / dtype.itemsize()];
    let header = Header { version: (1, 0), dtype, fortran_order: false, shape };
    [&header.to_bytes().unwrap(), items].concat()
}

/// What the command writes for a file.
fn of_file(file: &[u8]) -> String {
    shown(Folder::new().file("it.npy", file).to_str().unwrap())
}

#[test]
#[cfg(target_endian = "little")]
fn the_struct_compiles_and_reads_the_file() {
    let dtype = Dtype::parse(&PEOPLE.replace('\n', "")).unwrap();
    let mut items = vec![0; 2 * usize::try_from(dtype.itemsize()).unwrap()];
    // `A`, and one day.
    items[0] = b'A';
    items[48] = 1;
    let file = npy(PEOPLE, &items);
    assert_eq!(of_file(&file), include_str!("record_structs/people.rs"));
    let options = ReadOptions::strict().with_other_fields().with_number_conversion();
    let people = dtype_npy::read_with::<people::Record>(&file[..], &options).unwrap();
    assert_eq!(people.left_out, ["raw"]);
    let [ann, nobody] = &people.records[..] else { panic!("{people:?}") };
    assert_eq!((ann.name, ann.born), ("A".parse().unwrap(), Timestamp::new(86_400)));
    assert!(nobody.some.is_empty());
    assert_eq!(nobody.maybe, Maybe::none());
}

/// Big-endian values at any offset, with gaps, not aligned, and structures of that kind inside.
#[test]
fn offsets_and_byte_orders_are_those_of_the_file() {
    const WIRE: &str = "{'names': ['a', 'b', 'inner', 'when', 'who', 'nothing'],
        'formats': ['>u2', '>f8', ({'names': ['x', 'y'], 'formats': ['>i4', '>i2'], 'offsets': [1, 6], 'itemsize': 9}, (2,)),
            '>M8[D]', '>U2', ('>f4', (0,))],
        'offsets': [0, 3, 12, 31, 40, 50], 'itemsize': 53}";
    let mut item = [0xff; 53];
    let mut put = |at: usize, bytes: &[u8]| item[at..][..bytes.len()].copy_from_slice(bytes);
    put(3, &1.5_f64.to_be_bytes());
    put(0, &258_u16.to_be_bytes());
    for (at, x, y) in [(12, -2_i32, 7_i16), (21, 1 << 20, -1)] {
        put(at + 1, &x.to_be_bytes());
        put(at + 6, &y.to_be_bytes());
    }
    put(31, &3_i64.to_be_bytes());
    put(40, &[0, 0, 0, b'Z', 0, 0, 0, 0xf8]);
    let file = npy(WIRE, &[item, item].concat());
    assert_eq!(of_file(&file), include_str!("record_structs/wire.rs"));
    let options = ReadOptions::strict().with_other_fields().with_number_conversion();
    let inner = [wire::Inner { x: -2, y: 7 }, wire::Inner { x: 1 << 20, y: -1 }];
    let (when, who) = (Timestamp::new(3 * 86_400), "Z\u{f8}".parse().unwrap());
    let expected = wire::Record { a: 258, b: 1.5, inner, when, who };
    let read = dtype_npy::read_with::<wire::Record>(&file[..], &options).unwrap();
    assert_eq!(read.records, [expected, expected]);
    // No record has values of two byte orders, and no file has Python objects.
    for (items, reason) in [
        (
            "[('a', '<u2'), ('b', [('c', '>u2')])]",
            "field `b`: field `c`: the fields are of different byte orders",
        ),
        (
            "[('a', 'u1'), ('b', 'O')]",
            "field `b`: Python objects are not data: the file has their pickles",
        ),
    ] {
        let folder = Folder::new();
        let file = folder.file("it.npy", &npy(items, &[]));
        let message = failed(dtype().args(["show", file.to_str().unwrap(), "--as", "rust-struct"]));
        assert_eq!(message, format!("error: the header: {reason}\n"));
    }
}

/// Where the file has the layout of C, the struct has it, too: its records are used in place.
#[test]
fn an_aligned_dtype_has_the_layout_of_the_struct() {
    const ALIGNED: &str = "np.dtype([('id', 'u1'), ('mass', 'f8'), ('at', [('c', 'i1'), ('time', 'M8[ns]')], (2,)), ('on', '?')],
        align=True)";
    let file = npy(ALIGNED, &[0; 112]);
    assert_eq!(of_file(&file), include_str!("record_structs/aligned.rs"));
    let dtype = Header::read(&file[..]).unwrap().dtype;
    assert_eq!(dtype.check_memory::<aligned::Record>(), Ok(()));
    assert_eq!(size_of::<aligned::Record>() as u64, dtype.itemsize());
    assert_eq!(offset_of!(aligned::Record, at), 16);
    assert_eq!(offset_of!(aligned::Record, on), 48);
    assert_eq!(dtype_npy::read::<aligned::Record>(&file[..]).unwrap().len(), 2);
}

/// Names that Rust, its prelude, the derive, or the text itself have.
#[test]
fn any_name_is_one_in_rust() {
    const NAMES: &str = r#"[('self', 'u1'), ('Self', 'u1'), ('self_', 'u1'), ('crate', 'u1'), ('fn', 'u1'), ('gen', 'u1'), ('2nd', 'u1'),
        ('_', 'u1'), ('a b', 'u1'), ('a_b', 'u1'), ('größe "q" \\n', 'u1'), ('option', [('x', 'u1')]), ('result', [('y', 'u1')]),
        ('vec', [('self', [('x', 'u1')])]), ('box', [('x', 'u2')]), ('datatype', [('x', 'u1')], (2,)), ('clone', [('z', 'u1')]),
        ('partialEq', [('w', 'u1')]), ('u8', [('v', 'u1')]), ('str', [('u', 'u1')]), ('copy', [('copy', [('copy', 'S0')])])]"#;
    let items: Vec<u8> = (1..=22).collect();
    let file = npy(NAMES, &items);
    assert_eq!(of_file(&file), include_str!("record_structs/names.rs"));
    let records = dtype_npy::read::<names::Record>(&file[..]).unwrap();
    // A text's length is four bytes, also if it is 0.
    assert_eq!(dtype_runtime::pack(&records), [&items[..], &[0; 4]].concat());
}

#[test]
fn single_values_and_nothing() {
    let shown = |dtype: &str| of_file(&npy(dtype, &[]));
    assert_eq!(
        shown("np.dtype('M8[ms]')"),
        "use dtype_runtime::time::Milliseconds;\nuse dtype_runtime::Timestamp;\n\npub type Record = Timestamp<Milliseconds>;\n"
    );
    assert_eq!(shown("np.dtype(('f8', (2, 3)))"), "pub type Record = [[f64; 3]; 2];\n");
    let maybe = "[('present', '?'), ('value', [('x', 'u1')])]";
    assert!(
        shown(maybe).ends_with(
            "pub struct Value {\n    pub x: u8,\n}\n\npub type Record = Maybe<Value>;\n"
        )
    );
    let folder = Folder::new();
    let file = folder.file("it.npy", &npy("[('a', 'V3')]", &[]));
    let message = failed(dtype().args(["show", file.to_str().unwrap(), "--as", "rust-struct"]));
    assert_eq!(
        message,
        "error: no struct in Rust has this layout: no type of a record has values of the dtype [('a', '|V3')]\n"
    );
    // Names that a terminal would obey, and that Rust does not have.
    let text = shown("{'names': ['a\\n\u{1b}[2J', 'a__2J'], 'formats': ['V3', 'u1']}");
    assert!(
        text.contains("    // \"a\\n\\u{1b}[2J\", '|V3', is left out.\n    pub a__2J: u8,\n"),
        "{text}"
    );
}

/// An archive of files.
fn npz(path: &Path, all: &[(&str, &[u8])]) {
    let mut archive = ZipArchiveWriter::new(File::create(path).unwrap());
    for (name, bytes) in all {
        let (mut entry, config) = archive.new_file(name).start().unwrap();
        let mut writer = config.wrap(&mut entry);
        writer.write_all(bytes).unwrap();
        let (_, descriptor) = writer.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
}

#[test]
fn arrays_of_an_archive() {
    let folder = Folder::new();
    let path = folder.path("two:arrays.npz");
    let mut names = Vec::new();
    dtype_npy::write(&mut names, &["Ann".parse::<FixedStr<4>>().unwrap()]).unwrap();
    let mut rows = Vec::new();
    dtype_npy::write(&mut rows, &[(7_u16, Maybe::some(0.5_f32)), (8, Maybe::none())]).unwrap();
    npz(&path, &[("names.npy", &names), ("rows.npy", &rows), ("note", b"text")]);
    let of = |name: &str| format!("{}:{name}", path.display());
    assert_eq!(
        String::from_utf8(done(dtype().args(["dump", &of("rows"), "--as", "csv"]))).unwrap(),
        "0,1.present,1.value\n7,true,0.5\n8,false,0.0\n"
    );
    assert!(shown(&of("rows")).contains("    #[dtype(rename = \"1\")]\n    pub f1: Maybe<f32>,\n"));
    assert_eq!(
        shown(&of("names")),
        "use dtype_runtime::FixedStr;\n\npub type Record = FixedStr<16>;\n"
    );
    let info = String::from_utf8(done(dtype().args(["info", &of("names")]))).unwrap();
    assert!(info.contains("16 bytes"), "{info}");
    let message = failed(dtype().args(["show", path.to_str().unwrap()]));
    assert!(
        message
            .contains("has arrays, each with a type of its own: `names`, `rows`\nhelp: name one"),
        "{message}"
    );
    let message = failed(dtype().args(["show", &of("row")]));
    assert!(message.contains("no array \"row\", expected one of \"names\", \"rows\""), "{message}");
    // The crate reads the same.
    let archive = Npz::new(File::open(&path).unwrap()).unwrap();
    assert_eq!(archive.read::<FixedStr<4>>("names").unwrap(), ["Ann"]);
    // A damaged archive is an error, and another kind of archive is a file like any other.
    let bytes = std::fs::read(&path).unwrap();
    let cut = folder.file("cut.npz", &bytes[..bytes.len() - 30]);
    let message = failed(dtype().args(["show", &format!("{}:names", cut.display())]));
    assert!(message.contains("not an archive of NumPy"), "{message}");
}

#[test]
fn the_book_shows_a_struct_for_a_file() {
    let chapter = include_str!("../../../docs/src/command.md");
    let dtype = "[('name', 'S12'), ('born', 'M8[D]'), ('mean mass', 'f4'), ('raw', 'V3')]";
    assert!(chapter.contains(&format!("`np.zeros(9, {dtype})`")));
    let text = of_file(&npy(dtype, &[]));
    assert!(chapter.contains(&text), "{text}");
}

#[derive(Datatype)]
struct Day {
    day: Timestamp<Seconds>,
}

/// The options that the struct's documentation names are needed.
#[test]
fn days_are_read_with_the_options_of_the_struct() {
    let text = of_file(&npy("[('day', 'M8[D]')]", &[]));
    assert!(
        text.contains("/// Read with `ReadOptions::strict().with_number_conversion()`.\n#[derive("),
        "{text}"
    );
    let file = npy("[('day', 'M8[D]')]", &[0; 8]);
    assert!(dtype_npy::read::<Day>(&file[..]).is_err());
    let options = ReadOptions::strict().with_number_conversion();
    let days = dtype_npy::read_with::<Day>(&file[..], &options).unwrap().records;
    assert_eq!(days[0].day.count(), 0);
}
