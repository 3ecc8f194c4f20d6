//! Messages from a process to itself: received, refused, cancelled, and leaked.

mod scopes;

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::mem;
use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Wake};
use std::thread;
use std::time::{Duration, Instant};

use dtype_runtime::{Basic, Buffer, BufferMut, Datatype, Type};
use dtype_ucx::{
    ActiveMessage, Context, Elements, ElementsMut, Endpoint, Error, Multi, Received, Sending,
    Single, Tags, Worker,
};

use crate::alone::alone;
use crate::encoded::address_of;

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

fn particles(count: usize) -> Vec<Particle> {
    (0..u32::try_from(count).unwrap())
        .map(|i| {
            let x = f64::from(i);
            Particle { position: [x, -x, 0.5 * x], charge: i.to_le_bytes()[0].cast_signed() }
        })
        .collect()
}

fn setup() -> (Worker<Single>, Endpoint<Single>) {
    let context = Context::with_settings([("TLS", "self")]).unwrap();
    let worker = context.worker().unwrap();
    let endpoint = worker.connect(&worker.address().unwrap()).unwrap();
    (worker, endpoint)
}

/// [`setup`] with a protocol in which the receiver fetches the data.
fn rendezvous() -> (Worker<Single>, Endpoint<Single>) {
    let settings = [("TLS", "self"), ("RNDV_THRESH", "0")];
    let worker = Context::with_settings(settings).unwrap().worker().unwrap();
    let endpoint = worker.connect(&worker.address().unwrap()).unwrap();
    (worker, endpoint)
}

#[test]
fn structs_arrive_without_their_padding() {
    let (worker, endpoint) = setup();
    for count in [0, 1, 7, 300, 20_000] {
        let items = particles(count);
        let sending = endpoint.start_send(3, items.clone()).unwrap();
        let (came, received) = worker.recv::<Particle>(3).unwrap();
        assert_eq!(came, items);
        assert_eq!(received, Received { tag: 3, length: 25 * count });
        assert_eq!(received.records::<Particle>(), Ok(count));
        assert_eq!(sending.wait().unwrap(), items);
    }
}

#[test]
fn a_shorter_message_leaves_the_rest_of_the_room() {
    let (worker, endpoint) = setup();
    let nothing = Particle { position: [9.0; 3], charge: 9 };
    let mut room = [nothing; 5];
    endpoint.send(3, &particles(2)).unwrap();
    let received = worker.recv_into(3, &mut room).unwrap();
    assert_eq!(received.records::<Particle>(), Ok(2));
    assert_eq!(room[..2], particles(2));
    assert_eq!(room[2..], [nothing; 3]);

    let mut room = [Checked { value: 7, valid: true }; 3];
    endpoint.send(3, &[Checked { value: 8, valid: false }]).unwrap();
    worker.recv_into(3, &mut room).unwrap();
    assert_eq!(room.map(|record| record.value), [8, 7, 7]);
}

#[test]
fn a_message_that_is_too_long_is_an_error_and_consumed() {
    for (worker, endpoint) in [setup(), rendezvous()] {
        let column = Type::vector(2, 1, 2, &Type::basic(Basic::U8)).unwrap().commit();
        let blocks = Type::vector(2, 10_000, 10_001, &Type::basic(Basic::U8)).unwrap().commit();
        let mut memory = vec![0x55_u8; 20_001];
        for unexpected in [false, true] {
            for form in 0..5 {
                let mut bytes = [0x55_u8; 4];
                let mut records = [Checked { value: 7, valid: true }; 2];
                let mut items = [Particle { position: [9.0; 3], charge: 9 }; 2];
                let elements = match form {
                    0 => ElementsMut::from(&mut bytes),
                    1 => ElementsMut::from(&mut records),
                    2 => ElementsMut::from(&mut items),
                    3 => ElementsMut::new(&column, &mut bytes, 1).unwrap(),
                    _ => ElementsMut::new(&blocks, &mut memory, 1).unwrap(),
                };
                let room = elements.packed_size();
                let too_long = vec![1_u8; room + 1];
                let sending;
                let error = if unexpected {
                    sending = endpoint.start_send(3, too_long).unwrap();
                    while worker.incoming(3).is_none() {}
                    worker.recv_into(3, elements)
                } else {
                    let mut waiting = Some(too_long);
                    let mut held = None;
                    let result = worker.scope(|scope| {
                        let message = scope.recv_into(3, elements)?;
                        held = Some(endpoint.start_send(3, waiting.take().unwrap())?);
                        message.wait()
                    });
                    sending = held.unwrap();
                    result.map(|received| received.unwrap())
                };
                assert_eq!(error, Err(Error::TooLong { room }), "{form} {unexpected}");
                sending.wait().unwrap();
                assert_eq!(bytes, [0x55; 4]);
                assert_eq!(records[1].value, 7);
                assert_eq!(items[1].charge, 9);
            }
        }
        assert_eq!(memory, vec![0x55; 20_001]);
        assert_eq!(worker.incoming(Tags::ALL), None);
        let receiving = worker.start_recv::<u16>(3, 2).unwrap();
        endpoint.send(3, &[1_u16, 2, 3]).unwrap();
        assert_eq!(receiving.wait(), Err(Error::TooLong { room: 4 }));
        // The error does not affect the next message.
        let sending = endpoint.start_send(3, vec![1_u16, 2]).unwrap();
        assert_eq!(worker.recv::<u16>(3).unwrap().0, [1, 2]);
        sending.wait().unwrap();
    }
}

