//! The names of a schema: those that `rename` gives, with their brackets and control characters escaped.

use dtype_message::{Error, Framing, Header, Limits, Schema};
use dtype_runtime::time::{Nanoseconds, Seconds, Unit};
use dtype_runtime::{Datatype, Maybe, TimeSpan, Timestamp};
use dtype_test_support::odd_names::{Flags, Step};

#[test]
fn a_schema_has_the_names() {
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
    let header = Framing::new().with_schema();
    let header = Header::of::<Step>(1, header).unwrap();
    assert_eq!(header.schema_hash(), Some(schema.hash()));
}

/// Counts of different units are different times.
#[test]
fn a_schema_tells_the_units_of_times() {
    #[derive(Datatype)]
    struct Sample<U: Unit> {
        at: Timestamp<U>,
        took: Maybe<TimeSpan<U>>,
    }
    let (here, there) = (Schema::of::<Sample<Nanoseconds>>(), Schema::of::<Sample<Seconds>>());
    let lines = "at: Timestamp<ns>\ntook.present: bool\ntook.value: TimeSpan<ns>\n";
    assert!(here.to_string().ends_with(lines), "{here}");
    let differences: Vec<_> = here.differences(&there).iter().map(ToString::to_string).collect();
    assert!(differences.contains(&"`at` is Timestamp<s> there and Timestamp<ns> here".to_owned()));
    let mut frame = Vec::new();
    let second = Timestamp::<Seconds>::new(1);
    dtype_message::send(&mut frame, &second, Framing::compact().with_schema()).unwrap();
    let read = dtype_message::decode::<Timestamp<Nanoseconds>>(&mut &frame[..], &Limits::new());
    assert!(matches!(read, Err(Error::Mismatch(_))), "{read:?}");
}

/// Brackets in a name are not read as a number of elements, which would hide a mismatch.
#[test]
fn a_schema_tells_names_from_arrays() {
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
    dtype_message::send(&mut frame, &vec![sent], Framing::compact().with_schema()).unwrap();
    let read = dtype_message::read::<Received>(&mut &frame[..], &Limits::new());
    assert!(matches!(read, Err(Error::Mismatch(_))));
}
