//! Readings over UDP, which loses, repeats and reorders datagrams; sequence numbers reveal it.
//!
//! `cargo run --release --example telemetry`
//!
//! Each datagram is one compact frame: 27 bytes for a record of 16. The checksum finds damage, the signature finds
//! other versions of the record, and the sequence number finds everything that happens to whole datagrams. The
//! sender itself simulates a bad network, so that the receiver's counts can be checked.

#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::io::{ErrorKind, Write};
use std::net::UdpSocket;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use dtype_message::{Framing, Limits};
use dtype_runtime::Datatype;

/// A measurement of a sensor.
#[derive(Datatype, Clone, Debug, PartialEq)]
struct Reading {
    sequence: u64,
    sensor: u32,
    celsius: f32,
}

const FRAMING: Framing = Framing::compact().with_tag(1);

/// Each datagram holds one reading.
const LIMITS: Limits = Limits::new().with_max_records(1).with_max_payload_bytes(16);

const READINGS: u64 = 1000;

fn reading(sequence: u64) -> Reading {
    Reading { sequence, sensor: 7, celsius: 20.0 }
}

/// The number of datagrams for each thing that can happen to one.
#[derive(Default)]
struct Account {
    seen: BTreeSet<u64>,
    damaged: u64,
    twice: u64,
    late: u64,
}

impl Account {
    fn take(&mut self, datagram: &[u8]) {
        let mut bytes = datagram;
        let reading = match dtype_message::decode::<Reading>(&mut bytes, &LIMITS) {
            // The frame fills the datagram.
            Ok(Some(reading)) if bytes.is_empty() => reading,
            // A damaged header may look like that of any other frame.
            Ok(_) | Err(_) => {
                self.damaged += 1;
                return;
            }
        };
        let is_late = self.seen.last().is_some_and(|last| reading.sequence < *last);
        if !self.seen.insert(reading.sequence) {
            self.twice += 1;
        } else if is_late {
            self.late += 1;
        }
    }
}

fn main() -> Result<()> {
    let here = UdpSocket::bind("127.0.0.1:0").context("cannot listen")?;
    here.set_read_timeout(Some(Duration::from_secs(2)))?;
    let there = UdpSocket::bind("127.0.0.1:0").context("cannot send")?;
    there.connect(here.local_addr()?)?;

    let (mut account, mut buffer, mut longest) = (Account::default(), [0; 2048], 0);
    for datagrams in (0..READINGS).step_by(100).map(bad_network) {
        let datagrams = datagrams?;
        for datagram in &datagrams {
            longest = longest.max(datagram.len());
            there.send(datagram)?;
        }
        // Receives the datagrams of each round before the next round, so that the socket's buffer never overflows: every loss
        // here is deliberate.
        for _ in &datagrams {
            match here.recv(&mut buffer) {
                Ok(count) => account.take(&buffer[..count]),
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    break;
                }
                Err(error) => return Err(error).context("cannot receive"),
            }
        }
    }
    let lost = (0..READINGS).filter(|sequence| !account.seen.contains(sequence)).count() as u64;
    let Account { damaged, twice, late, .. } = account;
    ensure!(lost >= damaged, "a damaged reading cannot have been seen");
    let mut out = std::io::stdout().lock();
    writeln!(out, "{READINGS} readings sent, {longest} bytes each")?;
    writeln!(out, "{} lost, {damaged} damaged, {twice} twice, {late} late", lost - damaged)?;
    Ok(())
}

/// The datagrams of a hundred readings from `first` on, after a network that loses five, damages two, repeats four
/// and delays four.
fn bad_network(first: u64) -> Result<Vec<Vec<u8>>> {
    let mut datagrams = Vec::new();
    let mut delayed = None;
    for sequence in first..first + 100 {
        let mut datagram = Vec::new();
        dtype_message::encode(&mut datagram, &reading(sequence), FRAMING)?;
        match sequence % 100 {
            3 | 23 | 43 | 63 | 83 => continue,
            10 | 60 => {
                let at = usize::try_from(sequence)? / 50 % datagram.len();
                datagram[at] ^= 4;
            }
            15 | 35 | 55 | 75 => datagrams.push(datagram.clone()),
            18 | 38 | 58 | 78 => {
                delayed = Some(datagram);
                continue;
            }
            _ => {}
        }
        datagrams.push(datagram);
        datagrams.extend(delayed.take());
    }
    Ok(datagrams)
}
