//! Prints the report on frames, as lines of text or as JSON.

use std::io::Write;

use dtype_message::{Error, Header};
use dtype_runtime::representation::ByteOrder;
use serde::Serialize;

use super::known::Content;
use crate::failure::Failure;
use crate::json::print_line;
use crate::value::bytes;
use dtype_text::printable::printable;

/// The version of the full frame, and of the compact one, that the runtime reads. It refuses others.
const FULL_VERSION: u32 = 1;
const COMPACT_VERSION: u32 = 0;

/// What is known about a frame.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) offset: u64,
    pub(super) header: Header,
    /// The checksum in the frame.
    pub(super) checksum: Option<u32>,
    pub(super) content: Option<Content>,
    /// The name of the frame's kind of message.
    pub(super) message: Option<String>,
}

/// Prints the results, and counts them.
pub(super) struct Report {
    is_json: bool,
    colour: bool,
    frames: u64,
    damaged: u64,
    refused: u64,
    skipped: u64,
}

/// A frame as JSON.
#[derive(Serialize)]
struct FrameLine<'a> {
    frame: u64,
    offset: u64,
    length: u64,
    form: &'static str,
    version: u32,
    tag: u32,
    count: u64,
    record_size: u64,
    byte_order: &'static str,
    signature_hash: Option<u64>,
    schema_hash: Option<u64>,
    checksum: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(rename = "type")]
    ty: Option<&'a str>,
    schema: Option<&'a str>,
    error: Option<ErrorLine>,
}

/// An error as JSON.
#[derive(Serialize)]
struct ErrorLine {
    kind: String,
    message: String,
}

/// Bytes without a frame as JSON.
#[derive(Serialize)]
struct GapLine {
    offset: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<u64>,
}

impl Report {
    pub(super) fn new(is_json: bool, colour: bool) -> Self {
        Self { is_json, colour, frames: 0, damaged: 0, refused: 0, skipped: 0 }
    }

    pub(super) fn is_json(&self) -> bool {
        self.is_json
    }

    /// The number of the current frame.
    pub(super) fn number(&self) -> u64 {
        self.frames
    }

    /// Whether there was no error.
    pub(super) fn is_good(&self) -> bool {
        self.damaged == 0 && self.refused == 0
    }

    /// The start of a frame, before its records.
    pub(super) fn begin(&self, found: &Found, out: &mut impl Write) -> Result<(), Failure> {
        if self.is_json {
            return Ok(());
        }
        let Found { offset, header, .. } = found;
        let (number, length) = (self.frames, bytes(header.frame_len().into()));
        let (form, version) = form(header);
        let order = order(header);
        let (tag, count, size) = (header.tag(), header.count(), bytes(header.record_size().into()));
        let records = if count == 1 { "record" } else { "records" };
        writeln!(
            out,
            "frame {number} at {offset}: {length}, {form}, version {version}, tag {tag}, \
             {order}-endian, {count} {records} of {size}"
        )?;
        let digits = if header.is_compact() { 10 } else { 18 };
        let hash = |hash: Option<u64>| match hash {
            Some(hash) => format!("{hash:#0digits$x}"),
            None => "none".to_owned(),
        };
        let (signature, schema) = (hash(header.signature_hash()), hash(header.schema_hash()));
        writeln!(out, "  signature {signature}, schema {schema}")?;
        Ok(())
    }

