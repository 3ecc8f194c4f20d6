//! Blocks, lists of blocks, and their fragments access the right bytes and no others. Each block ends at the end of a page, or
//! starts at the start of a page, and the adjacent page cannot be accessed.

use crate::{alone, each_isa};
use dtype_runtime::commit::Committed;
use dtype_runtime::plan::Op;
use dtype_runtime::{Basic, Packer, Representation, Type, Unpacker};

/// The length of a page here: a multiple of the page size of every machine.
const PAGE: usize = 65_536;
/// The number of compared bytes at the start and at the end of a page.
const EDGE: usize = 2048;
const BLOCKS: usize = 48;
/// The longest block that the engine copies without a call.
const LONGEST: usize = 1100;
/// The longest run of values whose bytes are reversed.
const LONGEST_RUN: usize = 256;

/// Lengths of blocks: all short ones, and some near multiples of a register's length.
fn lengths() -> impl Iterator<Item = usize> {
    let long = [191, 192, 193, 255, 256, 257, 500, 512, 513, 1000, 1023, 1024, 1025, LONGEST];
    (1..=130).chain(long)
}

/// Runs `check` with each instruction set of this machine.
fn with_each_isa(check: impl Fn()) {
    let _alone = alone();
    each_isa().for_each(|_| check());
}

/// A range of addresses. Only a few of its pages can be accessed.
struct Pages {
    start: *mut u8,
    len: usize,
}

impl Pages {
    fn reserve(len: usize) -> Self {
        // SAFETY: a new anonymous mapping, which replaces no other memory.
        let start = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            libc::mmap(std::ptr::null_mut(), len, libc::PROT_NONE, flags, -1, 0)
        };
        assert_ne!(start, libc::MAP_FAILED);
        Self { start: start.cast(), len }
    }

    /// Makes the page at an offset accessible, and returns its start.
    fn open(&self, offset: usize) -> *mut u8 {
        assert!(offset + PAGE <= self.len);
        let page = self.start.wrapping_add(offset);
        // SAFETY: a part of the mapping, with no references to it.
        let result =
            unsafe { libc::mprotect(page.cast(), PAGE, libc::PROT_READ | libc::PROT_WRITE) };
        assert_eq!(result, 0);
        page
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: a mapping to which no references are left.
        unsafe { libc::munmap(self.start.cast(), self.len) };
    }
}

/// A block in its own page.
struct Block {
    start: *mut u8,
    len: usize,
    /// The edge of the page at which the block lies.
    edge: *mut u8,
    /// The block's offset in the edge.
    at: usize,
}

impl Block {
    fn in_page(page: *mut u8, len: usize, is_at_end: bool) -> Self {
        let edge = page.wrapping_add(if is_at_end { PAGE - EDGE } else { 0 });
        let at = if is_at_end { EDGE - len } else { 0 };
        Self { start: edge.wrapping_add(at), len, edge, at }
    }

    /// The edge of the page.
    ///
    /// # Safety
    ///
    /// While the returned slice is in use, nothing else may access the page.
    unsafe fn edge(&mut self) -> &mut [u8] {
        // SAFETY: the page is accessible, and the caller guarantees exclusive access.
        unsafe { std::slice::from_raw_parts_mut(self.edge, EDGE) }
    }
}

/// Packs the blocks, at displacements from `origin`, to the end or the start of a page, and unpacks them from
/// there.
fn pack_and_unpack(ty: &Committed, origin: *mut u8, blocks: &mut [Block], packed: &mut [u8]) {
    let mut expected = Vec::new();
    for (number, block) in blocks.iter_mut().enumerate() {
        let (at, len) = (block.at, block.len);
        // SAFETY: nothing else refers to this page.
        let edge = unsafe { block.edge() };
        for (i, byte) in edge.iter_mut().enumerate() {
            *byte = (number + 3 * i).to_le_bytes()[0];
        }
        expected.extend_from_slice(&edge[at..][..len]);
    }
    // SAFETY: the blocks are accessible, and there are no references to them.
    unsafe { ty.pack_raw(origin, 1, packed) }.unwrap();
    assert!(*packed == expected);
    for block in &mut *blocks {
        // SAFETY: nothing else refers to this page.
        unsafe { block.edge() }.fill(0);
    }
    // SAFETY: the blocks are accessible, and nothing refers to them.
    unsafe { ty.unpack_raw(packed, origin, 1) }.unwrap();
    let mut left = &*packed;
    for block in blocks {
        let (here, rest) = left.split_at(block.len);
        left = rest;
        let mut image = [0; EDGE];
        image[block.at..][..block.len].copy_from_slice(here);
        // SAFETY: nothing else refers to this page.
        assert!(*unsafe { block.edge() } == image);
    }
}

