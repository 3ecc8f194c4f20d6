//! Sends derived structs and irregular layouts through [UCX](https://openucx.org), packed and checked by
//! [`dtype_runtime`].
//!
//! ```
//! use dtype_runtime::Datatype;
//! use dtype_ucx::{Context, Error, Single, WorkerAddress};
//!
//! #[derive(Datatype, Clone, Debug, PartialEq)]
//! struct Particle {
//!     position: [f64; 3],
//!     charge: i8,
//!     fixed: bool,
//! }
//!
//! let context = Context::new()?;
//! let worker = context.worker::<Single>()?;
//! // Bytes for the peer, by any other channel; and its own, here the same.
//! let address = worker.address()?.to_bytes();
//! // SAFETY: a worker of this job has made the bytes, and nothing else could change them.
//! let peer = worker.connect(&unsafe { WorkerAddress::from_bytes(&address)? })?;
//!
//! let particles = vec![Particle { position: [1.0, 2.0, 3.0], charge: -1, fixed: true }; 100];
//! peer.send(7, &particles)?;
//! let (came, received) = worker.recv::<Particle>(7)?;
//! assert_eq!(came, particles);
//! // Without the padding: a Particle takes 32 bytes in memory.
//! assert_eq!(received.length, 100 * 26);
//! # Ok::<(), Error>(())
//! ```
//!
//! # What to use when
//!
//! | to do | use |
//! |---|---|
//! | set UCX up | [`Context`], [`Context::worker`], [`Worker::address`], [`Worker::connect`] |
//! | send and receive one message | [`Endpoint::send`], [`Worker::recv_into`]; [`Worker::recv`] for any number of records |
//! | parts of arrays, columns, lists of indices | the same with [`Elements::new`] and [`ElementsMut::new`] |
//! | several messages at the same time | [`Worker::scope`] |
//! | do something else meanwhile, or `await` | [`Endpoint::start_send`], [`Worker::start_recv`] |
//! | look at a message before it is received | [`Worker::incoming`] |
//! | let peers read and write memory here | [`Context::register`], [`Registered::key`] |
//! | read and write the memory of a peer | [`Endpoint::remote_memory`], [`RemoteMemory::put`], [`RemoteMemory::get`] |
//! | columns, faces and fields in it | [`RemoteMemory::strided`]; many small blocks over a network: [`Worker::serve`] |
//! | have a function called for each message | [`Worker::handle_active`], [`Endpoint::send_active`] |
//! | wait without using the processor | [`Context::with_events`], [`Worker::events`] |
//! | give up after a time | [`Worker::recv_timeout`], [`Worker::recv_into_timeout`], [`Receiving::wait_timeout`], [`Sending::wait_timeout`]; in scopes [`Worker::set_time_limit`] |
//! | notice that a peer has died | [`Worker::connect_monitored`] |
//! | call UCX from C, or with another binding | [`GenericType`] |
//! | several threads | [`Worker<Multi>`](Multi); one after the other: [`Worker<Serialized>`](Serialized), [`Worker::detach`] |
//!
//! # On the wire
//!
//! A message is the packed records, as [`dtype_runtime::pack`] returns them, and nothing else: only an active message has a
//! [`Header`], and the peer may be a program in C. How UCX gets the records depends on the type. Types without gaps are sent
//! from their memory, and received into it, without a copy. Blocks of several kilobytes are sent as a list of blocks (UCX's
//! `iov`). For all other types, UCX calls the engine for each fragment (a *generic datatype*), so that nothing is allocated or
//! copied twice. All forms have the same bytes on the wire, and the two sides choose independently.
//!
//! Received values are checked if their type has invalid bit patterns (`bool`, `char`, enums): such a message is
//! received as packed bytes, and unpacked once all of it has arrived and is valid.
//!
//! # What UCX may touch
//!
//! UCX reads and writes the memory of a message until the message has completed, and no call takes the memory back before. So
//! no function here lends memory that could be freed earlier:
//!
//! - functions that take a slice return when the message has completed ([`Endpoint::send`]), or when all messages have
//!   ([`Worker::scope`]);
//! - a request owns its records ([`Endpoint::start_send`]), and shares them with UCX. When it is dropped, or leaked by
//!   [`mem::forget`](std::mem::forget), UCX's share keeps them alive until the message has completed. A receive that is
//!   dropped is cancelled.
//!
//! If a function fails while UCX uses borrowed memory, it returns only when UCX no longer uses the memory: within the worker's
//! [time limit](Worker::time_limit), or after the connections were closed by force, which UCX can only do to
//! [monitored](Worker::connect_monitored) ones. If all of that does not help, the process ends; see [`Worker::scope`] for the
//! details.
//!
//! UCX 1.13 cannot destroy a worker while a message is under way: it would end the program, or use what it has freed. So if a
//! worker is dropped with a request that UCX has not completed, such as a long message that no peer has received, the worker
//! and its context are kept until the process ends.
//!
//! Registered memory is different: peers access it whenever they want. So there are no references to it, only copies from it
//! and to it; and once a key has been made, dropping the owner does not free the memory. See [`Registered`].
//!
//! When an active message is received or dropped, UCX gets back what it keeps for the message. Handlers are called after UCX
//! has returned, and not from within it, so they may call this crate. What a handler's function owns is freed when the handler
//! is removed, or with its worker.
//!
//! # Trust
//!
//! UCX itself trusts its peers: it does not check addresses, memory keys, or the packets of its own protocols. So
//! [`WorkerAddress::from_bytes`] and [`MemoryKey::from_bytes`] are unsafe: with them, the program declares which processes it
//! trusts. A program without `unsafe` can only connect to itself. No safe function could make addresses and keys from the
//! contents of a message, because peers can send any bytes without `unsafe`.
//!
//! This crate checks received bytes against the type that receives them, and a peer's requests to a worker that
//! [serves](Worker::serve) memory against that memory. A program that can write to UCX's own connections can do more. Whether
//! programs outside the job can is up to the network.
//!
//! # Building
//!
//! Programs link to libucp of UCX 1.13 or later (Debian's `libucx-dev`). `UCX_DIR` names the folder that UCX was installed to,
//! if pkg-config does not know the folder and it is not a usual one.

