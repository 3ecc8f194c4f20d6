//! Frames of messages: arbitrary bytes, and frames of the writer with a few changed bytes.
//!
//! For any bytes, every reader returns records or a typed error. It takes memory only as bytes arrive and within the limits,
//! and leaves the caller's memory unchanged unless the whole frame is valid. All readers accept the same frames.

use std::fmt::Debug;

use arbitrary::{Arbitrary, Unstructured};
use dtype_message::{Error, Framing, Header, Incoming, Limits};
use dtype_runtime::representation::ByteOrder;
use dtype_runtime::{Basic, Committed, Datatype, Error as DatatypeError, Type, pack};
use dtype_test_support::counting::max_in_use;
use dtype_test_support::frames::{Drops, FRAME, Fails, announce, seal};

/// The number of bytes of payload that are read at a time.
const CHUNK: usize = 64 * 1024;

/// Large enough for a header to announce more than is read at a time.
const MAX_RECORDS: u64 = 1 << 18;

/// The last byte is a `bool`, so that damaged records are often refused.
type Record = (u16, bool);

/// The same signature as [`Record`] has, in more memory, some of which is not in the message.
#[derive(Datatype, Clone, Debug, Default, PartialEq)]
struct Wide {
    number: u16,
    #[dtype(skip)]
    mine: u64,
    flag: bool,
}

/// A record that takes memory, but no bytes of a message.
#[derive(Datatype, Clone, Debug, Default, PartialEq)]
struct Empty {
    #[dtype(skip)]
    mine: u64,
}

/// Reads bytes as a message. If the first byte of the input is even, the bytes are the rest of the input. Otherwise the input
/// describes a frame.
pub fn run(input: &[u8]) {
    let Some((mode, rest)) = input.split_first() else { return };
    if mode % 2 == 0 {
        let limits = Limits::new().with_max_payload_bytes(1 << 20).with_max_records(MAX_RECORDS);
        read_every_way(rest, &limits, usize::from(mode / 2));
    } else if let Ok(made) = Made::arbitrary(&mut Unstructured::new(rest)) {
        made.run();
    }
}

/// A frame, and changes of it.
#[derive(Arbitrary, Debug)]
struct Made {
    what: What,
    changes: Vec<Change>,
    /// Whether the checksums are corrected after the changes, so that the checks after them are reached.
    is_sealed: bool,
    is_followed: bool,
    max_payload_bytes: Number,
    max_records: Number,
    drops: u8,
}

/// A number. Small and large ones occur equally often.
#[derive(Arbitrary, Clone, Copy, Debug)]
struct Number {
    digits: u16,
    shift: u8,
}

impl Number {
    fn value(self) -> u64 {
        u64::from(self.digits).rotate_left(u32::from(self.shift % 64))
    }
}

/// The content of the frame.
#[derive(Arbitrary, Debug)]
enum What {
    Records(Vec<Record>),
    /// The same records as [`Records`](Self::Records), written by a type made at run time.
    ByType(Vec<Record>),
    Characters(Vec<char>),
    Bytes(Vec<u8>),
    /// This number of records without data.
    Nothing(u8),
}

/// A change of the frame; offsets are taken modulo its length.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Change {
    Set(u16, u8),
    Flip(u16, u8),
    Insert(u16, u8),
    Remove(u16),
    Truncate(u16),
    /// Announces a number of records, and the matching length of the payload.
    Announce(Number),
    /// Changes one of the numbers in the header.
    Number(u8, Number),
}

impl What {
    fn frame(&self) -> Vec<u8> {
        match self {
            Self::Records(records) => written(records),
            Self::ByType(records) => {
                let ty = apart();
                let mut memory = vec![0xEE; 8 * records.len()];
                ty.unpack(&pack(records), &mut memory, records.len()).unwrap();
                let mut frame = Vec::new();
                dtype_message::write_with(&mut frame, &ty, &memory, records.len()).unwrap();
                assert_eq!(frame, written(records));
                frame
            }
            Self::Characters(characters) => written(characters),
            Self::Bytes(bytes) => written(bytes),
            Self::Nothing(count) => written(&vec![(); usize::from(*count)]),
        }
    }
}

impl Change {
    fn make(self, frame: &mut Vec<u8>) {
        let place = |at: u16| usize::from(at) % frame.len().max(1);
        match self {
            _ if frame.is_empty() => {}
            Self::Set(at, byte) => {
                let at = place(at);
                frame[at] = byte;
            }
            Self::Flip(at, bit) => {
                let at = place(at);
                frame[at] ^= 1 << (bit % 8);
            }
            Self::Insert(at, byte) => frame.insert(place(at), byte),
            Self::Remove(at) => drop(frame.remove(place(at))),
            Self::Truncate(at) => frame.truncate(place(at)),
            Self::Announce(count) if frame.len() >= FRAME => announce(frame, count.value()),
            Self::Number(field, number) if frame.len() >= FRAME => {
                let at = 8 * (1 + usize::from(field % 4));
                frame[at..at + 8].copy_from_slice(&number.value().to_le_bytes());
            }
            Self::Announce(_) | Self::Number(..) => {}
        }
    }
}

