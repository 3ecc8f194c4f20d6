//! A codec of messages for tokio-util's framed streams.

use bytes::{Buf, BytesMut};
use tokio_util::codec;

use crate::CHUNK;
use crate::decoder::Decoder;
use crate::error::Error;
use crate::framing::Framing;
use crate::limits::Limits;
use crate::messages::Messages;
use crate::protocol::Protocol;

/// The codec of messages for `tokio_util::codec::Framed`, `FramedRead` and `FramedWrite`. Needs the feature
/// `tokio-util`.
///
/// It decodes to a `Result`: if a message is refused, the item is an `Err`, and the stream continues. The stream ends with an
/// error if the next frame cannot be found, or if it ends inside a frame.
///
/// ```
/// use bytes::BytesMut;
/// use dtype_message::{Codec, Error, Framing, Limits};
/// use tokio_util::codec::{Decoder, Encoder};
///
/// let mut codec = Codec::<Vec<u32>>::new(Limits::new(), Framing::compact());
/// let mut bytes = BytesMut::new();
/// codec.encode(vec![1, 2], &mut bytes)?;
/// codec.encode(&vec![3], &mut bytes)?;
/// let mut received = Vec::new();
/// while let Some(message) = codec.decode(&mut bytes)? {
///     received.push(message?);
/// }
/// assert_eq!(received, [vec![1, 2], vec![3]]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct Codec<M: Messages> {
    decoder: Decoder<M>,
    framing: Framing,
}

impl<M: Messages> Codec<M> {
    /// Decodes within these limits, and encodes with this framing.
    pub fn new(limits: Limits, framing: Framing) -> Self {
        Self { decoder: Decoder::new(limits), framing }
    }

    /// Reads records of the sender's version by the names of their fields, if that is another one than this side's. See
    /// [`Receiver::with_version`](crate::Receiver::with_version).
    #[must_use]
    pub fn with_version(mut self, protocol: Protocol) -> Self {
        self.decoder.set_version(protocol);
        self
    }

    /// Whether no part of a frame has been taken from the buffer: see [`Decoder::is_between_frames`].
    pub fn is_between_frames(&self) -> bool {
        self.decoder.is_between_frames()
    }
}

impl<M: Messages> codec::Decoder for Codec<M> {
    type Item = Result<M, Error>;
    type Error = Error;

    fn decode(&mut self, src: &mut BytesMut) -> Result<Option<Self::Item>, Error> {
        // tokio calls this once more after the last message in the buffer.
        if src.is_empty() && self.decoder.is_between_frames() {
            return Ok(None);
        }
        let mut bytes = &src[..];
        if let Some(message) = self.decoder.quick(&mut bytes) {
            let taken = src.len() - bytes.len();
            src.advance(taken);
            return Ok(Some(Ok(message)));
        }
        let result = self.decoder.feed_any(&mut bytes);
        let taken = src.len() - bytes.len();
        src.advance(taken);
        match result {
            Ok(Some(message)) => Ok(Some(Ok(message))),
            Ok(None) => {
                src.reserve(self.decoder.needs().min(CHUNK));
                Ok(None)
            }
            Err(error) if self.decoder.is_lost() => Err(error),
            Err(error) => Ok(Some(Err(error))),
        }
    }

    fn decode_eof(&mut self, src: &mut BytesMut) -> Result<Option<Self::Item>, Error> {
        match self.decode(src)? {
            None => self.decoder.finish().map(|()| None),
            message => Ok(message),
        }
    }
}

impl<M: Messages> codec::Encoder<&M> for Codec<M> {
    type Error = Error;

    fn encode(&mut self, message: &M, dst: &mut BytesMut) -> Result<(), Error> {
        message.append(dst, self.framing)
    }
}

impl<M: Messages> codec::Encoder<M> for Codec<M> {
    type Error = Error;

    fn encode(&mut self, message: M, dst: &mut BytesMut) -> Result<(), Error> {
        codec::Encoder::<&M>::encode(self, &message, dst)
    }
}
