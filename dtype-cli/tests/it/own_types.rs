//! Types as programs declare them for the derive, without `#[repr(C)]`: what the command reads from the text is what the
//! derive makes of it.

use std::process::Output;

use crate::command::{Folder, done, dtype, failed, fed};
use dtype_message::Framing;
use dtype_runtime::{Datatype, FixedVec, Type, pack};
use dtype_text::declaration::{Language, parse, parse_packed};
use serde_json::Value;

#[path = "proto.rs"]
#[allow(
    clippy::pub_underscore_fields,
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "a file that the command reads, compiled here as well"
)]
mod proto;

use proto::{Kind, Message, Particle, Reading, Spot};

/// The file that declares the types of this test.
const PROTO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/proto.rs");

fn packed(source: &str, name: &str) -> Type {
    match parse_packed(source, Language::Rust, Some(name)) {
        Ok(parsed) => parsed.ty,
        Err(problems) => panic!("{name}: {problems:?}"),
    }
}

fn name_in_proto(name: &str) -> String {
    format!("@{PROTO}:{name}")
}

fn particles() -> Vec<Particle> {
    let particle = |charge| Particle { position: [0.5, 1.0, -2.0], charge, kind: Kind::Fixed };
    vec![particle(-1), particle(1)]
}

fn reading() -> Reading {
    let foreign = |a, b| proto::Foreign { a, b };
    Reading {
        kind: Kind::Free,
        name: "Aïda\n".parse().unwrap(),
        value: None.into(),
        at: std::time::Duration::from_millis(1500).into(),
        id: uuid::Uuid::from_bytes([0xAB; 16]),
        v4: [127, 0, 0, 1].into(),
        v6: std::net::Ipv6Addr::LOCALHOST,
        code: None,
        pair: (3, 0.25),
        samples: FixedVec::from_slice(&[7, 8]).unwrap(),
        spots: FixedVec::from_slice(&[Spot { x: -1, on: true }]).unwrap(),
        spot: Some(Spot { x: 5, on: false }).into(),
        outside: [foreign(1, 2), foreign(3, 4)],
        _pad: 9,
        cache: vec![1],
    }
}

#[test]
fn packed_bytes_follow_the_declaration() {
    let source = std::fs::read_to_string(PROTO).unwrap();
    for (name, derived) in [
        ("Particle", Type::of::<Particle>()),
        ("Reading", Type::of::<Reading>()),
        ("Spot", Type::of::<Spot>()),
    ] {
        assert_eq!(packed(&source, name).signature(), derived.signature(), "{name}");
    }
    // In memory, only the compiler knows where the fields are.
    let problems = parse(&source, Language::Rust, Some("Particle")).unwrap_err();
    assert_eq!(problems[0].message, "the fields of `Particle` have no fixed places");
    assert!(problems[0].help.as_ref().unwrap().contains("--packed"));
}

/// Declares a struct, and compares what the derive makes of it with what the command reads.
macro_rules! same {
    ($($field:ty),+ $(,)?) => {$({
        #[derive(Datatype)]
        struct P {
            #[allow(dead_code, reason = "only its type counts")]
            field: $field,
        }
        let source = concat!("struct P { field: ", stringify!($field), " }");
        assert_eq!(packed(source, "P").signature(), Type::of::<P>().signature(), "{source}");
    })+};
}

