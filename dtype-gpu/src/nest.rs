//! The kernel for a layout of a few repetitions: code that finds a word, with all numbers as constants.

use crate::layout::{Block, Body, Repeat, WIDEST, widest_word};
use crate::source::{Direction, Source, THREADS, constant, define, word};

/// Code for more repetitions than this would take long to compile.
const MAX_NODES: usize = 64;

/// Runs of this many bytes are dense wherever they lie.
const LONG: u64 = 128;

/// The greatest number of words that a thread moves.
const MAX_EACH: u64 = 8;

/// A few repetitions, with their lists as one table of offsets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Nest {
    instances: Node,
    /// The offsets of the blocks of all lists.
    offsets: Vec<u32>,
    /// Whether all runs and lists are dense.
    is_dense: bool,
}

/// A repetition, as in [`Repeat`].
#[derive(Clone, Debug, PartialEq, Eq)]
struct Node {
    disp: i64,
    count: u64,
    stride: i64,
    size: u64,
    inner: Inner,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Inner {
    /// A run. It is dense if it is long, or if the repetition that it is in has at least as much data as gaps.
    Run {
        is_dense: bool,
    },
    /// Blocks of `len` bytes. Their offsets, in units of `unit` bytes, start at index `first` in the table.
    List {
        len: u64,
        unit: u64,
        first: usize,
    },
    Several(Vec<Node>),
}

/// The code being written, and the parameters of the kernel.
struct Code {
    text: String,
    direction: Direction,
    /// Bytes of a word.
    bytes: u64,
}

impl Nest {
    /// The nest of a layout; `None` if it has too many repetitions, or lists of unequal blocks.
    pub(crate) fn of(layout: &Repeat) -> Option<Self> {
        let (mut offsets, mut left) = (Vec::new(), MAX_NODES);
        let instances = Node::of(layout, false, &mut offsets, &mut left)?;
        let is_dense = instances.is_dense();
        Some(Self { instances, offsets, is_dense })
    }

    /// The table for the kernel's last argument.
    pub(crate) fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// The kernel by words of `bytes` bytes. If `is_wide`, the number of a word has 64 bits.
    pub(crate) fn source(&self, direction: Direction, bytes: u64, is_wide: bool) -> Source {
        let mut code = Code { text: String::new(), direction, bytes };
        code.node(&self.instances, 2);
        let index = if is_wide { "u64" } else { "u32" };
        let mut body = word(direction, bytes);
        body += &define("INDEX", index);
        body += &define("EACH", self.each(bytes));
        body += &include_str!("kernels/nest.c").replace("/*steps*/", &code.text);
        Source { name: "nest", threads: THREADS, body }
    }

    /// The words of `bytes` bytes that a thread moves. If all threads move one short word each, the memory is not busy. Where
    /// most sectors have only a few bytes of data, more words for each thread are slower.
    pub(crate) fn each(&self, bytes: u64) -> u64 {
        if self.is_dense { (WIDEST / bytes).min(MAX_EACH) } else { 1 }
    }
}

impl Node {
    /// `is_dense` says whether the repetition around this one has at least as much data as gaps.
    fn of(
        repeat: &Repeat,
        is_dense: bool,
        offsets: &mut Vec<u32>,
        left: &mut usize,
    ) -> Option<Self> {
        *left = left.checked_sub(1)?;
        let Repeat { mut disp, count, stride, size, ref body } = *repeat;
        let is_dense = if count > 1 { size >= stride.unsigned_abs().div_ceil(2) } else { is_dense };
        let inner = match body {
            Body::Run => Inner::Run { is_dense: is_dense || size >= LONG },
            Body::List(blocks) => match list(blocks, offsets) {
                Some((list, least)) => {
                    disp = disp.wrapping_add(least);
                    list
                }
                None => Inner::Several(
                    blocks
                        .iter()
                        .map(|block| Self::of(&block.repeat(), is_dense, offsets, left))
                        .collect::<Option<_>>()?,
                ),
            },
            Body::Several(all) => {
                let nodes = all.iter().map(|repeat| Self::of(repeat, is_dense, offsets, left));
                Inner::Several(nodes.collect::<Option<_>>()?)
            }
        };
        Some(Self { disp, count, stride, size, inner })
    }

