//! The header that the command writes for a peer in C: the C compilers of this machine build a program with it, which reads
//! what Rust writes, refuses what Rust refuses, and writes what Rust reads.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use crate::command::{Folder, done, dtype};
use dtype_message::{Decoded, Framing, Header, Limits};
use dtype_runtime::{Datatype, FixedStr, Maybe};

/// Declares items, and keeps their text for the command.
macro_rules! declared {
    ($($items:tt)*) => {
        $($items)*
        const DECLARED: &str = stringify!($($items)*);
    };
}

declared! {
    #[derive(Clone, Copy, Debug, PartialEq, Datatype)]
    #[repr(u8)]
    enum Kind {
        Free = 1,
        Fixed,
        Other = 200,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Datatype)]
    #[repr(i64)]
    enum Level {
        Low = -5_000_000_000,
        Zero = 0,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Datatype)]
    struct Place {
        x: f32,
        y: f32,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Datatype)]
    struct Line {
        kind: Kind,
        from: Place,
        to: Place,
        way: [Place; 2],
        level: Level,
        width: Maybe<f32>,
        gap: Maybe<f32>,
        name: FixedStr<5>,
    }

    #[allow(dead_code, reason = "the command reads it")]
    #[derive(dtype_message::Messages)]
    enum Message {
        #[dtype(tag = 3)]
        Lines(Vec<Line>),
        Where(Place),
        Text(String),
        Ask,
        Route(Place, Vec<Line>),
        Log { is_last: bool, text: String },
    }
}

fn line(kind: Kind) -> Line {
    let place = |x| Place { x, y: -x };
    Line {
        kind,
        from: place(1.0),
        to: place(2.0),
        way: [place(3.0), place(4.5)],
        level: Level::Low,
        width: None.into(),
        gap: Some(0.5).into(),
        name: "ab".parse().unwrap(),
    }
}

/// Reads frames from a file, each after its length, and prints what they are. Writes a frame to another file.
const PROGRAM: &str = r#"
#include "message.h"
#include "line.h"
#include <stdio.h>
#include <stdlib.h>

static_assert(sizeof(struct Line) == Message_Lines_SIZE && Line_SIZE == Message_Lines_SIZE, "one struct");

