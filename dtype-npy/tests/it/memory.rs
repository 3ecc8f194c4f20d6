//! The memory that the header of a `.npy` file takes: a small multiple of its length.

use dtype_npy::{Header, NpyError};
use dtype_test_support::counting::max_in_use;

/// The names of the fields are not put together for each level, only for an error.
#[test]
fn nested_fields_with_long_names() {
    const LEVELS: usize = 30;
    let name = "x".repeat(30_000);
    for (format, is_known) in [("|u1", true), ("|q1", false)] {
        let mut descr = format!("'{format}'");
        for _ in 0..LEVELS {
            descr = format!("[('{name}', {descr})]");
        }
        let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (1,), }}");
        let mut file = b"\x93NUMPY\x02\x00".to_vec();
        file.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
        file.extend(text.as_bytes());
        let (most, header) = max_in_use(|| Header::read(&file[..]));
        assert!(most < 8 * file.len(), "{most} for {} bytes", file.len());
        match header {
            Ok(_) => assert!(is_known),
            Err(NpyError::Value { place, .. }) => {
                assert!(!is_known);
                assert_eq!(place, format!("field `{}`", vec![name.clone(); LEVELS].join(".")));
            }
            Err(other) => panic!("{other}"),
        }
    }
}

/// Whatever a header repeats, whether it is accepted or refused.
#[test]
fn repeated_parts() {
    const LEN: usize = 1_000_000;
    for (before, part, after) in [
        ("[", "(),", "]"),
        ("[", "0,", "]"),
        ("[", "'',", "]"),
        ("[", "{},", "]"),
        ("[", "[],", "]"),
        ("", "'|u1' ", ""),
        ("[", "('','V1'),", "]"),
        ("[", "('N','u1'),", "]"),
        ("[", "('N','u1',1),", "]"),
        ("[", "('N',[('x','u1')]),", "]"),
        ("('u1',(", "1,", "))"),
        ("[('x','u1',(", "1,", "))]"),
        ("'", "\\x41", "'"),
    ] {
        let parts: Vec<String> =
            (0..LEN / part.len()).map(|i| part.replace('N', &format!("{i:x}"))).collect();
        let descr = format!("{before}{}{after}", parts.concat());
        for text in [
            format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (1,), }}"),
            format!("{{'descr': '|u1', 'fortran_order': False, 'shape': {descr}, }}"),
        ] {
            let text = &text[..text.len().min(1 << 20)];
            let mut file = b"\x93NUMPY\x03\x00".to_vec();
            file.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
            file.extend(text.as_bytes());
            let (most, header) = max_in_use(|| Header::read(&file[..]).is_ok());
            let len = file.len();
            assert!(most < 128 * len, "{part}: {most} for {len} bytes, {header}");
        }
    }
}
