//! Memory that peers read and write without this process doing anything.
//!
//! ```text
//! registered   the owner's side: memory, which only cells of it are ever copied from and to
//! key          what the owner tells its peers, as bytes
//! memory       the peer's side: puts and gets of records
//! strided      and of layouts
//! fit          whether a layout names the values that the memory holds
//! transfer     how the bytes get there: through a mapping, or block by block
//! ```

mod fit;
mod key;
mod memory;
mod registered;
mod strided;
mod transfer;

pub use key::MemoryKey;
pub use memory::RemoteMemory;
pub use registered::Registered;
pub use strided::Strided;
