/* Requests of all kinds between two ranks: thousands outstanding at a time, completed in random order by every function that
 * completes requests, by several threads, and mixed with requests that no engine of datatypes has to do with. Both ranks draw
 * the same numbers, so each knows what the other does. All bytes are compared, those of gaps and behind the end of a message,
 * too.
 *
 * Arguments: rounds, requests of a thread in a round, threads, seed. */

#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "layouts.h"

enum { THREADS = 8 };

enum send { ISEND, ISSEND, IBSEND, IRSEND, SEND_INIT, SSEND_INIT, RSEND_INIT, SEND_PACKED, SENDS };
enum receive { IRECV, RECV_INIT, IMRECV, MRECV, RECEIVE_PACKED, RECEIVES };

/* What becomes of an operation. The receive of a `LONELY` one is cancelled, as nothing is sent; `ABSENT` ones are with
 * MPI_PROC_NULL. */
enum fate { COMPLETED, SEND_FREED, RECEIVE_FREED, TRUNCATED, LONELY, ABSENT };

struct operation {
    enum send send;
    enum receive receive;
    enum fate fate;
    int tag, starts, sender, receiver;
    int sent_kind, kind, sent, expected;    /* The layouts and the numbers of elements at both sides. */
    unsigned char *from, *to, *packed;
};

/* A request, and the operation that it belongs to: the send, or the receive. */
struct pending {
    MPI_Request request;
    struct operation *operation;
    int is_receive, is_active, is_persistent, is_cancelled;
};

/* What one thread starts, and what another one completes. */
struct pool {
    MPI_Comm comm;
    uint64_t state;
    struct operation *operations;
    struct pending *pending;
    int length;
    unsigned char *mine, *all;    /* The buffers of collective operations. */
};

static int number, threads;
static struct pool pools[THREADS];
static pthread_barrier_t barrier;

static uint64_t draw(uint64_t *state, uint64_t below) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return (*state * 0x2545F4914F6CDD1D >> 20) % below;
}

static int draw_count(uint64_t *state) {
    switch (draw(state, 100)) {
    case 0: return 20000;
    case 1 ... 4: return 600 + (int)draw(state, 1500);
    case 5 ... 9: return 0;
    case 10 ... 30: return 1;
    default: return 1 + (int)draw(state, 60);
    }
}

/* Draws what both ranks do. Sends that are ready are drawn if all receives are started before. */
static void plan(struct pool *pool, int is_ready) {
    for (int i = 0; i < number; i++) {
        struct operation *one = &pool->operations[i];
        uint64_t *state = &pool->state;
        memset(one, 0, sizeof *one);
        one->tag = i, one->starts = 1;
        one->sender = (int)draw(state, 2);
        one->receiver = draw(state, 10) == 0 ? one->sender : 1 - one->sender;
        one->sent_kind = one->kind = (int)draw(state, LAYOUTS);
        one->sent = draw_count(state);
        one->expected = one->sent + (draw(state, 3) == 0 ? (int)draw(state, 50) : 0);
        one->send = draw(state, SENDS), one->receive = draw(state, RECEIVES);
        one->fate = draw(state, 4) == 0 ? draw(state, ABSENT + 1) : COMPLETED;
        /* A message of an odd number of records ends inside of a pair. */
        if (one->kind == PAIR && draw(state, 2))
            one->sent_kind = RECORD, one->sent += (int)draw(state, 2), one->expected = one->sent / 2 + 1;
        if (!is_ready && (one->send == IRSEND || one->send == RSEND_INIT))
            one->send = ISEND;
        /* What is not started with the other receives is not there when a ready send starts. */
        if (is_ready && (one->receive == IMRECV || one->receive == MRECV))
            one->receive = IRECV;
        int is_packed = one->send == SEND_PACKED || one->receive == RECEIVE_PACKED;
        /* Messages of MPICH 4.0 to 4.3 that are longer cannot be received so. */
        if ((is_packed || one->send == IBSEND) && one->sent > 250)
            one->sent = 250, one->expected = 260;
        if (one->fate == TRUNCATED) {
            if (one->sent < 2 || one->sent > 60 || one->sent_kind != one->kind ||
                one->sender == one->receiver || i >= 600 / threads)
                one->fate = COMPLETED;
            else
                /* MPICH does not report it for persistent receives, nor Open MPI for a rank's own messages. MPICH keeps about
                 * a hundred errors. */
                one->expected = one->sent - 1, one->receive = one->receive == IMRECV ? IMRECV : IRECV;
        }
        if (one->fate == LONELY)
            one->sender = -1, one->receive %= IMRECV;
        if (one->fate == ABSENT)
            /* MPICH takes a persistent request of this kind for an inactive one. */
            one->receive = IRECV, one->send %= IRSEND;
        if (one->fate == RECEIVE_FREED && (one->receive != IRECV || one->sent == 0))
            one->fate = COMPLETED;
        if (one->send >= SEND_INIT && one->send <= RSEND_INIT && one->receive == RECV_INIT && one->fate == COMPLETED)
            one->starts = 1 + (int)draw(state, 3);
    }
}

