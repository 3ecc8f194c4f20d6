//! The data of an operation live until both owners have finished with them, and no longer.

use std::rc::Rc;
use std::sync::Arc;
use std::task::{Wake, Waker};

use super::{Operation, params, receive_params};
use crate::raw;
use crate::request::Handle;
use crate::{Context, Single, Tags, Worker};

/// Memory to receive into, which counts its live instances.
struct Counted {
    memory: [u8; 16],
    _alive: Rc<()>,
}

type Receive = (Arc<Operation<Counted>>, Handle<Single>);

fn receive(worker: &Worker<Single>, alive: &Rc<()>) -> Receive {
    let Tags { tag, mask } = Tags::from(1);
    let data = Counted { memory: [0; 16], _alive: alive.clone() };
    // SAFETY: one operation is started, with the callback for receives of these data, which own the memory that UCX writes. The
    // worker stays in its thread, and so does the counter.
    let (operation, request) = unsafe {
        Operation::start(worker.unfinished(), data, |data: *mut Counted, user_data| {
            let callback = Operation::<Counted>::received;
            let params = receive_params(raw::DATATYPE_BYTES, callback, user_data);
            let memory = (&raw mut (*data).memory).cast();
            raw::ucp_tag_recv_nbx(worker.handle(), memory, 16, tag, mask, &raw const params)
        })
    };
    (operation, Handle::new(worker.clone(), request))
}

/// A worker, and the number of live data of operations, not counting the counter itself.
fn setup() -> (Worker<Single>, Rc<()>, impl Fn(&Rc<()>) -> usize) {
    let worker = Context::with_settings([("TLS", "self")]).unwrap().worker().unwrap();
    (worker, Rc::new(()), |alive| Rc::strong_count(alive) - 1)
}

#[test]
fn a_cancelled_operation_frees_its_data_at_once() {
    let (worker, alive, count) = setup();
    for _ in 0..100 {
        let (operation, handle) = receive(&worker, &alive);
        assert_eq!(count(&alive), 1);
        drop(operation);
        assert_eq!(count(&alive), 1, "UCX owns them, too");
        assert!(worker.unfinished().any());
        drop(handle);
        assert_eq!(count(&alive), 0);
        assert!(!worker.unfinished().any());
    }
}

#[test]
fn a_completed_operation_frees_its_data_with_the_last_owner() {
    let (worker, alive, count) = setup();
    let endpoint = worker.connect(&worker.address().unwrap()).unwrap();
    for expected in [true, false] {
        let early = expected.then(|| receive(&worker, &alive));
        endpoint.send(1, &[7_u8; 16]).unwrap();
        let (operation, handle) = early.unwrap_or_else(|| receive(&worker, &alive));
        let outcome = worker.wait(|| operation.outcome());
        assert_eq!((outcome.status, outcome.length), (raw::RawStatus::OK, 16));
        assert_eq!((count(&alive), Arc::strong_count(&operation)), (1, 1));
        // SAFETY: it has completed, and nothing else uses the data.
        assert_eq!(unsafe { operation.data_of_completed() }.memory, [7; 16]);
        assert!(!worker.unfinished().any());
        drop((operation, handle));
        assert_eq!(count(&alive), 0);
    }
}

#[test]
fn a_dropped_send_frees_its_data_when_it_completes() {
    let settings = [("TLS", "self"), ("RNDV_THRESH", "0")];
    let worker = Context::with_settings(settings).unwrap().worker::<Single>().unwrap();
    let endpoint = worker.connect(&worker.address().unwrap()).unwrap();
    let alive = Rc::new(());
    for _ in 0..100 {
        let data = Counted { memory: [7; 16], _alive: alive.clone() };
        // SAFETY: one operation is started, with the callback for sends of these data, which own the memory that UCX reads.
        let (operation, request) = unsafe {
            Operation::start(worker.unfinished(), data, |data: *mut Counted, user_data| {
                let callback = Operation::<Counted>::sent;
                let params = params(raw::DATATYPE_BYTES, callback, user_data);
                let memory = (&raw const (*data).memory).cast();
                raw::ucp_tag_send_nbx(
                    endpoint.connection().handle(),
                    memory,
                    16,
                    1,
                    &raw const params,
                )
            })
        };
        drop(operation);
        drop(Handle::new(worker.clone(), request));
        assert_eq!(Rc::strong_count(&alive), 2, "UCX reads them");
        assert!(worker.unfinished().any());
        assert_eq!(worker.recv::<u8>(1).unwrap().0, [7; 16]);
        while worker.progress() {}
        assert_eq!(Rc::strong_count(&alive), 1);
        assert!(!worker.unfinished().any());
    }
}

/// A waker that does nothing. Its instances can be counted.
struct Counting;

impl Wake for Counting {
    fn wake(self: Arc<Self>) {}
}

/// A callback in another thread may complete the operation while it is polled. Its share may be the last one and is dropped
/// inside UCX, so it must not contain user code.
#[test]
fn a_waker_that_comes_too_late_is_not_kept() {
    let (worker, alive, _) = setup();
    let (operation, handle) = receive(&worker, &alive);
    let counting = Arc::new(Counting);
    operation.set_waker(&Waker::from(counting.clone()));
    assert_eq!(Arc::strong_count(&counting), 2);
    // The callback takes it.
    drop(handle);
    assert_eq!(operation.outcome().map(|outcome| outcome.status), Some(raw::ERR_CANCELED));
    assert_eq!(Arc::strong_count(&counting), 1);
    operation.set_waker(&Waker::from(counting.clone()));
    assert_eq!(Arc::strong_count(&counting), 1);
}

#[test]
fn what_is_refused_at_once_frees_its_data() {
    let (worker, alive, count) = setup();
    let data = Counted { memory: [0; 16], _alive: alive.clone() };
    // SAFETY: no operation is started, as the result says.
    let (operation, request) = unsafe {
        Operation::start(worker.unfinished(), data, |_, _| {
            std::ptr::without_provenance_mut((-5_isize).cast_unsigned())
        })
    };
    assert!(request.is_none() && !worker.unfinished().any());
    assert_eq!(operation.outcome().map(|outcome| outcome.status), Some(raw::RawStatus(-5)));
    assert_eq!((count(&alive), Arc::strong_count(&operation)), (1, 1));
    drop(operation);
    assert_eq!(count(&alive), 0);
}
