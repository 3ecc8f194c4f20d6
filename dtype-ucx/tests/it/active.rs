//! Active messages from a process to itself: received, refused, dropped, and left open.

mod handlers;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use dtype_runtime::{Basic, Buffer, BufferMut, Committed, Datatype, Type};
use dtype_ucx::{
    ActiveMessage, Context, Elements, ElementsMut, Endpoint, Error, Fetching, Handler, Single,
    Worker,
};

use crate::alone::alone;

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Particle {
    position: [f64; 3],
    charge: i8,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Checked {
    value: u32,
    valid: bool,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Step {
    time: f64,
    last: bool,
}

const ID: u8 = 7;

/// Settings of `RNDV_THRESH`: eager messages, UCX's own choice, and rendezvous.
const PROTOCOLS: [&str; 3] = ["inf", "auto", "0"];

fn setup(threshold: &str) -> (Worker<Single>, Endpoint<Single>) {
    let settings = [("TLS", "self"), ("RNDV_THRESH", threshold)];
    let worker = Context::with_settings(settings).unwrap().worker().unwrap();
    let endpoint = worker.connect(&worker.address().unwrap()).unwrap();
    (worker, endpoint)
}

fn particles(count: usize) -> Vec<Particle> {
    (0..u32::try_from(count).unwrap())
        .map(|i| {
            let x = f64::from(i);
            Particle { position: [x, -x, 0.5 * x], charge: i.to_le_bytes()[0].cast_signed() }
        })
        .collect()
}

fn checked(count: usize) -> Vec<Checked> {
    (0..u32::try_from(count).unwrap())
        .map(|value| Checked { value, valid: value % 3 == 0 })
        .collect()
}

/// The result of a handler for each message.
type Results<R> = Rc<RefCell<Vec<R>>>;

/// Sets a handler that collects the results of a function.
fn collect<R: 'static>(
    worker: &Worker<Single>,
    mut function: impl FnMut(ActiveMessage<'_, Single>) -> R + 'static,
) -> (Handler<Single>, Results<R>) {
    let results = Results::default();
    let mine = results.clone();
    let handler = worker.handle_active(ID, move |message| {
        let result = function(message);
        mine.borrow_mut().push(result);
    });
    (handler.unwrap(), results)
}

/// Makes progress until there is a result.
fn next<R>(worker: &Worker<Single>, results: &Results<R>) -> R {
    loop {
        if !results.borrow().is_empty() {
            return results.borrow_mut().remove(0);
        }
        worker.progress();
    }
}

#[test]
fn structs_arrive_with_a_header() {
    for threshold in PROTOCOLS {
        let (worker, endpoint) = setup(threshold);
        let (_handler, came) = collect(&worker, |message| {
            assert_eq!((message.id(), message.header().len()), (ID, 9));
            assert_eq!(message.length(), 25 * message.records::<Particle>().unwrap());
            (message.header_as::<Step>(), message.recv::<Particle>())
        });
        for count in [0, 1, 7, 329, 330, 20_000, 50_000] {
            let (step, items) = (Step { time: 0.5, last: count > 1 }, particles(count));
            endpoint.send_active(ID, &step, &items).unwrap();
            assert_eq!(next(&worker, &came), (Ok(step), Ok(items.clone())));

            let sending = endpoint.start_send_active(ID, &step, items.clone()).unwrap();
            assert_eq!(next(&worker, &came), (Ok(step), Ok(items.clone())));
            assert!(sending.wait().unwrap() == items);

            let result = worker.scope(|scope| {
                scope.send_active(&endpoint, ID, &step, &items)?;
                Ok(next(&worker, &came))
            });
            assert_eq!(result, Ok((Ok(step), Ok(items.clone()))));
        }
    }
}

/// Bytes that lie in memory as they are, in long blocks, and in short ones.
fn forms(size: usize) -> [Committed; 3] {
    [(size.max(1), 0), (8192, 8), (5, 3)].map(|(block, gap)| {
        let byte = Type::basic(Basic::U8);
        let stride = (block + gap) as i64;
        let (whole, rest) = ((size / block) as u64, (size % block) as u64);
        let blocks = Type::vector(whole, block as u64, stride, &byte).unwrap();
        let at = whole as i64 * stride;
        Type::structure(&[1, rest], &[0, at], &[blocks, byte]).unwrap().commit()
    })
}

#[test]
fn types_with_an_origin_in_every_form() {
    for threshold in PROTOCOLS {
        let (worker, endpoint) = setup(threshold);
        for size in [0, 1, 8239, 8240, 8241, 3 * 8192, 1 << 20] {
            let bytes: Vec<u8> =
                (0..size).map(|at: usize| (at * 31 / 7).to_le_bytes()[0]).collect();
            for sent in forms(size) {
                // The data begin 3 bytes after the start of the memory.
                let span = |ty: &Committed| 3 + usize::try_from(ty.true_ub()).unwrap();
                let mut memory = vec![0x55; span(&sent)];
                sent.unpack(&bytes, &mut memory[3..], 1).unwrap();
                for received in forms(size) {
                    let ty = received.clone();
                    let (_handler, came) = collect(&worker, move |message| {
                        let mut memory = vec![0x55; span(&ty)];
                        let room = BufferMut::new(&mut memory).origin(3);
                        let room = ElementsMut::new(&ty, room, 1).unwrap();
                        (message.recv_into(room), memory)
                    });
                    let elements = Elements::new(&sent, Buffer::new(&memory).origin(3), 1).unwrap();
                    endpoint.send_active(ID, b"", elements).unwrap();
                    let mut expected = vec![0x55; span(&received)];
                    received.unpack(&bytes, &mut expected[3..], 1).unwrap();
                    let (length, found) = next(&worker, &came);
                    assert_eq!(length, Ok(size));
                    assert!(found == expected, "{threshold} {size}");
                }
            }
        }
    }
}

#[test]
fn requests_own_the_records() {
    for threshold in PROTOCOLS {
        let (worker, endpoint) = setup(threshold);
        let (handler, came) = collect(&worker, |message| message.start_recv::<Particle>().unwrap());
        for count in [0, 1, 330, 50_000] {
            let items = particles(count);
            let sending = endpoint.start_send_active(ID, &(), items.clone()).unwrap();
            let fetching = next(&worker, &came);
            let fetching = match fetching.wait_timeout(Duration::ZERO) {
                Ok(came) => {
                    assert!(came.unwrap() == items);
                    continue;
                }
                Err(fetching) => fetching,
            };
            assert!(fetching.wait().unwrap() == items);
            assert!(sending.wait().unwrap() == items);
        }
        drop(handler);
        // Records whose values are checked.
        let (_handler, came) = collect(&worker, |message| {
            assert_eq!(message.records::<Checked>(), Ok(message.length() / 5));
            message.start_recv::<Checked>()
        });
        let sending = endpoint.start_send_active(ID, &(), checked(5000)).unwrap();
        assert!(next(&worker, &came).unwrap().wait().unwrap() == checked(5000));
        drop(sending);
        let invalid = vec![[1, 0, 0, 0, 2_u8]; 3000];
        let sending = endpoint.start_send_active(ID, &(), invalid).unwrap();
        let error = next(&worker, &came).and_then(Fetching::wait);
        assert!(is_invalid(&error.unwrap_err(), 0));
        drop(sending);
    }
}

fn is_invalid(error: &Error, at: usize) -> bool {
    matches!(
        error,
        Error::Datatype(dtype_runtime::Error::InvalidValue { record, .. }) if *record == at
    )
}

#[test]
fn invalid_values_are_refused_and_nothing_is_written() {
    for threshold in PROTOCOLS {
        let (worker, endpoint) = setup(threshold);
        let before = [Checked { value: 7, valid: true }; 2];
        let (_handler, came) = collect(&worker, move |message| {
            if message.header() == b"into" {
                let mut records = before;
                let error = message.recv_into(&mut records).unwrap_err();
                assert_eq!(records, before);
                error
            } else {
                message.recv::<Checked>().unwrap_err()
            }
        });
        // Two records of five bytes. The `bool` of the second is 2, which is invalid.
        let bytes = [1, 0, 0, 0, 1, 2, 0, 0, 0, 2_u8];
        for header in [b"into", b"recv"] {
            endpoint.send_active(ID, header, &bytes).unwrap();
            assert!(is_invalid(&next(&worker, &came), 1));
        }
    }
}

#[test]
fn lengths_that_do_not_fit_are_refused_and_nothing_is_written() {
    let partial =
        |actual, record| Error::Datatype(dtype_runtime::Error::PartialRecord { actual, record });
    for threshold in PROTOCOLS {
        let (worker, endpoint) = setup(threshold);
        let (handler, came) = collect(&worker, |message| {
            let column = Type::vector(2, 1, 2, &Type::basic(Basic::U8)).unwrap().commit();
            let mut bytes = [0x55_u8; 4];
            let mut records = [Checked { value: 7, valid: true }; 2];
            let mut items = [Particle { position: [9.0; 3], charge: 9 }; 2];
            let before = (records, items);
            let result = match message.header_as().unwrap() {
                0_u8 => message.recv_into(&mut bytes),
                1 => message.recv_into(&mut records),
                2 => message.recv_into(&mut items),
                3 => message.recv_into(ElementsMut::new(&column, &mut bytes, 1).unwrap()),
                4 => message.recv::<u16>().map(|items| items.len()),
                5 => message.recv::<Particle>().map(|items| items.len()),
                6 => message.recv::<()>().map(|items| items.len()),
                _ => message.start_recv::<Checked>().map(|_| 0),
            };
            assert_eq!((bytes, records, items), ([0x55; 4], before.0, before.1));
            result
        });
        for (form, length, error) in [
            (0_u8, 5, Error::TooLong { room: 4 }),
            (1, 11, Error::TooLong { room: 10 }),
            (2, 51, Error::TooLong { room: 50 }),
            (3, 3, Error::TooLong { room: 2 }),
            (3, 100_000, Error::TooLong { room: 2 }),
            (1, 6, partial(6, 5)),
            (2, 26, partial(26, 25)),
            (4, 3, partial(3, 2)),
            (5, 50_001, partial(50_001, 25)),
            (6, 1, partial(1, 0)),
            (7, 9, partial(9, 5)),
        ] {
            endpoint.send_active(ID, &form, &vec![1_u8; length]).unwrap();
            assert_eq!(next(&worker, &came), Err(error));
        }
        drop(handler);
        // If fewer records come than there is room for, the rest is unchanged.
        let (_handler, came) = collect(&worker, |message| {
            let mut records = [Checked { value: 7, valid: true }; 3];
            message.recv_into(&mut records).map(|length| (length, records[1]))
        });
        endpoint.send_active(ID, &(), &checked(1)).unwrap();
        assert_eq!(next(&worker, &came), Ok((5, Checked { value: 7, valid: true })));
        // A type without data.
        endpoint.send_active(ID, &(), &[(); 5]).unwrap();
        assert_eq!(next(&worker, &came).unwrap().0, 0);
    }
}

/// The headers here are short enough for UCX 1.13, which ends the program for some longer ones with its new protocols.
#[test]
fn headers_of_every_length() {
    alone("active::headers_of_every_length", || {
        for protocols in ["n", "y"] {
            for threshold in PROTOCOLS {
                let settings =
                    [("TLS", "self"), ("RNDV_THRESH", threshold), ("PROTO_ENABLE", protocols)];
                headers(&Context::with_settings(settings).unwrap().worker().unwrap());
            }
        }
    });
}

fn headers(worker: &Worker<Single>) {
    let endpoint = worker.connect(&worker.address().unwrap()).unwrap();
    let max = worker.max_header_len();
    assert!(max >= 1000, "{max}");
    let (_handler, came) = collect(worker, |message| {
        (message.header().to_vec(), message.header_as::<Step>(), message.recv::<u8>().unwrap())
    });
    let bytes: Vec<u8> = (0..=max).map(|at| at.to_le_bytes()[0]).collect();
    for len in [0, 1, 9, 63, 64, 65, 1000, max - 1, max] {
        for length in [0, 1, 100, max, max + 1, 5000, 2 * max, 20_000] {
            // Elements without gaps, and with gaps.
            for stride in [1, 2] {
                let ty = Type::vector(length as u64, 1, stride, &Type::basic(Basic::U8)).unwrap();
                let stride = usize::try_from(stride).unwrap();
                let memory: Vec<u8> =
                    (0..stride * length).map(|at| (at / 3).to_le_bytes()[0]).collect();
                let elements = Elements::new(&ty.commit(), &memory, 1).unwrap();
                endpoint.send_active(ID, &bytes[..len], elements).unwrap();
                let (header, step, came) = next(worker, &came);
                assert!(header == bytes[..len], "{len} {length}");
                assert!(came.iter().eq(memory.iter().step_by(stride)), "{len} {length} {stride}");
                assert!(step.is_err());
            }
        }
    }
    let error = endpoint.send_active(ID, &bytes[..], &[1_u8]);
    assert_eq!(error, Err(Error::HeaderTooLong { len: max + 1, max }));
    let error = endpoint.start_send_active(ID, &bytes[..], vec![1_u8]).map(drop);
    assert_eq!(error, Err(Error::HeaderTooLong { len: max + 1, max }));
    let error =
        worker.scope(|scope| scope.send_active(&endpoint, ID, &bytes[..], &[1_u8]).map(drop));
    assert_eq!(error, Err(Error::HeaderTooLong { len: max + 1, max }));
}

#[test]
fn a_message_that_is_not_received_is_refused() {
    for threshold in PROTOCOLS {
        let (worker, endpoint) = setup(threshold);
        let (_handler, came) = collect(&worker, |message| message.bytes().map(<[u8]>::len));
        for length in [0, 1, 9000, 1 << 20] {
            for _ in 0..20 {
                let sending = endpoint.start_send_active(ID, &(), vec![1_u8; length]).unwrap();
                let here = next(&worker, &came);
                let announced = here.is_none();
                assert!(here.is_none_or(|len| len == length));
                assert!(!announced || (threshold != "inf" && length > 0));
                assert!(announced || threshold != "0" || length == 0);
                assert_eq!(sending.wait().unwrap().len(), length);
            }
        }
    }
}

#[test]
fn a_worker_is_dropped_with_messages_that_were_not_received() {
    for threshold in PROTOCOLS {
        for length in [1, 9000, 1 << 20] {
            let (worker, endpoint) = setup(threshold);
            let (handler, calls) = collect(&worker, |message| message.length());
            // The calls that send also deliver the messages, which are then queued for their handlers.
            let sending = [1, 2]
                .map(|byte| endpoint.start_send_active(ID, b"header", vec![byte; length]).unwrap());
            handler.keep();
            drop(sending);
            drop(endpoint);
            drop(worker);
            // Dropping the worker dropped its handler, too.
            assert_eq!((calls.borrow().len(), Rc::strong_count(&calls)), (0, 1));
        }
    }
}

#[test]
fn a_worker_is_dropped_while_messages_are_fetched() {
    for threshold in PROTOCOLS {
        for leak in [false, true] {
            let (worker, endpoint) = setup(threshold);
            let (_handler, came) =
                collect(&worker, |message| message.start_recv::<Particle>().unwrap());
            let sending: Vec<_> = (0..3)
                .map(|_| endpoint.start_send_active(ID, &(), particles(50_000)).unwrap())
                .collect();
            let fetching: Vec<_> = (0..3).map(|_| next(&worker, &came)).collect();
            if leak {
                std::mem::forget((sending, fetching));
            } else {
                drop((fetching, sending));
            }
            // New memory would reuse the messages' memory if that were freed.
            let other = vec![0xAB_u8; 50_000 * size_of::<Particle>()];
            while worker.progress() {}
            assert!(other.iter().all(|&byte| byte == 0xAB));
            drop((worker, endpoint));
        }
    }
}

#[test]
fn a_message_outlives_its_endpoint() {
    for threshold in PROTOCOLS {
        let (worker, endpoint) = setup(threshold);
        let (_handler, came) =
            collect(&worker, |message| (message.length(), message.recv::<Particle>().unwrap()));
        let sending = endpoint.start_send_active(ID, &(), particles(1000)).unwrap();
        drop(endpoint);
        assert!(next(&worker, &came) == (25_000, particles(1000)));
        assert!(sending.wait().unwrap() == particles(1000));
    }
}

#[test]
fn closing_a_monitored_connection_cancels_long_messages() {
    close_while_fetching("self,tcp", "n", &Err(Error::Cancelled));
}

/// UCX 1.13 would end the program, or never fetch the message, if such a connection were closed by force.
#[test]
fn closing_a_monitored_connection_with_new_protocols_cancels_nothing() {
    alone("active::closing_a_monitored_connection_with_new_protocols_cancels_nothing", || {
        for transports in ["self,tcp", "tcp"] {
            close_while_fetching(transports, "y", &Ok(vec![7; 10 << 20]));
        }
    });
}

/// Closes a monitored connection before a message is fetched, and while it is fetched. Each side gets the expected result.
fn close_while_fetching(transports: &str, protocols: &str, expected: &Result<Vec<u8>, Error>) {
    for early in [true, false] {
        let settings = [
            ("TLS", transports),
            ("NET_DEVICES", "lo"),
            ("RNDV_THRESH", "0"),
            ("PROTO_ENABLE", protocols),
        ];
        let worker: Worker<Single> = Context::with_settings(settings).unwrap().worker().unwrap();
        let endpoint = worker.connect_monitored(&worker.address().unwrap()).unwrap();
        let sending = endpoint.start_send_active(ID, &(), vec![7_u8; 10 << 20]).unwrap();
        let endpoint = Rc::new(RefCell::new(Some(endpoint)));
        let mine = endpoint.clone();
        let (_handler, came) = collect(&worker, move |message| {
            if early {
                drop(mine.take());
            }
            message.start_recv::<u8>()
        });
        let fetching = next(&worker, &came);
        drop(endpoint.take());
        assert!(fetching.and_then(Fetching::wait) == *expected, "{transports} {early}");
        assert!(sending.wait() == *expected, "{transports} {early}");
    }
}
