//! Packers of the source, each at its own position.

use std::io::{IoSliceMut, Read, Seek, SeekFrom};

use arbitrary::Arbitrary;
use dtype_runtime::{Buffer, Error, Packer, Type};

use super::layout::Layout;
use super::stack::check_stack;

/// A call of a packer.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) enum Call {
    Pack(u16),
    Place(u16),
    Seek(i16, u8),
    Clone,
    Chunk,
    Chunks(u8),
    Stack,
    ReadVectored(u8, u8),
}

/// The packers, with their positions.
#[derive(Debug)]
pub(super) struct Sender<'a> {
    layout: &'a Layout,
    packers: Vec<(Packer<'a>, usize)>,
}

impl<'a> Sender<'a> {
    const MAX_PACKERS: usize = 4;

    pub(super) fn new(layout: &'a Layout) -> Self {
        let Layout { committed, memory, origin, count, .. } = layout;
        let packer = committed.packer(Buffer::new(memory).origin(*origin as i64), *count).unwrap();
        let all = Type::contiguous(*count as u64, committed.as_type()).unwrap();
        assert_eq!(packer.signature_hash(), all.signature_hash());
        Self { layout, packers: vec![(packer, 0)] }
    }

    pub(super) fn step(&mut self, who: u8, call: Call) {
        let layout = self.layout;
        let (packed, end) = (&layout.packed, layout.packed.len());
        let who = usize::from(who) % self.packers.len();
        let clones = self.packers.len();
        let (packer, position) = &mut self.packers[who];
        let at = *position;
        match call {
            Call::Pack(room) => {
                let room = usize::from(room) % (end + 8);
                let number = room.min(end - at);
                let mut out = vec![0xA5; room + 2];
                assert_eq!(packer.pack(&mut out[1..=room]), number);
                assert_eq!(out[1..=number], packed[at..at + number]);
                assert_eq!(out[0], 0xA5);
                assert!(out[number + 1..].iter().all(|byte| *byte == 0xA5));
                *position += number;
            }
            Call::Place(to) => {
                let to = layout.position(to);
                let result = packer.set_position(to as u64);
                if to > end {
                    let refused = Error::Position { position: to as u64, end: end as u64 };
                    assert_eq!(result, Err(refused));
                } else {
                    assert_eq!(result, Ok(()));
                    *position = to;
                }
            }
            Call::Seek(offset, from) => {
                let (from, base) = match from % 2 {
                    0 => (SeekFrom::Current(offset.into()), at),
                    _ => (SeekFrom::End(offset.into()), end),
                };
                let to = base as i64 + i64::from(offset);
                match packer.seek(from) {
                    Ok(there) => {
                        assert_eq!(there as i64, to);
                        *position = to as usize;
                    }
                    Err(_) => assert!(to < 0 || to > end as i64),
                }
            }
            Call::Clone => {
                if clones < Self::MAX_PACKERS {
                    let clone = packer.clone();
                    self.packers.push((clone, at));
                }
            }
            Call::Chunk => {
                let first = layout.runs(at, end).first().map_or(0, |run| run.len as usize);
                assert_eq!(packer.chunk(), &packed[at..at + first]);
            }
            Call::Chunks(limit) => {
                let runs = layout.runs(at, end);
                let limit = usize::from(limit);
                let mut from = at;
                assert_eq!(packer.chunks().count(), runs.len());
                for (chunk, run) in packer.chunks().zip(runs).take(limit) {
                    assert_eq!(chunk, &packed[from..from + run.len as usize]);
                    from += chunk.len();
                }
            }
            Call::Stack => check_stack(layout, at, &packer.stack()),
            Call::ReadVectored(a, b) => {
                let (mut a, mut b) = (vec![0xA5; a.into()], vec![0xA5; b.into()]);
                let mut buffers = [IoSliceMut::new(&mut a), IoSliceMut::new(&mut b)];
                let number = packer.read_vectored(&mut buffers).unwrap();
                assert_eq!(number, (a.len() + b.len()).min(end - at));
                let read = [a, b].concat();
                assert_eq!(read[..number], packed[at..at + number]);
                assert!(read[number..].iter().all(|byte| *byte == 0xA5));
                *position += number;
            }
        }
        let (packer, position) = &self.packers[who];
        assert_eq!(packer.position(), *position as u64);
        assert_eq!(packer.remaining(), (end - position) as u64);
        assert_eq!(packer.is_complete(), *position == end);
    }
}
