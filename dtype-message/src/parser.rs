//! Finds where each header, payload and checksum of a stream begins and ends. A reader of a stream reads a header, and then the
//! bytes that [`Body`] tells it to read. [`Parser`] is for bytes that arrive in pieces of any size.

use std::io::Read;

use crate::error::{Error, Part};
use crate::fill::fill;
use crate::header::{CHECKSUM_LEN, Header};

/// The rest of a frame, after its header. Each byte that the checksum covers is added to it once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body {
    /// Bytes of the payload, and how many of them have not arrived yet.
    payload: u64,
    left: u64,
    /// The greatest number of payload bytes to return at a time.
    piece: usize,
    has_checksum: bool,
    is_compact: bool,
    /// The checksum of the bytes that have arrived.
    checksum: u32,
}

impl Body {
    /// The rest of a frame with a header of these bytes.
    #[inline]
    fn behind(header: &Header, bytes: &[u8]) -> Self {
        Self {
            payload: header.payload_len(),
            left: header.payload_len(),
            piece: header.piece(),
            has_checksum: header.checksum_len() > 0,
            is_compact: header.is_compact(),
            checksum: Header::checksum(bytes),
        }
    }

    /// The rest of a frame with this header.
    pub(crate) fn after(header: &Header) -> Self {
        Self::behind(header, &header.to_bytes())
    }

    /// Bytes of the payload that have not arrived.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// Bytes of the checksum.
    #[inline]
    pub(crate) fn checksum_len(&self) -> usize {
        if self.has_checksum { CHECKSUM_LEN } else { 0 }
    }

    /// Takes the next bytes of the payload from the front of `input`: none if the payload has ended or `input` is empty.
    #[inline]
    pub(crate) fn payload<'a>(&mut self, input: &mut &'a [u8]) -> &'a [u8] {
        let left = usize::try_from(self.left).unwrap_or(usize::MAX);
        let (bytes, rest) = input.split_at(left.min(self.piece).min(input.len()));
        *input = rest;
        self.left -= bytes.len() as u64;
        if self.has_checksum {
            self.checksum = crc32c::crc32c_append(self.checksum, bytes);
        }
        bytes
    }

    /// Compares the checksum, if there is one, with the bytes at the end of the frame.
    #[inline]
    pub(crate) fn verify(&self, bytes: [u8; CHECKSUM_LEN]) -> Result<(), Error> {
        if self.has_checksum { compare(self.checksum, bytes) } else { Ok(()) }
    }

    /// The error for a stream that ended after `came` bytes of the checksum, 0 for none.
    #[cold]
    pub(crate) fn truncated(&self, came: usize) -> Error {
        let (part, expected, actual) = match self.left {
            0 => (Part::Checksum, CHECKSUM_LEN as u64, came as u64),
            left => (Part::Payload, self.payload, self.payload - left),
        };
        Error::Truncated { part, expected, actual }
    }
}

/// Compares the checksum of the bytes that have arrived with the bytes at the end of the frame.
#[inline]
fn compare(expected: u32, bytes: [u8; CHECKSUM_LEN]) -> Result<(), Error> {
    let actual = u32::from_le_bytes(bytes);
    if expected == actual { Ok(()) } else { Err(Error::Checksum { expected, actual }) }
}

/// A frame whose bytes have all arrived and whose payload is one piece, as most frames are.
#[derive(Debug)]
pub struct Whole<'a> {
    /// What the checksum covers: the bytes of the header and of the payload.
    covered: &'a [u8],
    pub(crate) header_len: usize,
    /// The bytes of the checksum; none if the frame has no checksum.
    checksum: &'a [u8],
}

impl<'a> Whole<'a> {
    /// The frame at the front of `input`, which starts with this header.
    #[inline]
    fn at_front(header: &Header, header_len: usize, input: &'a [u8]) -> Option<Self> {
        let payload = usize::try_from(header.payload_len()).ok();
        let payload = payload.filter(|len| *len <= header.piece())?;
        let (covered, rest) = input.split_at_checked(header_len.checked_add(payload)?)?;
        let checksum = rest.get(..header.checksum_len())?;
        Some(Self { covered, header_len, checksum })
    }

