//! Tagged messages, one at a time: functions that return when the message is sent, or received into the caller's memory.

use dtype_runtime::Datatype;

use crate::elements::{Elements, ElementsMut};
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::mode::ThreadMode;
use crate::operation::{self, Outcome};
use crate::outbound::Outbound;
use crate::raw::{self, TagInfo};
use crate::worker::Worker;

/// Which messages to receive: those whose tag equals a given one in the bits of a mask.
///
/// A number converts to the messages with exactly this tag.
///
/// ```
/// use dtype_ucx::Tags;
/// assert_eq!(Tags::from(7), Tags { tag: 7, mask: u64::MAX });
/// // From any sender, if the low 32 bits are the sender's rank.
/// let from_anyone = Tags { tag: 5 << 32, mask: !0 << 32 };
/// assert!(from_anyone.contains((5 << 32) + 1000) && !from_anyone.contains(6 << 32));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tags {
    /// The bits to compare with.
    pub tag: u64,
    /// The bits that are compared.
    pub mask: u64,
}

impl Tags {
    /// All messages.
    pub const ALL: Self = Self { tag: 0, mask: 0 };

    /// Whether a tag is one of these.
    pub const fn contains(self, tag: u64) -> bool {
        (tag ^ self.tag) & self.mask == 0
    }
}

impl From<u64> for Tags {
    fn from(tag: u64) -> Self {
        Self { tag, mask: u64::MAX }
    }
}

/// A message that was received, or can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[doc(alias = "ucp_tag_recv_info_t")]
pub struct Received {
    /// The tag that it was sent with.
    pub tag: u64,
    /// The length of the message in bytes.
    pub length: usize,
}

impl Received {
    /// The number of records of type `T` in the message.
    ///
    /// # Errors
    ///
    /// [`Error::Datatype`] if its length is not a multiple of the packed record size.
    pub fn records<T: Datatype>(self) -> Result<usize, Error> {
        records_in::<T>(self.length)
    }
}

/// The number of records of type `T` in a message of `length` bytes.
pub(crate) fn records_in<T: Datatype>(length: usize) -> Result<usize, Error> {
    let record = T::TYPE_MAP.size();
    match length.checked_rem(record) {
        Some(0) => Ok(length / record),
        None if length == 0 => Ok(0),
        _ => {
            let (actual, record) = (length as u64, record as u64);
            Err(dtype_runtime::Error::PartialRecord { actual, record }.into())
        }
    }
}

impl From<TagInfo> for Received {
    fn from(info: TagInfo) -> Self {
        Self { tag: info.sender_tag, length: info.length }
    }
}

const RECEIVE: &str = "ucp_tag_recv_nbx";

impl<M: ThreadMode> Endpoint<M> {
    /// Sends a message. The elements may be changed again when this returns.
    ///
    /// A short message may still be in transit then; a long one has been received. [`flush`](Self::flush) returns when all
    /// messages are delivered.
    ///
    /// # Errors
    ///
    /// [`Error::ConnectionLost`], [`Error::Cancelled`], [`Error::Call`].
    #[doc(alias = "ucp_tag_send_nbx")]
    pub fn send<'a>(&self, tag: u64, elements: impl Into<Elements<'a>>) -> Result<(), Error> {
        self.send_outbound(Outbound::tagged(tag, elements.into()))
    }

    /// Sends a message, and returns once UCX no longer reads it.
    pub(crate) fn send_outbound(&self, mut outbound: Outbound<'_>) -> Result<(), Error> {
        // SAFETY: until UCX no longer uses them, the message stays on the stack and the elements are borrowed; nothing else
        // accesses the message meanwhile.
        let outcome = unsafe {
            self.worker().blocking(|user_data| outbound.start(self, operation::sent, user_data))
        };
        self.sent(outbound.call(), outcome.status)
    }
}

impl<M: ThreadMode> Worker<M> {
    /// Waits for a message, and receives it into the elements: as many records, or bytes of instances, as the message has.
    /// Other elements are unchanged.
    ///
    /// If not all bit patterns of a record are valid, all records are checked before any is written.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`] if the message has more records than there is room for; [`Error::Datatype`] if one of them is
    /// invalid, or the last one is incomplete; [`Error::ConnectionLost`], [`Error::Cancelled`], [`Error::Call`]. The message is
    /// consumed even then. If all bit patterns are valid, an incomplete record may have been written; if the message is too
    /// long, any of the elements may have been written.
    #[doc(alias = "ucp_tag_recv_nbx")]
    pub fn recv_into<'a>(
        &self,
        tags: impl Into<Tags>,
        elements: impl Into<ElementsMut<'a>>,
    ) -> Result<Received, Error> {
        self.recv_elements(tags.into(), elements.into())
    }

    fn recv_elements(
        &self,
        Tags { tag, mask }: Tags,
        mut elements: ElementsMut<'_>,
    ) -> Result<Received, Error> {
        let (buffer, count, datatype) = elements.arguments(self.context().incoming());
        // SAFETY: until UCX no longer uses the elements, they are borrowed exclusively, and nothing else accesses them or the
        // memory that the arguments point to.
        let outcome = unsafe {
            self.blocking(|user_data| {
                let params = operation::receive_params(datatype, operation::received, user_data);
                raw::ucp_tag_recv_nbx(
                    self.handle(),
                    buffer.cast(),
                    count,
                    tag,
                    mask,
                    &raw const params,
                )
            })
        };
        // SAFETY: the outcome is that of the receive with these arguments.
        unsafe { received(self, outcome, &mut elements) }
    }

    /// The first message with one of these tags that has arrived and was not received; `None` if there is none.
    #[doc(alias = "ucp_tag_probe_nb")]
    pub fn incoming(&self, tags: impl Into<Tags>) -> Option<Received> {
        self.progress();
        let Tags { tag, mask } = tags.into();
        let mut info = TagInfo { sender_tag: 0, length: 0 };
        // SAFETY: the worker is alive. The message stays where it is.
        let message = unsafe { raw::ucp_tag_probe_nb(self.handle(), tag, mask, 0, &raw mut info) };
        (!message.is_null()).then(|| info.into())
    }
}

/// The result of a receive.
///
/// # Safety
///
/// The outcome must be that of the receive of this worker with the elements' arguments.
pub(crate) unsafe fn received<M: ThreadMode>(
    worker: &Worker<M>,
    Outcome { status, tag, length }: Outcome,
    elements: &mut ElementsMut<'_>,
) -> Result<Received, Error> {
    worker.received(RECEIVE, status, elements.packed_size())?;
    // SAFETY: the receive has completed with this length.
    unsafe { elements.received(length)? };
    Ok(Received { tag, length })
}
