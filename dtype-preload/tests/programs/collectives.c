/* Collective operations that move data: blocking, nonblocking and persistent ones, in communicators of each kind, in place and
 * not, with other types at the sender than at the receiver. All bytes are compared, those of gaps and of what nobody sends, too.
 * The argument is the number of records of a block. Rank 0 prints what has been moved. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdlib.h>

#include "layouts.h"

enum way { BLOCKING, NONBLOCKING, PERSISTENT, LARGE };
enum { MOST = 8 };

/* A communicator, and the ranks that this one exchanges data with: those of the same group or of the other one, or neighbours. */
static MPI_Comm comm;
static int me, peers, is_inter, in_place, operation, step, number;
static enum way way;
static MPI_Request request;

/* How often an operation is done. Intel MPI and MPICH 4.0 start a persistent one only once. */
static int steps = 2;

#if MPI_VERSION >= 4
#define PERSIST(NAME, ...) MPI_##NAME##_init(__VA_ARGS__, MPI_INFO_NULL, &request)
#else
#define PERSIST(NAME, ...) (abort(), 0)
#endif
#if MPI_VERSION >= 4 && !defined OMPI_MAJOR_VERSION
#define MANY(NAME, ...) MPI_##NAME##_c(__VA_ARGS__)
#else
#define MANY(NAME, ...) MPI_##NAME(__VA_ARGS__)
#endif

#define FINISH(NAME, LOWER, LARGE_CALL, ...)                                                                \
    do {                                                                                                    \
        int code = MPI_SUCCESS;                                                                             \
        if (way == BLOCKING)                                                                                \
            code = MPI_##NAME(__VA_ARGS__);                                                                 \
        else if (way == LARGE)                                                                              \
            code = LARGE_CALL;                                                                              \
        else if (way == NONBLOCKING)                                                                        \
            code = MPI_I##LOWER(__VA_ARGS__, &request);                                                     \
        else if (step == 0)                                                                                 \
            code = PERSIST(NAME, __VA_ARGS__);                                                              \
        CHECK(code == MPI_SUCCESS);                                                                         \
        if (way == PERSISTENT)                                                                              \
            CHECK(MPI_Start(&request) == MPI_SUCCESS);                                                      \
        if (way == PERSISTENT || way == NONBLOCKING)                                                        \
            CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);                                    \
        if (way == PERSISTENT && step == steps - 1)                                                         \
            CHECK(MPI_Request_free(&request) == MPI_SUCCESS);                                               \
    } while (0)
#define RUN(NAME, LOWER, ...) FINISH(NAME, LOWER, MANY(NAME, __VA_ARGS__), __VA_ARGS__)
/* With arrays of counts. */
#define RUN_V(NAME, LOWER, ...) FINISH(NAME, LOWER, MPI_##NAME(__VA_ARGS__), __VA_ARGS__)

/* A rank's elements: records, or pairs of them. Some versions
 * of MPICH, 5.0.2 among them, cannot send long messages of one type to another in shared memory. */
enum { LONG = 1000 };
static int sent_kind(void) { return (me + operation) % 2 || number > LONG ? RECORD : PAIR; }
static int kind(void) { return (me + operation) % 3 && number <= LONG ? PAIR : RECORD; }
static int elements_of(int kind, int records) { return kind == PAIR ? records / 2 : records; }
static MPI_Datatype type_of(int kind) { return layouts[kind].type; }

static int tag(int sender, int receiver) { return sender * 37 + receiver * 11 + step * 5 + operation * 3 + number; }

/* Records from `at` on, of any kind. */
static void fill(unsigned char *memory, int at, int records, int tag, int is_filled) {
    const struct layout *layout = &layouts[RECORD];
    walk(layout, records, is_filled ? records * layout->size : 0, tag, memory + (size_t)at * layout->extent, 1);
}
static int has(unsigned char *memory, int at, int records, int tag, int is_filled) {
    const struct layout *layout = &layouts[RECORD];
    return walk(layout, records, is_filled ? records * layout->size : 0, tag, memory + (size_t)at * layout->extent, 0);
}
#define expect(...) CHECK(has(__VA_ARGS__))

