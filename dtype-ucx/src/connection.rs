//! What a worker and its messages keep of an endpoint.

use std::sync::Arc;

use crate::link::Link;
use crate::raw;
use crate::service::PackedTransfers;

/// A connection that UCX has made. Its endpoint may be dropped before a message that was sent on it completes.
pub(crate) struct Connection {
    handle: raw::Endpoint,
    link: Arc<Link>,
    /// Puts that the peer's worker completes.
    traffic: Arc<PackedTransfers>,
    /// Whether UCX detects that the peer is gone.
    monitored: bool,
}

impl Connection {
    /// A connection whose failure UCX reports to the link.
    pub(crate) fn new(handle: raw::Endpoint, link: Arc<Link>, monitored: bool) -> Self {
        let traffic = Arc::new(PackedTransfers::new(link.clone()));
        Self { handle, link, traffic, monitored }
    }

    /// The handle. The connection may be closed at any time, unless something keeps other threads from closing it.
    pub(crate) fn handle(&self) -> raw::Endpoint {
        self.handle
    }

    pub(crate) fn link(&self) -> &Arc<Link> {
        &self.link
    }

    pub(crate) fn traffic(&self) -> &Arc<PackedTransfers> {
        &self.traffic
    }

    pub(crate) fn is_monitored(&self) -> bool {
        self.monitored
    }
}