static int sent_bytes(const struct operation *one) { return one->sent * layouts[one->sent_kind].size; }

/* The type of a layout; sometimes a copy, which `release` frees while the message is pending. */
static MPI_Datatype take(uint64_t *own, int kind) {
    MPI_Datatype type = layouts[kind].type;
    if (kind < BYTES && draw(own, 4) == 0)
        MPI_Type_dup(type, &type);
    return type;
}

static void release(int kind, MPI_Datatype type) {
    if (type != layouts[kind].type)
        MPI_Type_free(&type);
}

static struct pending *next(struct pool *pool, struct operation *operation, int is_receive) {
    struct pending *pending = &pool->pending[pool->length++];
    *pending = (struct pending){MPI_REQUEST_NULL, operation, is_receive, 1, 0, 0};
    return pending;
}

static void start_send(struct pool *pool, uint64_t *own, struct operation *one) {
    const struct layout *layout = &layouts[one->sent_kind];
    int to = one->fate == ABSENT ? MPI_PROC_NULL : one->receiver, tag = one->tag, count = one->sent;
    one->from = malloc((size_t)count * layout->extent + 1);
    walk(layout, count, sent_bytes(one), tag, one->from, 1);
    struct pending *pending = next(pool, one, 0);
    MPI_Request *request = &pending->request;
    MPI_Datatype type = take(own, one->sent_kind);
    MPI_Comm comm = pool->comm;
    int code = MPI_SUCCESS, position = 0;
    switch (one->send) {
    case ISEND: code = MPI_Isend(one->from, count, type, to, tag, comm, request); break;
    case ISSEND: code = MPI_Issend(one->from, count, type, to, tag, comm, request); break;
    case IBSEND: code = MPI_Ibsend(one->from, count, type, to, tag, comm, request); break;
    case IRSEND: code = MPI_Irsend(one->from, count, type, to, tag, comm, request); break;
    case SEND_INIT: code = MPI_Send_init(one->from, count, type, to, tag, comm, request); break;
    case SSEND_INIT: code = MPI_Ssend_init(one->from, count, type, to, tag, comm, request); break;
    case RSEND_INIT: code = MPI_Rsend_init(one->from, count, type, to, tag, comm, request); break;
    default:
        one->packed = malloc(sent_bytes(one) + 100);
        MPI_Pack(one->from, count, type, one->packed, sent_bytes(one) + 100, &position, comm);
        code = MPI_Isend(one->packed, position, MPI_PACKED, to, tag, comm, request);
    }
    CHECK(code == MPI_SUCCESS);
    release(one->sent_kind, type);
    pending->is_persistent = one->send >= SEND_INIT && one->send <= RSEND_INIT;
    if (pending->is_persistent)
        CHECK(MPI_Start(request) == MPI_SUCCESS);
    /* A freed send is complete when its receive is. */
    if (one->fate == SEND_FREED) {
        CHECK(MPI_Request_free(request) == MPI_SUCCESS && *request == MPI_REQUEST_NULL);
        pool->length--;
    }
}