#[test]
fn every_type_that_the_derive_accepts() {
    use dtype_runtime::time::{Microseconds, Milliseconds, Nanoseconds, Seconds};
    use dtype_runtime::{FixedDuration, FixedSocketAddr, FixedStr, Maybe, TimeSpan, Timestamp};
    use std::cmp::Reverse;
    use std::marker::PhantomData;
    use std::mem::ManuallyDrop;
    use std::num::{
        NonZero, NonZeroI128, NonZeroIsize, NonZeroU8, NonZeroU64, Saturating, Wrapping,
    };
    use std::ops::{Range, RangeFrom, RangeTo, RangeToInclusive};
    use zerocopy::{BigEndian, LE, LittleEndian, NetworkEndian};
    same!(
        usize,
        i128,
        char,
        (),
        PhantomData<String>,
        NonZeroU8,
        NonZeroIsize,
        NonZeroI128,
        NonZero<u32>,
        Option<NonZeroU64>,
        Option<NonZero<i16>>,
        [Option<std::num::NonZeroU16>; 3],
        Wrapping<u16>,
        Saturating<i8>,
        ManuallyDrop<f32>,
        Reverse<(u8, [u16; 2])>,
        (u8,),
        (u8, (u16, bool), [(char, f64); 2]),
        Range<u64>,
        RangeFrom<u8>,
        RangeTo<i16>,
        RangeToInclusive<i32>,
        Maybe<Maybe<u16>>,
        FixedVec<FixedStr<5>, { 2 * 2 }>,
        FixedVec<[u8; 4], 1>,
        FixedStr<0>,
        num_complex::Complex<f32>,
        num_complex::Complex64,
        uuid::Uuid,
        std::net::Ipv4Addr,
        Timestamp<Seconds>,
        Timestamp<dtype_runtime::time::Milliseconds>,
        [Timestamp<Milliseconds>; 2],
        Maybe<TimeSpan<Microseconds>>,
        TimeSpan<Nanoseconds>,
        FixedDuration,
        FixedSocketAddr,
        ordered_float::OrderedFloat<f64>,
        ordered_float::NotNan<f32>,
        zerocopy::big_endian::U32,
        zerocopy::U16<BigEndian>,
        zerocopy::U128<LittleEndian>,
        zerocopy::byteorder::F64<NetworkEndian>,
        zerocopy::native_endian::I64,
        zerocopy::Usize<LE>,
        nalgebra::Vector3<f64>,
        nalgebra::RowVector2<u8>,
        nalgebra::Matrix2x3<f32>,
        nalgebra::Matrix4<i16>,
        nalgebra::SMatrix<f64, 2, 5>,
        nalgebra::SVector<bool, 7>,
        nalgebra::Point2<f32>,
        nalgebra::Point<f32, 4>,
        nalgebra::Quaternion<f32>,
        nalgebra::Translation3<f64>,
        nalgebra::Scale<f64, 2>,
        glam::Vec3,
        glam::DVec2,
        glam::I16Vec4,
        glam::USizeVec2,
        glam::BVec3,
        glam::Quat,
        glam::DMat3,
        glam::Mat4,
        glam::Affine2,
        glam::DAffine3,
    );
}

/// A struct of dtype's own types and of those of other crates.
const OTHERS: &str = "use zerocopy::big_endian::{U16, U32 as Word};
    use dtype_runtime::{Timestamp as Time, Microseconds};
    struct R { at: Time<Microseconds>, from: FixedSocketAddr, a: U16, b: Word, c: zerocopy::F32<LittleEndian> }";

#[test]
fn values_of_other_crates_are_printed_as_they_are() {
    let folder = Folder::new();
    let source = folder.file("r.rs", OTHERS.as_bytes());
    let record = (
        dtype_runtime::Timestamp::<dtype_runtime::time::Microseconds>::new(-5),
        dtype_runtime::FixedSocketAddr::new("[::1]:80".parse().unwrap()),
        zerocopy::big_endian::U16::new(0x0102),
        zerocopy::big_endian::U32::new(7),
        zerocopy::little_endian::F32::new(0.5),
    );
    let bytes = folder.file("r.bin", &pack(&[record]));
    let ty = format!("@{}:R", source.display());
    let out = done(dtype().args(["dump", "--packed", "--json", &ty]).arg(bytes));
    let value: Value = serde_json::from_slice(&out).unwrap();
    let expected = r#"{"at":"1969-12-31T23:59:59.999995","from":"[::1]:80","a":258,"b":7,"c":0.5}"#;
    assert_eq!(value, serde_json::from_str::<Value>(expected).unwrap());
    // In memory, its fields lie in another order than they are packed.
    let memory = parse("#[repr(C)] struct P { a: FixedSocketAddr }", Language::Rust, None).unwrap();
    let compiled = Type::of::<dtype_runtime::FixedSocketAddr>();
    let map = |ty: &Type| ty.type_map().collect::<Vec<_>>();
    assert_eq!((map(&memory.ty), memory.ty.extent()), (map(&compiled), compiled.extent()));
}

