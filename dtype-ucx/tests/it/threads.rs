//! A worker that moves between threads.

use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;

use dtype_runtime::Datatype;
use dtype_ucx::{Context, Detached, Endpoint, Serialized, Worker};

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Particle {
    position: [f64; 3],
    fixed: bool,
}

fn particles(count: usize) -> Vec<Particle> {
    (0..u32::try_from(count).unwrap())
        .map(|i| Particle { position: [f64::from(i); 3], fixed: i % 3 == 0 })
        .collect()
}

fn setup(threshold: &str) -> (Worker<Serialized>, Endpoint<Serialized>) {
    let settings = [("TLS", "self"), ("RNDV_THRESH", threshold)];
    let worker: Worker<Serialized> = Context::with_settings(settings).unwrap().worker().unwrap();
    let endpoint = worker.connect(&worker.address().unwrap()).unwrap();
    (worker, endpoint)
}

#[test]
fn a_worker_moves_with_its_messages_and_handlers() {
    for threshold in ["inf", "0"] {
        let (worker, endpoint) = setup(threshold);
        let came = Arc::new(Mutex::new(Vec::new()));
        let all = came.clone();
        let handler = worker.handle_active(1, move |message| {
            all.lock().unwrap().push((thread::current().id(), message.recv::<Particle>()));
        });
        handler.unwrap().keep();
        let mut detached = worker.detach(vec![endpoint]).unwrap();
        let mut threads = Vec::new();
        for round in 0..8 {
            let (to, from) = mpsc::channel::<Detached>();
            let before = detached;
            let thread = thread::spawn(move || {
                let (worker, mut endpoints) = before.attach();
                let items = particles(1000 * round);
                let [endpoint] = &endpoints[..] else { panic!("one endpoint") };
                if round > 0 {
                    // The message was under way when the worker left the previous thread.
                    assert!(worker.recv::<Particle>(2).unwrap().0 == particles(1000));
                }
                endpoint.send_active(1, &(), &items).unwrap();
                while worker.progress() {}
                // The message is under way when the worker moves.
                drop(endpoint.start_send(2, particles(1000)).unwrap());
                endpoints.push(worker.connect(&worker.address().unwrap()).unwrap());
                endpoints.truncate(1);
                to.send(worker.detach(endpoints).unwrap()).unwrap();
                thread::current().id()
            });
            detached = from.recv().unwrap();
            threads.push(thread.join().unwrap());
        }
        // Another thread only drops the worker, with its handler.
        thread::spawn(move || drop(detached)).join().unwrap();
        assert_eq!(Arc::strong_count(&came), 1);
        let came = came.lock().unwrap();
        for (round, (thread, (caller, items))) in threads.iter().zip(&*came).enumerate() {
            assert_eq!(thread, caller);
            assert!(items.as_ref().unwrap() == &particles(1000 * round));
        }
        assert_eq!(came.len(), 8);
    }
}

#[test]
fn a_worker_with_endpoints_requests_or_handlers_stays() {
    let (worker, endpoint) = setup("0");
    let refused = |worker: Worker<Serialized>, endpoints: Vec<_>| {
        let count = endpoints.len();
        let (worker, endpoints) = worker.detach(endpoints).map(drop).unwrap_err();
        assert_eq!(endpoints.len(), count);
        (worker, endpoints)
    };
    let clone = worker.clone();
    let (worker, endpoints) = refused(worker, vec![endpoint]);
    drop(clone);
    // The worker's endpoint.
    let (worker, _) = refused(worker, Vec::new());
    // A request of the worker.
    let receiving = worker.start_recv::<u8>(1, 10).unwrap();
    let (worker, endpoints) = refused(worker, endpoints);
    drop(receiving);
    let sending = endpoints[0].start_send(1, vec![1_u8]).unwrap();
    let (worker, endpoints) = refused(worker, endpoints);
    drop(sending);
    // A handler of the worker.
    let handler = worker.handle_active(1, |_| {}).unwrap();
    let (worker, endpoints) = refused(worker, endpoints);
    drop(handler);
    // Another worker's endpoint is refused in place of the worker's own.
    let (other, foreign) = setup("0");
    let (worker, _) = refused(worker, vec![foreign]);
    drop((endpoints, other));
    let (worker, endpoints) = worker.detach(Vec::new()).unwrap().attach();
    assert!(endpoints.is_empty());
    assert_eq!(worker.recv::<u8>(1).unwrap().0, [1]);
}