/* The memory for `records` from and to each rank. */
static unsigned char *from, *to;
static void reserve(int records) {
    size_t size = (size_t)(records + 8) * 2 * MOST * (size_t)layouts[RECORD].extent;
    from = malloc(size), to = malloc(size);
}
static void release(void) { free(from), free(to); }

/* What blocks of this rank have to do with a root. */
static int leaf_of(int root) { return !is_inter || (root != MPI_ROOT && root != MPI_PROC_NULL); }
static int root_of(int root) { return is_inter ? root == MPI_ROOT : root == me; }
/* The root's number to its receivers, or 0. */
static int number_of(int root) { return root < 0 ? me : root; }

static void broadcast(int root) {
    for (step = 0; step < steps; step++) {
        int is_root = root_of(root), mine = is_root ? sent_kind() : kind();
        fill(to, 0, number, tag(number_of(root), 0), is_root);
        RUN(Bcast, bcast, to, elements_of(mine, number), type_of(mine), root, comm);
        expect(to, 0, number, tag(number_of(root), 0), is_root || leaf_of(root));
    }
}

static void gather(int root) {
    for (step = 0; step < steps; step++) {
        int is_root = root_of(root), is_here = in_place && is_root;
        fill(from, 0, number, tag(me, 0), 1);
        for (int i = 0; i < peers; i++)
            fill(to, i * number, number, tag(i, 0), is_here && i == me);
        RUN(Gather, gather, is_here ? MPI_IN_PLACE : from, elements_of(sent_kind(), number), type_of(sent_kind()), to,
            elements_of(kind(), number), type_of(kind()), root, comm);
        for (int i = 0; i < peers; i++)
            expect(to, i * number, number, tag(i, 0), is_root);
    }
}

static void scatter(int root) {
    for (step = 0; step < steps; step++) {
        int is_here = in_place && root_of(root), is_leaf = leaf_of(root) && !is_here;
        for (int i = 0; i < peers; i++)
            fill(from, i * number, number, tag(number_of(root), i), 1);
        fill(to, 0, number, 0, 0);
        RUN(Scatter, scatter, from, elements_of(sent_kind(), number), type_of(sent_kind()), is_here ? MPI_IN_PLACE : to,
            elements_of(kind(), number), type_of(kind()), root, comm);
        expect(to, 0, number, tag(number_of(root), me), is_leaf);
    }
}

/* The arrays of the operations with counts. Lengths are even numbers of records, and some are 0. Blocks are in another order than
 * ranks, with room between them. */
static int counts[MOST], places[MOST], rooms[MOST], starts[MOST];
static int length_of(int sender, int receiver) { return (sender + 2 * receiver + operation) % 4 == 0 ? 0 : number - 2 * ((sender + receiver) % 2); }
static int start_of(int i) { return (peers - 1 - i) * (number + 2); }

static void gather_v(int root) {
    for (step = 0; step < steps; step++) {
        int is_root = root_of(root), is_here = in_place && is_root, length = length_of(me, 0);
        fill(from, 0, number, tag(me, 0), 1);
        for (int i = 0; i < peers; i++) {
            fill(to, start_of(i), number + 2, 0, 0);
            fill(to, start_of(i), length_of(i, 0), tag(i, 0), is_here && i == me);
            rooms[i] = elements_of(kind(), length_of(i, 0)), places[i] = elements_of(kind(), start_of(i));
        }
        RUN_V(Gatherv, gatherv, is_here ? MPI_IN_PLACE : from, elements_of(sent_kind(), length), type_of(sent_kind()), to, rooms,
              places, type_of(kind()), root, comm);
        for (int i = 0; i < peers; i++) {
            expect(to, start_of(i), length_of(i, 0), tag(i, 0), is_root);
            expect(to, start_of(i) + length_of(i, 0), number + 2 - length_of(i, 0), 0, 0);
        }
    }
}

