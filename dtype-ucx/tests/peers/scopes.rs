//! A halo exchange in which one of the two fails: both end, each with its own error.

use std::process::exit;
use std::time::{Duration, Instant};

use dtype_ucx::{Endpoint, Error, Single, Worker};

use super::{Peer, Side, context, particles};

const HALO: u64 = 1;
const STEPS: u8 = 4;
const TIME_LIMIT: Duration = Duration::from_millis(500);
/// On a busy machine, this is more than twice the time limit, once for the messages and once for the end, with the time to
/// close.
const END: Duration = Duration::from_secs(20);

/// Where the last exchange fails.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Failure {
    BeforeReceive,
    BeforeSend,
    AfterBoth,
    Panic,
    /// The process exits without closing anything.
    Exit,
}

const FAILURES: [Failure; 5] = [
    Failure::BeforeReceive,
    Failure::BeforeSend,
    Failure::AfterBoth,
    Failure::Panic,
    Failure::Exit,
];

/// The messages of the exchange.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Halo {
    /// Messages of one packet.
    Short,
    /// Messages that the receiver fetches, from contiguous memory or from records with gaps.
    LongBytes,
    LongRecords,
}

const HALOS: [Halo; 3] = [Halo::Short, Halo::LongBytes, Halo::LongRecords];

/// The tested messages and failures, and whether the connection is monitored. Long messages need that: on other connections,
/// UCX does not give back the memory that they borrow.
pub(super) fn cases() -> impl Iterator<Item = (Halo, Failure, bool)> {
    let all = HALOS.into_iter().flat_map(|halo| FAILURES.map(|failure| (halo, failure)));
    let all =
        all.flat_map(|(halo, failure)| [true, false].map(|monitored| (halo, failure, monitored)));
    all.filter(|&(halo, failure, monitored)| match halo {
        Halo::Short => !monitored || failure == Failure::Exit,
        Halo::LongBytes => monitored,
        Halo::LongRecords => monitored && failure == Failure::BeforeReceive,
    })
}

/// Runs the first steps, and then a step that fails on one side.
fn steps(side: &Side, halo: Halo, failure: Option<Failure>) -> Error {
    let Side { worker, peer, .. } = side;
    worker.set_time_limit(TIME_LIMIT);
    let count = if halo == Halo::LongRecords { 50_000 } else { 0 };
    let len = if halo == Halo::LongBytes { 4 << 20 } else { 100 };
    let (mine, mut theirs) = (particles(count, 1), particles(count, 2));
    let (bytes, mut room) = (vec![7_u8; len], vec![0_u8; len]);
    for step in 1..=STEPS {
        let failure = failure.filter(|_| step == STEPS);
        let fails = |at: Failure| if failure == Some(at) { Err(Error::Threads) } else { Ok(()) };
        let start = Instant::now();
        let result = worker.scope(|scope| {
            fails(Failure::BeforeReceive)?;
            if count > 0 {
                scope.recv_into(HALO, &mut theirs)?;
            } else {
                scope.recv_into(HALO, &mut room)?;
            }
            fails(Failure::BeforeSend)?;
            if count > 0 {
                scope.send(peer, HALO, &mine)?
            } else {
                scope.send(peer, HALO, &bytes)?
            };
            match failure {
                Some(Failure::Panic) => panic!("in a halo exchange"),
                Some(Failure::Exit) => exit(0),
                _ => fails(Failure::AfterBoth),
            }
        });
        assert!(start.elapsed() < END, "{:?}", start.elapsed());
        if let Err(error) = result {
            assert_eq!(step, STEPS, "{error}");
            return error;
        }
        assert!(theirs == mine && (count > 0 || room == bytes));
    }
    // Each side has received all messages of the other side, which has then ended.
    let start = Instant::now();
    let result = worker.scope(|scope| {
        scope.recv_into(HALO, &mut room)?;
        scope.send(peer, HALO, &bytes)?;
        Ok(())
    });
    assert!(start.elapsed() < END, "{:?}", start.elapsed());
    result.expect_err("the other one is gone")
}

/// The side that fails.
pub(super) fn fails(side: &Side, halo: Halo, failure: Failure) {
    let failed =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| steps(side, halo, Some(failure))));
    assert_eq!(failed.ok(), (failure != Failure::Panic).then_some(Error::Threads));
}

/// The side whose neighbour fails.
pub(super) fn is_left(side: &Side, halo: Halo) {
    let error = steps(side, halo, None);
    let cause =
        matches!(error, Error::TimedOut { timeout: TIME_LIMIT } | Error::ConnectionLost { .. });
    assert!(cause, "{error:?}");
}

pub(super) fn test(halo: Halo, failure: Failure, monitored: bool) -> String {
    format!("{halo:?} {failure:?} {monitored}")
}

/// One side, in a process of its own, as [`test`] names it.
pub(super) fn peer(
    name: &str,
    worker: &Worker<Single>,
    connect: impl Fn(bool) -> Endpoint<Single>,
) -> bool {
    let found = cases().find(|&(halo, failure, monitored)| test(halo, failure, monitored) == name);
    let Some((halo, failure, monitored)) = found else { return false };
    fails(&Side { worker: worker.clone(), peer: connect(monitored), number: 1 }, halo, failure);
    true
}

/// Runs both sides.
pub(super) fn both(settings: &[(&str, &str)], halo: Halo, failure: Failure, monitored: bool) {
    let mut peer = Peer::start(&test(halo, failure, monitored), settings);
    let worker: Worker<Single> = context(settings).worker().unwrap();
    let address = peer.exchange(&worker);
    let endpoint =
        if monitored { worker.connect_monitored(&address) } else { worker.connect(&address) };
    is_left(&Side { worker, peer: endpoint.unwrap(), number: 0 }, halo);
    peer.finish();
}
