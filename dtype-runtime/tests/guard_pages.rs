//! Lists touch their blocks and nothing else: each block ends where a page ends, or starts where one
//! starts, and the next page cannot be accessed at all.

#![cfg(all(unix, target_pointer_width = "64"))]

use dtype_runtime::commit::{Committed, Op};
use dtype_runtime::{Basic, Type};

/// A multiple of the page size of every machine.
const PAGE: usize = 65_536;
/// The first and the last so many bytes of a page are looked at.
const EDGE: usize = 256;
const BLOCKS: usize = 48;
/// The longest block, and the most that is done by moves of a fixed width.
const LONGEST: usize = 130;

/// Address space of which only a few pages can be accessed.
struct Pages {
    start: *mut u8,
    len: usize,
}

impl Pages {
    fn reserve(len: usize) -> Self {
        // SAFETY: a new mapping, of nothing.
        let start = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            libc::mmap(std::ptr::null_mut(), len, libc::PROT_NONE, flags, -1, 0)
        };
        assert_ne!(start, libc::MAP_FAILED);
        Self { start: start.cast(), len }
    }

    /// Makes the page at an offset accessible, and returns where it starts.
    fn open(&self, offset: usize) -> *mut u8 {
        assert!(offset + PAGE <= self.len);
        let page = self.start.wrapping_add(offset);
        // SAFETY: a part of the mapping, to which there are no references.
        let result =
            unsafe { libc::mprotect(page.cast(), PAGE, libc::PROT_READ | libc::PROT_WRITE) };
        assert_eq!(result, 0);
        page
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: a mapping that nothing refers to any more.
        unsafe { libc::munmap(self.start.cast(), self.len) };
    }
}

/// A block in a page of its own.
struct Block {
    start: *mut u8,
    len: usize,
    /// The edge of the page that it lies at.
    edge: *mut u8,
    /// Where it lies in that.
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
    /// As long as this lives nobody else may access the page.
    unsafe fn edge(&mut self) -> &mut [u8] {
        // SAFETY: the page is accessible, and the caller vouches for the rest.
        unsafe { std::slice::from_raw_parts_mut(self.edge, EDGE) }
    }
}

/// Packs the blocks, at displacements from `origin`, to the end or the start of a page, and unpacks
/// them from there.
fn pack_and_unpack(ty: &Committed, origin: *mut u8, blocks: &mut [Block], packed: &mut [u8]) {
    let mut expected = Vec::new();
    for (number, block) in blocks.iter_mut().enumerate() {
        let (at, len) = (block.at, block.len);
        // SAFETY: the only reference to this page.
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
        // SAFETY: as above.
        unsafe { block.edge() }.fill(0);
    }
    // SAFETY: as above.
    unsafe { ty.unpack_raw(packed, origin, 1) }.unwrap();
    let mut left = &*packed;
    for block in blocks {
        let (here, rest) = left.split_at(block.len);
        left = rest;
        let mut image = [0; EDGE];
        image[block.at..][..block.len].copy_from_slice(here);
        // SAFETY: as above.
        assert!(*unsafe { block.edge() } == image);
    }
}

/// Lists of blocks of all lengths and mixtures of them, each block in the page of this number.
fn check(number_of_pages: impl Fn(usize) -> usize) {
    let offsets: Vec<usize> = (0..BLOCKS).map(|i| PAGE * number_of_pages(i)).collect();
    let memory = Pages::reserve(offsets[BLOCKS - 1] + 2 * PAGE);
    let pages: Vec<*mut u8> = offsets.iter().map(|offset| memory.open(*offset)).collect();
    let packed = Pages::reserve(3 * PAGE);
    let packed_page = packed.open(PAGE);
    let mut lists = 0;
    for least in 1..=LONGEST {
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
            lists += ty.plan().steady().iter().filter(|op| matches!(op, Op::List(_))).count();
            let size = ty.packed_size(1).unwrap();
            for offset in [0, PAGE - size] {
                let start = packed_page.wrapping_add(offset);
                // SAFETY: a part of the page, and the only reference to it.
                let out = unsafe { std::slice::from_raw_parts_mut(start, size) };
                pack_and_unpack(&ty, memory.start, &mut blocks, out);
            }
        }
    }
    assert_eq!(lists, 7 * LONGEST);
}

#[test]
fn blocks_near_one_another() {
    check(|i| 1 + 2 * i + i * i);
}

/// Offsets of more than 32 bits.
#[test]
fn blocks_far_apart() {
    check(|i| 1 + 2 * i + i * i + (i / 24) * 100_000);
}
