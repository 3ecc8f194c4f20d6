//! Fields with other names than those of the source, everywhere that a name is written or looked up.

#![cfg(feature = "derive")]

#[cfg(feature = "npy")]
mod python;

use dtype_runtime::{Columns, Datatype, Error, Packed, columns, pack, unpack};

/// Names that files have and Rust does not.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Step {
    #[dtype(rename = "total blocks")]
    total_blocks: i32,
    time: f64,
    #[dtype(rename = "größe 'in' \"m\\s\"")]
    size: u16,
    #[dtype(rename = "<&>: x")]
    signs: [u8; 2],
    #[dtype(rename = "a\tb\n\u{9b}2J")]
    controls: u8,
    #[dtype(rename = "is.on [0]")]
    flags: [Flags; 2],
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Flags {
    #[dtype(rename = "on/off")]
    on: bool,
    #[dtype(rename = "温度")]
    temperature: i16,
}

const NAMES: [&str; 7] = [
    "total blocks",
    "time",
    "größe 'in' \"m\\s\"",
    "<&>: x",
    "a\tb\n\u{9b}2J",
    "is.on [0].on/off",
    "is.on [0].温度",
];

fn steps() -> [Step; 2] {
    let flags = [Flags { on: true, temperature: -4 }, Flags { on: false, temperature: 300 }];
    let first = Step { total_blocks: 7, time: 0.5, size: 3, signs: [1, 2], controls: 9, flags };
    [first, Step { total_blocks: -8, time: 1.5, ..first }]
}

#[test]
fn columns_are_found_by_the_names() {
    let (steps, names) = (steps(), NAMES.map(str::to_owned));
    let all = columns(&steps);
    assert!(Columns::<Step>::zeroed(0).unwrap().fields().map(|field| field.path).eq(names));
    assert_eq!(all.get::<i32>("total blocks").unwrap(), [7, -8]);
    assert_eq!(all.get::<u8>("<&>: x").unwrap(), [1, 2, 1, 2]);
    assert_eq!(all.get::<i16>("is.on [0].温度").unwrap(), [-4, 300, -4, 300]);
    let packed = pack(&steps);
    let packed = Packed::<Step>::new(&packed).unwrap();
    assert!(packed.column::<i32>("total blocks").unwrap().iter().eq([7, -8]));
    assert!(packed.column::<bool>("is.on [0][1].on/off").unwrap().iter().eq([false; 2]));
    assert!(packed.column::<u8>("<&>: x[1]").unwrap().iter().eq([2, 2]));
    for old in ["total_blocks", "total", "is", "is.on", "is.on [0", "flags", "total blocks.", ""] {
        assert!(all.get::<i32>(old).is_err(), "{old}");
        assert!(packed.column::<i32>(old).is_err(), "{old}");
    }
}

#[test]
fn of_two_names_the_longer_one_counts() {
    #[derive(Datatype, Clone, Copy)]
    struct Inner {
        b: u8,
        c: u8,
    }
    #[derive(Datatype, Clone, Copy)]
    struct Outer {
        a: Inner,
        #[dtype(rename = "a.b")]
        dot: u16,
        list: [u8; 2],
        #[dtype(rename = "list[0]")]
        bracket: u16,
    }
    let outer = Outer { a: Inner { b: 1, c: 2 }, dot: 3, list: [4, 5], bracket: 6 };
    let packed = pack(&[outer]);
    let packed = Packed::<Outer>::new(&packed).unwrap();
    let all = columns(&[outer]);
    assert_eq!((all.get("a.b"), all.get("a.c")), (Ok(&[3_u16][..]), Ok(&[2_u8][..])));
    assert!(packed.column::<u16>("a.b").unwrap().iter().eq([3]));
    assert!(packed.column::<u8>("a.c").unwrap().iter().eq([2]));
    assert!(packed.column::<u16>("list[0]").unwrap().iter().eq([6]));
    assert!(packed.column::<u8>("list[1]").unwrap().iter().eq([5]));
    assert!(packed.column::<(u8, u8)>("a").unwrap().iter().eq([(1, 2)]));
}

/// The longer name leads nowhere.
#[test]
fn each_path_of_a_column_is_found() {
    #[derive(Datatype, Clone, Copy)]
    struct Inner {
        #[dtype(rename = "b.c")]
        dot: [u16; 2],
    }
    #[derive(Datatype, Clone, Copy)]
    struct Outer {
        #[dtype(rename = "a.b")]
        longer: u8,
        a: Inner,
    }
    let outer = Outer { longer: 1, a: Inner { dot: [2, 3] } };
    let packed = pack(&[outer]);
    let packed = Packed::<Outer>::new(&packed).unwrap();
    let all = columns(&[outer]);
    assert_eq!((all.get("a.b"), all.get("a.b.c")), (Ok(&[1_u8][..]), Ok(&[2_u16, 3][..])));
    assert!(packed.column::<u8>("a.b").unwrap().iter().eq([1]));
    assert!(packed.column::<u16>("a.b.c[1]").unwrap().iter().eq([3]));
    let error = packed.column::<u8>("a.b.x").map(drop).unwrap_err();
    assert_eq!(error.to_string(), "field `a.b.x`: u8 packs no field `x`");
}

#[test]
fn errors_have_the_names() {
    let mut bytes = pack(&steps());
    let at = bytes.len() - 3;
    bytes[at] = 2;
    let error = unpack::<Step>(&bytes).unwrap_err();
    let expected = "record 1, field is.on [0][1].on/off: 0x2 is not a valid bool";
    assert_eq!(error.to_string(), expected);
    let Error::InvalidValue { path, .. } = error else { panic!("{error}") };
    let packed = pack(&steps());
    let column = Packed::<Step>::new(&packed).unwrap().column::<bool>(&path);
    assert!(column.unwrap().iter().eq([false; 2]));
}

