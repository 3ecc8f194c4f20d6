//! A small record's bytes as a permutation: which byte of memory each packed byte is, for as many records
//! as fit a register.

use super::elements::Elements;
use super::plan::Op;
use crate::representation::Form;

/// Bytes of a register.
const WIDTH: usize = 64;

/// The bytes of a register.
type Vector = [u8; WIDTH];

/// Where the packed bytes of a record are in memory, for records of at most [`WIDTH`] packed bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByteMap {
    /// Displacement in bytes of the first packed byte from the record's origin.
    first: i64,
    /// Bytes from there to each packed byte.
    offsets: [i8; WIDTH],
    /// The least and the greatest of them.
    least: i8,
    greatest: i8,
    /// How many packed bytes there are.
    len: usize,
    /// How many moves of at most 16 bytes copy the record.
    moves: usize,
}

/// Records as a permutation of bytes, for both directions.
///
/// A *period* is as many records as have at most [`WIDTH`] packed bytes and lie in one window of memory:
/// [`WIDTH`] bytes, or twice as many if the data of a single record span more than the one.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Permutation {
    /// For each packed byte of a period, which byte of the window it is.
    gather: Vector,
    /// For each byte of the window, which packed byte of a period it is; 0 in the gaps.
    scatter: [Vector; 2],
    /// Which bytes of the window are data, one bit each.
    data: [u64; 2],
    /// Records in a period.
    records: usize,
    /// Packed bytes of a record.
    size: usize,
    /// Bytes of memory from one record to the next.
    stride: isize,
    /// Displacement in bytes of the window from the origin of its first record.
    first: isize,
    /// Whether the window has two vectors.
    is_wide: bool,
    /// So many records are worth the call.
    fewest: usize,
}

impl ByteMap {
    /// No bytes.
    pub(crate) const fn new() -> Self {
        Self { first: 0, offsets: [0; WIDTH], least: 0, greatest: 0, len: 0, moves: 0 }
    }

    /// The data that operations name, if they are few enough.
    pub(crate) const fn of(ops: &[Op]) -> Option<Self> {
        let mut map = Self::new();
        if map.add(ops, 0) { Some(map) } else { None }
    }

    /// Adds `len` bytes in the order of their addresses. Returns whether there was room for them.
    pub(crate) const fn run(&mut self, disp: i64, len: u64) -> bool {
        self.bytes(disp, len, false)
    }

    /// Adds an element of `len` bytes in the opposite order: the last one in memory is packed first.
    /// Returns whether there was room for them.
    pub(crate) const fn swapped(&mut self, disp: i64, len: u64) -> bool {
        self.bytes(disp, len, true)
    }

    #[expect(clippy::cast_possible_truncation, reason = "seen to be small")]
    const fn bytes(&mut self, disp: i64, len: u64, swap: bool) -> bool {
        if len > (WIDTH - self.len) as u64 {
            return false;
        }
        if self.len == 0 {
            self.first = disp;
        }
        let from = disp as i128 - self.first as i128;
        let to = from + len as i128 - 1;
        if from < i8::MIN as i128 || to > i8::MAX as i128 {
            return false;
        }
        let (from, to) = (from as i8, to as i8);
        let mut i = 0;
        while i < len as i8 {
            self.offsets[self.len] = if swap { to - i } else { from + i };
            self.len += 1;
            i += 1;
        }
        if len > 0 && from < self.least {
            self.least = from;
        }
        if len > 0 && to > self.greatest {
            self.greatest = to;
        }
        let in_two = len < 16 && !len.is_power_of_two();
        self.moves += if in_two { 2 } else { len.div_ceil(16) as usize };
        true
    }

    const fn add(&mut self, ops: &[Op], shift: i64) -> bool {
        let mut i = 0;
        while i < ops.len() {
            match ops[i] {
                Op::Blocks(blocks) => {
                    let mut block = 0;
                    if blocks.len == 0 {
                        return false;
                    }
                    while block < blocks.count {
                        if !self.run(blocks.block(block).wrapping_add(shift), blocks.len) {
                            return false;
                        }
                        block += 1;
                    }
                    i += 1;
                }
                Op::Elements(Elements { places, form }) => {
                    let mut value = 0;
                    while value < places.count {
                        let disp = places.block(value).wrapping_add(shift);
                        let has_room = match form {
                            Form::Same { .. } => self.run(disp, places.len),
                            Form::Reversed { .. } => self.swapped(disp, places.len),
                            Form::Integer { .. } | Form::Float { .. } => false,
                        };
                        if !has_room {
                            return false;
                        }
                        value += 1;
                    }
                    i += 1;
                }
                Op::List(_) => return false,
                Op::Loop { count, stride, items } => {
                    let body = ops.split_at(i + 1).1.split_at(items).0;
                    let mut turn = 0;
                    while turn < count {
                        let shift = shift.wrapping_add(stride.wrapping_mul(turn.cast_signed()));
                        let len = self.len;
                        if !self.add(body, shift) || self.len == len {
                            return false;
                        }
                        turn += 1;
                    }
                    i += items + 1;
                }
            }
        }
        true
    }
}

impl Permutation {
    /// Fewer moves than this for each vector of memory are faster one by one, and so are as many of 16
    /// bytes each.
    const FEWEST_MOVES: usize = 3;

