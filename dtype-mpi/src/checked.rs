//! Messages that carry the type signature of their elements, so that a receiver refuses elements of another type.
//!
//! The elements are followed by a [trailer](Trailer). A thread's first message of a type to a rank with a tag comes after a
//! message with the [`Schema`] of the type, which the receiver keeps for its errors. The receiver must not take a schema for more
//! elements than there is room for. So the length of a schema is a prime number: it is no multiple of the length of an element,
//! unless that is 1, and elements of one byte have no schema.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ptr;
use std::sync::{LazyLock, Mutex, PoisonError};

use dtype_message::Schema;
use dtype_runtime::Datatype as Described;
use mpi::ffi::MPI_Comm;
use mpi::raw::AsRaw;
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
    /// elements of another type: 16 bytes more than [`send_packed`](crate::traits::PackedDestination::send_packed) sends. The
    /// first message of a type to a rank with a tag comes after another one, which describes the type. No other receive call
    /// expects these messages, so use `send_packed` for peers that receive with a datatype of the library.
    ///
    /// # Errors
    ///
    /// As [`send_packed`](crate::traits::PackedDestination::send_packed).
    fn send_checked<T: Described>(&self, elements: &[T], tag: Tag) -> Result<(), Error> {
        let to = self.destination_rank();
        let on = OnCommunicator::begin("MPI_Send", self.as_communicator())?;
        if let Some(schema) = schema_to_send::<T>(self, tag) {
            on.send(&schema, to, tag)?;
        }
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
        let schema = schema_to_send::<T>(self, tag);
        let first = schema.map(|schema| start_send(self, tag, || Ok(schema))).transpose()?;
        Ok(start_send(self, tag, || Ok(with_trailer(elements)))?.after(first))
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
    /// [`Error::Signature`] for elements of another type, with the fields that differ; [`Error::NotChecked`] for a message that
    /// was not sent by `send_checked`, which can still be received if it has less than 16 bytes. Otherwise as
    /// [`recv_packed`](crate::traits::PackedSource::recv_packed).
    ///
    /// ```
    /// use dtype_mpi::Error;
    /// use dtype_mpi::traits::*;
    /// use mpi::traits::*;
    ///
    /// #[derive(dtype_runtime::Datatype)]
    /// struct Sample {
    ///     time: f64,
    ///     channel: i32,
    /// }
    /// # mod v2 {
    /// #     #[derive(dtype_runtime::Datatype)]
    /// #     pub struct Sample {
    /// #         pub time: f64,
    /// #         pub channel: f32,
    /// #     }
    /// # }
    ///
    /// let universe = mpi::initialize().expect("MPI runs once");
    /// let world = universe.world();
    /// let me = world.process_at_rank(world.rank());
    /// // In another version of the program, `channel` is an `f32`.
    /// let request = me.immediate_send_checked(&[v2::Sample { time: 0.5, channel: 7.0 }], 0)?;
    /// let error = me.recv_checked::<Sample>(0).map(drop).unwrap_err();
    /// assert!(error.to_string().ends_with("other elements than `Sample`: `channel` is f32 there and i32 here"));
    /// request.wait()?;
    /// # Ok::<(), Error>(())
    /// ```
    fn recv_checked<T: Described>(&self, tag: Tag) -> Result<(Vec<T>, Received), Error> {
        receive_checked::<T, _, _>(self, tag, None, |found, bytes| {
            let elements: Vec<T> = values::unpack_vec(bytes, values::whole::<T>(found.bytes)?)?;
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
        receive_checked::<T, _, _>(self, tag, Some(elements.len()), |found, bytes| {
            let count = values::fits::<T>(found, elements.len())?;
            dtype_runtime::unpack_into(bytes, &mut elements[..count])?;
            Ok(received(found, count))
        })
    }
}

impl<S: Source> CheckedSource for S {}

/// What follows the elements, or a schema: the hash of the type signature of an element, little-endian, and a mark.
type Trailer = [u8; 16];

const ELEMENTS: [u8; 8] = *b"elements";
const SCHEMA: [u8; 8] = *b"schema  ";

/// The longest schema that is sent, in bytes.
const MAX_SCHEMA: usize = 1 << 14;

const fn trailer<T: Described>(mark: [u8; 8]) -> Trailer {
    let mut trailer = [0; 16];
    let (hash, end) = trailer.split_at_mut(8);
    hash.copy_from_slice(&T::TYPE_MAP.signature_hash().to_le_bytes());
    end.copy_from_slice(&mark);
    trailer
}

/// The packed bytes of elements, and their trailer.
fn with_trailer<T: Described>(elements: &[T]) -> Vec<u8> {
    let room = dtype_runtime::packed_size::<T>(elements.len()).saturating_add(size_of::<Trailer>());
    let mut bytes = spare::take(room);
    bytes.reserve_exact(room);
    dtype_runtime::pack_onto(&mut bytes, elements);
    bytes.extend_from_slice(const { &trailer::<T>(ELEMENTS) });
    bytes
}

/// A message with the schema of a type, if the thread has not sent one before.
#[inline]
fn schema_to_send<T: Described>(to: &(impl Destination + ?Sized), tag: Tag) -> Option<Vec<u8>> {
    /// A communicator, a rank, a tag, and the address of a type map.
    type Sent = (MPI_Comm, Rank, Tag, usize);
    const KEPT: usize = 64;
    thread_local! {
        /// What was sent last. Other messages may take a place, and then a schema is sent again.
        static SENT: RefCell<[Option<Sent>; KEPT]> = const { RefCell::new([None; KEPT]) };
    }

    if T::TYPE_MAP.size() < 2 {
        return None;
    }
    let (map, rank) = (ptr::from_ref(T::TYPE_MAP).addr(), to.destination_rank());
    let sent = Some((to.as_communicator().as_raw(), rank, tag, map));
    let place = (rank.cast_unsigned() as usize) ^ (tag.cast_unsigned() as usize) ^ (map >> 6);
    let before = SENT.try_with(|all| all.borrow_mut().get_mut(place % KEPT)?.replace(sent?));
    if before.is_ok_and(|before| before == sent) { None } else { schema::<T>() }
}

/// A message with the schema of a type, unless it is too long.
#[cold]
fn schema<T: Described>() -> Option<Vec<u8>> {
    let mut bytes = Schema::of::<T>().to_string().into_bytes();
    let is_prime = |number: usize| (2..number).all(|other| !number.is_multiple_of(other));
    while !is_prime(bytes.len()) {
        bytes.push(b'\n');
    }
    if bytes.len() > MAX_SCHEMA {
        return None;
    }
    bytes.extend_from_slice(&trailer::<T>(SCHEMA));
    Some(bytes)
}

/// Receives the next message with elements of a type, at most `room` of them.
fn receive_checked<T: Described, S: Source + ?Sized, R>(
    source: &S,
    tag: Tag,
    room: Option<usize>,
    mut take: impl FnMut(Envelope, &[u8]) -> Result<R, Error>,
) -> Result<R, Error> {
    let check = |found| {
        let (found, Some(room)) = (without_trailer(found)?, room) else { return Ok(()) };
        let element = T::TYPE_MAP.size() as u64;
        let is_schema =
            found.bytes.checked_rem(element) != Some(0) && found.bytes <= MAX_SCHEMA as u64;
        if is_schema { Ok(()) } else { values::fits::<T>(found, room).map(drop) }
    };
    loop {
        let came = receive(source, tag, check, |matched| {
            let found = without_trailer(matched.envelope)?;
            matched.receive_bytes(|bytes| {
                elements::<T>(found, bytes)?.map(|bytes| take(found, bytes)).transpose()
            })?
        })?;
        if let Some(came) = came {
            return Ok(came);
        }
    }
}

/// The bytes of the elements of a message, which must be `T`s; `None` for a schema.
fn elements<T: Described>(message: Envelope, bytes: &[u8]) -> Result<Option<&[u8]>, Error> {
    let Some((before, trailer)) = bytes.split_last_chunk::<{ size_of::<Trailer>() }>() else {
        return Err(not_checked(message));
    };
    if *trailer == const { self::trailer::<T>(ELEMENTS) } {
        return Ok(Some(before));
    }
    let [hash, mark] = *trailer.as_chunks::<8>().0 else { return Err(not_checked(message)) };
    match mark {
        ELEMENTS => Err(other_elements::<T>(message, hash)),
        SCHEMA => {
            keep_schema(hash, before);
            Ok(None)
        }
        _ => Err(not_checked(message)),
    }
}

/// The schemas of other ranks, by the hash of the signature.
static SCHEMAS: LazyLock<Mutex<HashMap<[u8; 8], Schema>>> = LazyLock::new(Mutex::default);

/// The greatest number of schemas that are kept, because a peer chooses what it sends.
const MAX_SCHEMAS: usize = 1000;

#[cold]
fn keep_schema(hash: [u8; 8], text: &[u8]) {
    let text = str::from_utf8(text).unwrap_or_default();
    let mut schemas = SCHEMAS.lock().unwrap_or_else(PoisonError::into_inner);
    if let (Ok(schema), ..MAX_SCHEMAS) = (text.trim_end_matches('\n').parse(), schemas.len()) {
        schemas.insert(hash, schema);
    }
}

#[cold]
fn other_elements<T: Described>(message: Envelope, hash: [u8; 8]) -> Error {
    let ours = Schema::of::<T>();
    let schemas = SCHEMAS.lock().unwrap_or_else(PoisonError::into_inner);
    let differences = schemas.get(&hash).map(|theirs| ours.differences(theirs));
    Error::Signature {
        source_rank: message.source,
        tag: message.tag,
        expected: ours.type_name().to_owned(),
        differences: differences.unwrap_or_default(),
    }
}

/// The length of a checked message without its trailer.
fn without_trailer(message: Envelope) -> Result<Envelope, Error> {
    match message.bytes.checked_sub(size_of::<Trailer>() as u64) {
        Some(bytes) => Ok(Envelope { bytes, ..message }),
        None => Err(not_checked(message)),
    }
}

fn not_checked(message: Envelope) -> Error {
    Error::NotChecked { source_rank: message.source, tag: message.tag }
}
