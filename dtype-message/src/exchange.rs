//! The exchange of protocols on a blocking stream.

use std::io::{ErrorKind, Read, Write};
use std::thread;

use crate::error::Error;
use crate::framing::Framing;
use crate::limits::Limits;
use crate::messages::Messages;
use crate::protocol::Protocol;

/// Sends this side's [`Protocol`] (of `M`) on `output`, and returns the other side's, read from `input`. Both sides call this
/// first when they have connected. It reads no byte beyond the other side's protocol.
///
/// A second thread sends while this one reads: if both sides sent first, two long texts could fill the stream before either side
/// reads. So the two are separate, as `&stream` and `&stream` of a `TcpStream`.
///
/// # Errors
///
/// As [`send`](crate::send) and [`receive`](crate::receive) of a text within the limits, and of at most 1 MiB; [`Error::Io`] if
/// the stream ends before the other side's protocol, or if there is no second thread; [`Error::Protocol`] if the text is not a
/// protocol.
///
/// ```
/// use dtype_message::{Limits, Protocol, exchange};
/// # let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
/// # let address = listener.local_addr()?;
/// # let peer = std::thread::spawn(move || {
/// #     let (stream, _) = listener.accept()?;
/// #     exchange::<String>(&mut &stream, &mut &stream, &Limits::new())
/// # });
/// let stream = std::net::TcpStream::connect(address)?;
/// let limits = Limits::new().with_max_payload_bytes(64 * 1024);
/// let theirs = exchange::<Vec<u32>>(&mut &stream, &mut &stream, &limits)?;
/// let differences = Protocol::of::<Vec<u32>>().differences(&theirs);
/// assert_eq!(differences[1].to_string(), "tag 0, `u32`: a text there and a list of `u32` here");
/// # peer.join().unwrap()?;
/// # Ok::<(), dtype_message::Error>(())
/// ```
pub fn exchange<M: Messages>(
    input: &mut impl Read,
    output: &mut (impl Write + Send),
    limits: &Limits,
) -> Result<Protocol, Error> {
    let ours = Protocol::of::<M>().into_text();
    thread::scope(|scope| {
        let sending = thread::Builder::new().spawn_scoped(scope, || {
            crate::send(output, &ours, Framing::new())?;
            Ok::<(), Error>(output.flush()?)
        })?;
        let theirs = crate::receive::<String>(input, &Protocol::limits(limits));
        let sent = sending.join();
        let theirs = theirs?.ok_or_else(|| Error::Io(ErrorKind::UnexpectedEof.into()))?;
        // A panic is one of the stream's own.
        sent.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok(theirs.parse()?)
    })
}
