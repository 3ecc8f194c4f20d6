//! Text in pieces.

use core::iter::FusedIterator;

/// Splits a text into pieces of at most `max_bytes`, and says of each whether it is the last. So a text that is longer than the
/// limit of one message travels in several, and neither side holds all of it.
///
/// A piece is text by itself: it ends between two characters, and has at least one, even if that is longer than `max_bytes`. An
/// empty text is one empty piece.
///
/// ```
/// use dtype_message::{Framing, Limits, Messages, Receiver, pieces};
///
/// #[derive(Messages)]
/// enum Packet {
///     #[dtype(tag = 1, max_text_bytes = 4096)]
///     Log { is_last: bool, text: String },
/// }
///
/// let line = "a long line, ".repeat(1000);
/// let mut stream = Vec::new();
/// for (is_last, text) in pieces(&line, 4096) {
///     dtype_message::send(&mut stream, &Packet::Log { is_last, text: text.to_owned() }, Framing::compact())?;
/// }
///
/// let mut receiver = Receiver::<_, Packet>::new(&stream[..], Limits::new());
/// let mut log = Vec::new(); // or a file
/// while let Some(Packet::Log { is_last, text }) = receiver.next_message()? {
///     log.extend_from_slice(text.as_bytes());
///     if is_last {
///         log.push(b'\n');
///     }
/// }
/// assert_eq!(log, (line + "\n").as_bytes());
/// # Ok::<(), dtype_message::Error>(())
/// ```
pub fn pieces(text: &str, max_bytes: usize) -> impl FusedIterator<Item = (bool, &str)> {
    let mut rest = Some(text);
    core::iter::from_fn(move || {
        let text = rest?;
        let end = if text.len() <= max_bytes {
            text.len()
        } else {
            let last = (1..=max_bytes).rev().find(|end| text.is_char_boundary(*end));
            last.unwrap_or_else(|| text.chars().next().map_or(0, char::len_utf8))
        };
        let (piece, more) = text.split_at(end);
        rest = Some(more).filter(|more| !more.is_empty());
        Some((rest.is_none(), piece))
    })
    .fuse()
}
