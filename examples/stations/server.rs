//! The server.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use dtype_message::Error;
use dtype_message::tokio::{Receiver, send};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Notify;
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

use crate::protocol::{FRAMING, LIMITS, Reading, Reply, Request};

/// The number of readings that the server keeps for replies.
const KEPT: usize = 1000;

/// The number of bytes that the system buffers for a peer that does not read.
const UNREAD: u32 = 64 * 1024;

/// Listens at an address. Accepted connections inherit the buffer's size.
pub(crate) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_send_buffer_size(UNREAD)?;
    socket.bind(address)?;
    socket.listen(1024)
}

/// Counts of the received reports, and of the ends of connections.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Account {
    pub(crate) reports: u64,
    pub(crate) readings: u64,
    pub(crate) refused: u64,
    pub(crate) ended: u64,
    pub(crate) lost: u64,
    pub(crate) idle: u64,
    pub(crate) slow: u64,
    pub(crate) not_reading: u64,
    pub(crate) vanished: u64,
}

impl Account {
    /// The number of connections that have ended.
    fn connections(&self) -> u64 {
        self.ended + self.lost + self.idle + self.slow + self.not_reading + self.vanished
    }
}

/// How a connection has ended.
enum End {
    /// The peer closed it between two frames.
    Ended,
    /// Damage hid the start of the next frame.
    Lost,
    /// The peer sent nothing for too long.
    Idle,
    /// A frame had begun, and did not arrive in time.
    Slow,
    /// The peer did not read the replies.
    NotReading,
    /// The connection was closed inside a frame.
    Vanished,
}

pub(crate) struct Server {
    patience: Duration,
    idle: Duration,
    most: usize,
    open: Cell<usize>,
    closed: Notify,
    account: Cell<Account>,
    last: RefCell<VecDeque<Reading>>,
}

impl Server {
    /// A server with a time limit for each frame and each reply, one for the time between two frames, and with at most `most`
    /// open connections.
    pub(crate) fn new(patience: Duration, idle: Duration, most: usize) -> Self {
        Self {
            patience,
            idle,
            most: most.max(1),
            open: Cell::new(0),
            closed: Notify::new(),
            account: Cell::default(),
            last: RefCell::default(),
        }
    }

    pub(crate) fn account(&self) -> Account {
        self.account.get()
    }

    /// Returns when this number of connections has ended.
    pub(crate) async fn finished(&self, connections: u64) {
        while self.account().connections() < connections {
            self.closed.notified().await;
        }
    }

    /// Accepts connections, forever.
    pub(crate) async fn serve(self: Rc<Self>, listener: TcpListener) {
        loop {
            while self.open.get() >= self.most {
                self.closed.notified().await;
            }
            let Ok((stream, _)) = listener.accept().await else {
                // The peer has gone already, or all file descriptors are in use and some will be free soon.
                sleep(Duration::from_millis(10)).await;
                continue;
            };
            let server = Rc::clone(&self);
            self.open.update(|open| open + 1);
            tokio::task::spawn_local(async move {
                let end = server.attend(stream).await;
                server.note(|account| match end {
                    End::Ended => account.ended += 1,
                    End::Lost => account.lost += 1,
                    End::Idle => account.idle += 1,
                    End::Slow => account.slow += 1,
                    End::NotReading => account.not_reading += 1,
                    End::Vanished => account.vanished += 1,
                });
                server.open.update(|open| open - 1);
                server.closed.notify_waiters();
            });
        }
    }

    /// Serves one connection to its end.
    async fn attend(&self, mut stream: TcpStream) -> End {
        let (input, mut output) = stream.split();
        let mut receiver = Receiver::<_, Request>::new(input, LIMITS);
        loop {
            match timeout(self.idle, receiver.has_started()).await {
                Err(_) => return End::Idle,
                Ok(Err(_)) => return End::Vanished,
                Ok(Ok(false)) => return End::Ended,
                Ok(Ok(true)) => {}
            }
            // The time limit is for the whole frame, so bytes that trickle in do not extend it.
            let reply = match timeout(self.patience, receiver.next_message()).await {
                Err(_) => return End::Slow,
                Ok(Ok(None)) => return End::Ended,
                Ok(Ok(Some(request))) => self.answer(request),
                Ok(Err(Error::Io(_) | Error::Truncated { .. })) => return End::Vanished,
                Ok(Err(_)) if receiver.is_lost() => return End::Lost,
                Ok(Err(error)) => {
                    self.note(|account| account.refused += 1);
                    Reply::Refused(error.to_string())
                }
            };
            let sending = async {
                send(&mut output, &reply, FRAMING).await?;
                Ok::<_, Error>(output.flush().await?)
            };
            match timeout(self.patience, sending).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return End::Vanished,
                Err(_) => return End::NotReading,
            }
            // Lets other connections run, even if this peer always has another request.
            yield_now().await;
        }
    }

    fn answer(&self, request: Request) -> Reply {
        let mut last = self.last.borrow_mut();
        match request {
            Request::Report(readings) => {
                let count = readings.len() as u64;
                self.note(|account| {
                    account.reports += 1;
                    account.readings += count;
                });
                last.extend(readings);
                let surplus = last.len().saturating_sub(KEPT);
                last.drain(..surplus);
                Reply::Receipt(count)
            }
            Request::Ask => Reply::Readings(last.iter().copied().collect()),
        }
    }

    fn note(&self, change: impl FnOnce(&mut Account)) {
        let mut account = self.account.get();
        change(&mut account);
        self.account.set(account);
    }
}
