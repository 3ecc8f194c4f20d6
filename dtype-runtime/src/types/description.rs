//! The description: a datatype in Open MPI's notation, before any optimization.
//!
//! The notation follows Open MPI's `opal_datatype_t`: a flat list of [`Elem`], [`Loop`] and [`EndLoop`] entries.

use alloc::vec::Vec;

use super::walk::{Sink, walk};
use super::{Flags, Type};
use crate::basic::Basic;

/// One entry of a [`Description`] (`dt_elem_desc_t`). Open MPI's descriptions have exactly these three kinds, so a
/// match can be exhaustive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Data.
    Elem(Elem),
    /// The start of a repetition.
    Loop(Loop),
    /// The end of a repetition.
    EndLoop(EndLoop),
}

/// `count` basic datatypes that touch (`ddt_elem_desc_t`). Basic datatypes with gaps between them are in a [`Loop`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elem {
    /// The basic datatype.
    pub basic: Basic,
    /// The number of basic datatypes.
    pub count: u64,
    /// Displacement of the first one, in bytes from the origin of the whole type; the loops around it add their own
    /// displacements.
    pub disp: i64,
    /// Distance in bytes from the start of one to the start of the next. It is the size of the basic datatype.
    pub extent: i64,
}

/// The start of a repetition (`ddt_loop_desc_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The number of repetitions of the entries up to the matching [`EndLoop`].
    pub loops: u64,
    /// Number of entries up to and including the matching [`EndLoop`].
    pub items: usize,
    /// The number of bytes by which the displacements advance with each repetition.
    pub extent: i64,
    /// The flags `CONTIGUOUS` and `NO_GAPS` of one repetition.
    pub flags: Flags,
}

/// The end of a repetition (`ddt_endloop_desc_t`). The last entry of a description is also one: it ends the loop
/// over the instances, which has no [`Loop`] entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndLoop {
    /// Number of entries back to the matching [`Loop`].
    pub items: usize,
    /// Bytes of data in one repetition.
    pub size: u64,
    /// Displacement in bytes of the first data in the loop.
    pub first_elem_disp: i64,
    /// The flags of the matching [`Loop`].
    pub flags: Flags,
}

impl EndLoop {
    /// A placeholder until the description is finished.
    const UNFILLED: Self = Self { items: 0, size: 0, first_elem_disp: 0, flags: Flags::NONE };
}

/// A top-level part of a body.
pub(crate) enum Item<'a> {
    /// Data.
    Elem(&'a Elem),
    /// A loop, with its body.
    Loop(&'a Loop, &'a [Entry]),
}

/// The top-level parts of a body, with or without the [`EndLoop`] after it.
pub(crate) fn items(body: &[Entry]) -> impl Iterator<Item = Item<'_>> {
    let mut rest = body;
    core::iter::from_fn(move || match rest {
        [Entry::Elem(elem), after @ ..] => {
            rest = after;
            Some(Item::Elem(elem))
        }
        [Entry::Loop(head), after @ ..] => {
            let (inside, others) = after.split_at(head.items);
            rest = others;
            Some(Item::Loop(head, &inside[..head.items - 1]))
        }
        [Entry::EndLoop(_), ..] | [] => None,
    })
}

impl Elem {
    /// Bytes of data.
    pub const fn size(&self) -> u64 {
        self.count.saturating_mul(self.basic.size() as u64)
    }

    /// One past the last byte.
    pub(crate) const fn end(&self) -> i64 {
        // The data's end was checked when the type was made.
        self.disp.wrapping_add(self.size().cast_signed())
    }
}

/// A datatype as a list of entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    entries: Vec<Entry>,
    extent: i64,
}

impl Description {
    /// The entries; the last one is the [`EndLoop`] of the loop over the instances.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The number of bytes by which the displacements advance from one instance to the next.
    pub fn extent(&self) -> i64 {
        self.extent
    }

