//! A separate program, which starts itself again as its peer. Each message is sent, checked by the peer, sent back and checked
//! here: over each transport, with both protocols, in all forms.
//!
//! `DTYPE_UCX_FULL=1` runs all sizes with all pairs of forms, which takes some six minutes. An argument selects the tests that
//! have it in their name.

mod active;
#[path = "../it/encoded.rs"]
mod encoded;
mod remote;
mod scopes;

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio, exit};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, process};

use encoded::address_of;

use dtype_runtime::{Basic, Committed, Datatype, Type};
use dtype_ucx::{Context, Elements, ElementsMut, Endpoint, Error, Single, Worker, WorkerAddress};

/// The process ends after this time, or after a multiple of it if all sizes run with all forms. So no test hangs.
const LIMIT: Duration = Duration::from_secs(600);

const TRANSPORTS: [(&str, &[(&str, &str)]); 4] = [
    ("sm", &[("TLS", "self,sm")]),
    ("sysv", &[("TLS", "self,sysv")]),
    ("cma", &[("TLS", "self,posix,cma")]),
    ("tcp", &[("TLS", "self,tcp"), ("NET_DEVICES", "lo")]),
];

/// Eager messages, rendezvous messages, and both with UCX's new protocols.
const PROTOCOLS: [(&str, &[(&str, &str)]); 3] = [
    ("eager", &[("RNDV_THRESH", "inf")]),
    ("rendezvous", &[("RNDV_THRESH", "0")]),
    ("new protocols", &[("PROTO_ENABLE", "y")]),
];

const SIZES: [usize; 8] = [0, 1, 8239, 8240, 8241, 3 * 8192, 1 << 20, 16 << 20];

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Particle {
    position: [f64; 3],
    charge: i8,
    fixed: bool,
}

fn particles(count: usize, round: u8) -> Vec<Particle> {
    (0..u32::try_from(count).unwrap())
        .map(|i| {
            let x = f64::from(i) + 1000.0 * f64::from(round);
            let charge = i.to_le_bytes()[0].cast_signed();
            Particle { position: [x, -x, 0.5 * x], charge, fixed: i % 3 == 0 }
        })
        .collect()
}

/// Another process with a worker, and a pipe to it.
struct Peer {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts this program as the peer for a test.
    fn start(test: &str, settings: &[(&str, &str)]) -> Self {
        let settings: Vec<_> =
            settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut child = Command::new(env::current_exe().unwrap())
            .env("DTYPE_UCX_PEER", test)
            .args(settings)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, to, from: BufReader::new(from) }
    }

    /// Sends this worker's address to the peer, and receives the peer's.
    fn exchange(&mut self, worker: &Worker<Single>) -> WorkerAddress {
        exchange(worker, &mut self.to, &mut self.from)
    }

    fn finish(mut self) {
        let status = self.child.wait().unwrap();
        assert!(status.success(), "the peer: {status}");
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn exchange(
    worker: &Worker<Single>,
    to: &mut impl Write,
    from: &mut impl BufRead,
) -> WorkerAddress {
    let mut hex = String::new();
    for byte in worker.address().unwrap().to_bytes() {
        write!(hex, "{byte:02x}").unwrap();
    }
    writeln!(to, "{hex}").unwrap();
    to.flush().unwrap();
    let mut line = String::new();
    from.read_line(&mut line).unwrap();
    let bytes: Vec<u8> = (0..line.trim().len() / 2)
        .map(|at| u8::from_str_radix(&line[2 * at..2 * at + 2], 16).unwrap())
        .collect();
    address_of(&bytes).unwrap()
}

fn context(settings: &[(&str, &str)]) -> Context {
    Context::with_settings(settings.iter().copied()).unwrap()
}

fn worker(settings: &[(&str, &str)]) -> Worker<Single> {
    context(settings).worker().unwrap()
}

/// How the bytes of a message lie in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Contiguous,
    /// Blocks of 8192 bytes with gaps between.
    Blocks,
    /// Records with 5 bytes of data in 8.
    Records,
}

const FORMS: [Form; 3] = [Form::Contiguous, Form::Blocks, Form::Records];

