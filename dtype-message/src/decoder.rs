//! Decodes messages from bytes that arrive in pieces of any size, without a stream.

use core::{fmt, mem};

use crate::error::Error;
use crate::header::Header;
use crate::limits::Limits;
use crate::messages::Messages;
use crate::parser::{Parser, Progress};
use crate::protocol::Protocol;
use crate::version::{Converting, Version};

/// Makes messages from bytes. The caller passes bytes whenever they arrive, from any source.
///
/// It holds only the part of one message that has arrived, and one incomplete record. It unpacks records as they arrive, and
/// returns them once it has verified the whole frame.
///
/// ```
/// use dtype_message::{Decoder, Framing, Limits};
/// let mut stream = Vec::new();
/// dtype_message::write(&mut stream, &[1_u32, 2])?;
/// dtype_message::write(&mut stream, &[3_u32])?;
///
/// let mut decoder = Decoder::<Vec<u32>>::new(Limits::new());
/// let mut received = Vec::new();
/// // A transport that brings seven bytes at a time.
/// for mut bytes in stream.chunks(7) {
///     while let Some(numbers) = decoder.feed(&mut bytes)? {
///         received.push(numbers);
///     }
/// }
/// decoder.finish()?;
/// assert_eq!(received, [vec![1, 2], vec![3]]);
/// # Ok::<(), dtype_message::Error>(())
/// ```
///
/// # After an error
///
/// A refused frame is skipped as it arrives, and the next one is decoded. So an unknown tag or type, an exceeded limit, or
/// damage in the payload of a full frame costs only that message: continue feeding. After a damaged header, and after any
/// damage in a compact frame, the start of the next frame is unknown: [`is_lost`](Self::is_lost) returns `true`, and the
/// connection must be closed; in a file, [`find_frame`](crate::find_frame) finds the next full frame. The same holds after a panic in a function of `#[dtype(check = …)]`.
pub struct Decoder<M: Messages> {
    limits: Limits,
    parser: Parser,
    frame: Frame<M>,
    /// What another version of the sender needs.
    version: Option<Box<Version>>,
}

/// The frame whose bytes are arriving.
enum Frame<M: Messages> {
    None,
    /// The message, and its conversion if the records are those of another version.
    Accepted(M::Assembler, Option<Converting>),
    /// The frame is skipped.
    Refused,
}

/// A call of the decoder. It is dropped only if a check, which is user code, panics; it is then unknown how much of the frame
/// was taken.
struct Attempt<'a, M: Messages>(&'a mut Decoder<M>);

impl<M: Messages> Drop for Attempt<'_, M> {
    fn drop(&mut self) {
        self.0.parser.lose();
    }
}

impl<M: Messages> Decoder<M> {
    /// Makes a decoder at the start of a frame.
    pub fn new(limits: Limits) -> Self {
        Self { limits, parser: Parser::new(), frame: Frame::None, version: None }
    }

    /// Reads records of the sender's version by the names of their fields, if that is another one than this side's. See
    /// [`Receiver::with_version`](crate::Receiver::with_version).
    #[must_use]
    pub fn with_version(mut self, sender: Protocol) -> Self {
        self.set_version(sender);
        self
    }

    pub(crate) fn set_version(&mut self, sender: Protocol) {
        self.version = Version::new::<M>(sender);
    }

    /// Takes bytes from the front of `input`, up to the end of a frame, and returns the message if it is complete. `None` means
    /// that it has taken all of `input` and needs more. Call it again as long as it returns a message.
    ///
    /// # Errors
    ///
    /// Any [`Error`] but [`Io`](Error::Io) and [`Truncated`](Error::Truncated); see [above](Self#after-an-error) for
    /// how to continue.
    #[inline]
    pub fn feed(&mut self, input: &mut &[u8]) -> Result<Option<M>, Error> {
        match self.quick(input) {
            Some(message) => Ok(Some(message)),
            None => self.feed_any(input),
        }
    }

    /// Takes the frame of a short record, if all of it has arrived. Inlined, so that the record is made where the caller wants
    /// it: copying it right after it was written takes as long as the rest.
    #[inline(always)]
    pub(crate) fn quick(&mut self, input: &mut &[u8]) -> Option<M> {
        if !self.is_between_frames() || self.version.is_some() {
            return None;
        }
        let attempt = Attempt(self);
        let Self { limits, parser, .. } = &mut *attempt.0;
        let message = M::quick(input, limits, parser.passed());
        mem::forget(attempt);
        message
    }

    /// As [`feed`](Self::feed), for any frame.
    pub(crate) fn feed_any(&mut self, input: &mut &[u8]) -> Result<Option<M>, Error> {
        let attempt = Attempt(self);
        let result = attempt.0.decode(input);
        mem::forget(attempt);
        result
    }

    /// As [`feed_any`](Self::feed_any), if no check panics. Inlined for the reason that [`quick`](Self::quick) is.
    #[inline(always)]
    fn decode(&mut self, input: &mut &[u8]) -> Result<Option<M>, Error> {
        if self.version.is_none()
            && let Some(frame) = self.parser.whole(input)?
            && let Some(header) = self.parser.last_header()
        {
            if let Some(message) = M::whole(header, &frame, &self.limits) {
                *input = &input[frame.len()..];
                return Ok(Some(message));
            }
            self.parser.enter(frame.header_len, input);
        }
        self.decode_pieces(input)
    }