int main(int count, char **arguments) {
    FILE *in = fopen(arguments[1], "rb"), *out = fopen(arguments[2], "wb");
    uint32_t length;
    struct Line last = {0};
    if (count < 3 || !in || !out) return 2;
    while (fread(&length, 1, 4, in) == 4) {
        // Exactly as long as the bytes, so that the sanitizer sees each byte that is read behind them.
        unsigned char *bytes = malloc(length ? length : 1);
        struct dtype_frame frame;
        if (fread(bytes, 1, length, in) != length) return 3;
        int64_t result = dtype_read_frame(&frame, bytes, length, 1000);
        printf("%lld", (long long)result);
        if (result > 0) {
            int is_lines = frame.tag == Message_Lines_TAG && dtype_holds(&frame, Message_Lines_SIZE, Message_Lines_SIGNATURE);
            printf(" %u %llu %llu %d %d", frame.tag, (unsigned long long)frame.count,
                   (unsigned long long)frame.record_size, frame.is_big_endian, is_lines);
            int64_t lines = frame.tag != Message_Route_TAG ? -1 :
                dtype_after_head(&frame, Message_Route_HEAD_SIZE, Message_Route_SIZE, Message_Route_SIGNATURE);
            if (frame.tag == Message_Route_TAG) printf(" %lld", (long long)lines);
            if (lines > 0) {
                struct Place head;
                struct Line line;
                memcpy(&head, frame.records, sizeof head);
                memcpy(&line, frame.records + sizeof head + sizeof line * (uint64_t)(lines - 1), sizeof line);
                printf(" %g %d", head.x, line.kind == Kind_Other);
            }
            if (is_lines && frame.count > 0) {
                if (last.kind == 0) memcpy(&last, frame.records, sizeof last);
                printf(" %d %g %d %.*s", last.kind == Kind_Other, last.way[1].x, last.level == Level_Low && !last.width.present,
                       last.name.len <= sizeof last.name.bytes ? (int)last.name.len : 0, (const char *)last.name.bytes);
            }
        }
        printf("\n");
        free(bytes);
    }
    unsigned char head[48], check[4];
    struct Line two[2] = {last, last};
    two[1].kind = Kind_Fixed;
    uint32_t crc = dtype_write_header(head, Message_Lines_TAG, Message_Lines_SIGNATURE, 2, Message_Lines_SIZE);
    crc = dtype_crc32c(crc, (const unsigned char *)two, sizeof two);
    for (int i = 0; i < 4; i++) check[i] = (unsigned char)(crc >> 8 * i);
    fwrite(head, 1, 48, out);
    fwrite(two, 1, sizeof two, out);
    fwrite(check, 1, 4, out);

    // A head and two records.
    const struct Place start = {1, 2};
    const uint64_t size = Message_Route_HEAD_SIZE + 2 * Message_Route_SIZE;
    crc = dtype_write_header(head, Message_Route_TAG, Message_Route_SIGNATURE, 1, size);
    crc = dtype_crc32c(dtype_crc32c(crc, (const unsigned char *)&start, sizeof start), (const unsigned char *)two, sizeof two);
    for (int i = 0; i < 4; i++) check[i] = (unsigned char)(crc >> 8 * i);
    fwrite(head, 1, 48, out);
    fwrite(&start, 1, sizeof start, out);
    fwrite(two, 1, sizeof two, out);
    fwrite(check, 1, 4, out);

    // A head and a text.
    const struct LogHead log = {1};
    crc = dtype_write_header(head, Message_Log_TAG, Message_Log_SIGNATURE, 1, Message_Log_HEAD_SIZE + 2);
    crc = dtype_crc32c(dtype_crc32c(crc, (const unsigned char *)&log, sizeof log), (const unsigned char *)"ok", 2);
    for (int i = 0; i < 4; i++) check[i] = (unsigned char)(crc >> 8 * i);
    fwrite(head, 1, 48, out);
    fwrite(&log, 1, sizeof log, out);
    fwrite("ok", 1, 2, out);
    fwrite(check, 1, 4, out);
    fclose(in);
    return fclose(out);
}
"#;

#[test]
#[cfg(target_endian = "little")]
fn frames_go_both_ways() {
    let folder = Folder::new();
    let source = folder.file("message.rs", DECLARED.as_bytes());
    for name in ["Message", "Line"] {
        let ty = format!("@{}:{name}", source.display());
        let header = done(dtype().args(["show", "--packed", "--as", "c-struct", &ty]));
        let text = String::from_utf8(header.clone()).unwrap();
        // A struct that is there twice, and two of the same type without a name of their own.
        for once in
            ["struct __attribute__((packed)) Place {", "struct __attribute__((packed)) Maybe_f32 {"]
        {
            assert_eq!(text.matches(once).count(), 1, "{text}");
        }
        folder.file(&format!("{}.h", name.to_lowercase()), &header);
    }
    folder.file("program.c", PROGRAM.as_bytes());

    let frames = frames();
    let expected: Vec<Option<i64>> = frames.iter().map(|frame| by_rust(frame)).collect();
    let mut input = Vec::new();
    for frame in &frames {
        input.extend(u32::try_from(frame.len()).unwrap().to_le_bytes());
        input.extend(frame);
    }
    folder.file("frames", &input);

    for (compiler, options) in [
        ("gcc", "-std=c11 -fsanitize=address,undefined -fno-sanitize-recover"),
        ("clang", "-std=c11 -O2 -Wconversion -Wno-sign-conversion"),
        ("cc", "-std=c11 -O2"),
    ] {
        let mut command = Command::new(compiler);
        command.args(options.split(' ')).args([
            "-Wall",
            "-Wextra",
            "-Werror",
            "-o",
            "program",
            "program.c",
        ]);
        let Ok(output) = command.current_dir(folder.path("")).output() else { continue };
        assert!(output.status.success(), "{compiler}: {}", String::from_utf8_lossy(&output.stderr));
        let printed = done(
            Command::new(folder.path("program")).arg(folder.path("frames")).arg(folder.path("out")),
        );
        let printed = String::from_utf8_lossy(&printed).into_owned();
        let mut mistakes = String::new();
        for ((frame, expected), line) in frames.iter().zip(&expected).zip(printed.lines()) {
            let result: i64 = line.split(' ').next().unwrap().parse().unwrap();
            // Rust tells from the first bytes what the rest cannot repair; the program says the same, or waits for the rest.
            if expected.is_some_and(|expected| result != expected) {
                let _ = writeln!(mistakes, "{expected:?} {line}: {frame:02x?}");
            }
        }
        assert!(mistakes.is_empty(), "{compiler}:\n{mistakes}");
        assert_eq!(printed.lines().count(), frames.len());
        let full = printed.lines().nth(2).unwrap();
        assert_eq!(full, "172 3 2 60 0 1 1 4.5 1 ab");
        let printed: Vec<&str> = printed.lines().collect();
        let of_heads = &printed[printed.len() - HEADED.len()..];
        for (line, expected) in of_heads.iter().zip(HEADED) {
            assert!(line.ends_with(expected), "{line}, not {expected}");
        }

        let written = fs::read(folder.path("out")).unwrap();
        let limits = Limits::new();
        let mut written = &written[..];
        let read = dtype_message::read::<Line>(&mut written, &limits).unwrap().unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!((read[1].kind, read[1].name.as_str()), (Kind::Fixed, "ab"));
        let mut next = || dtype_message::receive::<Message>(&mut written, &limits).unwrap();
        let Some(Message::Route(start, lines)) = next() else { panic!("no route") };
        assert_eq!((start, &lines[..]), (Place { x: 1.0, y: 2.0 }, &read[..]));
        let Some(Message::Log { is_last, text }) = next() else { panic!("no text") };
        assert_eq!((is_last, text.as_str()), (true, "ok"));
        assert!(next().is_none());
    }
}