/// UCX writes fragments until there is no room. Checked records are received in a buffer of their own.
#[test]
fn a_message_in_fragments_that_is_too_long_is_written_in_part() {
    let settings = [("TLS", "sm"), ("RNDV_THRESH", "inf")];
    let context = Context::with_settings(settings).unwrap();
    let [from, to]: [Worker<Single>; 2] = [(); 2].map(|()| context.worker().unwrap());
    let endpoint = from.connect(&to.address().unwrap()).unwrap();
    let before = vec![Checked { value: 7, valid: true }; 6000];
    let (mut bytes, mut records) = (vec![0x55_u8; 30_000], before.clone());
    let room = 30_000;
    for checked in [false, true] {
        let sending = endpoint.start_send(3, vec![1_u8; 40_000]).unwrap();
        let elements: ElementsMut<'_> =
            if checked { (&mut records).into() } else { (&mut bytes).into() };
        let received = to.scope(|scope| {
            let message = scope.recv_into(3, elements)?;
            while !sending.is_complete() {
                from.progress();
                to.progress();
            }
            message.wait()
        });
        assert_eq!(received, Err(Error::TooLong { room }));
    }
    let written = bytes.iter().position(|&byte| byte != 1).unwrap_or(room);
    assert!(bytes[written..].iter().all(|&byte| byte == 0x55), "from the start, and then nothing");
    assert_eq!(records, before);
    assert_eq!(to.incoming(Tags::ALL), None);
}

#[test]
fn invalid_values_are_refused_and_nothing_is_written() {
    let (worker, endpoint) = setup();
    let invalid = |error: Error| {
        matches!(error, Error::Datatype(dtype_runtime::Error::InvalidValue { record: 1, .. }))
    };
    // Two records of five bytes. The `bool` of the second is 2, which is invalid.
    let bytes = [1, 0, 0, 0, 1, 2, 0, 0, 0, 2_u8];
    let before = [Checked { value: 7, valid: true }; 2];
    let mut records = before;
    endpoint.send(3, &bytes).unwrap();
    assert!(invalid(worker.recv_into(3, &mut records).unwrap_err()));
    assert_eq!(records, before);
    endpoint.send(3, &bytes).unwrap();
    assert!(invalid(worker.recv::<Checked>(3).unwrap_err()));
    let receiving = worker.start_recv::<Checked>(3, 2).unwrap();
    endpoint.send(3, &bytes).unwrap();
    assert!(invalid(receiving.wait().unwrap_err()));
    let error = worker.scope(|scope| {
        scope.recv_into(3, &mut records)?;
        scope.send(&endpoint, 3, &bytes)?;
        Ok(())
    });
    assert!(invalid(error.unwrap_err()));
    assert_eq!(records, before);
    // A type that accepts all bytes takes the same message.
    endpoint.send(3, &bytes).unwrap();
    assert_eq!(worker.recv::<[u8; 5]>(3).unwrap().0.len(), 2);
}

