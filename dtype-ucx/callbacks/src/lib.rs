//! UCX's generic datatypes (`ucp_dt_create_generic`), packed and unpacked by `dtype-runtime`.
//!
//! UCX calls six functions for a message whose type is generic: one to start, one that returns the packed size, one
//! that packs or unpacks a fragment, and one to finish. [`Operations::of`] makes the table of these functions from two
//! traits: [`Generic`] is what the context points to, [`Message`] what a started message keeps.
//! [`Instances`] is the usual message: instances of a committed type in memory.
//!
//! What UCX does, and what follows for an implementation:
//!
//! | UCX | so |
//! |---|---|
//! | passes the address of the buffer and the count as the program gave them | the program guarantees the memory |
//! | starts fragments inside elements, and may deliver them in any order | the position is a function of the offset |
//! | may request more bytes than remain (`usize::MAX`), or none | [`Message::pack`] gets the room that the message can fill |
//! | delivers fragments of length 0, at any alignment | a fragment need not be aligned |
//! | calls from any thread that makes progress | a [`Message`] is `Send`, a context `Sync` |
//! | does not call `finish` for a cancelled receive | the message leaks, as with every implementation |
//!
//! No panic crosses into UCX: a start that panics or returns `None` makes a message without state, which packs nothing
//! and refuses to be unpacked into; a panic later on is a short fragment, or [`Status::INVALID_PARAM`].

#![deny(unsafe_code)]

#[expect(unsafe_code, reason = "lends instances' memory to the engine")]
mod instances;
mod near;
#[expect(
    unsafe_code,
    reason = "UCX's callbacks, with addresses of contexts, states, elements and fragments"
)]
mod operations;

pub use instances::Instances;
pub use near::is_near;
pub use operations::{Generic, Message, Operations, Status};
