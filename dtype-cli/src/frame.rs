//! `dtype frame`: the frames of a file of messages.
//!
//! Frames are read piece by piece, so that the memory in use does not depend on what a header announces. After a damaged frame,
//! the next one is found where the format allows it: after the frame, if only its payload is damaged and its header has a
//! checksum of its own; otherwise at the next full frame, which starts with four known bytes and has a header with the right
//! checksum. If bytes of a full frame are missing, the next frame starts inside the bytes that it announces. The last megabyte
//! is kept, so that the search can start after the first byte of the damaged frame. If a longer frame is damaged, a file is
//! read again; in a pipe, the search starts after that frame.

mod known;
mod own_type;
mod report;

use std::io::Write;

use dtype_message::{Decoded, Error, Header, Part, Search, find_frame};
use dtype_runtime::convertor::{Checksum, Crc32c};

use crate::arguments::{Frame, FrameForm};
use crate::dump::{Lines, Printer, Record, Table};
use crate::failure::Failure;
use crate::forward::Forward;
use crate::input::{self, StandardInput};
use crate::value::json_string;
use dtype_text::printable::printable;
use known::{KnownTypes, Ready, Records};
pub(crate) use own_type::own_type;
use report::{Found, Report};

/// How many bytes of the input are kept to search them for a frame.
const KEPT: usize = 1 << 20;

/// How many bytes may be searched again after they were read as a damaged frame; one more is allowed for each byte of the input
/// so far. In a hostile file, each of many headers announces a frame of the whole rest.
const MAX_AGAIN: u64 = 1 << 26;
const AGAIN_EACH: u64 = 4;

/// Bytes of payload to read at once.
const PIECE: u64 = 1 << 16;

/// The greatest length in bytes of a message that may be a type or a schema.
const MAX_TYPE_BYTES: u64 = 1 << 20;

/// The maximum number of bytes of a text to print.
const MAX_TEXT: usize = 1 << 24;

/// Bytes of a checksum.
const CHECKSUM_LEN: u64 = 4;

/// Prints the frames of a file. Returns whether all of them are complete and hold the requested records.
pub(crate) fn frame(
    options: &Frame,
    stdin: &mut StandardInput,
    colour: bool,
    out: &mut impl Write,
) -> Result<bool, Failure> {
    let (types, input) = options.types_and_input()?;
    let given = types.iter().map(|ty| input::records(ty, stdin)).collect::<Result<Vec<_>, _>>()?;
    let mut frames = Frames {
        input: Forward::open(input, stdin)?.keeping(KEPT),
        again: 0,
        furthest: 0,
        types: KnownTypes::new(given),
        prints_records: options.dump || !types.is_empty(),
        report: Report::new(options.json || options.form == FrameForm::Json, colour),
        colour,
    };
    let mut at = Some(0);
    while let Some(start) = at {
        at = frames.next(start, out)?;
    }
    frames.report.end(out)?;
    Ok(frames.report.is_good())
}

/// The frames of an input.
struct Frames {
    input: Forward,
    /// The number of bytes that were searched again.
    again: u64,
    /// One past the last byte of the frames so far.
    furthest: u64,
    types: KnownTypes,
    prints_records: bool,
    report: Report,
    colour: bool,
}

/// Where a frame is, in bytes from the start of the input.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: u64,
    payload: u64,
    payload_end: u64,
    end: u64,
}

impl Span {
    fn of(start: u64, header: &Header, len: u64) -> Self {
        let payload = start.saturating_add(len);
        let payload_end = payload.saturating_add(header.payload_len());
        let end = payload_end.saturating_add(header.checksum_len() as u64);
        Self { start, payload, payload_end, end }
    }
}

