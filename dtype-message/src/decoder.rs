//! Decodes messages from bytes that arrive in pieces of any size, without a stream.

use core::{fmt, mem};

use crate::assemble::grow;
use crate::error::{Error, Part};
use crate::header::{CHECKSUM_LEN, Decoded, Header};
use crate::limits::Limits;
use crate::messages::Messages;
use crate::whole::Whole;

/// Makes messages from bytes. The caller feeds bytes whenever they arrive, from any source.
///
/// It holds only the part of one message that has arrived, and the record that is incomplete at the moment. The
/// records are unpacked as they arrive, and returned when the whole frame has been verified.
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
/// A frame that is refused is skipped as it arrives, and the next one is decoded. So an unknown tag or type, an
/// exceeded limit, or damage in the payload of a full frame costs only that message: continue feeding. Where the start
/// of the next frame is unknown, after a damaged header and after any damage in a compact frame,
/// [`is_lost`](Self::is_lost) returns `true`, and the connection must be closed. So it does after a panic in a function of
/// `#[dtype(check = …)]`.
pub struct Decoder<M: Messages> {
    limits: Limits,
    state: State<M>,
    /// The bytes that have arrived of an incomplete header, record or checksum.
    pending: Vec<u8>,
    header: Option<Header>,
}

enum State<M: Messages> {
    /// At a header that has at least this many bytes.
    Header(usize),
    /// In a payload, or in the checksum after it.
    Frame(Frame<M>),
    /// In a frame that was refused.
    Skipping(Skip),
    Lost,
}

/// What is left of a frame that was refused.
///
/// The header of a compact frame has no checksum of its own. It may have been refused because it is damaged, and then the next
/// frame does not start where it says. So the checksum of such a frame is computed and compared all the same.
struct Skip {
    header: Header,
    /// Bytes of payload that have not arrived yet.
    left: u64,
    /// The checksum of what has arrived.
    checksum: u32,
}

impl Skip {
    /// For a frame whose payload starts.
    fn from_start(header: Header) -> Self {
        let checksum = Header::checksum(&header.to_bytes());
        Self { header, left: header.payload_len(), checksum }
    }

    /// Takes the rest of the frame from `input`; returns whether the frame is complete.
    fn take(&mut self, pending: &mut Vec<u8>, input: &mut &[u8]) -> bool {
        let count = usize::try_from(self.left).unwrap_or(usize::MAX).min(input.len());
        let (bytes, rest) = input.split_at(count);
        if self.header.is_compact() && self.header.checksum_len() > 0 {
            self.checksum = crc32c::crc32c_append(self.checksum, bytes);
        }
        self.left -= count as u64;
        *input = rest;
        if self.left > 0 {
            return false;
        }
        let missing = self.header.checksum_len() - pending.len();
        let (bytes, rest) = input.split_at(missing.min(input.len()));
        pending.extend_from_slice(bytes);
        *input = rest;
        bytes.len() == missing
    }

    /// The error, if the frame is damaged, once all of it was taken.
    fn damage(&self, pending: &[u8]) -> Option<Error> {
        let actual = pending.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))?;
        let expected = self.checksum;
        (self.header.is_compact() && actual != expected)
            .then_some(Error::Checksum { expected, actual })
    }
}

/// A call of the decoder. Dropped while a check panics, which is code of the program: then some of a frame has been taken, and
/// nobody knows how much.
struct Attempt<'a, M: Messages>(&'a mut Decoder<M>);

impl<M: Messages> Drop for Attempt<'_, M> {
    fn drop(&mut self) {
        self.0.state = State::Lost;
    }
}

/// A frame whose header has been accepted.
struct Frame<M: Messages> {
    assembler: M::Assembler,
    /// Packed bytes of a record, and of the records that are unpacked at a time.
    record: usize,
    piece: usize,
    /// Bytes of payload that have not arrived yet.
    left: usize,
    header: Header,
    checksum: u32,
}

impl<M: Messages> Decoder<M> {
    /// Makes a decoder at the start of a frame.
    pub fn new(limits: Limits) -> Self {
        Self { limits, state: State::Header(1), pending: Vec::new(), header: None }
    }

