/* Whole messages, fragments, segments, conversions, checks, columns. */

#include "check.h"

#include <pthread.h>
#include <unistd.h>

enum { NUMBER = 1000, PACKED = 30 };

/* The packed bytes, one field after another. */
static void by_hand(const particle *all, size_t number, unsigned char *out)
{
    for (size_t i = 0; i < number; i++, out += PACKED) {
        memcpy(out, all[i].place, 24);
        memcpy(out + 24, &all[i].charge, 1);
        memcpy(out + 25, &all[i].fixed, 1);
        memcpy(out + 26, &all[i].kind, 4);
    }
}

static void messages(void)
{
    particle *all = malloc(NUMBER * sizeof *all), *back = malloc(NUMBER * sizeof *back);
    unsigned char *expected = malloc(NUMBER * PACKED), *bytes = malloc(NUMBER * PACKED + 1);
    CHECK(all && back && expected && bytes);
    fill(all, NUMBER);
    by_hand(all, NUMBER, expected);
    dtype_committed *type = committed(particle_type());
    size_t size = 0, packed = 0;
    OK(dtype_packed_size(type, NUMBER, &size));
    CHECK(size == NUMBER * PACKED);

    bytes[size] = 0xA5;
    OK(dtype_pack(type, all, NUMBER * sizeof *all, NUMBER, bytes, size + 1, &packed));
    CHECK(packed == size && bytes[size] == 0xA5 && memcmp(bytes, expected, size) == 0);
    OK(dtype_pack(type, all, DTYPE_UNBOUNDED, NUMBER, bytes, size, NULL));
    /* Padding keeps what it has. */
    memset(back, 0x11, NUMBER * sizeof *back);
    OK(dtype_unpack(type, bytes, size, back, NUMBER * sizeof *back, NUMBER));
    CHECK(same(all, back, NUMBER) && ((unsigned char *)&back[7])[26] == 0x11);

    memset(bytes, 0xA5, size);
    FAILS(DTYPE_ERROR_ROOM, dtype_pack(type, all, DTYPE_UNBOUNDED, NUMBER, bytes, size - 1, &packed));
    CHECK(packed == size && bytes[0] == 0xA5);
    FAILS(DTYPE_ERROR_BOUNDS, dtype_pack(type, all, NUMBER * sizeof *all - 1, NUMBER, bytes, size, &packed));
    FAILS(DTYPE_ERROR_LIMIT, dtype_pack(type, all, DTYPE_UNBOUNDED, SIZE_MAX / 2, bytes, size, &packed));
    FAILS(DTYPE_ERROR_BOUNDS, dtype_pack(type, all, sizeof *all, SIZE_MAX, bytes, size, &packed));
    FAILS(DTYPE_ERROR_NULL, dtype_pack(type, NULL, DTYPE_UNBOUNDED, 1, bytes, size, &packed));
    FAILS(DTYPE_ERROR_NULL, dtype_pack(type, all, DTYPE_UNBOUNDED, 1, NULL, size, &packed));
    FAILS(DTYPE_ERROR_OVERLAP, dtype_pack(type, all, DTYPE_UNBOUNDED, 2, all, size, &packed));
    FAILS(DTYPE_ERROR_LENGTH, dtype_unpack(type, bytes, size - 1, back, DTYPE_UNBOUNDED, NUMBER));
    FAILS(DTYPE_ERROR_OVERLAP, dtype_unpack(type, back, size, back, DTYPE_UNBOUNDED, NUMBER));
    CHECK(bytes[0] == 0xA5 && same(all, back, NUMBER));
    OK(dtype_pack(type, NULL, 0, 0, NULL, 0, &packed));
    CHECK(packed == 0);
    OK(dtype_unpack(type, NULL, 0, NULL, 0, 0));
    CHECK(dtype_crc(0, "123456789", 9) == 0xE3069283);
    CHECK(dtype_crc(dtype_crc(0, "1234", 4), "56789", 5) == 0xE3069283 && dtype_crc(7, NULL, 0) == 7);
    dtype_committed_release(type);
    free(all);
    free(back);
    free(expected);
    free(bytes);
}

