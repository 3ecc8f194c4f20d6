//! Type signatures as one rank sends them to another for an error that names both: as text, and in a few bytes.

use dtype_runtime::typemap::{Node, TypeMap};
use dtype_runtime::types::Signature;
use dtype_runtime::{Basic, Type};

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

/// The beginning of a signature: runs of equal basic datatypes, as many as fit, then zeros. The last byte is [`WHOLE`] if those
/// are all runs, and [`CUT`] otherwise.
///
/// A run is the code of its basic datatype, which is less than 64. If there are several, [`MANY`] is added to the code, and the
/// number follows, seven bits in a byte, the lowest first, with 128 added to each byte but the last.
pub(crate) type Beginning = [u8; 8];

const WHOLE: u8 = 0xA5;
const CUT: u8 = 0x5A;
const MANY: u8 = 64;
const ROOM: usize = size_of::<Beginning>() - 1;

/// The beginning of a type's signature.
pub(crate) const fn beginning(map: &TypeMap) -> Beginning {
    let Runs { mut bytes, is_cut, .. } = Runs::EMPTY.then(map).flushed();
    bytes[ROOM] = if is_cut { CUT } else { WHOLE };
    bytes
}

/// Runs as they are written.
#[derive(Clone, Copy)]
struct Runs {
    bytes: Beginning,
    len: usize,
    /// The last run, which may become longer: its code, and its number of basic datatypes.
    last: (u8, u64),
    is_cut: bool,
}

impl Runs {
    const EMPTY: Self = Self { bytes: [0; 8], len: 0, last: (0, 0), is_cut: false };

    /// These runs, followed by those of a type.
    const fn then(mut self, map: &TypeMap) -> Self {
        match *map.node() {
            Node::Basic { basic, .. } => self = self.with(basic.canonical().code(), 1),
            Node::Array { count, element } => {
                let once = Self::EMPTY.then(element);
                if once.len == 0 && !once.is_cut {
                    let (code, number) = once.last;
                    return self.with(code, number.saturating_mul(count as u64));
                }
                let mut index = 0;
                while index < count && !self.is_cut {
                    self = self.then(element);
                    index += 1;
                }
            }
            Node::Structure { fields, .. } => {
                let mut index = 0;
                while index < fields.len() && !self.is_cut {
                    if let Some(map) = fields[index].map() {
                        self = self.then(map);
                    }
                    index += 1;
                }
            }
        }
        self
    }

    /// These runs, followed by another one.
    const fn with(mut self, code: u8, number: u64) -> Self {
        if number == 0 {
            return self;
        }
        if self.last.0 == code {
            self.last.1 = self.last.1.saturating_add(number);
            return self;
        }
        self = self.flushed();
        self.last = (code, number);
        self
    }

    /// With the last run in the bytes, if it fits.
    const fn flushed(mut self) -> Self {
        let (code, mut number) = self.last;
        self.last = (0, 0);
        if number == 0 || self.is_cut {
            return self;
        }
        let is_one = number == 1;
        let digits = if is_one { 0 } else { (number.ilog2() / 7 + 1) as usize };
        if self.len + 1 + digits > ROOM {
            self.is_cut = true;
            return self;
        }
        self.bytes[self.len] = if is_one { code } else { code | MANY };
        self.len += 1;
        let mut left = digits;
        while left > 0 {
            let more = if left > 1 { 128 } else { 0 };
            self.bytes[self.len] = (number & 127) as u8 | more;
            number >>= 7;
            self.len += 1;
            left -= 1;
        }
        self
    }
}

/// The text of a signature with this hash and this beginning; `None` if there is no such signature.
pub(crate) fn read_beginning(hash: u64, bytes: Beginning) -> Option<String> {
    let ([coded @ .., end], mut runs) = (bytes, Vec::new());
    let mut coded = coded.into_iter().peekable();
    while let Some(code) = coded.next_if(|&byte| byte > 0) {
        let mut number = u64::from(code & MANY == 0);
        let mut shift = 0;
        while number == 0 || shift > 0 {
            let digits = coded.next().filter(|_| code & MANY > 0)?;
            number |= u64::from(digits & 127) << shift;
            shift = if digits > 127 { shift + 7 } else { 0 };
        }
        runs.push((Basic::from_code(code & !MANY)?, number));
    }
    let is_cut = end == CUT;
    if coded.any(|byte| byte > 0) || !(is_cut || end == WHOLE) {
        return None;
    }
    let types: Vec<Type> = runs.iter().map(|&(basic, _)| Type::basic(basic)).collect();
    let numbers: Vec<u64> = runs.iter().map(|&(_, number)| number).collect();
    let ty = Type::structure(&numbers, &vec![0; runs.len()], &types).ok()?;
    let text = format!("{:?}", ty.signature());
    if is_cut {
        return Some(text.replace('}', if runs.is_empty() { "…}" } else { ", …}" }));
    }
    (ty.signature_hash() == hash).then_some(text)
}

#[cfg(test)]
mod tests {
    use dtype_runtime::Datatype;

    use super::*;

    #[test]
    fn beginnings_are_read_as_they_were_written() {
        fn text<T: Datatype>() -> String {
            let map = T::TYPE_MAP;
            read_beginning(map.signature_hash(), beginning(map)).unwrap()
        }
        assert_eq!(text::<(f64, i32)>(), "{f64, i32}");
        assert_eq!(text::<([f64; 3], f64, bool)>(), "{4×f64, bool}");
        assert_eq!(text::<[[[u16; 1000]; 1000]; 1000]>(), "{1000000000×u16}");
        assert_eq!(text::<[(u8, u8); 64]>(), "{128×u8}");
        assert_eq!(text::<[(u8, (), f32); 3]>(), "{u8, f32, u8, f32, u8, f32}");
        assert_eq!(
            text::<(u8, u16, u32, u64, i8, i16, i32)>(),
            "{u8, u16, u32, u64, i8, i16, i32}"
        );
        assert_eq!(
            text::<(u8, u16, u32, u64, i8, i16, i32, i64)>(),
            "{u8, u16, u32, u64, i8, i16, i32, …}"
        );
        assert_eq!(text::<[(u8, [f32; 300]); 9]>(), "{u8, 300×f32, u8, …}");
        assert_eq!(text::<()>(), "{}");
        assert_eq!(text::<[(u8, u16); 0]>(), "{}");
        // No run fits.
        assert_eq!(text::<[[u8; 1 << 40]; 1 << 20]>(), "{…}");
    }

    #[test]
    fn other_bytes_are_no_beginning() {
        let (map, other) = (<(f64, i32)>::TYPE_MAP, <(i32, f64)>::TYPE_MAP);
        assert_eq!(read_beginning(map.signature_hash(), beginning(other)), None);
        for bytes in [[0; 8], [255; 8], *b"12345678", 1.5_f64.to_le_bytes(), [MANY | 1; 8]] {
            assert_eq!(read_beginning(0, bytes), None, "{bytes:?}");
        }
        let mut state = 1_u64;
        let found = (0..1 << 20).filter(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            read_beginning(state, state.swap_bytes().rotate_left(17).to_le_bytes()).is_some()
        });
        // One in some thousands is taken for the beginning of a long signature.
        assert!(found.count() < 500);
    }

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