#[test]
fn a_message_of_incomplete_records_is_refused() {
    let (worker, endpoint) = setup();
    let refused = |error, actual, record| {
        let expected = dtype_runtime::Error::PartialRecord { actual, record };
        assert_eq!(error, Err(Error::Datatype(expected)));
    };
    let mut records = [Checked { value: 7, valid: true }; 2];
    let mut numbers = [0_u16; 2];
    endpoint.send(3, &[1_u8; 6]).unwrap();
    refused(worker.recv_into(3, &mut records).map(drop), 6, 5);
    assert_eq!(records, [Checked { value: 7, valid: true }; 2]);
    endpoint.send(3, &[1_u8; 3]).unwrap();
    refused(worker.recv_into(3, &mut numbers).map(drop), 3, 2);
    endpoint.send(3, &[1_u8; 3]).unwrap();
    refused(worker.recv::<u16>(3).map(drop), 3, 2);
    endpoint.send(3, &[1_u8; 3]).unwrap();
    refused(worker.recv::<()>(3).map(drop), 3, 0);
    let receiving = worker.start_recv::<u16>(3, 2).unwrap();
    endpoint.send(3, &[1_u8; 3]).unwrap();
    refused(receiving.wait().map(drop), 3, 2);
    // Instances of a type may be incomplete, as in MPI.
    let pair = Type::contiguous(2, &Type::basic(Basic::U16)).unwrap().commit();
    let mut memory = [0_u8; 4];
    endpoint.send(3, &[1_u8; 3]).unwrap();
    worker.recv_into(3, ElementsMut::new(&pair, &mut memory, 1).unwrap()).unwrap();
    assert_eq!(memory, [1, 1, 1, 0]);
    assert_eq!(worker.incoming(Tags::ALL), None);
}

#[test]
fn types_with_an_origin() {
    let (worker, endpoint) = setup();
    // A matrix of 3 × 4, backwards, column by column.
    let column = Type::vector(3, 1, -4, &Type::basic(Basic::U8)).unwrap();
    let columns = Type::resized(&column, 0, -1).unwrap().commit();
    let matrix = *b"abcdefghijkl";
    let elements = Elements::new(&columns, Buffer::new(&matrix).origin(11), 4).unwrap();
    assert_eq!(elements.packed_size(), 12);
    endpoint.send(3, elements).unwrap();
    assert_eq!(worker.recv::<[u8; 12]>(3).unwrap().0, [*b"lhdkgcjfbiea"]);

    let mut copy = [b'.'; 12];
    endpoint.send(3, b"lhdkgc").unwrap();
    let elements = ElementsMut::new(&columns, BufferMut::new(&mut copy).origin(11), 4).unwrap();
    assert_eq!(worker.recv_into(3, elements).unwrap().length, 6);
    assert_eq!(&copy, b"..cd..gh..kl");

    // The memory is one byte too short.
    let error = ElementsMut::new(&columns, BufferMut::new(&mut copy[1..]).origin(10), 4);
    let expected = dtype_runtime::Error::OutOfBounds { start: -1, end: 11, len: 11 };
    assert_eq!(error.unwrap_err(), Error::Datatype(expected));
    let error = ElementsMut::new(&columns, BufferMut::new(&mut copy[..11]).origin(11), 4);
    let expected = dtype_runtime::Error::OutOfBounds { start: 0, end: 12, len: 11 };
    assert_eq!(error.unwrap_err(), Error::Datatype(expected));
    assert!(Elements::new(&columns, Buffer::new(&copy[..11]).origin(11), 4).is_err());
    ElementsMut::new(&columns, &mut copy[..0], 0).unwrap();

    let twice = Type::resized(&Type::basic(Basic::U16), 0, 1).unwrap().commit();
    let error = ElementsMut::new(&twice, &mut copy, 2).unwrap_err();
    assert_eq!(error, Error::Datatype(dtype_runtime::Error::Overlap { count: 2 }));
    endpoint.send(3, Elements::new(&twice, b"abc", 2).unwrap()).unwrap();
    assert_eq!(worker.recv::<u8>(3).unwrap().0, b"abbc");
}

