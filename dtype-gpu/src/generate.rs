//! The sources of the kernels of a layout: its numbers as constants in front of the texts in the folder `kernels`.

use core::fmt::Write as _;

use dtype_runtime::Committed;

use crate::layout::{Repeat, widest_word};
use crate::nest::Nest;
use crate::source::Source;

/// Which way bytes move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the layout to packed bytes.
    Pack,
    /// From packed bytes to the layout.
    Unpack,
}

/// Threads of a group, except where a kernel needs a multiple of something.
pub(crate) const THREADS: u32 = 256;

/// The furthest distance between records whose bytes are permuted, in bytes.
const FURTHEST: u64 = 256;

/// Records of few bytes at equal distances, each inside its extent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Records {
    /// The displacement of the first byte of memory that is data.
    pub(crate) disp: i64,
    /// Bytes from one record to the next.
    pub(crate) extent: u64,
    /// Packed bytes of a record.
    pub(crate) size: u64,
    /// Bytes of memory from the first byte of data to the end of the last.
    span: u64,
    /// For each packed byte, how many bytes past `disp` it is.
    places: Vec<u64>,
}

/// Any number as a constant of 64 bits in either dialect.
pub(crate) fn constant(number: i64) -> String {
    format!("(u64){:#x}", number.cast_unsigned())
}

/// The kernels that pack, or unpack, whole instances of a type between buffers that are aligned as the type needs, for tools
/// that compile them or show them. None for a type without data, or without gaps.
///
/// ```
/// use dtype_gpu::generate::{Direction, sources};
/// use dtype_gpu::source::Dialect;
/// use dtype_runtime::{Basic, Type};
///
/// let column = Type::vector(100, 1, 33, &Type::basic(Basic::F64))?.commit();
/// let [kernel] = &sources(&column, Direction::Pack)[..] else { panic!("one kernel") };
/// let text = kernel.text(Dialect::OpenClC);
/// assert!(text.contains("place += (u64)rest * (u64)0x108;"), "{text}");
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
pub fn sources(committed: &Committed, direction: Direction) -> Vec<Source> {
    let Some(layout) = Repeat::of(committed).filter(|layout| !layout.is_run()) else {
        return Vec::new();
    };
    let unit = layout.unit();
    let words = match Nest::of(&layout) {
        Some(nest) => nest.source(direction, unit, false),
        None => walk(direction, unit),
    };
    let records = Records::of(&layout).map(|records| match direction {
        Direction::Pack => records.gather(0),
        Direction::Unpack => records.scatter(),
    });
    records.into_iter().chain([words]).collect()
}

/// The type of a word and how it moves.
pub(crate) fn word(direction: Direction, bytes: u64) -> String {
    let bits = 8 * bytes;
    let moves = match direction {
        Direction::Pack => "(packed_word) = (memory_word)",
        Direction::Unpack => "(memory_word) = (packed_word)",
    };
    format!("#define WORD u{bits}\n#define MOVE(memory_word, packed_word) {moves}\n")
}

/// The kernel for any layout, by words of so many bytes.
pub(crate) fn walk(direction: Direction, bytes: u64) -> Source {
    let body = word(direction, bytes) + include_str!("kernels/walk.c");
    Source { name: "walk", threads: THREADS, body }
}

impl Records {
    /// The records that a layout is; `None` if it is another one, or if words of four bytes copy it well.
    pub(crate) fn of(layout: &Repeat) -> Option<Self> {
        let extent = u64::try_from(layout.stride).ok().filter(|extent| *extent <= FURTHEST)?;
        let runs = layout.runs(FURTHEST as usize)?;
        if runs.len() == 1 && layout.unit() >= 4 {
            return None;
        }
        let least = runs.iter().map(|run| run.disp).min()?;
        let mut places = Vec::new();
        for run in &runs {
            let place = run.disp.checked_sub(least)?.cast_unsigned();
            if place >= extent || run.len > extent - place {
                return None;
            }
            places.extend(place..place + run.len);
        }
        let span = places.iter().max()? + 1;
        let (disp, size) = (layout.disp.wrapping_add(least), places.len() as u64);
        // A byte that is named twice needs room that the tables do not have.
        (size <= extent).then_some(Self { disp, extent, size, span, places })
    }

