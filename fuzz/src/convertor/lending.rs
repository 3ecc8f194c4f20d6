//! Memory that an unpacker lends for writing.

use arbitrary::Arbitrary;
use bytes::{Buf, BufMut};
use dtype_runtime::Unpacker;

use super::layout::Layout;

/// The way the bytes are written.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) enum Way {
    /// To each lent chunk, at most this number of bytes plus one, as a reader of a socket does.
    Chunks(u8),
    Slice,
    /// From a source of two pieces.
    Chain(u16),
}

/// Writes bytes at the position of an unpacker whose part ends at `end`, as far as there is room.
pub(super) fn write(
    layout: &Layout,
    unpacker: &mut Unpacker<'_>,
    bytes: &[u8],
    end: usize,
    way: Way,
) {
    let position = unpacker.position() as usize;
    let mut buffer = unpacker.buf_mut().unwrap();
    assert_eq!(buffer.remaining_mut(), end - position);
    match way {
        Way::Chunks(most) => {
            let mut rest = bytes;
            for run in layout.runs(position, end) {
                let mut left = run.len as usize;
                while left > 0 && !rest.is_empty() {
                    let chunk = buffer.chunk_mut();
                    assert_eq!(chunk.len(), left);
                    let number = left.min(rest.len()).min(usize::from(most) + 1);
                    let (now, later) = rest.split_at(number);
                    chunk[..number].copy_from_slice(now);
                    // SAFETY: the chunk's first `number` bytes were just written.
                    unsafe { buffer.advance_mut(number) };
                    (rest, left) = (later, left - number);
                }
            }
            assert_eq!(buffer.chunk_mut().len() == 0, buffer.remaining_mut() == 0);
        }
        Way::Slice => buffer.put_slice(bytes),
        Way::Chain(middle) => {
            let (first, second) = bytes.split_at(usize::from(middle) % (bytes.len() + 1));
            buffer.put(first.chain(second));
        }
    }
}
