//! Messages on the streams of tokio. Needs the feature `tokio`.
//!
//! ```
//! use dtype_runtime::Datatype;
//! use dtype_message::tokio::{Receiver, send};
//! use dtype_message::{Error, Framing, Limits};
//!
//! #[derive(Datatype, Debug, PartialEq)]
//! struct Sample {
//!     time: f64,
//!     valid: bool,
//! }
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! # runtime.block_on(async {
//! let (mut here, there) = tokio::io::duplex(1024); // or a TcpStream
//! send(&mut here, &Sample { time: 0.5, valid: true }, Framing::compact()).await?;
//! drop(here);
//!
//! let mut receiver = Receiver::<_, Sample>::new(there, Limits::new());
//! assert_eq!(receiver.next_message().await?, Some(Sample { time: 0.5, valid: true }));
//! assert_eq!(receiver.next_message().await?, None);
//! # Ok::<(), Error>(())
//! # })?;
//! # Ok::<(), Error>(())
//! ```
//!
//! | | after its future was dropped |
//! |---|---|
//! | [`Receiver::next_message`], [`Receiver::has_started`] | nothing is lost: call it again; for `select!` and timeouts |
//! | [`write_all`] | nothing is lost: call it again with the same [`Encoder`] |
//! | [`send`], [`receive`], [`exchange`] | part of a frame has been written or read: give up the stream |
//!
//! # Packed bytes without a frame
//!
//! A [`Packer`](dtype_runtime::Packer) is a `bytes::Buf`, so tokio packs directly into its own buffers, without a copy of
//! the whole message:
//!
//! ```
//! use dtype_runtime::{Packer, pack};
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! # runtime.block_on(async {
//! let samples = [(1_u8, 2_u32), (3, 4)];
//! let (mut here, mut there) = tokio::io::duplex(1024);
//! here.write_all_buf(&mut Packer::new(&samples)).await?;
//!
//! let mut bytes = [0; 10];
//! there.read_exact(&mut bytes).await?;
//! assert_eq!(bytes[..], pack(&samples));
//! # Ok::<(), std::io::Error>(())
//! # })?;
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! The packer holds the position. If the future of `write_all_buf` was dropped, call it again with the same packer.

use core::future::{Future, poll_fn};
use core::pin::pin;
use core::task::Poll;
use std::io::ErrorKind;

use ::tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::CHUNK;
use crate::decoder::Decoder;
use crate::encoder::Encoder;
use crate::error::Error;
use crate::framing::Framing;
use crate::header::Header;
use crate::limits::Limits;
use crate::messages::Messages;
use crate::protocol::Protocol;
use crate::receiver::Buffered;

/// The messages of a stream, one after another, read through a buffer of 64 KiB: the asynchronous
/// [`Receiver`](crate::Receiver).
#[derive(Debug)]
pub struct Receiver<R, M: Messages> {
    input: R,
    buffered: Buffered<M>,
}

impl<R: AsyncRead + Unpin, M: Messages> Receiver<R, M> {
    /// Reads from `input`, which is at the start of a frame.
    pub fn new(input: R, limits: Limits) -> Self {
        Self { input, buffered: Buffered::new(limits) }
    }

    /// Names the fields that differ in [`Error::Mismatch`], by the sender's protocol: see [`exchange`].
    #[must_use]
    pub fn with_sender(mut self, protocol: Protocol) -> Self {
        self.buffered.set_sender(protocol);
        self
    }

    /// Reads records of the sender's version by the names of their fields, if that is another one than this side's: see the
    /// blocking [`Receiver::with_version`](crate::Receiver::with_version).
    #[must_use]
    pub fn with_version(mut self, protocol: Protocol) -> Self {
        self.buffered.decoder.set_version(protocol);
        self
    }