    /// Records of a group of threads.
    pub(crate) fn of_group(&self, direction: Direction) -> u64 {
        let memory = match direction {
            Direction::Pack if self.extent <= 128 => 8192,
            Direction::Pack => 16384,
            Direction::Unpack => 4096,
        };
        // A multiple of 16, so that all groups are equally aligned.
        (memory / self.extent / 16 * 16).max(16)
    }

    fn constants(&self, direction: Direction) -> String {
        let Self { extent, size, span, .. } = self;
        let records = self.of_group(direction);
        format!(
            "#define EXTENT {extent}\n#define SIZE {size}\n#define SPAN {span}\n#define RECORDS {records}\n"
        )
    }

    /// The kernel that packs, if the first byte of data of the first record has an address that is `misaligned` bytes past one
    /// that 4 divides.
    pub(crate) fn gather(&self, misaligned: u64) -> Source {
        let joined =
            (4 / widest_word([self.extent]).min(4)).max(4 / widest_word([self.size]).min(4));
        let source = |byte: u64| {
            misaligned + byte / self.size * self.extent + self.places[(byte % self.size) as usize]
        };
        let mut steps = String::new();
        for word in 0..joined * self.size / 4 {
            let bytes = [0, 1, 2, 3].map(|k| source(4 * word + k));
            let _ = writeln!(steps, "        p[{word}] = {};", gathered(bytes));
        }
        let mut body =
            include_str!("kernels/staging.c").to_owned() + &self.constants(Direction::Pack);
        let _ = writeln!(body, "#define JOINED {joined}\n#define MISALIGNED {misaligned}");
        let _ = writeln!(body, "CONSTANT u16 place[] = {{{}}};", list(&self.places));
        body += &include_str!("kernels/gather.c").replace("/*steps*/", &steps);
        Source { name: "gather", threads: THREADS, body }
    }

    /// The kernel that unpacks.
    pub(crate) fn scatter(&self) -> Source {
        let mut inverse = vec![-1; self.extent as usize];
        for (packed, place) in (0..).zip(&self.places) {
            inverse[*place as usize] = packed;
        }
        let mut body =
            include_str!("kernels/staging.c").to_owned() + &self.constants(Direction::Unpack);
        let _ = writeln!(body, "CONSTANT short packed_place[] = {{{}}};", list(&inverse));
        body += include_str!("kernels/scatter.c");
        let threads = self.extent as u32 * (THREADS / self.extent as u32);
        Source { name: "scatter", threads, body }
    }
}

fn list<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

/// An expression: a word of four bytes, each of which is one of the bytes of the words `w`.
fn gathered(bytes: [u64; 4]) -> String {
    let [first, ..] = bytes;
    if bytes == [first, first + 1, first + 2, first + 3] && first % 4 == 0 {
        return format!("w[{}]", first / 4);
    }
    // Each permutation takes two words, so up to four words take two permutations and one that joins them.
    let mut words: Vec<u64> = Vec::new();
    for byte in bytes {
        if !words.contains(&(byte / 4)) {
            words.push(byte / 4);
        }
    }
    let permuted = |words: &[u64]| {
        let (low, high) = (words[0], words[words.len() - 1]);
        let mut selector = 0;
        for (k, byte) in (0..).zip(bytes) {
            let from_high = u64::from(byte / 4 == high && high != low);
            if words.contains(&(byte / 4)) {
                selector |= (byte % 4 + 4 * from_high) << (4 * k);
            }
        }
        format!("PERMUTE(w[{low}], w[{high}], {selector:#x})")
    };
    match words.as_slice() {
        [_] | [_, _] => permuted(&words),
        _ => {
            let (two, rest) = words.split_at(2);
            let mut selector = 0;
            for (k, byte) in (0..).zip(bytes) {
                let from_rest = u64::from(rest.contains(&(byte / 4)));
                selector |= (k + 4 * from_rest) << (4 * k);
            }
            format!("PERMUTE({}, {}, {selector:#x})", permuted(two), permuted(rest))
        }
    }
}