/// Frames in all forms, cut off, and with one byte changed.
fn frames() -> Vec<Vec<u8>> {
    let lines = [line(Kind::Other), line(Kind::Free)];
    let base = Framing::new().with_tag(3);
    let compact = Framing::compact().with_tag(3);
    let mut frames: Vec<Vec<u8>> = [
        base,
        base.with_schema(),
        compact,
        compact.without_checksum(),
        compact.without_signature(),
        compact.without_checksum().without_signature(),
        compact.with_schema(),
        base.with_tag(u32::MAX),
        compact.with_tag(1_000_000),
    ]
    .iter()
    .flat_map(|framing| {
        [0, 1, 2].map(|count| {
            let mut frame = Vec::new();
            dtype_message::write_framed(&mut frame, &lines[..count], *framing).unwrap();
            frame
        })
    })
    .collect();
    for frame in frames.clone() {
        frames.extend((0..frame.len()).map(|end| frame[..end].to_vec()));
        for at in 0..frame.len().min(60) {
            for change in [0x01, 0x10, 0x80, 0xFF] {
                let mut changed = frame.clone();
                changed[at] ^= change;
                frames.push(changed);
            }
        }
    }
    // Numbers with more groups than they need, beyond 64 bits, and without an end.
    for groups in [
        &[0x80, 0x00][..],
        &[0xFF; 9],
        &[0xFF; 12],
        &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2],
    ] {
        frames.push([&[0x80], groups, &[1, 7]].concat());
        frames.push([&[0x90, 3], groups, &[1, 7]].concat());
        frames.push([&[0x80, 3], groups, &[7]].concat());
    }
    frames.extend(frames_of_heads());
    frames
}

/// The ends of the lines that the program prints for [`frames_of_heads`].
const HEADED: [&str; 9] =
    [" 0 0", " 0 2 7 1", " 0 0", " 0 2 7 1", " 0 2 7 1", " -1", " -1", " -1", " -1"];