/// Lists of blocks of all lengths and mixtures of lengths. Block `i` is in the page with the number that the function returns.
fn check(number_of_pages: impl Fn(usize) -> usize) {
    let offsets: Vec<usize> = (0..BLOCKS).map(|i| PAGE * number_of_pages(i)).collect();
    let memory = Pages::reserve(offsets[BLOCKS - 1] + 2 * PAGE);
    let pages: Vec<*mut u8> = offsets.iter().map(|offset| memory.open(*offset)).collect();
    let packed = Pages::reserve(3 * PAGE);
    let packed_page = packed.open(PAGE);
    let mut lists = 0;
    for least in lengths() {
        for greatest in
            [least, least + 1, 2 * least, 2 * least + 1, 4 * least, 4 * least + 1, LONGEST]
        {
            let greatest = greatest.clamp(least, LONGEST);
            let len = |i: usize| match i % 4 {
                0 => least,
                1 => greatest,
                _ => least + (i * i * 7) % (greatest - least + 1),
            };
            let block = |i| Block::in_page(pages[i], len(i), (i * i / 2) % 2 == 0);
            let mut blocks: Vec<Block> = (0..BLOCKS).map(block).collect();
            let (lengths, places): (Vec<u64>, Vec<i64>) = blocks
                .iter()
                .map(|block| {
                    let place = block.start.addr() - memory.start.addr();
                    (block.len as u64, i64::try_from(place).unwrap())
                })
                .unzip();
            let ty = Type::hindexed(&lengths, &places, &Type::basic(Basic::U8)).unwrap().commit();
            lists += ty.plan().ops().iter().filter(|op| matches!(op, Op::List(_))).count();
            let size = ty.packed_size(1).unwrap();
            for offset in [0, PAGE - size] {
                let start = packed_page.wrapping_add(offset);
                // SAFETY: a part of the page, which nothing else refers to.
                let out = unsafe { std::slice::from_raw_parts_mut(start, size) };
                pack_and_unpack(&ty, memory.start, &mut blocks, out);
            }
        }
    }
    assert_eq!(lists, 7 * lengths().count());
}

#[test]
fn blocks_near_one_another() {
    with_each_isa(|| check(|i| 1 + 2 * i + i * i));
}

/// The distances between blocks do not fit 32 bits.
#[test]
fn blocks_far_apart() {
    with_each_isa(|| check(|i| 1 + 2 * i + i * i + (i / 24) * 100_000));
}

/// Blocks of equal lengths at equal strides: one block, several blocks, and two dimensions, each block in its own page.
#[test]
fn rows_of_blocks() {
    let memory = Pages::reserve(40 * PAGE);
    let pages: Vec<*mut u8> = (0..16).map(|i| memory.open((1 + 2 * i) * PAGE)).collect();
    let packed = Pages::reserve(3 * PAGE);
    let packed_page = packed.open(PAGE);
    let signed = |n: usize| i64::try_from(n).unwrap();
    with_each_isa(|| {
        for (len, is_at_end) in lengths().flat_map(|len| [(len, false), (len, true)]) {
            // The blocks in a row, the rows, and the distances between blocks and between rows in pages.
            for (count, rows, apart, row) in
                [(1, 1, 0, 0), (7, 1, 2, 0), (3, 4, 2, 8), (2, 3, 8, 2)]
            {
                let mut blocks: Vec<Block> = (0..rows)
                    .flat_map(|y| (0..count).map(move |x| y * (row / 2) + x * (apart / 2)))
                    .map(|number| Block::in_page(pages[number], len, is_at_end))
                    .collect();
                let block = Type::contiguous(len as u64, &Type::basic(Basic::U8)).unwrap();
                let one = Type::hvector(count as u64, 1, signed(apart * PAGE), &block).unwrap();
                let all = Type::hvector(rows as u64, 1, signed(row * PAGE), &one).unwrap().commit();
                let origin = blocks[0].start;
                let size = len * blocks.len();
                for offset in [0, PAGE - size] {
                    let start = packed_page.wrapping_add(offset);
                    // SAFETY: a part of the page, which nothing else refers to.
                    let out = unsafe { std::slice::from_raw_parts_mut(start, size) };
                    pack_and_unpack(&all, origin, &mut blocks, out);
                }
            }
        }
    });
}

