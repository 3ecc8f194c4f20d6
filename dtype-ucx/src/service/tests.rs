//! Messages that no worker of this crate sends, to a worker that serves memory.

use std::time::{Duration, Instant};

use dtype_runtime::pack;

use super::*;
use crate::service::wire::{GET, OF_BLOCKS, PUT, Row};
use crate::{Context, Endpoint, Registered, Single, Worker};

const LEN: usize = 1000;

struct Setup {
    endpoint: Endpoint<Single>,
    worker: Worker<Single>,
    memory: Registered<u8>,
    number: u64,
}

fn setup(settings: &[(&str, &str)]) -> Setup {
    let context = Context::with_settings(settings.iter().copied()).unwrap();
    let worker = context.worker::<Single>().unwrap();
    let endpoint = worker.connect(&worker.address().unwrap()).unwrap();
    let memory = context.register(&[1_u8; LEN]).unwrap();
    worker.serve(&memory).unwrap();
    let number = memory.served().number();
    Setup { endpoint, worker, memory, number }
}

const TRANSPORTS: [&[(&str, &str)]; 6] = [
    &[("TLS", "self")],
    &[("TLS", "self,tcp"), ("NET_DEVICES", "lo")],
    &[("TLS", "posix")],
    &[("TLS", "posix"), ("PROTO_ENABLE", "y")],
    &[("TLS", "tcp"), ("NET_DEVICES", "lo"), ("PROTO_ENABLE", "y")],
    &[("TLS", "self,tcp"), ("NET_DEVICES", "lo"), ("RNDV_THRESH", "0"), ("PROTO_ENABLE", "y")],
];

impl Setup {
    fn send(&self, id: u16, flags: u32, bytes: Vec<u8>) {
        let message = Message::new(self.worker.unfinished(), bytes, None);
        // SAFETY: the endpoint is alive.
        unsafe { send(self.endpoint.connection().handle(), id, flags, message) };
    }

    /// Sends a message that is only announced. UCX 1.13 does not return if the message is a list of blocks.
    fn announce(&self, id: u16, bytes: &'static [u8]) {
        let flags = raw::AM_SEND_FLAG_REPLY | 1 << 2; // UCP_AM_SEND_FLAG_RNDV
        let params = operation::params(raw::DATATYPE_BYTES, freed, ptr::null());
        let mask = params.mask | raw::OP_ATTR_FIELD_FLAGS;
        let params = raw::RequestParams { mask, flags, ..params };
        // SAFETY: the endpoint is alive, and the bytes live forever.
        unsafe {
            let (endpoint, start) = (self.endpoint.connection().handle(), bytes.as_ptr().cast());
            let (id, none, len) = (id.into(), ptr::null(), bytes.len());
            raw::ucp_am_send_nbx(endpoint, id, none, 0, start, len, &raw const params);
        }
    }

    /// The result of a get with this request, which is sent unchanged except for the token.
    fn ask(&self, flags: u32, request: Request, payload: Vec<u8>) -> Result<Vec<u8>, Error> {
        let token = crate::process::fresh();
        let reply = Arc::new(Mutex::new(None));
        let traffic = self.endpoint.traffic().clone();
        let bytes = usize::try_from(request.length).unwrap_or(usize::MAX);
        let pending = Pending::Get { traffic, bytes, reply: reply.clone() };
        lock(&self.worker.service().pending).insert(token, pending);
        self.send(REQUEST, flags, [pack(&[Request { token, ..request }]), payload].concat());
        let asked = PendingGet { reply };
        let limit = Duration::from_secs(60);
        self.worker.wait_for(Some(limit), || asked.reply()).expect("a reply")
    }

    /// Makes progress for some time.
    fn progress(&self) {
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(30) {
            self.worker.progress();
        }
    }

    /// Checks that a valid request is still served, and nothing else is pending.
    fn is_unharmed(&self) {
        let good = Request {
            token: 0,
            memory: self.number,
            base: 10,
            run: 1,
            position: 0,
            length: 90,
            parts: 1,
            kind: GET,
        };
        let found = self.ask(REPLIED, good, pack(&[Row { count: 90, stride: 11 }]));
        assert_eq!(found, Ok(vec![1; 90]));
        assert_eq!(self.memory.read(0..LEN).unwrap(), [1; LEN]);
        assert!(lock(&self.worker.service().pending).is_empty());
        self.endpoint.flush().unwrap();
        self.worker.flush().unwrap();
    }
}

