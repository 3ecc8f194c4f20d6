//! The convertor's stack, compared with a walk of the description that converts one byte after another.

use dtype_runtime::convertor::{StackFrame, StackType};
use dtype_runtime::types::{Description, Entry};
use dtype_runtime::{Basic, Error, Type};
use dtype_test_support::model::{config, trees};
use proptest::prelude::*;

/// A frame: its index, its basic datatype if it is a data frame, its count and its displacement.
type Frame = (i64, Option<Basic>, u64, i64);

fn frame(frame: &StackFrame) -> Frame {
    let basic = match frame.kind {
        StackType::Loop => None,
        StackType::Basic(basic) => Some(basic),
    };
    (frame.index, basic, frame.count, frame.disp)
}

fn stack(description: &Description, count: u64, position: u64) -> Vec<Frame> {
    description.stack(count, position).unwrap().iter().map(frame).collect()
}

/// A loop around the current byte.
#[derive(Clone, Copy)]
struct Around {
    index: i64,
    /// The number of remaining iterations, with this one.
    left: u64,
    disp: i64,
    /// The number of bytes that had been converted when this iteration began.
    start: usize,
}

/// The stack before each byte, found by converting one byte after another.
struct Walk {
    around: Vec<Around>,
    stacks: Vec<Vec<Frame>>,
}

impl Walk {
    fn of(description: &Description, count: u64) -> Vec<Vec<Frame>> {
        let mut walk = Self { around: Vec::new(), stacks: Vec::new() };
        let (_, body) = description.entries().split_last().unwrap();
        walk.repeat(body, 0, -1, (count, description.extent()));
        // At the end, each loop is where the last byte was, and all of its iterations have begun.
        let end = walk.stacks.last().map_or(Vec::new(), |last| {
            let loops = last.iter().filter(|(_, basic, ..)| basic.is_none());
            loops.map(|&(index, basic, _, disp)| (index, basic, 0, disp)).collect()
        });
        walk.stacks.push(end);
        walk.stacks
    }

    fn repeat(&mut self, body: &[Entry], first: i64, index: i64, (loops, extent): (u64, i64)) {
        let mut disp = self.around.last().map_or(0, |around| around.disp);
        for iteration in 0..loops {
            let (left, start) = (loops - iteration, self.stacks.len());
            self.around.push(Around { index, left, disp, start });
            self.body(body, first);
            self.around.pop();
            disp += extent;
        }
    }

    fn body(&mut self, entries: &[Entry], first: i64) {
        let mut at = 0;
        while let Some(entry) = entries.get(at) {
            let index = first + at as i64;
            match entry {
                Entry::Elem(elem) => {
                    let mut disp = self.around.last().unwrap().disp;
                    for element in 0..elem.count {
                        for byte in 0..elem.basic.size() {
                            let data =
                                (index, Some(elem.basic), elem.count - element, disp + byte as i64);
                            self.byte(data, (element, byte) != (0, 0) || index == 0);
                        }
                        disp += elem.extent;
                    }
                    at += 1;
                }
                Entry::Loop(head) => {
                    let body = &entries[at + 1..at + head.items];
                    self.repeat(body, index + 1, index, (head.loops, head.extent));
                    at += 1 + head.items;
                }
                Entry::EndLoop(_) => unreachable!("it is after the body"),
            }
        }
    }

    fn byte(&mut self, data: Frame, is_shown: bool) {
        let converted = self.stacks.len();
        let frames = self.around.iter().map(|around| {
            let begun = u64::from(converted > around.start);
            (around.index, None, around.left - begun, around.disp)
        });
        self.stacks.push(frames.chain(is_shown.then_some(data)).collect());
    }
}

