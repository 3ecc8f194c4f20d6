/* Random nested types between two ranks: sent and received as the type, sent as the type and received as packed bytes,
 * and the other way round, so that fragments start and end inside values. Both ranks draw the same numbers.
 *
 * The mode `verify` compares every fragment; here the packed bytes at both ends are compared.
 *
 * Arguments: the number of types, the seed. */

#include "types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* MPICH, which has the standard ABI as well, and Open MPI 5 do not copy the padding inside of a long double, which could not
 * be compared here. Open MPI 5.0.11 also packs complex numbers from wrong displacements if the stride is not a multiple of
 * their size. */
#if OMPI_MAJOR_VERSION >= 5
#define WIDE MPI_DOUBLE
#elif defined MPICH_VERSION || defined MPI_ABI
#define WIDE MPI_C_DOUBLE_COMPLEX
#else
#define WIDE MPI_LONG_DOUBLE
#endif

static MPI_Datatype basic(void) {
    const MPI_Datatype all[] = {MPI_CHAR,   MPI_SHORT, MPI_INT,    MPI_LONG, MPI_FLOAT,
                                MPI_DOUBLE, MPI_BYTE,  MPI_DOUBLE, WIDE,     MPI_DOUBLE_INT};
    MPI_Datatype copy;
    MPI_Type_dup(all[draw(sizeof all / sizeof *all)], &copy);
    return copy;
}

static int rank;

static void fail(int number, const char *what) {
    printf("type %d: %s\n", number, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Messages for each type. */
enum { ROUNDS = 4 };

/* What is sent, until the messages are complete. */
struct sent {
    MPI_Request requests[ROUNDS];
    unsigned char *from, *packed;
};

/* The sender runs ahead: MPICH's ranks wait busily, and where other processes want the cores, too, a rank that waits for the
 * other waits for the end of a time slice. For the same reason both give the core away while they wait. */
static struct sent all[32];

static void complete(int number, MPI_Request *requests, MPI_Status *statuses) {
    int done = 0;
    for (int tried = 0; MPI_Testall(number, requests, &done, statuses), !done; tried++)
        if (tried > 50)
            usleep(10);
}

static struct sent *next(void) {
    static size_t used;
    struct sent *sent = &all[used++ % (sizeof all / sizeof *all)];
    if (sent->from)
        complete(ROUNDS, sent->requests, MPI_STATUSES_IGNORE);
    free(sent->from), free(sent->packed);
    sent->from = sent->packed = NULL;
    return sent;
}

static void finish(void) {
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        next();
}

/* Whether the sender waits until the receive is posted. Otherwise most messages are there first. */
static int is_awaited(int number) { return number % 4 == 0; }

static void receive(void *to, int count, MPI_Datatype type, int number, MPI_Status *status) {
    MPI_Request request;
    MPI_Irecv(to, count, type, 0, 0, MPI_COMM_WORLD, &request);
    if (is_awaited(number))
        MPI_Send(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    complete(1, &request, status);
}

static void send(const void *from, int count, MPI_Datatype type, int number, MPI_Request *request) {
    if (is_awaited(number)) {
        MPI_Request ready;
        MPI_Irecv(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &ready);
        complete(1, &ready, MPI_STATUSES_IGNORE);
    }
    MPI_Isend(from, count, type, 1, 0, MPI_COMM_WORLD, request);
}

/* MPICH 4.0 refuses bytes for a type in fragments that end inside values, where the type is left to it. */
static int is_sent_as_bytes(int round, size_t bytes) {
#ifdef MPICH_VERSION
    return round == 2 && bytes <= 8000;
#else
    return round == 2 && bytes > 0;
#endif
}

static void send_all(int number, const void *source, int count, MPI_Datatype type, struct sent *sent, int bytes) {
    int position = 0;
    MPI_Pack(source, count, type, sent->packed, bytes, &position, MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request *request = &sent->requests[round];
        if (is_sent_as_bytes(round, bytes))
            send(sent->packed, bytes, MPI_PACKED, number, request);
        else
            send(source, count, type, number, request);
    }
}

static void exchange(int number, MPI_Datatype type) {
    MPI_Aint lb, extent, true_lb, data;
    int size;
    MPI_Type_get_extent(type, &lb, &extent);
    MPI_Type_get_true_extent(type, &true_lb, &data);
    MPI_Type_size(type, &size);
    if (size == 0 || data > 1 << 20)
        return;
    /* Short messages, and such that take several fragments. */
    long most = draw(4) == 0 ? 200000 : 20000;
    int count = 1 + (int)draw(1 + most / size);
    if ((count - 1) * extent + data > 4 << 20)
        count = 1;
    size_t span = (size_t)((count - 1) * extent + data), bytes = (size_t)size * count;
    unsigned char *from = malloc(span), *packed = malloc(bytes);
    for (size_t i = 0; i < span; i++)
        from[i] = (unsigned char)(i * 131 + i / 256 + number);
    void *source = from - true_lb;
    if (rank == 0) {
        struct sent *sent = next();
        sent->from = from, sent->packed = packed;
        send_all(number, source, count, type, sent, (int)bytes);
        return;
    }
    unsigned char *to = malloc(span), *again = malloc(bytes);
    void *destination = to - true_lb;
    for (int round = 0; round < ROUNDS; round++) {
        memset(to, 0xC3, span);
        int position = 0;
        MPI_Pack(source, count, type, packed, (int)bytes, &position, MPI_COMM_WORLD);
        MPI_Status status;
        if (round == 1) {
            receive(again, (int)bytes, MPI_PACKED, number, &status);
            if (memcmp(again, packed, bytes) != 0)
                fail(number, "received bytes differ");
            position = 0;
            MPI_Unpack(again, (int)bytes, &position, destination, count, type, MPI_COMM_WORLD);
        } else {
            receive(destination, count, type, number, &status);
            int elements;
            MPI_Get_count(&status, type, &elements);
            if (elements != count)
                fail(number, "the status has another count");
        }
        position = 0;
        memset(again, 0, bytes);
        MPI_Pack(destination, count, type, again, (int)bytes, &position, MPI_COMM_WORLD);
        if (memcmp(again, packed, bytes) != 0)
            fail(number, "received elements differ");
        /* All else is as it was. */
        memset(packed, 0xC3, bytes);
        position = 0;
        MPI_Unpack(packed, (int)bytes, &position, destination, count, type, MPI_COMM_WORLD);
        if (to[0] != 0xC3 || memcmp(to, to + 1, span - 1) != 0)
            fail(number, "a gap was written");
    }
    free(from), free(to), free(packed), free(again);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int types = argc > 1 ? atoi(argv[1]) : 1000;
    state = 0x9E3779B97F4A7C15 ^ (argc > 2 ? strtoull(argv[2], NULL, 0) : 1);
    for (int number = 0; number < types; number++) {
        MPI_Datatype type = make(1 + (int)draw(3));
        MPI_Type_commit(&type);
        exchange(number, type);
        MPI_Type_free(&type);
    }
    finish();
    if (rank == 0)
        printf("%d types\n", types);
    MPI_Finalize();
    return 0;
}
