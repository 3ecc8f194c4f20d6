//! Types that are converted to `external32`.
//!
//! MPICH 4.0 converts types whose values all have one basic type. For all others it ends the program, so they are left to it,
//! as are the basic types that it does not convert as the standard says (MPI-4.0 section 14.5.2):
//!
//! | values | MPICH 4.0.2 | the standard |
//! |---|---|---|
//! | Fortran's complex numbers, those of its kinds included | all of a number's bytes reversed | real part first |
//! | `MPI_LONG_DOUBLE` and its complex numbers | the 80 bits of the x87, in part | binary128 |
//! | `MPI_WCHAR`, `MPI_INTEGER16`, pairs | an error that ends the program | values of 2 and 16 bytes, and structures |
//! | a `long` of more than 32 bits | its lower half | unspecified; an error here, so the call is passed on |

use dtype_runtime::convertor::Conversion;
use dtype_runtime::types::Entry;
use dtype_runtime::{Basic, Representation, Type};

use super::decode::Decoded;
use crate::compiled::Compiled;

/// A type that this engine converts.
#[derive(Debug)]
pub(super) struct External {
    pub(super) conversion: Conversion,
    pub(super) compiled: Compiled,
}

impl External {
    /// `None` if the type is left to the library.
    pub(super) fn new(decoded: &Decoded) -> Option<Self> {
        let Decoded { ty, parts } = decoded;
        if parts.has_pairs || parts.has_kinds || !is_converted_alike(ty) {
            return None;
        }
        let committed = ty.commit();
        let conversion = committed.conversion(Representation::External32).ok()?;
        Some(Self { conversion, compiled: Compiled::new(committed) })
    }
}

/// Whether the library converts all values of a type, and converts them as this engine does.
fn is_converted_alike(ty: &Type) -> bool {
    let description = ty.description();
    let mut basics = description.entries().iter().filter_map(|entry| match entry {
        Entry::Elem(elem) => Some(elem.basic),
        Entry::Loop(_) | Entry::EndLoop(_) => None,
    });
    basics
        .next()
        .is_some_and(|first| is_value_converted_alike(first) && basics.all(|one| one == first))
}

/// Whether the library converts a value as this engine does; see the table above.
fn is_value_converted_alike(basic: Basic) -> bool {
    use Basic::{
        Aint, Bool, Byte, C32, C64, CChar, CxxDoubleComplex, CxxFloatComplex, F32, F64, I8, I16,
        I32, I64, Logical, Long, Packed, U8, U16, U32, U64, UnsignedLong,
    };
    // In a signature, Fortran's complex numbers count as C's, but they are not among these.
    matches!(basic, C32 | C64 | CxxFloatComplex | CxxDoubleComplex)
        || matches!(basic.canonical(), I8 | I16 | I32 | I64 | U8 | U16 | U32 | U64 | F32 | F64)
        || matches!(basic.canonical(), Bool | Logical | Byte | Packed | CChar | Aint)
        || matches!(basic, Long | UnsignedLong)
}
