//! Records per second through an echo server on tokio: the time with [`Codec`] divided by that with a codec written by
//! hand on bytemuck.
//!
//! `cargo bench -p dtype-benches --bench echo`
//!
//! A client sends messages of one record, or of a hundred, and reads them back from a server on the same thread. Both
//! sides use `Framed`, over a pipe in memory or over loopback TCP. The codec by hand has a length and the bytes of the
//! records, which bytemuck copies; it compares nothing. `bare` is the compact frame without checksum and signature,
//! `checked` the one with both, `full` the full frame. The two alternate, as in `ratios`.

use std::io;
use std::marker::PhantomData;

use bytemuck::{Pod, Zeroable};
use bytes::{Buf, BufMut, BytesMut};
use dtype_benches::turns::versus;
use dtype_message::{Codec, Framing, Limits};
use dtype_runtime::Datatype;
use futures_util::{SinkExt, StreamExt, future};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, duplex};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio_util::codec::{Decoder, Encoder, Framed};

/// Pairs of rounds for each figure.
const PAIRS: usize = 101;

/// Messages of each round.
const MESSAGES: u16 = 1000;

/// Records of a long message.
const MANY: usize = 100;

/// A record without padding, as bytemuck requires.
#[derive(Datatype, Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Trade {
    time: u64,
    price: f64,
    quantity: u32,
    venue: u32,
}

fn trade(i: u32) -> Trade {
    Trade { time: i.into(), price: f64::from(i) / 4.0, quantity: i, venue: i % 7 }
}

/// One record or many, for the codec by hand.
trait ByHand: Clone + PartialEq + Sized {
    fn bytes(&self) -> &[u8];
    fn make(bytes: &[u8]) -> Option<Self>;
}

impl ByHand for Trade {
    fn bytes(&self) -> &[u8] {
        bytemuck::bytes_of(self)
    }

    fn make(bytes: &[u8]) -> Option<Self> {
        bytemuck::try_pod_read_unaligned(bytes).ok()
    }
}

impl ByHand for Vec<Trade> {
    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(self)
    }

    fn make(bytes: &[u8]) -> Option<Self> {
        if !bytes.len().is_multiple_of(size_of::<Trade>()) {
            return None;
        }
        let mut trades = vec![Trade::zeroed(); bytes.len() / size_of::<Trade>()];
        bytemuck::cast_slice_mut(&mut trades).copy_from_slice(bytes);
        Some(trades)
    }
}

/// The codec by hand: a length of four bytes, and the bytes of the records.
struct Manual<M>(PhantomData<M>);

impl<M: ByHand> Encoder<&M> for Manual<M> {
    type Error = io::Error;

    fn encode(&mut self, message: &M, out: &mut BytesMut) -> io::Result<()> {
        let bytes = message.bytes();
        let len = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        out.reserve(4 + bytes.len());
        out.put_u32_le(len);
        out.put_slice(bytes);
        Ok(())
    }
}

impl<M: ByHand> Encoder<M> for Manual<M> {
    type Error = io::Error;

    fn encode(&mut self, message: M, out: &mut BytesMut) -> io::Result<()> {
        Encoder::<&M>::encode(self, &message, out)
    }
}

impl<M: ByHand> Decoder for Manual<M> {
    type Item = M;
    type Error = io::Error;

    fn decode(&mut self, input: &mut BytesMut) -> io::Result<Option<M>> {
        let Some(len) = input.first_chunk() else { return Ok(None) };
        let len = usize::try_from(u32::from_le_bytes(*len)).unwrap_or(usize::MAX);
        if len > 1 << 20 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let Some(bytes) = input.get(4..4 + len) else {
            input.reserve(4 + len - input.len());
            return Ok(None);
        };
        let message = M::make(bytes).ok_or(io::ErrorKind::InvalidData)?;
        input.advance(4 + len);
        Ok(Some(message))
    }
}

