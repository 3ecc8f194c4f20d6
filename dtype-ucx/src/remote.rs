//! Memory that peers read and write without this process doing anything.
//!
//! ```text
//! registered   the owner's side: memory, which only cells of it are ever copied from and to
//! key          what the owner tells its peers, as bytes
//! memory       the peer's side: puts and gets of records
//! strided      and of layouts
//! serve        the owner's side again: a worker that completes puts and gets of many small blocks
//! packed       the peer's side of that
//! fit          whether a layout names the values that the memory holds
//! transfer     how the bytes get there: through a mapping, or block by block
//! ```

mod fit;
mod key;
mod memory;
mod packed;
mod registered;
mod serve;
mod strided;
mod transfer;

pub use key::MemoryKey;
pub use memory::RemoteMemory;
pub use registered::Registered;
pub use strided::Strided;
