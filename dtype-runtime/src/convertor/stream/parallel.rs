//! Packs and unpacks large messages on all cores; each core takes a range of the packed stream. Messages of less than a
//! mebibyte stay on one core.

use rayon::prelude::*;

use super::Mode;
use super::converted::Converted;
use super::packer::Packer;
use super::records::Checks;
use super::sealed::Shared;
use super::unpacker::Unpacker;
use crate::error::Error;

/// Packed bytes that one thread takes at a time: large enough to make the cost of distribution negligible.
const CHUNK: usize = 256 * 1024;

/// Fewer packed bytes stay on the calling thread: waking the others would take longer than they save.
const MIN_BYTES: usize = 4 * CHUNK;

/// Packs chunks with clones of the stream, each at the position of its chunk. Returns the error of the first chunk that has
/// one.
fn par_pack<M>(stream: &mut Packer<'_, M>, out: &mut [u8]) -> Result<usize, M::PackError>
where
    M: Mode<PackError: Send> + Clone + Sync,
{
    let bytes = usize::try_from(stream.remaining()).map_or(out.len(), |left| left.min(out.len()));
    if bytes < MIN_BYTES {
        return stream.pack_next(out);
    }
    let start = stream.position();
    let this = &*stream;
    out[..bytes]
        .par_chunks_mut(CHUNK)
        .enumerate()
        .map(|(index, out)| {
            let mut part = this.clone();
            let found = part.set_position(start + (index * CHUNK) as u64);
            debug_assert_eq!(found, Ok(()), "a position in the stream");
            part.pack_next(out).map(drop)
        })
        .reduce(|| Ok(()), Result::and)?;
    let found = stream.set_position(start + bytes as u64);
    debug_assert_eq!(found, Ok(()), "a position in the stream");
    Ok(bytes)
}

/// Calls `visit` with chunks of whole records and their positions in the stream. Returns the error of the first chunk
/// that has one.
fn for_chunks(
    whole: &[u8],
    record: usize,
    start: u64,
    visit: impl Fn(u64, &[u8]) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let chunk = CHUNK.next_multiple_of(record);
    whole
        .par_chunks(chunk)
        .enumerate()
        .map(|(index, bytes)| visit(start + (index * chunk) as u64, bytes))
        .reduce(|| Ok(()), Result::and)
}

impl<M: Shared + Sync> Unpacker<'_, M> {
    /// Packed bytes of what several threads can check and write independently; `None` if the rest of the stream must be unpacked
    /// in order, because a value or record is incomplete.
    fn independent(&self) -> Option<usize> {
        let record = self.checks.as_ref().map_or_else(|| self.mode.item(), Checks::record);
        usize::try_from(record).ok().filter(|_| self.position().is_multiple_of(record))
    }

    /// Checks whole records at a position.
    fn check_whole_records(&self, position: u64, bytes: &[u8]) -> Result<(), Error> {
        match &self.checks {
            Some(checks) => checks.check_whole(position, bytes),
            None => self.mode.check(position..position + bytes.len() as u64, bytes),
        }
    }

    /// Writes whole records that were checked, at a position, while other threads write others.
    ///
    /// # Safety
    ///
    /// The records must be in this unpacker's part of the stream, and nothing else may access their data meanwhile.
    unsafe fn put_shared(&self, position: u64, bytes: &[u8]) -> Result<(), Error> {
        // SAFETY: the data may be written, by the promise that the unpacker was made with; the caller guarantees that nothing
        // else accesses those of these records. Records that must be checked are checked again; for others, any bytes are valid.
        unsafe {
            match &self.checks {
                Some(checks) => checks.put_whole(self.mode.native(), position, bytes),
                None => self.mode.put_shared(position..position + bytes.len() as u64, bytes),
            }
        }
    }

    /// As [`unpack`](Self::unpack), with the threads of `rayon`. The memory is the same afterwards. If values must be checked,
    /// all values of whole records are checked before the first is written. It unpacks on one thread if the position is inside
    /// such a record, or inside an instance that is converted, or if there is less than 1 MiB.
    ///
    /// # Errors
    ///
    /// As [`unpack`](Self::unpack); the error is that of the first refused value in stream order. Nothing is written then, and
    /// the position is unchanged. If several threads unpack, and only bytes after the last whole record are refused, the
    /// bytes before them are unpacked, and the next call fails.
    ///
    /// ```
    /// use dtype_runtime::{Representation, Unpacker};
    /// let bytes: Vec<u8> = (0..300_000_u32).flat_map(u32::to_be_bytes).collect();
    /// let mut numbers = vec![0_u32; 300_000];
    /// Unpacker::new(&mut numbers).with_representation(Representation::BigEndian)?.par_unpack(&bytes)?;
    /// assert!(numbers.into_iter().eq(0..300_000));
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn par_unpack(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        let number =
            usize::try_from(self.remaining()).map_or(bytes.len(), |left| left.min(bytes.len()));
        let Some(record) = self.independent().filter(|_| number >= MIN_BYTES) else {
            return self.unpack(bytes);
        };
        let (whole, tail) = bytes[..number].split_at(number - number % record);
        let (this, start) = (&*self, self.position());
        for_chunks(whole, record, start, |position, bytes| {
            this.check_whole_records(position, bytes)
        })?;
        for_chunks(whole, record, start, |position, bytes| {
            // SAFETY: each chunk is a different part of the stream, so no two write the same byte, and no other code does,
            // because this unpacker is borrowed exclusively.
            unsafe { this.put_shared(position, bytes) }
        })?;
        self.progress.advance(whole.len());
        self.mode.forget(start..self.position());
        match self.unpack(tail) {
            Ok(bytes) => Ok(whole.len() + bytes),
            Err(error) if whole.is_empty() => Err(error),
            Err(_) => Ok(whole.len()),
        }
    }
}

impl Packer<'_, Converted> {
    /// As [`pack`](Self::pack), with the threads of `rayon`. The bytes are the same. Less than 1 MiB is packed on one thread.
    ///
    /// # Errors
    ///
    /// As [`pack`](Self::pack); the error is that of the first refused value in stream order. The position is then unchanged,
    /// and the contents of `out` are unspecified.
    ///
    /// ```
    /// use dtype_runtime::{Packer, Representation};
    /// let numbers: Vec<u32> = (0..300_000).collect();
    /// let mut out = vec![0; 1_200_000];
    /// Packer::new(&numbers).with_representation(Representation::BigEndian)?.par_pack(&mut out)?;
    /// assert_eq!(out[1_199_996..], 299_999_u32.to_be_bytes());
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn par_pack(&mut self, out: &mut [u8]) -> Result<usize, Error> {
        par_pack(self, out)
    }
}

impl Packer<'_> {
    /// As [`pack`](Self::pack), with the threads of `rayon`. The bytes are the same. Less than 1 MiB is packed on one thread.
    ///
    /// ```
    /// use dtype_runtime::Packer;
    /// let samples: Vec<(u8, u64)> = (0..200_000).map(|i| (1, i)).collect();
    /// let mut out = vec![0; 9 * samples.len()];
    /// assert_eq!(Packer::new(&samples).par_pack(&mut out), out.len());
    /// assert_eq!(out, dtype_runtime::pack(&samples));
    /// ```
    pub fn par_pack(&mut self, out: &mut [u8]) -> usize {
        let Ok(bytes) = par_pack(self, out);
        bytes
    }
}
