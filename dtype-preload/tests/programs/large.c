/* Calls with large counts, where the library has them or something in front of it does: found by weak references and by dlsym,
 * under both names. They do what the calls with small counts do. Prints how many of the 16 it has found. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECLARE(p)                                                                                                     \
    extern __attribute__((weak)) int p##Pack_c(const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Count *, \
                                               MPI_Comm);                                                              \
    extern __attribute__((weak)) int p##Unpack_c(const void *, MPI_Count, MPI_Count *, void *, MPI_Count,              \
                                                 MPI_Datatype, MPI_Comm);                                              \
    extern __attribute__((weak)) int p##Pack_external_c(const char *, const void *, MPI_Count, MPI_Datatype, void *,   \
                                                        MPI_Count, MPI_Count *);                                       \
    extern __attribute__((weak)) int p##Unpack_external_c(const char *, const void *, MPI_Count, MPI_Count *, void *,  \
                                                          MPI_Count, MPI_Datatype);
DECLARE(MPI_)
DECLARE(PMPI_)

enum { COUNT = 1000, BYTES = COUNT * 8, BEFORE = 3 };

/* A position that no int holds. */
static const MPI_Count FAR = 3LL << 30;

static MPI_Datatype type;
static double from[2 * COUNT], to[2 * COUNT];
static char expected[BEFORE + BYTES], packed[BEFORE + BYTES];
static int handled, found;

static void handler(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    handled++;
}

static void check(int right, const char *what) {
    if (!right) {
        printf("wrong: %s\n", what);
        fflush(stdout);
        exit(1);
    }
}

#ifdef OPEN_MPI
/* Whether the library checks arguments. */
static int checks;

/* A call that the library in front makes of another one: what it refuses is an error of that. */
static void fails(int code, int with, const char *what) {
    int class;
    MPI_Error_class(code, &class);
    check(class != MPI_SUCCESS && handled == 1 && (with == MPI_SUCCESS || class == with), what);
    handled = 0;
}
#endif

static void unpacked(const char *what) {
    for (int i = 0; i < 2 * COUNT; i++)
        check(to[i] == (i % 2 ? 0 : i + 1), what);
    memset(to, 0, sizeof to);
}

static void pack(typeof(&MPI_Pack_c) call) {
    if (!call)
        return;
    found++;
    int small = BEFORE;
    memset(expected, 0, sizeof expected), memset(packed, 0, sizeof packed);
    MPI_Pack(from, COUNT, type, expected, sizeof expected, &small, MPI_COMM_WORLD);
    MPI_Count at = BEFORE;
    check(call(from, COUNT / 2, type, packed, sizeof packed, &at, MPI_COMM_WORLD) == MPI_SUCCESS, "packs");
    check(call(from + COUNT, COUNT / 2, type, packed, sizeof packed, &at, MPI_COMM_WORLD) == MPI_SUCCESS, "continues");
    check(at == small && memcmp(packed, expected, sizeof packed) == 0, "packed");
    memset(packed, 0, sizeof packed);
    at = FAR + BEFORE;
    check(call(from, COUNT, type, packed - FAR, FAR + sizeof packed, &at, MPI_COMM_WORLD) == MPI_SUCCESS, "far");
    check(at == FAR + small && memcmp(packed, expected, sizeof packed) == 0, "packed far");
#ifdef OPEN_MPI
    at = 0;
    fails(call(from, COUNT, type, packed, BYTES - 1, &at, MPI_COMM_WORLD), MPI_SUCCESS, "no room");
    at = BYTES + 8;
    fails(call(from, 1, type, packed, BYTES, &at, MPI_COMM_WORLD), MPI_SUCCESS, "behind the buffer");
    at = 0;
    fails(call(from, -1, type, packed, sizeof packed, &at, MPI_COMM_WORLD), MPI_ERR_COUNT, "a negative count");
    if (checks)
        fails(call(from, COUNT, type, packed, sizeof packed, NULL, MPI_COMM_WORLD), MPI_ERR_ARG, "no position");
    fails(call(from, INT_MAX + 1LL, type, packed, 1LL << 40, &at, MPI_COMM_WORLD), MPI_ERR_COUNT, "a large count");
    fails(call(from, (1LL << 32) + 1, type, packed, 1LL << 40, &at, MPI_COMM_WORLD), MPI_ERR_COUNT, "one of 33 bits");
    check(at == 0, "a call that fails moves nothing");
#endif
}

