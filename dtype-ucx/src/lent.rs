//! Memory that operations borrow and UCX does not give back, because a peer has stopped replying.
//!
//! UCX may read or write it until the operation has completed: it must not be freed before. UCX completes the operations on a
//! connection that is closed by force, which only works on a monitored one. If others are left after that, the process ends,
//! because to return would free memory that UCX still uses.

use std::fmt::Display;
use std::io::Write;
use std::process;
use std::sync::Arc;
use std::time::Duration;

use crate::connection::Connection;
use crate::mode::ThreadMode;
use crate::raw;
use crate::worker::Worker;

/// The time in which UCX must complete the operations that a closed connection cancels. That takes some calls, and no peer.
const CLOSING: Duration = Duration::from_secs(1);

impl<M: ThreadMode> Worker<M> {
    /// Waits until operations that have not completed within the worker's time limit give their memory back: closes the given
    /// connections by force, and then all others of the worker, as only UCX knows where a message comes from. If some operation
    /// goes on, prints the cause of the failure, and ends the process. Nothing unwinds.
    pub(crate) fn take_back(
        &self,
        connections: &[Arc<Connection>],
        cause: &dyn Display,
        done: impl Fn() -> bool,
    ) {
        let open = |connection: &Connection| self.can_cut(connection) && !connection.is_closed();
        let mut ended = done();
        for connections in [connections, &self.connections()] {
            if ended {
                return;
            }
            let mut cut = false;
            for connection in connections.iter().filter(|connection| open(connection)) {
                connection.fail(raw::ERR_ENDPOINT_TIMEOUT);
                self.cut(connection, Some(CLOSING));
                cut = true;
            }
            ended = cut && self.wait_for(Some(CLOSING), || done().then_some(())).is_some();
        }
        if !ended {
            // It must not panic.
            let _ = writeln!(
                std::io::stderr(),
                "dtype-ucx: {cause}. {:?} or more later, UCX still uses memory that a message, a put or a get has borrowed: \
                 the peer does not answer, and closing connections did not help (its own is none of `connect_monitored`, UCX \
                 uses its new protocols, or the peer was killed in the middle of a long message). The process ends: it could \
                 only go on by freeing this memory.",
                self.time_limit(),
            );
            process::abort();
        }
    }
}
