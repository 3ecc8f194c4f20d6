//! Messages of one and of ten records with the fields that services have: a name, a time, a struct, an enum, an option and a
//! list. The times of each codec are divided by those of a codec written by hand.
//!
//! `cargo bench -p dtype-benches --bench services`
//!
//! The codec by hand writes a length, a tag, a CRC-32C and the memory of its structs. Reading, it compares the length, the tag and
//! the checksum, checks the enum, the lengths and the text of each record, and copies it. postcard and bincode have the lengths
//! of `LengthDelimitedCodec`, without a checksum. Messages are decoded from a buffer that holds many of them. Over TCP, one thread
//! sends messages to itself; `messages/s` are sent and received.

use std::hint::black_box;
use std::io;
use std::marker::PhantomData;

use bytemuck::{Pod, Zeroable};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use dtype_benches::checked::{Field, Record};
use dtype_benches::turns::versus;
use dtype_message::{Codec, Framing, Limits};
use futures_util::{SinkExt, StreamExt, future};
use serde::{Deserialize, Serialize};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::codec::{Decoder, Encoder, Framed, LengthDelimitedCodec};

/// Messages of a round.
const MESSAGES: u16 = 100;

/// Pairs of rounds for each figure.
const PAIRS: usize = 101;

/// The record of the codec by hand: without padding, as bytemuck requires.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct ByHand {
    time: i64,
    north: f64,
    east: f64,
    name: [u8; 16],
    values: [f32; 8],
    name_len: u32,
    height: f32,
    values_len: u32,
    humidity: f32,
    has_humidity: u8,
    side: u8,
    unused: [u8; 6],
}

impl ByHand {
    #[inline(always)]
    fn is_valid(&self) -> bool {
        let name = self.name.get(..self.name_len as usize);
        name.is_some_and(|name| std::str::from_utf8(name).is_ok())
            && self.values_len <= 8
            && self.has_humidity <= 1
            && self.side <= 2
    }
}

/// The record of the serializers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, bincode::Encode, bincode::Decode)]
struct Serialized {
    name: String,
    time: i64,
    place: (f64, f64, f32),
    side: u8,
    humidity: Option<f32>,
    values: Vec<f32>,
}

impl From<&Record> for ByHand {
    fn from(record: &Record) -> Self {
        let mut this = Self::zeroed();
        this.name[..record.name.len()].copy_from_slice(record.name.as_bytes());
        this.values[..record.values.len()].copy_from_slice(&record.values);
        Self {
            time: record.time.count(),
            north: record.place.north,
            east: record.place.east,
            name_len: u32::try_from(record.name.len()).unwrap_or(0),
            height: record.place.height,
            values_len: u32::try_from(record.values.len()).unwrap_or(0),
            humidity: record.humidity.unwrap_or_default(),
            has_humidity: record.humidity.is_some().into(),
            side: record.side as u8,
            ..this
        }
    }
}

impl From<&Record> for Serialized {
    fn from(record: &Record) -> Self {
        Self {
            name: record.name.as_str().into(),
            time: record.time.count(),
            place: (record.place.north, record.place.east, record.place.height),
            side: record.side as u8,
            humidity: record.humidity.into_option(),
            values: record.values.to_vec(),
        }
    }
}

/// One record or several, for the codec by hand.
trait Message: Decoded<Self> + Clone + PartialEq + Sized {
    fn bytes(&self) -> &[u8];
    fn read(bytes: &[u8]) -> Option<Self>;
}

impl Message for ByHand {
    fn bytes(&self) -> &[u8] {
        bytemuck::bytes_of(self)
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        bytemuck::try_pod_read_unaligned(bytes).ok().filter(Self::is_valid)
    }
}

impl Message for Vec<ByHand> {
    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(self)
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let mut records = Self::with_capacity(bytes.len() / size_of::<ByHand>());
        for record in bytes.chunks_exact(size_of::<ByHand>()) {
            records.push(ByHand::read(record)?);
        }
        Some(records)
    }
}

/// The codec by hand.
struct Manual<M>(PhantomData<M>);

/// The length, the tag and the checksum.
const HEADER: usize = 9;

impl<M: Message> Encoder<&M> for Manual<M> {
    type Error = io::Error;

    fn encode(&mut self, message: &M, out: &mut BytesMut) -> io::Result<()> {
        let bytes = message.bytes();
        let len = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        out.reserve(HEADER + bytes.len());
        out.put_u32_le(len);
        out.put_u8(1);
        out.put_u32_le(crc32c::crc32c(bytes));
        out.put_slice(bytes);
        Ok(())
    }
}

impl<M: Message> Decoder for Manual<M> {
    type Item = M;
    type Error = io::Error;