/// Packed copies, generic datatypes and lists of blocks on either side. Neither side knows the form of the other.
#[test]
fn all_forms_of_one_message() {
    let (worker, endpoint) = setup();
    // An element has 25 packed bytes, so these are 25, 4075, 4100 and 25 000 bytes.
    for sent in [1, 163, 164, 1000] {
        for room in [sent, sent + 1, 164, 2000].into_iter().filter(|&room| room >= sent) {
            let (items, nothing) = (particles(sent), Particle { position: [9.0; 3], charge: 9 });
            let sending = endpoint.start_send(3, items.clone()).unwrap();
            let mut came = vec![nothing; room];
            let received = worker.recv_into(3, &mut came).unwrap();
            assert_eq!(received.length, 25 * sent);
            assert!(came[..sent] == items && came[sent..].iter().all(|&rest| rest == nothing));
            sending.wait().unwrap();
        }
    }

    // Blocks of 1, 100 and 9000 bytes: every second one in a memory of bytes.
    for (block, blocks) in [(1, 3), (1, 4096), (1, 4097), (100, 41), (9000, 3), (9000, 40)] {
        let [len, count] = [block, blocks].map(|number: usize| number as u64);
        let layout = Type::vector(count, len, 2 * len.cast_signed(), &Type::basic(Basic::U8));
        let layout = layout.unwrap().commit();
        let memory: Vec<u8> = (0..=250).cycle().take(2 * block * blocks).collect();
        let size = block * blocks;
        let expected: Vec<u8> =
            memory.chunks(2 * block).flat_map(|both| &both[..block]).copied().collect();
        let in_place = |length: usize| -> Vec<u8> {
            let mut all = vec![0xAA; memory.len()];
            for (to, from) in all.chunks_mut(2 * block).zip(expected[..length].chunks(block)) {
                to[..from.len()].copy_from_slice(from);
            }
            all
        };

        worker
            .scope(|scope| {
                scope.send(&endpoint, 3, Elements::new(&layout, &memory, 1)?)?;
                assert_eq!(worker.recv::<u8>(3)?.0, expected);
                Ok(())
            })
            .unwrap();
        for length in [0, 1, size / 2, size - 1, size] {
            let mut came = vec![0xAA; memory.len()];
            worker
                .scope(|scope| {
                    scope.send(&endpoint, 3, &expected[..length])?;
                    let elements = ElementsMut::new(&layout, &mut came, 1)?;
                    assert_eq!(worker.recv_into(3, elements)?.length, length);
                    Ok(())
                })
                .unwrap();
            assert!(came == in_place(length), "{length} bytes in blocks of {block}");
        }
    }
}

#[test]
fn types_without_data() {
    let (worker, endpoint) = setup();
    endpoint.send(3, &[(); 5]).unwrap();
    assert_eq!(worker.recv::<()>(3).unwrap().1.length, 0);
    endpoint.send(3, &[0_u64; 0]).unwrap();
    assert_eq!(worker.recv_into(3, &mut [(); 2]).unwrap().length, 0);
    endpoint.send(3, &[Checked { value: 0, valid: true }; 0]).unwrap();
    assert_eq!(worker.recv_into(3, &mut [Checked { value: 0, valid: true }; 0]).unwrap().length, 0);
}

#[test]
fn tags_select() {
    let (worker, endpoint) = setup();
    for tag in [0x11, 0x21, 0x12] {
        endpoint.send(tag, &[tag]).unwrap();
    }
    let low = Tags { tag: 2, mask: 0xF };
    assert_eq!(worker.recv::<u64>(low).unwrap(), (vec![0x12], Received { tag: 0x12, length: 8 }));
    assert_eq!(worker.incoming(0x21_u64), Some(Received { tag: 0x21, length: 8 }));
    assert_eq!(worker.recv::<u64>(Tags::ALL).unwrap().0, [0x11]);
    let mut one = [0_u64];
    assert_eq!(worker.recv_into(Tags::ALL, &mut one).unwrap().tag, 0x21);
}

#[test]
fn receives_without_a_message_time_out() {
    let (worker, endpoint) = setup();
    let timeout = Duration::from_millis(20);
    let mut room = [0_u16; 3];
    let start = Instant::now();
    let timed_out = Err(Error::TimedOut { timeout });
    assert_eq!(worker.recv_into_timeout(3, &mut room, timeout), timed_out);
    assert_eq!(worker.recv_timeout::<u16>(3, timeout).map(drop), Err(Error::TimedOut { timeout }));
    let receiving = worker.start_recv::<u16>(3, 2).unwrap();
    let receiving = receiving.wait_timeout(timeout).unwrap_err();
    assert!(start.elapsed() >= 3 * timeout && !receiving.is_complete());
    // The first receive was cancelled, so the last one gets the message.
    endpoint.send(3, &[5_u16]).unwrap();
    assert_eq!(receiving.wait_timeout(Duration::MAX).unwrap().unwrap().0, [5]);
    assert_eq!(room, [0; 3]);
}

