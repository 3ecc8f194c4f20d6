//! Memory that operations borrow and that UCX does not give back because a peer no longer replies.
//!
//! UCX may read or write the memory until the operation has completed, so it must not be freed before. Closing a connection by
//! force completes its operations, but works only on monitored connections. If operations remain after that, the process ends,
//! because returning would free memory that UCX still uses.

use std::fmt::Display;
use std::io::Write;
use std::process;
use std::sync::Arc;
use std::time::Duration;

use crate::connection::Connection;
use crate::mode::ThreadMode;
use crate::raw;
use crate::worker::Worker;

/// How long UCX may take to complete the operations that a closed connection cancels. That takes some calls, and no reply of a
/// peer.
const CLOSING: Duration = Duration::from_secs(1);

impl<M: ThreadMode> Worker<M> {
    /// Gets back memory from operations that have not completed within the worker's time limit: closes the given connections by
    /// force, and then all others of the worker, because only UCX knows which connection a message comes from. If an operation
    /// is still not complete, prints the cause of the failure, and ends the process. Nothing unwinds.
    pub(crate) fn take_back(
        &self,
        connections: &[Arc<Connection>],
        cause: &dyn Display,
        done: impl Fn() -> bool,
    ) {
        let open =
            |connection: &Connection| self.can_cut(connection) && !connection.link().is_closed();
        let mut ended = done();
        for connections in [connections, &self.connections()] {
            if ended {
                return;
            }
            let mut cut = false;
            for connection in connections.iter().filter(|connection| open(connection)) {
                connection.link().fail(raw::ERR_ENDPOINT_TIMEOUT);
                self.cut(connection, Some(CLOSING));
                cut = true;
            }
            ended = cut && self.wait_for(Some(CLOSING), || done().then_some(())).is_some();
        }
        if !ended {
            // This must not panic.
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
