/* Packs after MPI has ended, by the call that the argument names. */

#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 1000 };

static double from[2 * COUNT], packed[COUNT];
static MPI_Datatype type;

static void pack(void) {
    int position = 0;
    MPI_Pack(from, 1, type, packed, sizeof packed, &position, MPI_COMM_WORLD);
}

static void pack_external(void) {
    MPI_Aint position = 0;
    MPI_Pack_external("external32", from, 1, type, packed, sizeof packed, &position);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Type_vector(COUNT, 1, 2, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    for (int round = 0; round < 3; round++) {
        pack();
        pack_external();
    }
    MPI_Finalize();
    puts("ended");
    fflush(stdout);
    if (argc > 1 && strcmp(argv[1], "pack") == 0) {
        pack();
        puts("packed");
    }
    if (argc > 1 && strcmp(argv[1], "external") == 0) {
        pack_external();
        puts("packed");
    }
    return 0;
}
