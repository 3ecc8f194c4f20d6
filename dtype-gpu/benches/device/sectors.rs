//! The sectors of 32 bytes that a layout touches: what device memory reads and writes at least.

use anyhow::Result;

use crate::layouts::Layout;

const SECTOR: usize = 32;

/// Bytes that a kernel moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traffic {
    /// Packed bytes.
    pub(crate) packed: usize,
    /// Bytes of the sectors that have data.
    pub(crate) touched: usize,
    /// Bytes of the sectors that have gaps as well: memory reads them to fill them when they are written.
    pub(crate) partial: usize,
}

impl Traffic {
    /// Of `count` instances in memory that starts `misaligned` bytes into a sector.
    pub(crate) fn of(layout: &Layout, count: usize, misaligned: usize) -> Result<Self> {
        let origin = layout.base + misaligned;
        let mut sectors = vec![0_u8; (layout.span(count) + misaligned).div_ceil(SECTOR)];
        let packed = layout.ty.size() as usize * count;
        layout.ty.iov(count, 0..packed as u64)?.for_each(|segment| {
            let (mut at, mut len) = (origin + segment.disp as usize, segment.len as usize);
            while len > 0 {
                let part = len.min(SECTOR - at % SECTOR);
                sectors[at / SECTOR] += part as u8;
                at += part;
                len -= part;
            }
        });
        let partial = |&&bytes: &&u8| bytes > 0 && usize::from(bytes) < SECTOR;
        let touched = sectors.iter().filter(|&&bytes| bytes > 0).count() * SECTOR;
        Ok(Self { packed, touched, partial: sectors.iter().filter(partial).count() * SECTOR })
    }
}
