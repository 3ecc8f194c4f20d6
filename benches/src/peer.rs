//! The protocol between a bench and a process that drives an MPI library, or Yaksa.
//!
//! Two MPI libraries cannot be in one program, so each has a process of its own, which reads requests from standard input. That
//! process measures with its own clock, and the requesting process is idle meanwhile.

use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The seed of the memory that is packed.
pub const DATA: u64 = 1;

/// The seed of the memory before unpacking. Bytes that unpacking does not write keep this pattern.
pub const BACKGROUND: u64 = 2;

/// How many pieces of memory a call lists in [`Work::ListInWindows`].
pub const WINDOW: usize = 64;

/// Packed bytes of a fragment in [`Work::PackFragments`] and [`Work::UnpackFragments`].
pub const FRAGMENT: usize = 8 << 10;

/// A request to a process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Request {
    /// Return the library's name: [`Reply::Name`].
    Name,
    /// Make a datatype and a memory for it, and pack it: [`Reply::Bytes`].
    Layout {
        /// The marshalled type.
        ty: Vec<u8>,
        /// The number of instances.
        count: usize,
        /// The offset of the first instance in the memory.
        origin: usize,
        /// Bytes of the memory, which is filled with [`DATA`].
        length: usize,
    },
    /// Unpack the packed bytes over [`BACKGROUND`]: [`Reply::Fingerprint`] of the memory.
    Unpack,
    /// Make records from packed bytes, and pack them by the library's interface for Rust: [`Reply::Bytes`].
    Records {
        /// The name of their [`Shape`](crate::Shape).
        shape: String,
        /// The fields, without padding.
        packed: Vec<u8>,
    },
    /// Unpack the packed bytes into new records, and return the fields: [`Reply::Bytes`].
    Decode,
    /// Prepare the calls that make a datatype, and return the datatype's size in bytes: [`Reply::Size`].
    Calls {
        /// The marshalled type.
        ty: Vec<u8>,
    },
    /// Make a datatype, and list the pieces of memory of its instances: [`Reply::Pieces`].
    Pieces {
        /// The marshalled type.
        ty: Vec<u8>,
        /// The number of instances.
        count: usize,
    },
    /// Repeat an operation: [`Reply::Time`].
    Time {
        /// The operation.
        work: Work,
        /// The number of repetitions.
        repetitions: u64,
    },
}

/// An operation that can be timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Work {
    /// Packing the layout.
    Pack,
    /// Unpacking the layout.
    Unpack,
    /// Packing the layout in fragments of [`FRAGMENT`] bytes.
    PackFragments,
    /// Unpacking the layout in fragments of [`FRAGMENT`] bytes.
    UnpackFragments,
    /// Packing records into a new vector.
    Encode,
    /// Unpacking into a new vector of records.
    Decode,
    /// Making, committing and freeing the datatype.
    Create,
    /// Listing all pieces in one call.
    List,
    /// Listing all pieces, [`WINDOW`] of them in a call.
    ListInWindows,
}

/// A reply.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Reply {
    /// The library's name and version.
    Name(String),
    /// Packed bytes.
    Bytes(Vec<u8>),
    /// See [`fingerprint`](crate::noise::fingerprint).
    Fingerprint(u64),
    /// The number of packed bytes of a datatype.
    Size(u64),
    /// Displacements and lengths in bytes; pieces may touch.
    Pieces(Vec<(u64, u64)>),
    /// Nanoseconds for all repetitions.
    Time(u64),
    /// What went wrong.
    Failed(String),
}

/// Sends a message.
///
/// # Errors
///
/// The errors of the stream.
pub fn send(stream: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let bytes = postcard::to_allocvec(message).map_err(io::Error::other)?;
    stream.write_all(&(bytes.len() as u64).to_le_bytes())?;
    stream.write_all(&bytes)?;
    stream.flush()
}

/// Receives a message; `None` if the other side has closed the stream.
///
/// # Errors
///
/// The errors of the stream, and an error for bytes that are not a message.
pub fn receive<M: DeserializeOwned>(stream: &mut impl Read) -> io::Result<Option<M>> {
    let mut length = [0; 8];
    match stream.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        result => result?,
    }
    let length = u64::from_le_bytes(length);
    let mut bytes = Vec::new();
    stream.take(length).read_to_end(&mut bytes)?;
    postcard::from_bytes(&bytes).map(Some).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_and_so_does_the_end() {
        let mut stream = Vec::new();
        send(&mut stream, &Reply::Bytes(vec![1, 2, 3])).unwrap();
        send(&mut stream, &Reply::Time(7)).unwrap();
        let mut stream = stream.as_slice();
        assert!(
            matches!(receive(&mut stream), Ok(Some(Reply::Bytes(bytes))) if bytes == [1, 2, 3])
        );
        assert!(matches!(receive(&mut stream), Ok(Some(Reply::Time(7)))));
        assert!(matches!(receive::<Reply>(&mut stream), Ok(None)));
        assert!(receive::<Reply>(&mut &[3, 0, 0, 0, 0, 0, 0, 0, 9][..]).is_err());
    }
}