    fn decode(&mut self, input: &mut BytesMut) -> io::Result<Option<M>> {
        let Some([a, b, c, d, tag, sum @ ..]) = input.first_chunk::<HEADER>() else {
            return Ok(None);
        };
        let len = u32::from_le_bytes([*a, *b, *c, *d]) as usize;
        if len > 1 << 20 || *tag != 1 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let Some(bytes) = input.get(HEADER..HEADER + len) else {
            input.reserve(HEADER + len - input.len());
            return Ok(None);
        };
        if crc32c::crc32c(bytes) != u32::from_le_bytes(*sum) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let message = M::read(bytes).ok_or(io::ErrorKind::InvalidData)?;
        input.advance(HEADER + len);
        Ok(Some(message))
    }
}

/// A serializer in frames of a length.
struct Delimited<M, F> {
    lengths: LengthDelimitedCodec,
    of: PhantomData<(M, F)>,
}

trait Format<M> {
    fn write(message: &M) -> Vec<u8>;
    fn read(bytes: &[u8]) -> Option<M>;
}

struct Postcard;
struct Bincode;

impl<M: Serialize + for<'de> Deserialize<'de>> Format<M> for Postcard {
    fn write(message: &M) -> Vec<u8> {
        postcard::to_allocvec(message).expect("a message")
    }

    fn read(bytes: &[u8]) -> Option<M> {
        postcard::from_bytes(bytes).ok()
    }
}

impl<M: bincode::Encode + bincode::Decode<()>> Format<M> for Bincode {
    fn write(message: &M) -> Vec<u8> {
        bincode::encode_to_vec(message, bincode::config::standard()).expect("a message")
    }

    fn read(bytes: &[u8]) -> Option<M> {
        let (message, _) = bincode::decode_from_slice(bytes, bincode::config::standard()).ok()?;
        Some(message)
    }
}

impl<M, F: Format<M>> Encoder<&M> for Delimited<M, F> {
    type Error = io::Error;

    fn encode(&mut self, message: &M, out: &mut BytesMut) -> io::Result<()> {
        self.lengths.encode(Bytes::from(F::write(message)), out)
    }
}

impl<M, F: Format<M>> Decoder for Delimited<M, F> {
    type Item = M;
    type Error = io::Error;

