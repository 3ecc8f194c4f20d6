//! All segments of a range, folded into a value.

use core::ops::{ControlFlow, Range};

use super::Segment;
use super::walk::Taker;
use crate::convertor::cursor::Instances;

/// Folds the segments of a range.
pub(super) fn fold<B, F: FnMut(B, Segment) -> B>(
    instances: Instances<'_>,
    range: Range<u64>,
    folded: B,
    f: F,
) -> B {
    if range.is_empty() {
        return folded;
    }
    let mut folder = Folder { folded: Some(folded), f, last: Segment::NONE };
    let _ = instances.visit(range, &mut folder);
    folder.folded()
}

/// Folds the segments of a range, in order.
struct Folder<B, F> {
    /// Absent only during a call of `f`.
    folded: Option<B>,
    f: F,
    /// The last segment, which may still grow. It has no bytes before the first one.
    last: Segment,
}

impl<B, F: FnMut(B, Segment) -> B> Folder<B, F> {
    fn folded(mut self) -> B {
        let Self { folded, f, last } = &mut self;
        let folded =
            folded.take().map(|folded| if last.len == 0 { folded } else { f(folded, *last) });
        folded.unwrap_or_else(|| unreachable!("it is put back after each call"))
    }
}

impl<B, F: FnMut(B, Segment) -> B> Taker for Folder<B, F> {
    #[inline(always)]
    fn take(&mut self, disp: i64, len: u64) -> ControlFlow<()> {
        let Self { folded, f, last } = self;
        if last.len > 0 && last.end() == disp {
            last.len += len;
            return ControlFlow::Continue(());
        }
        let before = core::mem::replace(last, Segment { disp, len });
        if before.len > 0 {
            *folded = folded.take().map(|folded| f(folded, before));
        }
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn apart(&mut self, mut blocks: impl Iterator<Item = Segment>) -> ControlFlow<()> {
        let Some(first) = blocks.next() else { return ControlFlow::Continue(()) };
        self.take(first.disp, first.len)?;
        let Self { folded, f, last } = self;
        // A copy, which stays in a register.
        let mut before = *last;
        let next = |folded, block| f(folded, core::mem::replace(&mut before, block));
        *folded = folded.take().map(|folded| blocks.fold(folded, next));
        *last = before;
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn each_apart(&mut self, blocks: impl Iterator<Item = Segment>) -> ControlFlow<()> {
        self.apart(blocks)
    }

    fn takes_many(&self) -> bool {
        true
    }
}
