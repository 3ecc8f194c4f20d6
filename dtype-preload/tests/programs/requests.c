/* What a program sees of requests, statuses and errors, between two ranks: each line is the same whether or not another engine
 * moves the data. The last line has the bytes that were moved. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1000, MANY = 64 };

/* Seconds until a message counts as lost, on a machine that has other work as well. */
enum { PATIENCE = 60 };

struct record {
    char kind;
    double value;
};

static int rank, other;
static MPI_Datatype type;
static struct record *from, *to;
static char line[1 << 16];
static size_t length;

#define SAY(...) (length += (size_t)snprintf(line + length, sizeof line - length, __VA_ARGS__))

/* A sum over all bytes, gaps included. */
static unsigned sum(const void *memory, size_t bytes) {
    unsigned sum = 0;
    for (size_t i = 0; i < bytes; i++)
        sum = sum * 31 + ((const unsigned char *)memory)[i];
    return sum;
}

static void begin(const char *name) {
    for (int i = 0; i < MANY * COUNT; i++) {
        memset(&from[i], 0x11, sizeof *from);
        from[i].kind = (char)(i + 7 * rank);
        from[i].value = i + 0.5 * rank;
    }
    memset(to, 0x77, MANY * COUNT * sizeof *to);
    length = 0;
    SAY("%s:", name);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void end(void) {
    SAY(" memory %08x", sum(to, MANY * COUNT * sizeof *to));
    char both[2][sizeof line];
    MPI_Gather(line, sizeof line, MPI_CHAR, both, sizeof line, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("0 %s\n1 %s\n", both[0], both[1]);
    fflush(stdout);
}

static void say_status(MPI_Status *status) {
    int count, elements, cancelled;
    MPI_Get_count(status, type, &count);
    MPI_Get_elements(status, type, &elements);
    MPI_Test_cancelled(status, &cancelled);
    SAY(" [from %d tag %d count %d elements %d cancelled %d]", status->MPI_SOURCE, status->MPI_TAG, count, elements,
        cancelled);
}

static void say_class(int code) {
    int class;
    MPI_Error_class(code, &class);
    SAY(" class %d", class);
}

static void statuses(void) {
    MPI_Status status;
    MPI_Request request;
    begin("blocking");
    MPI_Sendrecv(from, COUNT / 2, type, other, 5, to, COUNT, type, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    say_status(&status);
    end();

    begin("nonblocking");
    MPI_Irecv(to, COUNT, type, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    MPI_Send(from, COUNT - 3, type, other, 6, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    SAY(" null %d", request == MPI_REQUEST_NULL);
    say_status(&status);
    end();

    begin("within-an-element");
    MPI_Irecv(to, COUNT, type, other, 0, MPI_COMM_WORLD, &request);
    char packed[9 * COUNT];
    int position = 0;
    MPI_Pack(from, COUNT, type, packed, sizeof packed, &position, MPI_COMM_WORLD);
    MPI_Send(packed, 9 * 100 + 1, MPI_PACKED, other, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    say_status(&status);
    end();

    begin("nothing");
    MPI_Irecv(to, COUNT, type, other, 0, MPI_COMM_WORLD, &request);
    MPI_Send(from, 0, type, other, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    say_status(&status);
    MPI_Irecv(to, COUNT, type, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
    MPI_Send(from, COUNT, type, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    say_status(&status);
    end();

    begin("matched");
    MPI_Isend(from, COUNT, type, other, 3, MPI_COMM_WORLD, &request);
    MPI_Message message;
    MPI_Mprobe(other, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
    say_status(&status);
    MPI_Mrecv(to, COUNT, type, &message, &status);
    say_status(&status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isend(from, COUNT / 4, type, other, 4, MPI_COMM_WORLD, &request);
    MPI_Mprobe(other, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
    MPI_Request received;
    MPI_Imrecv(to + COUNT, COUNT, type, &message, &received);
    MPI_Wait(&received, &status);
    say_status(&status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    end();

    /* MPICH 4.0 refuses longer messages here. */
    begin("replaced");
    memcpy(to, from, COUNT * sizeof *to);
    MPI_Sendrecv_replace(to, COUNT / 2, type, other, 0, other, 0, MPI_COMM_WORLD, &status);
    say_status(&status);
    end();

    /* Blocks that lie in the gaps of other elements. */
    begin("absolute");
    MPI_Datatype absolute;
    MPI_Aint at[2];
    MPI_Get_address(to, &at[0]);
    MPI_Get_address(to + COUNT, &at[1]);
    MPI_Type_create_hindexed(2, (int[]){COUNT / 2, COUNT / 2}, at, type, &absolute);
    MPI_Type_commit(&absolute);
    MPI_Irecv(MPI_BOTTOM, 1, absolute, other, 0, MPI_COMM_WORLD, &request);
    MPI_Type_free(&absolute);
    MPI_Send(from, COUNT, type, other, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    say_status(&status);
    end();
}

static void many(void) {
    MPI_Request requests[2 * MANY];
    MPI_Status all[2 * MANY];
    int flag, index, number, indices[2 * MANY];
#define POST                                                                                                           \
    for (int i = 0; i < MANY; i++) {                                                                                   \
        int count = i % 3 ? COUNT : 2;                                                                                 \
        MPI_Irecv(to + i * COUNT, count, type, other, i, MPI_COMM_WORLD, &requests[i]);                                \
        MPI_Isend(from + i * COUNT, count, type, other, i, MPI_COMM_WORLD, &requests[MANY + i]);                       \
    }

    begin("waitall");
    POST MPI_Waitall(2 * MANY, requests, all);
    for (int i = 0; i < MANY; i++)
        say_status(&all[i]);
    end();
    begin("waitall-ignored");
    POST MPI_Waitall(2 * MANY, requests, MPI_STATUSES_IGNORE);
    end();
    begin("testall");
    POST for (flag = 0; !flag;) MPI_Testall(2 * MANY, requests, &flag, MPI_STATUSES_IGNORE);
    end();
    begin("waitany");
    POST for (int i = 0; i < 2 * MANY; i++) {
        MPI_Waitany(2 * MANY, requests, &index, MPI_STATUS_IGNORE);
        number = requests[index] == MPI_REQUEST_NULL;
        if (!number)
            SAY(" %d", index);
    }
    MPI_Waitany(2 * MANY, requests, &index, MPI_STATUS_IGNORE);
    SAY(" %d", index == MPI_UNDEFINED);
    end();
    begin("testany");
    POST do {
        MPI_Testany(2 * MANY, requests, &index, &flag, &all[0]);
    } while (!flag || index != MPI_UNDEFINED);
    end();
    begin("waitsome");
    POST do {
        MPI_Waitsome(2 * MANY, requests, &number, indices, all);
    } while (number != MPI_UNDEFINED);
    end();
    begin("testsome");
    POST do {
        MPI_Testsome(2 * MANY, requests, &number, indices, MPI_STATUSES_IGNORE);
    } while (number != MPI_UNDEFINED);
    end();
    begin("test");
    POST for (int i = 2 * MANY - 1; i >= 0; i--) for (flag = 0; !flag;) MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
    end();

    begin("get-status");
    POST for (int i = 0; i < 2 * MANY; i++) for (flag = 0; !flag;)
        MPI_Request_get_status(requests[i], &flag, &all[i]);
    for (int i = 0; i < MANY; i++)
        say_status(&all[i]);
    SAY(" memory %08x", sum(to, MANY * COUNT * sizeof *to));
    memset(to, 0x55, COUNT * sizeof *to);
    MPI_Waitall(2 * MANY, requests, MPI_STATUSES_IGNORE);
    end();

    int (*get_all)(int, const MPI_Request *, int *, MPI_Status *);
    int (*get_any)(int, const MPI_Request *, int *, int *, MPI_Status *);
    int (*get_some)(int, const MPI_Request *, int *, int *, MPI_Status *);
    *(void **)&get_all = dlsym(RTLD_DEFAULT, "MPI_Request_get_status_all");
    *(void **)&get_any = dlsym(RTLD_DEFAULT, "MPI_Request_get_status_any");
    *(void **)&get_some = dlsym(RTLD_DEFAULT, "MPI_Request_get_status_some");
    begin("get-statuses");
    POST if (get_all) {
        do
            get_any(2 * MANY, requests, &index, &flag, MPI_STATUS_IGNORE);
        while (!flag);
        do
            get_some(2 * MANY, requests, &number, indices, MPI_STATUSES_IGNORE);
        while (!number);
        do
            get_all(2 * MANY, requests, &flag, all);
        while (!flag);
        if (sum(to, COUNT * sizeof *to) != sum(to, COUNT * sizeof *to) || to[3 * COUNT + 1].kind == 0x77)
            SAY(" wrong");
        for (int i = 0; i < MANY; i++) {
            MPI_Get_count(&all[i], type, &number);
            if (number != (i % 3 ? COUNT : 2))
                SAY(" count %d", number);
        }
    }
    MPI_Waitall(2 * MANY, requests, MPI_STATUSES_IGNORE);
    if (get_all) {
        get_any(2 * MANY, requests, &index, &flag, MPI_STATUS_IGNORE);
        if (!flag || index != MPI_UNDEFINED)
            SAY(" any %d %d", flag, index);
        get_some(2 * MANY, requests, &number, indices, MPI_STATUSES_IGNORE);
        if (number != MPI_UNDEFINED)
            SAY(" some %d", number);
    }
    end();
}

static void persistent(void) {
    MPI_Request requests[4];
    MPI_Status status;
    int flag;
    begin("persistent");
    MPI_Recv_init(to, COUNT, type, other, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(from, COUNT, type, other, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Recv_init(to + COUNT, COUNT, type, other, 2, MPI_COMM_WORLD, &requests[2]);
    MPI_Ssend_init(from + COUNT, COUNT / 2, type, other, 2, MPI_COMM_WORLD, &requests[3]);
    for (int time = 0; time < 3; time++) {
        from[0].value = from[COUNT].value = 100 + time;
        MPI_Startall(4, requests);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        SAY(" %g %g", to[0].value, to[COUNT].value);
        /* Inactive requests are complete, and write nothing. */
        to[0].value = -1;
        MPI_Wait(&requests[0], &status);
        MPI_Test(&requests[2], &flag, MPI_STATUS_IGNORE);
        SAY(" %g %d", to[0].value, flag);
    }
    MPI_Start(&requests[2]);
    MPI_Start(&requests[3]);
    MPI_Wait(&requests[2], &status);
    say_status(&status);
    MPI_Wait(&requests[3], MPI_STATUS_IGNORE);
    for (int i = 0; i < 4; i++)
        MPI_Request_free(&requests[i]);
    SAY(" null %d", requests[0] == MPI_REQUEST_NULL);
    end();
}

static void cancelled(void) {
    MPI_Request requests[2];
    MPI_Status status;
    begin("cancelled");
    MPI_Irecv(to, COUNT, type, other, 77, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(to + COUNT, COUNT, type, other, 78, MPI_COMM_WORLD, &requests[1]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &status);
    int flag;
    MPI_Test_cancelled(&status, &flag);
    SAY(" %d", flag);
    MPI_Send(from, COUNT, type, other, 78, MPI_COMM_WORLD);
    MPI_Wait(&requests[1], &status);
    say_status(&status);
    end();

    begin("cancelled-persistent");
    MPI_Recv_init(to, COUNT, type, other, 79, MPI_COMM_WORLD, &requests[0]);
    MPI_Start(&requests[0]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &status);
    MPI_Test_cancelled(&status, &flag);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Start(&requests[0]);
    MPI_Send(from, COUNT, type, other, 79, MPI_COMM_WORLD);
    MPI_Wait(&requests[0], &status);
    SAY(" %d", flag);
    say_status(&status);
    MPI_Request_free(&requests[0]);
    end();
}

static void freed(void) {
    begin("freed");
    MPI_Request request;
    MPI_Irecv(to, COUNT, type, other, 9, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    SAY(" null %d", request == MPI_REQUEST_NULL);
    MPI_Isend(from, COUNT, type, other, 9, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    memset(from, 0, sizeof *from);
    MPI_Barrier(MPI_COMM_WORLD);
    /* No call says when a message has come for a request that was freed. */
    double value = 0, start = MPI_Wtime();
    while (MPI_Wtime() - start < PATIENCE && value != COUNT - 1 + 0.5 * other) {
        MPI_Iprobe(other, 99, MPI_COMM_WORLD, &(int){0}, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&rank, 1, MPI_INT, rank, 10, &(int){0}, 1, MPI_INT, rank, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        memcpy(&value, &to[COUNT - 1].value, sizeof value);
        __asm__ volatile("" ::: "memory");
    }
    SAY(" %g", value);
    /* Whether the first element was sent before it was changed is not defined. */
    to[0] = from[1];
#if defined I_MPI_NUMVERSION || (defined MPICH_NUMVERSION && MPICH_NUMVERSION >= 40100000)
    /* Other libraries do not always complete a persistent receive that was freed. */
    MPI_Recv_init(to + COUNT, COUNT, type, other, 11, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Request_free(&request);
    MPI_Isend(from + COUNT, COUNT, type, other, 11, MPI_COMM_WORLD, &request);
    start = MPI_Wtime();
    for (int flag = 0; MPI_Wtime() - start < PATIENCE && (!flag || value != 2 * COUNT - 1 + 0.5 * other);) {
        if (!flag)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&rank, 1, MPI_INT, rank, 10, &(int){0}, 1, MPI_INT, rank, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        memcpy(&value, &to[2 * COUNT - 1].value, sizeof value);
        __asm__ volatile("" ::: "memory");
    }
    SAY(" %g", value);
#endif
    end();
}

/* MPICH's own function says that a request is complete, and leaves it to a later call. */
static void asked(const char *version) {
#if !defined MPI_ABI
    int (*is_complete)(MPI_Request);
    *(void **)&is_complete = dlsym(RTLD_DEFAULT, "MPIX_Request_is_complete");
    if (!is_complete || strncmp(version, "MPICH Version", 13) != 0 || strstr(version, "\t4.0.") || strstr(version, " 4.0."))
        return;
    MPI_Status status;
    MPI_Request request;
    begin("is-complete");
    MPI_Irecv(to, COUNT, type, other, 0, MPI_COMM_WORLD, &request);
    MPI_Send(from, COUNT / 2, type, other, 0, MPI_COMM_WORLD);
    while (!is_complete(request))
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &(int){0}, MPI_STATUS_IGNORE);
    SAY(" %08x", sum(to, COUNT * sizeof *to));
    MPI_Wait(&request, &status);
    say_status(&status);
    end();
#else
    (void)version;
#endif
}

static void errors(void) {
    MPI_Status status, all[3];
    MPI_Request requests[3];
    begin("truncated");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Isend(from, COUNT / 10, type, other, 0, MPI_COMM_WORLD, &requests[0]);
    say_class(MPI_Recv(to, COUNT / 20, type, other, 0, MPI_COMM_WORLD, &status));
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    end();

    begin("truncated-among-others");
    for (int i = 0; i < 3; i++)
        MPI_Irecv(to + i * COUNT, i == 1 ? COUNT / 20 : COUNT / 10, type, other, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++)
        MPI_Send(from, COUNT / 10, type, other, i, MPI_COMM_WORLD);
    say_class(MPI_Waitall(3, requests, all));
    say_class(all[1].MPI_ERROR);
    SAY(" null %d", requests[1] == MPI_REQUEST_NULL);
    /* Others may be pending. */
    say_class(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    end();

    begin("refused");
    MPI_Datatype uncommitted;
    MPI_Type_vector(COUNT, 1, 2, MPI_DOUBLE, &uncommitted);
    say_class(MPI_Send(from, 1, uncommitted, other, 0, MPI_COMM_WORLD));
    say_class(MPI_Recv(to, 1, uncommitted, other, 0, MPI_COMM_WORLD, &status));
    MPI_Type_free(&uncommitted);
    say_class(MPI_Send(from, COUNT, type, 99, 0, MPI_COMM_WORLD));
    say_class(MPI_Send(from, COUNT, type, other, -5, MPI_COMM_WORLD));
    say_class(MPI_Send(from, -1, type, other, 0, MPI_COMM_WORLD));
    say_class(MPI_Send(NULL, COUNT, type, other, 0, MPI_COMM_WORLD));
    say_class(MPI_Isend(from, COUNT, type, other, 0, MPI_COMM_NULL, &requests[0]));
    say_class(MPI_Irecv(to, COUNT, type, 99, 0, MPI_COMM_WORLD, &requests[0]));
    say_class(MPI_Recv(NULL, COUNT, type, other, 0, MPI_COMM_WORLD, &status));
    end();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    from = malloc(MANY * COUNT * sizeof *from);
    to = malloc(MANY * COUNT * sizeof *to);
    MPI_Datatype packed;
    MPI_Type_create_struct(2, (const int[]){1, 1}, (const MPI_Aint[]){0, 8}, (const MPI_Datatype[]){MPI_CHAR, MPI_DOUBLE},
                           &packed);
    MPI_Type_create_resized(packed, 0, sizeof *from, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&packed);
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int version_length;
    MPI_Get_library_version(version, &version_length);
    if (rank == 0)
        printf("%.*s\n", (int)strcspn(version, "\n"), version);
    statuses();
    many();
    asked(version);
    persistent();
    cancelled();
    freed();
    errors();
    /* Messages that are received when MPI ends. */
    MPI_Request request;
    MPI_Irecv(to, COUNT, type, other, 12, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Isend(from, COUNT, type, other, 12, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Type_free(&type);
    MPI_Finalize();
    uint64_t (*moved)(void);
    *(void **)&moved = dlsym(RTLD_DEFAULT, "dtype_preload_moved");
    printf("moved %" PRIu64 "\n", moved ? moved() : 0);
    free(from);
    free(to);
    return 0;
}
