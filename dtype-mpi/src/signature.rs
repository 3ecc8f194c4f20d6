//! Type signatures as one rank sends them to another for an error that names both.

use dtype_runtime::types::Signature;

/// The text of a signature, or its beginning, padded with zeros.
pub(crate) type Text = [i64; 32];

/// A signature as people read it: `{3×f64, bool}`.
pub(crate) fn text(signature: &Signature) -> Text {
    let written = format!("{signature:?}");
    let mut text = [0; 32];
    for (number, bytes) in text.iter_mut().zip(written.as_bytes().chunks(8)) {
        let mut eight = [0; 8];
        eight[..bytes.len()].copy_from_slice(bytes);
        *number = i64::from_le_bytes(eight);
    }
    text
}

/// The text that a rank sent.
pub(crate) fn read(text: &Text) -> String {
    let bytes: Vec<u8> = text.iter().flat_map(|number| number.to_le_bytes()).collect();
    String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned()
}

#[cfg(test)]
mod tests {
    use dtype_runtime::Type;

    use super::*;

    #[test]
    fn long_texts_are_cut() {
        let short = Type::of::<([f64; 3], bool)>().signature();
        assert_eq!(read(&text(&short)), "{3×f64, bool}");
        let alternating = Type::of::<[(u8, (f64, char)); 40]>().signature();
        let whole = format!("{alternating:?}");
        let cut = read(&text(&alternating));
        assert!(cut.len() <= 256 && whole.starts_with(cut.trim_end_matches('\u{fffd}')), "{cut}");
    }
}
