//! The pieces of memory that hold a part of the stream.

use arbitrary::Arbitrary;
use dtype_runtime::Error;
use dtype_runtime::convertor::{Iov, Segment};

use super::layout::Layout;

/// A request for the pieces of a part of the stream.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) enum Call {
    /// Lists this number of pieces, and then the others.
    Window(u16, u16, u8),
    /// Lists this number of pieces, counts the others, and continues after a number of them.
    Numbered(u16, u16, u8, u16),
}

pub(super) fn step(layout: &Layout, call: Call) {
    let (Call::Window(from, to, _) | Call::Numbered(from, to, ..)) = call;
    let [from, to] = [from, to].map(|end| layout.position(end));
    let end = layout.packed.len();
    let iov = |from, to| layout.committed.iov(layout.count, from as u64..to as u64);
    if from > to || to > end {
        let refused = Error::Position { position: from.max(to) as u64, end: end as u64 };
        assert_eq!(iov(from, to).err(), Some(refused));
        return;
    }
    let runs = layout.runs(from, to);
    let mut first = iov(from, to).unwrap();
    match call {
        Call::Window(_, _, some) => {
            let mut pieces: Vec<_> = first.by_ref().take(some.into()).collect();
            assert_eq!(first.position(), (from + bytes(&pieces)) as u64);
            let before = pieces.len();
            pieces.extend(iov(first.position() as usize, to).unwrap());
            assert_eq!(pieces, runs);
            // Lists the same pieces in windows.
            let mut window = vec![Segment::default(); usize::from(some) + 1];
            pieces.truncate(before);
            loop {
                let found = first.fill(&mut window);
                pieces.extend_from_slice(&window[..found]);
                if found < window.len() {
                    break;
                }
            }
            assert_eq!(pieces, runs);
        }
        Call::Numbered(_, _, some, number) => numbered(first, from, &runs, some, number),
    }
}

/// Lists some pieces, and then continues after a number of others.
fn numbered(mut iov: Iov<'_>, from: usize, runs: &[Segment], some: u8, number: u16) {
    let given = runs.len().min(some.into());
    // The iterator looks up several pieces at a time, so some are buffered here.
    assert!(iov.by_ref().take(given).eq(runs[..given].iter().copied()));
    let rest = &runs[given..];
    assert_eq!((iov.segments(), iov.clone().count()), (rest.len() as u64, rest.len()));
    assert_eq!(iov.clone().last(), rest.last().copied());
    let number = usize::from(number) % (rest.len() + 3);
    let mut one = iov.clone();
    assert_eq!(one.nth(number), rest.get(number).copied());
    let behind = rest.get(number + 1..).unwrap_or_default();
    assert_eq!(one.size_hint(), (behind.len(), Some(behind.len())));
    let taken = given + rest.len().min(number + 1);
    assert_eq!(one.position(), (from + bytes(&runs[..taken])) as u64);
    assert!(one.eq(behind.iter().copied()));
    assert!(iov.eq(rest.iter().copied()));
}

fn bytes(segments: &[Segment]) -> usize {
    segments.iter().map(|segment| segment.len as usize).sum()
}
