//! A record in steps, each of which rearranges the bytes of one vector register.
//!
//! A record with more packed bytes than a register has no [permutation](super::Permutation). But its packed bytes can be cut
//! into pieces, each of which comes from 64 bytes of memory. Take a record of 90 bytes in 96 with 40 bytes at 0, 25 at 44, 4 at
//! 72 and 21 at 75:
//!
//! ```text
//! step   packed     from memory                  window
//! 0      0 – 60     0 – 39, 44 – 63              0 – 63
//! 1      60 – 89    64 – 68, 72 – 75, 75 – 95    64 – 127, of which 64 to 95 are data
//! ```
//!
//! To pack, a step loads its window under a mask that leaves out the gaps, moves the data to the front, and stores the whole
//! register; the next step overwrites the excess. To unpack, it stores the window under the mask.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::choose::records::are_steps;
use super::runs::Run;
use crate::isa::WIDTH;

/// A step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// Displacement in bytes of the window from the record's origin.
    pub(crate) window: isize,
    /// Packed bytes of the record before those of the step.
    pub(crate) position: usize,
    /// Packed bytes of the step.
    pub(crate) len: usize,
    /// Which bytes of the window are data, one bit each.
    pub(crate) data: u64,
    /// For each packed byte of the step, which byte of the window it is.
    pub(crate) gather: [u8; WIDTH],
    /// For each byte of the window, which packed byte of the step it is; 0 in the gaps.
    pub(crate) scatter: [u8; WIDTH],
}

impl Step {
    /// The steps for a record of these runs, if they are faster than the runs.
    pub(super) fn all(runs: &[Run]) -> Option<Box<[Self]>> {
        let size = runs.iter().try_fold(0_usize, |sum, run| sum.checked_add(run.len))?;
        // As many steps as are always slower than the runs.
        if size > WIDTH * runs.len() {
            return None;
        }
        let bytes: Vec<isize> = runs
            .iter()
            .flat_map(|run| (0..run.len).map(|byte| run.disp.wrapping_add_unsigned(byte)))
            .collect();
        let (mut all, mut rest, mut position) = (Vec::new(), &bytes[..], 0);
        while let Some(first) = rest.first() {
            let (mut least, mut greatest, mut len) = (*first, *first, 0);
            for byte in rest.iter().take(WIDTH) {
                let (from, to) = (least.min(*byte), greatest.max(*byte));
                if to.checked_sub(from)? >= WIDTH.cast_signed() {
                    break;
                }
                (least, greatest, len) = (from, to, len + 1);
            }
            all.push(Self::new(least, position, &rest[..len]));
            (rest, position) = (&rest[len..], position + len);
        }
        are_steps(runs, all.len()).then(|| all.into())
    }

    /// The step for these displacements of packed bytes, all of which are less than [`WIDTH`] bytes after `window`.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "see above")]
    fn new(window: isize, position: usize, bytes: &[isize]) -> Self {
        let (mut gather, mut scatter, mut data) = ([0; WIDTH], [0; WIDTH], 0);
        for (packed, byte) in bytes.iter().enumerate() {
            let place = (byte - window) as usize % WIDTH;
            gather[packed % WIDTH] = place as u8;
            scatter[place] = packed as u8;
            data |= 1 << place;
        }
        Self { window, position, len: bytes.len(), data, gather, scatter }
    }
}