static void fragments(void)
{
    particle all[50], back[50];
    unsigned char expected[50 * PACKED], bytes[50 * PACKED];
    fill(all, 50);
    by_hand(all, 50, expected);
    dtype_committed *type = committed(particle_type());
    for (size_t piece = 1; piece <= sizeof bytes; piece = piece * 3 / 2 + 1) {
        dtype_packer *packer = NULL;
        dtype_unpacker *unpacker = NULL;
        OK(dtype_packer_new(type, all, sizeof all, 50, &packer));
        OK(dtype_unpacker_new(type, back, sizeof back, 50, &unpacker));
        memset(back, 0, sizeof back);
        uint64_t position = 1, remaining = 0;
        for (size_t at = 0; at < sizeof bytes;) {
            size_t packed = 0, unpacked = 0;
            OK(dtype_packer_where(packer, &position, &remaining));
            CHECK(position == at && remaining == sizeof bytes - at);
            OK(dtype_packer_pack(packer, bytes, piece, &packed));
            CHECK(packed > 0 && memcmp(bytes, expected + at, packed) == 0);
            OK(dtype_unpacker_unpack(unpacker, bytes, packed, &unpacked));
            CHECK(unpacked == packed);
            at += packed;
        }
        size_t none = 1;
        OK(dtype_packer_pack(packer, bytes, piece, &none));
        CHECK(none == 0 && same(all, back, 50));
        OK(dtype_unpacker_where(unpacker, NULL, &remaining));
        CHECK(remaining == 0);
        OK(dtype_packer_seek(packer, 31));
        OK(dtype_packer_pack(packer, bytes, 5, &none));
        CHECK(none == 5 && memcmp(bytes, expected + 31, 5) == 0);
        FAILS(DTYPE_ERROR_POSITION, dtype_packer_seek(packer, sizeof bytes + 1));
        FAILS(DTYPE_ERROR_POSITION, dtype_unpacker_seek(unpacker, UINT64_MAX));
        FAILS(DTYPE_ERROR_OVERLAP, dtype_packer_pack(packer, &all[3], 1, &none));
        FAILS(DTYPE_ERROR_OVERLAP, dtype_unpacker_unpack(unpacker, &back[3], 1, &none));
        dtype_packer_release(packer);
        dtype_unpacker_release(unpacker);
        FAILS(DTYPE_ERROR_HANDLE, dtype_packer_pack(packer, bytes, 1, &none));
    }
    dtype_packer *packer = NULL;
    FAILS(DTYPE_ERROR_BOUNDS, dtype_packer_new(type, all, sizeof all - 1, 50, &packer));
    CHECK(packer == NULL);
    dtype_committed_release(type);
}