impl Form {
    /// A type of `size` bytes.
    fn ty(self, size: usize) -> Committed {
        let byte = Type::basic(Basic::U8);
        let (block, stride) = match self {
            Self::Contiguous => (size.max(1), size.max(1) as i64),
            Self::Blocks => (8192, 8200),
            Self::Records => (5, 8),
        };
        let (whole, rest) = ((size / block) as u64, (size % block) as u64);
        let blocks = Type::vector(whole, block as u64, stride, &byte).unwrap();
        let rest_at = whole as i64 * stride;
        Type::structure(&[1, rest], &[0, rest_at], &[blocks, byte]).unwrap().commit()
    }
}

/// One message.
#[derive(Clone, Copy, Debug)]
struct Case {
    size: usize,
    /// The form in the process that starts, and the form in its peer.
    forms: [Form; 2],
    /// Whether the receive is posted before the message is sent.
    expected: bool,
}

fn cases() -> Vec<Case> {
    let full = env::var_os("DTYPE_UCX_FULL").is_some();
    let mut cases = Vec::new();
    for size in SIZES {
        for (i, first) in FORMS.into_iter().enumerate() {
            for (j, second) in FORMS.into_iter().enumerate() {
                for expected in [true, false] {
                    // For long messages, each form occurs once on each side, with another form on the other side.
                    let few = size < 1 << 20 || (j == (i + 1) % 3 && expected == (i == 1));
                    let fewer = size < 16 << 20 || i == 2;
                    if full || few && fewer {
                        cases.push(Case { size, forms: [first, second], expected });
                    }
                }
            }
        }
    }
    cases
}

/// One of the two processes that send messages back and forth.
struct Side {
    worker: Worker<Single>,
    peer: Endpoint<Single>,
    /// 0 in the process that starts, and 1 in its peer.
    number: usize,
}

const DATA: u64 = 1;
const READY: u64 = 2;

impl Side {
    fn run(&self, index: usize, case: &Case) {
        let Case { size, forms, expected } = *case;
        let ty = forms[self.number].ty(size);
        let span = usize::try_from(ty.true_ub()).unwrap();
        let bytes: Vec<u8> = (0..size).map(|at| (at * 31 / 7 + index).to_le_bytes()[0]).collect();
        let mut memory = vec![0x55; span];
        ty.unpack(&bytes, &mut memory, 1).unwrap();
        for sender in 0..2 {
            if self.number == sender {
                self.send(&ty, &memory, expected);
            } else {
                let mut found = vec![0x55; span];
                self.receive(&ty, &mut found, size, expected);
                assert!(found == memory, "{case:?}: other bytes than were sent");
            }
        }
    }

    fn send(&self, ty: &Committed, memory: &[u8], expected: bool) {
        if expected {
            self.worker.recv::<()>(READY).unwrap();
        }
        self.peer.send(DATA, Elements::new(ty, memory, 1).unwrap()).unwrap();
    }

    fn receive(&self, ty: &Committed, memory: &mut [u8], size: usize, expected: bool) {
        let elements = ElementsMut::new(ty, memory, 1).unwrap();
        let received = if expected {
            self.worker
                .scope(|scope| {
                    let message = scope.recv_into(DATA, elements)?;
                    scope.send(&self.peer, READY, &[(); 0])?;
                    message.wait()
                })
                .unwrap()
                .unwrap()
        } else {
            while self.worker.incoming(DATA).is_none() {}
            self.worker.recv_into(DATA, elements).unwrap()
        };
        assert_eq!((received.tag, received.length), (DATA, size));
    }

    /// Any number of structs, by the functions for slices.
    fn structs(&self) {
        for (round, count) in (0..).zip([0, 1, 3, 300, 20_000]) {
            let items = particles(count, round);
            for sender in 0..2 {
                if self.number == sender {
                    self.peer.send(DATA, &items).unwrap();
                    self.peer.start_send(DATA, items.clone()).unwrap().wait().unwrap();
                } else {
                    let mut into = particles(count + 1, 77);
                    let last = into[count];
                    let received = self.worker.recv_into(DATA, &mut into).unwrap();
                    assert_eq!(received.records::<Particle>(), Ok(count));
                    assert!(into[..count] == items && into[count] == last);
                    assert!(self.worker.recv::<Particle>(DATA).unwrap().0 == items);
                }
            }
        }
    }
}