impl Made {
    fn run(&self) {
        let good = self.what.frame();
        let mut frame = good.clone();
        for change in self.changes.iter().take(8) {
            change.make(&mut frame);
        }
        if self.is_sealed {
            seal(&mut frame);
        }
        let end = frame.len();
        if self.is_followed {
            frame.extend(written(&[(7_u16, true)]));
        }
        let limits = Limits::new()
            .with_max_payload_bytes(self.max_payload_bytes.value())
            .with_max_records(self.max_records.value() % MAX_RECORDS);
        read_every_way(&frame, &limits, self.drops.into());

        let mut input = &frame[..];
        let unlimited = Incoming::open(&mut input, &Limits::UNLIMITED);
        let taken = unlimited.and_then(|message| message.map(Incoming::packed).transpose());
        if frame[..end] == good {
            assert_eq!(taken.unwrap().unwrap(), good[48..end - 4]);
            assert_eq!(input.len(), frame.len() - end);
        } else if let ([Change::Set(..) | Change::Flip(..)], false) =
            (&self.changes[..], self.is_sealed)
        {
            // A change of a single byte is always detected.
            assert!(taken.is_err());
        }
    }
}

/// The frame of these records.
fn written<T: Datatype>(records: &[T]) -> Vec<u8> {
    let mut frame = Vec::new();
    let length = dtype_message::write(&mut frame, records).unwrap();
    assert_eq!(length, frame.len() as u64);
    frame
}

/// The frame of these records, as a machine with this byte order writes it.
pub(crate) fn written_in<T: Datatype>(
    order: ByteOrder,
    framing: Framing,
    records: &[T],
) -> Vec<u8> {
    let mut frame = Vec::new();
    dtype_message::write_framed(&mut frame, records, framing).unwrap();
    if order != ByteOrder::NATIVE {
        let header = Header::of::<T>(records.len(), framing).unwrap();
        let end = frame.len() - header.checksum_len();
        reverse_values::<T>(&mut frame[header.header_len()..end]);
        if framing.is_compact() {
            frame[0] ^= 1;
            if framing.has_checksum() {
                let checksum = crc32c::crc32c(&frame[..end]);
                frame[end..].copy_from_slice(&checksum.to_le_bytes());
            }
        } else {
            frame[5] = 3 - frame[5];
            seal(&mut frame);
        }
    }
    frame
}

/// Changes the byte order of packed records.
fn reverse_values<T: Datatype>(mut packed: &mut [u8]) {
    let signature = Type::of::<T>().signature();
    while !packed.is_empty() {
        for (basic, count) in signature.runs() {
            for _ in 0..count {
                let (value, rest) = packed.split_at_mut(basic.size());
                value.reverse();
                packed = rest;
            }
        }
    }
}

/// The signature of a [`Record`], with a gap between the values and one at the end.
fn apart() -> Committed {
    let members = [Type::basic(Basic::U16), Type::basic(Basic::Bool)];
    let ty = Type::structure(&[1, 1], &[0, 5], &members).unwrap();
    Type::resized(&ty, 0, 8).unwrap().commit()
}

/// Bytes to read, and the limits for reading them.
struct Stream<'a> {
    bytes: &'a [u8],
    limits: &'a Limits,
    /// The first frame, if it is within the limits: its header, and whether its other bytes are those that were sent.
    front: Option<(Header, bool)>,
}

fn read_every_way(bytes: &[u8], limits: &Limits, drops: usize) {
    let stream = Stream::new(bytes, limits);
    stream.read_as::<Record>();
    stream.read_as::<char>();
    stream.read_as::<u8>();
    stream.read_as::<()>();
    stream.read_reusing::<Wide>(Wide { number: 1, mine: 2, flag: true });
    stream.read_reusing::<Empty>(Empty { mine: 3 });
    stream.read_by_type();
    stream.read_in_drops(1 + drops % 64);
    stream.read_to_the_end();
}

/// Formats an error with all of its parts.
pub(crate) fn describe(error: &Error) -> String {
    let source = std::error::Error::source(error).map(ToString::to_string);
    format!("{error}, {error:?}, {source:?}")
}

