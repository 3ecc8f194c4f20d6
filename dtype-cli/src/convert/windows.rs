//! Groups of instances, and the part of memory that each group takes.

use dtype_runtime::{Error, Type};

/// The number of bytes of memory in a window, unless a single instance has more.
const WINDOW: u64 = 8 << 20;

/// Instances in a part of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    /// The start of the part, in bytes from the start of the memory.
    pub(super) start: u64,
    /// The length of the part in bytes.
    pub(super) len: u64,
    /// Displacement 0 of the first instance, in bytes from the start of the part.
    pub(super) origin: usize,
    /// The number of instances.
    pub(super) count: usize,
}

/// Whether each instance lies after the previous one, so that the memory can be read or written from front to end, one window
/// at a time. Interleaved instances cover each other's bytes, so they must be in one window.
pub(super) fn are_apart(ty: &Type) -> bool {
    ty.extent() > 0 && ty.extent() >= ty.true_extent()
}

/// The windows of all instances, in their order.
#[derive(Clone, Debug)]
pub(super) struct Windows {
    origin: i128,
    extent: i128,
    true_lb: i128,
    true_ub: i128,
    count: u64,
    has_data: bool,
    /// The number of instances in a window.
    each: u64,
    /// The number of instances before the next window.
    done: u64,
}

impl Windows {
    pub(super) fn of(ty: &Type, origin: u64, count: u64) -> Self {
        // Without data, nothing is read.
        let count = if ty.size() == 0 { 0 } else { count };
        let each =
            if are_apart(ty) { (WINDOW / ty.extent().unsigned_abs()).max(1) } else { count.max(1) };
        Self {
            origin: origin.into(),
            extent: ty.extent().into(),
            true_lb: ty.true_lb().into(),
            true_ub: ty.true_ub().into(),
            count,
            has_data: ty.size() > 0,
            each,
            done: 0,
        }
    }

    /// Whether there is something to convert in an instance.
    pub(super) fn has_data(&self) -> bool {
        self.has_data
    }

    /// The number of instances in the next window.
    pub(super) fn next_count(&self) -> u64 {
        self.each.min(self.count - self.done)
    }

    /// The number of instances before the next window.
    pub(super) fn done(&self) -> u64 {
        self.done
    }

    /// The next window, of at most `most` instances; `None` if no instances remain.
    pub(super) fn window(&mut self, most: u64) -> Option<Window> {
        let count = self.next_count().min(most);
        if count == 0 {
            return None;
        }
        let (start, end, base) = self.span(self.done, count);
        self.done += count;
        // All of it lies in memory, as was checked. The first origin is an argument, and no later origin is before it.
        let start = start.min(base);
        Some(Window {
            start: u64::try_from(start).ok()?,
            len: u64::try_from(end - start).ok()?,
            origin: usize::try_from(base - start).ok()?,
            count: usize::try_from(count).ok()?,
        })
    }

    /// The start and end of the data of `count` instances, and displacement 0 of the first one.
    fn span(&self, first: u64, count: u64) -> (i128, i128, i128) {
        let base = self.origin + i128::from(first) * self.extent;
        let last = i128::from(count.saturating_sub(1)) * self.extent;
        let (low, high) = (base + last.min(0), base + last.max(0));
        (low + self.true_lb, high + self.true_ub, base)
    }

    /// One past the last byte of data; 0 if there are no data.
    pub(super) fn end(&self) -> i128 {
        if self.count == 0 { 0 } else { self.span(0, self.count).1 }
    }

    /// The number of bytes from the first byte of data to the end of the last.
    pub(super) fn data_len(&self) -> u64 {
        let (start, end, _) = self.span(0, self.count);
        u64::try_from(end - start).unwrap_or(u64::MAX)
    }

    /// One past the last byte that belongs to an instance.
    pub(super) fn used(&self) -> i128 {
        let behind = self.origin + i128::from(self.count) * self.extent.max(0);
        self.end().max(behind)
    }

