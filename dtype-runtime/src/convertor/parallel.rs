//! Large messages on all cores, by ranges of the packed stream.

use rayon::prelude::*;

use super::packer::Packer;
use super::unpacker::Unpacker;
use crate::error::Error;

/// Packed bytes that one thread takes at a time: enough that handing them out costs nothing beside.
const AT_ONCE: usize = 256 * 1024;

impl Packer<'_> {
    /// As [`pack`](Self::pack), with the threads of `rayon`: the same bytes.
    ///
    /// ```
    /// use dtype_runtime::Packer;
    /// let samples: Vec<(u8, u64)> = (0..200_000).map(|i| (1, i)).collect();
    /// let mut out = vec![0; 9 * samples.len()];
    /// assert_eq!(Packer::new(&samples).par_pack(&mut out), out.len());
    /// assert_eq!(out, dtype_runtime::pack(&samples));
    /// ```
    pub fn par_pack(&mut self, out: &mut [u8]) -> usize {
        let bytes = usize::try_from(self.remaining()).map_or(out.len(), |left| left.min(out.len()));
        let start = self.position();
        let this = &*self;
        out[..bytes].par_chunks_mut(AT_ONCE).enumerate().for_each(|(index, out)| {
            let mut packer = this.clone();
            packer.go_to(start + (index * AT_ONCE) as u64);
            packer.pack(out);
        });
        self.go_to(start + bytes as u64);
        bytes
    }
}

impl Unpacker<'_> {
    /// As [`unpack`](Self::unpack), with the threads of `rayon`: the same memory. Values that have to be
    /// checked are all checked before the first is written.
    ///
    /// # Errors
    ///
    /// As [`unpack`](Self::unpack), of the first record in the order of the stream.
    ///
    /// ```
    /// use dtype_runtime::Unpacker;
    /// let bytes: Vec<u8> = (0..900_000_u32).map(|i| i.to_le_bytes()[0]).collect();
    /// let mut samples = vec![(0_u8, 0_u64); 100_000];
    /// assert_eq!(Unpacker::new(&mut samples).par_unpack(&bytes)?, bytes.len());
    /// assert_eq!(dtype_runtime::pack(&samples), bytes);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn par_unpack(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        let number =
            usize::try_from(self.remaining()).map_or(bytes.len(), |left| left.min(bytes.len()));
        let Some(record) = self.record() else {
            // The rest of a value that has begun is put together in order.
            return self.unpack(bytes);
        };
        let (whole, tail) = bytes[..number].split_at(number - number % record);
        // Whole records, whose validity does not depend on one another.
        let chunk = AT_ONCE.next_multiple_of(record);
        let chunks = || whole.par_chunks(chunk).enumerate();
        let start = self.position();
        let place = |index: usize| start + (index * chunk) as u64;
        let this = &*self;
        chunks()
            .map(|(index, bytes)| this.check(place(index), bytes))
            .reduce(|| Ok(()), Result::and)?;
        chunks().for_each(|(index, bytes)| {
            // SAFETY: each chunk is another part of the stream, so no two write the same byte, and nobody
            // else does, because this unpacker is borrowed exclusively.
            unsafe { this.put_shared(place(index), bytes) };
        });
        self.advance(whole.len());
        self.unpack(tail).map(|bytes| whole.len() + bytes)
    }
}
