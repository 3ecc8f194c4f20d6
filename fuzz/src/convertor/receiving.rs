//! Unpackers of the target, each with its own part of the stream.

use std::io::{IoSlice, Write};

use arbitrary::Arbitrary;
use dtype_runtime::{BufferMut, Error, Unpacker};

use super::layout::Layout;
use super::lending;
use super::stack::check_stack;

/// A call of an unpacker.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) enum Call {
    Unpack(u16),
    Place(u16),
    Split(u16),
    Stack,
    WriteVectored(u8, u8),
    /// Writes this number of bytes to the memory that the unpacker lends.
    Lend(u16, lending::Way),
    /// Takes everything that a packer of the source returns from the same position on.
    Rest,
}

/// The unpackers, and the expected memory after all steps.
#[derive(Debug)]
pub(super) struct Receiver<'a> {
    layout: &'a Layout,
    parts: Vec<Part<'a>>,
    wanted: Vec<u8>,
    /// The number of steps so far. Each sends other bytes, so a byte shows which step wrote it last.
    steps: usize,
}

#[derive(Debug)]
struct Part<'a> {
    unpacker: Unpacker<'a>,
    start: usize,
    end: usize,
    position: usize,
}

impl<'a> Receiver<'a> {
    /// If the layout cannot be unpacked, there are no unpackers.
    pub(super) fn new(layout: &'a Layout, target: &'a mut [u8]) -> Self {
        let Layout { committed, origin, count, .. } = layout;
        let end = layout.packed.len();
        let parts = match committed.unpacker(BufferMut::new(target).origin(*origin as i64), *count)
        {
            Ok(unpacker) => {
                assert!(!layout.overlaps);
                vec![Part { unpacker, start: 0, end, position: 0 }]
            }
            Err(error) => {
                assert_eq!(error, Error::Overlap { count: *count as u64 });
                assert!(layout.overlaps);
                Vec::new()
            }
        };
        Self { layout, parts, wanted: layout.untouched(), steps: 0 }
    }

    pub(super) fn step(&mut self, who: u8, call: Call) {
        if self.parts.is_empty() {
            return;
        }
        self.steps += 1;
        let layout = self.layout;
        let who = usize::from(who) % self.parts.len();
        let (part, wanted) = (&mut self.parts[who], &mut self.wanted);
        let salt = self.steps * 101;
        // The byte of the stream that this step sends.
        let byte = |position: usize| (position * 7 + salt) as u8;
        let Part { unpacker, start, end, position } = part;
        let (at, left) = (*position, *end - *position);
        match call {
            Call::Unpack(number) => {
                let number = usize::from(number) % (layout.packed.len() + 8);
                let bytes: Vec<u8> = (at..at + number).map(byte).collect();
                let number = number.min(left);
                assert_eq!(unpacker.unpack(&bytes), Ok(number));
                (at..at + number).for_each(|i| wanted[layout.place(i)] = byte(i));
                *position += number;
            }
            Call::Place(to) => {
                let to = layout.position(to);
                let [there, first, last] = [to, *start, *end].map(|number| number as u64);
                let result = unpacker.set_position(there);
                if to > *end {
                    assert_eq!(result, Err(Error::Position { position: there, end: last }));
                } else if to < *start {
                    let refused = Error::OutsidePart { position: there, start: first, end: last };
                    assert_eq!(result, Err(refused));
                } else {
                    assert_eq!(result, Ok(()));
                    *position = to;
                }
            }
            Call::Split(middle) => {
                let part = self.parts.swap_remove(who);
                self.split(part, layout.position(middle));
                return;
            }
            Call::Stack => check_stack(layout, at, &unpacker.stack()),
            Call::WriteVectored(a, b) => {
                let middle = at + usize::from(a);
                let a: Vec<u8> = (at..middle).map(byte).collect();
                let b: Vec<u8> = (middle..middle + usize::from(b)).map(byte).collect();
                let number = (a.len() + b.len()).min(left);
                let buffers = [IoSlice::new(&a), IoSlice::new(&b)];
                assert_eq!(unpacker.write_vectored(&buffers).unwrap(), number);
                (at..at + number).for_each(|i| wanted[layout.place(i)] = byte(i));
                *position += number;
            }
            Call::Lend(number, way) => {
                let number = usize::from(number) % (left + 1);
                let bytes: Vec<u8> = (at..at + number).map(byte).collect();
                lending::write(layout, unpacker, &bytes, *end, way);
                (at..at + number).for_each(|i| wanted[layout.place(i)] = byte(i));
                *position += number;
            }
            Call::Rest => {
                let packed = &layout.packed;
                assert_eq!(unpacker.unpack(&packed[at..]), Ok(left));
                (at..*end).for_each(|i| wanted[layout.place(i)] = packed[i]);
                *position = *end;
            }
        }
        assert_eq!(unpacker.position(), *position as u64);
        assert_eq!(unpacker.remaining(), (*end - *position) as u64);
        assert_eq!(unpacker.is_complete(), *position == *end);
    }

    fn split(&mut self, part: Part<'a>, middle: usize) {
        let Part { unpacker, start, end, position } = part;
        let result = unpacker.split_at(middle as u64);
        if middle < position || middle > end {
            let refused = Error::Position { position: middle as u64, end: end as u64 };
            assert_eq!(result.err(), Some(refused));
            return;
        }
        let (front, back) = result.unwrap();
        assert_eq!((front.position(), back.position()), (position as u64, middle as u64));
        self.parts.push(Part { unpacker: front, start, end: middle, position });
        self.parts.push(Part { unpacker: back, start: middle, end, position: middle });
    }

    /// The expected memory.
    pub(super) fn finish(self) -> Vec<u8> {
        self.wanted
    }
}
