//! The calls that make a datatype, with all arguments prepared.

use std::hint::black_box;

use anyhow::{Result, ensure};
use dtype_mpi::__calls::Arguments;
use dtype_mpi::Datatype;
use dtype_runtime::Type;
use mpi::ffi::{self, MPI_Datatype};
use mpi::raw::AsRaw;

/// A datatype, as the call that makes it and the calls that make its parts.
pub(crate) struct Calls {
    node: Node,
    size: u64,
}

enum Node {
    Predefined(Datatype),
    Made(Call),
}

/// A call, and the calls that make the datatypes among its arguments.
struct Call {
    arguments: Arguments,
    parts: Vec<Node>,
}

impl Calls {
    /// The calls that make a datatype of the type.
    pub(crate) fn of(ty: &Type) -> Result<Self> {
        Ok(Self { node: Node::of(ty)?, size: ty.size() })
    }

    /// The packed bytes of the datatype that the calls make.
    pub(crate) fn size(&mut self) -> Result<u64> {
        let made = self.node.make();
        let mut size = 0;
        // SAFETY: the datatype was just made.
        let code = unsafe { ffi::MPI_Type_size(made, &raw mut size) };
        self.node.free(made);
        ensure!(code == 0, "MPI_Type_size returns {code}");
        let size = u64::try_from(size)?;
        ensure!(size == self.size, "the calls make a datatype of {size} bytes, not {}", self.size);
        Ok(size)
    }

    pub(crate) fn make_and_free(&mut self) {
        let mut made = black_box(&mut self.node).make();
        // SAFETY: the datatype was just made.
        unsafe { ffi::MPI_Type_commit(&raw mut made) };
        self.node.free(black_box(made));
    }
}

impl Node {
    /// The call that makes a type, and the calls that make its parts.
    fn of(ty: &Type) -> Result<Self> {
        // A datatype that a call makes of no other datatype belongs to the library, just as a named one does.
        let Some(call) = ty.call().filter(|call| call.types().next().is_some()) else {
            return Ok(Self::Predefined(Datatype::new(ty)?));
        };
        let parts: Vec<Self> = call.types().map(|part| Self::of(part)).collect::<Result<_>>()?;
        // SAFETY: a constant of the library.
        let handles = vec![unsafe { ffi::RSMPI_DATATYPE_NULL }; parts.len()];
        let arguments = Arguments::new(&ty.contents()?, handles)?;
        Ok(Self::Made(Call { arguments, parts }))
    }

    /// Makes the datatype.
    fn make(&mut self) -> MPI_Datatype {
        match self {
            Self::Predefined(datatype) => datatype.as_raw(),
            Self::Made(call) => call.make(),
        }
    }

    /// Frees what [`make`](Self::make) returned.
    fn free(&self, mut made: MPI_Datatype) {
        if let Self::Made(_) = self {
            // SAFETY: the caller's datatype, which is not used again.
            unsafe { ffi::MPI_Type_free(&raw mut made) };
        }
    }
}

impl Call {
    fn make(&mut self) -> MPI_Datatype {
        for (handle, part) in self.arguments.handles_mut().iter_mut().zip(&mut self.parts) {
            *handle = part.make();
        }
        // SAFETY: a constant of the library.
        let mut new = unsafe { ffi::RSMPI_DATATYPE_NULL };
        // SAFETY: MPI runs until the program ends, and the parts were just made.
        let code = unsafe { self.arguments.call(&raw mut new) };
        assert_eq!(code, 0, "the library refuses the call");
        for (&mut handle, part) in self.arguments.handles_mut().iter_mut().zip(&self.parts) {
            part.free(handle);
        }
        new
    }
}
