//! Frames of messages: bytes as they come, and frames of the writer with a few of their bytes changed.
//!
//! Whatever the bytes are, every way to read them gives records or a typed error, takes memory as bytes arrive and
//! never more than the limits, changes nothing of the caller's unless the whole frame is good, and what one way
//! accepts all others accept.

use std::fmt::Debug;

use arbitrary::{Arbitrary, Unstructured};
use dtype_runtime::message::{self, Error, Header, Incoming, Limits};
use dtype_runtime::{Basic, Committed, Datatype, Error as DatatypeError, Type, pack};

use crate::allocations::most_in_use;

#[path = "../../dtype-runtime/tests/frames/mod.rs"]
mod by_hand;

use by_hand::{Drops, FRAME, Fails, announce, seal};

/// Bytes of payload that are read at a time.
const CHUNK: usize = 64 * 1024;

/// Enough that a header can announce more than is read at a time.
const MAX_RECORDS: u64 = 1 << 18;

/// Half of the patterns of its last byte are values, in effect: enough to be refused often.
type Record = (u16, bool);

/// The same signature, in more memory, of which a part is none of the message's.
#[derive(Datatype, Clone, Debug, Default, PartialEq)]
struct Wide {
    number: u16,
    #[dtype(skip)]
    mine: u64,
    flag: bool,
}

/// Takes memory, and no bytes of any message.
#[derive(Datatype, Clone, Debug, Default, PartialEq)]
struct Empty {
    #[dtype(skip)]
    mine: u64,
}

/// Reads bytes as a message: the rest of the input if its first byte is even, and otherwise a frame that it says
/// how to make.
pub fn run(input: &[u8]) {
    let Some((mode, rest)) = input.split_first() else { return };
    if mode % 2 == 0 {
        let limits = Limits::new().with_max_payload_bytes(1 << 20).with_max_records(MAX_RECORDS);
        read_every_way(rest, &limits, usize::from(mode / 2));
    } else if let Ok(made) = Made::arbitrary(&mut Unstructured::new(rest)) {
        made.run();
    }
}

/// A frame, and what becomes of it on the way.
#[derive(Arbitrary, Debug)]
struct Made {
    what: What,
    changes: Vec<Change>,
    /// Whether the checksums are made right after the changes, so that what is behind them is reached.
    is_sealed: bool,
    is_followed: bool,
    max_payload_bytes: Number,
    max_records: Number,
    drops: u8,
}

/// A number, small or large as often.
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

/// What is sent.
#[derive(Arbitrary, Debug)]
enum What {
    Records(Vec<Record>),
    /// The same, from memory, by a type made at run time.
    ByType(Vec<Record>),
    Characters(Vec<char>),
    Bytes(Vec<u8>),
    /// Records without data, so many.
    Nothing(u8),
}

/// A change of the frame; places are taken modulo its length.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Change {
    Set(u16, u8),
    Flip(u16, u8),
    Insert(u16, u8),
    Remove(u16),
    Truncate(u16),
    /// A number of records, with the length of the payload to match.
    Announce(Number),
    /// One of the numbers in the header.
    Number(u8, Number),
}

impl What {
    fn frame(&self) -> Vec<u8> {
        match self {
            Self::Records(records) => written(records),
            Self::ByType(records) => {
                let ty = apart();
                let mut memory = vec![0xEE; 8 * records.len()];
                ty.unpack(&pack(records), &mut memory, 0, records.len()).unwrap();
                let mut frame = Vec::new();
                message::write_by(&mut frame, &ty, &memory, 0, records.len()).unwrap();
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
            // No change of a single byte goes unnoticed.
            assert!(taken.is_err());
        }
    }
}

/// The frame of these records.
fn written<T: Datatype>(records: &[T]) -> Vec<u8> {
    let mut frame = Vec::new();
    let length = message::write(&mut frame, records).unwrap();
    assert_eq!(length, frame.len() as u64);
    frame
}

/// The signature of a [`Record`], with a gap in the middle and one behind.
fn apart() -> Committed {
    let members = [Type::basic(Basic::U16), Type::basic(Basic::Bool)];
    let ty = Type::structure(&[1, 1], &[0, 5], &members).unwrap();
    Type::resized(&ty, 0, 8).unwrap().commit()
}

/// Bytes that are to be read, and by what limits.
struct Stream<'a> {
    bytes: &'a [u8],
    limits: &'a Limits,
    /// The frame at the front, if it is one within the limits: its header, and whether the rest is what was sent.
    front: Option<(Header, bool)>,
}