    /// Takes bytes from the front of `input`, up to the end of a frame, and returns the message if it is complete.
    /// `None` means that all of `input` has been taken and more is needed; call it again as long as it returns a
    /// message.
    ///
    /// # Errors
    ///
    /// Any [`Error`] but [`Io`](Error::Io) and [`Truncated`](Error::Truncated); see [above](Self#after-an-error) for
    /// how to continue.
    #[inline]
    pub fn feed(&mut self, input: &mut &[u8]) -> Result<Option<M>, Error> {
        let attempt = Attempt(self);
        let result = attempt.0.decode(input);
        mem::forget(attempt);
        result
    }

    /// As [`feed`](Self::feed), if no check panics.
    #[inline]
    fn decode(&mut self, input: &mut &[u8]) -> Result<Option<M>, Error> {
        if self.is_between_frames()
            && let Some((message, header)) = M::quick(input, &self.limits)
        {
            self.header = Some(header);
            return Ok(Some(message));
        }
        self.decode_any(input)
    }

    /// As [`decode`](Self::decode), for frames of any form.
    fn decode_any(&mut self, input: &mut &[u8]) -> Result<Option<M>, Error> {
        loop {
            match &mut self.state {
                State::Header(_) => {
                    if self.pending.is_empty() {
                        let start = *input;
                        match Whole::take(input) {
                            Ok(Some(whole)) => {
                                let result = self.decode_whole(&whole);
                                if matches!(self.state, State::Skipping(_)) {
                                    *input = &start[whole.header_len()..];
                                }
                                return result.map(Some);
                            }
                            Ok(None) => {}
                            Err(error) => {
                                self.state = State::Lost;
                                return Err(error);
                            }
                        }
                    }
                    let Some(header) = self.take_header(input)? else { return Ok(None) };
                    self.header = Some(header);
                    self.state = match Frame::new(header, &self.limits) {
                        Ok(frame) => State::Frame(frame),
                        Err(error) => return Err(self.refuse(Skip::from_start(header), error)),
                    };
                }
                State::Frame(frame) => match frame.take(&mut self.pending, input) {
                    Ok(false) => return Ok(None),
                    Ok(true) => return self.complete().map(Some),
                    Err(error) => {
                        let Frame { header, left, checksum, .. } = *frame;
                        return Err(
                            self.refuse(Skip { header, left: left as u64, checksum }, error)
                        );
                    }
                },
                State::Skipping(_) => {
                    if !self.skip(input)? {
                        return Ok(None);
                    }
                }
                State::Lost => return Err(Error::Lost),
            }
            if input.is_empty() && !self.is_due() {
                return Ok(None);
            }
        }
    }

    /// The number of bytes that can be fed without going past the end of the frame, as far as is known yet: the
    /// rest of the header, or of the frame. It is at least 1, but 0 once the decoder is [lost](Self::is_lost). For
    /// a caller that reads from a stream on which other data follow.
    pub fn needs(&self) -> usize {
        match &self.state {
            State::Header(needs) => needs - self.pending.len(),
            State::Frame(frame) => {
                let pending = if frame.left == 0 { self.pending.len() } else { 0 };
                frame.left.saturating_add(frame.header.checksum_len() - pending)
            }
            State::Skipping(skip) => {
                let left = usize::try_from(skip.left).unwrap_or(usize::MAX);
                left.saturating_add(skip.header.checksum_len() - self.pending.len())
            }
            State::Lost => 0,
        }
    }

    /// The header of the frame that the decoder is in, or of the last frame.
    pub fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// Whether the stream may end here: between two frames.
    #[inline]
    pub fn is_between_frames(&self) -> bool {
        matches!(self.state, State::Header(_)) && self.pending.is_empty()
    }

    /// Whether the decoder does not know where the next frame starts, because of an error.
    pub fn is_lost(&self) -> bool {
        matches!(self.state, State::Lost)
    }