static void segments(void)
{
    particle all[50];
    unsigned char expected[50 * PACKED], bytes[50 * PACKED];
    fill(all, 50);
    by_hand(all, 50, expected);
    dtype_committed *type = committed(particle_type());
    uint64_t pieces = 0;
    OK(dtype_segment_count(type, 50, 0, &pieces));
    /* The last field of a record touches the first one of the next. */
    CHECK(pieces == 51);
    int ends[2];
    CHECK(pipe(ends) == 0);
    /* As if `writev` took all of the pieces but the last byte. */
    for (uint64_t position = 0; position < sizeof bytes;) {
        struct iovec some[7];
        size_t number = 0;
        uint64_t next = 0;
        OK(dtype_segments(type, all, sizeof all, 50, position, some, 7, &number, &next));
        CHECK(number > 0 && number <= 7 && next > position);
        const ssize_t written = writev(ends[1], some, (int)number);
        CHECK(written == (ssize_t)(next - position));
        const size_t taken = written > 1 ? (size_t)written - 1 : 1;
        CHECK(read(ends[0], bytes + position, (size_t)written) == written);
        position += taken;
    }
    CHECK(memcmp(bytes, expected, sizeof bytes) == 0);
    struct iovec one;
    size_t number = 7;
    uint64_t next = 0;
    OK(dtype_segments(type, all, sizeof all, 50, sizeof bytes, &one, 1, &number, &next));
    CHECK(number == 0 && next == sizeof bytes);
    FAILS(DTYPE_ERROR_POSITION, dtype_segments(type, all, sizeof all, 50, sizeof bytes + 1, &one, 1, &number, &next));
    FAILS(DTYPE_ERROR_NULL, dtype_segments(type, all, sizeof all, 50, 0, NULL, 1, &number, &next));
    FAILS(DTYPE_ERROR_BOUNDS, dtype_segments(type, all, 8, 50, 0, &one, 1, &number, &next));
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
    dtype_committed_release(type);
}

static void conversions(void)
{
    dtype_type *type = particle_type();
    dtype_committed *external = NULL, *big = NULL, *other = NULL, *native = NULL;
    OK(dtype_commit_as(type, DTYPE_EXTERNAL32, &external));
    OK(dtype_commit_as(type, DTYPE_BIG_ENDIAN, &big));
    OK(dtype_commit(type, &native));
    particle all[3], back[3];
    fill(all, 3);
    unsigned char bytes[3 * PACKED];
    size_t size = 0;
    OK(dtype_pack(external, all, sizeof all, 3, bytes, sizeof bytes, &size));
    /* 1.0 as a big-endian double, and 7 as a big-endian int. */
    CHECK(size == 90 && memcmp(bytes + PACKED, "\x3F\xF0\0\0\0\0\0\0", 8) == 0);
    CHECK(memcmp(bytes + PACKED + 26, "\0\0\0\7", 4) == 0);
    memset(back, 0, sizeof back);
    OK(dtype_unpack(big, bytes, size, back, sizeof back, 3));
    CHECK(same(all, back, 3));
    dtype_packer *packer = NULL;
    unsigned char piece[7];
    OK(dtype_packer_new(external, all, sizeof all, 3, &packer));
    for (size_t at = 0, packed; at < size; at += packed) {
        OK(dtype_packer_pack(packer, piece, sizeof piece, &packed));
        CHECK(packed > 0 && memcmp(piece, bytes + at, packed) == 0);
    }
    dtype_packer_release(packer);
    dtype_unpacker *unpacker = NULL;
    memset(back, 0, sizeof back);
    OK(dtype_unpacker_new(external, back, sizeof back, 3, &unpacker));
    for (size_t at = 0, unpacked; at < size; at += unpacked)
        OK(dtype_unpacker_unpack(unpacker, bytes + at, size - at < 11 ? size - at : 11, &unpacked));
    dtype_unpacker_release(unpacker);
    CHECK(same(all, back, 3));
    FAILS(DTYPE_ERROR_UNSUPPORTED, dtype_copy(external, all, sizeof all, 3, native, back, sizeof back, 3));
    uint64_t number = 0;
    FAILS(DTYPE_ERROR_UNSUPPORTED, dtype_segment_count(external, 3, 0, &number));

    dtype_architecture machine = {DTYPE_BIG_ENDIAN, 4, 0, 0, 0};
    dtype_type *number_type = basic(DTYPE_C_LONG);
    OK(dtype_commit_for(number_type, &machine, &other));
    const long one = 77, huge = sizeof(long) == 8 ? (long)((uint64_t)1 << 40) : 0;
    OK(dtype_pack(other, &one, sizeof one, 1, bytes, sizeof bytes, &size));
    CHECK(size == 4 && memcmp(bytes, "\0\0\0\x4D", 4) == 0);
    if (huge != 0)
        FAILS(DTYPE_ERROR_CONVERSION, dtype_pack(other, &huge, sizeof huge, 1, bytes, sizeof bytes, &size));
    dtype_committed_release(other);
    machine.long_bytes = 3;
    FAILS(DTYPE_ERROR_ARGUMENT, dtype_commit_for(number_type, &machine, &other));
    machine.order = DTYPE_NATIVE;
    FAILS(DTYPE_ERROR_ARGUMENT, dtype_commit_for(number_type, &machine, &other));
    FAILS(DTYPE_ERROR_NULL, dtype_commit_for(number_type, NULL, &other));
    FAILS(DTYPE_ERROR_ARGUMENT, dtype_commit_as(number_type, 4, &other));
    dtype_type_release(number_type);
    dtype_type_release(type);
    dtype_committed_release(external);
    dtype_committed_release(big);
    dtype_committed_release(native);
}

