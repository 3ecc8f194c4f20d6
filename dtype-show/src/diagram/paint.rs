//! Finds the bytes of data in some ranges of memory, and the field of each.

use super::cell::{Cell, NO_FIELD};
use crate::fields::{DiagramField, Repeat, Slot};
use dtype_runtime::outline::{List, Outline, Parts, Repetition};

/// Blocks of a list that are visited in a row, from either end.
const CHUNK: usize = 64;

/// A range of memory that is drawn, in cells.
pub(super) struct Stretch {
    /// The displacement in bytes of the first cell.
    pub(super) start: i128,
    pub(super) end: i128,
    pub(super) cells: Vec<Cell>,
    /// Whether every part that may have data here was visited.
    pub(super) complete: bool,
}

impl Stretch {
    /// Decides the signs of the cells.
    pub(super) fn finish(&mut self, unit: u32) {
        let mut left = self.end - self.start;
        for cell in &mut self.cells {
            let bytes = u32::try_from(left).unwrap_or(unit).min(unit);
            cell.finish(bytes, self.complete);
            left -= i128::from(bytes);
        }
    }
}

/// Paints data into cells.
pub(super) struct Painter<'a> {
    stretch: &'a mut Stretch,
    /// Bytes in a cell.
    unit: i128,
    /// The number of parts that may still be visited.
    pub(super) left: u64,
}

impl<'a> Painter<'a> {
    pub(super) fn new(stretch: &'a mut Stretch, unit: u32, left: u64) -> Self {
        Self { stretch, unit: unit.into(), left }
    }

    /// Paints `count` instances, `stride` bytes apart.
    pub(super) fn block(
        &mut self,
        of: Outline<'_>,
        base: i128,
        instances: Repetition,
        slot: &Slot,
    ) {
        let span = of.span();
        self.repeat(base, instances, span, |painter, base| painter.outline(of, base, slot));
    }

    /// Calls `one` for the repetitions that may have data here. `from..to` is the range of the data of one repetition.
    fn repeat(
        &mut self,
        base: i128,
        Repetition { count, stride }: Repetition,
        (from, to): (i128, i128),
        mut one: impl FnMut(&mut Self, i128),
    ) {
        let stride = i128::from(stride);
        let (first, end) = if stride == 0 {
            // All repetitions are at one place, so two of them show that they overlap.
            (0, if self.meets(base + from, base + to) { count.min(2).into() } else { 0 })
        } else {
            // Finds the values of `k` for which the data at `base + k · stride + [from, to)` meet `[start, end)`.
            let (low, high) = (self.stretch.start - to - base, self.stretch.end - from - base);
            let (low, high) = if stride > 0 { (low, high) } else { (-high, -low) };
            let step = stride.abs();
            let end = high.div_euclid(step) + i128::from(high.rem_euclid(step) > 0);
            (low.div_euclid(step) + 1, end)
        };
        let mut k = first.max(0);
        while k < end.min(count.into()) && self.left > 0 {
            self.left -= 1;
            one(self, base + k * stride);
            k += 1;
        }
    }

    fn meets(&self, from: i128, to: i128) -> bool {
        from < self.stretch.end && self.stretch.start < to
    }

    fn outline(&mut self, outline: Outline<'_>, base: i128, slot: &Slot) {
        let (from, to) = outline.span();
        if self.left == 0 || outline.size() == 0 || !self.meets(base + from, base + to) {
            return;
        }
        self.left -= 1;
        match outline.parts() {
            Parts::Nothing => {}
            Parts::Leaf(basic) => self.leaf(base, base + basic.size() as i128, slot),
            Parts::Same(inner) => self.outline(inner, base, slot),
            Parts::Array { built, .. } => self.outline(Outline::Type(built), base, slot),
            Parts::Grid { blocks, block, of } => {
                let (from, to) = of.span();
                let reach = i128::from(block.stride) * (i128::from(block.count) - 1).max(0);
                let span = (from + reach.min(0), to + reach.max(0));
                self.repeat(base, blocks, span, |painter, base| {
                    painter.block(of, base, block, slot);
                });
            }
            Parts::List(list) => self.list(list, base, slot),
            Parts::Members(members, _) => {
                for (i, member) in members.iter().enumerate() {
                    if self.left == 0 {
                        return;
                    }
                    self.left -= 1;
                    let of = Outline::Type(&member.ty);
                    let all = Repetition { count: member.blocklength, stride: of.extent() };
                    let base = base + i128::from(member.displacement);
                    if of.size() > 0 {
                        self.block(of, base, all, slot.member(i));
                    }
                }
            }
            Parts::Fields(fields) => {
                for (i, field) in fields.iter().enumerate() {
                    if let Some(map) = field.map() {
                        let base = base + field.offset() as i128;
                        self.outline(Outline::Map(map), base, slot.member(i));
                    }
                }
            }
        }
    }