    /// As [`decode`](Self::decode), piece by piece.
    fn decode_pieces(&mut self, input: &mut &[u8]) -> Result<Option<M>, Error> {
        loop {
            if self.parser.is_in_frame()
                && let Frame::None = self.frame
            {
                self.begin()?;
            }
            match self.parser.feed(input)? {
                Progress::Needs => return Ok(None),
                Progress::Header => {}
                Progress::Payload(bytes) => {
                    let result = match (&mut self.frame, &mut self.version) {
                        (Frame::Accepted(assembler, None), _) => M::piece(assembler, bytes),
                        (Frame::Accepted(assembler, Some(converting)), Some(version)) => {
                            version.push(converting, bytes, |packed| M::piece(assembler, packed))
                        }
                        _ => Ok(()),
                    };
                    result.map_err(|error| self.refuse(error))?;
                }
                Progress::End(verdict) => match mem::replace(&mut self.frame, Frame::None) {
                    Frame::Accepted(assembler, converting) => {
                        verdict?;
                        return match converting.and_then(|converting| converting.wrong) {
                            Some(error) => Err(error),
                            None => M::end(assembler).map(Some),
                        };
                    }
                    // Damage matters only if it may be why the frame was refused: then the next frame need not start here.
                    Frame::Refused | Frame::None if self.is_lost() => verdict?,
                    Frame::Refused | Frame::None => {}
                },
            }
        }
    }

    /// Begins the message after a header.
    fn begin(&mut self) -> Result<(), Error> {
        let Some(header) = self.parser.last_header().copied() else { return Ok(()) };
        let limits = &self.limits;
        let converted = match &mut self.version {
            Some(version) => header.check_limits(limits).and_then(|()| version.begin(&header)),
            None => Ok(None),
        };
        let frame = converted.and_then(|converted| {
            let (header, limits, converting) = match converted {
                None => (header, *limits, None),
                // The sender's signature was compared.
                Some((header, converting)) => {
                    (header, limits.allow_missing_signature(), Some(converting))
                }
            };
            Ok(Frame::Accepted(M::begin(&header, &limits)?, converting))
        });
        self.frame = frame.map_err(|error| self.refuse(error))?;
        Ok(())
    }

    /// Starts to skip a frame that was refused.
    fn refuse(&mut self, error: Error) -> Error {
        self.frame = Frame::Refused;
        // A frame without payload and checksum is complete.
        if self.parser.needs() == 0 {
            self.skip(&mut &[][..]);
        }
        error
    }

    /// Takes the rest of a frame that was refused from the front of `input`, if the decoder is in one.
    fn skip(&mut self, input: &mut &[u8]) {
        if let Frame::Refused = self.frame {
            while let Ok(Progress::Payload(_)) = self.parser.feed(input) {}
            if self.parser.is_between_frames() {
                self.frame = Frame::None;
            }
        }
    }

    /// The number of bytes that can be fed without going past the end of the frame, as far as is known yet: the rest of the
    /// header, or of the frame. It is at least 1, but 0 once the decoder is [lost](Self::is_lost). Callers need this if other
    /// data follow on the stream.
    pub fn needs(&self) -> usize {
        self.parser.needs()
    }

    /// The header of the frame whose bytes are arriving, or of the last frame.
    pub fn header(&self) -> Option<&Header> {
        self.parser.last_header()
    }

    /// Whether the stream may end here: between two frames.
    #[inline]
    pub fn is_between_frames(&self) -> bool {
        self.parser.is_between_frames()
    }

    /// Whether the decoder does not know where the next frame starts, because of an error.
    pub fn is_lost(&self) -> bool {
        self.parser.is_lost()
    }

    /// Tells the decoder that the stream has ended.
    ///
    /// # Errors
    ///
    /// [`Error::Truncated`] inside a frame, [`Error::Lost`] after an error that lost the end of the frame.
    pub fn finish(&self) -> Result<(), Error> {
        self.parser.finish()
    }
}

impl<M: Messages> fmt::Debug for Decoder<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder")
            .field("limits", &self.limits)
            .field("parser", &self.parser)
            .field("needs", &self.needs())
            .finish_non_exhaustive()
    }
}

/// Decodes the message at the front of `input` and moves `input` past it, even if the message is refused: for
/// datagrams and for memory. `None` if `input` is empty. Behind a damaged header the start of the next frame is unknown, so all
/// of `input` is taken then.
///
/// # Errors
///
/// As [`Decoder::feed`], and [`Error::Truncated`] if the frame is incomplete.
///
/// ```
/// use dtype_message::{Framing, Limits};
/// let mut datagram = Vec::new();
/// dtype_message::encode(&mut datagram, &(7_u32, 1.5_f32), Framing::compact())?;
/// assert_eq!(dtype_message::decode(&mut &datagram[..], &Limits::new())?, Some((7_u32, 1.5_f32)));
/// # Ok::<(), dtype_message::Error>(())
/// ```
#[inline]
pub fn decode<M: Messages>(input: &mut &[u8], limits: &Limits) -> Result<Option<M>, Error> {
    match M::quick(input, limits, &mut None) {
        Some(message) => Ok(Some(message)),
        None => decode_any(input, limits),
    }
}

/// As [`decode`], for any frame.
fn decode_any<M: Messages>(input: &mut &[u8], limits: &Limits) -> Result<Option<M>, Error> {
    let mut decoder = Decoder::new(*limits);
    let before = input.len();
    let message = decoder.decode(input);
    match &message {
        Ok(Some(_)) => {}
        Ok(None) => decoder.finish()?,
        // The error is in the header, of which nothing was taken.
        Err(_) if decoder.is_lost() && input.len() == before => *input = &[],
        // The error says why the frame was refused; errors in the rest of the frame do not matter.
        Err(_) => decoder.skip(input),
    }
    message
}
