//! The end of a scope.

use super::*;

#[test]
fn a_scope_that_is_left_early_cancels_its_receives() {
    let (worker, endpoint) = setup();
    let mut room = particles(3);
    let error = worker.scope(|scope| {
        scope.recv_into(3, &mut room)?;
        Err::<(), _>(Error::Threads)
    });
    assert_eq!(error, Err(Error::Threads));
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        worker.scope(|scope| {
            scope.recv_into(3, &mut room)?;
            panic!("in a scope");
            #[expect(unreachable_code, reason = "the type of the result")]
            Ok(())
        })
    }));
    assert!(panicked.is_err());
    // Neither receive is active any more.
    room.fill(Particle { position: [0.0; 3], charge: 0 });
    endpoint.send(3, &particles(2)).unwrap();
    assert_eq!(worker.incoming(3).map(|message| message.length), Some(50));
    assert_eq!(room[1].charge, 0);
}

/// The long message of a scope that fails is still sent, because the same scope receives it.
#[test]
fn a_scope_that_fails_sends_and_receives_to_the_end() {
    alone("loopback::scopes::a_scope_that_fails_sends_and_receives_to_the_end", || {
        for settings in [&[("TLS", "self")][..], &[("TLS", "tcp"), ("NET_DEVICES", "lo")]] {
            for panics in [false, true] {
                let context = Context::with_settings(settings.iter().copied()).unwrap();
                let worker = context.worker::<Single>().unwrap();
                let endpoint = worker.connect(&worker.address().unwrap()).unwrap();
                let items = particles(100_000);
                let mut room = particles(100_000);
                room.reverse();
                let mut other = [0_u8; 4];
                let result = catch_unwind(AssertUnwindSafe(|| {
                    worker.scope(|scope| {
                        scope.recv_into(3, &mut room)?;
                        scope.recv_into(4, &mut other)?;
                        scope.send(&endpoint, 3, &items)?;
                        assert!(!panics, "in a scope");
                        Err::<(), _>(Error::Threads)
                    })
                }));
                assert_eq!(result.ok(), (!panics).then_some(Err(Error::Threads)));
                assert!(room == items, "{settings:?}");
            }
        }
    });
}

/// Nobody receives the messages of the scope, and nobody sends the messages that it receives.
#[test]
fn a_scope_ends_with_its_time_limit() {
    alone("loopback::scopes::a_scope_ends_with_its_time_limit", || {
        let settings = [("TLS", "tcp"), ("NET_DEVICES", "lo"), ("PROTO_ENABLE", "n")];
        let context = Context::with_settings(settings).unwrap();
        let worker = context.worker::<Single>().unwrap();
        assert_eq!(worker.time_limit(), Duration::from_secs(30));
        let timeout = Duration::from_millis(100);
        worker.set_time_limit(timeout);
        let address = worker.address().unwrap();
        let mut room = particles(3);
        let timed_out = worker.scope(|scope| scope.recv_into(3, &mut room).map(drop));
        assert_eq!(timed_out, Err(Error::TimedOut { timeout }));
        let timed_out = worker.scope(|scope| scope.recv_into(3, &mut room)?.wait().map(drop));
        assert_eq!(timed_out, Err(Error::TimedOut { timeout }));
        let items = particles(100_000);
        for bytes in [false, true] {
            for error in [Error::TimedOut { timeout }, Error::Threads] {
                let endpoint = worker.connect_monitored(&address).unwrap();
                let bystander = worker.connect(&address).unwrap();
                let bytes = bytes.then(|| vec![7_u8; 1 << 20]);
                let result = worker.scope(|scope| {
                    match &bytes {
                        Some(bytes) => scope.send(&endpoint, 3, bytes)?,
                        None => scope.send(&endpoint, 3, &items)?,
                    };
                    if error == Error::Threads { Err(error.clone()) } else { Ok(()) }
                });
                assert_eq!(result, Err(error));
                // The connection is closed, and its failure says so.
                assert!(matches!(endpoint.failure(), Some(Error::ConnectionLost { .. })));
                let lost = |result| matches!(result, Err(Error::ConnectionLost { .. }));
                assert!(lost(endpoint.send(3, &[1_u8])) && lost(endpoint.flush()));
                assert!(lost(worker.scope(|scope| scope.send(&endpoint, 3, &[1_u8]).map(drop))));
                assert!(lost(endpoint.start_send(3, vec![1_u8]).map(drop)));
                assert!(lost(endpoint.close()));
                // Other connections stay open.
                bystander.send(5, &[1_u8; 3]).unwrap();
                assert_eq!(worker.recv::<u8>(5).unwrap().0, [1; 3]);
            }
        }
    });
}

