//! Calls of the convertor, in any order, over any layout.
//!
//! The input is a nested type, a number of instances, and a sequence of operations: packing and unpacking in fragments, from
//! positions, in parts, by several packers and unpackers of one memory, in the native representation and in others. After each
//! step, the result is compared with the layout written out byte by byte, and every byte that the layout does not name must be
//! unchanged.

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
use dtype_test_support::counting::max_in_use;
use layout::Layout;
use receiving::Receiver;
use sending::Sender;

/// The maximum number of bytes that a run has in use, with types as small as these.
const MAX_MEMORY: usize = 16 << 20;

/// The maximum number of steps of one input.
const MAX_STEPS: usize = 100;

/// One call. Positions are taken modulo a little more than the valid range, because a position out of range must be refused.
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
    /// Calls of a packer and an unpacker of memory that only a backend accesses.
    Behind(behind::Call),
    /// The stream in another machine's representation. The next calls, up to the given number, go to packers and unpackers of
    /// it.
    Represent(represented::Machine, represented::Numbers, u8),
}

/// Makes a layout from the input, and runs its steps.
///
/// # Panics
///
/// If the engine and the reference differ, or a run has more than 16 MiB in use.
pub fn run(input: &[u8]) {
    let (most, _) = max_in_use(|| run_all(&mut Unstructured::new(input)));
    assert!(most <= MAX_MEMORY, "{most} bytes of memory");
}

/// Runs the steps until the input ends.
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
