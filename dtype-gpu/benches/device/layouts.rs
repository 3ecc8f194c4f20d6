//! The layouts that are measured.

use anyhow::Result;
use dtype_benches::ddtbench::{ByHand, Pattern, Visitor, families, shuffled};
use dtype_benches::noise::Random;
use dtype_runtime::{Basic, Committed, Type};

use crate::hand::{Hand, Words, chunks, records, transpose};

/// Blocks that one call of the driver copies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    pub(crate) width: usize,
    pub(crate) pitch: usize,
    /// Their number in an instance, or in a plane of it.
    pub(crate) number: usize,
    /// `None` if the rows of all instances are at equal distances: then one call copies them all, otherwise an instance.
    pub(crate) planes: Option<Planes>,
}

/// The planes of an instance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Planes {
    /// Rows in memory from one plane to the next.
    pub(crate) height: usize,
    pub(crate) number: usize,
}

impl Rows {
    /// The driver's function.
    pub(crate) fn function(&self) -> &'static str {
        if self.planes.is_some() { "cuMemcpy3D" } else { "cuMemcpy2D" }
    }
}

/// Instances of a type that is measured.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) group: &'static str,
    pub(crate) name: String,
    pub(crate) ty: Committed,
    /// Bytes of memory before the first instance.
    pub(crate) base: usize,
    pub(crate) hand: Hand,
    pub(crate) rows: Option<Rows>,
}

impl Layout {
    /// The number of instances of about these packed bytes, in memory of at most `most` bytes.
    pub(crate) fn count(&self, packed: usize, most: usize) -> usize {
        let room = (most - self.base) / self.extent();
        (packed / self.ty.size() as usize).min(room).max(1)
    }

    pub(crate) fn extent(&self) -> usize {
        self.ty.extent() as usize
    }

    /// The bytes of memory of instances.
    pub(crate) fn span(&self, count: usize) -> usize {
        self.base + count * self.extent()
    }

    fn of(group: &'static str, name: impl Into<String>, ty: &Type, hand: Hand) -> Self {
        let ty = ty.commit();
        Self { group, name: name.into(), ty, base: 0, hand, rows: None }
    }
}

/// Packed bytes of a list.
const LIST: u64 = 8 << 20;

/// All layouts but the applications'.
pub(crate) fn synthetic() -> Result<Vec<Layout>> {
    let mut all = structs()?;
    all.extend(strided()?);
    all.extend(transposes()?);
    all.extend(equal_lists()?);
    all.extend(uneven_lists()?);
    Ok(all)
}

/// The basic datatypes of a run: the widest that its alignment and length allow.
fn run(mut disp: u64, mut len: u64) -> Vec<(i64, Type)> {
    let mut fields = Vec::new();
    while len > 0 {
        let (size, basic) = [(8, Basic::F64), (4, Basic::F32), (2, Basic::U16), (1, Basic::U8)]
            .into_iter()
            .find(|&(size, _)| disp.is_multiple_of(size) && size <= len)
            .unwrap_or((1, Basic::U8));
        fields.push((disp as i64, Type::basic(basic)));
        disp += size;
        len -= size;
    }
    fields
}

fn structs() -> Result<Vec<Layout>> {
    let all: [(u64, &[(u64, u64)]); 10] = [
        (16, &[(0, 1), (8, 8)]),
        (16, &[(0, 13)]),
        (16, &[(0, 12)]),
        (8, &[(0, 6)]),
        (56, &[(0, 53)]),
        (32, &[(0, 12), (16, 8), (24, 4)]),
        (11, &[(0, 5), (6, 3)]),
        (240, &[(0, 40), (48, 44), (104, 52), (160, 40), (208, 24)]),
        (72, &[(0, 4), (8, 12), (24, 12), (40, 20)]),
        (128, &[(0, 1), (8, 8)]),
    ];
    let layout = |(extent, runs): (u64, &[(u64, u64)])| {
        let fields: Vec<_> = runs.iter().flat_map(|&(disp, len)| run(disp, len)).collect();
        let (disps, types): (Vec<i64>, Vec<Type>) = fields.into_iter().unzip();
        let ty = Type::structure(&vec![1; types.len()], &disps, &types)?;
        let ty = Type::resized(&ty, 0, extent as i64)?;
        let lengths: Vec<String> = runs.iter().map(|(_, len)| len.to_string()).collect();
        let name = format!("{} of {extent} B", lengths.join("+"));
        Ok(Layout::of("records", name, &ty, records(extent, runs)))
    };
    all.into_iter().map(layout).collect()
}

/// The widest word, in bytes, of these numbers.
fn unit(numbers: &[u64]) -> u64 {
    1 << numbers.iter().fold(16, |all, number| all | number).trailing_zeros()
}