/// Packs and unpacks fragments from every position on. Each ends at the end of a page or starts at the start of a page. The
/// blocks are in packed order.
fn fragments(ty: &Committed, count: usize, origin: *mut u8, blocks: &mut [Block], packed: *mut u8) {
    let mut content = Vec::new();
    for block in blocks.iter_mut() {
        let (at, len) = (block.at, block.len);
        // SAFETY: nothing else refers to this page.
        let edge = unsafe { block.edge() };
        edge.fill(0x11);
        for byte in &mut edge[at..][..len] {
            *byte = (content.len() * 7 % 251).to_le_bytes()[0];
            content.push(*byte);
        }
    }
    let size = content.len();
    assert_eq!(ty.packed_size(count), Ok(size));
    for length in [1, 2, 3, 7, 8, 16, 33, 64, 100, size] {
        for from in 0..size {
            let len = length.min(size - from);
            let start = packed.wrapping_add(if from % 2 == 0 { PAGE - len } else { 0 });
            // SAFETY: a part of the page, which nothing else refers to.
            let fragment = unsafe { std::slice::from_raw_parts_mut(start, len) };
            // SAFETY: the blocks are accessible, there are no references to them, and the packer no longer exists
            // when the unpacker is made.
            let mut packer = unsafe { Packer::from_raw(ty, origin, count) }.unwrap();
            packer.set_position(from as u64).unwrap();
            assert_eq!(packer.pack(fragment), len);
            assert!(*fragment == content[from..][..len], "{length} bytes from {from}");
            for (byte, now) in fragment.iter_mut().zip(&mut content[from..]) {
                *byte = byte.wrapping_mul(3).wrapping_add(1);
                *now = *byte;
            }
            // SAFETY: as above.
            let mut unpacker = unsafe { Unpacker::from_raw(ty, origin, count) }.unwrap();
            unpacker.set_position(from as u64).unwrap();
            assert_eq!(unpacker.unpack(fragment), Ok(len));
        }
        let mut left = &content[..];
        for block in blocks.iter_mut() {
            let (here, rest) = left.split_at(block.len);
            left = rest;
            let mut image = [0x11; EDGE];
            image[block.at..][..block.len].copy_from_slice(here);
            // SAFETY: nothing else refers to this page.
            assert!(*unsafe { block.edge() } == image);
        }
    }
}

/// Blocks of these lengths, two pages apart, in two instances: records, blocks at equal strides, and a list that
/// mixes them with other lengths.
#[test]
fn fragments_from_every_position() {
    with_each_isa(check_fragments);
}

fn check_fragments() {
    let byte = Type::basic(Basic::U8);
    let signed = |n: usize| i64::try_from(n).unwrap();
    let memory = Pages::reserve(200 * PAGE);
    let pages: Vec<*mut u8> = (0..90).map(|i| memory.open((1 + 2 * i) * PAGE)).collect();
    let packed = Pages::reserve(3 * PAGE);
    let packed_page = packed.open(PAGE);
    let place = |block: &Block| signed(block.start.addr() - memory.start.addr());
    for len in [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65, 130] {
        for is_at_end in [false, true] {
            // Blocks at equal strides, which continue across the two instances.
            let mut blocks: Vec<Block> =
                pages[..6].iter().map(|page| Block::in_page(*page, len, is_at_end)).collect();
            let row = Type::contiguous(len as u64, &byte).unwrap();
            let column = Type::hvector(3, 1, 2 * signed(PAGE), &row).unwrap();
            let column = Type::hindexed(&[1], &[place(&blocks[0])], &column).unwrap();
            let ty = Type::resized(&column, 0, 6 * signed(PAGE)).unwrap().commit();
            fragments(&ty, 2, memory.start, &mut blocks, packed_page);
            // Records of two blocks, the second of another length.
            for (i, block) in blocks.iter_mut().enumerate() {
                *block = Block::in_page(pages[i], len + 3 * (i % 2), is_at_end == (i % 2 == 0));
            }
            let lengths = [len as u64, len as u64 + 3];
            let places = [place(&blocks[0]), place(&blocks[1])];
            let pair = Type::hindexed(&lengths, &places, &byte).unwrap();
            let ty = Type::resized(&pair, 0, 4 * signed(PAGE)).unwrap().commit();
            fragments(&ty, 3, memory.start, &mut blocks, packed_page);
        }
        // A list.
        let number = if len < 40 { 24 } else { 17 };
        let irregular = |i: usize| pages[3 * i + i * i % 3];
        let mut blocks: Vec<Block> = (0..number)
            .map(|i| Block::in_page(irregular(i), 1 + (len + i * i) % (len + 2), i % 2 == 0))
            .collect();
        let lengths: Vec<u64> = blocks.iter().map(|block| block.len as u64).collect();
        let places: Vec<i64> = blocks.iter().map(place).collect();
        let ty = Type::hindexed(&lengths, &places, &byte).unwrap().commit();
        assert!(matches!(ty.plan().ops(), [Op::List(_)]), "{:?}", ty.plan());
        fragments(&ty, 1, memory.start, &mut blocks, packed_page);
    }
}

