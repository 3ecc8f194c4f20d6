//! When handlers are called and removed, and what they may do.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use dtype_ucx::{ActiveMessage, Context, Error, Fetching, Multi, Single, Worker};

use super::{ID, PROTOCOLS, Particle, collect, next, particles, setup};

#[test]
fn messages_without_a_handler_are_refused() {
    for threshold in PROTOCOLS {
        let (worker, endpoint) = setup(threshold);
        // No handler was set before.
        let sent = endpoint.send_active(u8::MAX, &(), &[1_u8]);
        assert_eq!(sent.is_err(), threshold == "0");
        // UCX knows the second id, because that had a handler.
        drop(worker.handle_active(1, |_| panic!("it was removed")).unwrap());
        for id in (0..=u8::MAX).filter(|id| id % 7 == 1 || *id == u8::MAX) {
            for length in [0, 1, 9000, 1 << 20] {
                let sent = endpoint.send_active(id, b"header", &vec![1_u8; length]);
                match sent {
                    Ok(()) => assert!(threshold != "0" || length == 0, "{id} {length}"),
                    Err(Error::Call { .. }) => assert!(threshold != "inf", "{id} {length}"),
                    Err(error) => panic!("{error}"),
                }
            }
        }
        while worker.progress() {}
    }
}

#[test]
fn a_handler_is_removed_with_its_messages() {
    for threshold in PROTOCOLS {
        let (worker, endpoint) = setup(threshold);
        let calls = Rc::new(Cell::new(0));
        let mine = calls.clone();
        let count = move |_: ActiveMessage<'_, Single>| mine.set(mine.get() + 1);
        let handler = worker.handle_active(ID, count.clone()).unwrap();
        assert_eq!(handler.id(), ID);
        let error = worker.handle_active(ID, count.clone()).map(drop);
        assert_eq!(error, Err(Error::HandlerExists { id: ID }));
        let other = worker.handle_active(ID + 1, count.clone()).unwrap();
        // The calls that send also deliver the messages, which are then queued for their handlers.
        let sending: Vec<_> = [ID, ID + 1, ID]
            .map(|id| endpoint.start_send_active(id, &(), particles(100)).unwrap())
            .into();
        drop(handler);
        for sending in sending {
            sending.wait().unwrap();
        }
        while worker.progress() {}
        assert_eq!(calls.get(), 1);
        let handler = worker.handle_active(ID, count).unwrap();
        endpoint.send_active(ID, &(), &particles(100)).unwrap();
        while calls.get() < 2 {
            worker.progress();
        }
        // The functions are dropped, so only the two handlers share the counter with this test.
        assert_eq!(Rc::strong_count(&calls), 3);
        drop((handler, other));
        assert_eq!(Rc::strong_count(&calls), 1);
    }
}

#[test]
fn a_handler_may_remove_itself() {
    let (worker, endpoint) = setup("0");
    let handler = Rc::new(RefCell::new(None));
    let (mine, calls) = (handler.clone(), Rc::new(Cell::new(0)));
    let counter = calls.clone();
    let made = worker.handle_active(ID, move |message| {
        drop(mine.take());
        counter.set(counter.get() + 1);
        assert_eq!(message.recv::<u8>().unwrap(), [5; 1000]);
    });
    *handler.borrow_mut() = Some(made.unwrap());
    endpoint.send_active(ID, &(), &[5_u8; 1000]).unwrap();
    assert_eq!((calls.get(), Rc::strong_count(&calls)), (1, 1));
    assert!(endpoint.send_active(ID, &(), &[5_u8; 1000]).is_err());
}

#[test]
fn a_kept_handler_lives_as_long_as_its_worker() {
    let (worker, endpoint) = setup("inf");
    let calls = Rc::new(Cell::new(0));
    let mine = calls.clone();
    worker.handle_active(ID, move |_| mine.set(mine.get() + 1)).unwrap().keep();
    endpoint.send_active(ID, &(), &[1_u8]).unwrap();
    while calls.get() == 0 {
        worker.progress();
    }
    drop((worker, endpoint));
    assert_eq!(Rc::strong_count(&calls), 1);
}