impl Frames {
    /// Prints the frame at `start`. Returns where the next one starts, unless the input ends.
    fn next(&mut self, start: u64, out: &mut impl Write) -> Result<Option<u64>, Failure> {
        let head = self.input.bytes(start, start.saturating_add(Header::FULL_LEN as u64))?;
        if head.is_empty() {
            return Ok(None);
        }
        let (header, len) = match Header::decode(head) {
            Ok(Decoded::Header(header, len)) => (header, len),
            Ok(Decoded::Needs(needs)) => {
                let (expected, actual) = (needs as u64, head.len() as u64);
                let error = Error::Truncated { part: Part::Header, expected, actual };
                self.report.no_frame(start, &error, out)?;
                return self.search(start, start + 1, out);
            }
            Err(error) => {
                self.report.no_frame(start, &error, out)?;
                return self.search(start, start + 1, out);
            }
        };
        let span = Span::of(start, &header, len as u64);
        let mut found =
            Found { offset: start, header, checksum: None, content: None, message: None };
        self.report.begin(&found, out)?;
        let result = self.payload(&header, span, &mut found, out)?;
        self.report.frame(&found, result.as_ref().err(), out)?;
        match result {
            Err(Error::Checksum { .. } | Error::Truncated { .. }) => {
                self.after_damage(span, header.is_compact(), out)
            }
            _ => Ok(Some(span.end)),
        }
    }

    /// Where the next frame starts after a damaged one.
    fn after_damage(
        &mut self,
        span: Span,
        is_compact: bool,
        out: &mut impl Write,
    ) -> Result<Option<u64>, Failure> {
        let Span { start, end, .. } = span;
        if is_compact {
            // The length of the frame may be wrong as well.
            let can_search = self.can_search(span)?;
            let (first, from) = if can_search { (start, start + 1) } else { (end, end) };
            return self.search(first, from, out);
        }
        if !self.is_followed(span)? && self.can_search(span)? {
            // Bytes of the frame may be missing, so that another frame starts inside.
            if let Some(inside) = self.find(start + 1, end)? {
                self.report.skipped(start, inside, out)?;
                return Ok(Some(inside));
            }
        }
        Ok(Some(end))
    }

    /// Whether a frame is followed by a full frame or by nothing.
    fn is_followed(&mut self, span: Span) -> Result<bool, Failure> {
        let next = self.input.bytes(span.end, span.end.saturating_add(Header::FULL_LEN as u64))?;
        let is_followed = next.is_empty() || find_frame(next) == Search::Found(0);
        Ok(is_followed && self.input.end() >= span.end)
    }

    /// Goes back to the start of a frame that was read, if it can be searched for others.
    fn can_search(&mut self, span: Span) -> Result<bool, Failure> {
        let end = span.end.min(self.input.end());
        self.furthest = self.furthest.max(end);
        let again = self.again + (end - span.start);
        if again > MAX_AGAIN.saturating_add(AGAIN_EACH.saturating_mul(self.furthest)) {
            return Ok(false);
        }
        self.again = again;
        self.input.rewind(span.start)
    }