/// Runs of values in two pages. The bytes of each value are reversed on the way to a third page and back, as a whole, and with
/// a cut inside a value.
#[test]
fn values_that_are_reversed() {
    with_each_isa(check_reversed);
}

fn check_reversed() {
    let little = cfg!(target_endian = "little");
    let representation =
        if little { Representation::BigEndian } else { Representation::LittleEndian };
    let (distance, memory) = (2 * PAGE, Pages::reserve(5 * PAGE));
    let pages = [PAGE, PAGE + distance].map(|at| memory.open(at));
    let packed = Pages::reserve(3 * PAGE);
    let packed_page = packed.open(PAGE);
    for basic in [Basic::I16, Basic::F32, Basic::F64, Basic::U128] {
        let width = basic.size();
        for (count, is_at_end) in (1..=LONGEST_RUN / width).flat_map(|n| [(n, false), (n, true)]) {
            let len = count * width;
            let mut blocks = pages.map(|page| Block::in_page(page, len, is_at_end));
            let mut content = Vec::new();
            for block in &mut blocks {
                let at = block.at;
                // SAFETY: nothing else refers to this page.
                let edge = unsafe { block.edge() };
                edge.fill(0x11);
                for byte in &mut edge[at..][..len] {
                    *byte = (content.len() * 7 % 251).to_le_bytes()[0];
                    content.push(*byte);
                }
            }
            let mut reversed = content.clone();
            reversed.chunks_mut(width).for_each(<[u8]>::reverse);
            let stride = i64::try_from(distance).unwrap();
            let ty = Type::hvector(2, count as u64, stride, &Type::basic(basic)).unwrap().commit();
            let (origin, size) = (blocks[0].start, 2 * len);
            let cut = (len + count) % size;
            for (from, to) in [(0, size), (0, cut), (cut, size), (1, size - 1)] {
                for start in [0, PAGE - (to - from)] {
                    let start = packed_page.wrapping_add(start);
                    // SAFETY: a part of the page, which nothing else refers to.
                    let fragment = unsafe { std::slice::from_raw_parts_mut(start, to - from) };
                    // SAFETY: the blocks are accessible, there are no references to them, and the packer no longer
                    // exists when the unpacker is made.
                    let packer = unsafe { Packer::from_raw(&ty, origin, 1) }.unwrap();
                    let mut packer = packer.with_representation(representation).unwrap();
                    packer.set_position(from as u64).unwrap();
                    assert_eq!(packer.pack(fragment), Ok(to - from));
                    assert!(*fragment == reversed[from..to], "{count} of {basic}");
                    for block in &mut blocks {
                        let at = block.at;
                        // SAFETY: nothing else refers to this page.
                        let edge = unsafe { block.edge() };
                        edge[at..][..len].fill(0);
                    }
                    // SAFETY: as above.
                    let unpacker = unsafe { Unpacker::from_raw(&ty, origin, 1) }.unwrap();
                    let mut unpacker = unpacker.with_representation(representation).unwrap();
                    unpacker.set_position(from as u64).unwrap();
                    assert_eq!(unpacker.unpack(fragment), Ok(to - from));
                    drop(unpacker);
                    let mut wanted = vec![0; size];
                    wanted[from..to].copy_from_slice(&reversed[from..to]);
                    wanted.chunks_mut(width).for_each(<[u8]>::reverse);
                    let halves = wanted.chunks(len).zip(content.chunks(len));
                    for (block, (here, before)) in blocks.iter_mut().zip(halves) {
                        let mut image = [0x11; EDGE];
                        image[block.at..][..len].copy_from_slice(here);
                        let at = block.at;
                        // SAFETY: nothing else refers to this page.
                        let edge = unsafe { block.edge() };
                        assert!(*edge == image);
                        edge[at..][..len].copy_from_slice(before);
                    }
                }
            }
        }
    }
}

