//! `dtype dump`: values held against the type map, and files of every kind of nonsense.

use std::fmt;
use std::process::Output;

use crate::command::{Folder, done, dtype, failed, fed, noise};
use dtype_runtime::{Basic, Buffer, Error, Representation, Type};
use dtype_test_support::model;
use dtype_text::notation::print;
use proptest::prelude::*;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// The values of a JSON text in the order of the text, which `Value` does not keep.
struct Leaves(Vec<Value>);

impl<'de> Deserialize<'de> for Leaves {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Leaves(Vec::new()))
    }
}

impl Leaves {
    fn one(mut self, value: impl Into<Value>) -> Self {
        self.0.push(value.into());
        self
    }
}

impl<'de> Visitor<'de> for Leaves {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a record")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self, E> {
        Ok(self.one(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self, E> {
        Ok(self.one(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self, E> {
        Ok(self.one(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self, E> {
        Ok(self.one(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self, E> {
        Ok(self.one(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Self, A::Error> {
        while let Some(Leaves(values)) = items.next_element()? {
            self.0.extend(values);
        }
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<Self, A::Error> {
        while let Some((name, Leaves(values))) = members.next_entry::<String, Self>()? {
            if name == "invalid" {
                self.0.push(serde_json::json!({ name: values[0] }));
            } else {
                self.0.extend(values);
            }
        }
        Ok(self)
    }
}

/// What JSON has for a value, decoded in another way than the command does.
#[expect(clippy::many_single_char_names, reason = "the bytes of a value")]
fn expected(basic: Basic, bytes: &[u8]) -> Option<Value> {
    let mut little = bytes.to_vec();
    if cfg!(target_endian = "big") {
        little.reverse();
    }
    let word = |number: f64| match number {
        _ if number.is_nan() => Value::from("NaN"),
        f64::INFINITY => Value::from("Infinity"),
        f64::NEG_INFINITY => Value::from("-Infinity"),
        _ => Value::from(number),
    };
    Some(match (basic.canonical(), &little[..]) {
        (Basic::U8 | Basic::Byte | Basic::Packed, &[byte]) => byte.into(),
        (Basic::I8, &[byte]) => byte.cast_signed().into(),
        (Basic::U16, &[a, b]) => u16::from_le_bytes([a, b]).into(),
        (Basic::I16, &[a, b]) => i16::from_le_bytes([a, b]).into(),
        (Basic::U32, &[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]).into(),
        (Basic::I32, &[a, b, c, d]) => i32::from_le_bytes([a, b, c, d]).into(),
        (Basic::F32, &[a, b, c, d]) => {
            let number = f32::from_le_bytes([a, b, c, d]);
            // The shortest decimal of the narrow number, read as a wide one.
            if number.is_finite() {
                number.to_string().parse::<f64>().ok()?.into()
            } else {
                word(number.into())
            }
        }
        (Basic::U64, &[a, b, c, d, e, f, g, h]) => {
            u64::from_le_bytes([a, b, c, d, e, f, g, h]).into()
        }
        (Basic::I64, &[a, b, c, d, e, f, g, h]) => {
            i64::from_le_bytes([a, b, c, d, e, f, g, h]).into()
        }
        (Basic::F64, &[a, b, c, d, e, f, g, h]) => {
            word(f64::from_le_bytes([a, b, c, d, e, f, g, h]))
        }
        (Basic::Bool, &[0]) => false.into(),
        (Basic::Bool, &[1]) => true.into(),
        (Basic::Bool, &[byte]) => serde_json::json!({ "invalid": format!("0x{byte:02x}") }),
        _ => return None,
    })
}

/// Whether two values are equal, but for the last bit of a number that JSON was read to.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => (a - b).abs() <= 2.0 * f64::EPSILON * b.abs(),
        _ => a == b,
    }
}

/// The records of a run, one on each line.
fn lines(output: &[u8]) -> Vec<Vec<Value>> {
    let text = std::str::from_utf8(output).unwrap();
    text.lines().map(|line| serde_json::from_str::<Leaves>(line).unwrap().0).collect()
}

proptest! {
    #![proptest_config(model::config(30))]

    #[test]
    fn random_types(tree in model::trees(), count in 1..4_usize, before in 0..9_u64, big in any::<bool>()) {
        let Ok(ty) = tree.build() else { return Ok(()) };
        prop_assume!(ty.size() > 0 && ty.extent() > 0);
        let origin = before + u64::try_from(-ty.true_lb().min(0)).unwrap();
        let reach = (count as i64 - 1) * ty.extent();
        let end = origin as i64 + ty.true_ub() + reach;
        let memory = noise(usize::try_from(end).unwrap());
        let folder = Folder::new();
        let (file, text) = (folder.file("memory", &memory), print(&ty));
        let at = format!("--origin={origin}");
        let order = if big { "--representation=big" } else { "--representation=little" };

        let found = done(dtype().args(["dump", &text]).arg(&file).args(["--as=json", &at]));
        let found = lines(&found);
        prop_assert_eq!(found.len(), count);
        for (record, values) in found.iter().enumerate() {
            let base = origin as i64 + record as i64 * ty.extent();
            let mut values = values.iter();
            for entry in ty.type_map() {
                let start = usize::try_from(base + entry.displacement).unwrap();
                let value = expected(entry.basic, &memory[start..start + entry.basic.size()]);
                // What is not compared may have several values: complex numbers, or one for several: text.
                let Some(value) = value else { break };
                let found = values.next();
                prop_assert!(
                    found.is_some_and(|found| is_same(found, &value)),
                    "{:?} instead of {} of {} in {}", found, value, entry.basic, text
                );
            }
        }

        // Packed in the other byte order, and memory of the other byte order.
        let representation =
            if big { Representation::BigEndian } else { Representation::LittleEndian };
        let conversion = ty.commit().conversion(representation).unwrap();
        let memory = Buffer::new(&memory).origin(origin as i64);
        let packed = conversion.pack_to_vec(memory, count).unwrap();
        let arguments = ["--as=json", "--packed", order];
        let from_packed = fed(dtype().args(["dump", &text, "-"]).args(arguments), &packed);
        prop_assert!(from_packed.status.success());
        prop_assert_eq!(lines(&from_packed.stdout), found);

        for form in ["table", "csv", "hex"] {
            let output = done(dtype().args(["dump", &text]).arg(&file).args(["--as", form, &at]));
            prop_assert!(output.len() > count);
        }
    }
}

const PARTICLE: &str = "struct{position: [f64; 3], charge: i8, fixed: bool}";

#[test]
fn memory_of_the_other_byte_order() {
    let ty = "struct{a: u16, b: f64, c: [i32; 2]}";
    let swapped: Vec<u8> = [
        &0x0102_u16.to_be_bytes()[..],
        &[0; 6],
        &2.5_f64.to_be_bytes(),
        &(-1_i32).to_be_bytes(),
        &7_i32.to_be_bytes(),
    ]
    .concat();
    let output =
        fed(dtype().args(["dump", ty, "-", "--as=json", "--representation=big"]), &swapped);
    assert_eq!(output.stdout, b"{\"a\":258,\"b\":2.5,\"c\":[-1,7]}\n");
    let message = failed(dtype().args(["dump", ty, "/dev/null", "--representation=external32"]));
    assert!(message.contains("external32 is a representation of packed bytes"), "{message}");
}

#[test]
fn an_end_inside_a_record() {
    let bytes = noise(32 * 2 + 5);
    for (arguments, remaining, records) in [
        (&["--as=json"][..], "record 2: 5 bytes remain at offset 64, expected at least 26", 2),
        (
            &["--as=json", "--origin=50"],
            "record 0: 19 bytes remain at offset 50, expected at least 26",
            0,
        ),
        (
            &["--as=json", "--packed"],
            "record 2: 17 bytes remain at offset 52, expected at least 26",
            2,
        ),
        (&["--as=json", "--records=1.."], "record 2: 5 bytes remain", 1),
    ] {
        let output = fed(dtype().args(["dump", PARTICLE, "-"]).args(arguments), &bytes);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(message.contains(remaining), "{arguments:?}: {message}");
        assert_eq!(lines(&output.stdout).len(), records);
    }
}

#[test]
fn an_end_before_data_that_start_late() {
    for (ty, len, expected) in [
        ("struct{u8@100}", 64, "record 0: 64 bytes remain at offset 0, expected at least 101"),
        (
            "resized(struct{u8@20, u32@40}, 0, 48)",
            72,
            "record 1: 24 bytes remain at offset 48, expected at least 44",
        ),
    ] {
        let output = fed(dtype().args(["dump", ty, "-"]), &noise(len));
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains(expected), "{ty}: {message}");
    }
}

#[test]
fn text_is_printed_as_it_is() {
    let ty = "struct{text: [c_char; 11], sign: c_char, wide: char}";
    let bytes = [&b"it's \"ok\"\\\n'"[..], &0x22_u32.to_ne_bytes()].concat();
    let csv = fed(dtype().args(["dump", ty, "-", "--as=csv"]), &bytes).stdout;
    let csv = String::from_utf8(csv).unwrap();
    assert_eq!(csv, "text,sign,wide\n\"it's \"\"ok\"\"\\\\\\n\",',\"\"\"\"\n");
    let table = String::from_utf8(fed(dtype().args(["dump", ty, "-"]), &bytes).stdout).unwrap();
    assert!(table.contains(r#"it's "ok"\\\n  '     "#), "{table}");
}

#[test]
fn ranges() {
    let folder = Folder::new();
    let file =
        folder.file("numbers", &(0..1000_u32).flat_map(u32::to_ne_bytes).collect::<Vec<_>>());
    let range = |range: &str| -> Vec<u64> {
        let dump = |input: &[u8]| {
            let output =
                fed(dtype().args(["dump", "u32", "-", "--as=json", "--records", range]), input);
            assert!(output.status.success(), "{range}");
            output.stdout
        };
        let piped = dump(&std::fs::read(&file).unwrap());
        let read = done(dtype().args(["dump", "u32", "--as=json", "--records", range]).arg(&file));
        assert_eq!(piped, read);
        lines(&read).iter().map(|values| values[0].as_u64().unwrap()).collect()
    };
    assert_eq!(range("10..13"), [10, 11, 12]);
    assert_eq!(range("998.."), [998, 999]);
    assert_eq!(range("..=1"), [0, 1]);
    assert_eq!(range("77"), [77]);
    assert_eq!(range("999..5000"), [999]);
    assert!(range("1000..").is_empty() && range("5..5").is_empty());
    for wrong in ["1001..", "1001", "18446744073709551615.."] {
        let message =
            failed(dtype().args(["dump", "u32", "--as=json", "--records", wrong]).arg(&file));
        assert!(message.contains("has 4000 bytes and ends before record"), "{message}");
    }
    let beyond = failed(dtype().args(["dump", "u32", "--json", "--origin=4001"]).arg(&file));
    assert!(beyond.contains("has 4000 bytes and ends before byte 4001, the origin"), "{beyond}");
    assert!(done(dtype().args(["dump", "u32", "--json", "--origin=4000"]).arg(&file)).is_empty());
    for (wrong, reason) in [("x", "no record number"), ("5..3", "before it starts")] {
        let message = failed(dtype().args(["dump", "u32", "--records", wrong]).arg(&file));
        assert!(message.contains(reason), "{message}");
    }
}

#[test]
fn types_without_records() {
    for (ty, message) in [
        ("struct{}", "the type has no data"),
        ("resized(u8, 0, 0)", "a positive extent, found 0"),
        ("resized(u8, 0, -4)", "a positive extent, found -4"),
        ("struct{u8@-2, u8}", "`--origin 2` makes room"),
    ] {
        for form in ["table", "csv", "json", "hex"] {
            let found = failed(dtype().args(["dump", ty, "/dev/null", "--as", form]));
            assert!(found.contains(message), "{ty} as {form}: {found}");
        }
    }
    let wide = "[struct{u8, u16}; 20_000]";
    for form in ["table", "csv"] {
        let found = failed(dtype().args(["dump", wide, "/dev/null", "--as", form]));
        assert!(found.contains("more than 16384 columns"), "{found}");
    }
    let long = "[u8; 0x7fffffffffffffff]";
    // The data of the second one overlap.
    for long in [long, "resized([resized(u8, 0, 0); 1_000_000_000_000], 0, 1)"] {
        let found = failed(dtype().args(["dump", long, "/dev/null", "--as=hex"]));
        assert!(found.contains("too long for the hexadecimal view"), "{found}");
    }
    // No memory is taken for what does not arrive.
    for form in ["table", "json"] {
        let output = fed(dtype().args(["dump", long, "-", "--as", form]), b"12345");
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains("5 bytes remain at offset 0"), "{message}");
    }
}

#[test]
fn any_bytes_and_any_type() {
    let deep =
        (0..100).fold("struct{a: u8, b: char}".to_owned(), |ty, _| format!("struct{{x: {ty}}}"));
    // 2¹⁰ fields that share their types.
    let many = (0..10).fold("let t0 = u8;".to_owned(), |text, i| {
        format!("{text} let t{} = struct{{l: t{i}, r: t{i}}};", i + 1)
    }) + " t10";
    let all: Vec<String> =
        Basic::ALL.iter().map(|basic| format!("{}: {}", basic.name(), basic.name())).collect();
    let all = format!("struct{{{}}}", all.join(", "));
    for ty in [
        PARTICLE,
        &deep,
        &many,
        &all,
        "resized(vector(3, 1, 4, struct{x: u8, y: u16}), 0, 4)",
        "struct{u8@9, c_longdouble@-16, [MPI_2INT; 2]@16}",
        "subarray([4, 4], [2, 2], [1, 1], fortran, logical)",
        "value_index(f64, int)",
        "f90_real(15, undefined)",
        "struct{lb@-3, i32@0, ub@6}",
        "mpich_bounds(c_char)",
        "[c_char; 12]",
    ] {
        let len = 3000;
        let bytes = noise(len);
        let outputs: Vec<Output> = ["table", "csv", "json", "hex"]
            .iter()
            .flat_map(|form| [(form, "--origin=40"), (form, "--packed")])
            .map(|(form, how)| {
                let arguments = ["--as", form, how, "--colour=always"];
                let output = fed(dtype().args(["dump", ty, "-"]).args(arguments), &bytes);
                assert!(matches!(output.status.code(), Some(0 | 2)), "{ty}: {output:?}");
                assert!(output.stdout.len() > 100, "{ty} as {form}: {output:?}");
                assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
                output
            })
            .collect();
        for output in &outputs[4..6] {
            lines(&output.stdout);
        }
        // Nothing but the colours is a control character.
        for output in &outputs {
            let text = String::from_utf8(output.stdout.clone()).unwrap();
            let plain = text.replace("\x1b[", "");
            let is_plain = |c: char| !c.is_control() || c == '\n';
            assert!(plain.chars().all(is_plain), "{ty}");
        }
    }
}

#[test]
fn values_that_do_not_fit_here() {
    // In external32 a wide character has two bytes, half of a pair of surrogates for example; it is shown as it is.
    let output = fed(
        dtype().args([
            "dump",
            "c_wchar",
            "-",
            "--packed",
            "--as=json",
            "--representation=external32",
        ]),
        &[0xD8, 0, 0, 0x41],
    );
    if Basic::WideChar.size() == 4 {
        assert_eq!(output.stdout, b"{\"invalid\":\"0x0000d800\"}\n\"A\"\n");
    }
    // A binary128 beyond the long double of this machine.
    let conversion = Type::basic(Basic::LongDouble).commit().conversion(Representation::External32);
    let mut memory = [0; 16];
    let number = [
        [0x3F, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        [0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    ];
    let unpacked =
        conversion.unwrap().unpack(&number[0], &mut memory[..Basic::LongDouble.size()], 1);
    let output = fed(
        dtype().args([
            "dump",
            "long double",
            "-",
            "--packed",
            "--as=csv",
            "--representation=external32",
        ]),
        &number.concat(),
    );
    let text = String::from_utf8(output.stdout).unwrap();
    match unpacked {
        Ok(_) => assert!(text.ends_with("2.0\n"), "{text}"),
        Err(error @ Error::FloatRange { .. }) => {
            let message = String::from_utf8(output.stderr).unwrap();
            assert!(message.contains(&format!("cannot read record 0: {error}")), "{message}");
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_closed_pipe_ends_quietly() {
    use std::io::Read;
    use std::process::Stdio;
    let folder = Folder::new();
    let input = folder.file("in", &noise(4 << 20));
    for form in ["table", "csv", "json", "hex"] {
        let mut child = dtype()
            .args(["dump", "[u8; 16]", "--as", form])
            .arg(&input)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut message = String::new();
        child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
        assert_eq!((child.wait().unwrap().code(), &*message), (Some(0), ""), "{form}");
    }
}

/// A text ends at its first zero, as in C, whatever follows.
#[test]
fn text_ends_at_a_zero() {
    let folder = Folder::new();
    for (text, plain, json) in [
        (b"abc\0\0\0", "abc", r#""abc""#),
        (b"abcde\0", "abcde", r#""abcde""#),
        (b"abcdef", "abcdef", r#""abcdef""#),
        (b"\0\0\0\0\0\0", "", r#""""#),
        (b"ab\0cd\0", "ab", r#""ab""#),
        (b"\0\0\0\0\0x", "", r#""""#),
    ] {
        let mut bytes = text.to_vec();
        bytes.push(7);
        let file = folder.file("file", &bytes);
        let dump = |form| {
            let ty = "struct{name: [c_char; 6], n: u8}";
            let dump = done(dtype().args(["dump", ty]).arg(&file).args(["--as", form]));
            String::from_utf8(dump).unwrap()
        };
        assert_eq!(dump("csv"), format!("name,n\n{plain},7\n"));
        assert_eq!(dump("json"), format!("{{\"name\":{json},\"n\":7}}\n"));
        let table = dump("table");
        let row: Vec<&str> = table.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!(row.join(" "), format!("0 {plain} 7").replace("  ", " "));
    }
}
