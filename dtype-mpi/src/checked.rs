//! Messages that carry the type signature of their elements, so that a receiver refuses elements of another type.

use dtype_runtime::{Datatype as Described, Type};
use mpi::Tag;
use mpi::traits::{Destination, Source};

use crate::error::Error;
use crate::packed::{PackedSend, receive, start_send};
use crate::raw::OnCommunicator;
use crate::raw::point_to_point::Envelope;
use crate::received::{Received, received};
use crate::{signature, spare, values};

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
    /// [`Error::Signature`] for elements of another type; [`Error::NotChecked`] for a message that was not sent by
    /// `send_checked`, which can still be received if it has less than 16 bytes. Otherwise as
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
    /// assert!(error.to_string().ends_with("has elements {f64, i32}, expected {i32, f64}"));
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

/// The trailer after the elements of a checked message: the hash of an element's signature, little-endian, and the signature's
/// beginning.
const TRAILER: usize = 16;

const fn trailer<T: Described>() -> [u8; TRAILER] {
    let mut trailer = [0; TRAILER];
    let (hash, beginning) = trailer.split_at_mut(8);
    hash.copy_from_slice(&T::TYPE_MAP.signature_hash().to_le_bytes());
    beginning.copy_from_slice(&signature::beginning(T::TYPE_MAP));
    trailer
}

/// The elements of a checked message without its trailer, which must be that of `T`.
fn checked<T: Described>(message: Envelope, bytes: &[u8]) -> Result<&[u8], Error> {
    let Some((elements, found)) = bytes.split_last_chunk::<TRAILER>() else {
        return Err(not_checked(message));
    };
    if *found == const { trailer::<T>() } {
        return Ok(elements);
    }
    Err(other_elements::<T>(message, found))
}

#[cold]
fn other_elements<T: Described>(message: Envelope, trailer: &[u8; TRAILER]) -> Error {
    let (mut hash, mut beginning) = ([0; 8], [0; 8]);
    hash.copy_from_slice(&trailer[..8]);
    beginning.copy_from_slice(&trailer[8..]);
    let Some(theirs) = signature::read_beginning(u64::from_le_bytes(hash), beginning) else {
        return not_checked(message);
    };
    let ours = signature::read(&signature::text(&Type::of::<T>().signature()));
    Error::Signature { source_rank: message.source, tag: message.tag, theirs, ours }
}

/// The length of the elements in a checked message.
fn without_trailer(message: Envelope) -> Result<Envelope, Error> {
    match message.bytes.checked_sub(TRAILER as u64) {
        Some(bytes) => Ok(Envelope { bytes, ..message }),
        None => Err(not_checked(message)),
    }
}

fn not_checked(message: Envelope) -> Error {
    Error::NotChecked { source_rank: message.source, tag: message.tag }
}

/// The packed bytes of elements, and the trailer of a checked message.
fn with_trailer<T: Described>(elements: &[T]) -> Vec<u8> {
    let room = dtype_runtime::packed_size::<T>(elements.len()).saturating_add(TRAILER);
    let mut bytes = spare::take(room);
    bytes.reserve_exact(room);
    dtype_runtime::pack_onto(&mut bytes, elements);
    bytes.extend_from_slice(const { &trailer::<T>() });
    bytes
}