static void start_receive(struct pool *pool, uint64_t *own, struct operation *one) {
    const struct layout *layout = &layouts[one->kind];
    int from = one->fate == ABSENT ? MPI_PROC_NULL : draw(own, 8) == 0 ? MPI_ANY_SOURCE : one->sender;
    int tag = one->tag, count = one->expected;
    if (one->fate == LONELY)
        from = 1 - rank;
    if (!one->to) {
        one->to = malloc((size_t)count * layout->extent + 1);
        walk(layout, count, 0, tag, one->to, 1);
    }
    struct pending *pending = next(pool, one, 1);
    MPI_Request *request = &pending->request;
    MPI_Datatype type = take(own, one->kind);
    MPI_Message message;
    MPI_Status status;
    int code = MPI_SUCCESS, flag = 0, size = one->expected * layout->size + 100;
    switch (one->receive) {
    case IRECV: code = MPI_Irecv(one->to, count, type, from, tag, pool->comm, request); break;
    case RECV_INIT:
        code = MPI_Recv_init(one->to, count, type, from, tag, pool->comm, request);
        CHECK(MPI_Start(request) == MPI_SUCCESS);
        pending->is_persistent = 1;
        break;
    case RECEIVE_PACKED:
        one->packed = malloc(size);
        code = MPI_Irecv(one->packed, size, MPI_PACKED, from, tag, pool->comm, request);
        break;
    case IMRECV:
        while (!flag)
            CHECK(MPI_Improbe(from, tag, pool->comm, &flag, &message, &status) == MPI_SUCCESS);
        code = MPI_Imrecv(one->to, count, type, &message, request);
        break;
    default:
        CHECK(MPI_Mprobe(from, tag, pool->comm, &message, &status) == MPI_SUCCESS);
        code = MPI_Mrecv(one->to, count, type, &message, &status);
        CHECK(status.MPI_TAG == tag && status.MPI_SOURCE == one->sender);
        CHECK(walk(layout, count, sent_bytes(one), tag, one->to, 0));
        pool->length--;
    }
    CHECK(code == MPI_SUCCESS);
    release(one->kind, type);
    if (one->fate == RECEIVE_FREED) {
        CHECK(MPI_Request_free(request) == MPI_SUCCESS && *request == MPI_REQUEST_NULL);
        pool->length--;
    }
}

/* The number of elements of a message, by `MPI_Get_count`. */
static int count_of(const struct layout *layout, int bytes) {
    return bytes % layout->size ? MPI_UNDEFINED : bytes / layout->size;
}

/* A request is complete, with an error or not, and perhaps with a status. */
static void complete(struct pool *pool, struct pending *pending, int code, const MPI_Status *status) {
    struct operation *one = pending->operation;
    CHECK(pending->is_active);
    pending->is_active = 0;
    if (pending->is_persistent)
        CHECK(pending->request != MPI_REQUEST_NULL);
    else
        CHECK(pending->request == MPI_REQUEST_NULL);
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    if (!one || !pending->is_receive) {
        CHECK(class == MPI_SUCCESS);
        return;
    }
    if (one->fate == TRUNCATED) {
        /* With several threads, MPICH 4.3 sometimes misses it, and Open MPI 4.1 with one. */
#if defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION < 5
        const int misses = 1;
#else
        const int misses = threads > 1;
#endif
        CHECK(class == MPI_ERR_TRUNCATE || (misses && class == MPI_SUCCESS));
        return;
    }
    CHECK(class == MPI_SUCCESS);
    const struct layout *layout = &layouts[one->kind];
    int bytes = sent_bytes(one), position = 0;
    if (one->fate == LONELY || one->fate == ABSENT)
        bytes = 0;
    if (status) {
        int cancelled, count, elements;
        MPI_Test_cancelled(status, &cancelled);
        CHECK(cancelled == (one->fate == LONELY));
        if (!cancelled) {
            int is_absent = one->fate == ABSENT, is_packed = one->receive == RECEIVE_PACKED;
            /* MPICH 4.0 leaves the status of MPI_PROC_NULL as the request before has left it. */
            if (!is_absent)
                CHECK(status->MPI_SOURCE == one->sender && status->MPI_TAG == one->tag);
            MPI_Get_count(status, is_packed ? MPI_PACKED : layout->type, &count);
            CHECK(count == (is_packed ? bytes : count_of(layout, bytes)));
            MPI_Get_elements(status, layout->type, &elements);
            /* A message ends inside of a pair with a whole record. */
            CHECK(is_packed || elements == bytes / layout->size * layout->elements + (bytes % layout->size ? 2 : 0));
        }
    }
    if (one->receive == RECEIVE_PACKED && bytes)
        MPI_Unpack(one->packed, bytes, &position, one->to, one->sent, layouts[one->sent_kind].type, pool->comm);
    CHECK(walk(layout, one->expected, bytes, one->tag, one->to, 0));
}

