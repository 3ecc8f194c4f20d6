/* Random types of one basic type to external32 and back, in one rank. The expected bytes are those of MPI_Pack, each value
 * reversed. The mode `verify` compares with what the library makes of them as well.
 *
 * Arguments: the number of types, the seed. */

#include "types.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A basic type, and the bytes of its parts in memory and in external32; 0 there if only the library knows. */
struct value {
    MPI_Datatype type;
    int part, external;
};

static const struct value *chosen;

/* Below MPICH an empty part of a structure makes it a type of several basic types, which end the program. */
#ifdef MPICH_VERSION
enum { LEAST = 1, INTEGER = 8 };
#else
/* Open MPI takes an integer of eight bytes for a `long`. */
enum { LEAST = 0, INTEGER = 0 };
#endif

static MPI_Datatype basic(void) {
    MPI_Datatype copy;
    MPI_Type_dup(chosen->type, &copy);
    return copy;
}

static void fail(int number, const char *what) {
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Type_get_name(chosen->type, name, &length);
    printf("type %d of %s: %s\n", number, name, what);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* A `long` of 8 bytes has 4 in external32. */
static void expect(const unsigned char *native, size_t bytes, unsigned char *out) {
    for (size_t at = 0; at < bytes; at += chosen->part)
        for (int i = 0; i < chosen->external; i++)
            *out++ = native[at + chosen->external - 1 - i];
}

static void convert(int number, MPI_Datatype type) {
    MPI_Aint lb, extent, true_lb, data;
    int size;
    MPI_Type_get_extent(type, &lb, &extent);
    MPI_Type_get_true_extent(type, &true_lb, &data);
    MPI_Type_size(type, &size);
    if (size == 0 || data > 1 << 20)
        return;
    int count = 1 + (int)draw(1 + 20000 / size);
    if ((count - 1) * extent + data > 1 << 20)
        count = 1;
    size_t span = (size_t)((count - 1) * extent + data), bytes = (size_t)size * count;
    size_t external = chosen->external ? bytes / chosen->part * chosen->external : bytes;
    /* More room than is needed, and something before. */
    MPI_Aint before = (MPI_Aint)draw(9), room = before + external + (MPI_Aint)draw(9);
    unsigned char *from = malloc(span), *to = malloc(span), *native = malloc(bytes), *again = malloc(bytes);
    unsigned char *packed = malloc(room), *expected = malloc(room);
    /* Random bytes are a `long` that external32 cannot hold; that is left to the library. */
    int is_long = chosen->external != 0 && chosen->external < chosen->part, fits = !is_long || draw(4) > 0;
    for (size_t i = 0; i < span; i++)
        from[i] = (unsigned char)(i * 131 + i / 256 + number);
    if (is_long && fits) {
        for (size_t at = 0; at < bytes; at += chosen->part) {
            long small = (long)draw(UINT_MAX) - (chosen->type == MPI_LONG ? INT_MAX : 0);
            memcpy(native + at, &small, sizeof small);
        }
        int start = 0;
        MPI_Unpack(native, (int)bytes, &start, from - true_lb, count, type, MPI_COMM_WORLD);
    }
    int position = 0;
    MPI_Pack(from - true_lb, count, type, native, (int)bytes, &position, MPI_COMM_WORLD);
    memset(expected, 0xEE, room);
    expect(native, bytes, expected + before);

    memset(packed, 0xEE, room);
    MPI_Aint at = before;
    MPI_Pack_external("external32", from - true_lb, count, type, packed, room, &at);
    if (chosen->external && at != before + (MPI_Aint)external)
        fail(number, "the position after packing");
    if (chosen->external && memcmp(packed, expected, room) != 0)
        fail(number, "other bytes than those of MPI_Pack, reversed");

    memset(to, 0xC3, span);
    at = before;
    MPI_Unpack_external("external32", packed, room, &at, to - true_lb, count, type);
    if (chosen->external && at != before + (MPI_Aint)external)
        fail(number, "the position after unpacking");
    position = 0;
    MPI_Pack(to - true_lb, count, type, again, (int)bytes, &position, MPI_COMM_WORLD);
    if (chosen->external && fits && memcmp(again, native, bytes) != 0)
        fail(number, "unpacked elements differ");
    /* All else is as it was. */
    memset(native, 0xC3, bytes);
    position = 0;
    MPI_Unpack(native, (int)bytes, &position, to - true_lb, count, type, MPI_COMM_WORLD);
    if (to[0] != 0xC3 || memcmp(to, to + 1, span - 1) != 0)
        fail(number, "a gap was written");
    free(from), free(to), free(native), free(again), free(packed), free(expected);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    least = LEAST;
    MPI_Datatype real, complex, integer;
    MPI_Type_create_f90_real(10, MPI_UNDEFINED, &real);
    MPI_Type_create_f90_complex(10, MPI_UNDEFINED, &complex);
    MPI_Type_create_f90_integer(10, &integer);
    const struct value all[] = {
        {MPI_CHAR, 1, 1},
        {MPI_SIGNED_CHAR, 1, 1},
        {MPI_UNSIGNED_CHAR, 1, 1},
        {MPI_BYTE, 1, 1},
        {MPI_PACKED, 1, 1},
        {MPI_C_BOOL, 1, 1},
        {MPI_INT8_T, 1, 1},
        {MPI_UINT8_T, 1, 1},
        {MPI_SHORT, 2, 2},
        {MPI_UNSIGNED_SHORT, 2, 2},
        {MPI_INT16_T, 2, 2},
        {MPI_UINT16_T, 2, 2},
        {MPI_INT, 4, 4},
        {MPI_UNSIGNED, 4, 4},
        {MPI_INT32_T, 4, 4},
        {MPI_UINT32_T, 4, 4},
        {MPI_LONG, 8, 4},
        {MPI_UNSIGNED_LONG, 8, 4},
        {MPI_LONG_LONG, 8, 8},
        {MPI_UNSIGNED_LONG_LONG, 8, 8},
        {MPI_INT64_T, 8, 8},
        {MPI_UINT64_T, 8, 8},
        {MPI_AINT, 8, 8},
        {MPI_COUNT, 8, 8},
        {MPI_OFFSET, 8, 8},
        {MPI_FLOAT, 4, 4},
        {MPI_DOUBLE, 8, 8},
        {MPI_C_FLOAT_COMPLEX, 4, 4},
        {MPI_C_DOUBLE_COMPLEX, 8, 8},
        {MPI_CXX_BOOL, 1, 1},
        {MPI_CXX_FLOAT_COMPLEX, 4, 4},
        {MPI_CXX_DOUBLE_COMPLEX, 8, 8},
        {MPI_CHARACTER, 1, 1},
        {MPI_LOGICAL, 4, 4},
        {MPI_INTEGER, 4, 4},
        {MPI_REAL, 4, 4},
        {MPI_DOUBLE_PRECISION, 8, 8},
        {MPI_INTEGER1, 1, 1},
        {MPI_INTEGER2, 2, 2},
        {MPI_INTEGER4, 4, 4},
        {MPI_INTEGER8, 8, 8},
        {MPI_REAL4, 4, 4},
        {MPI_REAL8, 8, 8},
        {real, 8, 8},
        {integer, 8, INTEGER},
        /* These are left to the library, which does not follow the standard in all of them. */
        {MPI_LONG_DOUBLE, 16, 0},
        {MPI_COMPLEX, 4, 0},
        {MPI_DOUBLE_COMPLEX, 8, 0},
        {MPI_COMPLEX8, 4, 0},
        {MPI_COMPLEX16, 8, 0},
        {MPI_REAL16, 16, 0},
        {complex, 8, 0},
    };
    const int number_of_values = sizeof all / sizeof *all;
    int types = argc > 1 ? atoi(argv[1]) : 1000;
    state = 0x9E3779B97F4A7C15 ^ (argc > 2 ? strtoull(argv[2], NULL, 0) : 1);
    for (int number = 0; number < types; number++) {
        chosen = &all[number % number_of_values];
        MPI_Datatype type = make(1 + (int)draw(3));
        MPI_Type_commit(&type);
        convert(number, type);
        convert(number, type);
        MPI_Type_free(&type);
    }
    printf("%d types\n", types);
    MPI_Finalize();
    return 0;
}