/// Returns once the other side has called this, too.
fn meet(side: &Side) {
    let met = side.worker.scope(|scope| {
        scope.recv_into(READY, &mut [(); 0])?;
        scope.send(&side.peer, READY, &[(); 0])?;
        Ok(())
    });
    met.unwrap();
}

fn every_form(side: &Side) {
    for (index, case) in cases().iter().enumerate() {
        if env::var_os("DTYPE_UCX_TRACE").is_some() {
            eprintln!("{}: {case:?}", side.number);
        }
        side.run(index, case);
    }
    side.structs();
    side.worker.flush().unwrap();
    // Neither process ends before the other one has received everything.
    meet(side);
}

/// The peer is killed while a message to it and a message from it are under way.
fn the_peer_dies(peer: &mut Peer, side: &Side) {
    side.worker.recv::<u8>(READY).unwrap();
    // The message shows that both are connected.
    side.peer.send(DATA, &[1_u8]).unwrap();
    side.peer.flush().unwrap();
    peer.child.kill().unwrap();
    peer.child.wait().unwrap();
    let start = Instant::now();
    let limit = Duration::from_secs(60);
    let error = loop {
        // Short messages may be buffered before UCX notices the loss.
        let sending = side.peer.start_send(DATA, vec![7_u8; 1 << 20]);
        let result = sending.and_then(|sending| match sending.wait_timeout(limit) {
            Ok(result) => result.map(drop),
            Err(sending) => panic!("a dead peer: neither sent nor refused: {sending:?}"),
        });
        match result {
            Err(error) => break error,
            Ok(()) => assert!(start.elapsed() < limit, "messages to a dead peer are sent"),
        }
    };
    assert!(matches!(error, Error::ConnectionLost { .. }), "{error:?}");
    while side.peer.failure().is_none() {
        side.worker.progress();
        assert!(start.elapsed() < limit, "a dead peer is not noticed: {error}");
    }
    assert!(matches!(side.peer.failure(), Some(Error::ConnectionLost { .. })));
    assert!(side.peer.send(DATA, &[1_u8]).is_err());
    // No message from the peer arrives either.
    let timeout = Duration::from_millis(50);
    let mut room = [0_u8; 10];
    let error = side.worker.recv_into_timeout(DATA, &mut room, timeout);
    assert_eq!(error, Err(Error::TimedOut { timeout }));
}

/// The peer closes its endpoint and its worker, and lives on. UCX may notice that, or may stop sending when there is no room:
/// then a request with a time limit returns. Everything can be dropped.
fn the_peer_closes(side: Side) {
    side.worker.recv::<u8>(READY).unwrap();
    let start = Instant::now();
    let limit = Duration::from_secs(5);
    let timeout = Duration::from_millis(500);
    let mut waiting = Vec::new();
    let error = loop {
        if start.elapsed() > limit {
            break None;
        }
        match side.peer.start_send(DATA, vec![1_u8; 1000]) {
            Err(error) => break Some(error),
            Ok(sending) => match sending.wait_timeout(timeout) {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => break Some(error),
                Err(sending) => {
                    waiting.push(sending);
                    break None;
                }
            },
        }
    };
    if let Some(error) = error {
        assert!(matches!(error, Error::ConnectionLost { .. }), "{error:?}");
    }
    let start = Instant::now();
    drop(waiting);
    drop(side);
    assert!(start.elapsed() < Duration::from_secs(100));
}