static void scatter_v(int root) {
    for (step = 0; step < steps; step++) {
        int is_here = in_place && root_of(root), is_leaf = leaf_of(root) && !is_here, length = length_of(0, me);
        for (int i = 0; i < peers; i++) {
            fill(from, start_of(i), number + 2, tag(number_of(root), i), 1);
            counts[i] = elements_of(sent_kind(), length_of(0, i)), starts[i] = elements_of(sent_kind(), start_of(i));
        }
        fill(to, 0, number, 0, 0);
        RUN_V(Scatterv, scatterv, from, counts, starts, type_of(sent_kind()), is_here ? MPI_IN_PLACE : to,
              elements_of(kind(), length), type_of(kind()), root, comm);
        expect(to, 0, length, tag(number_of(root), me), is_leaf);
        expect(to, length, number - length, 0, 0);
    }
}

static void all_gather(void) {
    for (step = 0; step < steps; step++) {
        fill(from, 0, number, tag(me, 0), 1);
        for (int i = 0; i < peers; i++)
            fill(to, i * number, number, tag(i, 0), in_place && i == me);
        RUN(Allgather, allgather, in_place ? MPI_IN_PLACE : from, elements_of(sent_kind(), number),
            in_place ? MPI_DATATYPE_NULL : type_of(sent_kind()), to, elements_of(kind(), number), type_of(kind()), comm);
        for (int i = 0; i < peers; i++)
            expect(to, i * number, number, tag(i, 0), 1);
    }
}

static void all_gather_v(void) {
    for (step = 0; step < steps; step++) {
        fill(from, 0, number, tag(me, 0), 1);
        for (int i = 0; i < peers; i++) {
            fill(to, start_of(i), number + 2, 0, 0);
            fill(to, start_of(i), length_of(i, 0), tag(i, 0), in_place && i == me);
            rooms[i] = elements_of(kind(), length_of(i, 0)), places[i] = elements_of(kind(), start_of(i));
        }
        RUN_V(Allgatherv, allgatherv, in_place ? MPI_IN_PLACE : from, elements_of(sent_kind(), length_of(me, 0)),
              in_place ? MPI_DATATYPE_NULL : type_of(sent_kind()), to, rooms, places, type_of(kind()), comm);
        for (int i = 0; i < peers; i++) {
            expect(to, start_of(i), length_of(i, 0), tag(i, 0), 1);
            expect(to, start_of(i) + length_of(i, 0), number + 2 - length_of(i, 0), 0, 0);
        }
    }
}

static void all_to_all(void) {
    for (step = 0; step < steps; step++) {
        for (int i = 0; i < peers; i++) {
            fill(from, i * number, number, tag(me, i), 1);
            fill(to, i * number, number, tag(me, i), in_place);
        }
        RUN(Alltoall, alltoall, in_place ? MPI_IN_PLACE : from, elements_of(sent_kind(), number), type_of(sent_kind()), to,
            elements_of(kind(), number), type_of(kind()), comm);
        for (int i = 0; i < peers; i++)
            expect(to, i * number, number, tag(i, me), 1);
    }
}

/* In place, each pair of ranks exchanges blocks of the same length. */
static int length_between(int sender, int receiver) {
    return in_place ? length_of(sender < receiver ? sender : receiver, sender < receiver ? receiver : sender)
                    : length_of(sender, receiver);
}

static void all_to_all_v(void) {
    for (step = 0; step < steps; step++) {
        for (int i = 0; i < peers; i++) {
            fill(from, start_of(i), number + 2, tag(me, i), 1);
            fill(to, start_of(i), number + 2, 0, 0);
            fill(to, start_of(i), length_between(me, i), tag(me, i), in_place);
            counts[i] = elements_of(sent_kind(), length_between(me, i)), starts[i] = elements_of(sent_kind(), start_of(i));
            rooms[i] = elements_of(kind(), length_between(i, me)), places[i] = elements_of(kind(), start_of(i));
        }
        RUN_V(Alltoallv, alltoallv, in_place ? MPI_IN_PLACE : from, counts, starts, type_of(sent_kind()), to, rooms, places,
              type_of(kind()), comm);
        for (int i = 0; i < peers; i++) {
            expect(to, start_of(i), length_between(i, me), tag(i, me), 1);
            expect(to, start_of(i) + length_between(i, me), number + 2 - length_between(i, me), 0, 0);
        }
    }
}

