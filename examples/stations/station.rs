//! The stations, and the peers that behave badly.

use std::net::SocketAddr;
use std::ops::AddAssign;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use dtype_message::tokio::{Receiver, send};
use dtype_message::{Error, Header, encode};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::sleep;

use crate::protocol::{FRAMING, LIMITS, Reading, Reply, Request};

/// The reports that a station sends.
#[derive(Clone, Copy)]
pub(crate) struct Reports {
    pub(crate) count: u32,
    pub(crate) readings: u32,
}

/// The readings that have a receipt.
#[derive(Default)]
pub(crate) struct Sent {
    pub(crate) readings: u64,
    /// The number of opened connections.
    pub(crate) connections: u64,
}

impl Sent {
    /// One connection, without readings.
    const CONNECTION: Self = Self { readings: 0, connections: 1 };
}

impl AddAssign for Sent {
    fn add_assign(&mut self, other: Self) {
        self.readings += other.readings;
        self.connections += other.connections;
    }
}

/// What happens to a frame on its way.
#[derive(Clone, Copy)]
enum Damage {
    None,
    Payload,
    Header,
}

/// A station's connection.
struct Connection {
    output: OwnedWriteHalf,
    replies: Receiver<OwnedReadHalf, Reply>,
}

impl Connection {
    async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await.context("no server")?;
        stream.set_nodelay(true)?;
        let (input, output) = stream.into_split();
        Ok(Self { output, replies: Receiver::new(input, LIMITS) })
    }

    /// Sends a request, and returns the reply; `None` if the server has closed the connection.
    async fn request(&mut self, request: &Request, damage: Damage) -> Result<Option<Reply>, Error> {
        let mut frame = Vec::new();
        encode(&mut frame, request, FRAMING)?;
        match damage {
            Damage::None => {}
            Damage::Payload => frame[Header::FULL_LEN + 5] ^= 1,
            Damage::Header => frame[20] ^= 1,
        }
        self.output.write_all(&frame).await?;
        match self.replies.next_message().await {
            // The other side closed the connection with bytes unread.
            Err(Error::Io(error)) if error.kind() == std::io::ErrorKind::ConnectionReset => {
                Ok(None)
            }
            reply => reply,
        }
    }
}

/// Sends reports until the server has given a receipt for each. If the station is damaged, the fifth of every ten reports has a
/// damaged payload, and the eighth a damaged header.
pub(crate) async fn run(
    address: SocketAddr,
    station: u32,
    reports: Reports,
    is_damaged: bool,
) -> Result<Sent> {
    let mut connection = Connection::open(address).await?;
    let mut sent = Sent::CONNECTION;
    for number in 0..reports.count {
        let request = Request::Report(report(station, number, reports.readings));
        let mut damage = match number % 10 {
            4 if is_damaged => Damage::Payload,
            7 if is_damaged => Damage::Header,
            _ => Damage::None,
        };
        loop {
            match connection.request(&request, damage).await? {
                Some(Reply::Receipt(count)) => {
                    ensure!(count == u64::from(reports.readings), "a receipt for {count} readings");
                    sent.readings += count;
                    break;
                }
                Some(Reply::Refused(_)) if matches!(damage, Damage::Payload) => {}
                Some(reply) => bail!("an unexpected reply: {reply:?}"),
                None if matches!(damage, Damage::Header) => {
                    connection = Connection::open(address).await?;
                    sent.connections += 1;
                }
                None => bail!("the server has closed the connection of station {station}"),
            }
            damage = Damage::None;
        }
    }
    Ok(sent)
}

fn report(station: u32, number: u32, count: u32) -> Vec<Reading> {
    let first = u64::from(number) * u64::from(count);
    (first..first + u64::from(count))
        .map(|time| Reading { time, station, celsius: 20.0, is_calibrated: number > 0 })
        .collect()
}

/// Sends a report, nothing for longer than a frame may take, and another report.
pub(crate) async fn pause(address: SocketAddr, pause: Duration) -> Result<Sent> {
    let mut connection = Connection::open(address).await?;
    let mut sent = Sent::CONNECTION;
    for number in 0..2 {
        if number > 0 {
            sleep(pause).await;
        }
        let readings = report(0, number, 10);
        sent.readings += readings.len() as u64;
        let reply = connection.request(&Request::Report(readings), Damage::None).await?;
        ensure!(matches!(reply, Some(Reply::Receipt(_))), "an unexpected reply: {reply:?}");
    }
    Ok(sent)
}

/// Sends a frame byte by byte, until the server has closed the connection.
pub(crate) async fn send_slowly(address: SocketAddr) -> Result<Sent> {
    let mut stream = TcpStream::connect(address).await.context("no server")?;
    stream.set_nodelay(true)?;
    let mut frame = Vec::new();
    encode(&mut frame, &Request::Report(report(0, 0, 10_000)), FRAMING)?;
    for byte in frame {
        if stream.write_all(&[byte]).await.is_err() {
            return Ok(Sent::CONNECTION);
        }
        sleep(Duration::from_millis(5)).await;
    }
    bail!("the server has waited for all of a slow frame")
}

/// Requests readings without reading the replies, until the server has closed the connection.
pub(crate) async fn ask_without_reading(address: SocketAddr) -> Result<Sent> {
    let mut connection = Connection::open(address).await?;
    // Sends a report, so that the server has readings to reply with.
    let readings = report(0, 0, 100);
    let sent = Sent { readings: readings.len() as u64, ..Sent::CONNECTION };
    let reply = connection.request(&Request::Report(readings), Damage::None).await?;
    ensure!(matches!(reply, Some(Reply::Receipt(_))), "an unexpected reply: {reply:?}");
    while send(&mut connection.output, &Request::Ask, FRAMING).await.is_ok() {}
    Ok(sent)
}

/// Closes the connection in the middle of a frame.
pub(crate) async fn vanish(address: SocketAddr) -> Result<Sent> {
    let mut stream = TcpStream::connect(address).await.context("no server")?;
    let mut frame = Vec::new();
    encode(&mut frame, &Request::Report(report(0, 0, 100)), FRAMING)?;
    stream.write_all(&frame[..frame.len() / 2]).await?;
    Ok(Sent::CONNECTION)
}
