//! A message to be sent: its elements, and where they go. Every form of sending starts here.

use std::ffi::c_void;

use crate::elements::Elements;
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::header::Header;
use crate::mode::ThreadMode;
use crate::operation;
use crate::raw;

/// The data that UCX reads while it sends.
pub(crate) struct Outbound<'a> {
    pub(crate) elements: Elements<'a>,
    target: Target,
}

/// The tag or handler by which the receiver finds the message.
enum Target {
    Tag(u64),
    Handler { id: u8, header: Header },
}

impl<'a> Outbound<'a> {
    /// A tagged message.
    pub(crate) fn tagged(tag: u64, elements: Elements<'a>) -> Self {
        Self { elements, target: Target::Tag(tag) }
    }

    /// An active message on this endpoint.
    pub(crate) fn active<M: ThreadMode>(
        endpoint: &Endpoint<M>,
        id: u8,
        header: Header,
        elements: Elements<'a>,
    ) -> Result<Self, Error> {
        let (len, max) = (header.as_bytes().len(), endpoint.worker().max_header_len());
        if len > max {
            return Err(Error::HeaderTooLong { len, max });
        }
        Ok(Self { elements, target: Target::Handler { id, header } })
    }

    /// The function of UCX that sends it.
    pub(crate) fn call(&self) -> &'static str {
        match self.target {
            Target::Tag(_) => "ucp_tag_send_nbx",
            Target::Handler { .. } => "ucp_am_send_nbx",
        }
    }

    /// Starts to send the message.
    ///
    /// # Safety
    ///
    /// The message must not move, and nothing else may access it, until UCX has completed the operation. The same holds for the
    /// memory of the elements. The callback must fit the user data.
    pub(crate) unsafe fn start<M: ThreadMode>(
        &mut self,
        endpoint: &Endpoint<M>,
        callback: raw::SendCallback,
        user_data: *const c_void,
    ) -> raw::StatusPointer {
        let outgoing = endpoint.worker().context().outgoing();
        let (buffer, count, datatype) = self.elements.arguments(outgoing);
        let params = operation::params(datatype, callback, user_data);
        // If the endpoint leads to this worker itself, the message may be received during this call.
        let open = match endpoint.open() {
            Ok(open) => open,
            Err(status) => return raw::status_pointer(status),
        };
        let (endpoint, buffer) = (open.handle, buffer.cast());
        match &self.target {
            // SAFETY: the endpoint is alive, and the caller guarantees what the arguments point to.
            Target::Tag(tag) => unsafe {
                raw::ucp_tag_send_nbx(endpoint, buffer, count, *tag, &raw const params)
            },
            Target::Handler { id, header } => {
                // UCX reads the header, too, until the operation has completed.
                let (id, header) = (u32::from(*id), header.as_bytes());
                let (start, len) = (header.as_ptr().cast(), header.len());
                // SAFETY: as above.
                unsafe {
                    raw::ucp_am_send_nbx(endpoint, id, start, len, buffer, count, &raw const params)
                }
            }
        }
    }
}