fn strided() -> Result<Vec<Layout>> {
    let all: [(u64, u64); 11] = [
        (4, 8),
        (8, 16),
        (8, 64),
        (24, 40),
        (96, 192),
        (300, 500),
        (333, 1000),
        (512, 1024),
        (1000, 1024),
        (4096, 8192),
        (65536, 131_072),
    ];
    let layout = |(block, stride): (u64, u64)| {
        let (size, basic) = if unit(&[block]) < 4 { (1, Basic::U8) } else { (4, Basic::F32) };
        let elements = Type::contiguous(block / size, &Type::basic(basic))?;
        let ty = Type::resized(&elements, 0, stride as i64)?;
        let hand = Words::new(unit(&[block, stride])).strided(0, block, &[(1, 0)]).hand(stride);
        let mut layout = Layout::of("blocks", format!("{block} of {stride} B"), &ty, hand);
        let (width, pitch) = (block as usize, stride as usize);
        layout.rows = Some(Rows { width, pitch, number: 1, planes: None });
        Ok(layout)
    };
    all.into_iter().map(layout).collect()
}

fn transposes() -> Result<Vec<Layout>> {
    let complex = Type::contiguous(2, &Type::basic(Basic::F64))?;
    let all = [
        ("f32", 4, Type::basic(Basic::F32), 1024, 1024),
        ("f64", 8, Type::basic(Basic::F64), 1024, 1024),
        ("2 f64", 16, complex, 1024, 1024),
        ("f64", 8, Type::basic(Basic::F64), 4096, 4096),
    ];
    let layout = |(name, size, element, rows, columns): (&str, u64, Type, u64, u64)| {
        let column = Type::vector(rows, 1, columns as i64, &element)?;
        let column = Type::resized(&column, 0, size as i64)?;
        let matrix = Type::contiguous(columns, &column)?;
        let ty = Type::resized(&matrix, 0, (rows * columns * size) as i64)?;
        let name = format!("{rows}×{columns} {name}");
        Ok(Layout::of("transpose", name, &ty, transpose(size, rows, columns, columns)))
    };
    all.into_iter().map(layout).collect()
}

/// Numbers below `number` in a scattered order.
fn scattered(number: u32) -> Vec<u32> {
    let number = if number.is_multiple_of(37) { number - 1 } else { number };
    (0..u64::from(number)).map(|i| (i * 37 % u64::from(number)) as u32).collect()
}

/// Each list names half of the memory's blocks.
fn equal_lists() -> Result<Vec<Layout>> {
    let layout = |block: u64| {
        let list = scattered((LIST / block) as u32);
        let disps: Vec<i64> =
            list.iter().map(|&place| 2 * block as i64 * i64::from(place)).collect();
        let extent = 2 * block * list.len() as u64;
        let ty = Type::hindexed_block(block / 8, &disps, &Type::basic(Basic::F64))?;
        let ty = Type::resized(&ty, 0, extent as i64)?;
        let doubled: Vec<u32> = list.iter().map(|place| 2 * place).collect();
        let hand = Words::new(unit(&[block])).listed(0, block, 0, doubled.len() as u64);
        let hand = hand.lists([doubled, Vec::new()]).hand(extent);
        Ok(Layout::of("list", format!("list, {block} B"), &ty, hand))
    };
    [8, 64, 1024].into_iter().map(layout).collect()
}

fn uneven_lists() -> Result<Vec<Layout>> {
    // Bytes of a word, and words of the shortest and of the longest block.
    let all: [(u64, u32, u32); 3] = [(8, 1, 8), (16, 4, 32), (16, 64, 4096)];
    let layout = |(word, least, most): (u64, u32, u32)| {
        let mut random = Random::new(word);
        let (mut places, mut at, mut total) = (Vec::new(), 0, 0);
        while total < LIST {
            let len = least + random.below(most - least + 1);
            places.push((at, len));
            at += len + 1 + random.below(len);
            total += u64::from(len) * word;
        }
        let order = scattered(places.len() as u32);
        let blocks: Vec<(u32, u32)> = order.iter().map(|&place| places[place as usize]).collect();
        let disps: Vec<i64> =
            blocks.iter().map(|&(disp, _)| i64::from(disp) * word as i64).collect();
        let lengths: Vec<u64> = blocks.iter().map(|&(_, len)| u64::from(len) * word / 8).collect();
        let ty = Type::hindexed(&lengths, &disps, &Type::basic(Basic::F64))?;
        let extent = u64::from(at) * word;
        let ty = Type::resized(&ty, 0, extent as i64)?;
        let bytes = |words: u32| u64::from(words) * word;
        let name = format!("list, {}–{} B", bytes(least), bytes(most));
        Ok(Layout::of("list", name, &ty, chunks(word, &blocks, extent)))
    };
    all.into_iter().map(layout).collect()
}

/// The largest pattern of each family of `DDTBench`.
pub(crate) fn applications() -> Result<Vec<Layout>> {
    let mut all = Vec::new();
    for family in families::<Largest>()? {
        let mut largest = Largest::default();
        for pattern in family {
            pattern.visit(&mut largest)?;
        }
        all.extend(largest.0);
    }
    Ok(all)
}

/// The largest pattern of each name that it has seen.
#[derive(Default)]
struct Largest(Vec<Layout>);