    /// The end of a frame, with its error, if any.
    pub(super) fn frame(
        &mut self,
        found: &Found,
        error: Option<&Error>,
        out: &mut impl Write,
    ) -> Result<(), Failure> {
        let frame = self.frames;
        self.frames += 1;
        match error {
            Some(Error::Checksum { .. } | Error::Truncated { .. }) => self.damaged += 1,
            Some(_) => self.refused += 1,
            None => {}
        }
        let checksum = match (error, found.checksum) {
            (_, None) if found.header.checksum_len() > 0 => "missing",
            (_, None) => "none",
            (Some(Error::Checksum { .. }), _) => "wrong",
            (_, Some(_)) => "ok",
        };
        if self.is_json {
            let (form, version) = form(&found.header);
            let header = &found.header;
            let (ty, schema) = match &found.content {
                Some(Content::Type(text)) => (Some(text.as_str()), None),
                Some(Content::Schema(text)) => (None, Some(text.as_str())),
                None => (None, None),
            };
            let line = FrameLine {
                frame,
                offset: found.offset,
                length: header.frame_len(),
                form,
                version,
                tag: header.tag(),
                count: header.count(),
                record_size: header.record_size(),
                byte_order: order(header),
                signature_hash: header.signature_hash(),
                schema_hash: header.schema_hash(),
                checksum,
                message: found.message.as_deref(),
                ty,
                schema,
                error: error.map(ErrorLine::of),
            };
            return print_line(&line, out);
        }
        match &found.content {
            Some(Content::Type(text)) => content("type", text, out)?,
            Some(Content::Schema(text)) => content("schema", text, out)?,
            None => {}
        }
        match found.checksum {
            Some(sum) => writeln!(out, "  checksum {sum:#010x}: {checksum}")?,
            None => writeln!(out, "  checksum {checksum}")?,
        }
        error.map_or(Ok(()), |error| self.error("  ", error, out))
    }

    /// A place where no frame starts.
    pub(super) fn no_frame(
        &mut self,
        offset: u64,
        error: &Error,
        out: &mut impl Write,
    ) -> Result<(), Failure> {
        self.damaged += 1;
        if self.is_json {
            let line = GapLine { offset, error: Some(ErrorLine::of(error)), skipped: None };
            return print_line(&line, out);
        }
        writeln!(out, "no frame at {offset}")?;
        self.error("  ", error, out)
    }

    /// Bytes that were skipped in search of the next frame, if any.
    pub(super) fn skipped(
        &mut self,
        from: u64,
        to: u64,
        out: &mut impl Write,
    ) -> Result<(), Failure> {
        let skipped = to - from;
        if skipped == 0 {
            return Ok(());
        }
        self.skipped += skipped;
        if self.is_json {
            return print_line(&GapLine { offset: from, error: None, skipped: Some(skipped) }, out);
        }
        Ok(writeln!(out, "skipped {} at {from}", bytes(skipped.into()))?)
    }

    /// The last line.
    pub(super) fn end(&self, out: &mut impl Write) -> Result<(), Failure> {
        if self.is_json {
            return Ok(());
        }
        let Self { frames, damaged, refused, skipped, .. } = self;
        let plural = if *frames == 1 { "" } else { "s" };
        write!(out, "{frames} frame{plural}")?;
        for (number, what) in [(damaged, "damaged"), (refused, "with other records")] {
            if *number > 0 {
                write!(out, ", {number} {what}")?;
            }
        }
        if *skipped > 0 {
            write!(out, ", {} skipped", bytes((*skipped).into()))?;
        }
        Ok(writeln!(out)?)
    }

    fn error(&self, indent: &str, error: &Error, out: &mut impl Write) -> Result<(), Failure> {
        let (on, off) = if self.colour { ("\x1b[1;31m", "\x1b[0m") } else { ("", "") };
        Ok(writeln!(out, "{indent}{on}error{off}: {}", printable(&error.to_string()))?)
    }
}

impl ErrorLine {
    fn of(error: &Error) -> Self {
        // The name of the variant comes first in the text.
        let text = format!("{error:?}");
        let kind = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned();
        Self { kind, message: error.to_string() }
    }
}

/// Prints a type, a schema or a text, which may have several lines.
pub(super) fn content(what: &str, text: &str, out: &mut impl Write) -> Result<(), Failure> {
    for (index, line) in text.lines().enumerate() {
        let what = if index == 0 { what } else { "" };
        writeln!(out, "  {what:6} {}", printable(line))?;
    }
    Ok(())
}

fn form(header: &Header) -> (&'static str, u32) {
    if header.is_compact() { ("compact", COMPACT_VERSION) } else { ("full", FULL_VERSION) }
}

fn order(header: &Header) -> &'static str {
    match header.byte_order() {
        ByteOrder::Little => "little",
        ByteOrder::Big => "big",
    }
}
