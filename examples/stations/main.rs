//! A server and many stations that exchange records over TCP, with damaged frames, slow and vanishing peers.
//!
//! `cargo run --release --example stations`
//!
//! Each station sends reports of readings, and sends the next one after the receipt of the last. The server accepts messages
//! within limits of size and time, and closes a connection only if it cannot continue:
//!
//! | what a peer does | what the server does |
//! |---|---|
//! | sends a damaged report | refuses it and reads on; the station sends the report again |
//! | sends a damaged header | closes the connection, as the next frame cannot be found; the station connects again |
//! | sends a frame too slowly | closes the connection after a time |
//! | sends nothing between two frames | keeps the connection for longer than a frame may take |
//! | asks, and does not read the answers | the same |
//! | vanishes in the middle of a frame | drops the unfinished report |
//!
//! The program plays all of these parts, on one thread, and compares what the server has with what the stations have
//! receipts for.

#![forbid(unsafe_code)]

mod protocol;
mod server;
mod station;

use std::io::Write;
use std::rc::Rc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use tokio::task::{JoinSet, LocalSet};
use tokio::time::timeout;

use server::{Account, Server};
use station::{Reports, Sent};

/// Sends readings from many stations to a server, over TCP.
#[derive(Parser)]
struct Arguments {
    /// The number of well-behaved stations.
    #[arg(long, default_value_t = 40)]
    stations: u32,
    /// Stations whose frames are damaged in transit.
    #[arg(long, default_value_t = 5)]
    damaged: u32,
    /// Peers that send a frame too slowly.
    #[arg(long, default_value_t = 3)]
    slow: u32,
    /// Peers that send a report, nothing for a while, and another report.
    #[arg(long, default_value_t = 3)]
    idle: u32,
    /// Peers that request readings and do not read the replies.
    #[arg(long, default_value_t = 2)]
    not_reading: u32,
    /// Peers that vanish in the middle of a frame.
    #[arg(long, default_value_t = 4)]
    vanishing: u32,
    /// Reports of each station.
    #[arg(long, default_value_t = 20)]
    reports: u32,
    /// Readings in a report.
    #[arg(long, default_value_t = 100)]
    readings: u32,
    /// The maximum number of open connections. Other peers are queued.
    #[arg(long, default_value_t = 16)]
    connections: usize,
    /// The time limit for receiving a frame and for sending a reply, in milliseconds.
    #[arg(long, default_value_t = 2000)]
    patience: u64,
    /// The time limit between two frames, in milliseconds.
    #[arg(long, default_value_t = 60_000)]
    idle_patience: u64,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (account, sent) = LocalSet::new().block_on(&runtime, exchange(&arguments))?;

    ensure!(account.readings == sent.readings, "a receipt was given for readings that are missing");
    let mut out = std::io::stdout().lock();
    writeln!(out, "{} readings in {} reports received", account.readings, account.reports)?;
    writeln!(out, "{} reports damaged and sent again", account.refused)?;
    writeln!(
        out,
        "connections: {} ended in order, {} lost, {} idle, {} too slow, {} not reading, {} vanished",
        account.ended,
        account.lost,
        account.idle,
        account.slow,
        account.not_reading,
        account.vanished
    )?;
    Ok(())
}

/// Runs the server until all stations have finished.
async fn exchange(arguments: &Arguments) -> Result<(Account, Sent)> {
    let listener = server::listen(([127, 0, 0, 1], 0).into()).context("cannot listen")?;
    let address = listener.local_addr()?;
    let patience = Duration::from_millis(arguments.patience);
    let idle = Duration::from_millis(arguments.idle_patience);
    let server = Rc::new(Server::new(patience, idle, arguments.connections));
    let serving = tokio::task::spawn_local(Rc::clone(&server).serve(listener));

    let mut stations = JoinSet::new();
    for number in 0..arguments.stations + arguments.damaged {
        let reports = Reports { count: arguments.reports, readings: arguments.readings };
        let is_damaged = number >= arguments.stations;
        stations
            .spawn_local(async move { station::run(address, number, reports, is_damaged).await });
    }
    for _ in 0..arguments.idle {
        stations.spawn_local(station::pause(address, patience * 3 / 2));
    }
    for _ in 0..arguments.slow {
        stations.spawn_local(station::send_slowly(address));
    }
    for _ in 0..arguments.not_reading {
        stations.spawn_local(station::ask_without_reading(address));
    }
    for _ in 0..arguments.vanishing {
        stations.spawn_local(station::vanish(address));
    }
    let mut sent = Sent::default();
    while let Some(station) = stations.join_next().await {
        sent += station.context("a station panicked")?.context("a station failed")?;
    }
    // The server may not have noticed the end of the last connections yet.
    let finished = server.finished(sent.connections);
    timeout(10 * patience, finished)
        .await
        .context("the server still waits for a peer that is gone")?;
    serving.abort();
    Ok((server.account(), sent))
}