    /// Reads the payload and the checksum of a frame, and prints its records.
    fn payload(
        &mut self,
        header: &Header,
        span: Span,
        found: &mut Found,
        out: &mut impl Write,
    ) -> Result<Result<(), Error>, Failure> {
        let Self { input, types, prints_records, report, colour, .. } = self;
        let mut crc = Crc32c::new();
        // The checksum of a full header is not part of the sum.
        let head = header.to_bytes();
        let summed = if header.is_compact() { &head[..] } else { &head[..head.len() - 4] };
        crc.update(summed);
        let mut text = may_hold_type(header).then(Vec::new);
        let mut contents = None;
        let mut refusal = None;
        if *prints_records {
            match types.find(header)? {
                Ok(Some(ready)) => {
                    found.message = ready.message.map(|message| message.name.clone());
                    contents = Contents::new(ready, report, *colour, out)?;
                }
                Ok(None) => {}
                Err(error) => refusal = Some(error),
            }
        }
        let mut at = span.payload;
        while at < span.payload_end {
            let step = contents.as_ref().map_or(PIECE, Contents::step);
            let to = at.saturating_add(step).min(span.payload_end);
            let bytes = input.bytes(at, to)?;
            crc.update(bytes);
            if let Some(text) = &mut text {
                text.extend_from_slice(bytes);
            }
            if let Some(contents) = &mut contents
                && let Err(error) = contents.add(bytes, out)?
            {
                refusal.get_or_insert(error);
            }
            let here = at + bytes.len() as u64;
            if here < to {
                // The missing bytes explain more than an error in part of a text.
                let _ = finish(contents, out)?;
                let (expected, actual) = (header.payload_len(), here - span.payload);
                return Ok(Err(Error::Truncated { part: Part::Payload, expected, actual }));
            }
            at = to;
        }
        if let Err(error) = finish(contents, out)? {
            refusal.get_or_insert(error);
        }
        if header.checksum_len() > 0 {
            let bytes = input.bytes(span.payload_end, span.end)?;
            let Some(sum) = bytes.first_chunk() else {
                let (expected, actual) = (CHECKSUM_LEN, bytes.len() as u64);
                return Ok(Err(Error::Truncated { part: Part::Checksum, expected, actual }));
            };
            let (expected, actual) = (crc.value(), u32::from_le_bytes(*sum));
            found.checksum = Some(actual);
            if expected != actual {
                return Ok(Err(Error::Checksum { expected, actual }));
            }
        }
        found.content = text.and_then(|text| types.learn(&text));
        Ok(refusal.filter(|_| found.content.is_none()).map_or(Ok(()), Err))
    }

    /// The start of the next full frame, from `from` on. The bytes from `first` on are skipped.
    fn search(
        &mut self,
        first: u64,
        from: u64,
        out: &mut impl Write,
    ) -> Result<Option<u64>, Failure> {
        let found = self.find(from, u64::MAX)?;
        let end = found.unwrap_or(self.input.end().max(first));
        self.report.skipped(first, end, out)?;
        Ok(found)
    }

    /// The start of the first full frame that starts between two offsets.
    fn find(&mut self, from: u64, to: u64) -> Result<Option<u64>, Failure> {
        let mut at = from;
        while at < to {
            // Also the bytes that a header before `to` has after it.
            let last = to.saturating_add(Header::FULL_LEN as u64 - 1);
            let end = at.saturating_add(PIECE).min(last);
            let bytes = self.input.bytes(at, end)?;
            match find_frame(bytes) {
                Search::Found(number) => return Ok(Some(at + number as u64)),
                Search::Skipped(_) if (bytes.len() as u64) < end - at => return Ok(None),
                Search::Skipped(number) => at += number as u64,
            }
        }
        Ok(None)
    }
}

/// Whether a frame holds bytes or text, which can be a type or a schema.
fn may_hold_type(header: &Header) -> bool {
    header.record_size() == 1
        && header.payload_len() <= MAX_TYPE_BYTES
        && header.check::<u8>().is_ok()
}

/// What prints the contents of a frame.
struct Contents<'a> {
    /// The record before the others, until it is printed.
    head: Option<(&'a mut Records, Box<dyn Printer>)>,
    list: List<'a>,
}

enum List<'a> {
    /// Records of a type, and the number of the next one.
    Records(&'a mut Records, Box<dyn Printer>, u64),
    /// The bytes of a text, and the number of its frame if it is printed as JSON.
    Text(Vec<u8>, Option<u64>),
}