/// A sender announces a long message and then does nothing. UCX keeps the memory, and the next message is received.
#[test]
fn a_message_that_does_not_arrive_in_time_is_given_up() {
    alone("loopback::a_message_that_does_not_arrive_in_time_is_given_up", || {
        let settings = [("TLS", "tcp"), ("NET_DEVICES", "lo"), ("RNDV_THRESH", "0")];
        for (protocols, monitored) in [("n", true), ("y", false)] {
            let settings = settings.into_iter().chain([("PROTO_ENABLE", protocols)]);
            let context = Context::with_settings(settings).unwrap();
            let [from, to]: [Worker<Single>; 2] = [(); 2].map(|()| context.worker().unwrap());
            let connect = |one: &Worker<Single>, other: &Worker<Single>| {
                let address = other.address().unwrap();
                if monitored { one.connect_monitored(&address) } else { one.connect(&address) }
            };
            let (there, back) = (connect(&from, &to).unwrap(), connect(&to, &from).unwrap());
            for size in [10_000, 100_000_usize] {
                let timeout = Duration::from_millis(20);
                let late = Err(Error::TimedOut { timeout });
                let mut sending: Vec<_> =
                    [1_u8, 2].map(|byte| there.start_send(3, vec![byte; 4 * size])).into();
                while to.incoming(3).is_none() {
                    from.progress();
                }
                // Packed records, and bytes received in place.
                assert_eq!(to.recv_timeout::<[bool; 4]>(3, timeout).map(drop), late);
                while to.incoming(3).is_none() {
                    from.progress();
                }
                assert_eq!(to.recv_timeout::<u32>(3, timeout).map(drop), late);
                // New memory would reuse the receive's memory if that were freed.
                let other = vec![0xAB_u8; 4 * size];
                sending.push(there.start_send(3, vec![7; size]));
                let next = to.start_recv::<u8>(3, size).unwrap();
                for sending in sending {
                    let sending = sending.unwrap();
                    while !sending.is_complete() {
                        from.progress();
                        to.progress();
                    }
                    sending.wait().unwrap();
                }
                assert!(next.wait().unwrap().0 == vec![7; size]);
                assert!(other.iter().all(|&byte| byte == 0xAB));
            }
            drop(back);
        }
    });
}

#[test]
fn a_dropped_receive_is_cancelled() {
    let (worker, endpoint) = setup();
    for _ in 0..1000 {
        drop(worker.start_recv::<Particle>(3, 10).unwrap());
    }
    endpoint.send(3, &particles(2)).unwrap();
    assert_eq!(worker.recv::<Particle>(3).unwrap().0, particles(2));
}

#[test]
fn dropped_and_leaked_sends_arrive() {
    for (worker, endpoint) in [setup(), rendezvous()] {
        for leak in [false, true] {
            let sending = endpoint.start_send(3, particles(10_000)).unwrap();
            if leak {
                mem::forget(sending);
            } else {
                drop(sending);
            }
            // New memory would reuse the messages' memory if that were freed.
            let other = vec![0xAB_u8; 10_000 * size_of::<Particle>()];
            let (came, _) = worker.recv::<Particle>(3).unwrap();
            assert_eq!(came, particles(10_000));
            drop(other);
        }
    }
}

#[test]
fn a_leaked_receive_keeps_its_memory() {
    let (worker, endpoint) = setup();
    mem::forget(worker.start_recv::<u8>(3, 100_000).unwrap());
    let other = vec![0xAB_u8; 100_000];
    endpoint.send(3, &vec![1_u8; 100_000]).unwrap();
    worker.progress();
    assert_eq!(other, vec![0xAB; 100_000]);
    assert_eq!(worker.incoming(Tags::ALL), None);
}

#[test]
fn a_request_outlives_its_worker_and_endpoint() {
    let (worker, endpoint) = setup();
    let receiving = worker.start_recv::<u16>(3, 10).unwrap();
    let sending = endpoint.start_send(3, vec![1_u16, 2]).unwrap();
    drop((worker, endpoint));
    assert_eq!(receiving.wait().unwrap().0, [1, 2]);
    assert_eq!(sending.wait().unwrap(), [1, 2]);
}

