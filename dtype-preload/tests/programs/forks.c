/* Packs and unpacks elements of seven types, the one with the most bytes last, and forks a child that ends as programs do. With
 * an argument, it only sends contiguous data. */

#include <mpi.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 20000 };

static char packed[COUNT * 9];

static void use(MPI_Datatype old, int count) {
    static double memory[2 * COUNT];
    MPI_Datatype type;
    MPI_Type_create_resized(old, 0, 16, &type);
    MPI_Type_commit(&type);
    for (int time = 0; time < 2; time++) {
        int position = 0;
        MPI_Pack(memory, count, type, packed, sizeof packed, &position, MPI_COMM_WORLD);
    }
    MPI_Type_free(&type);
    MPI_Type_free(&old);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc == 1) {
        for (int i = 1; i <= 6; i++) {
            MPI_Datatype bytes;
            MPI_Type_create_hindexed(1, &i, &(MPI_Aint){1}, MPI_CHAR, &bytes);
            use(bytes, 3000);
        }
        MPI_Datatype record;
        MPI_Type_create_struct(2, (const int[]){1, 1}, (const MPI_Aint[]){0, 8},
                               (const MPI_Datatype[]){MPI_CHAR, MPI_DOUBLE}, &record);
        use(record, COUNT);
    } else {
        MPI_Sendrecv(packed, 100, MPI_CHAR, 0, 0, packed + 100, 100, MPI_CHAR, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    }
    pid_t child = fork();
    if (child == 0)
        exit(0);
    int status;
    waitpid(child, &status, 0);
    MPI_Finalize();
    return status;
}
