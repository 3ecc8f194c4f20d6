//! Reads messages one after another from a blocking stream.

use std::io::{self, ErrorKind, Read};

use crate::CHUNK;
use crate::decoder::Decoder;
use crate::error::Error;
use crate::fill::fill_some;
use crate::limits::Limits;
use crate::messages::Messages;
use crate::protocol::Protocol;

/// The messages of a stream, one after another, read through a buffer of 64 KiB.
///
/// It continues after refused messages. Unlike [`receive`](crate::receive), it reads ahead, so only messages may follow on the
/// stream.
///
/// ```
/// use dtype_message::{Framing, Limits, Messages, Receiver};
/// #[derive(Messages, Debug, PartialEq)]
/// enum Packet {
///     Chat(String),
///     Numbers(Vec<u32>),
/// }
/// let mut stream = Vec::new();
/// dtype_message::send(&mut stream, &Packet::Numbers(vec![1, 2]), Framing::new())?;
/// dtype_message::send(&mut stream, &0.5_f32, Framing::new().with_tag(7))?; // unknown to the receiver
/// dtype_message::send(&mut stream, &Packet::Chat("bye".to_owned()), Framing::new())?;
///
/// let mut receiver = Receiver::<_, Packet>::new(&stream[..], Limits::new());
/// let mut packets = Vec::new();
/// loop {
///     match receiver.next_message() {
///         Ok(Some(packet)) => packets.push(packet),
///         Ok(None) => break,
///         Err(error) if receiver.is_lost() => return Err(error),
///         Err(error) => assert_eq!(error.to_string(), "the tag 7 names no message of `Packet`"),
///     }
/// }
/// assert_eq!(packets, [Packet::Numbers(vec![1, 2]), Packet::Chat("bye".to_owned())]);
/// # Ok::<(), dtype_message::Error>(())
/// ```
#[derive(Debug)]
pub struct Receiver<R, M: Messages> {
    input: R,
    buffered: Buffered<M>,
}

impl<R: Read, M: Messages> Receiver<R, M> {
    /// Reads from `input`, which is at the start of a frame.
    pub fn new(input: R, limits: Limits) -> Self {
        Self { input, buffered: Buffered::new(limits) }
    }

    /// Uses the sender's protocol to name the fields that differ in [`Error::Mismatch`].
    #[must_use]
    pub fn with_sender(mut self, protocol: Protocol) -> Self {
        self.buffered.set_sender(protocol);
        self
    }

    /// Reads records of the sender's version by the names of their fields, if that is another one than this side's, by the
    /// sender's protocol: see [`exchange`](crate::exchange). Without this, they are refused.
    ///
    /// | the sender's record has | |
    /// |---|---|
    /// | the fields in another order | read |
    /// | fields that the receiver's lacks | left out |
    /// | not a field of the receiver's | it has the value of `Default`, if it has `#[dtype(default)]`; otherwise an error |
    /// | a narrower integer or float | converted |
    /// | a wider one, or another kind of value, or an array of another length | an error |
    /// | an enum whose variants have other numbers | converted by name |
    /// | a variant that the receiver's lacks | an error, if a message has it |
    ///
    /// A schema of more than 16 KiB is not converted. The errors are [`Error::Conversion`], and [`Error::Records`] for a
    /// variant whose number is not in use here. Both name the field.
    ///
    /// ```
    /// use dtype_message::{Framing, Limits, Messages, Protocol, Receiver};
    /// use dtype_runtime::Datatype;
    /// # mod old {
    /// #     #[derive(dtype_runtime::Datatype)]
    /// #     pub struct Reading { pub value: f64, pub sensor: u32 }
    /// #     #[derive(dtype_message::Messages)]
    /// #     pub enum Message { Reading(Reading) }
    /// # }
    /// #[derive(Datatype, Debug, PartialEq)]
    /// struct Reading {
    ///     sensor: u32,
    ///     value: f64,
    ///     #[dtype(default)]
    ///     quality: u8, // new in this version
    /// }
    /// #[derive(Messages, Debug, PartialEq)]
    /// enum Message {
    ///     Reading(Reading),
    /// }
    /// # let reading = old::Message::Reading(old::Reading { value: 0.5, sensor: 7 });
    /// # let mut stream = Vec::new();
    /// # dtype_message::send(&mut stream, &reading, Framing::compact())?;
    /// # let theirs = Protocol::of::<old::Message>(); // from `exchange`
    /// let mut receiver = Receiver::<_, Message>::new(&stream[..], Limits::new()).with_version(theirs);
    /// let reading = Reading { sensor: 7, value: 0.5, quality: 0 };
    /// assert_eq!(receiver.next_message()?, Some(Message::Reading(reading)));
    /// # Ok::<(), dtype_message::Error>(())
    /// ```
    #[must_use]
    pub fn with_version(mut self, protocol: Protocol) -> Self {
        self.buffered.decoder.set_version(protocol);
        self
    }

