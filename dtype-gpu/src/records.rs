//! The kernels for small records: their memory passes through local memory, and their bytes have constant places.

use core::fmt::Write as _;
use core::ops::Range;

use crate::layout::{Repeat, widest_word};
use crate::source::{Direction, Source, THREADS, define};
use crate::special::{Launch, Special};

/// The greatest distance in bytes between records whose bytes are permuted.
const FURTHEST: u64 = 256;

/// The greatest number of bytes of records that a thread keeps in registers.
const MAX_IN_REGISTERS: u64 = 128;

/// The least local memory of a group, in bytes, that OpenCL guarantees.
const LOCAL_MEMORY: u64 = 32768;

/// Small records at equal distances. Each lies inside its extent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Records {
    /// The displacement of the first byte of memory that is data.
    disp: i64,
    /// Bytes from one record to the next.
    extent: u64,
    /// Packed bytes of a record.
    size: u64,
    /// Bytes of memory from the first byte of data to the end of the last.
    span: u64,
    /// For each packed byte, how many bytes past `disp` it is.
    places: Vec<u64>,
    /// The widest word, in bytes, that divides all runs, their places and the extent.
    unit: u64,
}

impl Records {
    /// The records of a layout; `None` if it does not consist of records, or if each record is a run that words copy well:
    /// words of eight bytes or more, or a single word of four.
    pub(crate) fn of(layout: &Repeat) -> Option<Self> {
        let extent = u64::try_from(layout.stride).ok().filter(|extent| *extent <= FURTHEST)?;
        let runs = layout.runs(FURTHEST as usize)?;
        let unit = widest_word([layout.unit(), extent]);
        if let [run] = runs.as_slice()
            && (unit >= 8 || unit == 4 && run.len == 4)
        {
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
        (size <= extent).then_some(Self { disp, extent, size, span, places, unit })
    }

    /// Records of a group of threads in a variant of the kernel.
    fn of_group(&self, direction: Direction, variant: u64) -> u64 {
        let memory = match direction {
            Direction::Pack if self.extent <= 128 => 8192,
            Direction::Pack => 16384,
            Direction::Unpack if variant >= 4 => 8192,
            Direction::Unpack => 4096,
        };
        // Packing keeps both sides in local memory, of which each device has at least this much.
        let most = (LOCAL_MEMORY - 64) / (self.extent + self.size);
        // A multiple of 16, so that all groups have the same alignment.
        ((memory / self.extent).min(most) / 16 * 16).max(16)
    }

    fn constants(&self, direction: Direction, variant: u64) -> String {
        define("EXTENT", self.extent)
            + &define("SIZE", self.size)
            + &define("SPAN", self.span)
            + &define("RECORDS", self.of_group(direction, variant))
    }

    /// The least number of records that together are whole words of four bytes on both sides.
    fn joined(&self) -> u64 {
        (4 / widest_word([self.extent]).min(4)).max(4 / widest_word([self.size]).min(4))
    }

    /// The number of bytes that a thread reads at a time: 16 if few joined records have them, because reads of 4 bytes at such
    /// distances use only a few banks of the local memory.
    fn read(&self) -> u64 {
        let bytes = self.joined() * self.extent;
        if bytes.is_multiple_of(16) && bytes <= MAX_IN_REGISTERS { 16 } else { 4 }
    }

    /// The kernel that packs, for records whose first byte of data has an address `misaligned` bytes after a multiple of
    /// [`read`](Self::read).
    fn gather(&self, misaligned: u64) -> Source {
        let joined = self.joined();
        let source = |byte: u64| {
            misaligned + byte / self.size * self.extent + self.places[(byte % self.size) as usize]
        };
        let mut steps = String::new();
        let words: fn(u64) -> String = if self.read() == 16 {
            let end = misaligned + (joined - 1) * self.extent + self.span;
            for quad in 0..end.div_ceil(16) {
                let _ = writeln!(steps, "        u128 q{quad} = ((LOCAL const u128 *)w)[{quad}];");
            }
            |word| format!("q{}.{}", word / 4, ["x", "y", "z", "w"][(word % 4) as usize])
        } else {
            |word| format!("w[{word}]")
        };
        for word in 0..joined * self.size / 4 {
            let bytes = [0, 1, 2, 3].map(|k| source(4 * word + k));
            let _ = writeln!(steps, "        p[{word}] = {};", gathered(bytes, words));
        }
        let mut body = include_str!("kernels/staging.c").to_owned()
            + &self.constants(Direction::Pack, misaligned);
        body += &define("JOINED", joined);
        body += &define("READ", self.read());
        body += &define("MISALIGNED", misaligned);
        let _ = writeln!(body, "CONSTANT u16 place[] = {{{}}};", list(&self.places));
        body += &include_str!("kernels/gather.c").replace("/*steps*/", &steps);
        Source { name: "gather", threads: THREADS, body }
    }

    /// The kernel that unpacks by words of `bytes` bytes. This number must divide the runs, and the addresses of both sides.
    fn scatter(&self, bytes: u64) -> Source {
        let words = (self.extent / bytes) as usize;
        let mut inverse = vec![-1; words];
        for (packed, place) in (0..).zip(&self.places).step_by(bytes as usize) {
            inverse[(place / bytes) as usize] = packed;
        }
        let mut body = include_str!("kernels/staging.c").to_owned()
            + &self.constants(Direction::Unpack, bytes)
            + &define("WORD", format_args!("u{}", 8 * bytes));
        let _ = writeln!(body, "CONSTANT short packed_place[] = {{{}}};", list(&inverse));
        body += include_str!("kernels/scatter.c");
        let threads = words as u32 * (THREADS / words as u32);
        Source { name: "scatter", threads, body }
    }
}

impl Special for Records {
    fn granule(&self) -> u64 {
        self.size
    }

    fn alignment(&self) -> u64 {
        1
    }

    fn launch(&self, direction: Direction, origin: u64, start: u64, range: Range<u64>) -> Launch {
        let Self { disp, extent, size, .. } = *self;
        let before = range.start / size;
        let origin = origin.wrapping_add(disp.cast_unsigned());
        let origin = origin.wrapping_add(before.wrapping_mul(extent));
        let at = start.wrapping_add(range.start);
        let records = range.end / size - before;
        let variant = match direction {
            Direction::Pack => origin % self.read(),
            Direction::Unpack => widest_word([self.unit, origin, at]),
        };
        let groups = records.div_ceil(self.of_group(direction, variant));
        Launch { variant, groups, origin, at, numbers: vec![records] }
    }

    fn source(&self, direction: Direction, variant: u64) -> Source {
        match direction {
            Direction::Pack => self.gather(variant),
            Direction::Unpack => self.scatter(variant),
        }
    }
}

fn list<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

/// An expression for a word of four bytes, each of which is one of the bytes of the numbered words.
fn gathered(bytes: [u64; 4], word: fn(u64) -> String) -> String {
    let [first, ..] = bytes;
    if bytes == [first, first + 1, first + 2, first + 3] && first % 4 == 0 {
        return word(first / 4);
    }
    // Each permutation takes two words, so up to four words take two permutations and a third that joins the results.
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
        format!("PERMUTE({}, {}, {selector:#x})", word(low), word(high))
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
