/* One-sided operations and files with many types, on both sides the same or different ones: all data are right, and no gap is
 * written. Prints the number of operations. The argument is a file's path. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 300, ROOM = 1 << 16, MIDDLE = ROOM / 2 };

static int rank, other, operations;
static MPI_Win window;
/* Elements start in the middle, because some types have negative displacements. */
static unsigned char *from, *to, *expected;
static char *packed;

/* Whether the memory of `to` is that of the elements, and nothing else was written. */
static void expect(const unsigned char *memory, int count, MPI_Datatype source, int number, MPI_Datatype target,
                   int sender, const char *what) {
    int bytes = 0, at = 0;
    for (int i = 0; i < ROOM; i++)
        from[i] = (unsigned char)(i * 7 + i / 256 + 31 * sender);
    memset(expected, 0x77, ROOM);
    MPI_Pack(from + MIDDLE, count, source, packed, ROOM, &bytes, MPI_COMM_SELF);
    MPI_Unpack(packed, bytes, &at, expected + MIDDLE, number, target, MPI_COMM_SELF);
    if (memcmp(memory, expected, ROOM) != 0) {
        printf("wrong: %s, %d elements\n", what, count);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    operations++;
}

static void begin(void) {
    for (int i = 0; i < ROOM; i++)
        from[i] = (unsigned char)(i * 7 + i / 256 + 31 * rank);
    memset(to, 0x77, ROOM);
    MPI_Win_fence(0, window);
}

static void one_sided(int count, MPI_Datatype here, int number, MPI_Datatype there) {
    MPI_Request request;
    unsigned char *got = malloc(ROOM);

    begin();
    MPI_Put(from + MIDDLE, count, here, other, MIDDLE, number, there, window);
    MPI_Win_fence(0, window);
    expect(to, count, here, number, there, other, "put");

    begin();
    MPI_Accumulate(from + MIDDLE, count, here, other, MIDDLE, number, there, MPI_REPLACE, window);
    MPI_Win_fence(0, window);
    expect(to, count, here, number, there, other, "accumulate");

    begin();
    memcpy(to, from, ROOM);
    memset(got, 0x77, ROOM);
    MPI_Win_fence(0, window);
    MPI_Get(got + MIDDLE, count, here, other, MIDDLE, number, there, window);
    MPI_Win_fence(0, window);
    expect(got, number, there, count, here, other, "get");

    begin();
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    MPI_Win_lock_all(0, window);
    MPI_Rput(from + MIDDLE, count, here, other, MIDDLE, number, there, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(window);
    MPI_Win_fence(0, window);
    expect(to, count, here, number, there, other, "rput");

    begin();
    memcpy(to, from, ROOM);
    memset(got, 0x77, ROOM);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    MPI_Win_lock_all(0, window);
    MPI_Rget(got + MIDDLE, count, here, other, MIDDLE, number, there, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(window);
    MPI_Win_fence(0, window);
    expect(got, number, there, count, here, other, "rget");
    free(got);
}

static void file(const char *path, int count, MPI_Datatype memory, MPI_Datatype element) {
    MPI_File file;
    int size;
    MPI_Type_size(memory, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    begin();
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    /* Each rank has a part of the file, with the gaps of the type. */
    MPI_Offset start = (MPI_Offset)rank * ROOM + MIDDLE;
    MPI_File_set_view(file, start, element, memory, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, from + MIDDLE, count, memory, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    start = (MPI_Offset)other * ROOM + MIDDLE;
    MPI_File_set_view(file, start, element, memory, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, 0, to + MIDDLE, count, memory, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    expect(to, count, memory, count, memory, other, "file");
}

static MPI_Datatype resized(MPI_Datatype old, MPI_Aint lb, MPI_Aint extent) {
    MPI_Datatype type;
    MPI_Type_create_resized(old, lb, extent, &type);
    MPI_Type_free(&old);
    MPI_Type_commit(&type);
    return type;
}

static MPI_Datatype block(int length, MPI_Aint at) {
    MPI_Datatype type;
    MPI_Type_create_hindexed(1, &length, &at, MPI_INT, &type);
    return type;
}

static MPI_Datatype vector(int count, int length, int stride) {
    MPI_Datatype type;
    MPI_Type_vector(count, length, stride, MPI_INT, &type);
    return type;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    from = malloc(ROOM), to = malloc(ROOM), expected = malloc(ROOM), packed = malloc(ROOM);
    MPI_Win_create(to, ROOM, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    /* 16 bytes of integers each: some are one block, and all but the last three have a gap between elements. */
    MPI_Datatype types[] = {
        resized(block(4, 0), 0, 24),   resized(block(4, 8), 0, 32),   resized(block(4, -16), -16, 20),
        resized(block(4, 0), -8, 40),  resized(vector(2, 2, 3), 0, 28), resized(vector(4, 1, 2), -4, 40),
        resized(vector(4, 1, -2), -24, 36), resized(block(4, 0), 0, -24), resized(vector(1, 4, 4), 0, 16),
        resized(block(4, 4), 4, 16), resized(block(4, -48), 0, 16),
    };
    const int number = sizeof types / sizeof *types, counts[] = {1, 64, 65, MOST}, kinds = 4;
    for (int i = 0; i < number; i++)
        for (int k = 0; k < kinds; k++)
            for (int j = 0; j < 2; j++)
                one_sided(counts[k], types[i], counts[k], types[(i + j) % number]);
    /* Many elements on one side, an element of many blocks on the other. */
    MPI_Datatype long_vector = resized(vector(4 * MOST, 1, 3), 0, 12 * 4 * MOST);
    for (int i = 0; i < number; i++) {
        one_sided(MOST, types[i], 1, long_vector);
        one_sided(1, long_vector, MOST, types[i]);
    }
    if (argc > 1)
        for (int k = 0; k < kinds; k++) {
            file(argv[1], counts[k], types[0], MPI_INT);
            file(argv[1], counts[k], types[1], MPI_INT);
            file(argv[1], counts[k], types[4], MPI_INT);
            file(argv[1], counts[k], types[8], MPI_INT);
        }
    if (rank == 0)
        printf("%d operations\n", operations);
    MPI_Type_free(&long_vector);
    for (int i = 0; i < number; i++)
        MPI_Type_free(&types[i]);
    MPI_Win_free(&window);
    free(from), free(to), free(expected), free(packed);
    MPI_Finalize();
    return 0;
}
