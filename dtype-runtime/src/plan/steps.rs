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
        Self::cut(runs).filter(|all| are_steps(runs, all.len()))
    }

    /// The steps for a record of these runs. `None` if displacements are further apart than an address can be.
    pub(crate) fn cut(runs: &[Run]) -> Option<Box<[Self]>> {
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
        Some(all.into())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(all: &[(isize, usize)]) -> Vec<Run> {
        all.iter().map(|&(disp, len)| Run { disp, len }).collect()
    }

    /// The window, the packed bytes before it and in it, and which bytes of the window are data, for each step.
    fn cut(all: &[(isize, usize)]) -> Vec<(isize, usize, usize, u64)> {
        let steps = Step::cut(&runs(all)).unwrap();
        steps.iter().map(|step| (step.window, step.position, step.len, step.data)).collect()
    }

    #[test]
    fn the_example_is_two_steps() {
        let all = [(0, 40), (44, 25), (72, 4), (75, 21)];
        let steps = Step::cut(&runs(&all)).unwrap();
        let gap = 0xF << 40;
        // Bytes 64 to 68, 72 to 95.
        assert_eq!(cut(&all), [(0, 0, 60, !gap), (64, 60, 30, 0xFFFF_FF1F)]);
        // Byte 75 is packed twice; what is unpacked last stays.
        assert_eq!(steps[1].gather[..12], [0, 1, 2, 3, 4, 8, 9, 10, 11, 11, 12, 13]);
        assert_eq!(steps[1].scatter[..13], [0, 1, 2, 3, 4, 0, 0, 0, 5, 6, 7, 9, 10]);
        assert_eq!((steps[0].gather[39], steps[0].gather[40], steps[0].scatter[44]), (39, 44, 40));
    }

    #[test]
    fn a_window_starts_at_the_least_displacement_of_its_bytes() {
        assert_eq!(cut(&[(10, 4), (2, 4)]), [(2, 0, 8, 0xF0F)]);
        assert_eq!(cut(&[(-60, 1), (3, 1)]), [(-60, 0, 2, 1 | 1 << 63)]);
        assert_eq!(cut(&[(-60, 1), (4, 1)]), [(-60, 0, 1, 1), (4, 1, 1, 1)]);
        // A register has no more packed bytes, even if some bytes are packed twice.
        assert_eq!(cut(&[(0, 64), (0, 2)]), [(0, 0, 64, u64::MAX), (0, 64, 2, 3)]);
    }

    #[test]
    fn few_long_runs_and_distant_ones_are_no_steps() {
        let short: Vec<_> = (0..20).map(|run| (6 * run, 4)).collect();
        assert_eq!(Step::all(&runs(&short)).map(|all| all.len()), Some(2));
        assert_eq!(Step::all(&runs(&[(0, 64)])), None);
        assert_eq!(Step::all(&runs(&[(0, 65), (70, 65)])), None);
        assert_eq!(Step::all(&runs(&[(0, usize::MAX), (0, 1)])), None);
        assert_eq!(Step::cut(&runs(&[(isize::MIN, 1), (isize::MAX, 1)])), None);
    }
}
