//! Messages that carry the type signature of their elements, so that a receiver refuses elements of another type.

use dtype_runtime::Datatype as Described;
use mpi::traits::{Destination, Source};
use mpi::{Rank, Tag};

use crate::error::Error;
use crate::packed::{PackedSend, receive, start_send};
use crate::raw::OnCommunicator;
use crate::raw::point_to_point::Envelope;
use crate::received::{Received, received};
use crate::{spare, values};

/// Sending elements together with the hash of their type signature.
pub trait CheckedDestination: Destination {
    /// Sends elements and the hash of their type signature, for [`recv_checked`](CheckedSource::recv_checked), which refuses
    /// elements of another type: 16 bytes more than [`send_packed`](crate::traits::PackedDestination::send_packed) sends. No
    /// other receive call expects them, so use `send_packed` for peers that receive with a datatype of the library.
    ///
    /// # Errors
    ///
    /// As [`send_packed`](crate::traits::PackedDestination::send_packed).
    fn send_checked<T: Described>(&self, elements: &[T], tag: Tag) -> Result<(), Error> {
        let to = self.destination_rank();
        let on = OnCommunicator::begin("MPI_Send", self.as_communicator())?;
        let bytes = with_trailer(elements);
        on.send(&bytes, to, tag)?;
        spare::keep(bytes);
        Ok(())
    }

    /// Starts to send elements and the hash of their type signature, as [`send_checked`](Self::send_checked) does. They are
    /// packed before this returns.
    ///
    /// # Errors
    ///
    /// As [`send_checked`](Self::send_checked).
    fn immediate_send_checked<T: Described>(
        &self,
        elements: &[T],
        tag: Tag,
    ) -> Result<PackedSend<'_>, Error> {
        start_send(self, tag, || Ok(with_trailer(elements)))
    }
}

impl<D: Destination> CheckedDestination for D {}

/// Receiving the messages of [`CheckedDestination`].
pub trait CheckedSource: Source {
    /// Receives a message of [`send_checked`](CheckedDestination::send_checked) with any number of elements, and checks that
    /// the sender's elements have the type signature of `T`.
    ///
    /// # Errors
    ///
    /// [`Error::Signature`] for elements of another type, and for a message that was not sent by `send_checked`;
    /// [`Error::Short`] for a message without room for the signature, which can still be received. Otherwise as
    /// [`recv_packed`](crate::traits::PackedSource::recv_packed).
    ///
    /// ```
    /// use dtype_mpi::Error;
    /// use dtype_mpi::traits::*;
    /// use mpi::traits::*;
    ///
    /// let universe = mpi::initialize().expect("MPI runs once");
    /// let world = universe.world();
    /// let me = world.process_at_rank(world.rank());
    /// let request = me.immediate_send_checked(&[(0.5_f64, 7_i32)], 0)?;
    /// // As many bytes, and another order.
    /// let error = me.recv_checked::<(i32, f64)>(0).unwrap_err();
    /// assert!(matches!(error, Error::Signature { their_size: 12, our_size: 12, .. }));
    /// request.wait()?;
    /// # Ok::<(), Error>(())
    /// ```
    fn recv_checked<T: Described>(&self, tag: Tag) -> Result<(Vec<T>, Received), Error> {
        let fits = |found| without_trailer(found).map(drop);
        receive(self, tag, fits, |matched| {
            let found = without_trailer(matched.envelope)?;
            let elements = matched.receive_bytes(|bytes| {
                let bytes = checked::<T>(found, bytes)?;
                values::unpack_vec(bytes, values::whole::<T>(found.bytes)?)
            })??;
            let count = elements.len();
            Ok((elements, received(found, count)))
        })
    }

    /// As [`recv_checked`](Self::recv_checked), into existing elements; a message with fewer elements fills the first ones.
    /// Padding and skipped fields are unchanged.
    ///
    /// # Errors
    ///
    /// As [`recv_checked`](Self::recv_checked), and [`Error::Truncated`] for a message of more elements, which can
    /// still be received. No element is written in case of an error.
    fn recv_checked_into<T: Described>(
        &self,
        elements: &mut [T],
        tag: Tag,
    ) -> Result<Received, Error> {
        let capacity = dtype_runtime::packed_size::<T>(elements.len()) as u64;
        let fits = |found| values::fits_bytes(without_trailer(found)?, capacity);
        receive(self, tag, fits, |matched| {
            let found = without_trailer(matched.envelope)?;
            let count = matched.receive_bytes(|bytes| {
                let bytes = checked::<T>(found, bytes)?;
                let count = values::fits::<T>(found, elements.len())?;
                dtype_runtime::unpack_into(bytes, &mut elements[..count])?;
                Ok::<_, Error>(count)
            })??;
            Ok(received(found, count))
        })
    }
}

impl<S: Source> CheckedSource for S {}

/// The trailer after the elements of a checked message: the hash of an element's signature, and its packed bytes, both
/// little-endian.
const TRAILER: usize = 16;

fn trailer<T: Described>() -> [u8; TRAILER] {
    let mut trailer = [0; TRAILER];
    let (hash, size) = trailer.split_at_mut(8);
    hash.copy_from_slice(&T::TYPE_MAP.signature_hash().to_le_bytes());
    size.copy_from_slice(&(T::TYPE_MAP.size() as u64).to_le_bytes());
    trailer
}

/// The elements of a checked message without its trailer, which must be that of `T`.
fn checked<T: Described>(message: Envelope, bytes: &[u8]) -> Result<&[u8], Error> {
    let Envelope { source: source_rank, tag, .. } = message;
    let Some((elements, found)) = bytes.split_last_chunk::<TRAILER>() else {
        return Err(too_short(source_rank, tag, bytes.len() as u64));
    };
    if *found == trailer::<T>() {
        return Ok(elements);
    }
    let (hash, size) = found.split_at(8);
    let number = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
    Err(Error::Signature {
        source_rank,
        tag,
        theirs: number(hash),
        their_size: number(size),
        ours: T::TYPE_MAP.signature_hash(),
        our_size: T::TYPE_MAP.size() as u64,
    })
}

/// The length of the elements in a checked message.
fn without_trailer(message: Envelope) -> Result<Envelope, Error> {
    let Envelope { source, tag, bytes } = message;
    let elements =
        bytes.checked_sub(TRAILER as u64).ok_or_else(|| too_short(source, tag, bytes))?;
    Ok(Envelope { bytes: elements, ..message })
}

fn too_short(source_rank: Rank, tag: Tag, bytes: u64) -> Error {
    Error::Short { source_rank, tag, bytes, expected: TRAILER as u64 }
}

/// The packed bytes of elements, and the trailer of a checked message.
fn with_trailer<T: Described>(elements: &[T]) -> Vec<u8> {
    let room = dtype_runtime::packed_size::<T>(elements.len()).saturating_add(TRAILER);
    let mut bytes = spare::take(room);
    bytes.reserve_exact(room);
    dtype_runtime::pack_onto(&mut bytes, elements);
    bytes.extend_from_slice(&trailer::<T>());
    bytes
}