/// The process that is started again as the peer.
fn peer(test: &str) {
    let settings: Vec<String> = env::args().skip(1).collect();
    let settings: Vec<_> = settings.iter().filter_map(|setting| setting.split_once('=')).collect();
    let context = context(&settings);
    let worker = context.worker().unwrap();
    let address = exchange(&worker, &mut std::io::stdout(), &mut std::io::stdin().lock());
    match test {
        "forms" => {
            let peer = worker.connect(&address).unwrap();
            every_form(&Side { worker, peer, number: 1 });
        }
        "remote" => {
            let peer = worker.connect(&address).unwrap();
            remote::owner(&context, &Side { worker, peer, number: 1 });
        }
        "the owner dies" => {
            let peer = worker.connect_monitored(&address).unwrap();
            remote::victim(&context, &Side { worker, peer, number: 1 });
        }
        "the worker dies" => {
            let peer = worker.connect_monitored(&address).unwrap();
            remote::server(&context, &Side { worker, peer, number: 1 });
        }
        "active" => {
            let peer = worker.connect(&address).unwrap();
            active::every_form(&Side { worker, peer, number: 1 });
        }
        "dies" => {
            let peer = worker.connect_monitored(&address).unwrap();
            peer.send(READY, &[1_u8]).unwrap();
            peer.flush().unwrap();
            loop {
                worker.progress();
            }
        }
        "sender" => {
            let peer = worker.connect_monitored(&address).unwrap();
            worker.recv::<u8>(READY).unwrap();
            let _sending = peer.start_send_active(7, &1_u8, particles(200_000, 1)).unwrap();
            loop {
                worker.progress();
            }
        }
        "closes" => {
            let peer = worker.connect_monitored(&address).unwrap();
            peer.send(READY, &[1_u8]).unwrap();
            // The other side has connected, which it could not to a worker that is gone.
            let _ = std::io::stdin().lock().read_line(&mut String::new());
            peer.close().unwrap();
            drop(worker);
            // This process is still alive.
            let _ = std::io::stdin().lock().read_line(&mut String::new());
        }
        _ => {
            let connect = |monitored: bool| {
                let connected = if monitored {
                    worker.connect_monitored(&address)
                } else {
                    worker.connect(&address)
                };
                connected.unwrap()
            };
            assert!(scopes::peer(test, &worker, connect), "no test {test}");
        }
    }
}

/// Connections on which UCX notices a death.
const MONITORED: [(&str, &[(&str, &str)]); 2] = [
    ("sm", &[("TLS", "self,posix,cma"), ("MM_ERROR_HANDLING", "y"), ("KEEPALIVE_INTERVAL", "1s")]),
    ("tcp", &[("TLS", "self,tcp"), ("NET_DEVICES", "lo"), ("KEEPALIVE_INTERVAL", "1s")]),
];

/// Connections on which a scope fails.
const FAILING: [(&str, &[(&str, &str)]); 4] = [
    ("sm", &[("TLS", "self,sm"), ("MM_ERROR_HANDLING", "y"), ("PROTO_ENABLE", "n")]),
    ("sysv", &[("TLS", "self,sysv"), ("MM_ERROR_HANDLING", "y"), ("PROTO_ENABLE", "n")]),
    ("cma", &[("TLS", "self,posix,cma"), ("MM_ERROR_HANDLING", "y"), ("PROTO_ENABLE", "n")]),
    ("tcp", &[("TLS", "self,tcp"), ("NET_DEVICES", "lo"), ("PROTO_ENABLE", "n")]),
];

