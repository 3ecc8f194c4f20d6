//! The types that can be sent as a message: records, text, and enums of these.

use alloc::string::String;
use alloc::vec::Vec;
use core::mem::ManuallyDrop;

use super::assemble::{Assembler, Converter};
use super::encoder::{Encoder, append};
use super::error::Error;
use super::framing::Framing;
use super::header::Header;
use super::limits::Limits;
use super::quick;
use crate::datatype::Datatype;
use crate::typed::{AppendBytes, unpack_one};

/// A type that can be sent as a message: one record, a `Vec` of records, a `String`, or an enum of these.
///
/// `#[derive(Messages)]` implements it for an enum, one frame for each value, with the variant's tag:
///
/// ```
/// use dtype_runtime::Datatype;
/// use dtype_runtime::message::{self, Framing, Limits, Messages};
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
///     message::send(&mut stream, packet, Framing::compact())?;
/// }
/// let mut input = &stream[..];
/// let mut received = Vec::new();
/// while let Some(packet) = message::receive(&mut input, &Limits::new())? {
///     received.push(packet);
/// }
/// assert_eq!(packets[..], received);
/// # Ok::<(), message::Error>(())
/// ```
///
/// A variant without a `tag` has the tag after the previous variant's tag, and the first variant has 0. Set the tags
/// explicitly: implicit tags change when a variant is inserted between two others.
///
/// [`send`](super::send), [`receive`](super::receive), [`Decoder`](super::Decoder) and [`Encoder`] call the
/// methods; an application does not need them.
pub trait Messages: Sized {
    /// The state in which the message is assembled while its payload arrives.
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

    /// Takes the next whole records of the payload. [`end`](Self::end) reports a value that is not of the type,
    /// because it may be damage that the checksum finds.
    ///
    /// # Errors
    ///
    /// [`Allocation`](crate::Error::Allocation) inside [`Error::Records`].
    fn piece(assembler: &mut Self::Assembler, packed: &[u8]) -> Result<(), Error>;

    /// Returns the message, after its frame has been verified.
    ///
    /// # Errors
    ///
    /// [`InvalidValue`](crate::Error::InvalidValue) inside [`Error::Records`]; [`Error::Text`].
    fn end(assembler: Self::Assembler) -> Result<Self, Error>;

    /// Takes a whole message from the front of `input` in fewer steps, if its form allows that and nothing is wrong;
    /// otherwise `None`, and `input` is unchanged.
    #[doc(hidden)]
    #[inline]
    fn quick(_input: &mut &[u8], _limits: &Limits) -> Option<(Self, Header)> {
        None
    }
}

/// One record.
#[derive(Debug)]
pub struct One<T> {
    converter: Converter,
    value: Option<Result<ManuallyDrop<T>, crate::Error>>,
}

impl<T: Datatype> Messages for T {
    type Assembler = One<T>;

    fn encoder(&self, framing: Framing) -> Result<Encoder<'_>, Error> {
        Encoder::new(core::slice::from_ref(self), framing)
    }

    #[inline]
    fn append(&self, out: &mut impl AppendBytes, framing: Framing) -> Result<(), Error> {
        if quick::put(self, out, framing) {
            return Ok(());
        }
        append(core::slice::from_ref(self), out, framing)
    }

    #[inline]
    fn quick(input: &mut &[u8], limits: &Limits) -> Option<(Self, Header)> {
        quick::take(input, limits)
    }

    #[inline]
    fn begin(header: &Header, limits: &Limits) -> Result<One<T>, Error> {
        header.check_limits(limits)?;
        header.check::<T>()?;
        if header.count() != 1 {
            return Err(Error::RecordCount { expected: 1, actual: header.count() });
        }
        Ok(One { converter: Converter::of::<T>(header)?, value: None })
    }

    #[inline]
    fn piece(assembler: &mut One<T>, packed: &[u8]) -> Result<(), Error> {
        let packed = assembler.converter.native(packed, 1)?;
        assembler.value = Some(unpack_one(packed).map(ManuallyDrop::new));
        Ok(())
    }

    #[inline]
    fn end(assembler: One<T>) -> Result<T, Error> {
        // A record without data arrives without a piece.
        let value = assembler.value.unwrap_or_else(|| unpack_one(&[]).map(ManuallyDrop::new));
        Ok(ManuallyDrop::into_inner(value?))
    }
}

impl<T: Datatype> Messages for Vec<T> {
    type Assembler = Assembler<T>;

    fn encoder(&self, framing: Framing) -> Result<Encoder<'_>, Error> {
        Encoder::new(self, framing)
    }

    fn append(&self, out: &mut impl AppendBytes, framing: Framing) -> Result<(), Error> {
        append(self, out, framing)
    }

    fn quick(input: &mut &[u8], limits: &Limits) -> Option<(Self, Header)> {
        quick::take_records(input, limits)
    }

    fn begin(header: &Header, limits: &Limits) -> Result<Assembler<T>, Error> {
        Assembler::new(header, limits)
    }

    fn piece(assembler: &mut Assembler<T>, packed: &[u8]) -> Result<(), Error> {
        assembler.push(packed)
    }

    fn end(assembler: Assembler<T>) -> Result<Self, Error> {
        assembler.finish()
    }
}

/// The bytes of the text, as records of one byte each.
impl Messages for String {
    type Assembler = Assembler<u8>;

    fn encoder(&self, framing: Framing) -> Result<Encoder<'_>, Error> {
        Encoder::new(self.as_bytes(), framing)
    }

    fn append(&self, out: &mut impl AppendBytes, framing: Framing) -> Result<(), Error> {
        append(self.as_bytes(), out, framing)
    }

    fn begin(header: &Header, limits: &Limits) -> Result<Assembler<u8>, Error> {
        Assembler::new(header, limits)
    }

    fn piece(assembler: &mut Assembler<u8>, packed: &[u8]) -> Result<(), Error> {
        assembler.push(packed)
    }

    fn end(assembler: Assembler<u8>) -> Result<Self, Error> {
        Self::from_utf8(assembler.finish()?).map_err(|error| Error::Text(error.utf8_error()))
    }
}