/// The scope closes the connection while other threads use it.
#[test]
fn a_scope_of_a_shared_worker_ends_with_its_time_limit() {
    alone("loopback::scopes::a_scope_of_a_shared_worker_ends_with_its_time_limit", || {
        let settings = [("TLS", "tcp"), ("NET_DEVICES", "lo"), ("PROTO_ENABLE", "n")];
        let context = Context::with_settings(settings).unwrap();
        let worker = context.worker::<Multi>().unwrap();
        worker.set_time_limit(Duration::from_millis(20));
        let address = worker.address().unwrap();
        let items = particles(100_000);
        for _ in 0..5 {
            let endpoint = worker.connect_monitored(&address).unwrap();
            thread::scope(|threads| {
                for thread in 0..3 {
                    let (worker, endpoint) = (&worker, &endpoint);
                    threads.spawn(move || {
                        loop {
                            let done = match thread {
                                0 => endpoint.send(5, &[1_u8; 8]),
                                1 => endpoint.start_send(5, vec![1_u8; 8]).map(drop),
                                _ => endpoint.flush(),
                            };
                            match done {
                                Ok(()) => {}
                                Err(Error::ConnectionLost { .. } | Error::Cancelled) => break,
                                Err(error) => panic!("{error}"),
                            }
                            while worker.incoming(5).is_some() {
                                let timeout = Duration::from_millis(20);
                                let _ = worker.recv_timeout::<u8>(5, timeout);
                            }
                        }
                    });
                }
                let result = worker.scope(|scope| {
                    scope.send(&endpoint, 3, &items)?;
                    Err::<(), _>(Error::Threads)
                });
                assert_eq!(result, Err(Error::Threads));
            });
        }
    });
}

/// On a connection that is not monitored, UCX does not give back the memory of a long message.
#[test]
fn a_scope_ends_the_process_before_it_frees_what_ucx_uses() {
    const MARK: &str = "DTYPE_UCX_ABORTS";
    const NAME: &str = "loopback::scopes::a_scope_ends_the_process_before_it_frees_what_ucx_uses";
    if std::env::var_os(MARK).is_some() {
        let (worker, endpoint) = rendezvous();
        worker.set_time_limit(Duration::from_millis(100));
        let items = particles(10_000);
        let _ = worker.scope(|scope| {
            scope.send(&endpoint, 3, &items)?;
            Err::<(), _>(Error::Threads)
        });
        std::process::exit(0);
    }
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    let child = child.args(["--exact", NAME, "--nocapture"]).env(MARK, "1").output().unwrap();
    assert_eq!(child.status.signal(), Some(6), "{}", child.status);
    let said = String::from_utf8_lossy(&child.stderr).into_owned();
    let cause = Error::Threads;
    assert!(said.contains(&format!("dtype-ucx: {cause}. 100ms or more later")), "{said}");
}

/// All requests are complete, and no message that has arrived is for this scope.
#[test]
fn a_scope_that_succeeds_makes_no_more_progress() {
    let (worker, endpoint) = setup();
    let calls = Rc::new(Cell::new(0));
    let (called, again) = (calls.clone(), worker.connect(&worker.address().unwrap()).unwrap());
    let handler = worker.handle_active(1, move |_| {
        called.set(called.get() + 1);
        again.send_active(1, &(), &[1_u8]).unwrap();
    });
    endpoint.send_active(1, &(), &[1_u8]).unwrap();
    worker.scope(|_| Ok(())).unwrap();
    assert_eq!(calls.get(), 0);
    drop(handler);
}