static void all_to_all_w(void) {
    MPI_Datatype types[MOST], into[MOST];
    const int extent = layouts[RECORD].extent;
    for (step = 0; step < steps; step++) {
        for (int i = 0; i < peers; i++) {
            /* In place, MPICH 4.0 and Intel MPI take the type of one rank for that of another. */
            int is_same = in_place || number > LONG;
            int sent = is_same || i % 2 ? RECORD : PAIR, received = is_same || i % 3 ? RECORD : PAIR;
            fill(from, start_of(i), number + 2, tag(me, i), 1);
            fill(to, start_of(i), number + 2, 0, 0);
            fill(to, start_of(i), length_between(me, i), tag(me, i), in_place);
            types[i] = type_of(sent), counts[i] = elements_of(sent, length_between(me, i)), starts[i] = start_of(i) * extent;
            into[i] = type_of(received), rooms[i] = elements_of(received, length_between(i, me));
            places[i] = start_of(i) * extent;
        }
        RUN_V(Alltoallw, alltoallw, in_place ? MPI_IN_PLACE : from, counts, starts, types, to, rooms, places, into, comm);
        for (int i = 0; i < peers; i++) {
            expect(to, start_of(i), length_between(i, me), tag(i, me), 1);
            expect(to, start_of(i) + length_between(i, me), number + 2 - length_between(i, me), 0, 0);
        }
    }
}

/* A line of ranks: each has a neighbour on either side, but for the first and the last. With a graph, a ring. */
static int neighbours[2], is_line;
static int is_there(int i) { return !is_line || (i == 0 ? me > 0 : neighbours[1] != MPI_PROC_NULL); }

static void all_gather_neighbours(void) {
    for (step = 0; step < steps; step++) {
        fill(from, 0, number, tag(me, 0), 1);
        fill(to, 0, 2 * number, 0, 0);
        RUN(Neighbor_allgather, neighbor_allgather, from, elements_of(sent_kind(), number), type_of(sent_kind()), to,
            elements_of(kind(), number), type_of(kind()), comm);
        for (int i = 0; i < 2; i++)
            expect(to, i * number, number, tag(neighbours[i], 0), is_there(i));
    }
}

static void all_gather_v_neighbours(void) {
    for (step = 0; step < steps; step++) {
        fill(from, 0, number, tag(me, 0), 1);
        fill(to, 0, 2 * number + 4, 0, 0);
        for (int i = 0; i < 2; i++)
            rooms[i] = elements_of(kind(), number), places[i] = elements_of(kind(), i * (number + 2));
        RUN_V(Neighbor_allgatherv, neighbor_allgatherv, from, elements_of(sent_kind(), number), type_of(sent_kind()), to, rooms,
              places, type_of(kind()), comm);
        for (int i = 0; i < 2; i++)
            expect(to, i * (number + 2), number, tag(neighbours[i], 0), is_there(i));
    }
}

/* What goes to the next rank comes there from the one before. `form` is 0 for the plain operation, 1 with counts, 2 with types. */
static void all_to_all_neighbours(int form) {
    MPI_Datatype types[2], into[2];
    MPI_Aint bytes[2];
    for (step = 0; step < steps; step++) {
        fill(to, 0, 2 * number, 0, 0);
        for (int i = 0; i < 2; i++) {
            fill(from, i * number, number, tag(me, i), 1);
            counts[i] = elements_of(sent_kind(), number), starts[i] = elements_of(sent_kind(), i * number);
            rooms[i] = elements_of(kind(), number), places[i] = elements_of(kind(), i * number);
            types[i] = type_of(sent_kind()), into[i] = type_of(kind());
            bytes[i] = (MPI_Aint)i * number * layouts[RECORD].extent;
        }
        if (form == 0)
            RUN(Neighbor_alltoall, neighbor_alltoall, from, counts[0], types[0], to, rooms[0], into[0], comm);
        else if (form == 1)
            RUN_V(Neighbor_alltoallv, neighbor_alltoallv, from, counts, starts, types[0], to, rooms, places, into[0], comm);
        else
            RUN_V(Neighbor_alltoallw, neighbor_alltoallw, from, counts, bytes, types, to, rooms, bytes, into, comm);
        for (int i = 0; i < 2; i++)
            expect(to, i * number, number, tag(neighbours[i], 1 - i), is_there(i));
    }
}