    /// Tells the decoder that the stream has ended.
    ///
    /// # Errors
    ///
    /// [`Error::Truncated`] inside a frame, [`Error::Lost`] after an error that lost the end of the frame.
    pub fn finish(&self) -> Result<(), Error> {
        let came = self.pending.len() as u64;
        let (part, expected, actual) = match &self.state {
            State::Lost => return Err(Error::Lost),
            State::Header(_) if came == 0 => return Ok(()),
            State::Header(needs) => (Part::Header, *needs as u64, came),
            State::Frame(frame) if frame.left == 0 => (Part::Checksum, CHECKSUM_LEN as u64, came),
            State::Frame(frame) => {
                let expected = frame.header.payload_len();
                (Part::Payload, expected, expected - frame.left as u64)
            }
            State::Skipping(skip) if skip.left == 0 => (Part::Checksum, CHECKSUM_LEN as u64, came),
            State::Skipping(skip) => {
                let expected = skip.header.payload_len();
                (Part::Payload, expected, expected - skip.left)
            }
        };
        Err(Error::Truncated { part, expected, actual })
    }

    /// The next header, if it is complete.
    fn take_header(&mut self, input: &mut &[u8]) -> Result<Option<Header>, Error> {
        loop {
            let from_input = self.pending.is_empty();
            let bytes = if from_input { *input } else { &self.pending };
            let needs = match Header::decode(bytes) {
                Ok(Decoded::Header(header, len)) => {
                    if from_input {
                        *input = &input[len..];
                    }
                    self.pending.clear();
                    return Ok(Some(header));
                }
                Ok(Decoded::Needs(needs)) => needs,
                Err(error) => {
                    self.state = State::Lost;
                    return Err(error);
                }
            };
            self.state = State::Header(needs);
            if input.is_empty() {
                return Ok(None);
            }
            let (bytes, rest) = input.split_at(input.len().min(needs - self.pending.len()));
            self.pending.extend_from_slice(bytes);
            *input = rest;
        }
    }

    /// Decodes a frame whose bytes have all arrived.
    fn decode_whole(&mut self, whole: &Whole<'_>) -> Result<M, Error> {
        let header = whole.header;
        (self.header, self.state) = (Some(header), State::Header(1));
        let result = message_of(whole, &self.limits);
        match &result {
            Err(Error::Checksum { .. }) if header.is_compact() => self.state = State::Lost,
            // Damage may be why it was refused. As in fragments, that is found where the frame ends.
            Err(_) if header.is_compact() && whole.verify().is_err() => {
                self.state = State::Skipping(Skip::from_start(header));
            }
            _ => {}
        }
        result
    }

    /// Starts to skip a frame that was refused.
    fn refuse(&mut self, skip: Skip, error: Error) -> Error {
        self.pending = Vec::new();
        let is_over = skip.left == 0 && skip.header.checksum_len() == 0;
        self.state = if is_over { State::Header(1) } else { State::Skipping(skip) };
        error
    }

    /// Takes the rest of a frame that was refused from the front of `input`; returns whether all of it was there.
    fn skip(&mut self, input: &mut &[u8]) -> Result<bool, Error> {
        let State::Skipping(skip) = &mut self.state else { return Ok(true) };
        if !skip.take(&mut self.pending, input) {
            return Ok(false);
        }
        let damage = skip.damage(&self.pending);
        self.pending.clear();
        self.state = if damage.is_some() { State::Lost } else { State::Header(1) };
        damage.map_or(Ok(true), Err)
    }

    /// Whether the frame is complete without any further byte.
    fn is_due(&self) -> bool {
        match &self.state {
            State::Frame(frame) => frame.rest() == 0,
            State::Header(_) | State::Skipping(_) | State::Lost => false,
        }
    }

    /// Returns the message of a frame that has arrived completely.
    fn complete(&mut self) -> Result<M, Error> {
        let state = mem::replace(&mut self.state, State::Header(1));
        let State::Frame(frame) = state else { return Err(Error::Lost) };
        let came = self.pending.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
        self.pending.clear();
        if let Some(actual) = came.filter(|actual| *actual != frame.checksum) {
            if frame.header.is_compact() {
                self.state = State::Lost;
            }
            return Err(Error::Checksum { expected: frame.checksum, actual });
        }
        M::end(frame.assembler)
    }
}