#[cfg(feature = "message")]
#[test]
fn a_schema_has_the_names() {
    use dtype_runtime::message::Schema;

    #[derive(Datatype)]
    #[dtype(name = "Step")]
    struct Old {
        total_blocks: i32,
        time: f64,
        size: u16,
        signs: [u8; 2],
        controls: u8,
        flags: [Flags; 2],
    }
    let schema = Schema::of::<Step>();
    let text = r#"Step
total blocks: i32
time: f64
größe 'in' "m\\s": u16
<&>\u{3a} x: [u8; 2]
a\tb\n\u{9b}2J: u8
is.on \u{5b}0][0..2].on/off: bool
is.on \u{5b}0][0..2].温度: i16
"#;
    assert_eq!(schema.to_string(), text);
    assert_eq!(schema.fields().nth(3), Some((r"<&>\u{3a} x", "[u8; 2]")));
    assert_eq!(text.parse(), Ok(schema.clone()));
    assert_ne!(schema.hash(), Schema::of::<Old>().hash());
    let header = dtype_runtime::message::Framing::new().with_schema();
    let header = dtype_runtime::message::Header::of::<Step>(1, header).unwrap();
    assert_eq!(header.schema_hash(), Some(schema.hash()));
}

/// A bracket in a name is no number of elements, which would hide that the values are others.
#[cfg(feature = "message")]
#[test]
fn a_schema_tells_names_from_arrays() {
    use dtype_runtime::message::{self, Error, Framing, Limits};

    #[derive(Datatype, Clone, Copy)]
    struct Float {
        x: f32,
    }
    #[derive(Datatype, Clone, Copy)]
    struct Number {
        y: u32,
    }
    #[derive(Datatype, Clone, Copy)]
    #[dtype(name = "Both")]
    struct Sent {
        #[dtype(rename = "first[0..2]")]
        first: Float,
        second: [Number; 2],
    }
    #[derive(Datatype, Clone, Copy)]
    #[dtype(name = "Both")]
    struct Received {
        first: [Float; 2],
        #[dtype(rename = "second[0..2]")]
        second: Number,
    }
    let sent = Sent { first: Float { x: 1.0 }, second: [Number { y: 7 }; 2] };
    let mut frame = Vec::new();
    message::send(&mut frame, &vec![sent], Framing::compact().with_schema()).unwrap();
    let read = message::read::<Received>(&mut &frame[..], &Limits::new());
    assert!(matches!(read, Err(Error::Mismatch(_))));
}

#[cfg(feature = "show")]
#[test]
fn pictures_have_the_names() {
    use dtype_runtime::show::{Diagram, NumpyOptions, SvgStyle, TextStyle, View, numpy_dtype};

    let picture = Diagram::of::<Step>(&View::default());
    let paths: Vec<_> = picture.fields().iter().map(|field| field.path.as_str()).collect();
    let text = picture.text(&TextStyle::default()).to_string();
    let svg = picture.svg(&SvgStyle::default());
    let tree = roxmltree::Document::parse(&svg).unwrap();
    let texts: Vec<_> = tree.descendants().filter_map(|node| node.text()).collect();
    for name in ["total blocks", "größe 'in' \"m\\s\"", "<&>: x", r"a\tb\n\u{9b}2J"] {
        assert!(text.contains(&format!(" {name} ")), "{name} in {text}");
        assert!(texts.iter().any(|text| text.contains(name)), "{name} in {texts:?}");
    }
    assert!(!text.contains(['\t', '\u{9b}']), "{text}");
    assert!(paths.contains(&NAMES[4]) && paths.contains(&"is.on [0][].on/off"), "{paths:?}");
    let numpy = numpy_dtype::<Step>(&NumpyOptions::packed()).unwrap().to_string();
    let names = r#"'total blocks', 'time', 'größe \'in\' "m\\s"', '<&>: x', 'a\U00000009b"#;
    assert!(numpy.contains(names), "{numpy}");
}

#[cfg(feature = "npy")]
#[test]
#[cfg_attr(miri, ignore = "Miri starts no Python")]
fn numpy_has_the_names() {
    use std::io::Write;
    use std::process::{Command, Stdio};

    use dtype_runtime::npy::{self, Header};

    let mut file = Vec::new();
    npy::write(&mut file, &steps()).unwrap();
    assert_eq!(Header::read(&file[..]).unwrap().version, (3, 0));
    assert_eq!(npy::read::<Step>(&file[..]).unwrap(), steps());
    let Some(python) = python::with_numpy() else { return };
    let program = "
import io, sys, numpy as np
array = np.load(io.BytesIO(sys.stdin.buffer.read()))
assert array.dtype.names == ('total blocks', 'time', '''größe 'in' \"m\\\\s\"''', '<&>: x', 'a\\tb\\n\\x9b2J', 'is.on [0]'), array.dtype
assert array.dtype['is.on [0]'].base.names == ('on/off', '温度'), array.dtype
assert array['total blocks'].tolist() == [7, -8]
np.save(sys.stdout.buffer, array)
";
    let mut child = Command::new(python)
        .args(["-c", program])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&file).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(npy::read::<Step>(&output.stdout[..]).unwrap(), steps());
}

#[cfg(feature = "arrow")]
#[test]
fn arrow_has_the_names() {
    use dtype_runtime::arrow::{from_arrow, into_arrow, schema};

    let names: Vec<_> =
        schema::<Step>().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, NAMES);
    let all = into_arrow(columns(&steps())).unwrap();
    assert_eq!(from_arrow::<Step>(&all).unwrap().to_records().unwrap(), steps());
}
