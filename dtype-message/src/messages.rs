//! The types that can be sent as a message: records, text, and enums of these.

use dtype_runtime::__private::Records;
use dtype_runtime::AppendBytes;

use crate::assemble::{Assembler, at_once};
use crate::encoder::{Encoder, append};
use crate::error::Error;
use crate::framing::Framing;
use crate::header::Header;
use crate::limits::Limits;
use crate::parser::Whole;
use crate::protocol::{Form, Protocol};
use crate::quick;
use crate::schema::Schema;

/// A type that can be sent as a message: one record, a `Vec` of records, a `String`, or an enum of these.
///
/// `#[derive(Messages)]` implements it for an enum, one frame for each value, with the variant's tag:
///
/// ```
/// use dtype_runtime::Datatype;
/// use dtype_message::{Framing, Limits, Messages};
///
/// #[derive(Datatype, Debug, PartialEq)]
/// struct Player { id: u32, position: [f32; 2] }
///
/// #[derive(Messages, Debug, PartialEq)]
/// enum Packet {
///     #[dtype(tag = 1)]
///     Join(Player),
///     #[dtype(tag = 2)]
///     Chat(String),
///     #[dtype(tag = 3)]
///     Snapshot(Vec<Player>),
///     #[dtype(tag = 9)]
///     Ping,
/// }
///
/// let packets = [
///     Packet::Join(Player { id: 1, position: [0.5, 1.5] }),
///     Packet::Chat("hello".to_owned()),
///     Packet::Snapshot(vec![Player { id: 1, position: [0.5, 1.5] }]),
///     Packet::Ping,
/// ];
/// let mut stream = Vec::new();
/// for packet in &packets {
///     dtype_message::send(&mut stream, packet, Framing::compact())?;
/// }
/// let mut input = &stream[..];
/// let mut received = Vec::new();
/// while let Some(packet) = dtype_message::receive(&mut input, &Limits::new())? {
///     received.push(packet);
/// }
/// assert_eq!(packets[..], received);
/// # Ok::<(), dtype_message::Error>(())
/// ```
///
/// A variant without a `tag` has the tag after the previous variant's tag, and the first variant has 0. Set the tags
/// explicitly: implicit tags change when a variant is inserted between two others.
///
/// A variant can have limits of its own: `max_records`, `max_text_bytes` and `max_payload_bytes`, each a constant expression of
/// the type `u64`. If the receiver's [`Limits`] are stricter, those count.
///
/// ```
/// use dtype_message::Messages;
/// #[derive(Messages)]
/// enum Packet {
///     #[dtype(tag = 1, max_records = 256)]
///     Report(Vec<[f32; 3]>),
///     #[dtype(tag = 2, max_text_bytes = 4 << 20)]
///     Log(String),
/// }
/// # let mut stream = Vec::new();
/// # dtype_message::send(&mut stream, &Packet::Report(vec![[0.0; 3]; 257]), Default::default())?;
/// # let refused = dtype_message::receive::<Packet>(&mut &stream[..], &Default::default());
/// # assert!(matches!(refused, Err(dtype_message::Error::RecordLimit { limit: 256, actual: 257 })));
/// # Ok::<(), dtype_message::Error>(())
/// ```
///
/// [`send`](crate::send), [`receive`](crate::receive), [`Decoder`](crate::Decoder) and [`Encoder`] call the
/// methods; an application does not need them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a message",
    label = "neither a datatype, a list of one, nor an enum with `#[derive(Messages)]`"
)]
pub trait Messages: Sized {
    /// The state of an incomplete message while its payload arrives.
    type Assembler;

    /// The message as the bytes of a frame, packed piece by piece.
    ///
    /// # Errors
    ///
    /// As [`Header::of`].
    fn encoder(&self, framing: Framing) -> Result<Encoder<'_>, Error>;

    /// Appends the whole frame to `out`.
    ///
    /// # Errors
    ///
    /// As [`encoder`](Self::encoder).
    fn append(&self, out: &mut impl AppendBytes, framing: Framing) -> Result<(), Error>;

