/* One-way times between two ranks, and times of MPI_Pack and MPI_Unpack, for structs, the layouts of DDTBench and
 * transposes. The bench `below` starts it with and without the library; everything that is timed is compared first.
 *
 * Prints the version of the library in such a form, and a line for each row: operation, packed bytes, nanoseconds, whether dtype-preload moved them (1; 0 if it does not
 * count), name. The time is the fastest of some samples.
 *
 * Arguments: seconds for each row; a part of the names of the rows. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank;
static double budget = 0.05;
static const char *wanted = "";

struct layout {
    const char *name;
    MPI_Datatype type;
    int count;
};

static double now(void) { return MPI_Wtime(); }

/* The bytes that dtype-preload has moved so far, if it is loaded and counts. */
static uint64_t moved(void) {
    uint64_t (*function)(void) = (uint64_t (*)(void))dlsym(RTLD_DEFAULT, "dtype_preload_moved");
    return function ? function() : 0;
}

static void die(const char *name, const char *what) {
    printf("%s: %s\n", name, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Memory for the elements, with what is sent or 0x55 everywhere; `*base` is the address for MPI. */
static char *memory(struct layout *layout, int filled, void **base, size_t *span) {
    MPI_Aint lb, extent, true_lb, data;
    MPI_Type_get_extent(layout->type, &lb, &extent);
    MPI_Type_get_true_extent(layout->type, &true_lb, &data);
    *span = (size_t)(data + (layout->count - 1) * extent);
    char *all = malloc(*span);
    for (size_t i = 0; i < *span; i++)
        all[i] = filled ? (char)(i * 131 + i / 256) : 0x55;
    *base = all - true_lb;
    return all;
}

static void report(const char *operation, const char *name, long bytes, int taken, double seconds) {
    if (rank == 0) {
        printf("%s %ld %.1f %d %s\n", operation, bytes, seconds * 1e9, taken, name);
        fflush(stdout);
    }
}

static void one_way(struct layout *layout, void *from, void *to, int rounds) {
    for (int i = 0; i < rounds; i++) {
        if (rank == 0) {
            MPI_Send(from, layout->count, layout->type, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(to, layout->count, layout->type, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(to, layout->count, layout->type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(from, layout->count, layout->type, 0, 0, MPI_COMM_WORLD);
        }
    }
}

/* The structs {char, double} that are packed, sent as bytes, and unpacked, as a programmer would write it. */
static char *by_hand;

static void send_by_hand(const char *from, int count, int rank) {
    for (int i = 0; i < count; i++) {
        by_hand[9 * i] = from[16 * i];
        memcpy(by_hand + 9 * i + 1, from + 16 * i + 8, 8);
    }
    MPI_Send(by_hand, 9 * count, MPI_BYTE, rank, 0, MPI_COMM_WORLD);
}

static void receive_by_hand(char *to, int count, int rank) {
    MPI_Recv(by_hand, 9 * count, MPI_BYTE, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; i++) {
        to[16 * i] = by_hand[9 * i];
        memcpy(to + 16 * i + 8, by_hand + 9 * i + 1, 8);
    }
}

static void one_way_by_hand(struct layout *layout, void *from, void *to, int rounds) {
    for (int i = 0; i < rounds; i++) {
        if (rank == 0) {
            send_by_hand(from, layout->count, 1);
            receive_by_hand(to, layout->count, 1);
        } else {
            receive_by_hand(to, layout->count, 0);
            send_by_hand(from, layout->count, 0);
        }
    }
}

/* The seconds of a message one way, in the fastest of some samples. */
static double fastest(void (*exchange)(struct layout *, void *, void *, int), struct layout *layout, void *from, void *to,
                      int rounds) {
    double best = 1e9;
    for (int sample = 0; sample < 30; sample++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = now();
        exchange(layout, from, to, rounds);
        double time = (now() - start) / rounds / 2;
        best = time < best ? time : best;
    }
    return best;
}

static void measure(const char *name, MPI_Datatype type, int count) {
    struct layout layout = {name, type, count};
    if (!strstr(name, wanted)) {
        MPI_Type_free(&layout.type);
        return;
    }
    MPI_Type_commit(&layout.type);
    int size;
    MPI_Type_size(type, &size);
    long bytes = (long)size * count;
    void *from, *to;
    size_t span;
    char *sent = memory(&layout, 1, &from, &span), *received = memory(&layout, 0, &to, &span);
    char *packed = malloc(bytes), *again = malloc(bytes);

    int position = 0;
    MPI_Pack(from, count, type, packed, (int)bytes, &position, MPI_COMM_WORLD);
    one_way(&layout, from, to, 2);
    position = 0;
    MPI_Pack(to, count, type, again, (int)bytes, &position, MPI_COMM_WORLD);
    if (memcmp(packed, again, bytes) != 0)
        die(name, "received elements differ");

    /* Rounds that take about a hundredth of the time for the row. Both ranks need the same number. */
    uint64_t before = moved();
    double start = now();
    one_way(&layout, from, to, 2);
    double one = (now() - start) / 2;
    int taken = moved() != before;
    int rounds = (int)(budget / 60 / one) + 1;
    MPI_Bcast(&rounds, 1, MPI_INT, 0, MPI_COMM_WORLD);
    report("send", name, bytes, taken, fastest(one_way, &layout, from, to, rounds));
    if (strncmp(name, "{u8,f64} ", 9) == 0) {
        by_hand = malloc(bytes);
        one_way_by_hand(&layout, from, to, 2);
        report("loop", name, bytes, 0, fastest(one_way_by_hand, &layout, from, to, rounds));
        free(by_hand);
    }
    /* What the transport alone takes. */
    struct layout plain = {name, MPI_BYTE, (int)bytes};
    one_way(&plain, packed, again, 2);
    report("bytes", name, bytes, 0, fastest(one_way, &plain, packed, again, rounds));

    double pack = 1e9, unpack = 1e9;
    if (rank == 0) {
        before = moved();
        start = now();
        position = 0;
        MPI_Pack(from, count, type, packed, (int)bytes, &position, MPI_COMM_WORLD);
        one = now() - start;
        taken = moved() != before;
        rounds = (int)(budget / 120 / one) + 1;
        for (int sample = 0; sample < 30; sample++) {
            start = now();
            for (int i = 0; i < rounds; i++) {
                position = 0;
                MPI_Pack(from, count, type, packed, (int)bytes, &position, MPI_COMM_WORLD);
            }
            double time = (now() - start) / rounds;
            pack = time < pack ? time : pack;
            start = now();
            for (int i = 0; i < rounds; i++) {
                position = 0;
                MPI_Unpack(packed, (int)bytes, &position, to, count, type, MPI_COMM_WORLD);
            }
            time = (now() - start) / rounds;
            unpack = time < unpack ? time : unpack;
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    report("pack", name, bytes, taken, pack);
    report("unpack", name, bytes, taken, unpack);
    MPI_Type_free(&layout.type);
    free(sent), free(received), free(packed), free(again);
}

static MPI_Datatype record(int number, const int *lengths, const MPI_Aint *at, const MPI_Datatype *types, MPI_Aint extent) {
    MPI_Datatype type, resized;
    MPI_Type_create_struct(number, lengths, at, types, &type);
    MPI_Type_create_resized(type, 0, extent, &resized);
    MPI_Type_free(&type);
    return resized;
}

static MPI_Datatype byte_and_double(void) {
    return record(2, (int[]){1, 1}, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_CHAR, MPI_DOUBLE}, 16);
}

static MPI_Datatype particle(void) {
    return record(4, (int[]){3, 3, 1, 1}, (MPI_Aint[]){0, 24, 48, 56},
                  (MPI_Datatype[]){MPI_DOUBLE, MPI_DOUBLE, MPI_LONG, MPI_INT}, 64);
}

static MPI_Datatype mixed(void) {
    return record(3, (int[]){3, 1, 2}, (MPI_Aint[]){0, 16, 24}, (MPI_Datatype[]){MPI_FLOAT, MPI_DOUBLE, MPI_SHORT}, 32);
}

static void structs(void) {
    const int counts[] = {1, 16, 1000, 20000, 200000};
    const struct {
        const char *name;
        MPI_Datatype (*make)(void);
    } all[] = {{"{u8,f64}", byte_and_double}, {"{3f64,3f64,i64,i32}", particle}, {"{3f32,f64,2i16}", mixed}};
    char name[64];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t j = 0; j < sizeof counts / sizeof *counts; j++) {
            snprintf(name, sizeof name, "%s x %d", all[i].name, counts[j]);
            measure(name, all[i].make(), counts[j]);
        }
}

/* A list that visits all numbers below `length`, 37 apart. */
static int *list(int number, int length, int scale) {
    int *all = malloc(number * sizeof *all), step = 37;
    while (length % step == 0)
        step += 2;
    for (int i = 0; i < number; i++)
        all[i] = scale * (int)((long)i * step % length);
    return all;
}

static MPI_Datatype indexed(int number, int length, int block, MPI_Datatype old) {
    int *all = list(number, length, block);
    MPI_Datatype type;
    MPI_Type_create_indexed_block(number, block, all, old, &type);
    free(all);
    return type;
}

static void nas(void) {
    char name[64];
    const int lu[] = {12, 33, 64, 102, 162, 408, 1020};
    for (size_t i = 0; i < sizeof lu / sizeof *lu; i++) {
        MPI_Datatype five, column;
        MPI_Type_contiguous(5, MPI_DOUBLE, &five);
        MPI_Type_vector(lu[i], 1, lu[i] + 2, five, &column);
        snprintf(name, sizeof name, "NAS_LU_y %d", lu[i]);
        measure(name, column, 1);
        MPI_Type_free(&five);
    }
    const int mg[][3] = {{34, 18, 18}, {130, 66, 66}, {258, 130, 130}, {514, 258, 258}};
    for (size_t i = 0; i < sizeof mg / sizeof *mg; i++) {
        int a = mg[i][0], b = mg[i][1], c = mg[i][2];
        MPI_Datatype row, x, y, z;
        MPI_Type_vector(b - 2, 1, a, MPI_DOUBLE, &row);
        MPI_Type_create_hvector(c - 2, 1, 8L * a * b, row, &x);
        MPI_Type_vector(c - 2, a - 2, a * b, MPI_DOUBLE, &y);
        MPI_Type_vector(b - 2, a - 2, a, MPI_DOUBLE, &z);
        const MPI_Datatype all[] = {x, y, z};
        for (int j = 0; j < 3; j++) {
            snprintf(name, sizeof name, "NAS_MG_%c %dx%dx%d", 'x' + j, a, b, c);
            measure(name, all[j], 1);
        }
        MPI_Type_free(&row);
    }
}

static void milc(void) {
    const int all[][4] = {{16, 16, 16, 16}, {8, 16, 16, 16}, {8, 8, 8, 16}, {8, 8, 8, 8}};
    char name[64];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int b = all[i][0], c = all[i][1], d = all[i][2], e = all[i][3];
        MPI_Datatype six, plane, type;
        MPI_Type_contiguous(6, MPI_FLOAT, &six);
        MPI_Type_vector(e, b * c / 2, b * c * d / 2, six, &plane);
        MPI_Type_create_hvector(2, 1, 24L * b * c * d * e / 2, plane, &type);
        snprintf(name, sizeof name, "MILC_su3_zd %dx%dx%dx%d", b, c, d, e);
        measure(name, type, 1);
        MPI_Type_free(&six), MPI_Type_free(&plane);
    }
}

static void fft(void) {
    const int all[] = {256, 512, 768, 1024, 1536};
    char name[64];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int d = all[i], part = d / 2;
        MPI_Datatype complex, block, gather, column, stepped, scatter;
        MPI_Type_contiguous(2, MPI_DOUBLE, &complex);
        MPI_Type_vector(part, part, d, complex, &block);
        MPI_Type_create_resized(block, 0, 16L * part, &gather);
        snprintf(name, sizeof name, "FFT2_gather %d", d);
        measure(name, gather, 2);
        MPI_Type_vector(part, 1, d, complex, &column);
        MPI_Type_create_resized(column, 0, 16, &stepped);
        MPI_Type_contiguous(part, stepped, &scatter);
        snprintf(name, sizeof name, "FFT2_scatter %d", d);
        measure(name, scatter, 1);
        MPI_Type_free(&complex), MPI_Type_free(&block), MPI_Type_free(&column), MPI_Type_free(&stepped);
    }
}

static void lammps(const char *kind, int number, int length, int arrays) {
    MPI_Datatype three = indexed(number, length, 3, MPI_DOUBLE), one = indexed(number, length, 1, MPI_DOUBLE), type;
    MPI_Datatype types[6] = {three, one, one, one, one, one};
    int lengths[6] = {1, 1, 1, 1, 1, 1};
    MPI_Aint at[6] = {0};
    for (int i = 1; i < arrays; i++)
        at[i] = at[i - 1] + 8L * (i == 1 ? 3 : 1) * length + 64;
    MPI_Type_create_struct(arrays, lengths, at, types, &type);
    char name[64];
    snprintf(name, sizeof name, "LAMMPS_%s %d/%d", kind, number, length);
    measure(name, type, 1);
    MPI_Type_free(&three), MPI_Type_free(&one);
}

static void specfem(void) {
    char name[64];
    const int oc[][2] = {{3225, 88881}, {1897, 38585}, {877, 12857}, {493, 3697}};
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "SPECFEM3D_oc %d/%d", oc[i][0], oc[i][1]);
        measure(name, indexed(oc[i][0], oc[i][1], 1, MPI_FLOAT), 1);
    }
    const int cm[][4] = {{11797, 834917, 3009, 51153}, {7125, 396849, 1729, 22477}, {3801, 152001, 801, 7209}, {1957, 39929, 245, 1225}};
    for (int i = 0; i < 4; i++) {
        MPI_Datatype parts[2] = {indexed(cm[i][0], cm[i][1], 3, MPI_FLOAT), indexed(cm[i][2], cm[i][3], 3, MPI_FLOAT)}, type;
        MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 12L * cm[i][1] + 64}, parts, &type);
        snprintf(name, sizeof name, "SPECFEM3D_cm %d+%d", cm[i][0], cm[i][2]);
        measure(name, type, 1);
        MPI_Type_free(&parts[0]), MPI_Type_free(&parts[1]);
    }
    const int mt[] = {7600, 6400, 5600, 6200};
    for (int i = 0; i < 4; i++) {
        MPI_Datatype three, type;
        MPI_Type_contiguous(3, MPI_FLOAT, &three);
        MPI_Type_vector(mt[i], 1, 2, three, &type);
        snprintf(name, sizeof name, "SPECFEM3D_mt %d", mt[i]);
        measure(name, type, 1);
        MPI_Type_free(&three);
    }
}

