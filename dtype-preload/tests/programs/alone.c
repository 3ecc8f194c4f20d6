/* Each rank sends to all ranks, itself included: records or contiguous data; or it packs two blocks that are long. It prints the
 * bytes that the library in front of MPI has moved. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 100000 };

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    const char *what = argc > 1 ? argv[1] : "";
    int ranks, rank, count = 1000;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Datatype inner, type = MPI_DOUBLE;
    if (strcmp(what, "contiguous")) {
        int is_long = !strcmp(what, "long");
        MPI_Type_contiguous(is_long ? BLOCK : 9, MPI_CHAR, &inner);
        MPI_Type_create_resized(inner, 0, is_long ? BLOCK + 8 : 16, &type);
        MPI_Type_commit(&type);
        MPI_Type_free(&inner);
        count = is_long ? 2 : 1000;
    }
    char *from = calloc(ranks, 2 * BLOCK + 16), *to = calloc(ranks, 2 * BLOCK + 16);
    if (!strcmp(what, "long")) {
        int position = 0;
        for (int time = 0; time < 2; time++, position = 0)
            MPI_Pack(from, count, type, to, 2 * BLOCK, &position, MPI_COMM_WORLD);
    } else {
        for (int time = 0; time < 3; time++)
            MPI_Alltoall(from, count, type, to, count, type, MPI_COMM_WORLD);
    }
    uint64_t (*moved)(void);
    *(void **)&moved = dlsym(RTLD_DEFAULT, "dtype_preload_moved");
    printf("%" PRIu64 " moved\n", moved ? moved() : 0);
    free(from), free(to);
    MPI_Finalize();
    return 0;
}