#![deny(unsafe_code)]

#[expect(unsafe_code, reason = "lends memory to UCX, to fetch an active message")]
mod active;
#[expect(
    unsafe_code,
    reason = "takes bytes that UCX trusts; the caller promises where they come from"
)]
mod address;
mod allocation;
#[expect(unsafe_code, reason = "makes UCX's settings, and reads what it prints of them")]
mod config;
mod connection;
#[expect(unsafe_code, reason = "uses handles that UCX returned")]
mod context;
#[expect(unsafe_code, reason = "lets a worker that nobody else has move to another thread")]
mod detached;
#[expect(unsafe_code, reason = "lends memory to UCX and to the engine")]
mod elements;
#[expect(unsafe_code, reason = "uses handles that UCX returned")]
mod endpoint;
#[expect(unsafe_code, reason = "reads the library's text for a status")]
mod error;
#[expect(unsafe_code, reason = "borrows a descriptor that belongs to UCX")]
mod events;
#[expect(unsafe_code, reason = "lends UCX's fragments to the engine")]
mod fragments;
#[expect(
    unsafe_code,
    reason = "lends UCX's fragments to the engine, for programs that call UCX themselves"
)]
mod generic;
mod handler;
#[expect(
    unsafe_code,
    reason = "tells UCX what to call, with an address that lives as long as the worker"
)]
mod handlers;
mod header;
#[expect(
    unsafe_code,
    reason = "UCX's callback for active messages; reads the data that UCX keeps for one"
)]
mod inbox;
mod lent;
#[expect(unsafe_code, reason = "UCX's callback for an endpoint that has failed")]
mod link;
mod mode;
#[expect(unsafe_code, reason = "shares operations with UCX, whose callbacks end them")]
mod operation;
#[expect(unsafe_code, reason = "lends memory and the header of an active message to UCX")]
mod outbound;
mod process;
#[expect(unsafe_code, reason = "declares libucp's functions")]
mod raw;
mod remote;
#[expect(unsafe_code, reason = "lends UCX memory that the operation owns")]
mod request;
#[expect(unsafe_code, reason = "takes records that UCX has written")]
mod room;
#[expect(unsafe_code, reason = "lends UCX memory that is borrowed until a scope is left")]
mod scope;
#[expect(
    unsafe_code,
    reason = "UCX's callbacks for requests and replies; lends these to UCX until they are sent"
)]
mod service;
#[expect(unsafe_code, reason = "volatile copies of memory that peers access")]
mod shared;
#[expect(unsafe_code, reason = "lends memory to UCX until an operation has completed")]
mod tagged;
#[expect(unsafe_code, reason = "lends memory to UCX, or gives it to the operation")]
mod taken;
mod unfinished;
#[expect(unsafe_code, reason = "uses handles that UCX returned; waits for operations on the stack")]
mod worker;

pub use active::{ActiveMessage, Fetching};
pub use address::WorkerAddress;
pub use context::Context;
pub use detached::Detached;
pub use elements::{Elements, ElementsMut};
pub use endpoint::Endpoint;
pub use error::{Error, Refusal, Status};
pub use events::Events;
pub use generic::GenericType;
pub use handler::Handler;
pub use header::Header;
pub use mode::{Multi, RunsIn, Serialized, Single, ThreadMode};
pub use remote::{MemoryKey, Registered, RemoteMemory, Strided};
pub use request::{Receiving, Sending};
pub use scope::{Scope, Scoped};
pub use tagged::{Received, Tags};
pub use worker::Worker;

/// The code in the book is compiled and run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/src/on-ucx.md")]
mod book {}
