//! The tests that need several ranks, under the library's launcher, which this program starts itself.
//!
//! All tests run at all ranks, one after the other, with a barrier between them.

#![allow(
    clippy::wildcard_imports,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "traits as programs import them; small whole numbers, which are copied or added exactly"
)]

mod buffers;
mod collectives;
#[cfg(feature = "gpu")]
mod devices;
mod elements;
mod exchanges;
mod finalize;
mod handles;
mod hostile;
mod immediate;
mod layouts;
mod packed;
mod pipelines;
mod reductions;
mod rounds;
mod shapes;
mod signatures;
mod together;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use dtype_test_support::ranks;
use mpi::Threading;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives};

type Test = (&'static str, fn(&SimpleCommunicator));

const TESTS: &[Test] = &[
    ("buffers in all places", buffers::everywhere),
    ("padding is neither sent nor written", buffers::padding),
    ("elements of 16 bytes that MPI lacks", buffers::wide),
    ("counts of received elements", buffers::counts),
    ("a part of an element", buffers::part),
    ("memory without a type: alignment", handles::alignment),
    ("memory without a type: skipped fields", handles::skipped_fields),
    ("memory without a type: layouts", handles::layouts),
    ("numbers at odd addresses", handles::misaligned),
    ("packed here, received by the library", packed::to_library),
    ("sent by the library, unpacked here", packed::from_library),
    ("the library's own packed bytes", packed::same_bytes),
    ("a message as long as it is", packed::lengths),
    ("errors of a communicator come back", packed::communicator_errors),
    ("more than the library can count", packed::uncountable),
    ("streams of types made at run time", packed::streams),
    ("a message that is looked at first", packed::incoming),
    ("messages whose types are compared", signatures::messages),
    ("collective operations on types of one size", signatures::collectives),
    ("a message that cannot be counted is discarded", packed::discarded),
    ("bytes that are no values", hostile::messages),
    ("bytes that are no values, to all", hostile::collectives),
    ("elements without data that are no values", hostile::without_data),
    ("a root that sends less than it said", hostile::short_broadcast),
    ("requests", immediate::requests),
    ("requests that nobody waits for", immediate::dropped),
    ("a request for too short a message, and too long", immediate::lengths),
    ("a request for much too long a message", immediate::too_long),
    ("errors of requests on other communicators", immediate::communicators),
    ("transfers in chunks", pipelines::all_lengths),
    ("transfers in chunks that do not fit", pipelines::misfits),
    ("transfers that are none", pipelines::headers),
    ("transfers that are said to be long", pipelines::said),
    ("chunks that the library cannot count", pipelines::uncountable),
    ("everyone's elements", collectives::gather),
    ("the root's elements", collectives::from_root),
    ("from each to each", collectives::all_to_all),
    ("arguments that do not go together", collectives::refused),
    ("elements without data", collectives::empty),
    ("two groups", collectives::between_groups),
    ("reductions", reductions::results),
    ("reductions of a function that panics", reductions::panics),
    ("reductions that call MPI", reductions::calls),
    ("reductions of bytes that are no values", reductions::invalid),
    ("numbers of homogeneous structs", reductions::flattened),
    ("a transpose", layouts::transpose),
    ("halo faces", layouts::halo),
    ("layouts outside the memory", layouts::outside),
    ("halos of all neighbours", exchanges::halos),
    ("an exchange of one part with each rank", exchanges::all_to_all),
    ("parts that do not go together", exchanges::refused),
    ("parts outside the memory, and other messages", exchanges::misfits),
    ("exchanges of whole elements", elements::whole),
    ("exchanges and layouts of other elements", elements::others),
    ("exchanges of elements that are checked", elements::restricted),
    ("rounds that end with a panic", rounds::panics),
    ("rounds that end with a panic in a check", rounds::panics_in_checks),
    ("rounds that a rank refuses", rounds::refused),
    ("parts that lie in no memory", rounds::out_of_reach),
    ("messages of layouts", layouts::messages),
    ("messages of scattered layouts", layouts::scattered),
    ("messages of layouts that are refused", layouts::refused_messages),
    #[cfg(feature = "gpu")]
    ("device memory", devices::exchanges),
    #[cfg(feature = "gpu")]
    ("device memory: messages that are refused", devices::refused),
    #[cfg(feature = "gpu")]
    ("device memory: halos", devices::halos),
    ("one datatype for each type, whichever thread asks", together::cache),
    ("threads that send at the same time", together::threads),
];

/// The tests that call MPI from several threads at once.
const THREADED: [&str; 5] = [
    "transfers in chunks",
    "transfers in chunks that do not fit",
    "transfers that are none",
    "one datatype for each type, whichever thread asks",
    "threads that send at the same time",
];

/// Set if the ranks have one thread. Messages are received in another way then.
const ONE_THREAD: &str = "DTYPE_MPI_ONE_THREAD";

/// All tests together take some seconds on idle cores, and longer if the ranks outnumber the cores.
const LIMIT: Duration = Duration::from_secs(480);

fn main() {
    if std::env::var_os(ranks::RANKS).is_none() {
        let good = [1, 2, 4]
            .into_iter()
            .all(|ranks| ranks::run(env!("DTYPE_MPI_WRAPPER"), ranks, LIMIT, &[]))
            && ranks::run(env!("DTYPE_MPI_WRAPPER"), 2, LIMIT, &[(ONE_THREAD, "1")]);
        std::process::exit(i32::from(!good));
    }
    finalize::before();
    let one_thread = std::env::var_os(ONE_THREAD).is_some();
    let asked = if one_thread { Threading::Single } else { Threading::Multiple };
    let (universe, level) =
        mpi::initialize_with_threading(asked).expect("nothing else has initialised MPI");
    assert_eq!(level, asked, "both libraries have it");
    finalize::call_at_end();
    let world = universe.world();
    let rank = world.rank();
    let expected = std::env::var(ranks::RANKS).expect("the launcher hands the variables on");
    assert_eq!(world.size().to_string(), expected, "the launcher is that of another library");

    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let filter = filter.unwrap_or_default();
    let wanted = |name: &str| name.contains(&filter) && !(one_thread && THREADED.contains(&name));
    assert!(THREADED.iter().all(|name| TESTS.iter().any(|test| test.0 == *name)), "a new name");
    for (name, test) in TESTS.iter().filter(|(name, _)| wanted(name)) {
        let start = std::time::Instant::now();
        if catch_unwind(AssertUnwindSafe(|| test(&world))).is_err() {
            eprintln!("rank {rank} of {}: {name}: failed", world.size());
            world.abort(1);
        }
        world.barrier();
        if rank == 0 {
            println!("{} ranks: {name} ({} ms)", world.size(), start.elapsed().as_millis());
        }
    }
    finalize::around(universe);
}
