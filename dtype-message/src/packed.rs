//! A message of any type, as packed bytes.

use dtype_runtime::{AppendBytes, Unpacker};

use crate::assemble::grow;
use crate::encoder::Encoder;
use crate::error::Error;
use crate::framing::Framing;
use crate::header::Header;
use crate::limits::Limits;
use crate::messages::Messages;
use crate::protocol::Protocol;

/// A message of any type: its header, and the packed bytes of its records in the header's byte order. For types made at run time,
/// for programs that look the type up by tag or hash, and for those that pass messages on.
///
/// A frame is verified, within the [`Limits`] of payload, records and protection. Whether the bytes are values of a type is not:
/// compare the header with [`Header::check_type`], and [unpack](Self::unpack) the bytes. When it is sent, it keeps the form of its
/// frame, and gets the tag of the [`Framing`]. A [`Protocol`] does not list it.
///
/// ```
/// use dtype_message::{Decoder, Framing, Limits, PackedMessage};
/// use dtype_runtime::Type;
/// let mut stream = Vec::new();
/// dtype_message::send(&mut stream, &vec![(1_u32, 2.5_f64)], Framing::new().with_tag(7))?;
///
/// let mut decoder = Decoder::<PackedMessage>::new(Limits::new());
/// let message = decoder.feed(&mut &stream[..])?.expect("the whole frame");
/// assert_eq!((message.header.tag(), message.header.count()), (7, 1));
/// let ty = Type::of::<(u32, f64)>().commit();
/// message.header.check_type(&ty)?;
/// let mut memory = [0; 16];
/// message.unpack(ty.unpacker(&mut memory, 1)?)?;
/// # Ok::<(), dtype_message::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedMessage {
    /// The header.
    pub header: Header,
    /// The packed bytes of all records.
    pub packed: Vec<u8>,
}

impl PackedMessage {
    /// Unpacks the records by an unpacker of as many instances of their type: [`Header::check_type`] and [`Header::count`] tell
    /// beforehand. Numbers in the other byte order are converted. If the unpacker [checks](Unpacker::with_checks) values, a wrong
    /// one is found before anything is written.
    ///
    /// # Errors
    ///
    /// [`PackedLength`](dtype_runtime::Error::PackedLength) if the unpacker is not of as many bytes, and the errors of
    /// [`Unpacker::unpack`] and [`Unpacker::with_representation`], inside [`Error::Records`].
    pub fn unpack(&self, mut unpacker: Unpacker<'_>) -> Result<(), Error> {
        let (expected, actual) = (unpacker.remaining(), self.packed.len() as u64);
        if expected != actual {
            return Err(dtype_runtime::Error::PackedLength { expected, actual }.into());
        }
        if self.header.is_reversed() {
            let order = self.header.byte_order().into();
            unpacker.with_representation(order)?.unpack(&self.packed)?;
        } else {
            unpacker.unpack(&self.packed)?;
        }
        Ok(())
    }
}

impl Messages for PackedMessage {
    type Assembler = Self;

    fn encoder(&self, framing: Framing) -> Result<Encoder<'_>, Error> {
        let mut frame = Vec::new();
        self.append(&mut frame, framing)?;
        Ok(Encoder::of_frame(self.header.with_tag(framing.tag()), frame))
    }

    fn append(&self, out: &mut impl AppendBytes, framing: Framing) -> Result<(), Error> {
        let header = self.header.with_tag(framing.tag());
        let start = out.bytes().len();
        out.append(&header.to_bytes());
        out.append(&self.packed);
        if header.checksum_len() > 0 {
            let checksum = Header::checksum(&out.bytes()[start..]);
            out.append(&checksum.to_le_bytes());
        }
        Ok(())
    }

    fn begin(header: &Header, limits: &Limits) -> Result<Self, Error> {
        header.check_limits(limits)?;
        header.check_count(limits.max_records())?;
        header.in_memory()?;
        Ok(Self { header: *header, packed: Vec::new() })
    }

    fn piece(assembler: &mut Self, packed: &[u8]) -> Result<(), Error> {
        let whole = assembler.header.in_memory()?.payload;
        grow(&mut assembler.packed, packed.len(), whole)?;
        assembler.packed.extend_from_slice(packed);
        Ok(())
    }

    fn end(assembler: Self) -> Result<Self, Error> {
        Ok(assembler)
    }

    fn describe(_tag: u32, _name: Option<&str>, _protocol: &mut Protocol) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_passed_on_as_it_came() {
        for framing in [
            Framing::new().with_schema(),
            Framing::compact().with_tag(9),
            Framing::compact().without_checksum(),
        ] {
            let mut sent = Vec::new();
            crate::write_framed(&mut sent, &vec![(1_u8, 2.5_f64); 20_000], framing).unwrap();
            let limits = Limits::new().allow_missing_checksum();
            let message: PackedMessage = crate::decode(&mut &sent[..], &limits).unwrap().unwrap();
            let mut again = Vec::new();
            crate::encode(&mut again, &message, framing).unwrap();
            assert_eq!(again, sent);
            again.clear();
            crate::send(&mut again, &message, framing).unwrap();
            assert_eq!(again, sent);
            sent[100] ^= 1;
            let damaged = crate::decode::<PackedMessage>(&mut &sent[..], &Limits::new());
            assert!(damaged.is_err());
        }
    }

    #[test]
    fn a_header_allocates_nothing() {
        let header = Header::of::<u64>(usize::MAX / 8, Framing::new()).unwrap();
        let mut decoder = crate::Decoder::<PackedMessage>::new(Limits::UNLIMITED);
        assert!(decoder.feed(&mut &header.to_bytes()[..]).unwrap().is_none());
        let refused =
            crate::Decoder::<PackedMessage>::new(Limits::new()).feed(&mut &header.to_bytes()[..]);
        assert!(matches!(refused, Err(Error::PayloadLimit { .. })));
    }
}
