//! The moves of one record whose fields are used just before or just after it is copied.
//!
//! [`constant`](crate::kernel::constant) copies a run in as few moves as possible: 21 bytes are 16 and an overlapping 16. That is
//! best for many records. But a processor forwards what it has just stored to a load only if a single store has all the bytes
//! of the load. Otherwise the load stalls until the stores are in the cache, which takes longer than the whole copy. So a
//! single record is copied in moves that no aligned field crosses: each starts at a multiple of its own width, which is a power
//! of two up to 8 bytes. The optimizer then keeps most fields in registers.
//!
//! For `{f64, u32, u8}` with 13 bytes at 0, the moves are 8 bytes at 0, 4 at 8, 1 at 12: the fields themselves.

use crate::plan::{Run, RunList};

/// Some bytes of the record.
#[derive(Clone, Copy)]
pub(super) struct Move {
    /// Displacement in bytes from the record's origin.
    pub(super) disp: isize,
    /// Position in the packed record.
    pub(super) position: usize,
    /// Number of bytes.
    pub(super) len: usize,
}

/// The moves in packed order.
pub(super) struct Moves {
    list: [Move; Self::MAX_MOVES],
    len: usize,
}

impl Moves {
    /// A record that takes more moves than this is copied in pieces.
    pub(super) const MAX_MOVES: usize = 16;

    /// No moves: the record is copied in pieces.
    const NONE: Self =
        Self { list: [Move { disp: 0, position: 0, len: 0 }; Self::MAX_MOVES], len: 0 };

    /// The moves for these runs, or none if there would be too many.
    pub(super) const fn from_runs(runs: &RunList) -> Self {
        let (mut moves, mut position) = (Self::NONE, 0);
        let (runs, mut i) = (runs.all(), 0);
        while i < runs.len() {
            let Run { disp: mut at, len: mut left } = runs[i];
            while left > 0 {
                if moves.len == Self::MAX_MOVES {
                    return Self::NONE;
                }
                let len = width(at, left);
                moves.list[moves.len] = Move { disp: at, position, len };
                moves.len += 1;
                position += len;
                (at, left) = (at.wrapping_add_unsigned(len), left - len);
            }
            i += 1;
        }
        moves
    }

    /// The number of moves; 0 if the record is copied in pieces.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// The move at `index`.
    #[inline(always)]
    pub(super) const fn get(&self, index: usize) -> Move {
        self.list[index]
    }
}

/// Bytes of the widest move from displacement `at` on, at most `left`.
const fn width(at: isize, left: usize) -> usize {
    let mut width = 8;
    while width > left || !at.unsigned_abs().is_multiple_of(width) {
        width /= 2;
    }
    width
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::Basic;
    use crate::plan::Op;
    use crate::types::Type;

    fn moves(ty: &Type) -> Vec<(isize, usize)> {
        let committed = ty.commit();
        let ops: &[Op] = committed.plan().ops();
        let moves = Moves::from_runs(&RunList::expand(ops).unwrap());
        let mut position = 0;
        (0..moves.len())
            .map(|i| {
                let next = moves.get(i);
                assert_eq!(next.position, position);
                position += next.len;
                (next.disp, next.len)
            })
            .collect()
    }

    #[test]
    fn fields_are_moved_whole() {
        assert_eq!(moves(&Type::of::<(f64, u32, u8)>()).iter().map(|m| m.1).sum::<usize>(), 13);
        let ty = |disp, len| {
            let bytes = Type::contiguous(len, &Type::basic(Basic::U8)).unwrap();
            Type::structure(&[1], &[disp], &[bytes]).unwrap()
        };
        assert_eq!(moves(&ty(0, 13)), [(0, 8), (8, 4), (12, 1)]);
        assert_eq!(moves(&ty(3, 13)), [(3, 1), (4, 4), (8, 8)]);
        assert_eq!(moves(&ty(-3, 13)), [(-3, 1), (-2, 2), (0, 8), (8, 2)]);
        assert_eq!(moves(&ty(0, 128)).len(), 16);
        assert_eq!(moves(&ty(0, 129)), []);
    }
}
