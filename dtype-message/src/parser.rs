//! The parser of frames: where each header, payload and checksum of a stream begins and ends. Every reader is driven by it.

use std::io::Read;

use crate::error::{Error, Part};
use crate::fill::fill;
use crate::header::{CHECKSUM_LEN, Decoded, Header};

/// The next thing that a [`Parser`] finds.
#[derive(Debug)]
pub(crate) enum Progress<'a> {
    /// All of the input has been taken, and more is needed.
    Needs,
    /// The header of a frame.
    Header(Header),
    /// The next bytes of the payload, at least one.
    Payload(&'a [u8]),
    /// The end of the frame; an error if the checksum is wrong.
    End(Result<(), Error>),
}

/// Parses frames from bytes that arrive in pieces of any size. It keeps only the part of a header or of a checksum that has
/// arrived; a header is decoded, and a byte covered by the checksum, once.
#[derive(Clone, Debug)]
pub(crate) struct Parser {
    state: State,
    /// The part of an incomplete header or checksum that has arrived, and its length.
    pending: [u8; Header::FULL_LEN],
    came: usize,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// At a header that has at least this many bytes.
    Header(usize),
    /// After the header.
    Frame(Frame),
    /// After an error: the start of the next frame is unknown.
    Lost,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    header: Header,
    /// Bytes of payload that have not arrived yet.
    left: u64,
    /// The most bytes of payload to return at a time.
    piece: usize,
    /// The checksum of what has arrived.
    checksum: u32,
}

impl Frame {
    fn new(header: Header, checksum: u32) -> Self {
        Self { header, left: header.payload_len(), piece: header.piece(), checksum }
    }
}

impl Parser {
    /// At the start of a frame.
    #[inline]
    pub(crate) const fn new() -> Self {
        Self { state: State::Header(1), pending: [0; Header::FULL_LEN], came: 0 }
    }

    /// Behind a header.
    pub(crate) fn after(header: Header) -> Self {
        let checksum = Header::checksum(&header.to_bytes());
        Self { state: State::Frame(Frame::new(header, checksum)), ..Self::new() }
    }

