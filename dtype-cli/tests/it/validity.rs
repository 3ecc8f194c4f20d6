//! Bytes that are not values are refused, as unpacking to a Rust type refuses them.

use crate::command::{Folder, done, dtype, failed};
use dtype_runtime::{
    Datatype, FixedDuration, FixedSocketAddr, FixedStr, FixedVec, Maybe, pack, unpack,
};
use std::num::{NonZero, NonZeroU8};

/// Declares items, and keeps their text for the command.
macro_rules! declared {
    ($($items:tt)*) => {
        $($items)*
        const DECLARED: &str = stringify!($($items)*);
    };
}

declared! {
    #[derive(Clone, Copy, Datatype)]
    #[repr(u8)]
    enum Kind {
        Free = 1,
        Fixed,
        Other = 0x80 + 0x10,
    }

    #[derive(Clone, Copy, Datatype)]
    #[repr(i16)]
    enum Sign {
        Minus = -1,
        Plus = 1,
    }

    #[derive(Clone, Copy, Datatype)]
    #[repr(C)]
    struct Pair {
        any: u8,
        kind: Kind,
    }

    #[derive(Clone, Copy, Datatype)]
    struct Record {
        kind: Kind,
        signs: [[Sign; 2]; 2],
        on: bool,
        letter: char,
        number: NonZeroU8,
        wide: NonZero<u16>,
        none: Option<NonZeroU8>,
        any: u8,
        float: ordered_float::NotNan<f32>,
        pair: [Pair; 2],
        duration: FixedDuration,
        address: FixedSocketAddr,
        maybe: Maybe<Kind>,
        text: FixedStr<5>,
        list: FixedVec<Pair, 2>,
    }
}

fn record() -> Record {
    Record {
        kind: Kind::Fixed,
        signs: [[Sign::Minus, Sign::Plus]; 2],
        on: true,
        letter: 'é',
        number: NonZeroU8::MIN,
        wide: NonZero::<u16>::MIN,
        none: None,
        any: 0xFF,
        float: ordered_float::NotNan::new(1.5).unwrap(),
        pair: [Pair { any: 9, kind: Kind::Free }; 2],
        duration: std::time::Duration::from_millis(1).into(),
        address: FixedSocketAddr::new("10.0.0.1:80".parse().unwrap()),
        maybe: Maybe::some(Kind::Other),
        text: "héi".parse().unwrap(),
        list: FixedVec::from_slice(&[Pair { any: 1, kind: Kind::Free }]).unwrap(),
    }
}

#[test]
fn what_the_library_refuses_is_refused() {
    let folder = Folder::new();
    let good = pack(&[record(), record()]);
    let (size, out) = (good.len() / 2, folder.path("out"));
    let source = DECLARED.replace("struct Record", "#[repr(C, packed)] struct Record");
    let ty = format!("@{}:Record", folder.file("record.rs", source.as_bytes()).display());
    let (mut accepted, mut refused) = (0, 0);
    for at in size..2 * size {
        for byte in [0x00, 0x02, 0xFF] {
            let mut bytes = good.clone();
            bytes[at] = byte;
            let file = folder.file("bytes", &bytes);
            let output = dtype().arg("unpack").arg(&ty).arg(&file).arg(&out).output().unwrap();
            let (status, message) = (output.status.code(), String::from_utf8(output.stderr));
            let message = message.unwrap();
            match unpack::<Record>(&bytes) {
                Ok(_) => {
                    assert_eq!((status, &*message), (Some(0), ""), "byte {at}: {byte}");
                    accepted += 1;
                }
                Err(error) => {
                    assert_eq!(status, Some(2), "byte {at}: {byte}: {error}");
                    assert_eq!(message, format!("error: cannot unpack: {error}\n"));
                    assert!(message.contains("record 1, field "), "{message}");
                    refused += 1;
                }
            }
        }
    }
    assert!(accepted > 30 && refused > 30, "{accepted}, {refused}");
}

#[test]
fn whatever_the_direction_and_the_representation() {
    let folder = Folder::new();
    let out = folder.path("out");
    let bad = folder.file("bad", &[1, 0, 0, 7]);
    let ty = "struct{a: bool, b: [bool; 1]}";
    let message = "record 1, field b[0]: 0x7 is not a valid bool";
    for representation in ["native", "external32", "little", "big"] {
        for action in ["pack", "unpack"] {
            let mut command = dtype();
            command.args([action, "--representation", representation, ty]).arg(&bad).arg(&out);
            let text = failed(&mut command);
            assert!(text.contains(message.replace("[0]", "").as_str()), "{representation}: {text}");
        }
    }
    assert!(!out.exists());
    // Other types with the same bytes take them.
    done(dtype().args(["unpack", "struct{a: bool, b: u8}"]).arg(&bad).arg(&out));
    // The instances before are in other windows.
    let mut many = vec![1_u8; 9 << 20];
    *many.last_mut().unwrap() = 2;
    let many = folder.file("many", &many);
    for action in ["pack", "unpack"] {
        let text = failed(dtype().args([action, "bool"]).arg(&many).arg(&out));
        assert!(text.contains(&format!("record {}: 0x2", (9 << 20) - 1)), "{text}");
        // One instance.
        let ty = format!("[bool; {}]", 9 << 20);
        let text = failed(dtype().args([action, &ty]).arg(&many).arg(&out));
        assert!(text.contains(&format!("record 0, field [{}]: 0x2", (9 << 20) - 1)), "{text}");
    }
    // Instances that interleave are checked one by one, too.
    let columns = "resized(vector(2, 1, 2, bool), 0, 1)";
    let text = failed(dtype().args(["pack", columns]).arg(&bad).arg(&out).args(["--count", "2"]));
    assert!(text.contains("record 1, field [1]: 0x7 is not a valid bool"), "{text}");
}
