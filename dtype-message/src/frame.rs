//! A message of any type: its header and its packed records, for programs that look the type up.

use dtype_runtime::convertor::ValueChecks;
use dtype_runtime::{AppendBytes, BufferMut, Committed, Unpacker};

use crate::assemble::grow;
use crate::encoder::Encoder;
use crate::error::Error;
use crate::framing::Framing;
use crate::header::Header;
use crate::limits::Limits;
use crate::messages::Messages;
use crate::protocol::Protocol;

/// A message of any type. A [`Decoder`](crate::Decoder) of frames verifies the whole frame, and the program then chooses by tag
/// or hash into which memory, and by which type, to [unpack](Self::unpack) the records: the type may be made at run time.
///
/// ```
/// use dtype_message::{Decoder, Frame, Framing, Limits};
/// use dtype_runtime::Type;
/// let mut stream = Vec::new();
/// dtype_message::send(&mut stream, &vec![(1_u32, 2.5_f64)], Framing::new().with_tag(7))?;
///
/// let mut decoder = Decoder::<Frame>::new(Limits::new());
/// let frame = decoder.feed(&mut &stream[..])?.expect("the whole frame");
/// assert_eq!((frame.header().tag(), frame.header().count()), (7, 1));
/// let ty = Type::of::<(u32, f64)>().commit();
/// let mut memory = [0; 16];
/// assert_eq!(frame.unpack(&ty, &mut memory, 1)?, 1);
/// # Ok::<(), dtype_message::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    header: Header,
    payload: Vec<u8>,
}

impl Frame {
    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The packed records, in the byte order of the header. Whether they are values of a type was not checked.
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// The number of records, if this machine can read them as instances of a type, and there are at most `most`.
    ///
    /// # Errors
    ///
    /// The errors of [`Header::check_type`]; [`Error::RecordLimit`];
    /// [`CountTooLarge`](dtype_runtime::Error::CountTooLarge) inside [`Error::Records`].
    pub fn check(&self, ty: &Committed, most: usize) -> Result<usize, Error> {
        self.header.check_type(ty)?;
        self.header.check_count(most as u64)?;
        Ok(self.header.in_memory()?.count)
    }

    /// Unpacks the records into memory, as [`Incoming::read_with`](crate::Incoming::read_with), and returns their number.
    ///
    /// # Errors
    ///
    /// The errors of [`check`](Self::check); [`OutOfBounds`](dtype_runtime::Error::OutOfBounds) and
    /// [`Overlap`](dtype_runtime::Error::Overlap) inside [`Error::Records`].
    pub fn unpack<'a>(
        &self,
        ty: &Committed,
        to: impl Into<BufferMut<'a>>,
        most: usize,
    ) -> Result<usize, Error> {
        let count = self.check(ty, most)?;
        self.unpack_by(ty.unpacker(to, count)?, None)?;
        Ok(count)
    }

    /// Unpacks the records by an unpacker of as many instances of their type. Values that the checks refuse are not written.
    ///
    /// # Errors
    ///
    /// Those of [`Unpacker::unpack`], [`with_checks`](Unpacker::with_checks) and
    /// [`with_representation`](Unpacker::with_representation), inside [`Error::Records`].
    pub fn unpack_by(
        &self,
        mut unpacker: Unpacker<'_>,
        checks: Option<&ValueChecks>,
    ) -> Result<(), Error> {
        if let Some(checks) = checks {
            unpacker = unpacker.with_checks(checks)?;
        }
        if self.header.is_reversed() {
            unpacker.with_representation(self.header.byte_order().into())?.unpack(&self.payload)?;
        } else {
            unpacker.unpack(&self.payload)?;
        }
        Ok(())
    }

    /// The bytes of the frame, with another tag.
    fn bytes(&self, tag: u32) -> (Header, Vec<u8>) {
        let header = self.header.with_tag(tag);
        let mut bytes = header.to_bytes().to_vec();
        bytes.extend_from_slice(&self.payload);
        if header.checksum_len() > 0 {
            let checksum = Header::checksum(&bytes);
            bytes.extend_from_slice(&checksum.to_le_bytes());
        }
        (header, bytes)
    }
}

/// A frame is sent as it came, in its own framing and byte order. Only the tag is that of the given framing.
impl Messages for Frame {
    type Assembler = FrameAssembler;

    fn encoder(&self, framing: Framing) -> Result<Encoder<'_>, Error> {
        let (header, bytes) = self.bytes(framing.tag());
        Ok(Encoder::of_frame(header, bytes))
    }

    fn append(&self, out: &mut impl AppendBytes, framing: Framing) -> Result<(), Error> {
        out.append(&self.bytes(framing.tag()).1);
        Ok(())
    }

    fn begin(header: &Header, limits: &Limits) -> Result<Self::Assembler, Error> {
        header.check_limits(limits)?;
        header.check_count(limits.max_records())?;
        let expected = header.in_memory()?.payload;
        Ok(FrameAssembler { frame: Self { header: *header, payload: Vec::new() }, expected })
    }

    fn piece(assembler: &mut Self::Assembler, packed: &[u8]) -> Result<(), Error> {
        grow(&mut assembler.frame.payload, packed.len(), assembler.expected)?;
        assembler.frame.payload.extend_from_slice(packed);
        Ok(())
    }

    fn end(assembler: Self::Assembler) -> Result<Self, Error> {
        Ok(assembler.frame)
    }

    /// The types of the records are unknown.
    fn describe(_tag: u32, _name: Option<&str>, _protocol: &mut Protocol) {}
}

/// The part of a [`Frame`] that has arrived.
#[derive(Debug)]
pub struct FrameAssembler {
    frame: Frame,
    /// Bytes of the whole payload.
    expected: usize,
}