/// The displacement of the data is not in the stack.
#[test]
fn data_away_from_the_origin() {
    for disp in [8, 0, -8, 1 << 40] {
        let ty = Type::hindexed(&[3], &[disp], &Type::basic(Basic::U16)).unwrap();
        let at = |position| stack(&ty.description(), 2, position);
        let data = |count, disp| (0, Some(Basic::U16), count, disp);
        assert_eq!(at(0), [(-1, None, 2, 0), data(3, 0)]);
        assert_eq!(at(2), [(-1, None, 1, 0), data(2, 2)]);
        assert_eq!(at(5), [(-1, None, 1, 0), data(1, 5)]);
        // The second instance begins at the extent, 6, whatever the displacement of the data.
        assert_eq!(at(6), [(-1, None, 1, 6), data(3, 6)]);
        assert_eq!(at(8), [(-1, None, 0, 6), data(2, 8)]);
        assert_eq!(at(12), [(-1, None, 0, 6)]);
    }
}

/// Two rows of three columns of two numbers, in reverse, after a single number.
#[test]
fn nested_loops_away_from_the_origin() {
    let number = Type::basic(Basic::I32);
    let row = Type::hvector(3, 2, -20, &number).unwrap();
    let rows = Type::hvector(2, 1, 100, &row).unwrap();
    let ty = Type::structure(&[1, 1], &[-500, 44], &[number, rows]).unwrap();
    let ty = Type::resized(&ty, 0, 1000).unwrap();
    let description = ty.description();
    // Five bytes into the third block of the second row of the second instance. An instance has 4 bytes and then 3 × 8 per row.
    let position = 52 + 4 + 24 + 16 + 5;
    let expected = [
        (-1, None, 0, 1000),
        (1, None, 0, 1100),
        (2, None, 0, 1060),
        (3, Some(Basic::I32), 1, 1065),
    ];
    assert_eq!(stack(&description, 2, position), expected);
    // The entry has the displacement of the rows.
    let Entry::Elem(elem) = description.entries()[3] else { panic!("{description:?}") };
    assert_eq!(elem.disp, 44);
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn the_stack_is_that_of_a_walk(tree in trees(), instances in 1_usize..4) {
        let (ty, map) = (tree.build().unwrap(), tree.map());
        let (bytes, count) = (map.bytes(instances), instances as u64);
        for description in [ty.description(), ty.commit().optimized_description()] {
            let walk = Walk::of(&description, count);
            prop_assert_eq!(walk.len(), bytes.len() + 1);
            for (position, expected) in walk.iter().enumerate() {
                let found = stack(&description, count, position as u64);
                prop_assert_eq!(&found, expected, "{} in\n{:?}", position, description);
                // The displacement in the frame plus that of the entry is the place of the next byte in memory.
                if let Some(&(index, Some(_), _, disp)) = found.last() {
                    let index = usize::try_from(index).unwrap();
                    let Entry::Elem(elem) = description.entries()[index] else { panic!() };
                    prop_assert_eq!(elem.disp + disp, bytes[position]);
                }
            }
            let end = bytes.len() as u64;
            let refused = Error::Position { position: end + 1, end };
            prop_assert_eq!(description.stack(count, end + 1), Err(refused));
        }
    }
}

#[test]
fn packers_and_unpackers_have_the_stack_of_their_position() {
    let rows = Type::vector(2, 3, 5, &Type::basic(Basic::U16)).unwrap();
    let ty = Type::hvector(2, 1, 40, &rows).unwrap().commit();
    let mut memory = [0; 200];
    for position in [0, 5, 12, 23, 40, 48] {
        let expected = ty.description().stack(2, position).unwrap();
        let mut packer = ty.packer(&memory, 2).unwrap();
        packer.set_position(position).unwrap();
        assert_eq!(packer.stack(), expected);
        let mut unpacker = ty.unpacker(&mut memory, 2).unwrap();
        unpacker.set_position(position).unwrap();
        assert_eq!(unpacker.stack(), expected);
    }
}

/// The elements of a slice have Rust's stride, whatever extent their type has.
#[cfg(feature = "derive")]
#[test]
fn the_stack_of_a_slice() {
    #[derive(dtype_runtime::Datatype)]
    #[dtype(resize(lb = -4, extent = 100))]
    struct Wide(u32, u8);

    let items = [Wide(1, 2), Wide(3, 4), Wide(5, 6)];
    let mut packer = dtype_runtime::Packer::new(&items);
    packer.set_position(10).unwrap();
    let stack: Vec<Frame> = packer.stack().iter().map(frame).collect();
    assert_eq!(stack[0], (-1, None, 1, 16));
}
