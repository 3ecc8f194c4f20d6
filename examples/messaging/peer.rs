//! The second process: starting it, talking to it, and its own work.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Error, Result, bail, ensure};
use dtype_examples::airports::Airport;

use crate::LIMITS;

/// The time limit for each side's waiting.
const PATIENCE: Duration = Duration::from_secs(10);

/// The second process, with a connection to it.
pub(crate) struct Peer {
    child: Child,
    stream: TcpStream,
}

impl Peer {
    /// Starts the process. Returns when the process has connected, or an error if it has ended.
    pub(crate) fn start() -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("cannot listen")?;
        listener.set_nonblocking(true)?;
        let program = std::env::current_exe().context("this program cannot be found")?;
        let mut child = Command::new(program)
            .arg("--echo")
            .arg(listener.local_addr()?.to_string())
            .stdin(Stdio::null())
            .spawn()
            .context("cannot start the second process")?;
        match accept(&listener, &mut child) {
            Ok(stream) => Ok(Self { child, stream }),
            Err(error) => {
                end(&mut child);
                Err(error)
            }
        }
    }

    /// The connection.
    pub(crate) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Closes the connection. Returns when the process has ended, or an error if it has failed.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.stream.shutdown(Shutdown::Write).context("cannot close the connection")?;
        let status = wait(&mut self.child)?;
        ensure!(status.success(), "the second process failed: {status}");
        Ok(())
    }

    /// Ends the process after a failure on this side, and reports whether the process failed too.
    pub(crate) fn stop_after(mut self, error: Error) -> Error {
        // When the connection closes, the process ends by itself and prints its reason on standard error.
        let _ = self.stream.shutdown(Shutdown::Both);
        match wait(&mut self.child) {
            Ok(status) if !status.success() => {
                error.context(format!("the second process failed: {status}"))
            }
            _ => error,
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// Ends a process and reaps it, unless it was reaped before.
fn end(child: &mut Child) {
    if !matches!(child.try_wait(), Ok(Some(_))) {
        let _ = child.kill();
        let _ = child.wait();
    }
}

fn accept(listener: &TcpListener, child: &mut Child) -> Result<TcpStream> {
    let start = Instant::now();
    loop {
        match listener.accept() {
            Ok((stream, _)) => return prepare(stream),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error).context("cannot accept the connection"),
        }
        if let Some(status) = child.try_wait()? {
            bail!("the second process ended before it connected: {status}");
        }
        ensure!(start.elapsed() < PATIENCE, "the second process did not connect");
        sleep(Duration::from_millis(1));
    }
}

fn wait(child: &mut Child) -> Result<ExitStatus> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if start.elapsed() > PATIENCE {
            end(child);
            bail!("the second process did not end");
        }
        sleep(Duration::from_millis(1));
    }
}

fn prepare(stream: TcpStream) -> Result<TcpStream> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(stream)
}

/// The second process's work: unpacks each array it receives, packs the records and sends them back.
pub(crate) fn echo(address: SocketAddr) -> Result<()> {
    let stream = TcpStream::connect_timeout(&address, PATIENCE)
        .context("the second process cannot connect")?;
    let stream = prepare(stream)?;
    let mut records: Vec<Airport> = Vec::new();
    while dtype_message::read_reusing(&mut &stream, &mut records, &LIMITS)
        .context("the second process cannot receive the records")?
        .is_some()
    {
        dtype_message::write(&mut &stream, &records).context("the second process cannot send")?;
    }
    Ok(())
}