/// Sends the messages, and reads them back from a server that echoes them.
async fn echo<S, C, M>(here: &mut Framed<S, C>, there: &mut Framed<S, C>, messages: &[M])
where
    S: AsyncRead + AsyncWrite + Unpin,
    C: Decoder
        + Encoder<M, Error = <C as Decoder>::Error>
        + for<'m> Encoder<&'m M, Error = <C as Decoder>::Error>,
    <C as Decoder>::Error: std::fmt::Debug,
    M: PartialEq,
    C::Item: Message<M>,
{
    let (mut sink, mut source) = here.split();
    let send = async {
        for message in messages {
            sink.feed(message).await.expect("the server reads");
        }
        SinkExt::<&M>::flush(&mut sink).await.expect("the server reads");
    };
    let server = async {
        let (mut sink, mut source) = there.split();
        for _ in messages {
            let message = source.next().await.expect("a message").expect("a frame");
            sink.feed(message.take()).await.expect("the client reads");
        }
        SinkExt::<M>::flush(&mut sink).await.expect("the client reads");
    };
    let receive = async {
        for message in messages {
            let received = source.next().await.expect("a message").expect("a frame");
            assert!(received.take() == *message);
        }
    };
    future::join3(send, server, receive).await;
}

/// The messages that a codec decodes.
trait Message<M> {
    fn take(self) -> M;
}

impl<M: ByHand> Message<M> for M {
    fn take(self) -> M {
        self
    }
}

impl<M: ByHand, E: std::fmt::Debug> Message<M> for Result<M, E> {
    fn take(self) -> M {
        self.expect("a message")
    }
}

/// The two ends of a stream.
trait Link: Sized {
    fn connect(runtime: &Runtime) -> (Self, Self);
}

impl Link for DuplexStream {
    fn connect(_: &Runtime) -> (Self, Self) {
        duplex(1 << 16)
    }
}

impl Link for TcpStream {
    fn connect(runtime: &Runtime) -> (Self, Self) {
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let address = listener.local_addr().expect("a port");
            let (here, there) = future::join(TcpStream::connect(address), listener.accept()).await;
            let (here, there) = (here.expect("a server"), there.expect("a client").0);
            here.set_nodelay(true).expect("a socket");
            there.set_nodelay(true).expect("a socket");
            (here, there)
        })
    }
}

fn row<S, M>(name: &str, runtime: &Runtime, messages: &[M], pairs: usize)
where
    S: Link + AsyncRead + AsyncWrite + Unpin,
    M: ByHand + dtype_message::Messages,
{
    let bare = Framing::compact().without_checksum().without_signature();
    let limits = Limits::new().allow_missing_checksum().allow_missing_signature();
    let cells = [bare, Framing::compact(), Framing::new()].map(|framing| {
        let (a, b) = S::connect(runtime);
        let [mut here, mut there] = [a, b].map(|end| Framed::new(end, Manual::<M>(PhantomData)));
        let (a, b) = S::connect(runtime);
        let [mut ours, mut echoing] =
            [a, b].map(|end| Framed::new(end, Codec::<M>::new(limits, framing)));
        let figure = versus(
            pairs,
            || runtime.block_on(echo(&mut here, &mut there, messages)),
            || runtime.block_on(echo(&mut ours, &mut echoing, messages)),
        );
        let rate = f64::from(MESSAGES) / figure.ours.as_secs_f64() / 1e6;
        format!("{:.2} ({rate:.2})", figure.ratio)
    });
    let [bare, checked, full] = cells;
    println!("{name:<28} {bare:>14} {checked:>14} {full:>14}");
}

fn main() {
    // `cargo test --benches` and `cargo bench -- --test` only check that the bench runs.
    let quick = std::env::args().any(|argument| argument == "--test");
    let pairs = if quick { 1 } else { PAIRS };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
    let runtime = runtime.expect("a runtime");
    let single: Vec<Trade> = (0..).take(MESSAGES.into()).map(trade).collect();
    let many: Vec<Vec<Trade>> =
        (0..).take(MESSAGES.into()).map(|i| (i..).take(MANY).map(trade).collect()).collect();
    println!("time with Codec over that with a codec by hand; million messages/s in brackets");
    println!("{:<28} {:>14} {:>14} {:>14}", "", "bare", "checked", "full");
    row::<DuplexStream, _>("in memory, 1 record", &runtime, &single, pairs);
    row::<DuplexStream, _>("in memory, 100 records", &runtime, &many, pairs);
    row::<TcpStream, _>("TCP, 1 record", &runtime, &single, pairs);
    row::<TcpStream, _>("TCP, 100 records", &runtime, &many, pairs);
}
