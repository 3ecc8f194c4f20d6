/* Random nested types, for the programs that include this. The basic types in them are their `basic()`'s. */

#include <mpi.h>
#include <stdint.h>

/* A basic type, as a copy that is freed. */
static MPI_Datatype basic(void);

static uint64_t state;

/* The least number of elements of a block in a list. */
static int least;

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
        lengths[i] = least + (int)draw(4 - least);
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
