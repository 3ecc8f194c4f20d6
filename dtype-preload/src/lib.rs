//! A library to be loaded before an MPI library. Unmodified programs then pack and unpack their derived datatypes with
//! `dtype-runtime`.
//!
//! ```console
//! cargo build --release -p dtype-preload
//! LD_PRELOAD=$PWD/target/release/libdtype_preload.so mpirun -n 4 ./any-mpi-program
//! ```
//!
//! The functions that it exports have the names of functions of Open MPI, MPICH and UCX, so the dynamic linker binds the
//! library's calls to them. Each function calls the original, and replaces it only where the results are known to be the same:
//!
//! | library | exported functions | what they do |
//! |---|---|---|
//! | Open MPI 4.1, 5.0 | `opal_convertor_prepare_for_send`, `…_recv` | after the original has prepared a convertor, replace the function that advances it |
//! | | `opal_convertor_set_position_nocheck`, `opal_convertor_raw` | the same for convertors whose function was replaced |
//! | | `opal_datatype_copy_content_same_ddt` | copies |
//! | | `opal_datatype_commit`, `opal_datatype_clone`, `opal_datatype_resize`, `ompi_datatype_destroy` | forget what was compiled for the type that was at this address |
//! | Intel MPI, MPICH, the standard ABI | `MPI_Send` and other sends, `MPI_Recv` and other receives | pass packed bytes to the library |
//! | | `MPI_Gather` and other collective operations that move data | the same |
//! | | `MPI_Wait` and other functions on requests | unpack what was received |
//! | | `MPI_Pack`, `MPI_Unpack`, `MPI_Pack_external`, `MPI_Unpack_external` | pack, unpack, convert |
//! | | `MPI_Type_commit`, `MPI_Type_dup`, `MPI_Type_free` | know the handle, and that the type is committed |
//! | MPICH 4.0 over UCX | `ucp_dt_create_generic`, `ucp_dt_destroy` | callbacks around MPICH's own |
//!
//! MPI's functions have their `_c` forms and their `PMPI_` names as well. A program may test whether a function exists, and with this
//! library loaded, all of these do. So where a library lacks a function, a substitute calls those that it has. The functions of Open
//! MPI are internal, and the functions of UCX call UCX's own, which are loaded with the program that uses them.
//!
//! The first use of either part checks the library's version, and the sizes of the structures that this library accesses; if
//! they are not known, all calls go to the originals. `DTYPE_PRELOAD` selects the [mode]: `on`, `off`, `all`,
//! `everywhere`, `verify`, `stats`, or several of them separated by commas. The chapter *Unmodified MPI programs* of the book is the user's guide.

#![deny(unsafe_code)]

pub mod mode;

#[expect(unsafe_code, reason = "blocks a signal while it writes to standard error")]
mod boundary;
mod compiled;
#[expect(
    unsafe_code,
    reason = "calls MPI's and UCX's functions, and exports them; lends the program's memory to the engine"
)]
mod mpi;
#[expect(
    unsafe_code,
    reason = "changes Open MPI's structures; exports and calls its functions; lends the program's memory to the engine"
)]
mod openmpi;
#[expect(unsafe_code, reason = "looks up the MPI library's symbols and calls them")]
mod original;
mod policy;
mod registry;
#[expect(unsafe_code, reason = "registers the report at exit")]
mod report;
#[expect(unsafe_code, reason = "exports a function for programs")]
mod stats;
mod values;
mod verify;

pub use mpi::abi;
pub use openmpi::layout;
pub use stats::dtype_preload_moved;
