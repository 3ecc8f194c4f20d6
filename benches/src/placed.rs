//! Buffers at places that all contestants share.
//!
//! Where buffers lie in their pages decides which accesses cross a cache line, and which loads a processor takes for reads of
//! what was just stored. A copy of a few kilobytes takes up to twice as long at an unlucky place, and an allocator in one
//! process has others than one in another. So each buffer has a fixed place: memory starts at the start of a page, and packed
//! bytes in the middle of a page.

use core::ops::{Deref, DerefMut};

/// The size of the smallest pages.
const PAGE: usize = 4096;

/// Where memory starts in its page.
pub const MEMORY: usize = 0;

/// Where packed bytes start in their page.
pub const PACKED: usize = PAGE / 2;

/// How far the start of a vector is from these places. An allocator keeps 16 bytes in front of a large vector.
pub const VECTOR: usize = 16;

/// A fixed number of elements that start at a given place in a page.
#[derive(Debug)]
pub struct Placed<E> {
    buffer: Vec<E>,
    start: usize,
    length: usize,
}

impl<E: Clone> Placed<E> {
    /// `length` copies of the element. The first one starts `place` bytes after the start of a page, or at the next address
    /// that the element's alignment and size allow. Steps of 24 bytes reach every multiple of 8 in some page, so only the power
    /// of two in the element's size counts.
    pub fn new(element: E, length: usize, place: usize) -> Self {
        let size = size_of::<E>().max(1);
        let steps = PAGE >> size.trailing_zeros().min(PAGE.trailing_zeros());
        let buffer = vec![element; length + steps];
        let at = buffer.as_ptr().addr();
        let after = |start: &usize| (at + start * size + PAGE - place) % PAGE;
        let start = (0..steps).min_by_key(after).unwrap_or(0);
        Self { buffer, start, length }
    }
}

impl<E> Deref for Placed<E> {
    type Target = [E];

    fn deref(&self) -> &[E] {
        &self.buffer[self.start..][..self.length]
    }
}

impl<E> DerefMut for Placed<E> {
    fn deref_mut(&mut self) -> &mut [E] {
        &mut self.buffer[self.start..][..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_start_at_their_place() {
        for length in [0, 1, 1000, 100_000] {
            let bytes = Placed::new(7_u8, length, PACKED);
            assert_eq!((bytes.len(), bytes.as_ptr().addr() % PAGE), (length, PACKED));
            assert!(bytes.iter().all(|&byte| byte == 7));
            let mut numbers = Placed::new([1_u64; 2], length, MEMORY);
            assert_eq!((numbers.len(), numbers.as_ptr().addr() % PAGE), (length, MEMORY));
            numbers.fill([2; 2]);
            assert!(numbers.iter().all(|&pair| pair == [2; 2]));
            let threes = Placed::new([1_u64; 3], length, VECTOR);
            assert_eq!((threes.len(), threes.as_ptr().addr() % PAGE), (length, VECTOR));
        }
    }
}