#[test]
fn a_long_message_outlives_its_endpoint() {
    let (worker, endpoint) = rendezvous();
    let sending = endpoint.start_send(3, particles(10_000)).unwrap();
    while worker.incoming(3).is_none() {}
    drop(endpoint);
    assert!(worker.recv::<Particle>(3).unwrap().0 == particles(10_000));
    assert!(sending.wait().unwrap() == particles(10_000));
}

#[test]
fn closing_a_monitored_connection_cancels_long_messages() {
    close_before_the_end("self,tcp", "n", &Err(Error::Cancelled));
}

/// UCX 1.13 would end the program if a connection with its new protocols were closed by force.
#[test]
fn closing_a_monitored_connection_with_new_protocols_cancels_nothing() {
    alone("loopback::closing_a_monitored_connection_with_new_protocols_cancels_nothing", || {
        for transports in ["self,tcp", "tcp"] {
            close_before_the_end(transports, "yes", &Ok(vec![7; 10 << 20]));
        }
    });
}

/// Makes a monitored connection to this process, and announces a long message on it.
fn announced(
    transports: &str,
    protocols: &str,
) -> (Worker<Single>, Endpoint<Single>, Sending<u8, Single>) {
    let settings = [
        ("TLS", transports),
        ("NET_DEVICES", "lo"),
        ("RNDV_THRESH", "0"),
        ("PROTO_ENABLE", protocols),
    ];
    let worker: Worker<Single> = Context::with_settings(settings).unwrap().worker().unwrap();
    let endpoint = worker.connect_monitored(&worker.address().unwrap()).unwrap();
    let sending = endpoint.start_send(3, vec![7_u8; 10 << 20]).unwrap();
    while worker.incoming(3).is_none() {}
    (worker, endpoint, sending)
}

/// Closes a monitored connection while a long message is announced, partly received, or received. Each side gets the expected
/// result.
fn close_before_the_end(transports: &str, protocols: &str, expected: &Result<Vec<u8>, Error>) {
    for (begun, received) in [(true, true), (false, true), (true, false), (false, false)] {
        let (worker, endpoint, sending) = announced(transports, protocols);
        let receiving = begun.then(|| worker.start_recv::<u8>(3, 10 << 20).unwrap());
        drop(endpoint);
        if received {
            let came = match receiving {
                Some(receiving) => receiving.wait(),
                None => worker.recv(3),
            };
            assert!(came.map(|(items, _)| items) == *expected, "{transports} {begun}");
        }
        // If nobody receives the message and it is not cancelled, it never completes.
        if received || expected.is_err() {
            assert!(sending.wait() == *expected, "{transports} {begun} {received}");
        }
    }
}

/// The worker closes a leaked connection.
#[test]
fn a_monitored_connection_is_leaked() {
    let (_worker, endpoint, sending) = announced("self,tcp", "n");
    mem::forget(endpoint);
    drop(sending);
}

/// UCX 1.13 ends the program when it destroys a worker that has begun to send, with either kind of protocols.
#[test]
fn a_worker_is_dropped_with_messages_under_way() {
    alone("loopback::a_worker_is_dropped_with_messages_under_way", || {
        for transports in ["self", "sm", "tcp"] {
            for protocols in ["n", "y"] {
                for received in [false, true] {
                    let settings = [
                        ("TLS", transports),
                        ("PROTO_ENABLE", protocols),
                        ("NET_DEVICES", "lo"),
                        ("RNDV_THRESH", "0"),
                    ];
                    let context = Context::with_settings(settings).unwrap();
                    let worker: Worker<Single> = context.worker().unwrap();
                    let endpoint = worker.connect(&worker.address().unwrap()).unwrap();
                    let sending = endpoint.start_send(3, vec![1_u8; 10 << 20]).unwrap();
                    while worker.incoming(3).is_none() {}
                    if received {
                        drop(worker.start_recv::<u8>(3, 10 << 20).unwrap());
                    }
                    drop(sending);
                    drop(endpoint);
                    drop(worker);
                    drop(context);
                }
            }
        }
    });
}

