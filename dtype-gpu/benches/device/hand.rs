//! Kernels written by hand, for one layout each: `hand.cu` with the layout's numbers in front.

use std::fmt::Write as _;

use dtype_gpu::source::Source;

/// What a kernel does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Pack,
    Unpack,
}

/// A kernel for one layout.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub(crate) direction: Direction,
    pub(crate) source: Source,
    /// Units (records, words, tiles) of an instance, and how many of them a group takes.
    pub(crate) units: u64,
    pub(crate) per_group: u64,
}

/// The kernels for a layout, and the numbers that they read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hand {
    pub(crate) forms: Vec<Form>,
    pub(crate) lists: [Vec<u32>; 2],
}

fn form(
    direction: Direction,
    name: &'static str,
    macros: &str,
    threads: u32,
    units: u64,
    per_group: u64,
) -> Form {
    let body = format!("{macros}{}", include_str!("hand.cu"));
    Form { direction, source: Source { name, threads, body }, units, per_group }
}

/// The largest number of records, a multiple of 16, in a tile of these bytes.
fn records_in(bytes: u64, extent: u64) -> u64 {
    (bytes / extent / 16 * 16).max(16)
}

/// Records of `extent` bytes with data in the runs (displacement, length).
pub(crate) fn records(extent: u64, runs: &[(u64, u64)]) -> Hand {
    let map: Vec<u64> = runs.iter().flat_map(|&(disp, len)| disp..disp + len).collect();
    let mut inverse = vec![-1_i64; extent as usize];
    for (packed, &memory) in map.iter().enumerate() {
        inverse[memory as usize] = packed as i64;
    }
    let words =
        runs.iter().all(|(disp, len)| disp % 4 == 0 && len % 4 == 0) && extent.is_multiple_of(4);
    let list = |numbers: Vec<String>| format!("{{{}}}", numbers.join(","));
    let macros = format!(
        "#define RECORDS\n#define E {extent}\n#define S {}\n#define WORDS_ONLY {}\n#define MAP {}\n#define INVERSE {}\n",
        map.len(),
        u8::from(words),
        list(map.iter().map(ToString::to_string).collect()),
        list(inverse.iter().map(ToString::to_string).collect()),
    );
    let tile = if extent <= 128 { 8192 } else { 16384 };
    let byte_threads = 256 / extent * extent;
    let mut forms = vec![
        form(Direction::Pack, "pack", &macros, 256, 1, records_in(tile, extent)),
        form(
            Direction::Unpack,
            "unpack_bytes",
            &macros,
            byte_threads as u32,
            1,
            records_in(4096, extent),
        ),
    ];
    if words {
        let threads = 256 / (extent / 4) * (extent / 4);
        forms.push(form(
            Direction::Unpack,
            "unpack_words",
            &macros,
            threads as u32,
            1,
            records_in(8192, extent),
        ));
    }
    Hand { forms, lists: Default::default() }
}

/// A word for each thread.
#[derive(Debug)]
pub(crate) struct Words {
    /// Bytes of a word.
    unit: u64,
    /// Words of an instance.
    number: u64,
    /// The parts of an instance, one after another: each subtracts its words from `w` when it is passed.
    text: String,
    lists: [Vec<u32>; 2],
}

impl Words {
    pub(crate) fn new(unit: u64) -> Self {
        Self { unit, number: 0, text: String::new(), lists: Default::default() }
    }

    fn part(mut self, words: u64, address: &str) -> Self {
        let _ = write!(self.text, "if (w < {words}u) return o + {address}; w -= {words}u; ");
        self.number += words;
        self
    }

    /// Blocks of `block` bytes at `base`, repeated in each dimension (number, stride), the innermost first.
    pub(crate) fn strided(self, base: u64, block: u64, dimensions: &[(u64, u64)]) -> Self {
        let unit = self.unit;
        let mut words = block / unit;
        let mut address = format!("{base}ull + w % {words}u * {unit}u");
        for (level, &(number, stride)) in dimensions.iter().enumerate() {
            let index = if level + 1 == dimensions.len() {
                format!("w / {words}u")
            } else {
                format!("w / {words}u % {number}u")
            };
            let _ = write!(address, " + (u64)({index}) * {stride}ull");
            words *= number;
        }
        self.part(words, &address)
    }

    /// Blocks of `block` bytes, at `base` and `block` times the numbers of one of the two lists.
    pub(crate) fn listed(self, base: u64, block: u64, list: usize, number: u64) -> Self {
        let (unit, name) = (self.unit, ["a", "b"][list]);
        let words = block / unit;
        self.part(
            words * number,
            &format!("{base}ull + (u64){name}[w / {words}u] * {block}u + w % {words}u * {unit}u"),
        )
    }

    pub(crate) fn lists(mut self, lists: [Vec<u32>; 2]) -> Self {
        self.lists = lists;
        self
    }

    /// The kernels; instances are `extent` bytes apart.
    pub(crate) fn hand(self, extent: u64) -> Hand {
        let macros = format!(
            "#define WORDS\n#define U {}\n#define AT u64 o = (u64)(w / {}u) * {extent}ull; w %= {}u; {}return 0;\n",
            self.unit, self.number, self.number, self.text
        );
        let forms = [(Direction::Pack, "pack"), (Direction::Unpack, "unpack")];
        let forms = forms.map(|(way, name)| form(way, name, &macros, 256, self.number, 256));
        Hand { forms: forms.into(), lists: self.lists }
    }
}

/// Matrices of elements of `unit` bytes, packed column by column.
pub(crate) fn transpose(unit: u64, rows: u64, columns: u64, pitch: u64) -> Hand {
    let side = match unit {
        4 => 64,
        8 => 32,
        _ => 16,
    };
    let macros = format!(
        "#define TRANSPOSE\n#define U {unit}\n#define ROWS {rows}\n#define COLUMNS {columns}\n#define PITCH {pitch}\n"
    );
    let tiles = (rows / side) * (columns / side);
    let forms = [(Direction::Pack, "pack"), (Direction::Unpack, "unpack")];
    let forms = forms.map(|(way, name)| form(way, name, &macros, 256, tiles, 1));
    Hand { forms: forms.into(), lists: Default::default() }
}

/// Lists of uneven blocks (displacement, length), in words of `unit` bytes; instances are `extent` bytes apart.
pub(crate) fn chunks(unit: u64, blocks: &[(u32, u32)], extent: u64) -> Hand {
    const CHUNK: u32 = 512;
    let (mut a, mut b, mut before) = (Vec::new(), Vec::new(), 0);
    for (index, &(disp, len)) in blocks.iter().enumerate() {
        a.extend([disp, before]);
        while b.len() as u32 * CHUNK < before + len {
            b.push(index as u32);
        }
        before += len;
    }
    b.push(blocks.len() as u32 - 1);
    let macros = format!(
        "#define CHUNKS\n#define U {unit}\n#define NUMBER {before}u\n#define SPACING {extent}ull\n"
    );
    let forms = [(Direction::Pack, "pack"), (Direction::Unpack, "unpack")];
    let forms = forms
        .map(|(way, name)| form(way, name, &macros, 128, u64::from(before.div_ceil(CHUNK)), 1));
    Hand { forms: forms.into(), lists: [a, b] }
}