impl<M: Messages> fmt::Debug for Decoder<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.state {
            State::Header(_) => "header",
            State::Frame(_) => "frame",
            State::Skipping(_) => "skipping",
            State::Lost => "lost",
        };
        f.debug_struct("Decoder")
            .field("limits", &self.limits)
            .field("state", &state)
            .field("header", &self.header)
            .field("needs", &self.needs())
            .finish_non_exhaustive()
    }
}

impl<M: Messages> Frame<M> {
    fn new(header: Header, limits: &Limits) -> Result<Self, Error> {
        let assembler = M::begin(&header, limits)?;
        let sizes = header.in_memory()?;
        Ok(Self {
            assembler,
            record: sizes.record,
            piece: sizes.piece(),
            left: sizes.payload,
            header,
            checksum: Header::checksum(&header.to_bytes()),
        })
    }

    /// Bytes of the frame that have not arrived, if none of the checksum is pending.
    fn rest(&self) -> u64 {
        // A frame may announce more bytes than anybody can send.
        (self.left as u64).saturating_add(self.header.checksum_len() as u64)
    }

    /// Takes the bytes of the payload and the checksum that are in `input`; returns whether the frame is complete.
    fn take(&mut self, pending: &mut Vec<u8>, input: &mut &[u8]) -> Result<bool, Error> {
        while self.left > 0 {
            let whole = match input.len().checked_rem(self.record) {
                Some(rest) if pending.is_empty() => (input.len() - rest).min(self.left),
                _ => 0,
            };
            if whole > 0 {
                let bytes = self.next(input, whole.min(self.piece));
                M::piece(&mut self.assembler, bytes)?;
                continue;
            }
            if input.is_empty() {
                return Ok(false);
            }
            let count = (self.record - pending.len()).min(input.len());
            grow(pending, count, self.record)?;
            let bytes = self.next(input, count);
            pending.extend_from_slice(bytes);
            if pending.len() == self.record {
                let result = M::piece(&mut self.assembler, pending);
                pending.clear();
                result?;
            }
        }
        let missing = self.header.checksum_len() - pending.len();
        let (bytes, rest) = input.split_at(missing.min(input.len()));
        pending.extend_from_slice(bytes);
        *input = rest;
        Ok(bytes.len() == missing)
    }

    /// Takes the next bytes of the payload and updates the state.
    fn next<'a>(&mut self, input: &mut &'a [u8], count: usize) -> &'a [u8] {
        let (bytes, rest) = input.split_at(count);
        *input = rest;
        self.left -= count;
        if self.header.checksum_len() > 0 {
            self.checksum = crc32c::crc32c_append(self.checksum, bytes);
        }
        bytes
    }
}

/// The message of a frame whose bytes have all arrived.
#[inline]
fn message_of<M: Messages>(whole: &Whole<'_>, limits: &Limits) -> Result<M, Error> {
    let mut assembler = M::begin(&whole.header, limits)?;
    let payload = whole.payload();
    if !payload.is_empty() {
        M::piece(&mut assembler, payload)?;
    }
    whole.verify()?;
    M::end(assembler)
}

/// Decodes the message at the front of `input` and moves `input` past it, even if the message is refused: for
/// datagrams and for memory. `None` if `input` is empty.
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
    match M::quick(input, limits) {
        Some((message, _)) => Ok(Some(message)),
        None => decode_any(input, limits),
    }
}

/// As [`decode`], for frames of any form.
fn decode_any<M: Messages>(input: &mut &[u8], limits: &Limits) -> Result<Option<M>, Error> {
    if let Some(whole) = Whole::take(input)? {
        return message_of(&whole, limits).map(Some);
    }
    let mut decoder = Decoder::new(*limits);
    let message = decoder.feed(input);
    match &message {
        Ok(Some(_)) => {}
        Ok(None) => decoder.finish()?,
        // Only the decoder knows where a frame ends that was refused. Why it was is told, and not what else is wrong with it.
        Err(_) => drop(decoder.skip(input)),
    }
    message
}
