//! The calls that make a datatype, with all arguments ready.

use std::hint::black_box;
use std::os::raw::c_int;

use anyhow::{Result, ensure};
use dtype_mpi::Datatype;
use dtype_runtime::Type;
use dtype_runtime::types::Combiner;
use mpi::ffi::{self, MPI_Aint, MPI_Datatype};
use mpi::raw::AsRaw;

/// A datatype, as the call that makes it and those for its parts.
pub(crate) struct Calls {
    /// Keeps what is named alive, and is what the calls were read from.
    whole: Datatype,
    node: Node,
}

enum Node {
    Named(MPI_Datatype),
    Made(Call),
}

/// A call: the arrays of `MPI_Type_get_contents`, which has them as the call takes them.
struct Call {
    combiner: Combiner,
    integers: Vec<c_int>,
    addresses: Vec<MPI_Aint>,
    parts: Vec<Node>,
    /// The parts' handles, while the call is made.
    handles: Vec<MPI_Datatype>,
}

impl Calls {
    /// The calls that make a datatype of the type.
    pub(crate) fn of(ty: &Type) -> Result<Self> {
        let whole = Datatype::new(ty)?;
        let node = Node::of(whole.as_raw(), ty)?;
        Ok(Self { whole, node })
    }

    /// Packed bytes of what the calls make.
    pub(crate) fn size(&mut self) -> Result<u64> {
        let made = self.node.make();
        let mut size = 0;
        // SAFETY: the datatype was just made.
        let code = unsafe { ffi::MPI_Type_size(made, &raw mut size) };
        self.node.free(made);
        ensure!(code == 0, "MPI_Type_size returns {code}");
        ensure!(i64::from(size) == self.whole.size()?, "the calls make another datatype");
        Ok(u64::try_from(size)?)
    }

    pub(crate) fn make_and_free(&mut self) {
        let mut made = black_box(&mut self.node).make();
        // SAFETY: the datatype was just made.
        unsafe { ffi::MPI_Type_commit(&raw mut made) };
        self.node.free(black_box(made));
    }
}

impl Node {
    /// The call that made a datatype, and those that made its parts.
    fn of(handle: MPI_Datatype, ty: &Type) -> Result<Self> {
        let contents = match ty.contents() {
            Err(dtype_runtime::Error::NoContents { .. }) => return Ok(Self::Named(handle)),
            contents => contents?,
        };
        let (mut integers, mut addresses, mut parts, mut combiner) = (0, 0, 0, 0);
        // SAFETY: the handle is that of a datatype which is alive.
        let code = unsafe {
            ffi::MPI_Type_get_envelope(
                handle,
                &raw mut integers,
                &raw mut addresses,
                &raw mut parts,
                &raw mut combiner,
            )
        };
        ensure!(code == 0, "MPI_Type_get_envelope returns {code}");
        let mut call = Call {
            combiner: contents.combiner,
            integers: vec![0; usize::try_from(integers)?],
            addresses: vec![0; usize::try_from(addresses)?],
            parts: Vec::new(),
            // SAFETY: a constant of the library.
            handles: vec![unsafe { ffi::RSMPI_DATATYPE_NULL }; usize::try_from(parts)?],
        };
        // SAFETY: as above; the arrays have the lengths that are given.
        let code = unsafe {
            ffi::MPI_Type_get_contents(
                handle,
                integers,
                addresses,
                parts,
                call.integers.as_mut_ptr(),
                call.addresses.as_mut_ptr(),
                call.handles.as_mut_ptr(),
            )
        };
        ensure!(code == 0, "MPI_Type_get_contents returns {code}");
        ensure!(contents.datatypes.len() == call.handles.len(), "other contents");
        for (&handle, part) in call.handles.iter().zip(&contents.datatypes) {
            let node = Self::of(handle, part)?;
            node.free(handle);
            call.parts.push(node);
        }
        Ok(Self::Made(call))
    }