static void all(void) {
    for (in_place = 0; in_place < (is_inter ? 1 : 2); in_place++) {
        int low_group = 0, roots = is_inter ? 1 : peers;
        if (is_inter) {
            MPI_Comm_rank(MPI_COMM_WORLD, &low_group);
            low_group = low_group % 2;
        }
        for (int i = 0; i < roots && i < 2; i++) {
            /* Between two groups, the first of the low group is the root. */
            int root = !is_inter ? roots - 1 - i : low_group ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL;
            operation = i;
            if (!in_place)
                broadcast(root);
            gather(root), scatter(root), gather_v(root), scatter_v(root);
        }
        operation = in_place;
        all_gather(), all_gather_v(), all_to_all(), all_to_all_v();
        all_to_all_w();
    }
}

static void all_neighbours(void) {
    in_place = 0;
    for (operation = 0; operation < 2; operation++) {
        all_gather_neighbours(), all_gather_v_neighbours();
        for (int form = 0; form < 3; form++)
            all_to_all_neighbours(form);
    }
}

static void in_each_communicator(void) {
    int size, world;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    comm = MPI_COMM_WORLD, me = world, peers = size, is_inter = 0;
    all();
    comm = MPI_COMM_SELF, me = 0, peers = 1;
    all();
    if (size < 2)
        return;
#if !defined OMPI_MAJOR_VERSION /* It truncates messages between groups. */
    /* Nor do long messages between groups work with MPICH 5.0.2. */
    if (number <= LONG) {
        MPI_Comm half, both;
        MPI_Comm_split(MPI_COMM_WORLD, world % 2, world, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - world % 2, 7, &both);
        MPI_Comm_rank(both, &me);
        MPI_Comm_remote_size(both, &peers);
        comm = both, is_inter = 1;
        all();
        MPI_Comm_free(&both);
        MPI_Comm_free(&half);
    }
#endif

    is_inter = 0, is_line = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &(int){0}, 0, &comm);
    MPI_Comm_rank(comm, &me);
    MPI_Cart_shift(comm, 0, 1, &neighbours[0], &neighbours[1]);
    all_neighbours();
    MPI_Comm_free(&comm);
    /* In a ring of two ranks, nobody knows which of the two messages from the other one is which. */
    if (size < 3)
        return;
    is_line = 0;
    const int weights[2] = {1, 1};
    const int ring[2] = {(world + size - 1) % size, (world + 1) % size};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, ring, weights, 2, ring, weights, MPI_INFO_NULL, 0, &comm);
    me = world, neighbours[0] = ring[0], neighbours[1] = ring[1];
    all_neighbours();
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    make_layouts();
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    if (strstr(version, "Intel") || strstr(version, "\t4.0.") || strstr(version, " 4.0."))
        steps = 1;
    for (int i = 1; i < argc; i++) {
        number = atoi(argv[i]) / 2 * 2;
        reserve(number);
        for (way = BLOCKING; way <= LARGE; way++)
            if (way != PERSISTENT || MPI_VERSION >= 4)
                in_each_communicator();
        release();
    }
    for (int i = 0; i < BYTES; i++)
        MPI_Type_free(&layouts[i].type);
    uint64_t (*moved)(void), here = 0, least = 0;
    *(void **)&moved = dlsym(RTLD_DEFAULT, "dtype_preload_moved");
    if (moved)
        here = moved();
    MPI_Reduce(&here, &least, 1, MPI_UINT64_T, MPI_MIN, 0, MPI_COMM_WORLD);
    long all_wrong = 0;
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s, %" PRIu64 " moved\n", all_wrong ? "WRONG" : "right", least);
    MPI_Finalize();
    return all_wrong != 0;
}