static void unpack(typeof(&MPI_Unpack_c) call) {
    if (!call)
        return;
    found++;
    int small = 0;
    MPI_Pack(from, COUNT, type, packed, sizeof packed, &small, MPI_COMM_WORLD);
    MPI_Count at = 0;
    check(call(packed, BYTES, &at, to, COUNT, type, MPI_COMM_WORLD) == MPI_SUCCESS && at == BYTES, "unpacks");
    unpacked("unpacked");
    at = FAR;
    check(call(packed - FAR, FAR + BYTES, &at, to, COUNT, type, MPI_COMM_WORLD) == MPI_SUCCESS, "unpacks far");
    check(at == FAR + BYTES, "the position");
    unpacked("unpacked far");
#ifdef OPEN_MPI
    at = 0;
    fails(call(packed, BYTES - 1, &at, to, COUNT, type, MPI_COMM_WORLD), MPI_SUCCESS, "too few bytes");
    fails(call(packed, BYTES, &at, to, -1, type, MPI_COMM_WORLD), MPI_ERR_COUNT, "a negative count");
    if (checks)
        fails(call(packed, BYTES, NULL, to, COUNT, type, MPI_COMM_WORLD), MPI_ERR_ARG, "no position");
    fails(call(packed, 1LL << 40, &at, to, INT_MAX + 1LL, type, MPI_COMM_WORLD), MPI_ERR_COUNT, "a large count");
    check(at == 0, "a call that fails moves nothing");
#endif
}

static void pack_external(typeof(&MPI_Pack_external_c) call) {
    if (!call)
        return;
    found++;
    memset(expected, 0, sizeof expected), memset(packed, 0, sizeof packed);
    MPI_Aint small = BEFORE;
    MPI_Pack_external("external32", from, COUNT, type, expected, sizeof expected, &small);
    MPI_Count at = BEFORE;
    check(call("external32", from, COUNT, type, packed, sizeof packed, &at) == MPI_SUCCESS, "converts");
    check(at == small && memcmp(packed, expected, sizeof packed) == 0, "converted");
#ifdef OPEN_MPI
    fails(call("external32", from, -1, type, packed, sizeof packed, &at), MPI_ERR_COUNT, "a negative count");
    at = 0;
    fails(call("external32", from, INT_MAX + 1LL, type, packed, 1LL << 40, &at), MPI_ERR_COUNT, "a large count");
#endif
}

static void unpack_external(typeof(&MPI_Unpack_external_c) call) {
    if (!call)
        return;
    found++;
    MPI_Aint small = 0;
    MPI_Pack_external("external32", from, COUNT, type, packed, sizeof packed, &small);
    MPI_Count at = 0;
    check(call("external32", packed, BYTES, &at, to, COUNT, type) == MPI_SUCCESS && at == BYTES, "converts back");
    unpacked("converted back");
#ifdef OPEN_MPI
    at = 0;
    fails(call("external32", packed, BYTES, &at, to, -1, type), MPI_ERR_COUNT, "a negative count");
    fails(call("external32", packed, 1LL << 40, &at, to, INT_MAX + 1LL, type), MPI_ERR_COUNT, "a large count");
#endif
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
#ifdef OPEN_MPI
    const char *variable = getenv("OMPI_MCA_mpi_param_check");
    checks = !variable || strcmp(variable, "0");
#endif
    MPI_Errhandler own;
    MPI_Comm_create_errhandler(handler, &own);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, own);
    MPI_Datatype one;
    MPI_Type_contiguous(1, MPI_DOUBLE, &one);
    MPI_Type_create_resized(one, 0, 2 * sizeof(double), &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < 2 * COUNT; i++)
        from[i] = i + 1;
    pack(MPI_Pack_c), pack(PMPI_Pack_c);
    unpack(MPI_Unpack_c), unpack(PMPI_Unpack_c);
    pack_external(MPI_Pack_external_c), pack_external(PMPI_Pack_external_c);
    unpack_external(MPI_Unpack_external_c), unpack_external(PMPI_Unpack_external_c);
    pack(dlsym(RTLD_DEFAULT, "MPI_Pack_c")), pack(dlsym(RTLD_NEXT, "PMPI_Pack_c"));
    unpack(dlsym(RTLD_DEFAULT, "MPI_Unpack_c")), unpack(dlsym(RTLD_NEXT, "PMPI_Unpack_c"));
    pack_external(dlsym(RTLD_DEFAULT, "MPI_Pack_external_c")), pack_external(dlsym(RTLD_NEXT, "PMPI_Pack_external_c"));
    unpack_external(dlsym(RTLD_DEFAULT, "MPI_Unpack_external_c"));
    unpack_external(dlsym(RTLD_NEXT, "PMPI_Unpack_external_c"));
    printf("%d found\n", found);
    MPI_Type_free(&one);
    MPI_Type_free(&type);
    MPI_Errhandler_free(&own);
    MPI_Finalize();
    return 0;
}