    /// Returns the next message; `None` if the stream ends between two messages.
    ///
    /// # Cancel safety
    ///
    /// The receiver keeps what it has read: if the future is dropped before it is ready, the next call continues from there.
    ///
    /// # Errors
    ///
    /// As the blocking [`Receiver::next_message`](crate::Receiver::next_message).
    pub async fn next_message(&mut self) -> Result<Option<M>, Error> {
        loop {
            if let Some(message) = self.buffered.decode()? {
                return Ok(Some(message));
            }
            let count = self.input.read(self.buffered.room()).await;
            if self.buffered.has_ended(count)? {
                return Ok(None);
            }
        }
    }

    /// Reads until the first bytes of the next frame are there, if they are not, and returns `true`; `false` if the stream ends
    /// before. So a time limit can begin with a frame, and a peer can be idle for any time between two:
    ///
    /// ```
    /// use std::time::Duration;
    /// use dtype_message::Limits;
    /// use dtype_message::tokio::Receiver;
    /// use tokio::time::timeout;
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    /// # runtime.block_on(async {
    /// # let stream: &[u8] = &[];
    /// let mut receiver = Receiver::<_, String>::new(stream, Limits::new());
    /// while receiver.has_started().await? {
    ///     let Ok(message) = timeout(Duration::from_secs(2), receiver.next_message()).await else {
    ///         break; // the peer is too slow: close the connection
    ///     };
    ///     println!("{message:?}");
    /// }
    /// # Ok::<(), dtype_message::Error>(())
    /// # })?;
    /// # Ok::<(), dtype_message::Error>(())
    /// ```
    ///
    /// # Cancel safety
    ///
    /// As [`next_message`](Self::next_message).
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub async fn has_started(&mut self) -> Result<bool, Error> {
        while self.is_between_frames() {
            let count = self.input.read(self.buffered.room()).await;
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
    pub fn header(&self) -> Option<&Header> {
        self.buffered.decoder.header()
    }

    /// The stream.
    pub fn get_ref(&self) -> &R {
        &self.input
    }
}

/// Sends this side's [`Protocol`] (of `M`), and returns the other side's. Both sides call this first when they have connected.
/// It reads no byte beyond the other side's protocol.
///
/// ```
/// use dtype_message::tokio::{Receiver, exchange, send};
/// use dtype_message::{Error, Framing, Limits, Messages, Protocol};
/// # use dtype_runtime::Datatype;
/// #[derive(Datatype, Debug)]
/// struct Reading { sensor: u32, value: f32 }
/// #[derive(Messages, Debug)]
/// enum Message { Reading(Reading) }
/// # mod v2 {
/// #     use dtype_runtime::Datatype;
/// #     use dtype_message::Messages;
/// #     #[derive(Datatype)]
/// #     pub struct Reading { pub sensor: u32, pub value: f64, pub quality: u8 }
/// #     #[derive(Messages)]
/// #     pub enum Message { Reading(Reading) }
/// # }
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// # let (mut here, mut there) = tokio::io::duplex(16);
/// # let other = tokio::spawn(async move {
/// #     let ours: Protocol = exchange::<v2::Message>(&mut there, &Limits::new()).await?;
/// #     assert_eq!(ours, Protocol::of::<Message>());
/// #     let reading = v2::Message::Reading(v2::Reading { sensor: 1, value: 0.5, quality: 9 });
/// #     send(&mut there, &reading, Framing::compact()).await
/// # });
/// let limits = Limits::new().with_max_payload_bytes(64 * 1024);
/// let theirs = exchange::<Message>(&mut here, &limits).await?; // the other side's records have another field
/// let mut receiver = Receiver::<_, Message>::new(here, Limits::new()).with_sender(theirs);
/// let refusal = receiver.next_message().await.unwrap_err().to_string();
/// assert!(refusal.ends_with("`value` is f64 there and f32 here; `quality: u8` is only there"));
/// # other.await.unwrap()?;
/// # Ok::<(), Error>(())
/// # })?;
/// # Ok::<(), Error>(())
/// ```
///
/// # Cancel safety
///
/// Not cancel safe: after cancellation, give up the stream.
///
/// # Errors
///
/// As [`send`] and [`receive`] of a text within the limits, and of at most 1 MiB; [`Error::Io`] if the stream ends before the
/// other side's protocol; [`Error::Protocol`] if the text is not a protocol.
pub async fn exchange<M: Messages>(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin + ?Sized),
    limits: &Limits,
) -> Result<Protocol, Error> {
    let (mut input, mut output) = ::tokio::io::split(stream);
    let ours = Protocol::of::<M>().to_string();
    // Send and receive at the same time: if both sides sent first, two long texts could fill the stream before either side
    // reads.
    let mut sending = pin!(async {
        send(&mut output, &ours, Framing::new()).await?;
        Ok::<(), Error>(output.flush().await?)
    });
    let limits = Protocol::limits(limits);
    let mut receiving = pin!(receive::<String>(&mut input, &limits));
    let (mut is_sent, mut received) = (false, None);
    let theirs = poll_fn(|context| {
        if !is_sent && let Poll::Ready(result) = sending.as_mut().poll(context) {
            result?;
            is_sent = true;
        }
        if received.is_none()
            && let Poll::Ready(result) = receiving.as_mut().poll(context)
        {
            // A peer that has sent everything may never read all that is sent to it.
            received = Some(result?.ok_or_else(|| Error::Io(ErrorKind::UnexpectedEof.into()))?);
        }
        match received.take() {
            Some(text) if is_sent => Poll::Ready(Ok::<_, Error>(text)),
            text => {
                received = text;
                Poll::Pending
            }
        }
    });
    Ok(theirs.await?.parse()?)
}

/// Reads one message, and no byte beyond it; `None` if the stream ends before it.
///
/// # Cancel safety
///
/// Not cancel safe: what has been read is lost with the future. The position in the stream is then unknown, as it is after an
/// error. To continue in either case, use a [`Receiver`].
///
/// # Errors
///
/// [`Error::Io`], [`Error::Truncated`], and the errors of [`Decoder::feed`].
pub async fn receive<M: Messages>(
    input: &mut (impl AsyncRead + Unpin + ?Sized),
    limits: &Limits,
) -> Result<Option<M>, Error> {
    let mut decoder = Decoder::new(*limits);
    let mut buffer = Vec::new();
    loop {
        let size = decoder.needs().min(CHUNK);
        if buffer.len() < size {
            buffer.resize(size, 0);
        }
        let count = input.read(&mut buffer[..size]).await?;
        if count == 0 {
            return decoder.finish().map(|()| None);
        }
        if let Some(message) = decoder.feed(&mut &buffer[..count])? {
            return Ok(Some(message));
        }
    }
}

/// Writes a message, and returns the length of its frame in bytes. The stream is not flushed.
///
/// # Cancel safety
///
/// Not cancel safe: part of the frame may have been written. To be able to continue, make an [`Encoder`] and use [`write_all`].
///
/// # Errors
///
/// [`Error::Io`], after which part of the frame may have been written; the errors of [`Header::of`].
pub async fn send<M: Messages>(
    output: &mut (impl AsyncWrite + Unpin + ?Sized),
    message: &M,
    framing: Framing,
) -> Result<u64, Error> {
    let mut encoder = message.encoder(framing)?;
    write_all(output, &mut encoder).await?;
    Ok(encoder.header().frame_len())
}

/// Writes the remaining bytes of an encoder. The stream is not flushed.
///
/// # Cancel safety
///
/// The position is in the encoder: if the future is dropped before it is ready, call this again with the same
/// encoder.
///
/// # Errors
///
/// [`Error::Io`].
pub async fn write_all(
    output: &mut (impl AsyncWrite + Unpin + ?Sized),
    encoder: &mut Encoder<'_>,
) -> Result<(), Error> {
    loop {
        let chunk = encoder.chunk();
        if chunk.is_empty() {
            return Ok(());
        }
        let count = output.write(chunk).await?;
        if count == 0 {
            return Err(Error::Io(ErrorKind::WriteZero.into()));
        }
        encoder.advance(count);
    }
}
