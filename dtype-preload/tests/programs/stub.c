/* As much of an MPI library as a program needs that commits a type. The variable STUB_VERSION is what it says of its version;
 * without it, it says nothing. */

#include <stdio.h>
#include <stdlib.h>

static int initialized;

#define BOTH(name, arguments, ...)                                                                                     \
    int MPI_##name arguments __VA_ARGS__ int PMPI_##name arguments __VA_ARGS__

BOTH(Init, (int *argc, char ***argv), {
    (void)argc, (void)argv;
    initialized = 1;
    return 0;
})

BOTH(Initialized, (int *flag), {
    *flag = initialized;
    return 0;
})

BOTH(Get_library_version, (char *text, int *length), {
    const char *version = getenv("STUB_VERSION");
    if (version)
        *length = sprintf(text, "%s", version);
    return version ? 0 : 16;
})

BOTH(Type_commit, (void *type), {
    (void)type;
    return 0;
})