    /// This description for instances with a stride of `extent` bytes.
    pub(crate) fn at(self, extent: i64) -> Self {
        Self { extent, ..self }
    }
}

impl Type {
    /// The type written down entry by entry, as the constructors gave it. Bounds are not included: a resize has no effect on
    /// the entries.
    ///
    /// ```
    /// use dtype_runtime::types::Entry;
    /// use dtype_runtime::{Basic, Type};
    /// let rows = Type::vector(4, 5, 6, &Type::basic(Basic::U16))?;
    /// let [Entry::Loop(rows), Entry::Elem(row), ..] = *rows.description().entries() else {
    ///     panic!("a loop over one run")
    /// };
    /// assert_eq!((rows.loops, rows.extent), (4, 12));
    /// assert_eq!((row.count, row.disp, row.extent), (5, 0, 2));
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn description(&self) -> Description {
        self.describe(Detail::Layout)
    }

    pub(super) fn describe(&self, detail: Detail) -> Description {
        // An upper bound, at most some millions; unused memory is never touched.
        let capacity = usize::try_from(self.0.entries).map_or(0, |entries| entries + 1);
        let entries = Vec::with_capacity(capacity);
        let mut writer = Writer { detail, entries, fence: 0 };
        walk(self, 0, &mut writer);
        writer.finish(if detail == Detail::Signature { 0 } else { self.extent() })
    }
}

/// A description's summary of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// The basic datatypes and where they are.
    Layout,
    /// The bytes, as elements of [`Basic::U8`], and where they are.
    Bytes,
    /// The sequence of basic datatypes, each replaced by the type that it counts as in a signature. All displacements and
    /// strides are 0.
    Signature,
}

/// Writes a description.
#[derive(Debug)]
pub(crate) struct Writer {
    detail: Detail,
    entries: Vec<Entry>,
    /// Index of the first entry with which data may still be merged: the first entry of the innermost open loop, or the one
    /// after the last closed loop.
    fence: usize,
}

impl Writer {
    pub(crate) fn new() -> Self {
        Self { detail: Detail::Layout, entries: Vec::new(), fence: 0 }
    }

    /// Starts a loop; pass the result to [`close`](Self::close).
    pub(crate) fn open(&mut self) -> LoopStart {
        let open = LoopStart { start: self.entries.len(), fence: self.fence };
        // Overwritten when the loop is closed.
        self.entries.push(Entry::Loop(Loop { loops: 0, items: 0, extent: 0, flags: Flags::NONE }));
        self.fence = self.entries.len();
        open
    }

    /// Ends the innermost loop. A loop over a single entry of data becomes a single entry if the repetitions touch.
    #[expect(clippy::needless_pass_by_value, reason = "a loop is ended once")]
    pub(crate) fn close(&mut self, open: LoopStart, loops: u64, extent: i64) {
        let LoopStart { start, fence } = open;
        let is_signature = self.detail == Detail::Signature;
        let extent = if is_signature { 0 } else { extent };
        if let [Entry::Elem(elem)] = self.entries[start + 1..]
            && (is_signature || i128::from(extent) == i128::from(elem.size()))
        {
            self.entries.truncate(start);
            self.fence = fence;
            return self.elem(Elem { count: elem.count * loops, ..elem });
        }
        self.entries[start] = Entry::Loop(Loop { loops, items: 0, extent, flags: Flags::NONE });
        self.entries.push(Entry::EndLoop(EndLoop::UNFILLED));
        self.fence = self.entries.len();
    }

    /// Adds data. Merges them into the previous entry if that ends where these start and has the same type.
    pub(crate) fn elem(&mut self, mut elem: Elem) {
        let detail = self.detail;
        match detail {
            Detail::Layout => {}
            Detail::Bytes => {
                elem = Elem { basic: Basic::U8, count: elem.size(), disp: elem.disp, extent: 1 };
            }
            Detail::Signature => {
                elem = Elem { basic: elem.basic.canonical(), disp: 0, extent: 0, ..elem };
            }
        }
        match self.last_elem() {
            Some(last)
                if last.basic == elem.basic
                    && (detail == Detail::Signature || last.end() == elem.disp) =>
            {
                last.count += elem.count;
            }
            _ => self.entries.push(Entry::Elem(elem)),
        }
    }

