//! Memory that peers read and write without any work by this process.
//!
//! ```text
//! registered   the owner's side: memory that is copied from and to, and never borrowed
//! key          the address and the layout of the memory, as bytes for the peers
//! memory       the peer's side: puts and gets of records
//! strided      puts and gets of layouts
//! serve        the owner's side again: a worker that completes puts and gets of many small blocks
//! packed       the peer's side of such a put or get
//! fit          whether a layout names the values that the memory holds
//! transfer     puts and gets of UCX, one for each block
//! ```

mod fit;
#[expect(
    unsafe_code,
    reason = "takes bytes that UCX trusts; the caller promises where they come from"
)]
mod key;
#[expect(unsafe_code, reason = "maps peers' memory; copies records or lends them to UCX")]
mod memory;
#[expect(unsafe_code, reason = "sends by handles of endpoints that are alive")]
mod packed;
#[expect(unsafe_code, reason = "registers, copies and keeps memory that peers access at any time")]
mod registered;
mod serve;
#[expect(unsafe_code, reason = "copies layouts to and from peers' memory or lends them to UCX")]
mod strided;
#[expect(unsafe_code, reason = "lends blocks to UCX until all operations have completed")]
mod transfer;

pub use key::MemoryKey;
pub use memory::RemoteMemory;
pub use registered::Registered;
pub use strided::Strided;
