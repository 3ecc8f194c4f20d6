//! The messages between two workers for packed puts and gets.
//!
//! A request names the memory, and a range of the packed bytes of a layout. After it come the parts of the layout, and the
//! packed bytes of a put:
//!
//! ```text
//! request   token, memory, base, run, position, length, number of parts, kind
//! parts     rows of repetitions {count, stride}, outermost first, of runs of `run` bytes from `base` on;
//!           or blocks {displacement, length}
//! data      the packed bytes from `position` on, `length` of them, of a put
//! ```
//!
//! A reply repeats the token and says whether the request was refused. After it come the packed bytes of a get.
//!
//! The column of a matrix of 3 × 4 `u16` that starts at byte 6 is one row, {count 3, stride 8}, with base 6 and a run of 2
//! bytes.
//!
//! A request can only be decoded to a [`Region`] that lies in the memory: [`Request::region`] computes what the parts name,
//! with arithmetic that cannot overflow.

use dtype_runtime::{Basic, Committed, Datatype, Type};

use crate::error::Refusal;

/// The greatest number of packed bytes in one request.
pub(crate) const MAX_BYTES: usize = 1 << 18;
/// The greatest number of blocks in one request, and the greatest number of rows.
pub(crate) const MAX_BLOCKS: usize = 1 << 13;
pub(crate) const MAX_ROWS: usize = 32;

/// The operations of a request.
pub(crate) const PUT: u8 = 1;
pub(crate) const GET: u8 = 2;
/// Added to the operation if the parts are blocks.
pub(crate) const OF_BLOCKS: u8 = 16;

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
pub(crate) struct Request {
    /// The token, which the reply repeats.
    pub(crate) token: u64,
    /// The number of the memory.
    pub(crate) memory: u64,
    /// The displacement of the first run in the memory. Like the next two fields, only for rows.
    pub(crate) base: i64,
    /// The length of a run.
    pub(crate) run: u64,
    /// The first packed byte to transfer.
    pub(crate) position: u64,
    /// The number of packed bytes.
    pub(crate) length: u64,
    pub(crate) parts: u32,
    pub(crate) kind: u8,
}

/// A repetition.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) count: u64,
    pub(crate) stride: i64,
}

/// A block; its displacement is relative to the start of the memory.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
pub(crate) struct Block {
    pub(crate) displacement: i64,
    pub(crate) length: u64,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reply {
    pub(crate) token: u64,
    /// 0, or the code of a [`Refusal`].
    pub(crate) refusal: u8,
}

/// Where packed bytes belong. All of these places lie in the memory whose length was passed to [`Request::region`].
pub(crate) enum Region {
    /// The bytes from a position on, in a layout whose displacement 0 is at `origin`.
    Rows {
        layout: Committed,
        origin: i64,
        position: u64,
        length: usize,
    },
    Blocks(Vec<Block>),
}

/// Splits a message into the record at its start and the rest.
pub(crate) fn split<T: Datatype>(message: &[u8]) -> Option<(T, &[u8])> {
    let (start, rest) = message.split_at_checked(T::TYPE_MAP.size())?;
    Some((dtype_runtime::unpack_one(start).ok()?, rest))
}

impl Request {
    /// The length of a packed request.
    pub(crate) const SIZE: usize = Self::TYPE_MAP.size();

    pub(crate) fn is_put(&self) -> bool {
        self.kind & !OF_BLOCKS == PUT
    }

    /// Splits the bytes after the request into the parts and the packed bytes, and checks the request against a memory of `len`
    /// bytes.
    pub(crate) fn region<'p>(
        &self,
        payload: &'p [u8],
        len: usize,
    ) -> Result<(Region, &'p [u8]), Refusal> {
        let of_blocks = self.kind & OF_BLOCKS != 0;
        let known = matches!(self.kind & !OF_BLOCKS, PUT | GET);
        let size = if of_blocks { Block::TYPE_MAP.size() } else { Row::TYPE_MAP.size() };
        let max = if of_blocks { MAX_BLOCKS } else { MAX_ROWS };
        let parts = usize::try_from(self.parts).ok().filter(|&parts| known && parts <= max);
        let (parts, packed) = parts
            .and_then(|parts| payload.split_at_checked(parts * size))
            .ok_or(Refusal::Malformed)?;
        let length = usize::try_from(self.length).ok().filter(|&length| {
            length <= MAX_BYTES && packed.len() == if self.is_put() { length } else { 0 }
        });
        let length = length.ok_or(Refusal::Malformed)?;
        let region =
            if of_blocks { blocks(parts, length, len)? } else { self.rows(parts, length, len)? };
        Ok((region, packed))
    }

    fn rows(&self, rows: &[u8], length: usize, len: usize) -> Result<Region, Refusal> {
        let malformed = |_| Refusal::Malformed;
        let rows: Vec<Row> = dtype_runtime::unpack(rows).map_err(malformed)?;
        // This also means that there are no more runs than bytes.
        if self.run == 0 || rows.iter().any(|row| row.count == 0) {
            return Err(Refusal::Malformed);
        }
        let run = Type::contiguous(self.run, &Type::basic(Basic::U8)).map_err(malformed)?;
        let layout = rows
            .iter()
            .rev()
            .try_fold(run, |ty, row| Type::hvector(row.count, 1, row.stride, &ty))
            .map_err(malformed)?
            .commit();
        let size = layout.packed_size(1).map_err(malformed)? as u64;
        if self.position.checked_add(self.length).is_none_or(|end| end > size) {
            return Err(Refusal::Malformed);
        }
        layout.check_span(len as u64, self.base.into(), 1).map_err(|_| Refusal::Outside)?;
        Ok(Region::Rows { layout, origin: self.base, position: self.position, length })
    }
}

fn blocks(blocks: &[u8], length: usize, len: usize) -> Result<Region, Refusal> {
    let blocks: Vec<Block> = dtype_runtime::unpack(blocks).map_err(|_| Refusal::Malformed)?;
    let mut total = 0_u64;
    for Block { displacement, length } in &blocks {
        let end = i128::from(*displacement) + i128::from(*length);
        if *displacement < 0 || end > len as i128 {
            return Err(Refusal::Outside);
        }
        // A block is no longer than the memory, and there are few, so the sum is small.
        total = total.checked_add(*length).ok_or(Refusal::Malformed)?;
    }
    if total == length as u64 { Ok(Region::Blocks(blocks)) } else { Err(Refusal::Malformed) }
}

impl Region {
    /// Calls a function with the displacement and the length of each segment, in the order of the packed bytes.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(usize, usize)) -> Result<(), Refusal> {
        // Displacement and length lie in the memory, so they fit.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "in the memory"
        )]
        let mut visit =
            |displacement: i64, length: u64| visit(displacement as usize, length as usize);
        match self {
            Self::Rows { layout, origin, position, length } => {
                let range = *position..*position + *length as u64;
                for segment in layout.iov(1, range).map_err(|_| Refusal::Malformed)? {
                    visit(origin + segment.disp, segment.len);
                }
            }
            Self::Blocks(blocks) => {
                for block in blocks {
                    visit(block.displacement, block.length);
                }
            }
        }
        Ok(())
    }

    /// The number of packed bytes.
    pub(crate) fn length(&self) -> usize {
        match self {
            Self::Rows { length, .. } => *length,
            // `blocks` has checked the sum.
            Self::Blocks(blocks) => {
                blocks.iter().map(|block| usize::try_from(block.length).unwrap_or(0)).sum()
            }
        }
    }
}

#[cfg(test)]
mod tests;