    /// Takes bytes from the front of `input`, up to the end of a header, of a piece of payload or of a frame.
    ///
    /// # Errors
    ///
    /// The errors of [`Header::decode`], after which, and after a wrong checksum of a compact frame, the parser is lost;
    /// [`Error::Lost`].
    #[inline]
    pub(crate) fn feed<'a>(&mut self, input: &mut &'a [u8]) -> Result<Progress<'a>, Error> {
        match &mut self.state {
            State::Header(_) => self.header(input),
            State::Frame(Frame { header, left, piece, checksum }) if *left > 0 => {
                let room = usize::try_from(*left).unwrap_or(usize::MAX).min(*piece);
                let (bytes, rest) = input.split_at(room.min(input.len()));
                if bytes.is_empty() {
                    return Ok(Progress::Needs);
                }
                *input = rest;
                *left -= bytes.len() as u64;
                if header.checksum_len() > 0 {
                    *checksum = crc32c::crc32c_append(*checksum, bytes);
                }
                Ok(Progress::Payload(bytes))
            }
            State::Frame(Frame { header, checksum, .. }) => {
                let (header, expected) = (*header, *checksum);
                self.take(header.checksum_len(), input);
                if self.came < header.checksum_len() {
                    return Ok(Progress::Needs);
                }
                let came = self.pending.first_chunk().filter(|_| self.came > 0);
                let actual = came.map_or(expected, |bytes| u32::from_le_bytes(*bytes));
                let is_right = actual == expected;
                self.came = 0;
                // A compact header has no checksum of its own: its length may be what is damaged.
                self.state =
                    if is_right || !header.is_compact() { State::Header(1) } else { State::Lost };
                let wrong = Error::Checksum { expected, actual };
                Ok(Progress::End(if is_right { Ok(()) } else { Err(wrong) }))
            }
            State::Lost => Err(Error::Lost),
        }
    }

    #[inline]
    fn header<'a>(&mut self, input: &mut &'a [u8]) -> Result<Progress<'a>, Error> {
        loop {
            let is_in_place = self.came == 0;
            let bytes = if is_in_place { *input } else { &self.pending[..self.came] };
            match Header::decode(bytes) {
                Ok(Decoded::Header(header, len)) => {
                    self.state = State::Frame(Frame::new(header, Header::checksum(&bytes[..len])));
                    self.came = 0;
                    if is_in_place {
                        *input = &input[len..];
                    }
                    return Ok(Progress::Header(header));
                }
                Ok(Decoded::Needs(needs)) => {
                    self.state = State::Header(needs);
                    if input.is_empty() {
                        return Ok(Progress::Needs);
                    }
                    self.take(needs, input);
                }
                Err(error) => {
                    self.state = State::Lost;
                    return Err(error);
                }
            }
        }
    }

    /// Keeps bytes from the front of `input`, until `needs` bytes have arrived.
    fn take(&mut self, needs: usize, input: &mut &[u8]) {
        let (bytes, rest) = input.split_at((needs - self.came).min(input.len()));
        self.pending[self.came..self.came + bytes.len()].copy_from_slice(bytes);
        self.came += bytes.len();
        *input = rest;
    }

    /// Reads the next header from a stream, and no byte beyond it; `None` if the stream ends before its first byte.
    pub(crate) fn read_header(&mut self, input: &mut impl Read) -> Result<Option<Header>, Error> {
        let mut bytes = [0; Header::FULL_LEN];
        loop {
            let bytes = &mut bytes[..self.needs().min(Header::FULL_LEN)];
            let came = fill(input, bytes)?;
            if let Progress::Header(header) = self.feed(&mut &bytes[..came])? {
                return Ok(Some(header));
            }
            if came < bytes.len() {
                return self.finish().map(|()| None);
            }
        }
    }

    /// Bytes of the payload that have not arrived; 0 outside of one.
    pub(crate) fn payload_left(&self) -> u64 {
        match &self.state {
            State::Frame(frame) => frame.left,
            State::Header(_) | State::Lost => 0,
        }
    }

    /// Bytes up to the end of the frame, as far as they are known: of the header, or of payload and checksum.
    pub(crate) fn needs(&self) -> usize {
        match &self.state {
            State::Header(needs) => needs - self.came,
            State::Frame(frame) => {
                let left = usize::try_from(frame.left).unwrap_or(usize::MAX);
                left.saturating_add(frame.header.checksum_len() - self.came)
            }
            State::Lost => 0,
        }
    }

    #[inline]
    pub(crate) fn is_between_frames(&self) -> bool {
        matches!(self.state, State::Header(_)) && self.came == 0
    }

    pub(crate) fn is_lost(&self) -> bool {
        matches!(self.state, State::Lost)
    }

    /// Gives up: the position in the stream is unknown.
    pub(crate) fn lose(&mut self) {
        self.state = State::Lost;
    }

    /// Notes that the stream has ended.
    ///
    /// # Errors
    ///
    /// [`Error::Truncated`] inside a frame, [`Error::Lost`].
    pub(crate) fn finish(&self) -> Result<(), Error> {
        let came = self.came as u64;
        let (part, expected, actual) = match &self.state {
            State::Lost => return Err(Error::Lost),
            State::Header(_) if came == 0 => return Ok(()),
            State::Header(needs) => (Part::Header, *needs as u64, came),
            State::Frame(Frame { left: 0, .. }) => (Part::Checksum, CHECKSUM_LEN as u64, came),
            State::Frame(Frame { header, left, .. }) => {
                let expected = header.payload_len();
                (Part::Payload, expected, expected - left)
            }
        };
        Err(Error::Truncated { part, expected, actual })
    }
}

impl Header {
    /// Reads a header, and no byte beyond it; `None` if the stream ends before its first byte. To read what
    /// follows, make an [`Incoming`](crate::Incoming) from the header.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], [`Error::Truncated`], and the errors of [`decode`](Self::decode). If the stream fails before
    /// the first byte, it can be read again.
    pub fn read(input: &mut impl Read) -> Result<Option<Self>, Error> {
        Parser::new().read_header(input)
    }
}