#[test]
fn a_handler_may_send_and_wait_and_is_not_called_meanwhile() {
    for threshold in PROTOCOLS {
        let (worker, endpoint) = setup(threshold);
        let reply = worker.connect(&worker.address().unwrap()).unwrap();
        let (running, calls) = (Cell::new(false), Rc::new(Cell::new(0)));
        let mine = calls.clone();
        let _handler = worker.handle_active(ID, move |message| {
            assert!(!running.replace(true), "a handler was called in a handler");
            let worker = message.worker().clone();
            let (round, items) = (message.header_as::<u8>().unwrap(), message.recv::<u16>());
            let items = items.unwrap();
            if round > 0 {
                // The message goes to this worker, because no other one could answer before this call returns.
                let sending = reply.start_send_active(ID, &(round - 1), items.clone()).unwrap();
                worker.progress();
                drop(sending);
            }
            drop(reply.start_send(u64::from(round), items).unwrap());
            worker.progress();
            mine.set(mine.get() + 1);
            running.set(false);
        });
        endpoint.start_send_active(ID, &3_u8, vec![1, 2, 3_u16]).unwrap().wait().unwrap();
        for round in (0..=3).rev() {
            assert_eq!(worker.recv::<u16>(round).unwrap().0, [1, 2, 3]);
        }
        while calls.get() < 4 {
            worker.progress();
        }
    }
}

#[test]
fn a_panic_of_a_handler_resumes_from_the_call() {
    let panic_of = |call: &mut dyn FnMut()| {
        let panic = catch_unwind(AssertUnwindSafe(call)).unwrap_err();
        *panic.downcast::<&str>().unwrap()
    };
    for threshold in PROTOCOLS {
        let (worker, endpoint) = setup(threshold);
        let calls = Rc::new(Cell::new(0));
        let mine = calls.clone();
        let handler = worker.handle_active(ID, move |_| {
            mine.set(mine.get() + 1);
            panic!("in a handler");
        });
        // `progress` resumes the panic.
        let sending = endpoint.start_send_active(ID, &(), vec![1_u8; 1000]).unwrap();
        let panicked = panic_of(&mut || {
            for _ in 0..1000 {
                worker.progress();
            }
        });
        assert_eq!((panicked, calls.get()), ("in a handler", 1));
        // The panic is resumed only once, and the message was refused.
        worker.progress();
        sending.wait().unwrap();
        // A function that waits resumes the panic at its end. The message was received.
        let sending = endpoint.start_send_active(ID, &(), vec![1_u8; 1000]).unwrap();
        let other = endpoint.start_send(3, vec![7_u8]).unwrap();
        let mut room = [0_u8];
        let panicked = panic_of(&mut || {
            worker.recv_into(3, &mut room).unwrap();
            worker.flush().unwrap();
            worker.progress();
        });
        assert_eq!((panicked, calls.get()), ("in a handler", 2));
        drop((sending, other));
        // A scope resumes the panic after the message has completed.
        let panicked = panic_of(&mut || {
            worker
                .scope(|scope| scope.send_active(&endpoint, ID, &(), &[1_u8; 1000]).map(drop))
                .unwrap();
            worker.progress();
        });
        assert_eq!((panicked, calls.get()), ("in a handler", 3));
        // If nothing is lent to UCX, functions that wait resume the panic at once.
        let long = Duration::from_secs(20);
        drop(endpoint.start_send_active(ID, &(), vec![1_u8; 1000]).unwrap());
        let panicked = panic_of(&mut || drop(worker.recv_timeout::<u8>(9, long)));
        assert_eq!((panicked, calls.get()), ("in a handler", 4));
        drop(endpoint.start_send_active(ID, &(), vec![1_u8; 1000]).unwrap());
        let panicked = panic_of(&mut || {
            drop(worker.start_recv::<u8>(9, 1).unwrap().wait_timeout(long));
        });
        assert_eq!((panicked, calls.get()), ("in a handler", 5));
        // Several panics become one. Dropping a handler or an endpoint resumes none.
        for _ in 0..2 {
            drop(endpoint.start_send_active(ID, &(), vec![1_u8; 1000]).unwrap());
        }
        drop(endpoint);
        drop(handler);
        let _ = catch_unwind(AssertUnwindSafe(|| worker.progress()));
        while worker.progress() {}
    }
}

#[test]
fn a_time_limit_holds_while_handlers_take_long() {
    let (worker, endpoint) = setup("inf");
    let endpoint = Rc::new(endpoint);
    let again = Rc::downgrade(&endpoint);
    let calls = Rc::new(Cell::new(0));
    let counter = calls.clone();
    let _handler = worker.handle_active(ID, move |_| {
        counter.set(counter.get() + 1);
        thread::sleep(Duration::from_millis(5));
        if let Some(endpoint) = again.upgrade() {
            endpoint.send_active(ID, &(), &[1_u8]).unwrap();
        }
    });
    endpoint.send_active(ID, &(), &[1_u8]).unwrap();
    let (timeout, start) = (Duration::from_millis(20), Instant::now());
    let late = worker.recv_timeout::<u8>(9, timeout).map(drop);
    assert_eq!(late, Err(Error::TimedOut { timeout }));
    assert!(start.elapsed() >= timeout);
    // Four calls take the time. Calls that begin after it are those of the last progress.
    assert!(calls.get() < 10, "{} calls", calls.get());
}

