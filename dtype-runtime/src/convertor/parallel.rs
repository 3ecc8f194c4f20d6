//! Packs and unpacks large messages on all cores; each core takes a range of the packed stream. Messages of less than a
//! mebibyte stay on one core.

use rayon::prelude::*;

use super::converting::{ConvertingPacker, ConvertingUnpacker};
use super::packer::Packer;
use super::stream::{PackStream, UnpackRecords};
use super::unpacker::Unpacker;
use crate::error::Error;

/// Packed bytes that one thread takes at a time: large enough to make the cost of distribution negligible.
const CHUNK: usize = 256 * 1024;

/// Fewer packed bytes stay on the calling thread: waking the others would take longer than they save.
const MIN_BYTES: usize = 4 * CHUNK;

/// Packs chunks with clones of the stream, each at the position of its chunk. Returns the error of the first chunk that has
/// one.
fn par_pack<S>(stream: &mut S, out: &mut [u8]) -> Result<usize, S::Error>
where
    S: PackStream<Error: Send> + Clone + Sync,
{
    let bytes = usize::try_from(stream.remaining()).map_or(out.len(), |left| left.min(out.len()));
    if bytes < MIN_BYTES {
        return stream.pack(out);
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
            part.pack(out).map(drop)
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

/// Unpacks chunks of whole records once all of them have been checked. Returns the error of the first chunk that has one.
fn par_unpack<S: UnpackRecords>(stream: &mut S, bytes: &[u8]) -> Result<usize, Error> {
    let number =
        usize::try_from(stream.remaining()).map_or(bytes.len(), |left| left.min(bytes.len()));
    let Some(record) = stream.record().filter(|_| number >= MIN_BYTES) else {
        // Few bytes, or the rest of an incomplete value, are unpacked in order.
        return stream.unpack(bytes);
    };
    let (whole, tail) = bytes[..number].split_at(number - number % record);
    let (this, start) = (&*stream, stream.position());
    for_chunks(whole, record, start, |position, bytes| this.check(position, bytes))?;
    for_chunks(whole, record, start, |position, bytes| {
        // SAFETY: each chunk is a different part of the stream, so no two write the same byte, and no other code does, because
        // this unpacker is borrowed exclusively.
        unsafe { this.put_shared(position, bytes) }
    })?;
    stream.advance(whole.len());
    match stream.unpack(tail) {
        Ok(bytes) => Ok(whole.len() + bytes),
        Err(error) if whole.is_empty() => Err(error),
        Err(_) => Ok(whole.len()),
    }
}

impl ConvertingPacker<'_> {
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

impl ConvertingUnpacker<'_> {
    /// As [`unpack`](Self::unpack), with the threads of `rayon`. The memory is the same afterwards. All values of whole
    /// instances are checked before the first is written. It unpacks on one thread if the position is inside an instance, if
    /// the values of a Rust type must be checked, or if there is less than 1 MiB.
    ///
    /// # Errors
    ///
    /// As [`unpack`](Self::unpack); the error is that of the first refused value in stream order. Nothing is written then, and
    /// the position is unchanged. If several threads unpack, and only bytes after the last whole instance are refused, the
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
        par_unpack(self, bytes)
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

impl Unpacker<'_> {
    /// As [`unpack`](Self::unpack), with the threads of `rayon`. The memory is the same afterwards. If values must be checked,
    /// all of them are checked before the first is written. Less than 1 MiB is unpacked on one thread.
    ///
    /// # Errors
    ///
    /// As [`unpack`](Self::unpack); the error is that of the first invalid record in stream order.
    ///
    /// ```
    /// use dtype_runtime::Unpacker;
    /// let bytes: Vec<u8> = (0..1_800_000_u32).map(|i| i.to_le_bytes()[0]).collect();
    /// let mut samples = vec![(0_u8, 0_u64); 200_000];
    /// assert_eq!(Unpacker::new(&mut samples).par_unpack(&bytes)?, bytes.len());
    /// assert_eq!(dtype_runtime::pack(&samples), bytes);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn par_unpack(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        par_unpack(self, bytes)
    }
}