#[test]
fn no_hint_names_a_type_with_other_bytes() {
    let help = |field: &str| {
        let source = format!("struct P {{ field: {field} }}");
        let problems = parse_packed(&source, Language::Rust, None).unwrap_err();
        (problems[0].help.clone().unwrap_or_default(), problems[0].replacement.clone())
    };
    // Numbers whose byte order or width the command does not know.
    for field in [
        "U32",
        "U16",
        "F64",
        "U32<O>",
        "I128<Order>",
        "u32be",
        "u32_le",
        "U32Be",
        "be_u32",
        "le16",
        "u24",
        "B32",
        "Bool",
        "Char",
        "F16",
        "Usize",
    ] {
        let (help, replacement) = help(field);
        assert!(!help.contains("did you mean") && replacement.is_none(), "{field}: {help}");
    }
    for (field, meant) in [("f46", "f64"), ("u23", "u32"), ("i61", "i16"), ("boool", "bool")] {
        assert_eq!(help(field).1.as_deref(), Some(meant), "{field}");
    }
    // A name that two modules give to different types is none that is known.
    let source =
        "mod a { use zerocopy::big_endian::U32; } mod b { use zerocopy::little_endian::U32; }
        struct P { field: U32 }";
    let problems = parse_packed(source, Language::Rust, None).unwrap_err();
    assert!(problems[0].message.contains("byte order"), "{problems:?}");
}

/// Runs `frame`, and returns its exit status and its lines.
fn framed(stream: &[u8], arguments: &[&str]) -> (i32, Vec<Value>, String) {
    let lines = fed(dtype().args(["frame", "--json"]).args(arguments).arg("-"), stream);
    let text = fed(dtype().arg("frame").args(arguments).arg("-"), stream);
    let Output { status, stdout, stderr } = lines;
    assert_eq!((String::from_utf8(stderr).unwrap(), status), (String::new(), text.status));
    let lines = String::from_utf8(stdout).unwrap();
    (
        status.code().unwrap(),
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
        String::from_utf8(text.stdout).unwrap(),
    )
}

fn stream(messages: &[Message]) -> Vec<u8> {
    let mut stream = Vec::new();
    for (message, framing) in
        messages.iter().zip([Framing::new(), Framing::compact()].iter().cycle())
    {
        dtype_message::encode(&mut stream, message, *framing).unwrap();
    }
    stream
}