static void checks(void)
{
    static const uint64_t kinds[] = {0, 7, (uint64_t)-14};
    static const dtype_values fields[] = {{5, 1, "kind", 4, kinds, 3}};
    dtype_committed *type = committed(particle_type()), *checked = NULL;
    OK(dtype_checked(type, fields, 1, &checked));
    particle all[3], back[3], before[3];
    memset(back, 0, sizeof back);
    fill(all, 3);
    all[2].kind = -14;
    unsigned char bytes[3 * PACKED];
    size_t size = 0;
    OK(dtype_pack(checked, all, sizeof all, 3, bytes, sizeof bytes, &size));
    OK(dtype_unpack(checked, bytes, size, back, sizeof back, 3));
    CHECK(same(all, back, 3));
    memcpy(before, back, sizeof back);

    bytes[PACKED + 25] = 2;
    FAILS(DTYPE_ERROR_VALUE, dtype_unpack(checked, bytes, size, back, sizeof back, 3));
    MESSAGE("record 1, field element 4: 0x2 is not a valid bool");
    CHECK(dtype_last_record() == 1 && strcmp(dtype_last_field(), "element 4") == 0);
    bytes[PACKED + 25] = 0;
    bytes[2 * PACKED + 26] = 1;
    FAILS(DTYPE_ERROR_VALUE, dtype_unpack(checked, bytes, size, back, sizeof back, 3));
    CHECK(dtype_last_record() == 2 && strcmp(dtype_last_field(), "kind") == 0);
    CHECK(memcmp(before, back, sizeof back) == 0);
    /* In fragments, the records before it are written. */
    dtype_unpacker *unpacker = NULL;
    memset(back, 0, sizeof back);
    OK(dtype_unpacker_new(checked, back, sizeof back, 3, &unpacker));
    dtype_error error = DTYPE_OK;
    for (size_t at = 0, unpacked = 0; at < size && error == DTYPE_OK; at += unpacked)
        error = dtype_unpacker_unpack(unpacker, bytes + at, 10, &unpacked);
    FAILS(DTYPE_ERROR_VALUE, error);
    all[1].fixed = false;
    CHECK(same(all, back, 2) && back[2].kind == 0);
    dtype_unpacker_release(unpacker);
    /* Without checks, the same bytes are written. */
    OK(dtype_unpack(type, bytes, size, back, sizeof back, 3));

    dtype_committed *made = NULL;
    dtype_values wrong = fields[0];
    wrong.element = 6;
    FAILS(DTYPE_ERROR_ARGUMENT, dtype_checked(type, &wrong, 1, &made));
    wrong.element = UINT64_MAX;
    FAILS(DTYPE_ERROR_ARGUMENT, dtype_checked(type, &wrong, 1, &made));
    wrong = fields[0];
    wrong.values = NULL;
    FAILS(DTYPE_ERROR_NULL, dtype_checked(type, &wrong, 1, &made));
    wrong = fields[0];
    wrong.name = "\xFF";
    wrong.name_length = 1;
    FAILS(DTYPE_ERROR_TEXT, dtype_checked(type, &wrong, 1, &made));
    wrong = fields[0];
    wrong.element = 0;
    FAILS(DTYPE_ERROR_ARGUMENT, dtype_checked(type, &wrong, 1, &made));
    FAILS(DTYPE_ERROR_UNSUPPORTED, dtype_copy(type, all, sizeof all, 3, checked, back, sizeof back, 3));
    dtype_committed_release(type);
    dtype_committed_release(checked);
}