fn read_every_way(bytes: &[u8], limits: &Limits, drops: usize) {
    let stream = Stream::new(bytes, limits);
    stream.read_as::<Record>();
    stream.read_as::<char>();
    stream.read_as::<u8>();
    stream.read_as::<()>();
    stream.read_over::<Wide>(Wide { number: 1, mine: 2, flag: true });
    stream.read_over::<Empty>(Empty { mine: 3 });
    stream.read_by_type();
    stream.read_in_drops(1 + drops % 64);
    stream.read_to_the_end();
}

/// What an error has to say, all of it.
fn describe(error: &Error) -> String {
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
        assert_eq!(header.to_bytes(), bytes[..Header::SIZE]);
        assert!(header.payload_len() <= limits.max_payload_bytes());
        assert!(header.count() <= limits.max_records());
        assert_eq!(header.count().checked_mul(header.record_size()), Some(header.payload_len()));
        let packed = stream.measured(0, || message.packed());
        if let Ok(packed) = &packed {
            let end = Header::SIZE + packed.len();
            assert_eq!(packed, &bytes[Header::SIZE..end]);
            assert_eq!(input.len(), bytes.len() - end - 4);
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

    /// Works, and asks for how much memory that took besides so many bytes.
    fn measured<T>(&self, unasked: u64, work: impl FnOnce() -> T) -> T {
        let (most, result) = most_in_use(work);
        // Lists that double as they grow: while one is copied there are two of them. The records that are compared
        // here take at most five times as much as their packed bytes.
        let limit = self.limits.max_payload_bytes().min(CHUNK as u64) as usize;
        let bound = 16 * self.bytes.len() + 4 * limit + 4096 + unasked as usize;
        assert!(most <= bound, "{most} bytes of memory for {}", self.bytes.len());
        result
    }

    /// Whether the frame at the front is good as records that are `T`, apart from their values.
    fn is_good_for<T: Datatype>(&self) -> bool {
        self.front.is_some_and(|(header, is_good)| is_good && header.check::<T>().is_ok())
    }

    /// Compares what reading says with what is known; says whether records were taken.
    fn check<T: Datatype, R: Debug>(&self, result: &Result<Option<R>, Error>, rest: usize) -> bool {
        let used = self.bytes.len() - rest;
        match result {
            Ok(Some(_)) => {
                assert!(self.is_good_for::<T>());
                assert_eq!(used as u64, FRAME as u64 + self.front.unwrap().0.payload_len());
                true
            }
            Ok(None) => {
                assert!(self.bytes.is_empty());
                false
            }
            Err(error) => {
                let is_wrong_value =
                    matches!(error, Error::Datatype(DatatypeError::InvalidValue { .. }));
                assert!(!self.is_good_for::<T>() || is_wrong_value, "{}", describe(error));
                if is_wrong_value || matches!(error, Error::Checksum { .. }) {
                    // At the next message.
                    assert_eq!(used as u64, FRAME as u64 + self.front.unwrap().0.payload_len());
                }
                false
            }
        }
    }

    fn read_as<T: Datatype + Clone + Debug + Default + PartialEq>(&self) {
        let mut input = self.bytes;
        let read = self.measured(0, || message::read::<T>(&mut input, self.limits));
        let is_taken = self.check::<T, _>(&read, input.len());
        let records = read.ok().flatten();
        if let Some(records) = &records {
            assert_eq!(written(records), self.bytes[..self.bytes.len() - input.len()]);
        }

        // Into more items than there are records, and into fewer.
        let count = records.as_ref().map_or(2, Vec::len);
        for room in [count + 2, count.saturating_sub(1)] {
            let before = vec![T::default(); room];
            let mut items = before.clone();
            let limits = Limits::UNLIMITED;
            let message = Incoming::open(self.bytes, &limits);
            match message.and_then(|message| message.map(|m| m.read_into(&mut items)).transpose()) {
                Ok(Some(number)) => {
                    // Frames beyond the limits are read here as well.
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
        let over = self.read_over::<T>(T::default());
        assert_eq!(over, records);
    }

    /// Over three records; the records, if they are taken.
    fn read_over<T: Datatype + Clone + Debug + Default + PartialEq>(
        &self,
        first: T,
    ) -> Option<Vec<T>> {
        let mut records = vec![first; 3];
        let before = records.clone();
        let mut input = self.bytes;
        // Records without data are made without a byte that vouches for them, but within the limit.
        let unasked = match self.front {
            Some((header, _)) if T::TYPE_MAP.size() == 0 => {
                (header.count() * size_of::<T>() as u64).min(self.limits.max_payload_bytes())
            }
            _ => 0,
        };
        let result =
            self.measured(unasked, || message::read_over(&mut input, &mut records, self.limits));
        let is_empty_and_large = matches!(result, Err(Error::PayloadLimit { .. }))
            && self.front.is_some_and(|(header, _)| header.record_size() == 0);
        if is_empty_and_large || !self.check::<T, _>(&result, input.len()) {
            assert_eq!(records, before);
            return None;
        }
        assert_eq!(result.ok().flatten(), Some(records.len()));
        assert_eq!(
            pack(&records),
            self.bytes[Header::SIZE..][..T::TYPE_MAP.size() * records.len()]
        );
        Some(records)
    }

    /// By a type with the signature of a [`Record`] and a layout of its own.
    fn read_by_type(&self) {
        let (ty, room) = (apart(), 50);
        let before = vec![0xEE; 8 * room];
        let mut memory = before.clone();
        let result = message::read_by(&mut &self.bytes[..], &ty, &mut memory, 0, room);
        let is_good = self.is_good_for::<Record>();
        let Ok(Some(count)) = result else {
            assert!(!is_good || self.front.unwrap().0.count() > room as u64);
            assert_eq!(memory, before);
            return;
        };
        assert!(self.front.is_none() || is_good);
        let mut packed = vec![0; 3 * count];
        ty.pack(&memory, 0, count, &mut packed).unwrap();
        assert_eq!(packed, self.bytes[Header::SIZE..Header::SIZE + packed.len()]);
        let mut wanted = before;
        ty.unpack(&packed, &mut wanted, 0, count).unwrap();
        assert_eq!(memory, wanted);
    }

    /// However few bytes come at a time, and wherever the stream fails, it is the same as at once.
    fn read_in_drops(&self, size: usize) {
        let text = |result: Result<Option<Vec<Record>>, Error>| match result {
            Ok(records) => format!("{records:?}"),
            Err(error) => describe(&error),
        };
        let mut drops = Drops::new(self.bytes, size);
        let slowly = text(message::read::<Record>(&mut drops, self.limits));
        let mut whole = self.bytes;
        let at_once = message::read::<Record>(&mut whole, self.limits);
        assert_eq!((slowly, drops.bytes), (text(at_once), whole));

        let used = self.bytes.len() - whole.len();
        let end = size % (used + 1);
        let mut fails = Fails(&self.bytes[..end], std::io::ErrorKind::BrokenPipe);
        let result = message::read::<Record>(&mut fails, self.limits);
        assert!(result.is_err() || end == used);
    }

    /// As many messages as there are, one after another.
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
            assert!(before - input.len() >= FRAME);
        }
    }
}