    /// The last entry, if it is data in the innermost open loop.
    pub(crate) fn last_elem(&mut self) -> Option<&mut Elem> {
        match self.entries[self.fence..].last_mut() {
            Some(Entry::Elem(elem)) => Some(elem),
            _ => None,
        }
    }

    /// The entries since the innermost open loop started.
    pub(crate) fn body(&self, open: &LoopStart) -> &[Entry] {
        &self.entries[open.start + 1..]
    }

    /// Removes the innermost open loop and everything in it.
    #[expect(clippy::needless_pass_by_value, reason = "a loop is ended once")]
    pub(crate) fn discard(&mut self, open: LoopStart) {
        self.entries.truncate(open.start);
        self.fence = open.fence;
    }

    /// Adds the end of the loop over the instances, and fills in the fields of each loop's entries that refer to
    /// one another.
    pub(crate) fn finish(mut self, extent: i64) -> Description {
        self.entries.push(Entry::EndLoop(EndLoop::UNFILLED));
        let mut levels = Vec::new();
        let mut level = LoopContent::default();
        for index in 0..self.entries.len() {
            match self.entries[index] {
                Entry::Elem(elem) => level.add(elem.disp, elem.size(), true),
                Entry::Loop(_) => {
                    levels.push(level);
                    level = LoopContent { start: Some(index), ..LoopContent::default() };
                }
                Entry::EndLoop(_) => {
                    let inner = core::mem::replace(&mut level, levels.pop().unwrap_or_default());
                    let (items, first) =
                        (index - inner.start.unwrap_or(0), inner.first.unwrap_or(0));
                    let flags = |stride| {
                        let touching = i128::from(stride) == i128::from(inner.size);
                        Flags::CONTIGUOUS.when(!inner.broken)
                            | Flags::NO_GAPS.when(!inner.broken && touching)
                    };
                    let mut flags_of_end = flags(extent);
                    if let Some(start) = inner.start
                        && let Entry::Loop(head) = &mut self.entries[start]
                    {
                        flags_of_end = flags(head.extent);
                        (head.items, head.flags) = (items, flags_of_end);
                        // A loop has more than one repetition.
                        let is_run = head.flags.contains(Flags::NO_GAPS);
                        level.add(first, inner.size * head.loops, is_run);
                    }
                    self.entries[index] = Entry::EndLoop(EndLoop {
                        items,
                        size: inner.size,
                        first_elem_disp: first,
                        flags: flags_of_end,
                    });
                }
            }
        }
        self.entries.shrink_to_fit();
        Description { entries: self.entries, extent }
    }
}

impl Sink for Writer {
    const BYTES: bool = false;

    type Open = LoopStart;

    fn elem(&mut self, elem: Elem) {
        Self::elem(self, elem);
    }

    fn begin(&mut self) -> LoopStart {
        self.open()
    }

    fn end(&mut self, open: LoopStart, loops: u64, extent: i64) {
        self.close(open, loops, extent);
    }
}

/// A loop that has started and not ended.
#[derive(Debug)]
pub(crate) struct LoopStart {
    start: usize,
    fence: usize,
}

/// A loop while its entries are read.
#[derive(Default)]
struct LoopContent {
    start: Option<usize>,
    size: u64,
    first: Option<i64>,
    end: Option<i64>,
    broken: bool,
}

impl LoopContent {
    fn add(&mut self, disp: i64, size: u64, is_run: bool) {
        self.broken |= !is_run || self.end.is_some_and(|end| end != disp);
        self.first.get_or_insert(disp);
        self.size += size;
        // Only used while the data are one run.
        self.end = Some(disp.wrapping_add(size.cast_signed()));
    }
}