impl<'a> Stream<'a> {
    fn new(bytes: &'a [u8], limits: &'a Limits) -> Self {
        let mut stream = Self { bytes, limits, front: None };
        let mut input = bytes;
        let message = match Incoming::open(&mut input, limits) {
            Ok(Some(message)) => message,
            Ok(None) => {
                assert!(bytes.is_empty());
                return stream;
            }
            Err(error) => {
                describe(&error);
                return stream;
            }
        };
        let header = *message.header();
        // The readers of records refuse the frame.
        if header.count() > limits.max_records() {
            return stream;
        }
        assert_eq!(*header.to_bytes(), bytes[..header.header_len()]);
        assert!(header.payload_len() <= limits.max_payload_bytes());
        assert_eq!(header.count().checked_mul(header.record_size()), Some(header.payload_len()));
        let packed = stream.measured(0, || message.packed());
        if let Ok(packed) = &packed {
            let end = header.header_len() + packed.len();
            assert_eq!(packed, &bytes[header.header_len()..end]);
            assert_eq!(input.len(), bytes.len() - end - header.checksum_len());
        }
        let mut again = bytes;
        let message = Incoming::open(&mut again, limits).unwrap().unwrap();
        let skipped = stream.measured(0, || message.skip());
        assert_eq!(
            skipped.as_ref().ok(),
            packed.as_ref().ok().map(|_| header.payload_len()).as_ref()
        );
        assert_eq!(again.len(), input.len());
        stream.front = Some((header, packed.is_ok()));
        stream
    }

    /// Runs `work`, and checks that it takes little memory besides `unasked` bytes.
    fn measured<T>(&self, unasked: u64, work: impl FnOnce() -> T) -> T {
        let (most, result) = max_in_use(work);
        // A list that grows exists twice for a moment. The records here take at most five times as much memory as their packed
        // bytes.
        let limit = self.limits.max_payload_bytes().min(CHUNK as u64) as usize;
        let bound = 16 * self.bytes.len() + 4 * limit + 4096 + unasked as usize;
        assert!(most <= bound, "{most} bytes of memory for {}", self.bytes.len());
        result
    }

    /// The byte order of the first frame's records, if there are any.
    fn order(&self) -> ByteOrder {
        self.front.map_or(ByteOrder::NATIVE, |(header, _)| header.byte_order())
    }

    /// Whether the first frame is valid for records of type `T`, apart from their values.
    fn is_good_for<T: Datatype>(&self) -> bool {
        self.front.is_some_and(|(header, is_good)| is_good && header.check::<T>().is_ok())
    }

    /// The framing of the first frame, or the default if there is no frame.
    fn framing(&self) -> Framing {
        self.front.map_or(Framing::new(), |(header, _)| header.framing())
    }