/// Packs every part that starts in one of the last two records and ends with the last record, to either end of a page.
///
/// # Safety
///
/// The data must be readable, and nothing may refer to the page.
unsafe fn check_last_parts(
    ty: &Committed,
    origin: *const u8,
    count: usize,
    page: *mut u8,
    at_end: bool,
    byte: impl Fn(usize) -> u8,
) {
    let size = ty.packed_size(count).unwrap();
    let record = ty.packed_size(1).unwrap();
    for from in size.saturating_sub(2 * record)..size {
        let len = size - from;
        let packed = if at_end { page.wrapping_add(PAGE - len) } else { page };
        let range = from as u64..size as u64;
        // SAFETY: the caller guarantees that the data are readable, and the page has room for the packed bytes.
        let packed = unsafe {
            ty.pack_range_raw(origin, count, range, packed).unwrap();
            std::slice::from_raw_parts(packed, len)
        };
        assert!(packed.iter().copied().eq((from..size).map(&byte)), "{ty:?} × {count} from {from}");
    }
}

/// Records whose data start with the first byte of a page, or end with the last byte. Accesses to gaps before or after the
/// data, or beyond the data, would hit inaccessible pages.
#[test]
fn records_at_both_ends_of_a_page() {
    with_each_isa(check_records);
}

fn check_records() {
    let byte = Type::basic(Basic::U8);
    let memory = Pages::reserve(3 * PAGE);
    let packed = Pages::reserve(3 * PAGE);
    let (memory_page, packed_page) = (memory.open(PAGE), packed.open(PAGE));
    // Lengths and displacements of the runs of a record, and the stride between two records.
    let shapes: [(&[u64], &[i64], i64); 21] = [
        (&[13], &[0], 16),
        (&[1, 8], &[0, 8], 16),
        (&[8, 1], &[8, 3], 16),
        (&[1], &[7], 9),
        (&[1, 2, 4, 8, 1], &[0, 2, 4, 8, 16], 24),
        (&[53], &[3], 64),
        (&[4, 12, 12, 12, 12], &[0, 8, 24, 40, 56], 72),
        (&[1, 1], &[0, 127], 200),
        (&[20, 30, 14], &[50, 0, 31], 80),
        (&[4, 8], &[0, 8], 16),
        (&[8, 4], &[11, 3], 16),
        (&[4], &[0], 8),
        (&[4], &[5], 12),
        (&[8, 4, 8], &[0, 12, 20], 28),
        (&[4, 2], &[0, 4], 8),
        (&[5], &[2], 8),
        (&[7, 5], &[9, 0], 16),
        (&[13], &[3], 16),
        // Short runs with more packed bytes than a register: copied in steps. The last run of the second touches the next record.
        (&[5; 16], &[2, 9, 16, 23, 30, 37, 44, 51, 58, 65, 72, 79, 86, 93, 100, 107], 120),
        (&[6; 14], &[0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104], 110),
        (
            &[3, 5, 7, 9, 5, 3, 7, 9, 5, 7, 9, 7],
            &[90, 80, 60, 70, 0, 6, 10, 20, 34, 40, 110, 50],
            119,
        ),
    ];
    for (lengths, places, stride) in shapes {
        let record = Type::hindexed(lengths, places, &byte).unwrap();
        let ty = Type::resized(&record, 0, stride).unwrap().commit();
        let runs = || places.iter().zip(lengths);
        let first = *places.iter().min().unwrap();
        let before = usize::try_from(first).unwrap();
        let end = runs().map(|(place, len)| place + i64::try_from(*len).unwrap()).max().unwrap();
        // One record many times, because the kernel changes after many calls.
        for count in std::iter::repeat_n(1, 40).chain(1..70_usize) {
            let steps = stride * (i64::try_from(count).unwrap() - 1);
            let size = ty.packed_size(count).unwrap();
            for (at_end, packed_at_end) in
                [(false, false), (false, true), (true, false), (true, true)]
            {
                let span = usize::try_from(steps + end - first).unwrap();
                let start = if at_end { PAGE - span } else { 0 };
                let origin = memory_page.wrapping_add(start).wrapping_sub(before);
                let place = packed_page.wrapping_add(if packed_at_end { PAGE - size } else { 0 });
                // SAFETY: the pages are accessible, and nothing else refers to them.
                let (content, bytes) = unsafe {
                    (
                        std::slice::from_raw_parts_mut(memory_page, PAGE),
                        std::slice::from_raw_parts_mut(place, size),
                    )
                };
                for (i, byte) in content[start..][..span].iter_mut().enumerate() {
                    *byte = (i % 251).to_le_bytes()[0];
                }
                let mut image = content[start..][..span].to_vec();
                let expected: Vec<usize> = (0..count)
                    .flat_map(|i| {
                        let record = stride * i64::try_from(i).unwrap() - first;
                        runs().flat_map(move |(place, len)| {
                            let place = usize::try_from(record + place).unwrap();
                            place..place + usize::try_from(*len).unwrap()
                        })
                    })
                    .collect();
                // SAFETY: the data lie in the page; the slices borrowed from it are not used meanwhile.
                assert_eq!(unsafe { ty.pack_raw(origin, count, bytes) }, Ok(size));
                assert!(bytes.iter().eq(expected.iter().map(|at| &image[*at])), "{ty:?} × {count}");
                for (byte, at) in bytes.iter_mut().zip(&expected) {
                    *byte = byte.wrapping_mul(3).wrapping_add(1);
                    image[*at] = *byte;
                }
                // SAFETY: as above.
                assert_eq!(unsafe { ty.unpack_raw(bytes, origin, count) }, Ok(size));
                // SAFETY: the other references are no longer used.
                let content = unsafe { std::slice::from_raw_parts(memory_page, PAGE) };
                assert!(content[start..][..span] == image, "{ty:?} × {count}");
                // SAFETY: the data lie in the page; the slices borrowed from both pages are not used any more.
                unsafe {
                    check_last_parts(&ty, origin, count, packed_page, packed_at_end, |k| {
                        image[expected[k]]
                    });
                }
            }
        }
    }
}