static void copies(void)
{
    dtype_type *byte = basic(DTYPE_U8), *column = NULL, *columns = NULL, *rows = NULL;
    OK(dtype_type_vector(2, 1, 3, byte, &column));
    OK(dtype_type_resized(column, 0, 1, &columns));
    OK(dtype_type_contiguous(6, byte, &rows));
    dtype_committed *from = committed(columns), *to = committed(rows);
    char out[7] = "......";
    OK(dtype_copy(from, "abcdef", 6, 3, to, out, 6, 1));
    CHECK(strcmp(out, "adbecf") == 0);
    OK(dtype_copy(to, out, 6, 1, from, out, 6, 3));
    CHECK(strcmp(out, "abcdef") == 0 || strcmp(out, "abecdf") == 0);
    FAILS(DTYPE_ERROR_SIGNATURE, dtype_copy(from, "abcdef", 6, 2, to, out, 6, 1));
    FAILS(DTYPE_ERROR_BOUNDS, dtype_copy(from, "abcdef", 6, 3, to, out, 5, 1));
    dtype_type_release(byte);
    dtype_type_release(column);
    dtype_committed_release(from);
    dtype_committed_release(to);
}

static void columns(void)
{
    particle *all = malloc(NUMBER * sizeof *all), *back = malloc(NUMBER * sizeof *back);
    double(*places)[3] = malloc(NUMBER * sizeof *places);
    int8_t *charges = malloc(NUMBER);
    int32_t *kinds = malloc(NUMBER * sizeof *kinds);
    CHECK(all && back && places && charges && kinds);
    fill(all, NUMBER);
    dtype_type *type = particle_type();
    dtype_columns *made = NULL;
    OK(dtype_columns_new(type, &made));
    size_t number = 0, width = 0;
    OK(dtype_columns_number(made, &number));
    CHECK(number == 4);
    static const size_t widths[] = {24, 1, 1, 4};
    for (size_t i = 0; i < 4; i++) {
        OK(dtype_columns_width(made, i, &width));
        CHECK(width == widths[i]);
    }
    FAILS(DTYPE_ERROR_ARGUMENT, dtype_columns_width(made, 4, &width));
    void *arrays[4] = {places, charges, NULL, kinds};
    const size_t sizes[4] = {NUMBER * 24, NUMBER, 0, NUMBER * 4}, short_sizes[4] = {NUMBER * 24, NUMBER - 1, 0, NUMBER * 4};
    OK(dtype_columns_split(made, all, NUMBER * sizeof *all, NUMBER, arrays, sizes, 4));
    for (size_t i = 0; i < NUMBER; i++)
        CHECK(memcmp(places[i], all[i].place, 24) == 0 && charges[i] == all[i].charge && kinds[i] == all[i].kind);
    memset(back, 0x33, NUMBER * sizeof *back);
    OK(dtype_columns_join(made, (const void *const *)arrays, sizes, 4, back, NUMBER * sizeof *back, NUMBER));
    for (size_t i = 0; i < NUMBER; i++) {
        CHECK(*((unsigned char *)&back[i] + offsetof(particle, fixed)) == 0x33);
        back[i].fixed = all[i].fixed;
    }
    CHECK(same(all, back, NUMBER));
    /* No column is wanted, and no record has data: nothing takes time. */
    void *const none[4] = {NULL};
    OK(dtype_columns_split(made, all, DTYPE_UNBOUNDED, (size_t)1 << 57, none, sizes, 4));
    dtype_type *empty = NULL, *byte = basic(DTYPE_U8);
    dtype_columns *of_nothing = NULL;
    OK(dtype_type_contiguous(0, byte, &empty));
    OK(dtype_columns_new(empty, &of_nothing));
    OK(dtype_columns_split(of_nothing, NULL, 0, SIZE_MAX, arrays, sizes, 1));
    OK(dtype_columns_join(of_nothing, (const void *const *)arrays, sizes, 1, NULL, 0, SIZE_MAX));
    dtype_columns_release(of_nothing);
    dtype_type_release(empty);
    dtype_type_release(byte);
    FAILS(DTYPE_ERROR_ROOM, dtype_columns_split(made, all, DTYPE_UNBOUNDED, NUMBER, arrays, short_sizes, 4));
    FAILS(DTYPE_ERROR_ARGUMENT, dtype_columns_split(made, all, DTYPE_UNBOUNDED, NUMBER, arrays, sizes, 3));
    FAILS(DTYPE_ERROR_BOUNDS, dtype_columns_split(made, all, 40, NUMBER, arrays, sizes, 4));
    arrays[1] = kinds;
    FAILS(DTYPE_ERROR_OVERLAP, dtype_columns_split(made, all, DTYPE_UNBOUNDED, NUMBER, arrays, sizes, 4));
    arrays[1] = &all[5];
    FAILS(DTYPE_ERROR_OVERLAP, dtype_columns_split(made, all, DTYPE_UNBOUNDED, NUMBER, arrays, sizes, 4));
    dtype_columns_release(made);
    dtype_type_release(type);
    free(all);
    free(back);
    free(places);
    free(charges);
    free(kinds);
}

