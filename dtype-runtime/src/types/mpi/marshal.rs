//! Marshalling: a datatype as bytes, for storing or sending.
//!
//! Equal types have equal bytes. Each distinct node of the tree occurs once, whether or not the type in memory shares it. The
//! nodes are sorted by height and then by their bytes, so that a reader can verify the order by comparing neighbours. The
//! height of a node is 0 if it is not made of other nodes, and otherwise one more than that of its highest part. Each number
//! has a single form.

mod reader;

use alloc::vec::Vec;

use super::nodes::{Table, varint};
use crate::error::{Error, Malformed};
use crate::types::Type;

/// The first byte.
const MAGIC: u8 = 0xD7;
/// The second byte: the version of the form. New codes do not change it, because old types keep their bytes; a change of what
/// bytes mean does.
const VERSION: u8 = 1;
/// The third byte: flags of the whole tree. None has a meaning yet.
const FLAGS: u8 = 0;

impl Type {
    /// The type as bytes: compact, the same on every platform, and the same for equal types.
    ///
    /// The bytes name the calls that made the type, with their arguments. `MPI_LONG` remains `MPI_LONG` on the receiving
    /// machine, with its size there; displacements in bytes are unchanged. If the sizes may differ between the two machines,
    /// compare [`size`](Self::size) and [`extent`](Self::extent). Parts that occur repeatedly are written once, so the form is
    /// never much larger than the type in memory.
    ///
    /// # The form
    ///
    /// Three bytes, `D7 01 00`: a magic number, the version, and flags, which have no meaning yet. Then the number of the last
    /// node, and the nodes, numbered from 0; the last node is the type. Numbers are varints (LEB128) of at most 64 bits in
    /// their shortest form; signed ones, marked ± below, are zigzag-coded first. A node is a code and arguments:
    ///
    /// | code | what | arguments |
    /// |---|---|---|
    /// | `01` … | [`Basic::code`](crate::Basic::code) | |
    /// | `7D`, `7E` | LB marker, UB marker | |
    /// | `7F` | pair with a name | its index in [`Pair::ALL`](crate::types::Pair::ALL), a byte |
    /// | `80` | dup | node |
    /// | `81` | contiguous | count, node |
    /// | `82`, `83` | vector, hvector | count, blocklength, ±stride, node |
    /// | `84`, `85` | indexed, hindexed | blocklengths, ±displacements, node |
    /// | `86`, `87` | indexed block, hindexed block | 2n, blocklength, ±displacements, node |
    /// | `88` | structure | blocklengths, ±displacements, nodes |
    /// | `89` | subarray | 2n + order, sizes, subsizes, starts, node |
    /// | `8A` | darray | size, rank, 2n + order, gsizes, distributions, psizes, node |
    /// | `8B`, `8C` | Fortran real, complex | precision + 1, range + 1; 0 where undefined |
    /// | `8D` | Fortran integer | range + 1 |
    /// | `8E` | resized | ±lb, ±extent, node |
    /// | `8F` | pair without a name | value and index, each a basic datatype's code |
    /// | `90` | by the rules of [`BoundsRule::Mpich`](crate::types::BoundsRule::Mpich) | a predefined datatype or marker, as above |
    ///
    /// A node among the arguments is the number of an earlier node. Blocklengths are 2n followed by n numbers, or
    /// 2n + 1 followed by the one length that all n > 0 blocks have. A displacement is written as the difference,
    /// modulo 2⁶⁴, from the previous one. The order is 0 for C and 1 for Fortran; a distribution is one of the
    /// bytes none 0, block 1, block of n 2, cyclic 3, cyclic of n 4, followed by n.
    ///
    /// No node occurs twice. Nodes are sorted by height, and nodes of the same height by their bytes; a node that
    /// is not made of other nodes has height 0, any other node has one more than its highest part.
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// let columns = Type::vector(4, 1, 6, &Type::basic(Basic::F64))?;
    /// let bytes = columns.marshal();
    /// assert_eq!(bytes, [0xD7, 1, 0, 1, Basic::F64.code(), 0x82, 4, 1, 12, 0]);
    /// assert_eq!(Type::unmarshal(&bytes)?, columns);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn marshal(&self) -> Vec<u8> {
        let table = Table::new(&[self], true);
        let mut out = Vec::with_capacity(3 + 10 + table.bytes.len());
        out.extend([MAGIC, VERSION, FLAGS]);
        varint::put_unsigned(&mut out, table.last());
        out.extend_from_slice(&table.bytes);
        out
    }

    /// Returns the type that was [marshalled](Self::marshal) to these bytes.
    ///
    /// The bytes may come from anywhere. Only bytes that `marshal` writes are accepted, so the type always
    /// marshals to the same bytes again. Time and memory are linear in the number of bytes: at most 256 bytes of
    /// memory for each byte, and far fewer for all but contrived types. The depth is limited as for all types.
    ///
    /// # Errors
    ///
    /// [`Error::Marshalled`] when the bytes are not what `marshal` writes, and the errors of the constructors for
    /// bad arguments.
    ///
    /// ```
    /// use dtype_runtime::{Error, Malformed, Type};
    /// let mut bytes = Type::of::<(u32, f64)>().marshal();
    /// bytes.push(0);
    /// let (offset, problem) = (bytes.len() - 1, Malformed::Trailing { extra: 1 });
    /// assert_eq!(Type::unmarshal(&bytes), Err(Error::Marshalled { offset, problem }));
    /// ```
    pub fn unmarshal(bytes: &[u8]) -> Result<Self, Error> {
        let (ty, used) = Self::unmarshal_prefix(bytes)?;
        match bytes.len() - used {
            0 => Ok(ty),
            extra => Err(varint::wrong(used, Malformed::Trailing { extra })),
        }
    }

    /// Returns the type at the front of these bytes and the number of bytes that it takes: for types inside a
    /// message.
    ///
    /// # Errors
    ///
    /// As [`unmarshal`](Self::unmarshal), except that more bytes may follow.
    ///
    /// ```
    /// use dtype_runtime::Type;
    /// let mut message = Type::of::<(u32, f64)>().marshal();
    /// message.extend(b"and more");
    /// let (ty, used) = Type::unmarshal_prefix(&message)?;
    /// assert_eq!((ty.size(), &message[used..]), (12, &b"and more"[..]));
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn unmarshal_prefix(bytes: &[u8]) -> Result<(Self, usize), Error> {
        reader::read(bytes)
    }
}