    fn is_dense(&self) -> bool {
        match &self.inner {
            Inner::Run { is_dense } => *is_dense,
            Inner::List { len, .. } => *len >= LONG,
            Inner::Several(all) => all.iter().all(Self::is_dense),
        }
    }
}

/// A list of blocks of equal length that lie less than 2³² units apart, and its least displacement. Adds the list's offsets to
/// the table.
fn list(blocks: &[Block], offsets: &mut Vec<u32>) -> Option<(Inner, i64)> {
    let len = blocks.first()?.len;
    if blocks.iter().any(|block| block.len != len) {
        return None;
    }
    let (short, unit, least) = short_offsets(blocks)?;
    let first = offsets.len();
    offsets.extend(short);
    Some((Inner::List { len, unit, first }, least))
}

/// The offsets of blocks from the least displacement, in units of a power of two; also the unit and that displacement. `None`
/// if the offsets do not fit 32 bits.
pub(crate) fn short_offsets(blocks: &[Block]) -> Option<(Vec<u32>, u64, i64)> {
    let least = blocks.iter().map(|block| block.disp).min()?;
    let offset = |block: &Block| block.disp.checked_sub(least).map(i64::cast_unsigned);
    let offsets = blocks.iter().map(offset).collect::<Option<Vec<u64>>>()?;
    let unit = widest_word(offsets.iter().copied());
    let short = offsets.iter().map(|offset| u32::try_from(offset / unit).ok());
    Some((short.collect::<Option<_>>()?, unit, least))
}

impl Code {
    fn line(&mut self, depth: usize, text: &str) {
        for _ in 0..depth {
            self.text.push_str("    ");
        }
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Adds the displacement of word `rest` of the iterations to `place`.
    fn node(&mut self, node: &Node, depth: usize) {
        let Node { disp, count, stride, size, ref inner } = *node;
        let words = size / self.bytes;
        if disp != 0 {
            self.line(depth, &format!("place += {};", constant(disp)));
        }
        if count > 1 {
            self.line(depth, &format!("i = rest / {words};"));
            self.line(depth, &format!("place += (u64)i * {};", constant(stride)));
            self.line(depth, &format!("rest -= i * {words};"));
        }
        match *inner {
            Inner::Run { is_dense } => self.block(words, is_dense, depth),
            Inner::List { len, unit, first } => {
                let words = len / self.bytes;
                self.line(depth, &format!("i = rest / {words};"));
                self.line(depth, &format!("place += (u64)offsets[{first} + i] * {unit};"));
                self.line(depth, &format!("rest -= i * {words};"));
                self.block(words, true, depth);
            }
            Inner::Several(ref all) => {
                let starts = all.iter().scan(0, |next, node| {
                    let start = *next;
                    *next += node.size * node.count / self.bytes;
                    Some((start, node))
                });
                self.several(&starts.collect::<Vec<_>>(), depth);
            }
        }
    }

    /// Adds the displacement of word `rest` of a block to `place`. If `fills`, a block that is written is first fetched where it
    /// covers a sector in part. This is faster for lists and dense runs; for sparse runs at equal distances it is slower.
    fn block(&mut self, words: u64, fills: bool, depth: usize) {
        self.line(depth, &format!("place += (u64)rest * {};", self.bytes));
        if fills && self.direction == Direction::Unpack {
            self.line(depth, &format!("FILL(memory + place, rest, {words});"));
        }
    }

    /// As `node`, for whichever of several repetitions the word is in. Each has the number of its first word.
    fn several(&mut self, all: &[(u64, &Node)], depth: usize) {
        let (front, back) = all.split_at(all.len() / 2);
        match (front, back) {
            ([], [(0, only)]) => self.node(only, depth),
            ([], [(start, only)]) => {
                self.line(depth, &format!("rest -= {start};"));
                self.node(only, depth);
            }
            (_, [(middle, _), ..]) => {
                self.line(depth, &format!("if (rest < {middle}) {{"));
                self.several(front, depth + 1);
                self.line(depth, "} else {");
                self.several(back, depth + 1);
                self.line(depth, "}");
            }
            (_, []) => {}
        }
    }
}
