/* Datatypes, values in their elements, and checks, for the programs that include this. */

#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { SEGMENTS = 8, GAP = 0x77 };

/* A datatype, and where its packed bytes are. */
struct layout {
    MPI_Datatype type;
    int extent, size, segments, at[SEGMENTS], length[SEGMENTS], elements;
};

/* The last two are contiguous. */
enum { RECORD, WIDE, VECTOR, PAIR, BYTES, INTS, LAYOUTS };
static struct layout layouts[LAYOUTS];

static int rank;
static long wrong;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define CHECK(condition)                                                                                    \
    do {                                                                                                    \
        if (!(condition))                                                                                   \
            fail(__LINE__, #condition);                                                                     \
    } while (0)

static void fail(int line, const char *what) {
    pthread_mutex_lock(&lock);
    if (wrong++ < 20)
        fprintf(stderr, "rank %d, line %d: not %s\n", rank, line, what);
    pthread_mutex_unlock(&lock);
}

static MPI_Datatype record_type(void) {
    MPI_Datatype type, record;
    MPI_Type_create_struct(2, (const int[]){1, 1}, (const MPI_Aint[]){0, 8},
                           (const MPI_Datatype[]){MPI_CHAR, MPI_DOUBLE}, &record);
    MPI_Type_create_resized(record, 0, 16, &type);
    MPI_Type_free(&record);
    MPI_Type_commit(&type);
    return type;
}

static void make_layouts(void) {
    struct layout *all = layouts;
    all[RECORD] = (struct layout){record_type(), 16, 9, 2, {0, 8}, {1, 8}, 2};

    MPI_Datatype wide;
    MPI_Type_create_struct(3, (const int[]){1, 1, 1}, (const MPI_Aint[]){4, 8, 20},
                           (const MPI_Datatype[]){MPI_INT, MPI_DOUBLE, MPI_CHAR}, &wide);
    all[WIDE] = (struct layout){0, 32, 13, 2, {4, 20}, {12, 1}, 3};
    MPI_Type_create_resized(wide, 0, 32, &all[WIDE].type);
    MPI_Type_free(&wide);
    MPI_Type_commit(&all[WIDE].type);

    all[VECTOR] = (struct layout){0, 40, 24, 3, {0, 16, 32}, {8, 8, 8}, 6};
    MPI_Type_vector(3, 2, 4, MPI_INT, &all[VECTOR].type);
    MPI_Type_commit(&all[VECTOR].type);

    all[PAIR] = (struct layout){0, 32, 18, 4, {0, 8, 16, 24}, {1, 8, 1, 8}, 4};
    MPI_Type_contiguous(2, all[RECORD].type, &all[PAIR].type);
    MPI_Type_commit(&all[PAIR].type);

    all[BYTES] = (struct layout){MPI_BYTE, 1, 1, 1, {0}, {1}, 1};
    all[INTS] = (struct layout){MPI_INT, 4, 4, 1, {0}, {4}, 1};
}

static unsigned char value(int tag, int position) { return (unsigned char)(tag * 31 + position * 7 + (position >> 8) + 1); }

/* Writes the first `bytes` packed bytes of a message to elements, or compares them; `count` elements have room. All other bytes
 * have the value of gaps. */
static int walk(const struct layout *layout, int count, int bytes, int tag, unsigned char *memory, int writes) {
    int position = 0;
    if (writes)
        memset(memory, GAP, (size_t)count * layout->extent);
    for (int i = 0; i < count; i++) {
        unsigned char *element = memory + (size_t)i * layout->extent;
        int byte = 0;
        for (int segment = 0; segment < layout->segments; segment++) {
            for (; byte < layout->at[segment]; byte++)
                if (!writes && element[byte] != GAP)
                    return 0;
            for (; byte < layout->at[segment] + layout->length[segment]; byte++, position++) {
                unsigned char expected = position < bytes ? value(tag, position) : GAP;
                if (writes)
                    element[byte] = expected;
                else if (element[byte] != expected)
                    return 0;
            }
        }
        for (; byte < layout->extent; byte++)
            if (!writes && element[byte] != GAP)
                return 0;
    }
    return 1;
}