/// Without the check, UCX would map a file that now has the number of the worker's memory.
#[test]
fn a_worker_that_is_gone_is_unreachable() {
    alone("loopback::a_worker_that_is_gone_is_unreachable", || {
        let context = Context::with_settings([("TLS", "self,posix")]).unwrap();
        let [worker, gone] = [(); 2].map(|()| context.worker::<Single>().unwrap());
        let address = gone.address().unwrap();
        drop(gone);
        let path = std::env::temp_dir().join(format!("dtype-ucx-{}", std::process::id()));
        std::fs::write(&path, []).unwrap();
        let files: Vec<_> = (0..40)
            .map(|_| std::fs::File::options().read(true).write(true).open(&path).unwrap())
            .collect();
        std::fs::remove_file(&path).unwrap();
        for connected in [worker.connect(&address), worker.connect_monitored(&address)] {
            let error = connected.map(drop).unwrap_err();
            assert!(matches!(error, Error::ConnectionLost { .. }), "{error}");
        }
        drop(files);
    });
}

/// A handler panics while this thread receives a message that nobody sends.
#[test]
fn a_panic_ends_a_function_that_waits() {
    alone("loopback::a_panic_ends_a_function_that_waits", || {
        let (worker, endpoint) = setup();
        let _handler = worker.handle_active(1, |_| panic!("in a handler")).unwrap();
        let (mut room, mut other) = ([0_u8; 4], [0_u8; 4]);
        let waits: [&mut dyn FnMut(); 3] = [
            &mut || drop(worker.recv_into(3, &mut room)),
            &mut || drop(worker.recv::<u8>(3)),
            &mut || drop(worker.scope(|scope| scope.recv_into(3, &mut other).map(drop))),
        ];
        for wait in waits {
            endpoint.send_active(1, &(), &[1_u8]).unwrap();
            let panic = catch_unwind(AssertUnwindSafe(wait)).unwrap_err();
            assert_eq!(panic.downcast_ref::<&str>(), Some(&"in a handler"));
        }
        // None of the receives is active any more.
        endpoint.send(3, &[7_u8; 4]).unwrap();
        assert_eq!(worker.recv::<u8>(3).unwrap().0, [7; 4]);
        assert_eq!((room, other), ([0; 4], [0; 4]));
    });
}

/// The sender announces a long message, and then makes no progress.
#[test]
fn a_receive_with_a_time_limit_ends_after_a_message_was_announced() {
    alone("loopback::a_receive_with_a_time_limit_ends_after_a_message_was_announced", || {
        let settings = [("TLS", "tcp"), ("NET_DEVICES", "lo"), ("RNDV_THRESH", "0")];
        let context = Context::with_settings(settings).unwrap();
        let [here, there] = [(); 2].map(|()| context.worker::<Single>().unwrap());
        let endpoint = there.connect(&here.address().unwrap()).unwrap();
        let items = particles(10_000);
        let sending = endpoint.start_send(3, items.clone()).unwrap();
        while here.incoming(3).is_none() {
            there.progress();
        }
        let mut room = particles(10_001);
        room.reverse();
        let before = room.clone();
        let timeout = Duration::from_millis(50);
        let error = here.recv_into_timeout(3, &mut room, timeout).unwrap_err();
        assert_eq!(error, Error::TimedOut { timeout });
        assert!(!sending.is_complete() && room == before);

        let short = here.connect(&here.address().unwrap()).unwrap();
        let _sending = short.start_send(4, vec![1_u8; 4]).unwrap();
        let mut few = [0_u8; 3];
        let error = here.recv_into_timeout(4, &mut few, Duration::from_secs(10)).unwrap_err();
        assert_eq!(error, Error::TooLong { room: 3 });
    });
}

/// A waker that counts its calls, and makes progress, which a waker may do.
struct Counting<'a>(Option<&'a Worker<Multi>>, AtomicUsize);

impl Wake for Counting<'static> {
    fn wake(self: Arc<Self>) {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.map(Worker::progress);
        panic!("a waker that panics");
    }
}

