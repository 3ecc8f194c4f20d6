//! The types that can be sent as a message: records, text, and enums of these.

use dtype_runtime::__private::Records;
use dtype_runtime::{AppendBytes, Datatype, TypeMap};

use crate::assemble::{Assembler, HeadedAssembler, at_once};
use crate::encoder::{Encoder, append_frame};
use crate::error::Error;
use crate::framing::Framing;
use crate::header::{Header, Sizes};
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
/// A variant with two fields is a head and a list: a record, and a `Vec` of records or a `String` after it. The fields may have
/// names.
///
/// ```
/// use dtype_runtime::Datatype;
/// use dtype_message::{Framing, Limits, Messages};
///
/// #[derive(Datatype, Debug, PartialEq)]
/// struct Answer { request: u32, pages: u16 }
///
/// #[derive(Messages, Debug, PartialEq)]
/// enum Reply {
///     #[dtype(tag = 1)]
///     Found(Answer, Vec<[f32; 3]>),
///     #[dtype(tag = 2)]
///     Failed { request: u32, reason: String },
/// }
///
/// let sent = Reply::Found(Answer { request: 7, pages: 1 }, vec![[0.5; 3]; 100]);
/// let mut stream = Vec::new();
/// dtype_message::send(&mut stream, &sent, Framing::compact())?;
/// assert_eq!(dtype_message::receive(&mut &stream[..], &Limits::new())?, Some(sent));
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
    label = "neither a datatype, a list of one, text, nor an enum with `#[derive(Messages)]`"
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

    /// Takes the next bytes of the payload. Invalid values are reported by [`end`](Self::end), because they may be damage that
    /// the checksum detects.
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

    /// Adds the maps of each kind of message. The tag is for a type that is a single kind.
    #[doc(hidden)]
    fn maps(_tag: u32, _maps: &mut Maps) {}

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
    fn quick(_input: &mut &[u8], _limits: &Limits, _to: &mut Option<Header>) -> Option<Self> {
        None
    }
}

/// For each kind of message its tag, the map of the head if there is one, and that of the records.
pub type Maps = Vec<(u32, Option<&'static TypeMap>, &'static TypeMap)>;

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
        let records = self.records();
        append_frame(&Header::of::<M::Record>(records.len(), framing)?, &(), records, out)
    }

    #[inline]
    fn quick(input: &mut &[u8], limits: &Limits, to: &mut Option<Header>) -> Option<Self> {
        if M::IS_ONE { quick::take(input, limits, to) } else { None }
    }

    fn begin(header: &Header, limits: &Limits) -> Result<Assembler<M>, Error> {
        check::<M>(header, limits)?;
        Ok(Assembler::new(header, header.in_memory()?))
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

    fn maps(tag: u32, maps: &mut Maps) {
        maps.push((tag, None, M::Record::TYPE_MAP));
    }

    fn describe(tag: u32, name: Option<&str>, protocol: &mut Protocol) {
        protocol.insert(tag, name, form::<M>(), None, &Schema::of::<M::Record>());
    }
}

fn form<M: Records>() -> Form {
    match (M::IS_ONE, M::IS_TEXT) {
        (true, _) => Form::One,
        (false, false) => Form::List,
        (false, true) => Form::Text,
    }
}

/// Compares the header with the type of a message and the limits.
#[inline]
fn check<M: Records>(header: &Header, limits: &Limits) -> Result<(), Error> {
    header.check_limits(limits)?;
    if M::IS_ONE {
        header.check_count(limits.max_records())?;
    }
    header.check::<M::Record>()?;
    if !M::IS_ONE {
        header.check_list::<M>(header.count(), limits)
    } else if header.count() != 1 {
        Err(Error::RecordCount { expected: 1, actual: header.count() })
    } else {
        Ok(())
    }
}

/// What comes after the head of a message: a `Vec` of records, or a `String`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list",
    label = "the last field of a message with two is a `Vec` of records or a `String`",
    note = "without a list, put the fields into a struct with `#[derive(Datatype)]`, and that struct here"
)]
pub trait List: Records {}