    /// The bytes after the header of the first frame.
    fn payload(&self) -> &'a [u8] {
        self.front.map_or(&[], |(header, _)| &self.bytes[header.header_len()..])
    }

    /// Compares the result of a reader with the known frame. Returns whether the reader has accepted records.
    fn check<T: Datatype, R: Debug>(&self, result: &Result<Option<R>, Error>, rest: usize) -> bool {
        let used = self.bytes.len() - rest;
        match result {
            Ok(Some(_)) => {
                assert!(self.is_good_for::<T>());
                assert_eq!(used as u64, self.front.unwrap().0.frame_len());
                true
            }
            Ok(None) => {
                assert!(self.bytes.is_empty());
                false
            }
            Err(error) => {
                let is_wrong_value = matches!(&error, Error::Records(error)
                    if matches!(**error, DatatypeError::InvalidValue { .. }));
                assert!(!self.is_good_for::<T>() || is_wrong_value, "{}", describe(error));
                if is_wrong_value || matches!(error, Error::Checksum { .. }) {
                    // The input is at the next message.
                    assert_eq!(used as u64, self.front.unwrap().0.frame_len());
                }
                false
            }
        }
    }

    fn read_as<T: Datatype + Clone + Debug + Default + PartialEq>(&self) {
        let mut input = self.bytes;
        let read = self.measured(0, || dtype_message::read::<T>(&mut input, self.limits));
        let is_taken = self.check::<T, _>(&read, input.len());
        let records = read.ok().flatten();
        if let Some(records) = &records {
            let read = &self.bytes[..self.bytes.len() - input.len()];
            assert_eq!(written_in(self.order(), self.framing(), records), read);
        }

        // Reads into more items than there are records, and into fewer.
        let count = records.as_ref().map_or(2, Vec::len);
        for room in [count + 2, count.saturating_sub(1)] {
            let before = vec![T::default(); room];
            let mut items = before.clone();
            let limits = Limits::UNLIMITED;
            let message = Incoming::open(self.bytes, &limits);
            match message.and_then(|message| message.map(|m| m.read_into(&mut items)).transpose()) {
                Ok(Some(number)) => {
                    // This reader takes frames beyond the limits, too.
                    assert!(number <= room && self.front.is_none_or(|_| is_taken));
                    assert!(records.as_ref().is_none_or(|records| *records == items[..number]));
                    assert_eq!(items[number..], before[number..]);
                }
                Ok(None) => assert!(self.bytes.is_empty()),
                Err(error) => {
                    describe(&error);
                    assert!(!is_taken || room < count);
                    assert_eq!(items, before);
                }
            }
        }
        let over = self.read_reusing::<T>(T::default());
        assert_eq!(over, records);
    }

    /// Reads into three records, and returns the records if they are accepted.
    fn read_reusing<T: Datatype + Clone + Debug + Default + PartialEq>(
        &self,
        first: T,
    ) -> Option<Vec<T>> {
        let mut records = vec![first; 3];
        let before = records.clone();
        let mut input = self.bytes;
        // The memory of records without data needs no bytes of a message, but is within the limit.
        let unasked = match self.front {
            Some((header, _)) if T::TYPE_MAP.size() == 0 => {
                (header.count() * size_of::<T>() as u64).min(self.limits.max_payload_bytes())
            }
            _ => 0,
        };
        let result = self.measured(unasked, || {
            dtype_message::read_reusing(&mut input, &mut records, self.limits)
        });
        let is_empty_and_large = matches!(result, Err(Error::PayloadLimit { .. }))
            && self.front.is_some_and(|(header, _)| header.record_size() == 0);
        if is_empty_and_large || !self.check::<T, _>(&result, input.len()) {
            assert_eq!(records, before);
            return None;
        }
        assert_eq!(result.ok().flatten(), Some(records.len()));
        let frame = written_in(self.order(), self.framing(), &records);
        assert_eq!(frame, self.bytes[..frame.len()]);
        Some(records)
    }

    /// Reads by a type that has the signature of a [`Record`], and a layout of its own.
    fn read_by_type(&self) {
        let (ty, room) = (apart(), 50);
        let before = vec![0xEE; 8 * room];
        let mut memory = before.clone();
        let result = dtype_message::read_with(&mut &self.bytes[..], &ty, &mut memory, room);
        // The type has no names, so no name is wrong.
        let is_good =
            self.front.is_some_and(|(header, is_good)| is_good && header.check_type(&ty).is_ok());
        let Ok(Some(count)) = result else {
            assert!(!is_good || self.front.unwrap().0.count() > room as u64);
            assert_eq!(memory, before);
            return;
        };
        // This reader has no limit for the payload.
        if self.front.is_none() {
            return;
        }
        assert!(is_good);
        let mut packed = vec![0; 3 * count];
        ty.pack(&memory, count, &mut packed).unwrap();
        // A `bool` may have any byte here.
        let mut sent = self.payload()[..packed.len()].to_vec();
        if self.order() != ByteOrder::NATIVE {
            reverse_values::<Record>(&mut sent);
        }
        assert_eq!(packed, sent);
        let mut wanted = before;
        ty.unpack(&packed, &mut wanted, count).unwrap();
        assert_eq!(memory, wanted);
    }

    /// The result is that of reading all bytes at once, however few of them arrive at a time, and wherever the stream fails.
    fn read_in_drops(&self, size: usize) {
        let text = |result: Result<Option<Vec<Record>>, Error>| match result {
            Ok(records) => format!("{records:?}"),
            Err(error) => describe(&error),
        };
        let mut drops = Drops::new(self.bytes, size);
        let slowly = text(dtype_message::read::<Record>(&mut drops, self.limits));
        let mut whole = self.bytes;
        let at_once = dtype_message::read::<Record>(&mut whole, self.limits);
        assert_eq!((slowly, drops.bytes), (text(at_once), whole));

        let used = self.bytes.len() - whole.len();
        let end = size % (used + 1);
        let mut fails = Fails(&self.bytes[..end], std::io::ErrorKind::BrokenPipe);
        let result = dtype_message::read::<Record>(&mut fails, self.limits);
        assert!(result.is_err() || end == used);
    }

    /// Reads all messages, one after another.
    fn read_to_the_end(&self) {
        let mut input = self.bytes;
        loop {
            let before = input.len();
            match Incoming::open(&mut input, self.limits) {
                Ok(Some(message)) if message.header().check::<Record>().is_ok() => {
                    if message.read::<Record>().is_err() {
                        break;
                    }
                }
                Ok(Some(message)) => {
                    if message.skip().is_err() {
                        break;
                    }
                }
                Ok(None) | Err(_) => break,
            }
            assert!(before - input.len() >= 3);
        }
    }
}
