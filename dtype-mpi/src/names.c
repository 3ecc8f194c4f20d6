/* The names of an MPI library's predefined datatypes, and its constants.
 *
 * The standard fixes only the names. They stand for addresses of globals in one library and for integers in
 * another. Bindings for Rust may see neither, so a C compiler reads the header.
 * The Rust half is names.rs. */

#include <mpi.h>
#include <stddef.h>
#include <string.h>

#ifdef DTYPE_MPI_ASK_LIBRARY
dtype_mpi_standard MPI_VERSION MPI_SUBVERSION
#ifdef DTYPE_MPI_ABI
dtype_mpi_abi
#endif
#else

/* The MPI-1 markers. Open MPI 4 hides their names but keeps the objects, for programs that were compiled
 * with an older header. */
#if defined(OPEN_MPI) && !OMPI_ENABLE_MPI1_COMPAT && OMPI_MAJOR_VERSION == 4
extern struct ompi_predefined_datatype_t ompi_mpi_lb __attribute__((weak));
extern struct ompi_predefined_datatype_t ompi_mpi_ub __attribute__((weak));
#define LB ((MPI_Datatype)(void *)&ompi_mpi_lb)
#define UB ((MPI_Datatype)(void *)&ompi_mpi_ub)
#elif (defined(OPEN_MPI) && OMPI_ENABLE_MPI1_COMPAT) || (!defined(OPEN_MPI) && defined(MPI_LB))
#define LB MPI_LB
#define UB MPI_UB
#else
#define LB MPI_DATATYPE_NULL
#define UB MPI_DATATYPE_NULL
#endif

struct name {
    const char *name;
    MPI_Datatype handle;
};

#define NAME(type) { #type, type }

static const struct name names[] = {
    { "MPI_LB", LB },
    { "MPI_UB", UB },

    NAME(MPI_BYTE),
    NAME(MPI_PACKED),
    NAME(MPI_AINT),
    NAME(MPI_OFFSET),
    NAME(MPI_COUNT),

    NAME(MPI_CHAR),
    NAME(MPI_SIGNED_CHAR),
    NAME(MPI_UNSIGNED_CHAR),
    NAME(MPI_WCHAR),
    NAME(MPI_SHORT),
    NAME(MPI_UNSIGNED_SHORT),
    NAME(MPI_INT),
    NAME(MPI_UNSIGNED),
    NAME(MPI_LONG),
    NAME(MPI_UNSIGNED_LONG),
    NAME(MPI_LONG_LONG),
    NAME(MPI_UNSIGNED_LONG_LONG),
    NAME(MPI_FLOAT),
    NAME(MPI_DOUBLE),
    NAME(MPI_LONG_DOUBLE),

    NAME(MPI_C_BOOL),
    NAME(MPI_INT8_T),
    NAME(MPI_INT16_T),
    NAME(MPI_INT32_T),
    NAME(MPI_INT64_T),
    NAME(MPI_UINT8_T),
    NAME(MPI_UINT16_T),
    NAME(MPI_UINT32_T),
    NAME(MPI_UINT64_T),
    NAME(MPI_C_FLOAT_COMPLEX),
    NAME(MPI_C_DOUBLE_COMPLEX),
    NAME(MPI_C_LONG_DOUBLE_COMPLEX),

    NAME(MPI_CXX_BOOL),
    NAME(MPI_CXX_FLOAT_COMPLEX),
    NAME(MPI_CXX_DOUBLE_COMPLEX),
    NAME(MPI_CXX_LONG_DOUBLE_COMPLEX),

    NAME(MPI_CHARACTER),
    NAME(MPI_LOGICAL),
    NAME(MPI_INTEGER),
    NAME(MPI_REAL),
    NAME(MPI_DOUBLE_PRECISION),
    NAME(MPI_COMPLEX),
    NAME(MPI_DOUBLE_COMPLEX),

    /* Types that a Fortran compiler may lack. */
#ifdef MPI_INTEGER1
    NAME(MPI_INTEGER1),
#endif
#ifdef MPI_INTEGER2
    NAME(MPI_INTEGER2),
#endif
#ifdef MPI_INTEGER4
    NAME(MPI_INTEGER4),
#endif
#ifdef MPI_INTEGER8
    NAME(MPI_INTEGER8),
#endif
#ifdef MPI_INTEGER16
    NAME(MPI_INTEGER16),
#endif
#ifdef MPI_REAL2
    NAME(MPI_REAL2),
#endif
#ifdef MPI_REAL4
    NAME(MPI_REAL4),
#endif
#ifdef MPI_REAL8
    NAME(MPI_REAL8),
#endif
#ifdef MPI_REAL16
    NAME(MPI_REAL16),
#endif
#ifdef MPI_COMPLEX4
    NAME(MPI_COMPLEX4),
#endif
#ifdef MPI_COMPLEX8
    NAME(MPI_COMPLEX8),
#endif
#ifdef MPI_COMPLEX16
    NAME(MPI_COMPLEX16),
#endif
#ifdef MPI_COMPLEX32
    NAME(MPI_COMPLEX32),
#endif

    NAME(MPI_FLOAT_INT),
    NAME(MPI_DOUBLE_INT),
    NAME(MPI_LONG_INT),
    NAME(MPI_2INT),
    NAME(MPI_SHORT_INT),
    NAME(MPI_LONG_DOUBLE_INT),
    NAME(MPI_2REAL),
    NAME(MPI_2DOUBLE_PRECISION),
    NAME(MPI_2INTEGER),
};