/* Memory and part of it in three dimensions, x fastest. */
static void wrf(char way, const int d[3], const int s[3]) {
    for (int subarrays = 0; subarrays < 2; subarrays++) {
        MPI_Datatype plane, cube, row, types[9], type;
        if (subarrays) {
            int sizes[3] = {d[2], d[1], d[0]}, parts[3] = {s[2], s[1], s[0]}, from[3] = {0};
            int flat[2] = {d[2], d[0]}, part[2] = {s[2], s[0]};
            MPI_Type_create_subarray(2, flat, part, from, MPI_ORDER_C, MPI_FLOAT, &plane);
            MPI_Type_create_subarray(3, sizes, parts, from, MPI_ORDER_C, MPI_FLOAT, &cube);
        } else {
            MPI_Type_vector(s[2], s[0], d[0], MPI_FLOAT, &plane);
            MPI_Type_vector(s[1], s[0], d[0], MPI_FLOAT, &row);
            MPI_Type_create_hvector(s[2], 1, 4L * d[0] * d[1], row, &cube);
            MPI_Type_free(&row);
        }
        int lengths[9];
        MPI_Aint at[9], next = 0;
        for (int i = 0; i < 9; i++) {
            lengths[i] = 1;
            types[i] = i < 4 ? plane : cube;
            at[i] = next;
            next += 4L * d[0] * d[2] * (i < 4 ? 1 : d[1]) * (i < 7 ? 1 : 2) + 64;
        }
        MPI_Type_create_struct(9, lengths, at, types, &type);
        char name[64];
        snprintf(name, sizeof name, "WRF_%c_%s %dx%dx%d", way, subarrays ? "sa" : "vec", s[0], s[1], s[2]);
        measure(name, type, 1);
        MPI_Type_free(&plane), MPI_Type_free(&cube);
    }
}

