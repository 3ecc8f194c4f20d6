//! What a bench and a process that drives an MPI library say to each other.
//!
//! Two MPI libraries cannot be in one program, so each has a process of its own, which waits for requests on
//! its standard input. It times what it is asked to, with its own clock, while the asking process waits: only
//! one of them is busy at any time.

use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The seed of the memory that is packed.
pub const DATA: u64 = 1;

/// The seed of the memory that is unpacked into, so that what is not written can be told.
pub const BACKGROUND: u64 = 2;

/// What a process is asked to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Request {
    /// To say what its library calls itself: [`Reply::Name`].
    Name,
    /// To make a datatype and a memory for it, and to pack it: [`Reply::Bytes`].
    Layout {
        /// The marshalled type.
        ty: Vec<u8>,
        /// How many instances.
        count: usize,
        /// Where the first one starts in the memory.
        origin: usize,
        /// Bytes of the memory, which is filled with [`DATA`].
        length: usize,
    },
    /// To unpack what was packed over [`BACKGROUND`]: [`Reply::Fingerprint`] of the memory.
    Unpack,
    /// To make records of packed bytes, and to pack these by the library's interface for Rust:
    /// [`Reply::Bytes`].
    Records {
        /// The name of their [`Shape`](crate::Shape).
        shape: String,
        /// The fields, without padding.
        packed: Vec<u8>,
    },
    /// To unpack what was packed into new records, and to say what the fields are: [`Reply::Bytes`].
    Decode,
    /// To prepare the calls that make a datatype, and to say how many bytes the datatype has:
    /// [`Reply::Size`].
    Calls {
        /// The marshalled type.
        ty: Vec<u8>,
    },
    /// To do something repeatedly: [`Reply::Time`].
    Time {
        /// What.
        work: Work,
        /// How often.
        repetitions: u64,
    },
}

/// What can be timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Work {
    /// Packing the layout.
    Pack,
    /// Unpacking the layout.
    Unpack,
    /// Packing records into a new vector.
    Encode,
    /// Unpacking into a new vector of records.
    Decode,
    /// Making, committing and freeing the datatype.
    Create,
}

/// What it answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Reply {
    /// The library's name and version.
    Name(String),
    /// Packed bytes.
    Bytes(Vec<u8>),
    /// See [`fingerprint`](crate::noise::fingerprint).
    Fingerprint(u64),
    /// Packed bytes of a datatype.
    Size(u64),
    /// Nanoseconds that all the repetitions took.
    Time(u64),
    /// What went wrong.
    Failed(String),
}

/// Sends a message.
///
/// # Errors
///
/// Those of the stream.
pub fn send(stream: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let bytes = postcard::to_allocvec(message).map_err(io::Error::other)?;
    stream.write_all(&(bytes.len() as u64).to_le_bytes())?;
    stream.write_all(&bytes)?;
    stream.flush()
}

/// Receives one; nothing if the other side has hung up.
///
/// # Errors
///
/// Those of the stream, and for bytes that are no message.
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
