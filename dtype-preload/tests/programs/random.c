/* Random nested types between two ranks: sent and received as the type, sent as the type and received as packed bytes,
 * and the other way round, so that fragments start and end inside values. Both ranks draw the same numbers.
 *
 * The mode `verify` compares every fragment; here the packed bytes at both ends are compared.
 *
 * Arguments: the number of types, the seed. */

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static uint64_t draw(uint64_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545F4914F6CDD1D % below;
}

static MPI_Aint extent_of(MPI_Datatype type) {
    MPI_Aint lb, extent;
    MPI_Type_get_extent(type, &lb, &extent);
    return extent;
}

static MPI_Aint true_extent_of(MPI_Datatype type) {
    MPI_Aint lb, extent;
    MPI_Type_get_true_extent(type, &lb, &extent);
    return extent;
}

/* At least the true extent, so that neighbours do not overlap. */
static MPI_Aint room_of(MPI_Datatype type) {
    MPI_Aint extent = extent_of(type), data = true_extent_of(type);
    return extent > data ? extent : data;
}

/* MPICH and Open MPI 5 do not copy the padding inside of a long double, which could not be compared here. Open MPI 5.0.11
 * also packs complex numbers from wrong displacements if the stride is not a multiple of their size. */
#if OMPI_MAJOR_VERSION >= 5
#define WIDE MPI_DOUBLE
#elif defined MPICH_VERSION
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

enum { MOST = 40 };

static MPI_Datatype make(int depth);

static MPI_Datatype structure(int depth) {
    int lengths[4], number = 1 + (int)draw(4);
    MPI_Aint displacements[4], at = (MPI_Aint)draw(3) * 8;
    MPI_Datatype members[4], type;
    for (int i = 0; i < number; i++) {
        members[i] = make(depth - 1);
        lengths[i] = 1 + (int)draw(3);
        MPI_Aint lb, extent;
        MPI_Type_get_true_extent(members[i], &lb, &extent);
        /* An element whose neighbours would overlap stands alone. */
        if (extent_of(members[i]) < extent)
            lengths[i] = 1;
        displacements[i] = at - lb;
        at += extent + (lengths[i] - 1) * extent_of(members[i]) + (MPI_Aint)draw(20);
    }
    /* Sometimes in another order than in memory. */
    if (number > 1 && draw(3) == 0) {
        MPI_Aint d = displacements[0];
        MPI_Datatype m = members[0];
        int l = lengths[0];
        displacements[0] = displacements[number - 1], displacements[number - 1] = d;
        members[0] = members[number - 1], members[number - 1] = m;
        lengths[0] = lengths[number - 1], lengths[number - 1] = l;
    }
    MPI_Type_create_struct(number, lengths, displacements, members, &type);
    for (int i = 0; i < number; i++)
        MPI_Type_free(&members[i]);
    return type;
}

/* A type whose elements, at multiples of its extent, do not overlap. */
static MPI_Datatype fit(MPI_Datatype old) {
    MPI_Aint lb, extent, true_lb, data;
    MPI_Type_get_extent(old, &lb, &extent);
    MPI_Type_get_true_extent(old, &true_lb, &data);
    if (extent >= data && draw(8) > 0)
        return old;
    MPI_Datatype type;
    MPI_Type_create_resized(old, true_lb, data + (MPI_Aint)draw(3) * 8, &type);
    MPI_Type_free(&old);
    return type;
}

static MPI_Datatype make(int depth) {
    if (depth == 0)
        return basic();
    if (draw(4) == 0)
        return fit(structure(depth));
    MPI_Datatype old = make(depth - 1), type;
    int number = 1 + (int)draw(MOST >> depth), length = 1 + (int)draw(4), lengths[MOST], starts[MOST];
    MPI_Aint bytes[MOST], room = room_of(old), at = 0;
    for (int i = 0; i < number; i++) {
        lengths[i] = (int)draw(4);
        starts[i] = (int)at;
        bytes[i] = at * room;
        at += 4 + (MPI_Aint)draw(3);
    }
    switch (draw(8)) {
    case 0:
        MPI_Type_contiguous(number, old, &type);
        break;
    case 1:
        MPI_Type_vector(number, length, draw(4) == 0 ? -length - 1 : length + (int)draw(3), old, &type);
        break;
    case 2:
        MPI_Type_create_hvector(number, length, length * room + (MPI_Aint)draw(17), old, &type);
        break;
    case 3:
        MPI_Type_indexed(number, lengths, starts, old, &type);
        break;
    case 4:
        MPI_Type_create_hindexed(number, lengths, bytes, old, &type);
        break;
    case 5:
        MPI_Type_create_indexed_block(number, length, starts, old, &type);
        break;
    case 6: {
        int sizes[2] = {number + 2, 5}, parts[2] = {number, 1 + (int)draw(4)}, from[2] = {1, (int)draw(2)};
        MPI_Type_create_subarray(2, sizes, parts, from, draw(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, old, &type);
        break;
    }
    default:
        MPI_Type_dup(old, &type);
    }
    MPI_Type_free(&old);
    return fit(type);
}

static int rank;

static void fail(int number, const char *what) {
    printf("type %d: %s\n", number, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
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
    unsigned char *from = malloc(span), *to = malloc(span), *packed = malloc(bytes), *again = malloc(bytes);
    for (size_t i = 0; i < span; i++)
        from[i] = (unsigned char)(i * 131 + i / 256 + number);
    for (int round = 0; round < 4; round++) {
        memset(to, 0xC3, span);
        void *source = from - true_lb, *destination = to - true_lb;
        int position = 0;
        MPI_Pack(source, count, type, packed, (int)bytes, &position, MPI_COMM_WORLD);
        /* MPICH 4.0 refuses bytes for a type in fragments that end inside values, where the type is left to it. */
        int as_bytes = round == 2;
#ifdef MPICH_VERSION
        as_bytes &= bytes <= 8000;
#endif
        if (rank == 0) {
            if (as_bytes)
                MPI_Send(packed, position, MPI_PACKED, 1, 0, MPI_COMM_WORLD);
            else
                MPI_Send(source, count, type, 1, 0, MPI_COMM_WORLD);
            continue;
        }
        MPI_Status status;
        if (round == 1) {
            MPI_Recv(again, (int)bytes, MPI_PACKED, 0, 0, MPI_COMM_WORLD, &status);
            if (memcmp(again, packed, bytes) != 0)
                fail(number, "received bytes differ");
            position = 0;
            MPI_Unpack(again, (int)bytes, &position, destination, count, type, MPI_COMM_WORLD);
        } else {
            MPI_Recv(destination, count, type, 0, 0, MPI_COMM_WORLD, &status);
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
        for (size_t i = 0; i < span; i++)
            if (to[i] != 0xC3)
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
    if (rank == 0)
        printf("%d types\n", types);
    MPI_Finalize();
    return 0;
}
