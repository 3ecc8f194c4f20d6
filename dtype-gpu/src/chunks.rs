//! The kernel for lists of blocks of unequal lengths.

use core::ops::Range;

use crate::layout::{Body, Repeat};
use crate::nest::short_offsets;
use crate::source::{Direction, Source, constant, define, word};
use crate::special::{Launch, Special};

/// Packed words of a chunk.
const CHUNK: u64 = 512;

/// Threads of a group. Each finds the blocks of a few words.
const THREADS: u32 = 128;

/// With fewer blocks than this, comparisons find the block.
const FEWEST: usize = 17;

/// A list of blocks of unequal lengths, repeated for each instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunks {
    disp: i64,
    /// Bytes from one instance to the next.
    stride: i64,
    /// Bytes of a word: lengths and offsets are multiples of it.
    word: u64,
    /// Words of an instance.
    words: u64,
    blocks: usize,
    table: Vec<u32>,
}

impl Chunks {
    /// The list that each instance consists of; `None` if it is something else, or if its words need more than 32 bits to
    /// count.
    pub(crate) fn of(layout: &Repeat) -> Option<Self> {
        let Body::List(blocks) = &layout.body else { return None };
        let word = layout.unit();
        let is_even = blocks.iter().all(|block| block.len == blocks[0].len);
        if is_even || blocks.len() < FEWEST {
            return None;
        }
        let words = u32::try_from(layout.size / word).ok().filter(|words| *words < 1 << 31)?;
        let (offsets, unit, least) = short_offsets(blocks)?;
        let mut starts = vec![0];
        for block in blocks {
            // The last start is the number of all words.
            starts.push(starts[starts.len() - 1] + (block.len / word) as u32);
        }
        let shift = |(offset, start): (u32, &u32)| {
            let offset = u32::try_from(u64::from(offset) * (unit / word)).ok()?;
            // The offsets of all words of the block must fit 32 bits, too.
            offset.checked_add(words).map(|_| offset.wrapping_sub(*start))
        };
        let shifts: Vec<u32> =
            offsets.into_iter().zip(&starts).map(shift).collect::<Option<_>>()?;
        let (mut table, mut block) = (Vec::new(), 0);
        for first in (0..words).step_by(CHUNK as usize) {
            while starts[block + 1] <= first {
                block += 1;
            }
            table.push(block as u32);
        }
        table.push(blocks.len() as u32 - 1);
        table.extend(starts);
        table.extend(shifts);
        let (disp, stride) = (layout.disp.wrapping_add(least), layout.stride);
        Some(Self { disp, stride, word, words: words.into(), blocks: blocks.len(), table })
    }
}

impl Special for Chunks {
    fn granule(&self) -> u64 {
        self.word
    }

    fn alignment(&self) -> u64 {
        self.word
    }

    fn launch(&self, _: Direction, origin: u64, start: u64, range: Range<u64>) -> Launch {
        let (first, end) = (range.start / self.word, range.end / self.word);
        // The chunk of a word, counted over all instances.
        let chunk =
            |word: u64| word / self.words * self.words.div_ceil(CHUNK) + word % self.words / CHUNK;
        Launch {
            variant: 0,
            groups: chunk(end - 1) - chunk(first) + 1,
            origin: origin.wrapping_add(self.disp.cast_unsigned()),
            at: start.wrapping_add(range.start),
            numbers: vec![first, end - first],
        }
    }

    fn source(&self, direction: Direction, _: u64) -> Source {
        let Self { words, blocks, .. } = self;
        let mut body = word(direction, self.word);
        body += &define("CHUNK", CHUNK);
        body += &define("CHUNKS", words.div_ceil(CHUNK));
        body += &define("WORDS", words);
        body += &define("BLOCKS", blocks);
        body += &define("STRIDE", constant(self.stride));
        body += include_str!("kernels/chunks.c");
        Source { name: "chunks", threads: THREADS, body }
    }

    fn table(&self) -> &[u32] {
        &self.table
    }
}