/// A head with no lines and with two, and frames that hold something else: half a head, a head and a part of a line, two heads,
/// and lines alone.
fn frames_of_heads() -> Vec<Vec<u8>> {
    let route = |count: usize, framing| {
        let lines = [line(Kind::Free), line(Kind::Other)][..count].to_vec();
        let mut frame = Vec::new();
        let message = Message::Route(Place { x: 7.0, y: 0.0 }, lines);
        dtype_message::encode(&mut frame, &message, framing).unwrap();
        frame
    };
    let (full, compact) = (Framing::new(), Framing::compact());
    let mut frames: Vec<Vec<u8>> = [full, compact]
        .iter()
        .flat_map(|framing| [0, 2].map(|count| route(count, *framing)))
        .collect();
    frames.push(route(2, compact.without_signature().without_checksum()));
    let bare = compact.without_signature().with_tag(7);
    for other in [dtype_runtime::pack(&[1_u32]), dtype_runtime::pack(&[[1_u8; 67]])] {
        let mut frame = Vec::new();
        dtype_message::write_framed(&mut frame, &other, bare).unwrap();
        frames.push(frame);
    }
    let mut frame = Vec::new();
    dtype_message::write_framed(&mut frame, &[Place { x: 0.0, y: 0.0 }; 2], bare).unwrap();
    frames.push(frame);
    let mut frame = Vec::new();
    dtype_message::write_framed(&mut frame, &[line(Kind::Free)], full.with_tag(7)).unwrap();
    frames.push(frame);
    frames
}

/// What the program should return for these bytes; `None` if it is not known.
fn by_rust(frame: &[u8]) -> Option<i64> {
    let header = match Header::decode(frame) {
        Err(_) => return Some(-1),
        Ok(Decoded::Needs(_)) => return Some(0),
        Ok(Decoded::Header(header, _)) => header,
    };
    if header.payload_len() > 1000 {
        return Some(-1);
    }
    let len = usize::try_from(header.frame_len()).unwrap();
    let Some(bytes) = frame.get(..len) else { return Some(0) };
    let whole = Some(i64::try_from(len).unwrap());
    match dtype_message::read::<Line>(&mut &bytes[..], &Limits::new()) {
        _ if header.checksum_len() == 0 => whole,
        Ok(_) => whole,
        Err(dtype_message::Error::Checksum { .. }) => Some(-1),
        // The records are of another type, so their checksum is not known.
        Err(_) => None,
    }
}

#[test]
fn the_example_has_the_header_of_its_declarations() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/peer-in-c");
    let ty = format!("@{folder}/protocol.rs:Message");
    let header = done(dtype().args(["show", "--packed", "--as", "c-struct", &ty]));
    assert_eq!(
        String::from_utf8(header).unwrap(),
        fs::read_to_string(format!("{folder}/protocol.h")).unwrap()
    );
}

#[test]
fn a_header_for_any_type() {
    let header = |ty: &str| {
        String::from_utf8(done(dtype().args(["show", "--packed", "--as", "c-struct", ty]))).unwrap()
    };
    let text = header("struct{x: f64, on: bool, \"a b\": u16}");
    for part in
        ["Record {\n    double x;\n    uint8_t on;\n    uint16_t a_b;", "#define Record_SIGNATURE"]
    {
        assert!(text.contains(part), "{text}");
    }
    let text = header("#[repr(i8)] enum K { A = -1, B, C = 9 } struct S { k: K, all: [K; 2] }");
    assert!(text.contains("enum {\n    K_A = -1,\n    K_B = 0,\n    K_C = 9,\n};"), "{text}");
    assert_eq!(text.matches("K_A").count(), 1, "{text}");
    // A head without a name of its own, and one without data; a kind of message whose name is that of a head.
    let text = header(
        "#[derive(Messages)] enum M { A((u8, u16), Vec<u8>), A_HEAD(u8), B((), String), C(u8, Vec<(u8, f32)>) }",
    );
    for part in [
        "AHead {\n    uint8_t",
        "#define Message_A_HEAD_SIZE UINT64_C(3)\n#define Message_A_SIZE UINT64_C(1)\n",
        "#define Message_B_HEAD_SIZE UINT64_C(0)\n#define Message_B_SIZE UINT64_C(1)\n",
        "struct __attribute__((packed)) C {\n    uint8_t",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let macros = text.lines().filter_map(|line| line.strip_prefix("#define ")?.split(' ').next());
    let mut macros: Vec<&str> = macros.collect();
    macros.sort_unstable();
    assert!(macros.windows(2).all(|pair| pair[0] != pair[1]), "{text}");
    let text = header("struct Point { double x; int n; };");
    assert!(text.contains("Point {\n    double x;\n    int n;\n};"), "{text}");
    assert!(text.contains("#define Point_SIZE UINT64_C(12)"), "{text}");
}