const REPLIED: u32 = raw::AM_SEND_FLAG_REPLY | raw::AM_SEND_FLAG_EAGER;

unsafe extern "C" fn freed(request: *mut c_void, _: RawStatus, _: *mut c_void) {
    // SAFETY: the request has completed, nothing else frees it, and it is not used again.
    unsafe { raw::ucp_request_free(request) };
}

#[test]
fn damaged_requests_are_refused() {
    use Refusal::{Malformed, Outside, Unregistered};
    for settings in TRANSPORTS {
        let setup = setup(settings);
        let put = Request {
            token: 0,
            memory: setup.number,
            base: 0,
            run: 1,
            position: 0,
            length: 100,
            parts: 1,
            kind: PUT,
        };
        let row = pack(&[Row { count: 100, stride: 10 }]);
        let payload = [&row[..], &[9; 100]].concat();
        let refused = |request: Request, payload: &[u8]| match setup.ask(
            REPLIED,
            request,
            payload.to_vec(),
        ) {
            Err(Error::Refused { reason, .. }) => Some(reason),
            Ok(_) => None,
            Err(error) => panic!("{error}"),
        };
        for number in [0, 1, setup.number ^ 1, u64::MAX] {
            assert_eq!(refused(Request { memory: number, ..put }, &payload), Some(Unregistered));
        }
        for base in [10, 1000, -1, i64::MIN, i64::MAX] {
            assert_eq!(refused(Request { base, ..put }, &payload), Some(Outside), "{base}");
        }
        for length in [0, 99, 101, u64::MAX] {
            assert_eq!(refused(Request { length, ..put }, &payload), Some(Malformed));
        }
        for kind in [0, 3, GET, PUT + OF_BLOCKS, 255] {
            let reason = refused(Request { kind, ..put }, &payload);
            assert!(
                reason == Some(Malformed) || kind == PUT + OF_BLOCKS && reason == Some(Outside)
            );
        }
        for parts in [0, 2, u32::MAX] {
            assert_eq!(refused(Request { parts, ..put }, &payload), Some(Malformed));
        }
        assert_eq!(refused(put, &[]), Some(Malformed));
        assert_eq!(refused(put, &payload[1..]), Some(Malformed));
        assert_eq!(refused(put, &vec![0; 100_000]), Some(Malformed));
        setup.is_unharmed();
    }
}

#[test]
fn what_is_no_request_is_ignored() {
    for settings in TRANSPORTS {
        let setup = setup(settings);
        let request = Request {
            token: 5,
            memory: setup.number,
            base: 0,
            run: 1000,
            position: 0,
            length: 1000,
            parts: 0,
            kind: PUT,
        };
        let message = [pack(&[request]), vec![9; LEN]].concat();
        // A message without a reply endpoint, and one that is announced and never fetched.
        setup.send(REQUEST, raw::AM_SEND_FLAG_EAGER, message.clone());
        let damaged = [pack(&[Request { parts: 1, ..request }]), vec![9; LEN]].concat();
        setup.announce(REQUEST, damaged.leak());
        for len in 0..Request::SIZE {
            setup.send(REQUEST, REPLIED, message[..len].to_vec());
        }
        // Replies with unknown tokens, and messages that are not replies.
        for refusal in [0, 1, 255] {
            let message = [pack(&[Reply { token: 5, refusal }]), vec![9; 20_000]].concat();
            setup.announce(REPLY, message.clone().leak());
            for flags in [raw::AM_SEND_FLAG_EAGER, REPLIED] {
                setup.send(REPLY, flags, message.clone());
                setup.send(REPLY, flags, message[1..].to_vec());
                setup.send(REPLY, flags, message[..8].to_vec());
                setup.send(REPLY, flags, Vec::new());
            }
        }
        setup.progress();
        setup.is_unharmed();
    }
}