    /// Bytes of the frame.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.covered.len() + self.checksum.len()
    }

    /// The payload, once the checksum of the frame is verified.
    #[inline]
    pub(crate) fn verified(&self) -> Result<&'a [u8], Error> {
        if let Some(bytes) = self.checksum.first_chunk() {
            compare(Header::checksum(self.covered), *bytes)?;
        }
        Ok(&self.covered[self.header_len..])
    }
}

/// The next thing that a [`Parser`] finds.
#[derive(Debug)]
pub(crate) enum Progress<'a> {
    /// All of the input has been taken, and more is needed.
    Needs,
    /// The header of a frame, which the parser keeps. The parser is [in the frame](Parser::is_in_frame) now.
    Header,
    /// The next bytes of the payload, at least one.
    Payload(&'a [u8]),
    /// The end of the frame; an error if the checksum is wrong.
    End(Result<(), Error>),
}

/// Parses frames from bytes that arrive in pieces of any size. It keeps only the part of a header or of a checksum that has
/// arrived, and decodes a header once.
#[derive(Clone, Debug)]
pub(crate) struct Parser {
    state: State,
    /// The last header.
    header: Option<Header>,
    /// The part of an incomplete header or checksum that has arrived, and its length.
    pending: [u8; Header::FULL_LEN],
    came: usize,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// At a header that has at least this many bytes.
    Header(usize),
    /// After the header.
    Body(Body),
    /// After an error: the start of the next frame is unknown.
    Lost,
}

impl Parser {
    /// At the start of a frame.
    #[inline]
    pub(crate) const fn new() -> Self {
        Self { state: State::Header(1), header: None, pending: [0; Header::FULL_LEN], came: 0 }
    }

