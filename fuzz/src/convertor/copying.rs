//! Copies from one memory to another, or to another layout.

use arbitrary::Arbitrary;
use dtype_runtime::Buffer;
use dtype_runtime::BufferMut;
use dtype_runtime::Error;

use super::layout::Layout;

/// The source and the target of a copy.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) enum Call {
    /// To another memory, at this offset.
    Apart(u8),
    /// Within one memory, forwards or backwards.
    Within(u8, bool),
    /// To a type of the same basic datatypes without gaps.
    Dense,
}

pub(super) fn step(layout: &Layout, call: Call) {
    let Layout { committed, memory, origin, count, .. } = layout;
    let refused = Err(Error::Overlap { count: *count as u64 });
    match call {
        Call::Apart(shift) => {
            let shift = usize::from(shift);
            let mut target = [layout.untouched(), vec![0x11; shift]].concat();
            let mut wanted = target.clone();
            let result = committed.copy(
                Buffer::new(memory).origin(*origin as i64),
                BufferMut::new(&mut target).origin((origin + shift) as i64),
                *count,
            );
            if layout.overlaps {
                assert_eq!(result, refused);
            } else {
                assert_eq!(result, Ok(()));
                (0..layout.packed.len())
                    .for_each(|i| wanted[layout.place(i) + shift] = layout.packed[i]);
            }
            assert_eq!(target, wanted);
        }
        Call::Within(shift, is_onwards) => {
            let shift = usize::from(shift);
            let mut one = [&memory[..], &vec![0x11; shift]].concat();
            let (from, to) = if is_onwards { (0, shift) } else { (shift, 0) };
            let mut wanted = one.clone();
            let result = committed.copy_within(
                &mut one,
                (origin + from) as i64,
                (origin + to) as i64,
                *count,
            );
            if layout.overlaps {
                assert_eq!(result, refused);
            } else {
                assert_eq!(result, Ok(()));
                let before = wanted.clone();
                for i in 0..layout.packed.len() {
                    wanted[layout.place(i) + to] = before[layout.place(i) + from];
                }
            }
            assert_eq!(one, wanted);
        }
        Call::Dense => dense(layout),
    }
}

/// Packs with one layout, and unpacks with another one of the same signature.
fn dense(layout: &Layout) {
    let Layout { committed, memory, origin, count, packed, .. } = layout;
    let (mut between, mut out) = (vec![0; packed.len()], vec![0; packed.len()]);
    committed.pack(Buffer::new(memory).origin(*origin as i64), *count, &mut between).unwrap();
    assert_eq!(layout.dense().unpack(&between, &mut out, *count), Ok(packed.len()));
    assert_eq!(out, *packed);
}
