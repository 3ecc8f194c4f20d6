//! Two workers in one process echo messages, on tokio, without using the processor while they wait.
//!
//! ```console
//! cargo run --release -p dtype-ucx --example asynchronous -- --rounds 100
//! ```
//!
//! Each worker has a task that makes progress: it sleeps on the worker's descriptor in tokio's `AsyncFd`, after `arm` has
//! said that there is nothing to do. All other tasks await their requests.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use dtype_runtime::Datatype;
use dtype_ucx::{Context, Endpoint, Multi, Worker};
use tokio::io::unix::AsyncFd;

#[derive(Parser, Debug)]
struct Options {
    /// Messages in each direction.
    #[arg(long, default_value_t = 20)]
    rounds: u32,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Sample {
    round: u32,
    valid: bool,
    value: f64,
}

/// Makes progress for ever.
async fn progress(worker: Worker<Multi>) -> Result<()> {
    // SAFETY: the events return the same descriptor each time, and keep it open as long as they live.
    let descriptor = unsafe { AsyncFd::register(worker.events()?)? };
    loop {
        // An event may come between the last progress and `arm`, which returns false then.
        while worker.progress() || !descriptor.get_ref().arm()? {}
        descriptor.readable().await?.clear_ready();
    }
}

/// Sends back what comes.
async fn echo(worker: Worker<Multi>, peer: Endpoint<Multi>, rounds: u32) -> Result<()> {
    for _ in 0..rounds {
        let (samples, _) = worker.start_recv::<Sample>(1, 1000)?.await?;
        peer.start_send(2, samples)?.await?;
    }
    Ok(())
}

async fn ask(worker: Worker<Multi>, peer: Endpoint<Multi>, rounds: u32) -> Result<usize> {
    let mut bytes = 0;
    for round in 0..rounds {
        let value = f64::from(round);
        let samples =
            vec![Sample { round, valid: round % 2 == 0, value }; 1 + round as usize % 1000];
        let answer = worker.start_recv::<Sample>(2, 1000)?;
        let samples = peer.start_send(1, samples)?.await?;
        // Long enough for the tasks to sleep.
        tokio::time::sleep(Duration::from_millis(1)).await;
        let (answer, received) = answer.await?;
        ensure!(answer == samples, "round {round}: something else came back");
        bytes += received.length;
    }
    Ok(bytes)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let Options { rounds } = Options::parse();
    let context = Context::with_events([]).context("UCX cannot be set up")?;
    let [here, there] = [context.worker::<Multi>()?, context.worker::<Multi>()?];
    let to_there = here.connect(&there.address()?)?;
    let to_here = there.connect(&here.address()?)?;
    for worker in [&here, &there] {
        tokio::spawn(progress(worker.clone()));
    }
    let echo = tokio::spawn(echo(there, to_here, rounds));
    let bytes = ask(here, to_there, rounds).await?;
    echo.await??;
    println!("{rounds} messages went there and came back, {bytes} bytes");
    Ok(())
}