#[test]
fn requests_are_futures() {
    let context = Context::with_settings([("TLS", "self")]).unwrap();
    let worker: &'static Worker<Multi> = Box::leak(Box::new(context.worker().unwrap()));
    let endpoint = worker.connect(&worker.address().unwrap()).unwrap();
    let counting = Arc::new(Counting(Some(worker), AtomicUsize::new(0)));
    let waker = counting.clone().into();
    let mut task = std::task::Context::from_waker(&waker);
    let mut receiving = pin!(worker.start_recv::<u16>(3, 10).unwrap());
    assert!(receiving.as_mut().poll(&mut task).is_pending());
    assert!(receiving.as_mut().poll(&mut task).is_pending());
    let mut sending = pin!(endpoint.start_send(3, vec![4_u16]).unwrap());
    while !receiving.is_complete() {
        worker.progress();
    }
    assert_eq!(counting.1.load(Ordering::Relaxed), 1);
    let Poll::Ready(Ok((came, _))) = receiving.as_mut().poll(&mut task) else {
        panic!("it has completed")
    };
    assert_eq!(came, [4]);
    while !sending.is_complete() {
        worker.progress();
    }
    assert_eq!(sending.as_mut().poll(&mut task), Poll::Ready(Ok(vec![4])));
}

#[test]
fn a_worker_in_several_threads() {
    let context = Context::with_settings([("TLS", "self")]).unwrap();
    let worker = match context.worker::<Multi>() {
        Err(Error::Threads) => return println!("left out: this UCX has no threads"),
        worker => worker.unwrap(),
    };
    let endpoint = &worker.connect(&worker.address().unwrap()).unwrap();
    thread::scope(|threads| {
        for thread in 0..4_u64 {
            let worker = worker.clone();
            threads.spawn(move || {
                for round in 0..200 {
                    let items = particles(1 + round);
                    let sending = endpoint.start_send(thread, items.clone()).unwrap();
                    let mut came = particles(1000);
                    let received = worker.recv_into(thread, &mut came).unwrap();
                    assert_eq!(received.records::<Particle>(), Ok(items.len()));
                    assert_eq!(came[..items.len()], items);
                    sending.wait().unwrap();
                }
            });
        }
    });
}

/// UCX 1.13 ends the program when a receive completes while another thread cancels it.
#[test]
fn a_receive_is_dropped_while_its_message_arrives_in_another_thread() {
    alone("loopback::a_receive_is_dropped_while_its_message_arrives_in_another_thread", || {
        let context = Context::with_settings([("TLS", "self")]).unwrap();
        let worker = match context.worker::<Multi>() {
            Err(Error::Threads) => return println!("left out: this UCX has no threads"),
            worker => worker.unwrap(),
        };
        let endpoint = worker.connect(&worker.address().unwrap()).unwrap();
        let start = Instant::now();
        let lasts = || start.elapsed() < Duration::from_secs(1);
        thread::scope(|threads| {
            threads.spawn(|| {
                while lasts() {
                    endpoint.send(3, &[1_u8]).unwrap();
                    let _ = worker.recv_into_timeout(3, &mut [0_u8], Duration::ZERO);
                }
            });
            threads.spawn(|| {
                while lasts() {
                    drop(worker.start_recv::<u8>(3, 1).unwrap());
                }
            });
        });
    });
}

#[test]
fn settings_and_addresses_are_checked() {
    for (name, value) in [("RNDV_THRESH", "many"), ("TL\0S", "self"), ("TLS", "se\0lf")] {
        let error = Context::with_settings([(name, value)]).unwrap_err();
        assert_eq!(error, Error::Setting { name: name.to_owned(), value: value.to_owned() });
    }
    let (worker, _endpoint) = setup();
    let bytes = worker.address().unwrap().to_bytes();
    assert!(address_of(&bytes).is_ok());
    for len in 0..bytes.len() {
        assert!(address_of(&bytes[..len]).is_err());
    }
    for at in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[at] ^= 0x10;
        let error = address_of(&bytes).unwrap_err();
        assert!(matches!(error, Error::Address { .. }), "{error}");
    }
    assert_eq!(worker.events().map(drop), Err(Error::NoEvents));
    assert!(Context::library_version() >= (1, 13, 0));
}

#[test]
fn errors_are_readable() {
    let error = Context::with_settings([("TLS", "no_such_transport")])
        .and_then(|context| context.worker::<Single>().map(drop))
        .unwrap_err();
    let Error::Call { status, .. } = error else { panic!("{error:?}") };
    assert!(status.code() < 0 && !status.is_connection_lost(), "{error}");
    assert!(error.to_string().starts_with("ucp_"), "{error}");
    assert_eq!(
        Error::TooLong { room: 8 }.to_string(),
        "the message is too long: there is room for 8 bytes"
    );
}