impl Visitor for Largest {
    fn visit<H: ByHand>(&mut self, pattern: Pattern<H>) -> Result<()> {
        let size = size_of::<H::Element>();
        let bytes = pattern.length * size;
        // The memories of two messages lie one after the other.
        let ty = Type::contiguous(pattern.count as u64, &pattern.ty)?;
        let ty = Type::resized(&ty, 0, bytes as i64)?;
        let hand = by_hand(pattern.family, pattern.base * size, bytes as u64);
        let name = format!("{} {}", pattern.family, pattern.parameters);
        let mut layout = Layout::of(pattern.family, name, &ty, hand);
        layout.base = pattern.base * size;
        layout.rows = planes(pattern.family);
        match self.0.iter_mut().find(|other| other.group == layout.group) {
            Some(other) if other.ty.size() > layout.ty.size() => (),
            Some(other) => *other = layout,
            None => self.0.push(layout),
        }
        Ok(())
    }
}

/// The face of a grid that the largest pattern of a family is.
fn planes(family: &str) -> Option<Rows> {
    let (width, number, planes) = match family {
        "NAS_MG_x" => (8, 256, 256),
        "NAS_MG_y" => (512 * 8, 1, 256),
        "NAS_MG_z" => (512 * 8, 256, 1),
        _ => return None,
    };
    let planes = Some(Planes { height: 258, number: planes });
    Some(Rows { width, pitch: 514 * 8, number, planes })
}

/// The kernel for the largest pattern of a family; wrong for the others, for which it is not used.
fn by_hand(family: &str, base: usize, extent: u64) -> Hand {
    let unit_of = |numbers: &[u64]| unit(&[numbers, &[base as u64, extent]].concat());
    match family {
        "NAS_LU_x" => Words::new(8).strided(0, 5 * 1020 * 8, &[(1, 0)]).hand(extent),
        "NAS_LU_y" => Words::new(8).strided(0, 40, &[(1020, 5 * 1022 * 8)]).hand(extent),
        "NAS_MG_x" => {
            let (row, plane) = (514 * 8, 514 * 258 * 8);
            Words::new(8).strided(0, 8, &[(256, row), (256, plane)]).hand(extent)
        }
        "NAS_MG_y" => Words::new(8).strided(0, 512 * 8, &[(256, 514 * 258 * 8)]).hand(extent),
        "NAS_MG_z" => Words::new(8).strided(0, 512 * 8, &[(256, 514 * 8)]).hand(extent),
        "MILC_su3_zd" => {
            let (block, stride, half) = (128 * 24, 2048 * 24, 16 * 2048 * 24);
            let words = Words::new(unit_of(&[block, stride, half]));
            words.strided(0, block, &[(16, stride), (2, half)]).hand(extent)
        }
        "FFT2_gather" => {
            let (part, row) = (768 * 16, 1536 * 16);
            Words::new(16).strided(0, part, &[(768, row), (2, part)]).hand(extent)
        }
        "FFT2_scatter" => transpose(16, 768, 1536, 1536),
        "LAMMPS_full" => lammps(3062, 3534, 5, extent),
        "LAMMPS_atomic" => lammps(243, 4084, 3, extent),
        "SPECFEM3D_oc" => Words::new(4)
            .listed(0, 4, 0, 3225)
            .lists([shuffled(3225, 88_881), Vec::new()])
            .hand(extent),
        "SPECFEM3D_cm" => Words::new(4)
            .listed(0, 12, 0, 11_797)
            .listed(3 * 834_917 * 4, 12, 1, 3009)
            .lists([shuffled(11_797, 834_917), shuffled(3009, 51_153)])
            .hand(extent),
        "SPECFEM3D_mt" => Words::new(4).strided(0, 12, &[(7600, 24)]).hand(extent),
        "WRF_x_vec" | "WRF_x_sa" => wrf([32, 65, 52], [3, 65, 44], [22, 0, 4], extent),
        "WRF_y_vec" | "WRF_y_sa" => wrf([32, 65, 52], [23, 65, 3], [5, 0, 7], extent),
        _ => Hand::default(),
    }
}

fn lammps(number: u32, all: u32, others: u64, extent: u64) -> Hand {
    let (n, room) = (u64::from(number), u64::from(all + number));
    let mut words = Words::new(8).listed(0, 24, 0, n);
    for other in 0..others {
        words = words.listed(8 * room * (3 + other), 8, 0, n);
    }
    words.lists([shuffled(number, all), Vec::new()]).hand(extent)
}

/// Four arrays of two dimensions, three of three, and the second halves of two of four.
fn wrf(sizes: [u64; 3], part: [u64; 3], starts: [u64; 3], extent: u64) -> Hand {
    let ([x, y, z], [at_x, at_y, at_z]) = (sizes, starts);
    let (mut words, mut base) = (Words::new(4), 0);
    for _ in 0..4 {
        words = words.strided(4 * (base + at_x + x * at_z), 4 * part[0], &[(part[2], 4 * x)]);
        base += x * z;
    }
    let first = at_x + x * (at_y + y * at_z);
    for halves in [1, 1, 1, 2, 2] {
        let first = 4 * (base + first + (halves - 1) * x * y * z);
        words = words.strided(first, 4 * part[0], &[(part[1], 4 * x), (part[2], 4 * x * y)]);
        base += halves * x * y * z;
    }
    words.hand(extent)
}