impl<'a> Contents<'a> {
    /// `None` if the records of a type from the file do not fit a table.
    fn new(
        ready: Ready<'a>,
        report: &Report,
        colour: bool,
        out: &mut impl Write,
    ) -> Result<Option<Self>, Failure> {
        let frame = report.is_json().then(|| report.number());
        if let (None, Some(message)) = (frame, ready.message) {
            writeln!(out, "  message {}", printable(&message.name))?;
        }
        let head = match ready.head.filter(|head| head.size() > 0) {
            None => None,
            Some(head) => {
                let printer: Box<dyn Printer> = match frame {
                    Some(_) => Box::new(Lines::new(&head.shape, frame).of_head()),
                    None => Box::new(Table::new(&head.shape, colour)?.indented().of_head()),
                };
                Some((head, printer))
            }
        };
        if ready.message.is_some_and(|message| message.is_text) {
            return Ok(Some(Self { head, list: List::Text(Vec::new(), frame) }));
        }
        // A message without data has no records to print.
        if ready.records.size() == 0 {
            return Ok(None);
        }
        let printer: Box<dyn Printer> = if frame.is_some() {
            Box::new(Lines::new(&ready.records.shape, frame))
        } else {
            match Table::new(&ready.records.shape, colour) {
                Ok(table) => Box::new(table.indented()),
                // A problem with a type from the file does not end the command; one with a given type does, because it is
                // the user's mistake.
                Err(reason) if !ready.is_given => {
                    writeln!(out, "  no table: {reason}")?;
                    return Ok(None);
                }
                Err(reason) => return Err(reason),
            }
        };
        Ok(Some(Self { head, list: List::Records(ready.records, printer, 0) }))
    }

    /// The number of bytes to add next: the head, whole records, or a piece of a text.
    fn step(&self) -> u64 {
        match (&self.head, &self.list) {
            (Some((head, _)), _) => head.size(),
            (None, List::Records(records, ..)) => {
                let size = records.size().max(1);
                (PIECE / size).max(1) * size
            }
            (None, List::Text(..)) => PIECE,
        }
    }

    /// Prints the head or whole records, as many bytes as [`step`](Self::step) says; a part at the end is left out.
    fn add(&mut self, bytes: &[u8], out: &mut impl Write) -> Result<Result<(), Error>, Failure> {
        if let Some((head, mut printer)) = self.head.take() {
            if head.size() != bytes.len() as u64 {
                return Ok(Ok(()));
            }
            let values = match head.values(bytes) {
                Ok(values) => values,
                Err(error) => return Ok(Err(error.into())),
            };
            printer.record(&Record::of(0, values), out)?;
            return printer.finish(out).map(Ok);
        }
        match &mut self.list {
            List::Records(records, printer, number) => {
                let size = usize::try_from(records.size()).unwrap_or(usize::MAX).max(1);
                for record in bytes.chunks_exact(size) {
                    let values = match records.values(record) {
                        Ok(values) => values,
                        Err(error) => return Ok(Err(error.into())),
                    };
                    printer.record(&Record::of(*number, values), out)?;
                    *number += 1;
                }
            }
            List::Text(text, _) => {
                let room = MAX_TEXT.saturating_sub(text.len());
                text.extend_from_slice(&bytes[..bytes.len().min(room)]);
            }
        }
        Ok(Ok(()))
    }
}

/// Prints what was held back until the end of the frame.
fn finish(
    contents: Option<Contents<'_>>,
    out: &mut impl Write,
) -> Result<Result<(), Error>, Failure> {
    let (bytes, frame) = match contents.map(|contents| contents.list) {
        Some(List::Records(_, mut printer, _)) => return printer.finish(out).map(Ok),
        Some(List::Text(bytes, frame)) => (bytes, frame),
        None => return Ok(Ok(())),
    };
    let (text, error) = match std::str::from_utf8(&bytes) {
        Ok(text) => (text, None),
        // The text may be cut inside a character.
        Err(error) => {
            let valid = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
            let is_cut = bytes.len() >= MAX_TEXT && error.error_len().is_none();
            (valid, (!is_cut).then_some(error))
        }
    };
    if let Some(frame) = frame {
        let mut line = format!("{{\"frame\":{frame},\"record\":0,\"value\":");
        json_string(text, &mut line);
        writeln!(out, "{line}}}")?;
    } else {
        report::content("text", text, out)?;
    }
    Ok(error.map_or(Ok(()), |error| Err(Error::Text(error))))
}
