//! `dtype frame`: whole messages, damaged ones, and files of nonsense.

use crate::command;
use std::process::Output;

use crate::command::{done, dtype, fed, noise};
use crate::linear::{TIMES, assert_linear};
use dtype_message::{Framing, Header, Schema};
use dtype_runtime::{Datatype, Type};
use dtype_text::notation::parse;
use proptest::prelude::*;
use serde_json::Value;

#[derive(Datatype, Clone, Debug)]
struct Sample {
    time: f64,
    valid: bool,
}

const SAMPLE: &str = "struct{time: f64, valid: bool}";

fn samples() -> Vec<Sample> {
    vec![Sample { time: 0.5, valid: true }, Sample { time: -2.0, valid: false }]
}

/// The records in a frame.
fn framed(framing: Framing) -> Vec<u8> {
    let mut out = Vec::new();
    dtype_message::encode(&mut out, &samples(), framing).unwrap();
    out
}

/// The exit status, and the objects that are printed.
fn json(bytes: &[u8], arguments: &[&str]) -> (i32, Vec<Value>) {
    let Output { status, stdout, stderr } =
        fed(dtype().args(["frame", "-", "--as=json"]).args(arguments), bytes);
    assert_eq!(String::from_utf8(stderr).unwrap(), "", "{arguments:?}");
    let text = String::from_utf8(stdout).unwrap();
    (status.code().unwrap(), text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn text(bytes: &[u8], arguments: &[&str]) -> String {
    String::from_utf8(fed(dtype().args(["frame", "-"]).args(arguments), bytes).stdout).unwrap()
}

#[test]
fn frames_of_both_kinds() {
    let mut stream = framed(Framing::new().with_tag(7).with_schema());
    stream.extend(framed(Framing::compact().with_tag(3)));
    stream.extend(framed(Framing::compact().without_checksum().without_signature()));
    let (status, frames) = json(&stream, &[]);
    assert_eq!((status, frames.len()), (0, 3));
    let ty = Type::of::<Sample>();
    assert_eq!(frames[0]["signature_hash"], ty.signature_hash());
    assert_eq!(frames[0]["schema_hash"], Schema::of::<Sample>().hash());
    assert_eq!((&frames[0]["offset"], &frames[0]["length"]), (&0.into(), &70.into()));
    assert_eq!((&frames[0]["form"], &frames[0]["tag"]), (&"full".into(), &7.into()));
    assert_eq!((&frames[1]["form"], &frames[1]["tag"]), (&"compact".into(), &3.into()));
    assert_eq!((&frames[1]["offset"], &frames[1]["count"]), (&70.into(), &2.into()));
    assert_eq!((&frames[0]["checksum"], &frames[2]["checksum"]), (&"ok".into(), &"none".into()));
    let same = fed(dtype().args(["frame", "-", "--json"]), &stream).stdout;
    assert_eq!(same, fed(dtype().args(["frame", "-", "--as=json"]), &stream).stdout);
    assert_eq!(frames[2]["record_size"], 9);
    assert!(frames.iter().all(|frame| frame["error"].is_null()));

    if cfg!(target_endian = "little") {
        let bare = Framing::compact().with_tag(1).without_signature().without_checksum();
        assert_eq!(
            text(&framed(bare), &[SAMPLE]),
            "frame 0 at 0: 22 bytes, compact, version 0, tag 1, little-endian, 2 records of 9 bytes
  signature none, schema none
  record  time  valid
       0   0.5  true
       1  -2.0  false
  checksum none
1 frame
"
        );
    }
}

#[test]
fn types_that_come_along() {
    let mut stream = Vec::new();
    dtype_message::write(&mut stream, &Type::of::<Sample>().marshal()).unwrap();
    dtype_message::send(&mut stream, &Schema::of::<Sample>().to_string(), Framing::new()).unwrap();
    dtype_message::send(&mut stream, &"no: schema".to_owned(), Framing::new()).unwrap();
    dtype_message::write(&mut stream, &[1_u16]).unwrap();
    stream.extend(framed(Framing::compact()));
    stream.extend(framed(Framing::compact().with_schema()));
    let (status, lines) = json(&stream, &["--dump"]);
    let records: Vec<&Value> = lines.iter().filter(|line| line.get("record").is_some()).collect();
    // A compact frame with a schema has no signature, so only a type that is given is tried on it.
    assert_eq!((status, records.len()), (0, 2));
    assert_eq!(records[1].to_string(), r#"{"frame":4,"record":1,"value":{"0":-2.0,"1":false}}"#);
    assert_eq!(lines[0]["type"], "struct{f64@0, bool@8}");
    assert_eq!(lines[1]["schema"], "Sample\ntime: f64\nvalid: bool\n");
    assert!(lines[2]["schema"].is_null());

    // The messages that hold a type or a schema are not refused for having other records.
    let (status, lines) = json(&stream, &[SAMPLE]);
    let refused: Vec<&Value> = lines.iter().filter(|line| line["error"].is_object()).collect();
    assert_eq!((status, refused.len()), (1, 2));
    assert!(
        refused[0]["error"]["message"].as_str().unwrap().contains("a record has 1 packed bytes")
    );
    assert_eq!(refused[1]["error"]["kind"], "Mismatch");
    assert_eq!(lines.iter().filter(|line| line.get("value").is_some()).count(), 4);
}

#[test]
fn other_byte_orders() {
    // A frame of the other byte order, made by hand.
    let mut bytes = vec![0x80 | 0x10, 0, 2, 6];
    bytes[0] |= u8::from(cfg!(target_endian = "little"));
    for (a, b) in [(1_u16, -2_i32), (3, 4)] {
        let (mut a, mut b) = (a.to_ne_bytes(), b.to_ne_bytes());
        a.reverse();
        b.reverse();
        bytes.extend(a);
        bytes.extend(b);
    }
    let (status, lines) = json(&bytes, &["struct{a: u16, b: i32}"]);
    assert_eq!(status, 0);
    assert_eq!(lines[0]["value"].to_string(), r#"{"a":1,"b":-2}"#);
    assert_eq!(lines[1]["value"].to_string(), r#"{"a":3,"b":4}"#);
}

#[test]
fn damaged_frames() {
    let full = framed(Framing::new());
    let compact = framed(Framing::compact());
    let kinds = |bytes: &[u8]| -> Vec<String> {
        let (status, lines) = json(bytes, &[]);
        let kind = |line: &Value| match (&line["error"]["kind"], &line["skipped"]) {
            (Value::String(kind), _) => kind.clone(),
            (_, Value::Number(skipped)) => format!("skipped {skipped}"),
            _ => "ok".to_owned(),
        };
        let kinds: Vec<String> = lines.iter().map(kind).collect();
        assert_eq!(status, i32::from(kinds.iter().any(|kind| kind != "ok")));
        kinds
    };
    // Damage in the payload of a full frame costs that frame, in the header the search for the next one.
    let damaged = |frame: &[u8], at: usize| {
        let mut bytes = frame.to_vec();
        bytes[at] ^= 0x10;
        bytes
    };
    assert_eq!(
        kinds(&[&damaged(&full, 50)[..], &compact, &full].concat()),
        ["Checksum", "ok", "ok"]
    );
    assert_eq!(
        kinds(&[&damaged(&full, 20)[..], &full].concat()),
        ["HeaderChecksum", "skipped 70", "ok"]
    );
    assert_eq!(kinds(&[&damaged(&full, 1)[..], &full].concat()), ["Magic", "skipped 70", "ok"]);
    let compact_len = compact.len();
    assert_eq!(
        kinds(&[&damaged(&compact, 15)[..], &compact, &full].concat()),
        ["Checksum".to_owned(), format!("skipped {}", 2 * compact_len), "ok".to_owned()]
    );
    // A damaged length that reaches beyond the end of the file.
    let mut long = compact.clone();
    long[2] = 0x7F;
    assert_eq!(
        kinds(&[&long[..], &full].concat()),
        ["Truncated".to_owned(), format!("skipped {compact_len}"), "ok".to_owned()]
    );
    // The end of the file inside a frame.
    for len in 1..full.len() {
        assert_eq!(kinds(&[&full, &full[..len]].concat())[..2], ["ok", "Truncated"], "{len}");
    }
    assert_eq!(kinds(b"GET / HTTP/1.1\r\n\r\n"), ["Magic", "skipped 18"]);
    assert!(kinds(b"").is_empty());
    let report = text(&[&damaged(&full, 20)[..], &full].concat(), &[]);
    assert!(report.starts_with("no frame at 0\n  error: the header's bytes have the checksum"));
    assert!(report.contains("\nskipped 70 bytes at 0\nframe 0 at 70: 70 bytes, full"), "{report}");
    assert!(report.ends_with("1 frame, 1 damaged, 70 bytes skipped\n"), "{report}");
}

/// Compact frames that are too long to be held: a file is read again, and a pipe goes on after the frame.
#[test]
fn long_damaged_frames() {
    let folder = command::Folder::new();
    let report = |bytes: &[u8]| {
        let file = folder.file("frames", bytes);
        let output = dtype().arg("frame").arg(file).output().unwrap();
        assert_eq!((output.status.code(), &*output.stderr), (Some(1), &b""[..]));
        [String::from_utf8(output.stdout).unwrap(), text(bytes, &[])]
    };
    let full = framed(Framing::new());
    let mut long = Vec::new();
    dtype_message::encode(&mut long, &noise(1_500_000), Framing::compact()).unwrap();
    long[1_000_000] ^= 1;
    let whole = [&long[..], &full].concat();
    let [file, pipe] = report(&whole);
    let (len, end) = (long.len(), format!("frame 1 at {}: {} bytes", long.len(), full.len()));
    assert!(file.contains(&format!("\nskipped {len} bytes at 0\n{end}")), "{file}");
    assert!(file.ends_with(&format!("2 frames, 1 damaged, {len} bytes skipped\n")), "{file}");
    assert!(!pipe.contains("skipped") && pipe.contains(&end), "{pipe}");

    // The length reaches beyond the end, and another frame is in the bytes that there are.
    let header = Header::of::<u8>(5_000_000, Framing::compact()).unwrap().to_bytes().to_vec();
    let bytes = [&header[..], &noise(1_400_000), &full, &noise(70)].concat();
    let at = header.len() + 1_400_000;
    let [file, pipe] = report(&bytes);
    assert!(file.contains(&format!("\nskipped {at} bytes at 0\nframe 1 at {at}: ")), "{file}");
    assert!(!pipe.contains("skipped") && pipe.ends_with("1 frame, 1 damaged\n"), "{pipe}");
}

#[test]
fn files_that_are_missing() {
    let folder = command::Folder::new();
    let file = folder.file("frames", &framed(Framing::new()));
    for arguments in [["@missing", file.to_str().unwrap()], [file.to_str().unwrap(), "@missing"]] {
        let message = command::failed(dtype().arg("frame").args(arguments));
        assert!(message.contains("cannot read missing"), "{message}");
    }
    let message = command::failed(dtype().args(["frame", SAMPLE, "missing"]));
    assert!(message.contains("cannot read missing"), "{message}");
}

/// Bytes of a full frame are missing, as when its writer was stopped, and other frames follow.
#[test]
fn frames_that_are_cut_short() {
    let (full, compact) = (framed(Framing::new()), framed(Framing::compact()));
    for len in 1..full.len() {
        for behind in [&full[..], &compact, &[]] {
            let (status, lines) = json(&[&full[..len], &full, behind].concat(), &[]);
            let is_whole = |line: &&Value| line["checksum"] == "ok" && line["error"].is_null();
            let whole = lines.iter().filter(is_whole).map(|line| line["offset"].as_u64().unwrap());
            let offsets: &[usize] = if behind.is_empty() { &[0] } else { &[0, full.len()] };
            assert_eq!(status, 1);
            assert!(whole.eq(offsets.iter().map(|offset| (len + offset) as u64)), "{lines:?}");
        }
    }
    // One that is too long to be held reaches beyond the end of the file.
    let folder = command::Folder::new();
    let mut long = Vec::new();
    dtype_message::encode(&mut long, &noise(5_000_000), Framing::new()).unwrap();
    let file = folder.file("frames", &[&long[..2_000_000], &full, &full].concat());
    let output = dtype().arg("frame").arg(file).output().unwrap();
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(report.contains("\nskipped 2000000 bytes at 0\nframe 1 at 2000000: "), "{report}");
    assert!(report.ends_with("3 frames, 1 damaged, 2000000 bytes skipped\n"), "{report}");
}

/// Each of many frames announces a megabyte, most of which belongs to the others.
#[test]
fn frames_inside_one_another_take_linear_time() {
    let framing = Framing::compact().without_checksum().without_signature();
    let header = Header::of::<u8>(1_000_000, framing).unwrap().to_bytes().to_vec();
    let frames = [framed(Framing::new()), header].concat();
    let (short, long) = (frames.repeat(100_000 / TIMES), frames.repeat(100_000));
    let read = |bytes: &[u8]| {
        let output = fed(dtype().args(["frame", "-"]), bytes);
        assert_eq!(output.status.code(), Some(1));
    };
    assert_linear("frames", || read(&short), || read(&long));
}

#[test]
fn records_of_a_type_in_the_file_that_fit_no_table() {
    let wide = dtype_text::notation::parse("[struct{u8, u16}; 20_000]").unwrap().ty;
    let mut stream = Vec::new();
    dtype_message::write(&mut stream, &wide.marshal()).unwrap();
    let header = Header::of_type(&wide, 1, Framing::compact().without_checksum()).unwrap();
    stream.extend(header.to_bytes().to_vec());
    stream.extend(noise(60_000));
    stream.extend(framed(Framing::new()));
    let output = fed(dtype().args(["frame", "-", "--dump"]), &stream);
    let report = String::from_utf8(output.stdout).unwrap();
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
    assert!(report.contains("  no table: a record has more than 16384 columns"), "{report}");
    assert!(report.ends_with("3 frames\n"));
    assert_eq!(
        json(&stream, &["--dump"]).1.iter().filter(|line| line["value"].is_array()).count(),
        1
    );
}

#[test]
fn headers_that_announce_too_much() {
    let header =
        |count: usize| Header::of::<Sample>(count, Framing::new()).unwrap().to_bytes().to_vec();
    for arguments in [&[][..], &["--dump"], &[SAMPLE]] {
        let mut bytes = header(usize::MAX / 16);
        bytes.extend(noise(1000));
        let (status, lines) = json(&bytes, arguments);
        let last = lines.last().unwrap();
        assert_eq!((status, &last["error"]["kind"]), (1, &"Truncated".into()));
        assert!(last["error"]["message"].as_str().unwrap().contains("ended after 1000 of"));
    }
    // 2⁶⁰ records without data in a few bytes, and one record of 2⁶⁰ bytes.
    let number = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10];
    let empty = [&[0x90, 0][..], &number, &[0]].concat();
    assert_eq!(json(&empty, &["struct{}"]).1[0]["count"], 1_u64 << 60);
    let wide = [&[0x80, 0][..], &number, &noise(100)].concat();
    assert_eq!(json(&wide, &[&format!("[u8; {}]", 1_u64 << 60)]).0, 1);
    // The product does not fit 64 bits.
    let both = [&[0x90, 0][..], &number, &number].concat();
    assert_eq!(json(&both, &[]).1[0]["error"]["kind"], "PayloadLength");
}

#[test]
fn a_closed_pipe_ends_quietly() {
    use std::io::Read;
    use std::process::Stdio;
    let folder = command::Folder::new();
    let file = folder.file("frames", &framed(Framing::compact()).repeat(20_000));
    for form in ["text", "json"] {
        let pipes = (Stdio::piped(), Stdio::piped());
        let mut frame = dtype();
        frame.arg("frame").arg(&file).args([SAMPLE, "--as", form]);
        let mut child = frame.stdout(pipes.0).stderr(pipes.1).spawn().unwrap();
        drop(child.stdout.take());
        let mut message = String::new();
        child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
        assert_eq!((child.wait().unwrap().code(), &*message), (Some(0), ""), "{form}");
    }
    assert!(!done(dtype().args(["frame", "/dev/null"])).is_empty());
}

fn framings() -> impl Strategy<Value = Framing> {
    prop_oneof![
        Just(Framing::new()),
        Just(Framing::new().with_schema().with_tag(u32::MAX)),
        Just(Framing::compact()),
        Just(Framing::compact().without_checksum().with_tag(200)),
        Just(Framing::compact().with_schema()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(
        framings in prop::collection::vec(framings(), 0..6),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        tail in prop::collection::vec(any::<u8>(), 0..60),
        how in prop::sample::select(vec!["--dump", "--colour=always", SAMPLE]),
    ) {
        let mut bytes: Vec<u8> = framings.iter().flat_map(|framing| framed(*framing)).collect();
        bytes.extend(&tail);
        let whole = changes.is_empty() && tail.is_empty();
        for (at, byte) in &changes {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
        }
        let output = fed(dtype().args(["frame", "-", how]), &bytes);
        prop_assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
        let (status, lines) = json(&bytes, &[how]);
        prop_assert_eq!(Some(status), output.status.code());
        let frames = lines.iter().filter(|line| line.get("tag").is_some());
        if whole {
            prop_assert_eq!(frames.count(), framings.len());
        }
        // Every byte is in a frame, or skipped, once, unless the input ends inside a full frame.
        let mut at = 0;
        for line in lines.iter().filter(|line| line.get("record").is_none()) {
            let offset = line["offset"].as_u64().unwrap();
            prop_assert!(offset >= at || line["skipped"].is_number(), "{lines:?}");
            let length = line["length"].as_u64().or(line["skipped"].as_u64()).unwrap_or(0);
            at = if line["error"].is_object() { at.max(offset) } else { offset + length };
        }
    }
}

/// A file of messages with one type is that type wherever a type is wanted.
#[test]
fn a_file_of_messages_is_its_type() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, frames: &[&[u8]]| {
        let path = folder.path().join(name);
        std::fs::write(&path, frames.concat()).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let message = |bytes: &[u8]| {
        let mut out = Vec::new();
        dtype_message::write(&mut out, bytes).unwrap();
        out
    };
    let types = ["struct{f64, bool}", "struct{f64, u8}"].map(|text| parse(text).unwrap().ty);
    let [ty, other] = types.map(|ty| message(&ty.marshal()));
    let records = framed(Framing::new());
    let failed = |path: &str| {
        let output = dtype().args(["info", path]).output().unwrap();
        assert_eq!((output.status.code(), &*output.stdout), (Some(2), &b""[..]));
        String::from_utf8(output.stderr).unwrap()
    };
    let own = file("own", &[&message(&[9]), &ty, &records, &ty, b"the end is damaged"]);
    let expected = done(dtype().args(["info", "struct{f64, bool}"]));
    assert_eq!(done(dtype().args(["info", &own])), expected);
    let status = |other: &str| dtype().args(["compare", &own, other]).output().unwrap().status;
    assert_eq!(status("struct{f64, bool}").code(), Some(0));
    assert_eq!(status(&file("other", &[&other])).code(), Some(1));
    assert!(failed(&file("both", &[&ty, &other])).contains("messages of several types"));
    assert!(failed(&file("none", &[&records])).contains("none of them is a type"));
}