/// The connection is not monitored, so UCX could not give back the memory of the long message.
#[test]
fn a_scope_waits_longer_for_a_message_that_has_begun() {
    alone("loopback::scopes::a_scope_waits_longer_for_a_message_that_has_begun", || {
        let settings = [("TLS", "tcp"), ("NET_DEVICES", "lo"), ("RNDV_THRESH", "0")];
        let context = Context::with_settings(settings).unwrap();
        let here = context.worker::<Single>().unwrap();
        let there = context.worker::<Multi>().unwrap();
        let timeout = Duration::from_millis(100);
        here.set_time_limit(timeout);
        let back = [None, Some(here.connect(&there.address().unwrap()).unwrap())];
        for (tag, _back) in (1..).zip(back) {
            let endpoint = there.connect(&here.address().unwrap()).unwrap();
            let items = particles(10_000);
            let mut room = particles(10_000);
            room.reverse();
            let sending = endpoint.start_send(tag, items.clone()).unwrap();
            while here.incoming(tag).is_none() {
                there.progress();
            }
            thread::scope(|threads| {
                threads.spawn(|| {
                    thread::sleep(4 * timeout);
                    sending.wait().unwrap();
                });
                let result = here.scope(|scope| scope.recv_into(tag, &mut room).map(drop));
                assert_eq!(result, Err(Error::TimedOut { timeout }));
            });
            assert!(room == items);
        }
    });
}

/// One scope closes the connection by force while another scope sends on it.
#[test]
fn a_scope_says_that_its_connection_is_lost() {
    alone("loopback::scopes::a_scope_says_that_its_connection_is_lost", || {
        let settings = [("TLS", "tcp"), ("NET_DEVICES", "lo"), ("PROTO_ENABLE", "n")];
        let context = Context::with_settings(settings).unwrap();
        let worker = context.worker::<Multi>().unwrap();
        worker.set_time_limit(Duration::from_millis(200));
        let endpoint = worker.connect_monitored(&worker.address().unwrap()).unwrap();
        let items = particles(100_000);
        thread::scope(|threads| {
            let fails = threads.spawn(|| {
                worker.scope(|scope| {
                    scope.send(&endpoint, 3, &items)?;
                    Err::<(), _>(Error::Threads)
                })
            });
            thread::sleep(Duration::from_millis(50));
            let result = worker.scope(|scope| scope.send(&endpoint, 4, &items).map(drop));
            assert!(matches!(result, Err(Error::ConnectionLost { .. })), "{result:?}");
            assert_eq!(fails.join().unwrap(), Err(Error::Threads));
        });
    });
}

/// It would wait forever: no thread makes progress with the other worker.
#[test]
fn a_scope_refuses_endpoints_of_other_workers() {
    alone("loopback::scopes::a_scope_refuses_endpoints_of_other_workers", || {
        let (worker, _endpoint) = rendezvous();
        let (other, foreign) = rendezvous();
        let items = particles(10_000);
        let error = worker.scope(|scope| scope.send(&foreign, 3, &items).map(drop));
        assert_eq!(error, Err(Error::OtherWorker));
        let error = worker.scope(|scope| scope.send_active(&foreign, 3, &(), &items).map(drop));
        assert_eq!(error, Err(Error::OtherWorker));
        assert_eq!(other.incoming(Tags::ALL), None);
    });
}

#[test]
fn a_scope_returns_the_first_error_that_was_not_returned() {
    let (worker, endpoint) = setup();
    let (mut short, mut long) = ([0_u8; 1], [0_u8; 4]);
    let result = worker.scope(|scope| {
        let first = scope.recv_into(1, &mut short)?;
        let second = scope.recv_into(2, &mut long)?;
        scope.send(&endpoint, 1, &[1_u8; 2])?;
        let sent = scope.send(&endpoint, 2, &[1_u8; 3])?;
        assert_eq!(first.wait(), Err(Error::TooLong { room: 1 }));
        // An error is returned only once.
        assert_eq!(first.wait(), Ok(None));
        assert_eq!(second.wait(), Ok(Some(Received { tag: 2, length: 3 })));
        sent.wait()
    });
    assert_eq!(result, Ok(None));
    assert_eq!(long, [1, 1, 1, 0]);
    let result = worker.scope(|scope| {
        scope.recv_into(1, &mut short)?;
        scope.send(&endpoint, 1, &[1_u8; 2])?;
        Ok(())
    });
    assert_eq!(result, Err(Error::TooLong { room: 1 }));
}