    fn decode(&mut self, input: &mut BytesMut) -> io::Result<Option<M>> {
        let Some(bytes) = self.lengths.decode(input)? else { return Ok(None) };
        F::read(&bytes).map(Some).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

/// What a codec decodes.
trait Decoded<M> {
    fn message(&self) -> &M;
}

/// Implements [`Decoded`] for messages themselves.
macro_rules! decoded {
    ($($message:ty)*) => { $(
        impl Decoded<$message> for $message {
            fn message(&self) -> &Self {
                self
            }
        }
    )* };
}

decoded! { ByHand Vec<ByHand> Serialized Vec<Serialized> }

impl<M, E: std::fmt::Debug> Decoded<M> for Result<M, E> {
    fn message(&self) -> &M {
        self.as_ref().expect("a valid message")
    }
}

/// A codec with messages and their frames.
struct Contestant<C, M> {
    codec: C,
    messages: Vec<M>,
    frames: BytesMut,
    out: BytesMut,
}

impl<C, M: PartialEq> Contestant<C, M>
where
    C: Decoder + for<'m> Encoder<&'m M>,
    <C as Decoder>::Error: std::fmt::Debug,
    C::Item: Decoded<M>,
{
    fn new(mut codec: C, messages: Vec<M>) -> Self {
        let mut frames = BytesMut::new();
        for message in &messages {
            assert!(codec.encode(message, &mut frames).is_ok());
        }
        let mut this = Self { codec, messages, frames, out: BytesMut::new() };
        let mut input = this.frames.clone();
        for message in &this.messages {
            let decoded = this.codec.decode(&mut input).expect("a frame").expect("a message");
            assert!(decoded.message() == message);
        }
        assert!(input.is_empty());
        this
    }

    fn encode(&mut self) {
        self.out.clear();
        for message in &self.messages {
            let _ = black_box(self.codec.encode(message, &mut self.out).is_ok());
        }
    }

    fn decode(&mut self) {
        self.out.clear();
        self.out.extend_from_slice(&self.frames);
        let mut input = self.out.split();
        while let Ok(Some(message)) = self.codec.decode(&mut input) {
            black_box(message.message());
        }
        // The buffer is used again.
        drop(input);
        self.out.reserve(self.frames.len());
    }
}

/// The frames of dtype by a decoder on a slice.
fn decode_slices(
    decoder: &mut dtype_message::Decoder<impl dtype_message::Messages>,
    frames: &[u8],
) {
    let mut input = frames;
    while let Ok(Some(message)) = decoder.feed(&mut input) {
        black_box(&message);
    }
}

/// Sends the messages and receives them.
async fn send<C, M>(ends: &mut [Framed<TcpStream, C>; 2], messages: &[M])
where
    C: Decoder + for<'m> Encoder<&'m M, Error = <C as Decoder>::Error>,
    <C as Decoder>::Error: std::fmt::Debug,
    C::Item: Decoded<M>,
{
    let [here, there] = ends;
    let send = async {
        for message in messages {
            here.feed(message).await.expect("the other end reads");
        }
        SinkExt::<&M>::flush(here).await.expect("the other end reads");
    };
    let receive = async {
        for _ in messages {
            let message = there.next().await.expect("a message").expect("a frame");
            black_box(message.message());
        }
    };
    future::join(send, receive).await;
}

async fn connect<C>(codec: impl Fn() -> C) -> [Framed<TcpStream, C>; 2] {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("a port");
    let (here, there) = future::join(TcpStream::connect(address), listener.accept()).await;
    let ends = [here.expect("a server"), there.expect("a client").0];
    ends.map(|end| {
        end.set_nodelay(true).expect("a socket");
        Framed::new(end, codec())
    })
}

/// Prints a row: a codec beside the one by hand.
fn row<C, M, H>(name: &str, codec: impl Fn() -> C, messages: &[M], by_hand: &[H], pairs: usize)
where
    C: Decoder + for<'m> Encoder<&'m M, Error = <C as Decoder>::Error>,
    <C as Decoder>::Error: std::fmt::Debug,
    C::Item: Decoded<M>,
    M: Clone + PartialEq,
    H: Message,
{
    let mut hand = Contestant::new(Manual::<H>(PhantomData), by_hand.to_vec());
    let mut ours = Contestant::new(codec(), messages.to_vec());
    let bytes = ours.frames.len() / messages.len();
    let encode = versus(pairs, || hand.encode(), || ours.encode());
    let decode = versus(pairs, || hand.decode(), || ours.decode());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
    let runtime = runtime.expect("a runtime");
    let mut theirs = runtime.block_on(connect(|| Manual::<H>(PhantomData)));
    let mut framed = runtime.block_on(connect(codec));
    let tcp = versus(
        pairs,
        || runtime.block_on(send(&mut theirs, by_hand)),
        || runtime.block_on(send(&mut framed, messages)),
    );
    let time = |ours: std::time::Duration| ours.as_secs_f64() * 1e9 / f64::from(MESSAGES);
    println!(
        "{name:<36} {bytes:>5} {:>6.2} ({:>5.0}) {:>6.2} ({:>5.0}) {:>6.2} ({:>5.2})",
        encode.ratio,
        time(encode.ours),
        decode.ratio,
        time(decode.ours),
        tcp.ratio,
        1e3 / time(tcp.ours),
    );
}

fn delimited<M, F>() -> Delimited<M, F> {
    Delimited { lengths: LengthDelimitedCodec::new(), of: PhantomData }
}

fn tens<T: Clone>(all: &[T]) -> Vec<Vec<T>> {
    all.chunks(10).map(<[T]>::to_vec).collect()
}

/// Prints the rows for messages of some records.
fn rows<M, S, H>(name: &str, ours: &[M], serialized: &[S], by_hand: &[H], pairs: usize)
where
    M: dtype_message::Messages + Clone + PartialEq,
    S: Clone
        + PartialEq
        + Serialize
        + for<'de> Deserialize<'de>
        + bincode::Encode
        + bincode::Decode<()>,
    S: Decoded<S>,
    H: Message,
{
    for (framing, kind) in [(Framing::compact(), "compact"), (Framing::new(), "full")] {
        let codec = || Codec::<M>::new(Limits::new(), framing);
        row(&format!("{name}, dtype {kind}"), codec, ours, by_hand, pairs);
        let mut hand = Contestant::new(Manual::<H>(PhantomData), by_hand.to_vec());
        let frames = Contestant::new(codec(), ours.to_vec()).frames;
        let mut decoder = dtype_message::Decoder::<M>::new(Limits::new());
        let figure =
            versus(pairs, || hand.decode(), || decode_slices(&mut decoder, black_box(&frames)));
        println!("{:<36} {:>29.2}", format!("{name}, dtype {kind}, Decoder"), figure.ratio);
    }
    if std::env::var_os("FAST").is_some() {
        return;
    }
    row(&format!("{name}, postcard"), delimited::<S, Postcard>, serialized, by_hand, pairs);
    row(&format!("{name}, bincode"), delimited::<S, Bincode>, serialized, by_hand, pairs);
}

fn main() {
    // `cargo test --benches` and `cargo bench -- --test` only check that the bench runs.
    let quick = std::env::args().any(|argument| argument == "--test");
    let pairs = if quick {
        1
    } else if std::env::var_os("FAST").is_some() {
        31
    } else {
        PAIRS
    };
    let records: Vec<Record> = (0..10 * u64::from(MESSAGES)).map(Record::sample).collect();
    let by_hand: Vec<ByHand> = records.iter().map(ByHand::from).collect();
    let serialized: Vec<Serialized> = records.iter().map(Serialized::from).collect();
    println!(
        "time over that of the codec by hand; ns a message, and million messages/s over TCP, in brackets"
    );
    println!("{:<36} {:>5} {:>14} {:>14} {:>14}", "", "bytes", "encode", "decode", "TCP");
    let some = usize::from(MESSAGES);
    rows("1 record", &records[..some], &serialized[..some], &by_hand[..some], pairs);
    rows("10 records", &tens(&records), &tens(&serialized), &tens(&by_hand), pairs);
}