/* Threads share a committed type. Of those that call one packer, one works at a time, and the others are told. */
typedef struct shared {
    dtype_committed *type;
    dtype_packer *packer;
    const particle *all;
    size_t packed, busy;
} shared;

static void *work(void *argument)
{
    shared *own = argument;
    unsigned char bytes[40 * PACKED];
    for (int i = 0; i < 200; i++) {
        size_t size = 0;
        OK(dtype_pack(own->type, own->all, DTYPE_UNBOUNDED, 40, bytes, sizeof bytes, &size));
        const dtype_error error = dtype_packer_pack(own->packer, bytes, 64, &size);
        CHECK(error == DTYPE_OK || error == DTYPE_ERROR_BUSY);
        if (error == DTYPE_OK)
            own->packed += size;
        else
            own->busy++;
        OK(dtype_committed_retain(own->type));
        dtype_committed_release(own->type);
    }
    return NULL;
}

static void threads(void)
{
    particle *all = malloc(NUMBER * sizeof *all);
    CHECK(all);
    fill(all, NUMBER);
    dtype_committed *type = committed(particle_type());
    dtype_packer *packer = NULL;
    OK(dtype_packer_new(type, all, NUMBER * sizeof *all, NUMBER, &packer));
    shared own[4];
    pthread_t started[4];
    for (int i = 0; i < 4; i++) {
        own[i] = (shared){type, packer, all, 0, 0};
        CHECK(pthread_create(&started[i], NULL, work, &own[i]) == 0);
    }
    size_t packed = 0;
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_join(started[i], NULL) == 0);
        packed += own[i].packed;
    }
    uint64_t position = 0;
    OK(dtype_packer_where(packer, &position, NULL));
    CHECK(position == packed);
    /* The last error is each thread's own. */
    CHECK(strcmp(dtype_last_message(), "another thread is in a call with this object") != 0);
    dtype_packer_release(packer);
    dtype_committed_release(type);
    free(all);
}

int main(void)
{
    messages();
    fragments();
    segments();
    conversions();
    checks();
    copies();
    columns();
    threads();
    return 0;
}