#[test]
fn a_reply_with_other_bytes_is_an_error() {
    let setup = setup(TRANSPORTS[0]);
    let service = setup.worker.service();
    for (refusal, payload, reason) in [
        (0, vec![7; 9], Refusal::Malformed),
        (0, vec![7; 11], Refusal::Malformed),
        (0, vec![], Refusal::Malformed),
        (200, vec![7; 10], Refusal::Malformed),
        (1, vec![7; 10], Refusal::Unregistered),
    ] {
        let reply = Arc::new(Mutex::new(None));
        let traffic = setup.endpoint.traffic().clone();
        let pending = Pending::Get { traffic, bytes: 10, reply: reply.clone() };
        lock(&service.pending).insert(77, pending);
        let message = [pack(&[Reply { token: 77, refusal }]), payload].concat();
        setup.send(REPLY, raw::AM_SEND_FLAG_EAGER, message);
        setup.progress();
        let found = lock(&reply).take();
        assert_eq!(found, Some(Err(Error::Refused { way: "get", bytes: 10, reason })));
    }
    setup.is_unharmed();
}

#[test]
fn nothing_waits_for_a_reply_on_a_lost_connection() {
    let setup = setup(TRANSPORTS[0]);
    let service = setup.worker.service();
    let traffic = setup.endpoint.traffic();
    let link = Arc::new(Link::new());
    let other = Arc::new(PackedTransfers::new(link.clone()));
    for traffic in [traffic, &other] {
        traffic.puts.fetch_add(1, Ordering::Relaxed);
        service.puts.fetch_add(1, Ordering::Relaxed);
        let pending = Pending::Put { traffic: traffic.clone(), bytes: 10 };
        lock(&service.pending).insert(crate::process::fresh(), pending);
    }
    assert!(!service.is_settled());
    link.fail(raw::ERR_UNREACHABLE);
    assert!(!service.is_settled());
    let refused = Failed::Refused(Refusal::NoMemory);
    let token = lock(&service.pending)
        .iter()
        .find(|(_, pending)| matches!(pending, Pending::Put { traffic: of, .. } if Arc::ptr_eq(of, traffic)))
        .map(|(&token, _)| token)
        .unwrap();
    service.complete(token, Err(refused));
    assert!(service.is_settled());
    assert_eq!((traffic.puts(), other.puts()), (0, 1));
    assert!(service.give_up(&other) && !service.give_up(&other));
    assert_eq!((other.puts(), service.puts.load(Ordering::Relaxed)), (0, 0));
    let reason = Refusal::NoMemory;
    assert_eq!(setup.endpoint.flush(), Err(Error::Refused { way: "put", bytes: 10, reason }));
    setup.is_unharmed();
}

/// UCX 1.13 fails at the greatest lengths of what it sends as one short message.
#[test]
fn messages_of_every_short_length() {
    for settings in TRANSPORTS {
        let setup = setup(settings);
        for length in (0..300).chain([1000, 8000, 8100, 8176, 8192, 8240, 8300, 100_000]) {
            let count = 1 + length / 2000;
            let blocks: Vec<(u64, u64)> = (0..count as u64)
                .map(|at| (at, if at + 1 < count as u64 { 500 } else { 0 }))
                .collect();
            // The reply has more bytes than were requested.
            let bytes: u64 = blocks.iter().map(|&(_, length)| length).sum();
            let get = Request {
                token: 0,
                memory: setup.number,
                base: 0,
                run: 0,
                position: 0,
                length: bytes,
                parts: u32::try_from(count).unwrap(),
                kind: GET | OF_BLOCKS,
            };
            let found = setup.ask(REPLIED, get, pack(&blocks));
            assert_eq!(found, Ok(vec![1; usize::try_from(bytes).unwrap()]));
            // Refused because of their lengths.
            let found = setup.ask(REPLIED, get, [pack(&blocks), vec![0; 1 + length]].concat());
            assert!(matches!(found, Err(Error::Refused { reason: Refusal::Malformed, .. })));
            // Replies of every length.
            let row = Request { run: 1, parts: 1, kind: GET, ..get };
            let row = Request { length: length.min(900) as u64, ..row };
            let found = setup.ask(REPLIED, row, pack(&[Row { count: 900, stride: 1 }]));
            assert_eq!(found, Ok(vec![1; length.min(900)]));
        }
        setup.is_unharmed();
    }
}