    /// Compares the header with the type and the limits, and makes room for the message.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownTag`], [`Error::RecordCount`], and as [`Header::check`] and [`Header::check_limits`].
    fn begin(header: &Header, limits: &Limits) -> Result<Self::Assembler, Error>;

    /// Takes the next whole records of the payload. Invalid values are reported by [`end`](Self::end), because they may be
    /// damage that the checksum detects.
    ///
    /// # Errors
    ///
    /// [`Allocation`](dtype_runtime::Error::Allocation) inside [`Error::Records`].
    fn piece(assembler: &mut Self::Assembler, packed: &[u8]) -> Result<(), Error>;

    /// Returns the message. The caller has verified the frame.
    ///
    /// # Errors
    ///
    /// [`InvalidValue`](dtype_runtime::Error::InvalidValue) inside [`Error::Records`]; [`Error::Text`].
    fn end(assembler: Self::Assembler) -> Result<Self, Error>;

    /// Makes the message from a whole frame with this header, in fewer steps; `None` if anything is wrong.
    #[doc(hidden)]
    fn whole(_header: &Header, _frame: &Whole<'_>, _limits: &Limits) -> Option<Self> {
        None
    }

    /// Adds each kind of message to a protocol. The tag and the name are for a type that is a single kind; without a name, it
    /// has that of its records.
    fn describe(tag: u32, name: Option<&str>, protocol: &mut Protocol);

    /// Takes a whole message from the front of `input` in fewer steps, if the form of its frame allows that and nothing is
    /// wrong. Otherwise returns `None`, and `input` is unchanged.
    #[doc(hidden)]
    #[inline]
    fn quick(_input: &mut &[u8], _limits: &Limits) -> Option<(Self, Header)> {
        None
    }
}

/// Records, lists of records, and text.
impl<M: Records> Messages for M {
    type Assembler = Assembler<M>;

    fn encoder(&self, framing: Framing) -> Result<Encoder<'_>, Error> {
        Encoder::new(self.records(), framing)
    }

    #[inline]
    fn append(&self, out: &mut impl AppendBytes, framing: Framing) -> Result<(), Error> {
        if M::IS_ONE && quick::put(&self.records()[0], out, framing) {
            return Ok(());
        }
        append(self.records(), out, framing)
    }

    #[inline]
    fn quick(input: &mut &[u8], limits: &Limits) -> Option<(Self, Header)> {
        if M::IS_ONE { quick::take(input, limits) } else { None }
    }

    fn begin(header: &Header, limits: &Limits) -> Result<Assembler<M>, Error> {
        check::<M>(header, limits)?;
        Assembler::new(header)
    }

    fn piece(assembler: &mut Assembler<M>, packed: &[u8]) -> Result<(), Error> {
        assembler.push(packed)
    }

    fn end(assembler: Assembler<M>) -> Result<Self, Error> {
        assembler.finish()
    }

    #[inline(always)]
    fn whole(header: &Header, frame: &Whole<'_>, limits: &Limits) -> Option<Self> {
        check::<M>(header, limits).ok()?;
        at_once(header, frame.verified().ok()?)
    }

    fn describe(tag: u32, name: Option<&str>, protocol: &mut Protocol) {
        let form = match (M::IS_ONE, M::IS_TEXT) {
            (true, _) => Form::One,
            (false, false) => Form::List,
            (false, true) => Form::Text,
        };
        protocol.insert(tag, name, form, None, &Schema::of::<M::Record>());
    }
}

/// Compares the header with the type of a message and the limits.
#[inline]
fn check<M: Records>(header: &Header, limits: &Limits) -> Result<(), Error> {
    header.check_limits(limits)?;
    if M::IS_TEXT {
        header.check_text(limits)?;
    } else {
        header.check_count(limits.max_records())?;
    }
    header.check::<M::Record>()?;
    if !M::IS_ONE {
        header.check_memory::<M::Record>(limits)
    } else if header.count() != 1 {
        Err(Error::RecordCount { expected: 1, actual: header.count() })
    } else {
        Ok(())
    }
}
