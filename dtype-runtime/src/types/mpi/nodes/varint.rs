//! Numbers of variable length: seven bits in each byte, the least significant first; the top bit is set on all bytes but the
//! last. Each number is written in its shortest form, and no other is accepted.

use alloc::vec::Vec;

use crate::error::{Error, Malformed};

pub(in crate::types::mpi) fn put_unsigned(out: &mut Vec<u8>, mut value: u64) {
    loop {
        let [byte, ..] = value.to_le_bytes();
        value >>= 7;
        if value == 0 {
            return out.push(byte);
        }
        out.push(byte | 0x80);
    }
}

/// Small magnitudes of both signs become small numbers: 0, −1, 1, −2, … are 0, 1, 2, 3, …
pub(in crate::types::mpi) fn put_signed(out: &mut Vec<u8>, value: i64) {
    put_unsigned(out, ((value << 1) ^ (value >> 63)).cast_unsigned());
}

/// Bytes that are read from front to back.
pub(in crate::types::mpi) struct Bytes<'a> {
    all: &'a [u8],
    at: usize,
}

impl<'a> Bytes<'a> {
    pub(in crate::types::mpi) fn new(all: &'a [u8]) -> Self {
        Self { all, at: 0 }
    }

    /// The number of bytes read so far.
    pub(in crate::types::mpi) fn at(&self) -> usize {
        self.at
    }

    pub(in crate::types::mpi) fn remaining(&self) -> usize {
        self.all.len() - self.at
    }

    /// The bytes read so far, from offset `start` on.
    pub(in crate::types::mpi) fn since(&self, start: usize) -> &'a [u8] {
        &self.all[start..self.at]
    }

    pub(in crate::types::mpi) fn byte(&mut self) -> Result<u8, Error> {
        let byte = *self.all.get(self.at).ok_or_else(|| wrong(self.at, Malformed::Truncated))?;
        self.at += 1;
        Ok(byte)
    }

    pub(in crate::types::mpi) fn unsigned(&mut self) -> Result<u64, Error> {
        let start = self.at;
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7F);
            // Of the tenth byte, only one bit fits.
            if bits << shift >> shift != bits {
                return Err(wrong(start, Malformed::Range));
            }
            value |= bits << shift;
            if byte < 0x80 {
                if byte == 0 && shift > 0 {
                    return Err(wrong(start, Malformed::Overlong));
                }
                return Ok(value);
            }
        }
        Err(wrong(start, Malformed::Range))
    }

    pub(in crate::types::mpi) fn signed(&mut self) -> Result<i64, Error> {
        let value = self.unsigned()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// Reads the length of a list, and a bit that is stored with it. The length is refused, before memory is reserved, if that
    /// many elements of at least `each` bytes exceed the remaining bytes.
    pub(in crate::types::mpi) fn length(&mut self, each: usize) -> Result<(usize, bool), Error> {
        let start = self.at;
        let value = self.unsigned()?;
        let length = usize::try_from(value >> 1).ok().filter(|&n| n <= self.remaining() / each);
        let length = length.ok_or_else(|| wrong(start, Malformed::Truncated))?;
        Ok((length, value & 1 == 1))
    }
}

pub(in crate::types::mpi) fn put_length(out: &mut Vec<u8>, length: usize, bit: bool) {
    // A list in memory has fewer than 2⁶³ elements.
    put_unsigned(out, (length as u64) << 1 | u64::from(bit));
}

pub(in crate::types::mpi) fn wrong(offset: usize, problem: Malformed) -> Error {
    Error::Marshalled { offset, problem }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    fn problem(bytes: &[u8]) -> Malformed {
        match Bytes::new(bytes).unsigned() {
            Err(Error::Marshalled { problem, .. }) => problem,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn numbers_of_every_length() {
        let ends = (0..64).flat_map(|bit| [(1_u64 << bit) - 1, 1 << bit, (1 << bit) + 1]);
        for value in ends.chain([u64::MAX]) {
            let mut out = vec![];
            put_unsigned(&mut out, value);
            assert_eq!(out.len(), (64 - value.leading_zeros()).div_ceil(7).max(1) as usize);
            assert_eq!(Bytes::new(&out).unsigned(), Ok(value));
            let signed = value.cast_signed();
            for signed in [signed, signed.wrapping_neg()] {
                let mut out = vec![];
                put_signed(&mut out, signed);
                assert_eq!(Bytes::new(&out).signed(), Ok(signed));
            }
        }
    }

    #[test]
    fn other_forms_of_a_number_are_refused() {
        assert_eq!(problem(&[]), Malformed::Truncated);
        assert_eq!(problem(&[0x80]), Malformed::Truncated);
        assert_eq!(problem(&[0x80, 0]), Malformed::Overlong);
        assert_eq!(problem(&[0xFF, 0x80, 0]), Malformed::Overlong);
        let mut long = [0xFF; 10];
        long[9] = 2;
        assert_eq!(problem(&long), Malformed::Range);
        long[9] = 0x81;
        assert_eq!(problem(&long), Malformed::Range);
        long[9] = 1;
        assert_eq!(Bytes::new(&long).unsigned(), Ok(u64::MAX));
    }
}
