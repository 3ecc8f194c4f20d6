//! Moving data between memory and the packed stream.
//!
//! [`Committed::pack`](crate::Committed::pack) and its relatives take a message as a whole. [`Packer`] and
//! [`Unpacker`] are the convertor of seed `opal_convertor_t`: they stop and go on at any byte. Both rest on the
//! same plan, and everything that has to know where a packed byte lives asks one cursor.

mod backend;
#[cfg(feature = "bytes")]
mod buf;
#[cfg(feature = "bytes")]
mod buf_mut;
mod checksum;
mod conversion;
mod copier;
mod cursor;
mod foreign;
mod iov;
mod memory;
mod mover;
mod packer;
#[cfg(feature = "rayon")]
mod parallel;
mod pieces;
#[cfg(feature = "std")]
mod seek;
mod source;
mod stack;
mod transfer;
mod unpacker;

pub use backend::{Backend, BackendPacker, BackendUnpacker};
#[cfg(feature = "bytes")]
pub use buf_mut::UnpackerBuf;
#[cfg(feature = "crc32c")]
pub use checksum::Crc32c;
pub use checksum::{Checksum, Summed};
pub use conversion::Conversion;
#[cfg(feature = "message")]
pub(crate) use foreign::Records;
pub use foreign::{ForeignPacker, ForeignUnpacker};
pub use iov::{Iov, Segment};
pub use packer::Packer;
pub use pieces::{Piece, Pieces};
pub(crate) use source::{Constant, Program, Source};
pub use stack::{StackFrame, StackType};
pub use unpacker::Unpacker;
pub(crate) use unpacker::Validate;