enum { MOST = 64 };

/* Completes what is pending, some of it at a time. */
static void complete_all(struct pool *pool, uint64_t *own) {
    int left = 0;
    for (int i = 0; i < pool->length; i++)
        left += pool->pending[i].is_active;
    while (left > 0) {
        /* Some requests in random order. Among them are inactive ones, and none. */
        MPI_Request requests[MOST];
        MPI_Status statuses[MOST], *ignored = MPI_STATUSES_IGNORE;
        struct pending *chosen[MOST];
        int indices[MOST], done = 0, flag = 1, index = MPI_UNDEFINED, code, active = 0, fails = 0;
        int length = 1 + (int)draw(own, draw(own, 4) ? 4 : MOST), first = (int)draw(own, pool->length);
        if (length > pool->length)
            length = pool->length;
        for (int i = 0; i < length; i++) {
            struct pending *pending = &pool->pending[(first + (uint64_t)i * 7919) % pool->length];
            chosen[i] = draw(own, 16) == 0 ? NULL : pending;
            for (int j = 0; j < i; j++)
                if (chosen[j] == chosen[i])
                    chosen[i] = NULL;
            requests[i] = chosen[i] ? chosen[i]->request : MPI_REQUEST_NULL;
            if (!chosen[i] || !chosen[i]->is_active)
                continue;
            active++;
            struct operation *one = pending->operation;
            fails |= one && one->fate == TRUNCATED;
            if (one && one->fate == LONELY && !pending->is_cancelled) {
                CHECK(MPI_Cancel(&requests[i]) == MPI_SUCCESS);
                pending->is_cancelled = 1;
            }
            /* Under some libraries, this completes a persistent request. */
            if (!pending->is_persistent && draw(own, 8) == 0 && (!one || one->fate != TRUNCATED)) {
                MPI_Status status;
                int is_complete;
                CHECK(MPI_Request_get_status(requests[i], &is_complete, &status) == MPI_SUCCESS);
                if (is_complete && one && pending->is_receive && one->fate == COMPLETED)
                    CHECK(status.MPI_TAG == one->tag && status.MPI_SOURCE == one->sender);
            }
        }
        /* Without statuses, nobody knows which requests have an error. */
        int ignores = draw(own, 3) == 0 && !fails, before = left;
        MPI_Status *status = ignores ? MPI_STATUS_IGNORE : statuses, *array = ignores ? ignored : statuses;
        for (int i = 0; i < length; i++)
            statuses[i].MPI_ERROR = MPI_SUCCESS;
/* What the call has completed. */
#define DONE(at, result, of)                                                                                \
    do {                                                                                                    \
        chosen[at]->request = requests[at];                                                                 \
        complete(pool, chosen[at], result, ignores ? NULL : of);                                            \
        left--;                                                                                             \
    } while (0)
        int way = (int)draw(own, 10);
#if defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION < 5
        /* If one of several requests has failed, its MPI_Waitall never returns, and others free persistent requests. */
        if (fails)
            way %= 3;
#endif
        switch (way) {
        case 0:
        case 1:
            for (int i = 0; i < length; i++)
                if (chosen[i] && chosen[i]->is_active) {
                    code = MPI_Wait(&requests[i], status);
                    DONE(i, code, status);
                }
            break;
        case 2:
            for (int i = 0; i < length; i++)
                if (chosen[i] && chosen[i]->is_active) {
                    code = MPI_Test(&requests[i], &flag, status);
                    if (flag)
                        DONE(i, code, status);
                }
            break;
        case 3:
        case 4:
            code = before % 2 ? MPI_Waitany(length, requests, &index, status)
                              : MPI_Testany(length, requests, &index, &flag, status);
            CHECK(active || index == MPI_UNDEFINED);
            if (index != MPI_UNDEFINED)
                DONE(index, code, status);
            break;
        case 5:
        case 6:
            code = before % 2 ? MPI_Waitsome(length, requests, &done, indices, array)
                              : MPI_Testsome(length, requests, &done, indices, array);
            CHECK((done == MPI_UNDEFINED) == (active == 0));
            for (int i = 0; i < done && done != MPI_UNDEFINED; i++)
                DONE(indices[i], code == MPI_SUCCESS ? code : statuses[i].MPI_ERROR, &statuses[i]);
            break;
        default:
            code = fails || before % 2 ? MPI_Waitall(length, requests, array)
                                       : MPI_Testall(length, requests, &flag, array);
            if (!flag)
                break;
            for (int i = 0; i < length; i++) {
                int class = MPI_SUCCESS, error = code == MPI_SUCCESS ? code : statuses[i].MPI_ERROR;
                MPI_Error_class(error, &class);
                if (chosen[i] && chosen[i]->is_active && class != MPI_ERR_PENDING)
                    DONE(i, error, &statuses[i]);
            }
        }
        for (int i = 0; i < length; i++)
            if (chosen[i])
                chosen[i]->request = requests[i];
    }
}