/* The name at an index, and its handle, which is MPI_DATATYPE_NULL where the library lacks the type; NULL
 * after the last one. */
const char *dtype_mpi_name(size_t index, MPI_Datatype *handle)
{
    if (index >= sizeof names / sizeof *names)
        return NULL;
    *handle = names[index].handle ? names[index].handle : MPI_DATATYPE_NULL;
    return names[index].name;
}

/* The kinds of constants, as names.rs numbers them. */
enum kind { COMBINER, ORDER, DISTRIBUTION, DARG, UNDEFINED };

struct constant {
    int kind;
    int abi;
    int here;
};

static const struct constant constants[] = {
    { COMBINER, 101, MPI_COMBINER_NAMED },
    { COMBINER, 102, MPI_COMBINER_DUP },
    { COMBINER, 103, MPI_COMBINER_CONTIGUOUS },
    { COMBINER, 104, MPI_COMBINER_VECTOR },
    { COMBINER, 105, MPI_COMBINER_HVECTOR },
    { COMBINER, 106, MPI_COMBINER_INDEXED },
    { COMBINER, 107, MPI_COMBINER_HINDEXED },
    { COMBINER, 108, MPI_COMBINER_INDEXED_BLOCK },
    { COMBINER, 109, MPI_COMBINER_HINDEXED_BLOCK },
    { COMBINER, 110, MPI_COMBINER_STRUCT },
    { COMBINER, 111, MPI_COMBINER_SUBARRAY },
    { COMBINER, 112, MPI_COMBINER_DARRAY },
    { COMBINER, 113, MPI_COMBINER_F90_REAL },
    { COMBINER, 114, MPI_COMBINER_F90_COMPLEX },
    { COMBINER, 115, MPI_COMBINER_F90_INTEGER },
    { COMBINER, 116, MPI_COMBINER_RESIZED },
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    { COMBINER, 117, MPI_COMBINER_VALUE_INDEX },
#endif
    { ORDER, 12, MPI_ORDER_C },
    { ORDER, 15, MPI_ORDER_FORTRAN },
    { DISTRIBUTION, 16, MPI_DISTRIBUTE_NONE },
    { DISTRIBUTION, 17, MPI_DISTRIBUTE_BLOCK },
    { DISTRIBUTION, 18, MPI_DISTRIBUTE_CYCLIC },
    { DARG, 19, MPI_DISTRIBUTE_DFLT_DARG },
    { UNDEFINED, -32766, MPI_UNDEFINED },
};

/* The constant at an index: 1, or 0 after the last one. */
int dtype_mpi_constant(size_t index, int *kind, int *abi, int *here)
{
    if (index >= sizeof constants / sizeof *constants)
        return 0;
    *kind = constants[index].kind;
    *abi = constants[index].abi;
    *here = constants[index].here;
    return 1;
}

#define TEXT(number) #number
#define VALUE(macro) TEXT(macro)

/* The library that the header belongs to, and its version; empty if the header does not say. */
const char *dtype_mpi_header_library(void)
{
#ifdef OPEN_MPI
    return "Open MPI " VALUE(OMPI_MAJOR_VERSION) "." VALUE(OMPI_MINOR_VERSION) "." VALUE(OMPI_RELEASE_VERSION);
#elif defined(MPICH_VERSION)
    return "MPICH " MPICH_VERSION;
#else
    return "";
#endif
}

/* The version of the standard that the header declares: 3001 for MPI 3.1. */
int dtype_mpi_header_standard(void)
{
    return MPI_VERSION * 1000 + MPI_SUBVERSION;
}

static void ignore(MPI_Comm *communicator, int *code, ...)
{
    (void)communicator;
    (void)code;
}

/* The error handler with which calls return their errors. In Intel MPI 2021.18's library of the standard ABI,
 * MPI_ERRORS_RETURN ends the program, as MPI_ERRORS_ABORT should, so there it is a function that does nothing. */
MPI_Errhandler dtype_mpi_returning(void)
{
    MPI_Errhandler returning = MPI_ERRORS_RETURN;
#ifdef DTYPE_MPI_ABI
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    if (strncmp(version, "Intel", 5) == 0)
        MPI_Comm_create_errhandler(ignore, &returning);
#else
    (void)ignore;
#endif
    return returning;
}

/* The size of a handle in bytes, which shows whether both halves were compiled for the same library. */
size_t dtype_mpi_handle_size(void)
{
    return sizeof(MPI_Datatype);
}

#endif