/// A scope closes the connection by force, while requests of all kinds are under way on it and none of them can end.
#[test]
fn a_lost_connection_is_one_error_for_all_operations() {
    alone("loopback::scopes::a_lost_connection_is_one_error_for_all_operations", || {
        let settings =
            [("TLS", "tcp"), ("NET_DEVICES", "lo"), ("PROTO_ENABLE", "n"), ("RNDV_THRESH", "1000")];
        let context = Context::with_settings(settings).unwrap();
        let [worker, other] = [(); 2].map(|()| context.worker::<Single>().unwrap());
        worker.set_time_limit(Duration::from_millis(100));
        let endpoint = worker.connect_monitored(&other.address().unwrap()).unwrap();
        let back = other.connect_monitored(&worker.address().unwrap()).unwrap();
        let memory = context.register(&vec![0_u64; 3000]).unwrap();
        let remote = endpoint.remote_memory::<u64>(&other.serve(&memory).unwrap()).unwrap();
        let column = Type::vector(1000, 1, 3, &Type::basic(Basic::U64)).unwrap().commit();
        let column = remote.strided(&column, 0, 1).unwrap();
        let bytes = vec![7_u8; 16 << 20];

        // Long messages from the other worker, announced and not fetched.
        let fetching = Rc::new(RefCell::new(None));
        let mine = fetching.clone();
        let keep = move |message: ActiveMessage<'_, Single>| {
            *mine.borrow_mut() = Some(message.start_recv::<u8>());
        };
        let _handler = worker.handle_active(1, keep).unwrap();
        let theirs = [
            back.start_send(3, bytes.clone()).unwrap(),
            back.start_send_active(1, &(), bytes.clone()).unwrap(),
        ];
        while worker.incoming(3).is_none() || fetching.borrow().is_none() {
            other.progress();
        }
        let receiving = worker.start_recv::<u8>(3, 16 << 20).unwrap();
        let fetching = fetching.borrow_mut().take().unwrap().unwrap();
        let sending = endpoint.start_send(4, bytes.clone()).unwrap();
        let active = endpoint.start_send_active(2, &(), bytes.clone()).unwrap();
        column.put(&[1_u64; 1000]).unwrap();
        let failed = worker.scope(|scope| {
            scope.send(&endpoint, 3, &bytes)?;
            Err::<(), _>(Error::Threads)
        });
        assert_eq!(failed, Err(Error::Threads));

        let results = [
            sending.wait().map(drop),
            active.wait().map(drop),
            receiving.wait().map(drop),
            fetching.wait().map(drop),
            worker.flush(),
            endpoint.flush(),
            endpoint.send(4, &bytes),
            endpoint.send_active(2, &(), &bytes),
            endpoint.start_send(4, bytes.clone()).map(drop),
            endpoint.start_send_active(2, &(), bytes.clone()).map(drop),
            worker.scope(|scope| scope.send(&endpoint, 4, &bytes)?.wait().map(drop)),
            remote.put(0, &[1]),
            remote.get(0..1).map(drop),
            column.put(&[1_u64; 1000]),
            column.get(&mut [1_u64; 1000]),
            endpoint.remote_memory::<u64>(&memory.key().unwrap()).map(drop),
        ];
        drop(remote);
        let results = results.into_iter().chain([endpoint.close()]);
        for (operation, result) in results.enumerate() {
            let lost = matches!(result, Err(Error::ConnectionLost { .. }));
            assert!(lost, "operation {operation}: {result:?}");
        }
        // The endpoint is gone, and with it what the worker could not deliver.
        assert_eq!(worker.flush(), Ok(()));
        drop((worker, theirs, back));
    });
}