    /// The length of a memory with all instances, including the padding after the last one.
    pub(super) fn span_end(&self, ty: &Type) -> u64 {
        if self.count == 0 {
            return 0;
        }
        let last = i128::from(self.count - 1) * self.extent;
        let ub = self.origin + last.max(0) + i128::from(ty.ub());
        u64::try_from(self.end().max(ub)).unwrap_or(0)
    }

    /// Checks that all data lie in a memory of `len` bytes.
    pub(super) fn check(&self, len: u64) -> Result<(), Error> {
        if self.count == 0 {
            return Ok(());
        }
        let (start, end, _) = self.span(0, self.count);
        if start < 0 || end > len.into() {
            return Err(Error::OutOfBounds { start, end, len });
        }
        Ok(())
    }
}

impl Iterator for Windows {
    type Item = Window;

    fn next(&mut self) -> Option<Window> {
        self.window(u64::MAX)
    }
}

/// The number of instances in a memory of `len` bytes: as many as fit if each is after the previous one, otherwise
/// one. A memory that ends at the origin has none.
pub(super) fn fitting(ty: &Type, origin: u64, len: u64) -> u64 {
    if ty.extent() <= 0 || ty.size() == 0 {
        return 1;
    }
    let room = i128::from(len) - i128::from(origin) - i128::from(ty.true_ub());
    if room < 0 && len == origin {
        return 0;
    }
    let steps = room.max(0) / i128::from(ty.extent());
    // An instance that does not fit is refused later.
    u64::try_from(steps + 1).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dtype_text::notation::parse;

    fn windows(ty: &str, origin: u64, count: u64) -> Windows {
        Windows::of(&parse(ty).unwrap().ty, origin, count)
    }

    #[test]
    fn windows_have_all_instances_once() {
        let all: Vec<Window> = windows("resized([u8; 3], 0, 1_000_000)", 5, 20).collect();
        assert_eq!(all.iter().map(|window| window.count).collect::<Vec<_>>(), [8, 8, 4]);
        assert_eq!(all[1], Window { start: 8_000_005, len: 7_000_003, origin: 0, count: 8 });
        let ahead: Vec<Window> =
            windows("resized(struct{u8@-2, u8@7}, 0, 4194304)", 2, 3).collect();
        assert_eq!(ahead[1], Window { start: 8_388_608, len: 10, origin: 2, count: 1 });
    }

    #[test]
    fn interleaved_and_backward_instances_are_one_window() {
        let columns: Vec<Window> =
            windows("resized(vector(100, 1, 100, u8), 0, 1)", 0, 100).collect();
        assert_eq!(columns, [Window { start: 0, len: 10_000, origin: 0, count: 100 }]);
        let backward: Vec<Window> = windows("resized(u8, 0, -4)", 8, 3).collect();
        assert_eq!(backward, [Window { start: 0, len: 9, origin: 8, count: 3 }]);
        assert_eq!(windows("contiguous(0, u8)", 0, u64::MAX).count(), 0);
    }

    #[test]
    fn numbers_beyond_64_bits_are_out_of_bounds() {
        let huge = windows("resized(u8, 0, 0x7fff_ffff_ffff_ffff)", u64::MAX, u64::MAX);
        assert!(matches!(huge.check(u64::MAX), Err(Error::OutOfBounds { .. })));
        let ty = parse("struct{u8@-3, u8@0}").unwrap().ty;
        assert_eq!(
            Windows::of(&ty, 2, 1).check(10),
            Err(Error::OutOfBounds { start: -1, end: 3, len: 10 })
        );
    }

    #[test]
    fn as_many_instances_as_fit() {
        let ty = parse("struct{f64, u8}").unwrap().ty;
        let fit = |len| fitting(&ty, 0, len);
        assert_eq!((fit(0), fit(9), fit(24), fit(25), fit(32)), (0, 1, 1, 2, 2));
        assert_eq!((fitting(&ty, 16, 16), fitting(&ty, 16, 15), fitting(&ty, 16, 0)), (0, 1, 1));
        let ahead = parse("struct{u16@-4, u8@-1}").unwrap().ty;
        assert_eq!((fitting(&ahead, 4, 4), fitting(&ahead, 4, 3)), (1, 1));
    }
}