    /// The blocks of a list may lie anywhere. Most lists are in order, with the first blocks near the start and the last ones
    /// near the end, so blocks are visited from both ends.
    fn list(&mut self, list: List<'_>, base: i128, slot: &Slot) {
        let chunks = list.len().div_ceil(CHUNK);
        let of = Outline::Type(list.old);
        for step in 0..chunks {
            let chunk = if step % 2 == 0 { step / 2 } else { chunks - 1 - step / 2 };
            let blocks = chunk * CHUNK..(chunk + 1) * CHUNK;
            for (count, displacement) in blocks.map_while(|i| list.get(i)) {
                if self.left == 0 {
                    return;
                }
                self.left -= 1;
                if count > 0 {
                    self.block(
                        of,
                        base + displacement,
                        Repetition { count, stride: of.extent() },
                        slot,
                    );
                }
            }
        }
    }

    /// Paints a member that the datatype does not have.
    pub(super) fn other(&mut self, field: &DiagramField, number: usize, instances: Repetition) {
        let number = u16::try_from(number).unwrap_or(NO_FIELD);
        let times = field.levels.iter().fold(1, |all: u64, level| all.saturating_mul(level.count));
        let size = i128::from(field.bytes.checked_div(times).unwrap_or(0));
        let whole = Repeat { count: instances.count, stride: Some(instances.stride) };
        let levels: Vec<Repeat> = [whole].iter().chain(&field.levels).copied().collect();
        self.other_levels(field.offset, &levels, size, &mut |painter, from| {
            painter.cells(from, from + size, |cell, mask, starts| match field.basic {
                Some(_) => cell.paint(mask, number, starts),
                None => cell.paint_other(mask, number, starts, field.bits.is_some()),
            });
        });
    }

    fn other_levels(
        &mut self,
        base: i128,
        levels: &[Repeat],
        size: i128,
        one: &mut dyn FnMut(&mut Self, i128),
    ) {
        let Some((level, inner)) = levels.split_first() else { return one(self, base) };
        // What is further away than a picture can be need not be exact.
        let reach = inner.iter().fold(size, |all, level| {
            let last = i128::from(level.count.saturating_sub(1));
            all.saturating_add(last.saturating_mul(level.stride.unwrap_or(0).into()))
        });
        let span = (0, reach.min(i128::from(u64::MAX)));
        let all = Repetition { count: level.count, stride: level.stride.unwrap_or(0) };
        self.repeat(base, all, span, |painter, base| painter.other_levels(base, inner, size, one));
    }

    fn leaf(&mut self, from: i128, to: i128, slot: &Slot) {
        let field = if let Slot::Field(index) = slot { *index } else { NO_FIELD };
        self.cells(from, to, |cell, mask, starts| cell.paint(mask, field, starts));
    }

    /// Calls `paint` for the cells of some bytes, with a mask of these bytes and whether they start there.
    fn cells(&mut self, from: i128, to: i128, mut paint: impl FnMut(&mut Cell, u64, bool)) {
        let Stretch { start, end, cells, .. } = &mut *self.stretch;
        let (low, high) = (from.max(*start), to.min(*end));
        let mut at = low;
        while at < high {
            let index = (at - *start) / self.unit;
            let next = (*start + (index + 1) * self.unit).min(high);
            let shift = (at - *start) % self.unit;
            let Some(cell) = usize::try_from(index).ok().and_then(|index| cells.get_mut(index))
            else {
                return;
            };
            // The bits of these `next - at` bytes, from bit `shift` on. There are at most 64.
            let mask = (u64::MAX >> (64 - (next - at))) << shift;
            paint(cell, mask, at == from);
            at = next;
        }
    }
}
