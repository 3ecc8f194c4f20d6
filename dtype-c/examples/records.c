/* Writes structs to a file that NumPy reads: np.load("records.npy") is a structured array. One text says what is in the file. */

#include <dtype.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct sample {
    double time;
    bool valid;
    uint32_t sensor;
    float values[3];
} sample;

/* The fields without padding, in the order of the struct's type below. */
static const char descr[] = "[('time', '<f8'), ('valid', '?'), ('sensor', '<u4'), ('values', '<f4', (3,))]";

static void check(dtype_error error)
{
    if (error == DTYPE_OK)
        return;
    fprintf(stderr, "%s: %s\n", dtype_error_text(error), dtype_last_message());
    exit(1);
}

static dtype_type *sample_type(void)
{
    static const int64_t lengths[] = {1, 1, 1, 3};
    static const int64_t places[] = {offsetof(sample, time), offsetof(sample, valid), offsetof(sample, sensor),
                                     offsetof(sample, values)};
    static const dtype_basic basics[] = {DTYPE_F64, DTYPE_BOOL, DTYPE_U32, DTYPE_F32};
    dtype_type *members[4], *all;
    for (int i = 0; i < 4; i++)
        check(dtype_type_basic(basics[i], &members[i]));
    check(dtype_type_struct(4, lengths, places, (const dtype_type *const *)members, &all));
    for (int i = 0; i < 4; i++)
        dtype_type_release(members[i]);
    return all;
}

int main(int argc, char **argv)
{
    enum { NUMBER = 1000 };
    static sample samples[NUMBER];
    for (int i = 0; i < NUMBER; i++)
        samples[i] = (sample){i * 0.5, i % 3 == 0, (uint32_t)i, {1.0F, 2.0F, (float)i}};

    /* The text and the struct have the same values in the same order, or the file would be wrong. */
    dtype_type *memory = sample_type(), *file = NULL;
    check(dtype_type_from_text(descr, strlen(descr), DTYPE_FORM_NUMPY, &file));
    bool compatible;
    check(dtype_type_compatible(memory, file, &compatible));
    if (!compatible)
        return 1;

    dtype_committed *committed;
    check(dtype_commit(memory, &committed));
    size_t size;
    check(dtype_packed_size(committed, NUMBER, &size));
    char *bytes = malloc(size);
    if (bytes == NULL)
        return 1;
    check(dtype_pack(committed, samples, sizeof samples, NUMBER, bytes, size, NULL));

    /* The header of the format: a magic number, two bytes for its length, and a text padded to a multiple of 64 bytes. */
    char header[256];
    memset(header, ' ', sizeof header);
    const int length = snprintf(header + 10, sizeof header - 10, "{'descr': %s, 'fortran_order': False, 'shape': (%d,), }",
                                descr, NUMBER);
    const size_t whole = (10 + (size_t)length) / 64 * 64 + 64;
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)((whole - 10) & 0xFF);
    header[9] = (char)((whole - 10) >> 8);
    header[10 + length] = ' ';
    header[whole - 1] = '\n';

    FILE *out = fopen(argc > 1 ? argv[1] : "records.npy", "wb");
    if (out == NULL || fwrite(header, 1, whole, out) != whole || fwrite(bytes, 1, size, out) != size || fclose(out) != 0) {
        perror("records");
        return 1;
    }
    printf("%d records of %zu bytes\n", NUMBER, size / NUMBER);
    free(bytes);
    dtype_type_release(memory);
    dtype_type_release(file);
    dtype_committed_release(committed);
    return 0;
}
