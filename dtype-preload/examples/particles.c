/* A ring of ranks. Each sends its particles to the next one, without their local bookkeeping, and checks those that it gets.
 *
 *     mpicc particles.c -o particles
 *     mpirun -n 3 ./particles
 *     LD_PRELOAD=target/release/libdtype_preload.so DTYPE_PRELOAD=stats mpirun -n 3 ./particles */

#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct particle {
    double position[3];
    int neighbours; /* not sent */
    float mass;
    char kind;
};

enum { PARTICLES = 20000, ROUNDS = 20 };

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;

    const int lengths[] = {3, 1, 1};
    const MPI_Aint at[] = {offsetof(struct particle, position), offsetof(struct particle, mass), offsetof(struct particle, kind)};
    const MPI_Datatype members[] = {MPI_DOUBLE, MPI_FLOAT, MPI_CHAR};
    MPI_Datatype fields, type;
    MPI_Type_create_struct(3, lengths, at, members, &fields);
    MPI_Type_create_resized(fields, 0, sizeof(struct particle), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&fields);

    struct particle *mine = malloc(PARTICLES * sizeof *mine), *theirs = malloc(PARTICLES * sizeof *theirs);
    for (int i = 0; i < PARTICLES; i++) {
        mine[i] = (struct particle){{i, i * 0.5, rank}, -1, i * 0.25f, (char)i};
        theirs[i].neighbours = i;
    }
    double start = MPI_Wtime();
    for (int round = 0; round < ROUNDS; round++)
        MPI_Sendrecv(mine, PARTICLES, type, next, 0, theirs, PARTICLES, type, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double time = (MPI_Wtime() - start) / ROUNDS;

    int wrong = 0;
    for (int i = 0; i < PARTICLES; i++) {
        const struct particle *one = &theirs[i];
        wrong += one->position[0] != i || one->position[1] != i * 0.5 || one->position[2] != previous;
        wrong += one->mass != i * 0.25f || one->kind != (char)i || one->neighbours != i;
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d particles to the next of %d ranks, %s\n", PARTICLES, ranks, wrong ? "WRONG" : "right");
    if (rank == 0)
        fprintf(stderr, "%.0f microseconds\n", time * 1e6);
    MPI_Type_free(&type);
    free(mine), free(theirs);
    MPI_Finalize();
    return wrong != 0;
}
