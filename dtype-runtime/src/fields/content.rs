//! Tests of values of a fixed size that use only a part of their packed bytes. The other bytes are spare; this crate writes
//! zeros there.

use core::str;

/// Up to this many bytes are tested as a whole, however many are in use, without a branch that depends on the number.
const MAX_WHOLE: usize = 128;

/// Masks for bytes in use, then as many for spare bytes. The masks of an array whose first `used` bytes are in use begin `used`
/// masks before the middle.
type Masks = [u8; 2 * MAX_WHOLE];

/// No bit of the bytes in use, and all bits of the spare ones.
const SPARE: &Masks = &masks(0);

/// The highest bit of the bytes in use, which no byte of a text in ASCII has, and all bits of the spare ones.
const SPARE_OR_NOT_ASCII: &Masks = &masks(0x80);

const fn masks(used: u8) -> Masks {
    let (mut all, mut i) = ([u8::MAX; 2 * MAX_WHOLE], 0);
    while i < MAX_WHOLE {
        all[i] = used;
        i += 1;
    }
    all
}

/// The length that is stored in front of items, and the bytes of all items. `None` without a length.
#[inline(always)]
pub(super) fn split(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (len, items) = bytes.split_first_chunk()?;
    Some((usize::try_from(u32::from_ne_bytes(*len)).unwrap_or(usize::MAX), items))
}

/// All bits that are set in some of the bytes, in any order: 0 if all are zeros.
#[inline(always)]
pub(super) fn any_bits(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks();
    let all = words.iter().fold(0, |all, word| all | u64::from_ne_bytes(*word));
    // Two loads, which may overlap, instead of one for each byte.
    all | match (rest.first_chunk(), rest.last_chunk()) {
        (Some(first), Some(last)) => {
            (u32::from_ne_bytes(*first) | u32::from_ne_bytes(*last)).into()
        }
        _ => rest.iter().fold(0, |all, byte| all | u64::from(*byte)),
    }
}

/// Whether the bytes after the first `used` are zeros. `used` must not exceed the number of bytes.
#[inline(always)]
pub(super) fn is_spare_zero(bytes: &[u8], used: usize) -> bool {
    if bytes.len() > MAX_WHOLE {
        return any_bits(&bytes[used..]) == 0;
    }
    masked_bits(bytes, used, SPARE) == 0
}

/// Whether the first `len` of these bytes, of which there are `N`, are UTF-8, and the others zeros.
#[inline(always)]
pub(super) fn is_clean_text<const N: usize>(bytes: &[u8], len: usize) -> bool {
    /// The same for any text.
    #[inline(never)]
    fn is_clean(bytes: &[u8], len: usize) -> bool {
        let (text, spare) = bytes.split_at(len);
        any_bits(spare) == 0 && str::from_utf8(text).is_ok()
    }
    if bytes.len() != N || len > N {
        return false;
    }
    // No text in ASCII has a byte with the highest bit.
    N <= MAX_WHOLE && masked_bits(bytes, len, SPARE_OR_NOT_ASCII) == 0 || is_clean(bytes, len)
}

/// All bits that are set in a byte and in its mask, in any order. The first `used` of the bytes, which are at most
/// [`MAX_WHOLE`], are in use.
#[inline(always)]
fn masked_bits(bytes: &[u8], used: usize, masks: &Masks) -> u64 {
    let masks = &masks[MAX_WHOLE - used..][..bytes.len()];
    let word = |(bytes, mask): (&[u8; 8], &[u8; 8])| {
        u64::from_ne_bytes(*bytes) & u64::from_ne_bytes(*mask)
    };
    let ((words, rest), (word_masks, rest_masks)) = (bytes.as_chunks(), masks.as_chunks());
    let all = words.iter().zip(word_masks).map(word).fold(0, |all, bits| all | bits);
    match (bytes.last_chunk(), masks.last_chunk()) {
        _ if rest.is_empty() => all,
        // Some bytes once more, and the rest.
        (Some(last), Some(mask)) => all | word((last, mask)),
        _ => {
            rest.iter().zip(rest_masks).fold(all, |all, (byte, mask)| all | u64::from(byte & mask))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_clean_if_it_is_utf_8_before_zeros() {
        fn check<const N: usize>() {
            for len in 0..=N {
                let mut text = [0; N];
                text[..len].fill(b'x');
                assert!(is_clean_text::<N>(&text, len), "{len} of {N}");
                assert!(!is_clean_text::<N>(&text, N + 1));
                assert!(len == 0 || !is_clean_text::<N>(&text, len - 1), "{len} of {N}");
                for at in 0..N {
                    let mut other = text;
                    // A byte that is never UTF-8, and one that always is.
                    for byte in [0xFF, b'y'] {
                        other[at] = byte;
                        let expected = byte == b'y' && at < len;
                        assert_eq!(is_clean_text::<N>(&other, len), expected, "{at}, {len} of {N}");
                    }
                }
                if len >= 2 {
                    text[..2].copy_from_slice("ä".as_bytes());
                    assert!(is_clean_text::<N>(&text, len));
                    assert!(!is_clean_text::<N>(&text, 1));
                }
            }
            assert!(!is_clean_text::<N>(&[], 0) || N == 0);
        }
        check::<0>();
        check::<1>();
        check::<7>();
        check::<8>();
        check::<13>();
        check::<16>();
        check::<64>();
        check::<128>();
        check::<129>();
    }

    #[test]
    fn zeros_are_told_at_each_place() {
        for len in (0..20).chain([127, 128, 129, 300]) {
            let mut bytes = vec![0; len];
            assert_eq!(any_bits(&bytes), 0);
            for at in 0..len {
                bytes[at] = 0x80;
                assert_ne!(any_bits(&bytes), 0, "{at} of {len}");
                for used in [0, at, at + 1, len] {
                    assert_eq!(is_spare_zero(&bytes, used), at < used, "{at}, {used} of {len}");
                }
                bytes[at] = 0;
            }
        }
    }
}
