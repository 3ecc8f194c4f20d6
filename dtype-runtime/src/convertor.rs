//! Moving data between memory and the packed stream.
//!
//! [`Committed::pack`](crate::Committed::pack) and its relatives take a message as a whole. [`Packer`] and
//! [`Unpacker`] are the convertor, like Open MPI's `opal_convertor_t`: they stop and resume at any byte. Both
//! execute the same plan, and a single cursor finds where each packed byte is in memory.
//!
//! There are three kinds of streams. Each has the interfaces that make sense for it:
//!
//! | | [`Packer`], [`Unpacker`] | [`ConvertingPacker`], [`ConvertingUnpacker`] | [`BackendPacker`], [`BackendUnpacker`] |
//! |---|---|---|---|
//! | [`Stream`], `Read` or `Write`, `Seek` | yes | yes | yes |
//! | `with_checksum`, with `Read` or `Write` | yes | yes | yes |
//! | `split_at`, of unpackers | yes | yes | no: each thread has a backend of its own |
//! | `par_pack`, `par_unpack` (`rayon`) | yes | yes | no: a fragment is one call of the backend, which may be parallel itself |
//! | `stack` | yes | no: it counts the bytes of this machine | yes |
//! | `chunk`, `Buf`, `BufMut` (`bytes`) | yes | no: the bytes of the stream are not in memory | no: the memory cannot be lent |
//!
//! A packer needs no `split_at`: its clones read the same stream. A stream with a checksum has no `Seek`, `Buf` or
//! `par_pack`, because a checksum needs the bytes in order.

mod backend;
#[cfg(feature = "bytes")]
mod buf;
#[cfg(feature = "bytes")]
mod buf_mut;
mod buffer;
mod checks;
mod checksum;
mod conversion;
mod converting;
mod copier;
mod cursor;
#[cfg(feature = "std")]
mod io;
mod iov;
mod memory;
mod mover;
mod packer;
#[cfg(feature = "rayon")]
mod parallel;
mod part;
mod pending;
mod progress;
mod source;
mod stack;
mod stream;
mod transfer;
mod unpacker;

pub use backend::{Backend, BackendPacker, BackendUnpacker, Fragment};
#[cfg(feature = "bytes")]
pub use buf_mut::UnpackerBuf;
pub use buffer::{Buffer, BufferMut};
pub(crate) use checks::allocate;
#[cfg(feature = "crc32c")]
pub use checksum::Crc32c;
pub use checksum::{Checksum, Checksummed};
pub use conversion::Conversion;
pub(crate) use converting::RecordConversion;
pub use converting::{ConvertingPacker, ConvertingUnpacker};
pub use iov::{Iov, Segment};
pub use packer::Packer;
pub(crate) use source::{Compiled, Constant, PartOfRecords, Source};
pub use stack::{StackFrame, StackType};
pub use stream::{PackStream, Stream, UnpackStream};
pub use unpacker::Unpacker;
pub(crate) use unpacker::Validate;