    /// Takes bytes from the front of `input`, up to the end of a header, of a piece of payload, or of a frame.
    ///
    /// # Errors
    ///
    /// The errors of [`Header::decode`]; [`Error::Checksum`]; [`Error::Lost`]. The parser is lost after an error of the header,
    /// and after a wrong checksum of a compact frame.
    pub(crate) fn feed<'a>(&mut self, input: &mut &'a [u8]) -> Result<Progress<'a>, Error> {
        match &mut self.state {
            State::Header(needs) => {
                let needs = *needs;
                self.header(needs, input)
            }
            State::Body(body) if body.left > 0 => Ok(match body.payload(input) {
                [] => Progress::Needs,
                bytes => Progress::Payload(bytes),
            }),
            State::Body(body) => {
                let body = *body;
                Ok(self.end(&body, input).map_or(Progress::Needs, Progress::End))
            }
            State::Lost => Err(Error::Lost),
        }
    }

    /// The next frame, if all of its bytes are at the front of `input`, which is then unchanged. Otherwise [`feed`](Self::feed)
    /// continues, after the header if that has arrived.
    ///
    /// # Errors
    ///
    /// The errors of [`Header::decode`], after which the parser is lost.
    #[inline(always)]
    pub(crate) fn whole<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Whole<'a>>, Error> {
        if !self.is_between_frames() {
            return Ok(None);
        }
        let result = Header::decode_to(&mut self.header, input);
        let len = result.inspect_err(|_| self.state = State::Lost)?;
        let Some(header) = self.header.as_ref().filter(|_| len <= input.len()) else {
            return Ok(None);
        };
        let frame = Whole::at_front(header, len, input);
        if frame.is_none() {
            self.enter(len, input);
        }
        Ok(frame)
    }

    /// Takes the next bytes of a header that has at least `needs` bytes.
    fn header<'a>(
        &mut self,
        mut needs: usize,
        input: &mut &'a [u8],
    ) -> Result<Progress<'a>, Error> {
        loop {
            self.take(needs, input);
            let bytes = &self.pending[..self.came];
            let result = Header::decode_to(&mut self.header, bytes);
            needs = result.inspect_err(|_| self.state = State::Lost)?;
            if let Some(header) = self.header.as_ref().filter(|_| needs <= bytes.len()) {
                self.state = State::Body(Body::behind(header, bytes));
                self.came = 0;
                return Ok(Progress::Header);
            }
            self.state = State::Header(needs);
            if input.is_empty() {
                return Ok(Progress::Needs);
            }
        }
    }

    /// Takes the checksum behind the payload; `None` if it is incomplete.
    #[inline]
    fn end(&mut self, body: &Body, input: &mut &[u8]) -> Option<Result<(), Error>> {
        self.take(body.checksum_len(), input);
        if self.came < body.checksum_len() {
            return None;
        }
        let [a, b, c, d, ..] = self.pending;
        let verdict = body.verify([a, b, c, d]);
        // A compact header has no checksum of its own, so its length may be what is damaged.
        let is_lost = verdict.is_err() && body.is_compact;
        self.state = if is_lost { State::Lost } else { State::Header(1) };
        self.came = 0;
        Some(verdict)
    }

    /// Takes the last header, which has this length, from the front of `input`.
    pub(crate) fn enter(&mut self, header_len: usize, input: &mut &[u8]) {
        if let Some(header) = &self.header {
            let (bytes, rest) = input.split_at(header_len);
            self.state = State::Body(Body::behind(header, bytes));
            *input = rest;
        }
    }

    /// Keeps bytes from the front of `input`, until `needs` bytes have arrived.
    fn take(&mut self, needs: usize, input: &mut &[u8]) {
        let (bytes, rest) = input.split_at((needs - self.came).min(input.len()));
        self.pending[self.came..self.came + bytes.len()].copy_from_slice(bytes);
        self.came += bytes.len();
        *input = rest;
    }

    /// Bytes up to the end of the frame, as far as known: the rest of the header, or of payload and checksum.
    pub(crate) fn needs(&self) -> usize {
        match &self.state {
            State::Header(needs) => needs - self.came,
            State::Body(body) => {
                let left = usize::try_from(body.left).unwrap_or(usize::MAX);
                left.saturating_add(body.checksum_len() - self.came)
            }
            State::Lost => 0,
        }
    }

    /// The last header.
    #[inline]
    pub(crate) fn last_header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// Records that a whole frame with this header was taken.
    #[inline]
    pub(crate) fn passed(&mut self) -> &mut Option<Header> {
        &mut self.header
    }

    /// Whether the parser is past a header, inside the frame.
    pub(crate) fn is_in_frame(&self) -> bool {
        matches!(self.state, State::Body(_))
    }

    #[inline]
    pub(crate) fn is_between_frames(&self) -> bool {
        matches!(self.state, State::Header(_)) && self.came == 0
    }

    pub(crate) fn is_lost(&self) -> bool {
        matches!(self.state, State::Lost)
    }

    /// Marks the parser as lost: the position in the stream is unknown.
    pub(crate) fn lose(&mut self) {
        self.state = State::Lost;
    }

    /// Tells the parser that the stream has ended.
    ///
    /// # Errors
    ///
    /// [`Error::Truncated`] inside a frame, [`Error::Lost`].
    pub(crate) fn finish(&self) -> Result<(), Error> {
        match &self.state {
            State::Lost => Err(Error::Lost),
            State::Header(_) if self.came == 0 => Ok(()),
            State::Header(needs) => Err(truncated_header(*needs, self.came)),
            State::Body(body) => Err(body.truncated(self.came)),
        }
    }
}

fn truncated_header(needs: usize, came: usize) -> Error {
    Error::Truncated { part: Part::Header, expected: needs as u64, actual: came as u64 }
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
        Ok(Self::read_with_body(input)?.map(|(header, _)| header))
    }

    /// As [`read`](Self::read), with the rest of the frame.
    #[inline]
    pub(crate) fn read_with_body(input: &mut impl Read) -> Result<Option<(Self, Body)>, Error> {
        let (mut header, mut bytes, mut came, mut needs) = (None, [0; Self::FULL_LEN], 0, 1);
        loop {
            came += fill(input, &mut bytes[came..needs])?;
            if came == 0 {
                return Ok(None);
            }
            if came < needs {
                return Err(truncated_header(needs, came));
            }
            needs = Self::decode_to(&mut header, &bytes[..came])?;
            if let Some(header) = header {
                return Ok(Some((header, Body::behind(&header, &bytes[..needs]))));
            }
        }
    }
}