static void transposes(void) {
    const int all[] = {64, 256, 1024};
    char name[64];
    for (int i = 0; i < 3; i++) {
        int n = all[i];
        MPI_Datatype column, stepped, type;
        MPI_Type_vector(n, 1, n, MPI_DOUBLE, &column);
        MPI_Type_create_resized(column, 0, 8, &stepped);
        MPI_Type_contiguous(n, stepped, &type);
        snprintf(name, sizeof name, "transpose %dx%d f64", n, n);
        measure(name, type, 1);
        MPI_Type_free(&column), MPI_Type_free(&stepped);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1)
        budget = atof(argv[1]);
    if (argc > 2)
        wanted = argv[2];
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    version[strcspn(version, "\n")] = 0;
    report("version", version, 0, 0, 0);
    structs();
    nas();
    milc();
    fft();
    lammps("full", 3062, 3534, 6), lammps("full", 2243, 2597, 6), lammps("full", 1662, 1907, 6);
    lammps("atomic", 243, 4084, 4), lammps("atomic", 145, 2157, 4), lammps("atomic", 114, 1217, 4);
    specfem();
    wrf('y', (int[]){32, 65, 52}, (int[]){23, 65, 3});
    wrf('y', (int[]){27, 65, 41}, (int[]){19, 65, 3});
    wrf('y', (int[]){24, 65, 34}, (int[]){16, 65, 3});
    wrf('y', (int[]){22, 65, 30}, (int[]){14, 65, 3});
    wrf('y', (int[]){19, 65, 24}, (int[]){11, 65, 3});
    wrf('x', (int[]){32, 65, 52}, (int[]){3, 65, 44});
    wrf('x', (int[]){24, 65, 34}, (int[]){3, 65, 26});
    wrf('x', (int[]){19, 65, 24}, (int[]){3, 65, 16});
    transposes();
    MPI_Finalize();
    return 0;
}