static int query(void *state, MPI_Status *status) {
    (void)state;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED, status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}
static int nothing(void *state) {
    (void)state;
    return MPI_SUCCESS;
}
static int nothing_cancelled(void *state, int complete) {
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

enum { EACH = 300 };

/* Requests of collective operations, and of the program itself. */
static void start_others(struct pool *pool) {
    const struct layout *layout = &layouts[RECORD];
    walk(layout, EACH, EACH * layout->size, rank, pool->mine, 1);
    walk(layout, 2 * EACH, 0, 0, pool->all, 1);
    MPI_Ibarrier(pool->comm, &next(pool, NULL, 0)->request);
    MPI_Iallgather(pool->mine, EACH, layout->type, pool->all, EACH, layout->type, pool->comm, &next(pool, NULL, 0)->request);
    MPI_Request *own = &next(pool, NULL, 0)->request;
    MPI_Grequest_start(query, nothing, nothing_cancelled, NULL, own);
    MPI_Grequest_complete(*own);
}

static void check_others(struct pool *pool) {
    const struct layout *layout = &layouts[RECORD];
    for (int sender = 0; sender < 2; sender++)
        CHECK(walk(layout, EACH, EACH * layout->size, sender, pool->all + sender * EACH * layout->extent, 0));
}

/* Exchanges that are complete at once, while others are pending. */
static void exchange(struct pool *pool, uint64_t *own) {
    const struct layout *layout = &layouts[draw(&pool->state, BYTES)];
    int count = 1 + draw_count(&pool->state), bytes = count * layout->size, other = 1 - rank, is_one = (int)draw(&pool->state, 2);
    unsigned char *from = malloc((size_t)count * layout->extent), *to = malloc((size_t)count * layout->extent);
    MPI_Status status;
    walk(layout, count, bytes, number + rank, from, 1);
    walk(layout, count, is_one ? bytes : 0, number + rank, to, 1);
    MPI_Datatype type = take(own, (int)(layout - layouts));
    if (is_one)
        MPI_Sendrecv_replace(to, count, type, other, number + rank, other, number + other, pool->comm, &status);
    else
        MPI_Sendrecv(from, count, type, other, number + rank, to, count, type, other, number + other, pool->comm, &status);
    release((int)(layout - layouts), type);
    int found;
    MPI_Get_count(&status, layout->type, &found);
    CHECK(found == count && status.MPI_SOURCE == other && status.MPI_TAG == number + other);
    CHECK(walk(layout, count, bytes, number + other, to, 0));
    free(from), free(to);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* What a freed receive has received is there after some time. */
static void await_freed(struct pool *pool) {
    for (int i = 0; i < number; i++) {
        struct operation *one = &pool->operations[i];
        if (one->fate != RECEIVE_FREED || one->receiver != rank)
            continue;
        const struct layout *layout = &layouts[one->kind];
        int flag;
        double start = now();
        while (!walk(layout, one->expected, sent_bytes(one), one->tag, one->to, 0)) {
            MPI_Iprobe(MPI_ANY_SOURCE, 2 * number + 7, pool->comm, &flag, MPI_STATUS_IGNORE);
            if (now() - start > 60) {
                fail(__LINE__, "received by a freed request");
                break;
            }
        }
    }
}

static void await(void) {
    pthread_barrier_wait(&barrier);
}

struct task {
    int thread, rounds;
    uint64_t seed;
};

static void *run(void *argument) {
    struct task *task = argument;
    struct pool *pool = &pools[task->thread];
    /* What only this rank draws. */
    uint64_t own = task->seed + 1000003u * (uint64_t)(rank + 2 * task->thread + 1);
    for (int round = 0; round < task->rounds; round++) {
        int is_ready = round % 2;
        pool->length = 0;
        plan(pool, is_ready);
        for (int pass = 0; pass < 2; pass++) {
            for (int i = 0; i < number; i++) {
                struct operation *one = &pool->operations[i];
                int is_late = one->receive == IMRECV || one->receive == MRECV;
                int is_received = one->receiver == rank || one->fate == LONELY;
                if (is_received && pass == (is_late && one->fate != LONELY))
                    start_receive(pool, &own, one);
                /* A receive of this rank's own is started before. */
                if (one->sender == rank && one->fate != LONELY && pass == is_ready)
                    start_send(pool, &own, one);
                if (pass == 0 && i % 500 == 250)
                    exchange(pool, &own);
                if (pass == 0 && i == number / 2)
                    start_others(pool);
            }
            if (pass == 0)
                MPI_Barrier(pool->comm);
        }
        /* Another thread completes what this one has started. */
        await();
        struct pool *other = &pools[(task->thread + 1) % threads];
        complete_all(other, &own);
        await();
        int restarts = 1;
        for (int time = 1; restarts; time++) {
            MPI_Request requests[MOST];
            int several = 0;
            restarts = 0;
            for (int i = 0; i < other->length; i++) {
                struct pending *pending = &other->pending[i];
                struct operation *one = pending->operation;
                if (!pending->is_persistent || time >= one->starts)
                    continue;
                restarts = 1, pending->is_active = 1;
                if (pending->is_receive)
                    walk(&layouts[one->kind], one->expected, 0, one->tag, one->to, 1);
                requests[several++] = pending->request;
                if (several == MOST)
                    MPI_Startall(several, requests), several = 0;
            }
            MPI_Startall(several, requests);
            complete_all(other, &own);
        }
        await_freed(other);
        await();
        check_others(pool);
        /* Now the other rank has all that this one has sent. */
        MPI_Barrier(pool->comm);
        for (int i = 0; i < pool->length; i++)
            if (pool->pending[i].is_persistent)
                CHECK(MPI_Request_free(&pool->pending[i].request) == MPI_SUCCESS);
        for (int i = 0; i < number; i++) {
            struct operation *one = &pool->operations[i];
            if (one->from)
                CHECK(walk(&layouts[one->sent_kind], one->sent, sent_bytes(one), one->tag, one->from, 0));
            free(one->from), free(one->to), free(one->packed);
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    int provided, rounds = argc > 1 ? atoi(argv[1]) : 2;
    number = argc > 2 ? atoi(argv[2]) : 2000;
    threads = argc > 3 ? atoi(argv[3]) : 2;
    uint64_t seed = argc > 4 ? strtoull(argv[4], NULL, 0) : 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE)
        threads = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    make_layouts();
    enum { BUFFERED = 1 << 26 };
    void *buffer = malloc(BUFFERED);
    MPI_Buffer_attach(buffer, BUFFERED);
    pthread_barrier_init(&barrier, NULL, threads);
    pthread_t ids[THREADS];
    struct task tasks[THREADS];
    for (int i = 0; i < threads; i++) {
        struct pool *pool = &pools[i];
        MPI_Comm_dup(MPI_COMM_WORLD, &pool->comm);
        MPI_Comm_set_errhandler(pool->comm, MPI_ERRORS_RETURN);
        pool->state = seed * 0x9E3779B97F4A7C15 + (uint64_t)i + 1;
        pool->operations = calloc(number, sizeof *pool->operations);
        pool->pending = calloc(2 * number + 10, sizeof *pool->pending);
        pool->mine = malloc(EACH * layouts[RECORD].extent);
        pool->all = malloc(2 * EACH * layouts[RECORD].extent);
        tasks[i] = (struct task){i, rounds, seed};
    }
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, run, &tasks[i]);
    for (int i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        free(pools[i].operations), free(pools[i].pending), free(pools[i].mine), free(pools[i].all);
        MPI_Comm_free(&pools[i].comm);
    }
    int size = 0;
    MPI_Buffer_detach(&buffer, &size);
    free(buffer);
    for (int i = 0; i < BYTES; i++)
        MPI_Type_free(&layouts[i].type);
    printf("%s\n", wrong == 0 ? "right" : "WRONG");
    MPI_Finalize();
    return wrong != 0;
}
