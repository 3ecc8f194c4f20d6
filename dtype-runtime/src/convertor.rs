//! Moving data between memory and the packed stream.
//!
//! [`Committed::pack`](crate::Committed::pack) and its relatives take a message as a whole. [`Packer`] and
//! [`Unpacker`] are the convertor, like Open MPI's `opal_convertor_t`: they stop and resume at any byte. Both
//! execute the same plan, and a single cursor finds where each packed byte is in memory.
//!
//! What they do with the bytes is their [`Mode`]:
//!
//! | | [`Native`] | [`Converted`] | [`Through`] a [`Backend`] |
//! |---|---|---|---|
//! | `Read` or `Write`, `Seek` | yes | yes | yes |
//! | `with_checksum`, with `Read` or `Write` | yes | yes | yes |
//! | `split_at`, of unpackers | yes | yes | no: each thread has a backend of its own |
//! | `par_pack`, `par_unpack` (`rayon`) | yes | yes | no: a fragment is one call of the backend, which may be parallel itself |
//! | `stack` | yes | no: it counts the bytes of this machine | yes |
//! | `chunk`, `Buf`, `BufMut` (`bytes`) | yes | no: the bytes of the stream are not in memory | no: the memory cannot be lent |
//!
//! A packer needs no `split_at`: its clones read the same stream. A stream with a checksum has no `Seek`, `Buf` or
//! `par_pack`, because a checksum needs the bytes in order.

mod buffer;
mod checks;
mod conversion;
mod converting;
mod copier;
mod cursor;
mod iov;
mod memory;
mod mover;
mod native;
mod ranges;
mod stack;
mod stream;
mod value_checks;

pub use buffer::{Buffer, BufferMut};
pub(crate) use checks::allocate;
pub use conversion::Conversion;
pub(crate) use converting::RecordConversion;
pub use iov::{Iov, Segment};
pub use native::Native;
pub(crate) use native::{Compiled, Constant, CopyRange};
pub use stack::{StackFrame, StackType};
#[cfg(feature = "crc32c")]
pub use stream::Crc32c;
#[cfg(feature = "bytes")]
pub use stream::UnpackerBuf;
pub(crate) use stream::ValidateTyped;
pub use stream::{
    Backend, Checksum, Checksummed, Converted, Fragment, Mode, Packer, Through, Unpacker,
};
pub use value_checks::ValueChecks;