/// Slices of values, and their packed bytes, that start at the start of a page or end at the end of a page.
#[cfg(feature = "derive")]
mod slices {
    use super::*;
    use dtype_runtime::{Datatype, pack_into, packed_size, unpack_into};

    macro_rules! values {
        ($($name:ident { $($field:ident: $type:ty),* };)*) => {
            $(
                #[derive(Datatype)]
                #[repr(C)]
                struct $name { $($field: $type),* }
            )*

            fn check_all() {
                $( check::<$name>(); )*
            }
        };
    }

    values! {
        Quarter { a: u32, b: u16 };
        Half { a: f64, b: u32, c: u8 };
        Behind { a: u8, b: u64 };
        ManyInAPeriod { a: [i16; 5], b: i16, c: i8 };
        Three { a: u64, b: u8, c: u32, d: f64 };
        One { a: [u32; 4], b: [u16; 5], c: u32 };
        Four { a: u8, b: f64, c: [u16; 9], d: u64 };
        Overlapping { a: [u16; 32], b: u8 };
        Wide { a: u8, b: [u16; 40], c: u32, d: u8 };
    }

    fn check<T: Datatype>() {
        let (memory, packed) = (Pages::reserve(3 * PAGE), Pages::reserve(3 * PAGE));
        let (memory_page, packed_page) = (memory.open(PAGE), packed.open(PAGE));
        for count in 0..70 {
            let (len, size) = (count * size_of::<T>(), packed_size::<T>(count));
            for (at_end, packed_at_end) in
                [(false, false), (false, true), (true, false), (true, true)]
            {
                let place = memory_page.wrapping_add(if at_end { PAGE - len } else { 0 });
                let bytes = packed_page.wrapping_add(if packed_at_end { PAGE - size } else { 0 });
                // SAFETY: nothing else refers to the pages. Their bytes are initialised, and any bytes are values of `T`.
                let (items, bytes) = unsafe {
                    (
                        std::slice::from_raw_parts_mut(place.cast::<T>(), count),
                        std::slice::from_raw_parts_mut(bytes, size),
                    )
                };
                for (i, byte) in bytes.iter_mut().enumerate() {
                    *byte = ((i + count) % 251).to_le_bytes()[0];
                }
                let before = bytes.to_vec();
                assert_eq!(unpack_into(bytes, items), Ok(size));
                bytes.fill(0);
                assert_eq!(pack_into(items, bytes), Ok(size));
                assert!(*bytes == before, "{} × {count}", std::any::type_name::<T>());
            }
        }
    }

    #[test]
    fn at_both_ends_of_a_page() {
        with_each_isa(check_all);
    }
}