#[test]
fn handlers_of_a_worker_in_several_threads() {
    const THREADS: usize = 4;
    const ROUNDS: usize = 100;
    let context = Context::with_settings([("TLS", "self")]).unwrap();
    let worker = match context.worker::<Multi>() {
        Err(Error::Threads) => return println!("left out: this UCX has no threads"),
        worker => worker.unwrap(),
    };
    let endpoint = &worker.connect(&worker.address().unwrap()).unwrap();
    let calls = Arc::new(AtomicUsize::new(0));
    let sums = Arc::new(Mutex::new([0; THREADS]));
    let (counter, all) = (calls.clone(), sums.clone());
    let _handler = worker
        .handle_active(ID, move |message| {
            let thread = usize::from(message.header_as::<u8>().unwrap());
            let items = if thread.is_multiple_of(2) {
                message.recv::<Particle>()
            } else {
                message.start_recv::<Particle>().and_then(Fetching::wait)
            };
            let items = items.unwrap();
            assert!(items == particles(items.len()));
            all.lock().unwrap()[thread] += items.len();
            counter.fetch_add(1, Ordering::Relaxed);
        })
        .unwrap();
    // Every message for this handler is refused.
    let _other = worker.handle_active(ID + 1, |_| {}).unwrap();
    let counts = |round: usize| [1, 300, 20_000][round % 3];
    thread::scope(|threads| {
        for thread in 0..THREADS {
            let (worker, calls) = (worker.clone(), calls.clone());
            threads.spawn(move || {
                let header = u8::try_from(thread).unwrap();
                for round in 0..ROUNDS {
                    let items = particles(counts(round));
                    endpoint.send_active(ID, &header, &items).unwrap();
                    endpoint.send_active(ID + 1, &header, &items).unwrap();
                }
                while calls.load(Ordering::Relaxed) < THREADS * ROUNDS {
                    worker.progress();
                }
            });
        }
    });
    let expected: usize = (0..ROUNDS).map(counts).sum();
    assert_eq!(*sums.lock().unwrap(), [expected; THREADS]);
}

#[test]
fn a_worker_with_messages_does_not_sleep() {
    let context = Context::with_events([("TLS", "sm,tcp")]).unwrap();
    let worker: Worker<Single> = context.worker().unwrap();
    let endpoint = worker.connect(&worker.address().unwrap()).unwrap();
    let events = worker.events().unwrap();
    let (_handler, came) = collect(&worker, move |message| {
        // While one handler runs, no other one is called.
        while message.worker().progress() || !events.arm().unwrap() {}
        message.recv::<u8>()
    });
    let sleepy = worker.events().unwrap();
    for round in 0..100_u8 {
        let sending = endpoint.start_send_active(ID, &(), vec![round; 1000]).unwrap();
        let start = std::time::Instant::now();
        while came.borrow().is_empty() {
            // After this loop, a program would sleep on the descriptor.
            while worker.progress() || !sleepy.arm().unwrap() {}
            assert!(start.elapsed() < Duration::from_secs(60));
        }
        assert_eq!(next(&worker, &came), Ok(vec![round; 1000]));
        sending.wait().unwrap();
    }
}

/// One thread removes a handler, and another sets the next one, which gets all of its messages.
#[test]
fn removing_a_handler_does_not_refuse_messages_of_the_next_one() {
    let context = Context::with_settings([("TLS", "self")]).unwrap();
    let worker = match context.worker::<Multi>() {
        Err(Error::Threads) => return println!("left out: this UCX has no threads"),
        worker => worker.unwrap(),
    };
    let endpoint = &worker.connect(&worker.address().unwrap()).unwrap();
    let start = Instant::now();
    thread::scope(|threads| {
        for _ in 0..3 {
            let worker = worker.clone();
            threads.spawn(move || {
                while start.elapsed() < Duration::from_secs(3) {
                    let called = Arc::new(AtomicUsize::new(0));
                    let count = called.clone();
                    let handler = worker.handle_active(ID, move |_| {
                        count.fetch_add(1, Ordering::Relaxed);
                    });
                    let Ok(handler) = handler else { continue };
                    endpoint.send_active(ID, &(), &[1_u8]).unwrap();
                    while called.load(Ordering::Relaxed) == 0 {
                        worker.progress();
                        assert!(start.elapsed() < Duration::from_secs(60), "it was refused");
                    }
                    drop(handler);
                }
            });
        }
    });
}
