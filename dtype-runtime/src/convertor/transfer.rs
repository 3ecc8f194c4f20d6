//! Copies from one layout to another layout with the same signature.

use super::packer::Packer;
use super::unpacker::Unpacker;
use crate::error::Error;
use crate::typemap::check_hash;

/// How many packed bytes pass through the buffer on the stack at a time: enough that finding the position costs little, and few
/// enough for the first-level cache.
const CHUNK: usize = 4096;

impl Packer<'_> {
    /// Moves the rest of this stream to the same position of another stream, and returns the number of bytes. The other layout
    /// may be any with the same basic datatypes in the same order, as for a message from one process to another. The only
    /// buffer is a small one on the stack.
    ///
    /// # Errors
    ///
    /// [`Error::SignatureMismatch`] if the type signatures of all instances differ; [`Error::OtherPosition`] if the receiver is
    /// at another position of the stream; [`Error::Position`] if the receiver is a part that ends before the stream does.
    /// Nothing is written then. [`Error::InvalidValue`] as for
    /// [`Unpacker::unpack`]: the bytes before the refused part of the stream have then been written, and both
    /// streams are at the start of that part.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Packer, Type, Unpacker};
    /// // Rows to columns.
    /// let rows = [[1_u16, 2, 3], [4, 5, 6]];
    /// let column = Type::vector(2, 1, 3, &Type::basic(Basic::U16))?;
    /// let columns = Type::hvector(3, 1, 2, &column)?.commit();
    /// let mut memory = [0; 12];
    /// let sent = Packer::new(&rows).transfer_to(&mut columns.unpacker(&mut memory, 1)?)?;
    /// assert_eq!(sent, 12);
    /// # #[cfg(target_endian = "little")]
    /// assert_eq!(memory, [1, 0, 3, 0, 5, 0, 2, 0, 4, 0, 6, 0]);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[doc(alias = "MPI_Sendrecv")]
    pub fn transfer_to(&mut self, receiver: &mut Unpacker<'_>) -> Result<u64, Error> {
        check_hash(receiver.signature_hash(), self.signature_hash())?;
        let (from, to) = (self.position(), receiver.position());
        if from != to {
            return Err(Error::OtherPosition { sender: from, receiver: to });
        }
        let (position, end) = (from + self.remaining(), to + receiver.remaining());
        if position > end {
            return Err(Error::Position { position, end });
        }
        let mut buffer = [0; CHUNK];
        while !self.is_complete() {
            let before = self.position();
            let bytes = self.pack(&mut buffer);
            if let Err(error) = receiver.unpack(&buffer[..bytes]) {
                self.set_position(before)?;
                return Err(error);
            }
        }
        Ok(self.position() - from)
    }
}