#[test]
fn every_kind_of_message_on_a_stream() {
    let messages = [
        Message::Hello("Grüße\nà tous".into()),
        Message::Particles(particles()),
        Message::Spot(Spot { x: -3, on: true }),
        Message::Bye,
        Message::Hello(String::new()),
    ];
    let stream = stream(&messages);
    for argument in [name_in_proto("Message"), format!("@{PROTO}")] {
        let (status, lines, text) = framed(&stream, &[&argument]);
        assert_eq!(status, 0, "{text}");
        let records: Vec<String> = lines
            .iter()
            .filter(|line| line.get("value").is_some())
            .map(|line| format!("{} {}", line["frame"], line["value"]))
            .collect();
        assert_eq!(
            records,
            [
                r#"0 "Grüße\nà tous""#,
                r#"1 {"charge":-1,"kind":1,"position":[0.5,1.0,-2.0]}"#,
                r#"1 {"charge":1,"kind":1,"position":[0.5,1.0,-2.0]}"#,
                r#"2 {"on":true,"x":-3}"#,
                r#"4 """#,
            ]
        );
        let names: Vec<&str> = lines.iter().filter_map(|line| line["message"].as_str()).collect();
        assert_eq!(names, ["Hello", "Particles", "Spot", "Bye", "Hello"]);
        for part in [
            "message Hello\n  text   Grüße\n         à tous\n",
            "0  [0.5, 1.0, -2.0]      -1     1\n",
            "5 frames\n",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }
    // The file may come first.
    let folder = Folder::new();
    let capture = folder.file("capture", &stream);
    let name = name_in_proto("Message");
    let first = done(dtype().arg("frame").arg(&capture).arg(&name));
    assert_eq!(first, done(dtype().arg("frame").arg(&name).arg(&capture)));
}

#[test]
fn messages_that_the_enum_does_not_have() {
    let name = name_in_proto("Message");
    let mut bytes = Vec::new();
    dtype_message::encode(&mut bytes, &vec![1_u8], Framing::new().with_tag(3)).unwrap();
    dtype_message::encode(&mut bytes, &vec![0xFF_u8], Framing::new()).unwrap();
    dtype_message::encode(&mut bytes, &vec![1_u16], Framing::new().with_tag(7)).unwrap();
    let (status, lines, text) = framed(&bytes, &[&name]);
    assert_eq!(status, 1);
    let kinds: Vec<&Value> = lines.iter().filter_map(|line| line["error"].get("kind")).collect();
    assert_eq!(kinds, ["UnknownTag", "Text", "Mismatch"]);
    let known = "0 Hello, 1 Particles, 7 Spot, 8 Bye, 9 Page, 10 Log, 11 Nothing";
    assert!(text.contains(&format!("the tag 3 names no message of `{known}`")), "{text}");
    assert!(text.contains("error: a message of text is not UTF-8"), "{text}");
}

#[test]
fn messages_of_a_head_and_a_list() {
    let head = Spot { x: -3, on: true };
    let messages = [
        Message::Page(head, particles()),
        Message::Page(head, vec![]),
        Message::Log { is_last: true, text: "Grüße\nà tous".into() },
        Message::Log { is_last: false, text: String::new() },
        Message::Nothing((), vec![head]),
        Message::Nothing((), vec![]),
    ];
    let name = name_in_proto("Message");
    let (status, lines, text) = framed(&stream(&messages), &[&name]);
    assert_eq!(status, 0, "{text}");
    let records: Vec<String> = lines
        .iter()
        .filter(|line| line.get("offset").is_none())
        .map(|line| match line.get("head") {
            Some(head) => format!("{} head {head}", line["frame"]),
            None => format!("{} {} {}", line["frame"], line["record"], line["value"]),
        })
        .collect();
    assert_eq!(
        records,
        [
            r#"0 head {"on":true,"x":-3}"#,
            r#"0 0 {"charge":-1,"kind":1,"position":[0.5,1.0,-2.0]}"#,
            r#"0 1 {"charge":1,"kind":1,"position":[0.5,1.0,-2.0]}"#,
            r#"1 head {"on":true,"x":-3}"#,
            "2 head true",
            r#"2 0 "Grüße\nà tous""#,
            "3 head false",
            "3 0 \"\"",
            r#"4 0 {"on":true,"x":-3}"#,
        ]
    );
    let names: Vec<&str> = lines.iter().filter_map(|line| line["message"].as_str()).collect();
    assert_eq!(names, ["Page", "Page", "Log", "Log", "Nothing", "Nothing"]);
    for part in [
        "  message Page\n    head   x  on\n          -3  true\n  record  position ",
        "    head  value\n          true\n  text   Grüße\n         à tous\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }

    // More records than are read at once, after a head.
    let many = [Message::Page(head, [particles(), particles()].concat().repeat(3000))];
    let (status, lines, _) = framed(&stream(&many), &[&name]);
    assert_eq!((status, lines.len()), (0, 12_002));
    assert_eq!(lines[12_000]["value"], lines[2]["value"]);
    // The other byte order.
    let bare = Framing::compact().without_checksum().without_signature();
    let mut bytes = Vec::new();
    dtype_message::encode(&mut bytes, &messages[0], bare).unwrap();
    bytes[0] ^= 1;
    bytes[3..5].reverse();
    let (status, lines, _) = framed(&bytes, &[&name]);
    assert_eq!((status, &lines[0]["head"]["x"]), (0, &(-3).into()));
    // Only the schema's hash.
    bytes.clear();
    dtype_message::encode(&mut bytes, &messages[0], Framing::compact().with_schema()).unwrap();
    assert_eq!(framed(&bytes, &[&name]).1.len(), 4);
}

#[test]
fn the_book_shows_a_head_and_a_list() {
    let chapter = include_str!("../../../docs/src/command.md");
    let source = "struct Head { number: u32, is_last: bool } struct Spot { x: i16, on: bool }
        #[derive(Messages)] enum M { #[dtype(tag = 9)] Page { head: Head, records: Vec<Spot> } }";
    let bytes = b"\x80\x09\x0b\x07\0\0\0\x01\xfd\xff\x01\x05\0\0";
    let table = fed(dtype().args(["frame", source, "-"]), bytes).stdout;
    let table = String::from_utf8(table).unwrap();
    assert!(chapter.contains(table.strip_suffix("1 frame\n").unwrap()), "{table}");
    let lines = fed(dtype().args(["frame", "--json", source, "-"]), bytes).stdout;
    let lines = String::from_utf8(lines).unwrap();
    let head = format!("`{}`", lines.lines().next().unwrap());
    assert!(chapter.contains(&head), "{head}");
}

#[test]
fn other_lengths_after_a_head() {
    let name = name_in_proto("Message");
    for framing in [
        Framing::new().with_tag(9),
        Framing::compact().with_tag(9).without_signature(),
        Framing::compact().with_tag(9).with_schema(),
    ] {
        // Shorter than the head, a part of a record, two heads.
        let mut bytes = Vec::new();
        dtype_message::encode(&mut bytes, &vec![(1_u8, true)], framing).unwrap();
        dtype_message::encode(&mut bytes, &vec![[0_u8; 28]], framing).unwrap();
        dtype_message::encode(&mut bytes, &vec![(1_i16, true); 2], framing).unwrap();
        let (status, lines, text) = framed(&bytes, &[&name]);
        assert_eq!(status, 1, "{text}");
        let errors = lines.iter().filter_map(|line| line["error"].get("kind")).count();
        assert!(errors >= 2 && lines.len() - errors <= 2, "{text}");
        assert!(text.contains("a record has 2 packed bytes"), "{text}");
    }
    // Cut off in the head, in the records, in the checksum.
    let page = stream(&[Message::Page(Spot { x: 1, on: true }, particles())]);
    for end in [48, 49, 50, 51, 60, page.len() - 4, page.len() - 1] {
        let (status, lines, _) = framed(&page[..end], &[&name]);
        assert_eq!((status, &lines.last().unwrap()["error"]["kind"]), (1, &"Truncated".into()));
    }
}

#[test]
fn fields_that_are_no_head_and_no_list() {
    for (fields, message, help) in [
        ("(Vec<u8>, u16)", "has a field after its list", "the list comes last"),
        ("(u8, u16)", "has several fields", "into a struct"),
        ("{ a: u8, b: u16, all: Vec<u8> }", "has several fields", "into a struct"),
        ("(Vec<u8>, String)", "has several fields", "one value, or a head and a `Vec`"),
        ("(u8, Vec<()>)", "a list of records without data", "must have data"),
        ("(Vec<Vec<u8>>)", "holds", ""),
    ] {
        let source = format!("#[derive(Messages)] enum M {{ A {fields} }}");
        let text = failed(dtype().arg("frame").arg(&source).arg("/dev/null"));
        assert!(text.contains(message) && text.contains(help), "{fields}: {text}");
    }
}

#[test]
fn a_misspelt_enum_of_messages() {
    let message = failed(dtype().arg("frame").arg(name_in_proto("Mesage")).arg("/dev/null"));
    assert!(message.contains("no enum of messages is called `Mesage`"), "{message}");
    assert!(message.contains("did you mean `Message`?"), "{message}");
}

#[test]
fn several_types() {
    let mut bytes = Vec::new();
    for framing in [Framing::new(), Framing::compact().with_tag(9)] {
        dtype_message::encode(&mut bytes, &particles(), framing).unwrap();
        dtype_message::encode(&mut bytes, &vec![Spot { x: 4, on: false }], framing).unwrap();
    }
    let types = [name_in_proto("Spot"), name_in_proto("Particle")];
    let types = types.each_ref().map(String::as_str);
    let (status, lines, _) = framed(&bytes, &types);
    assert_eq!((status, lines.iter().filter(|line| line.get("value").is_some()).count()), (0, 6));
    let (status, lines, _) = framed(&bytes, &types[..1]);
    assert_eq!((status, lines.iter().filter(|line| line.get("value").is_some()).count()), (1, 2));
}

#[test]
fn values_are_written_as_what_they_mean() {
    let folder = Folder::new();
    let file = folder.file("readings", &pack(&[reading(), reading()]));
    let dump = |form: &str| {
        let name = name_in_proto("Reading");
        let out = done(dtype().args(["dump", "--packed", "--as", form, &name]).arg(&file));
        String::from_utf8(out).unwrap()
    };
    let json = dump("json");
    assert_eq!(
        json.lines().next().unwrap(),
        r#"{"kind":0,"name":"Aïda\u000a","value":null,"at":{"secs":1,"nanos":500000000},"id":"abababab-abab-abab-abab-abababababab","v4":"127.0.0.1","v6":"::1","code":0,"pair":{"0":3,"1":0.25},"samples":[7,8],"spots":[{"x":-1,"on":true}],"spot":{"x":5,"on":false},"outside":[{"a":1,"b":2},{"a":3,"b":4}],"_pad":9}"#
    );
    let csv = dump("csv");
    let mut lines = csv.lines();
    assert_eq!(
        lines.next().unwrap(),
        "kind,name,value,at.secs,at.nanos,id,v4,v6,code,pair.0,pair.1,samples,spots,spot,outside[0].a,outside[0].b,outside[1].a,outside[1].b,_pad"
    );
    assert_eq!(
        lines.next().unwrap(),
        r#"0,Aïda\n,null,1,500000000,abababab-abab-abab-abab-abababababab,127.0.0.1,::1,0,3,0.25,"[7, 8]","[{x: -1, on: true}]","{x: 5, on: false}",1,2,3,4,9"#
    );
    let hex = dump("hex");
    assert!(hex.contains("c  name.bytes      u8 × 12\n"), "{hex}");
}

/// The byte order of `zerocopy`'s numbers is part of their type.
#[test]
fn times_and_numbers_of_another_order() {
    let source = "struct Lap { at: Timestamp<time::Microseconds>, took: Maybe<TimeSpan<Seconds>>, n: big_endian::U16 }";
    let record = |at: i64, took: i64| pack(&[(at, true, took, [1_u8, 2])]);
    let records = [record(-1, 90), record(i64::MIN, i64::MIN)].concat();
    let command = ["dump", "--packed", "--as", "csv", source, "-"];
    let Output { stdout, stderr, .. } = fed(dtype().args(command), &records);
    assert_eq!(
        String::from_utf8(stdout).unwrap(),
        "at,took,n\n1969-12-31T23:59:59.999999,90 s,258\nNaT,NaT,258\n",
        "{}",
        String::from_utf8_lossy(&stderr)
    );
}

#[test]
fn values_without_a_meaning() {
    let folder = Folder::new();
    let file = folder.path("values");
    let dump = |ty: &str, bytes: &[&[u8]]| {
        std::fs::write(&file, bytes.concat()).unwrap();
        let source = format!("struct P {{ x: {ty} }}");
        let form = |form: &str| {
            let out = done(dtype().args(["dump", "--packed", "--as", form, &source]).arg(&file));
            String::from_utf8(out).unwrap().lines().last().unwrap().trim().to_owned()
        };
        [form("table"), form("json")]
    };
    let number = |number: u32| number.to_ne_bytes();
    assert_eq!(
        dump("FixedStr<2>", &[&number(3), b"ab"]),
        ["0  invalid 0x00000003", r#"{"x":{"invalid":"0x00000003"}}"#]
    );
    assert_eq!(
        dump("FixedStr<2>", &[&number(2), b"a\xFF"]),
        [r"0  invalid a\xff", r#"{"x":{"invalid":"a\u00ff"}}"#]
    );
    assert_eq!(
        dump("Maybe<u8>", &[b"\x02\x05"]),
        ["0  invalid 0x02", r#"{"x":{"invalid":"0x02"}}"#]
    );
    // What an absent value or spare room holds is not looked at.
    assert_eq!(dump("Maybe<bool>", &[b"\x00\x05"]), ["0  null", r#"{"x":null}"#]);
    assert_eq!(
        dump("FixedVec<bool, 2>", &[&number(1), b"\x01\x07"]),
        ["0  [true]", r#"{"x":[true]}"#]
    );
    assert_eq!(
        dump("FixedVec<[u8; 2], 1>", &[&number(1), b"\x01\x07"]),
        ["0  [[1, 7]]", r#"{"x":[[1,7]]}"#]
    );
    assert_eq!(dump("FixedVec<u8, 1>", &[&number(9), b"\x01"])[0], "0  invalid 0x00000009");
}

#[test]
fn pictures_of_packed_bytes() {
    let name = name_in_proto("Particle");
    let text = String::from_utf8(done(dtype().args(["show", "--packed", &name]))).unwrap();
    assert!(text.starts_with("size 26, lb 0, extent 26,"), "{text}");
    assert!(text.contains("b  charge    i8           24      1\n"), "{text}");
    // A type from another source loses its gaps as well.
    let notation = String::from_utf8(done(dtype().args([
        "show",
        "--packed",
        "--as",
        "notation",
        "struct{a: u8, b: [f64; 2]}",
    ])));
    assert_eq!(notation.unwrap(), "resized(struct{a: u8@0, b: [f64; 2]@1}, 0, 17)\n");
    let message = failed(dtype().args(["show", &name]));
    assert!(message.contains("take `--packed`"), "{message}");
}
