//! Calls of the convertor, in any order, over any layout.
//!
//! The input is a nested type, how many instances of it there are, and what is done with them: packed and unpacked
//! in fragments, from positions, in parts, by several packers and unpackers of one memory, as this machine has them
//! and as others do. Each step is compared with the layout written out byte by byte, and the bytes that none of them
//! names have to stay as they are.

mod behind;
mod copying;
mod foreign;
mod layout;
mod lending;
mod numbers;
mod receiving;
mod represented;
mod segments;
mod sending;
mod shape;
mod stack;

use arbitrary::{Arbitrary, Unstructured};

use behind::Behind;
use layout::Layout;
use receiving::Receiver;
use sending::Sender;

/// The most steps of one input.
const MAX_STEPS: usize = 100;

/// One call. Places are numbers that are taken modulo what there is, and a little more: what is out of range has to
/// be refused.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Step {
    /// Calls of a packer of the source.
    Send(u8, sending::Call),
    /// Calls of an unpacker of the target.
    Receive(u8, receiving::Call),
    /// Calls that move a message as a whole.
    Copy(copying::Call),
    /// Pieces of the memory.
    Segments(segments::Call),
    /// Calls of a packer and an unpacker of memory that the engine does not reach itself.
    Behind(behind::Call),
    /// Everything as another machine has it: some of the calls that are next are of its packers and unpackers.
    Represent(represented::Machine, represented::Numbers, u8),
}

/// Makes a layout of the input, and goes through its steps.
pub fn run(input: &[u8]) {
    let _ = run_all(&mut Unstructured::new(input));
}

/// Ends where the input does.
fn run_all(input: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let tree = shape::tree(input)?;
    let Some(layout) = Layout::new(&tree, input)? else { return Ok(()) };
    layout.check();
    let mut sender = Sender::new(&layout);
    let mut target = layout.untouched();
    let mut receiver = Receiver::new(&layout, &mut target);
    let mut behind = None;
    for _ in 0..MAX_STEPS {
        if input.is_empty() {
            break;
        }
        match Step::arbitrary(input)? {
            Step::Send(who, call) => sender.step(who, call),
            Step::Receive(who, call) => receiver.step(who, call),
            Step::Copy(call) => copying::step(&layout, call),
            Step::Segments(call) => segments::step(&layout, call),
            Step::Behind(call) => {
                behind.get_or_insert_with(|| Behind::new(&layout)).step(call);
            }
            Step::Represent(machine, numbers, calls) => {
                foreign::session(&layout, machine, numbers, calls, input)?;
            }
        }
    }
    let wanted = receiver.finish();
    assert_eq!(target, wanted);
    Ok(())
}