fn monitored(run: &mut dyn FnMut(String, &dyn Fn())) {
    for (transport, settings) in MONITORED {
        let old = &[settings, &[("PROTO_ENABLE", "n")]].concat();
        run(format!("the peer dies {transport}"), &|| {
            let mut peer = Peer::start("dies", old);
            let worker = worker(old);
            let endpoint = worker.connect_monitored(&peer.exchange(&worker)).unwrap();
            the_peer_dies(&mut peer, &Side { worker, peer: endpoint, number: 0 });
        });
        // With its new protocols, UCX 1.13 ends the program if there are messages (`connect_monitored`).
        let new = &[settings, &[("PROTO_ENABLE", "y")]].concat();
        for (protocols, settings) in [("", old), (" new protocols", new)] {
            run(format!("the owner dies {transport}{protocols}"), &|| {
                let mut peer = Peer::start("the owner dies", settings);
                let worker = worker(settings);
                let endpoint = worker.connect_monitored(&peer.exchange(&worker)).unwrap();
                remote::the_owner_dies(&mut peer, &Side { worker, peer: endpoint, number: 0 });
            });
        }
        run(format!("the worker dies {transport}"), &|| {
            let mut peer = Peer::start("the worker dies", old);
            let worker = worker(old);
            let endpoint = worker.connect_monitored(&peer.exchange(&worker)).unwrap();
            remote::the_worker_dies(&mut peer, &Side { worker, peer: endpoint, number: 0 });
        });
        run(format!("the sender dies {transport}"), &|| {
            let settings = [&old[..], &[("RNDV_THRESH", "0")]].concat();
            let mut peer = Peer::start("sender", &settings);
            let worker = worker(&settings);
            let endpoint = worker.connect_monitored(&peer.exchange(&worker)).unwrap();
            active::the_sender_dies(&peer, Side { worker, peer: endpoint, number: 0 });
        });
        run(format!("the peer closes {transport}"), &|| {
            let mut peer = Peer::start("closes", old);
            let worker = worker(old);
            let endpoint = worker.connect_monitored(&peer.exchange(&worker)).unwrap();
            writeln!(peer.to).unwrap();
            the_peer_closes(Side { worker, peer: endpoint, number: 0 });
        });
    }
}

fn main() {
    let watchdog = if env::var_os("DTYPE_UCX_FULL").is_some() { 6 * LIMIT } else { LIMIT };
    thread::spawn(move || {
        thread::sleep(watchdog);
        eprintln!("the test hangs");
        process::abort();
    });
    if let Ok(test) = env::var("DTYPE_UCX_PEER") {
        return peer(&test);
    }
    let filter = env::args().nth(1).filter(|argument| !argument.starts_with('-'));
    let selected = |name: &str| filter.as_ref().is_none_or(|part| name.contains(part.as_str()));
    let mut ran = 0;
    let mut run = |name: String, test: &dyn Fn()| {
        if selected(&name) {
            let start = Instant::now();
            test();
            println!("{name}: ok, {:.1} s", start.elapsed().as_secs_f64());
            ran += 1;
        }
    };
    for (transport, settings) in TRANSPORTS {
        for (protocol, more) in PROTOCOLS {
            run(format!("forms {transport} {protocol}"), &|| {
                let settings = [settings, more].concat();
                let mut peer = Peer::start("forms", &settings);
                let worker = worker(&settings);
                let endpoint = worker.connect(&peer.exchange(&worker)).unwrap();
                every_form(&Side { worker, peer: endpoint, number: 0 });
                peer.finish();
            });
            run(format!("active {transport} {protocol}"), &|| {
                let settings = [settings, more].concat();
                let mut peer = Peer::start("active", &settings);
                let worker = worker(&settings);
                let endpoint = worker.connect(&peer.exchange(&worker)).unwrap();
                active::every_form(&Side { worker, peer: endpoint, number: 0 });
                peer.finish();
            });
            run(format!("remote memory {transport} {protocol}"), &|| {
                let settings = [settings, more].concat();
                let mut peer = Peer::start("remote", &settings);
                let worker = worker(&settings);
                let endpoint = worker.connect(&peer.exchange(&worker)).unwrap();
                let side = Side { worker, peer: endpoint, number: 0 };
                remote::user(&side, transport != "tcp");
                peer.finish();
            });
        }
    }
    for (transport, settings) in FAILING {
        for (halo, failure, monitored) in scopes::cases() {
            let name = scopes::test(halo, failure, monitored);
            run(format!("a scope fails {transport} {name}"), &|| {
                scopes::both(settings, halo, failure, monitored);
            });
        }
        let settings = [settings, &[("PROTO_ENABLE", "y")]].concat();
        let (halo, failure) = (scopes::Halo::Short, scopes::Failure::BeforeSend);
        run(format!("a scope fails {transport} new protocols"), &|| {
            scopes::both(&settings, halo, failure, false);
        });
    }
    monitored(&mut run);
    if ran == 0 {
        eprintln!("no test has {:?} in its name", filter.as_deref().unwrap_or_default());
        exit(1);
    }
}