    /// Returns the next message; `None` if the stream ends between two messages.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], after which the call can be repeated for [`WouldBlock`](ErrorKind::WouldBlock) and
    /// [`TimedOut`](ErrorKind::TimedOut); [`Error::Truncated`]; any other [`Error`] for a message that is refused,
    /// after which the next call continues unless [`is_lost`](Self::is_lost).
    pub fn next_message(&mut self) -> Result<Option<M>, Error> {
        loop {
            if let Some(message) = self.buffered.decode()? {
                return Ok(Some(message));
            }
            let count = fill_some(&mut self.input, self.buffered.room());
            if self.buffered.has_ended(count)? {
                return Ok(None);
            }
        }
    }

    /// Reads until the first bytes of the next frame are there, if they are not, and returns `true`; `false` if the stream ends
    /// before. So a time limit can begin with a frame, and a peer can be idle for any time between two.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], after which the call can be repeated as for [`next_message`](Self::next_message).
    pub fn has_started(&mut self) -> Result<bool, Error> {
        while self.is_between_frames() {
            let count = fill_some(&mut self.input, self.buffered.room());
            if self.buffered.has_ended(count)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether no byte of the next frame has been read: the peer is idle, or has sent whole frames, and not a part of one. A
    /// frame that was refused, and whose rest has not arrived, counts as a part.
    pub fn is_between_frames(&self) -> bool {
        self.buffered.is_between_frames()
    }

    /// Whether no more messages can be read: the stream has ended or failed, or the start of the next frame is
    /// unknown after an error.
    pub fn is_lost(&self) -> bool {
        self.buffered.is_lost()
    }

    /// The header of the last message.
    pub fn header(&self) -> Option<&crate::Header> {
        self.buffered.decoder.header()
    }

    /// The stream.
    pub fn get_ref(&self) -> &R {
        &self.input
    }
}

/// A decoder and the bytes that were read for it. All readers use it.
#[derive(Debug)]
pub(crate) struct Buffered<M: Messages> {
    pub(crate) decoder: Decoder<M>,
    buffer: Vec<u8>,
    /// Index of the first byte in the buffer that has not been decoded.
    start: usize,
    end: usize,
    has_ended: bool,
    /// Names the fields that differ, by the protocols of this side and the sender. A program that sets none does not refer to
    /// the function, and so does not contain it.
    explain: Option<(Explain, Protocol, Protocol)>,
}

type Explain = fn(&Protocol, &Protocol, Error) -> Error;

impl<M: Messages> Buffered<M> {
    pub(crate) fn new(limits: Limits) -> Self {
        let decoder = Decoder::new(limits);
        Self { decoder, buffer: vec![0; CHUNK], start: 0, end: 0, has_ended: false, explain: None }
    }

    /// Decodes the next message from the bytes that have been read; `None` if more bytes are needed.
    pub(crate) fn decode(&mut self) -> Result<Option<M>, Error> {
        let mut bytes = &self.buffer[self.start..self.end];
        let result = self.decoder.feed(&mut bytes);
        self.start = self.end - bytes.len();
        result.map_err(|error| match &self.explain {
            Some((explain, own, sender)) => explain(own, sender, error),
            None => error,
        })
    }

    pub(crate) fn set_sender(&mut self, sender: Protocol) {
        self.explain = Some((Protocol::explain, Protocol::of::<M>(), sender));
    }

    /// The space for the next bytes, once the present bytes have been decoded.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        &mut self.buffer
    }

    /// Records the result of reading into the [`room`](Self::room); returns whether the stream has ended between
    /// two frames.
    pub(crate) fn has_ended(&mut self, read: io::Result<usize>) -> Result<bool, Error> {
        match read {
            Ok(0) => {
                // An end inside a frame is reported only once.
                let result = if self.has_ended { Ok(()) } else { self.decoder.finish() };
                self.has_ended = true;
                result.map(|()| true)
            }
            Ok(count) => {
                (self.start, self.end) = (0, count.min(self.buffer.len()));
                Ok(false)
            }
            Err(error) => {
                let can_go_on = matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
                self.has_ended |= !can_go_on;
                Err(error.into())
            }
        }
    }

    pub(crate) fn is_between_frames(&self) -> bool {
        self.start == self.end && self.decoder.is_between_frames()
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.decoder.is_lost() || self.has_ended
    }
}
