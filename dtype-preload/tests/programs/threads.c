/* Several threads of each rank send and receive at the same time, each with types of its own that it makes and frees, and
 * with one type that all share. */

#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, COUNT = 700 };

struct record {
    char kind;
    double value;
};

static int rank, rounds;
static MPI_Datatype shared;
static MPI_Comm comms[THREADS];

static MPI_Datatype make(int extent) {
    const int lengths[2] = {1, 1};
    const MPI_Aint at[2] = {0, 8};
    const MPI_Datatype members[2] = {MPI_CHAR, MPI_DOUBLE};
    MPI_Datatype record, type;
    MPI_Type_create_struct(2, lengths, at, members, &record);
    MPI_Type_create_resized(record, 0, extent, &type);
    MPI_Type_free(&record);
    MPI_Type_commit(&type);
    return type;
}

static void *run(void *argument) {
    int thread = (int)(intptr_t)argument, other = 1 - rank;
    char *from = malloc(COUNT * 48), *to = malloc(COUNT * 48);
    intptr_t wrong = 0;
    for (int round = 0; round < rounds; round++) {
        int extent = 16 + 8 * ((round + thread) % 4);
        MPI_Datatype type = round % 3 == 0 ? shared : make(extent);
        if (round % 3 == 0)
            extent = 16;
        memset(to, 0x33, COUNT * 48);
        for (int i = 0; i < COUNT; i++) {
            struct record *record = (struct record *)(from + (size_t)i * extent);
            record->kind = (char)(i + round + rank);
            record->value = i + round * 0.25 + thread + rank * 0.5;
        }
        MPI_Request requests[2];
        MPI_Irecv(to, COUNT, type, other, round, comms[thread], &requests[0]);
        MPI_Isend(from, COUNT, type, other, round, comms[thread], &requests[1]);
        if (type != shared)
            MPI_Type_free(&type);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < COUNT; i++) {
            struct record *record = (struct record *)(to + (size_t)i * extent);
            wrong += record->kind != (char)(i + round + other);
            wrong += record->value != i + round * 0.25 + thread + other * 0.5;
            for (int gap = 1; gap < 8; gap++)
                wrong += ((char *)record)[gap] != 0x33;
        }
    }
    free(from), free(to);
    return (void *)wrong;
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    rounds = argc > 1 ? atoi(argv[1]) : 30;
    if (provided < MPI_THREAD_MULTIPLE) {
        printf("no threads\n");
        MPI_Finalize();
        return 0;
    }
    shared = make(16);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    intptr_t wrong = 0;
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        wrong += (intptr_t)result;
    }
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Type_free(&shared);
    printf("%s\n", wrong == 0 ? "right" : "WRONG");
    MPI_Finalize();
    return 0;
}
