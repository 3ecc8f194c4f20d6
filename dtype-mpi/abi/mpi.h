/* The library's header of the MPI 5 ABI, and the conversions of handles that the ABI lacks and the `mpi` crate needs. They are
 * the ABI's own conversions to integers, which any two parts of a program may pass to each other, but not to Fortran.
 *
 * The `mpi` crate reads the header twice: by the compiler wrapper, which selects the ABI, and by libclang, which knows the
 * folders alone. So this file selects the ABI, too. */

#ifndef MPI_ABI
#define MPI_ABI
#endif
#include_next <mpi.h>

#ifndef DTYPE_MPI_ABI
#define DTYPE_MPI_ABI
#if !defined(MPI_ABI_VERSION) || MPI_VERSION < 5
#error "the library has no header of the MPI 5 ABI: MPICC_ABI names its compiler wrapper for the ABI"
#endif

typedef int MPI_Fint;
#define MPI_Comm_c2f MPI_Comm_toint
#define MPI_Comm_f2c MPI_Comm_fromint
#define MPI_Errhandler_c2f MPI_Errhandler_toint
#define MPI_Errhandler_f2c MPI_Errhandler_fromint
#define MPI_File_c2f MPI_File_toint
#define MPI_File_f2c MPI_File_fromint
#define MPI_Group_c2f MPI_Group_toint
#define MPI_Group_f2c MPI_Group_fromint
#define MPI_Info_c2f MPI_Info_toint
#define MPI_Info_f2c MPI_Info_fromint
#define MPI_Message_c2f MPI_Message_toint
#define MPI_Message_f2c MPI_Message_fromint
#define MPI_Op_c2f MPI_Op_toint
#define MPI_Op_f2c MPI_Op_fromint
#define MPI_Request_c2f MPI_Request_toint
#define MPI_Request_f2c MPI_Request_fromint
#define MPI_Type_c2f MPI_Type_toint
#define MPI_Type_f2c MPI_Type_fromint
#define MPI_Win_c2f MPI_Win_toint
#define MPI_Win_f2c MPI_Win_fromint
#endif