    /// Records that are further apart, in bytes, each lie in a page of their own, or nearly so: what is
    /// fetched ahead of them would drive out what others have fetched.
    const FURTHEST: u64 = 1024;

    /// So many moves, part of the caller's code, take as long as a call.
    const MOVES_OF_A_CALL: usize = 32;

    /// As [`worth`](Self::worth), whatever it costs.
    #[cfg(test)]
    pub(crate) const fn of(map: &ByteMap, stride: i64) -> Option<Self> {
        Self::worth(map, stride, 0)
    }

    /// As [`worth`](Self::worth), where it is faster than to copy the runs one by one.
    pub(crate) const fn if_faster(map: &ByteMap, stride: i64) -> Option<Self> {
        if stride.unsigned_abs() > Self::FURTHEST {
            return None;
        }
        Self::worth(map, stride, Self::FEWEST_MOVES)
    }

    /// As [`worth`](Self::worth), where the records are not too far apart for it.
    pub(crate) const fn if_near(map: &ByteMap, stride: i64) -> Option<Self> {
        if stride.unsigned_abs() > Self::FURTHEST {
            return None;
        }
        Self::worth(map, stride, 0)
    }

    /// Records that are `stride` bytes apart, where they take at least that many moves for each vector of memory;
    /// `None` where they do not, or the window is too small for the data of one.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bytes of a window, and displacements of data in memory"
    )]
    const fn worth(map: &ByteMap, stride: i64, moves: usize) -> Option<Self> {
        let first = map.first.wrapping_add(map.least as i64);
        let span = map.greatest as i64 - map.least as i64 + 1;
        if map.len == 0
            || span > 2 * WIDTH as i64
            || stride as isize as i64 != stride
            || first as isize as i64 != first
        {
            return None;
        }
        let is_wide = span > WIDTH as i64;
        let mut records = 1;
        // Records that are apart, so that a window's data can be cut between any two of them.
        if stride >= span && !is_wide {
            let (fit, lie) = (WIDTH / map.len, (WIDTH as i64 - span) / stride + 1);
            records = if fit < lie as usize { fit } else { lie as usize };
        }
        let vectors = if is_wide { 2 } else { 1 };
        let all_moves = records * map.moves;
        if all_moves < moves * vectors || all_moves == moves && records * map.len == 16 * moves {
            return None;
        }
        let mut all = Self {
            gather: [0; WIDTH],
            scatter: [[0; WIDTH]; 2],
            data: [0; 2],
            records,
            size: map.len,
            stride: stride as isize,
            first: first as isize,
            is_wide,
            fewest: Self::MOVES_OF_A_CALL.div_ceil(map.moves),
        };
        let mut packed = 0;
        let mut record = 0;
        while record < records {
            let origin = record as i64 * stride - map.least as i64;
            let mut k = 0;
            while k < map.len {
                let byte = (map.offsets[k] as i64 + origin) as usize;
                all.gather[packed] = byte as u8;
                all.scatter[byte / WIDTH][byte % WIDTH] = packed as u8;
                all.data[byte / WIDTH] |= 1 << (byte % WIDTH);
                packed += 1;
                k += 1;
            }
            record += 1;
        }
        Some(all)
    }

    /// Packed bytes of a record.
    pub(crate) const fn size(&self) -> usize {
        self.size
    }

    /// So many records are worth the call, where the alternative is code made for them, part of the caller.
    pub(crate) const fn fewest(&self) -> usize {
        self.fewest
    }
}

/// What executes a permutation looks at.
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "nothing executes one here"))]
impl Permutation {
    /// The same with the packed bytes of each value reversed, all of which have `W` bytes, a power of two.
    #[inline]
    pub(crate) fn reversed<const W: usize>(&self) -> Self {
        let mut all = self.clone();
        let (values, _) = all.gather.as_chunks_mut::<W>();
        for value in values {
            value.reverse();
        }
        #[expect(clippy::cast_possible_truncation, reason = "less than 16")]
        for byte in all.scatter.as_flattened_mut() {
            *byte ^= W as u8 - 1;
        }
        all
    }

    /// For each packed byte of a period, which byte of the window it is.
    pub(crate) const fn gather(&self) -> &[u8; 64] {
        &self.gather
    }

    /// For each byte of the window, which packed byte of a period it is.
    pub(crate) const fn scatter(&self) -> &[[u8; 64]; 2] {
        &self.scatter
    }

    /// Which bytes of the window are data, one bit each.
    pub(crate) const fn data(&self) -> [u64; 2] {
        self.data
    }

    /// Records in a period.
    pub(crate) const fn records(&self) -> usize {
        self.records
    }

    /// Bytes of memory from one record to the next.
    pub(crate) const fn stride(&self) -> isize {
        self.stride
    }

    /// Displacement in bytes of the window from the origin of its first record.
    pub(crate) const fn first(&self) -> isize {
        self.first
    }

    /// Vectors of memory in the window: 1 or 2.
    pub(crate) const fn vectors(&self) -> usize {
        if self.is_wide { 2 } else { 1 }
    }
}

impl core::fmt::Debug for Permutation {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { records, size, stride, .. } = self;
        write!(f, "Permutation({records} records of {size} bytes at once, {stride} bytes apart)")
    }
}