impl<T: Datatype> List for Vec<T> {}

impl List for String {}

/// A head and the list after it: what a variant with two fields is read as.
#[derive(Debug)]
pub struct Headed<H, L> {
    /// The record before the list.
    pub head: H,
    /// A `Vec` of records or a `String`.
    pub list: L,
}

impl<H: Datatype, L: List> Headed<H, L> {
    /// The list's length follows from that of the message.
    const HAS_DATA: () = assert!(
        L::Record::TYPE_MAP.size() > 0,
        "after a head, the records of a list must have data: their number follows from the length of the message"
    );

    /// As [`Messages::encoder`].
    ///
    /// # Errors
    ///
    /// As [`Messages::encoder`].
    pub fn encoder_of<'a>(head: &H, list: &'a L, framing: Framing) -> Result<Encoder<'a>, Error> {
        let header = Header::with_head::<H, L::Record>(list.records().len(), framing)?;
        Encoder::with_head(header, head, list.records())
    }

    /// As [`Messages::append`].
    ///
    /// # Errors
    ///
    /// As [`Messages::append`].
    pub fn append_of(
        head: &H,
        list: &L,
        out: &mut impl AppendBytes,
        framing: Framing,
    ) -> Result<(), Error> {
        let header = Header::with_head::<H, L::Record>(list.records().len(), framing)?;
        append_frame(&header, head, list.records(), out)
    }

    fn check(header: &Header, limits: &Limits) -> Result<(Sizes, Sizes), Error> {
        let () = Self::HAS_DATA;
        header.check_limits(limits)?;
        let (head, list) = header.check_head::<H, L::Record>()?;
        header.check_list::<L>(list.count as u64, limits)?;
        Ok((head, list))
    }
}

impl<H: Datatype, L: List> Messages for Headed<H, L> {
    type Assembler = HeadedAssembler<H, L>;

    fn encoder(&self, framing: Framing) -> Result<Encoder<'_>, Error> {
        Self::encoder_of(&self.head, &self.list, framing)
    }

    fn append(&self, out: &mut impl AppendBytes, framing: Framing) -> Result<(), Error> {
        Self::append_of(&self.head, &self.list, out, framing)
    }

    fn begin(header: &Header, limits: &Limits) -> Result<Self::Assembler, Error> {
        let (head, list) = Self::check(header, limits)?;
        Ok(HeadedAssembler::new(header, head, list))
    }

    fn piece(assembler: &mut Self::Assembler, packed: &[u8]) -> Result<(), Error> {
        assembler.push(packed)
    }

    fn end(assembler: Self::Assembler) -> Result<Self, Error> {
        let (head, list) = assembler.finish()?;
        Ok(Self { head, list })
    }

    #[inline(always)]
    fn whole(header: &Header, frame: &Whole<'_>, limits: &Limits) -> Option<Self> {
        let (size, _) = Self::check(header, limits).ok()?;
        let (head, list) = frame.verified().ok()?.split_at_checked(size.payload)?;
        Some(Self { head: at_once(header, head)?, list: at_once(header, list)? })
    }

    fn maps(tag: u32, maps: &mut Maps) {
        maps.push((tag, Some(H::TYPE_MAP), L::Record::TYPE_MAP));
    }

    fn describe(tag: u32, name: Option<&str>, protocol: &mut Protocol) {
        let (head, records) = (Schema::of::<H>(), Schema::of::<L::Record>());
        protocol.insert(tag, name, form::<L>(), Some(&head), &records);
    }
}

impl Protocol {
    /// The protocol of an enum with `#[derive(Messages)]`. Other types are a single kind, with the tag 0 and the name of the
    /// type.
    pub fn of<M: Messages>() -> Self {
        let mut protocol = Self::default();
        M::describe(0, None, &mut protocol);
        protocol
    }
}