    /// Makes the datatype.
    fn make(&mut self) -> MPI_Datatype {
        match self {
            Self::Named(handle) => *handle,
            Self::Made(call) => call.make(),
        }
    }

    /// Frees what [`make`](Self::make) returned, or a part that `MPI_Type_get_contents` did.
    fn free(&self, mut made: MPI_Datatype) {
        if let Self::Made(_) = self {
            // SAFETY: made for the caller, and not used again.
            unsafe { ffi::MPI_Type_free(&raw mut made) };
        }
    }
}

impl Call {
    fn make(&mut self) -> MPI_Datatype {
        for (handle, part) in self.handles.iter_mut().zip(&mut self.parts) {
            *handle = part.make();
        }
        // SAFETY: a constant of the library.
        let mut new = unsafe { ffi::RSMPI_DATATYPE_NULL };
        // SAFETY: the parts were just made.
        let code = unsafe { self.call(&raw mut new) };
        assert_eq!(code, 0, "the library made the same datatype before");
        for (&handle, part) in self.handles.iter().zip(&self.parts) {
            part.free(handle);
        }
        new
    }

    /// The call itself.
    ///
    /// # Safety
    ///
    /// The handles are those of datatypes that are alive, and `new` can be written to.
    unsafe fn call(&self, new: *mut MPI_Datatype) -> c_int {
        let (n, a) = (self.integers.as_slice(), self.addresses.as_slice());
        let old = self.handles[0];
        let length = n.first().map_or(0, |&count| usize::try_from(count).unwrap_or(0));
        // SAFETY: the arguments are those that MPI_Type_get_contents gave for this combiner, in the order
        // that the standard has for them; the caller answers for the rest.
        unsafe {
            match self.combiner {
                Combiner::Dup => ffi::MPI_Type_dup(old, new),
                Combiner::Contiguous => ffi::MPI_Type_contiguous(n[0], old, new),
                Combiner::Vector => ffi::MPI_Type_vector(n[0], n[1], n[2], old, new),
                Combiner::Hvector => ffi::MPI_Type_create_hvector(n[0], n[1], a[0], old, new),
                Combiner::Indexed => {
                    let (lengths, places) = n[1..].split_at(length);
                    ffi::MPI_Type_indexed(n[0], lengths.as_ptr(), places.as_ptr(), old, new)
                }
                Combiner::Hindexed => {
                    ffi::MPI_Type_create_hindexed(n[0], n[1..].as_ptr(), a.as_ptr(), old, new)
                }
                Combiner::IndexedBlock => {
                    ffi::MPI_Type_create_indexed_block(n[0], n[1], n[2..].as_ptr(), old, new)
                }
                Combiner::HindexedBlock => {
                    ffi::MPI_Type_create_hindexed_block(n[0], n[1], a.as_ptr(), old, new)
                }
                Combiner::Structure => ffi::MPI_Type_create_struct(
                    n[0],
                    n[1..].as_ptr(),
                    a.as_ptr(),
                    self.handles.as_ptr(),
                    new,
                ),
                Combiner::Subarray => {
                    let at = |i: usize| n[1 + i * length..].as_ptr();
                    ffi::MPI_Type_create_subarray(
                        n[0],
                        at(0),
                        at(1),
                        at(2),
                        n[1 + 3 * length],
                        old,
                        new,
                    )
                }
                Combiner::Darray => {
                    let dimensions = usize::try_from(n[2]).unwrap_or(0);
                    let at = |i: usize| n[3 + i * dimensions..].as_ptr();
                    ffi::MPI_Type_create_darray(
                        n[0],
                        n[1],
                        n[2],
                        at(0),
                        at(1),
                        at(2),
                        at(3),
                        n[3 + 4 * dimensions],
                        old,
                        new,
                    )
                }
                Combiner::Resized => ffi::MPI_Type_create_resized(old, a[0], a[1], new),
                other => unreachable!("{other:?} is not measured"),
            }
        }
    }
}
