/* A service in C: it reads frames of readings from standard input, and answers each with a frame on standard output. The program on
 * the other side, client.rs, is in Rust, and derives the same types. */

#include <dtype.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TAG_READINGS = 1, TAG_SUMMARY = 2, TAG_REFUSED = 3 };
enum { CELSIUS = 0, PASCAL = 1, METRES = 5 };

typedef struct reading {
    double value;
    uint8_t unit;
    bool valid;
    uint32_t sensor;
} reading;

typedef struct summary {
    uint64_t valid;
    double sum;
} summary;

/* Which record was refused. */
typedef struct refused {
    uint64_t record;
} refused;

static void check(dtype_error error)
{
    if (error == DTYPE_OK)
        return;
    fprintf(stderr, "%s: %s\n", dtype_error_text(error), dtype_last_message());
    exit(1);
}

/* A struct of single values. */
static dtype_committed *commit(size_t number, const int64_t *places, const dtype_basic *basics)
{
    static const int64_t ones[] = {1, 1, 1, 1};
    dtype_type *members[4], *all;
    dtype_committed *committed;
    for (size_t i = 0; i < number; i++)
        check(dtype_type_basic(basics[i], &members[i]));
    check(dtype_type_struct(number, ones, places, (const dtype_type *const *)members, &all));
    check(dtype_commit(all, &committed));
    for (size_t i = 0; i < number; i++)
        dtype_type_release(members[i]);
    dtype_type_release(all);
    return committed;
}

static dtype_committed *reading_type(void)
{
    static const int64_t places[] = {offsetof(reading, value), offsetof(reading, unit), offsetof(reading, valid),
                                     offsetof(reading, sensor)};
    static const dtype_basic basics[] = {DTYPE_F64, DTYPE_U8, DTYPE_BOOL, DTYPE_U32};
    static const uint64_t units[] = {CELSIUS, PASCAL, METRES};
    /* The unit is the second value of a reading. */
    static const dtype_values fields[] = {{1, 1, "unit", 4, units, 3}};
    dtype_committed *plain = commit(4, places, basics), *checked;
    check(dtype_checked(plain, fields, 1, &checked));
    dtype_committed_release(plain);
    return checked;
}

static void answer(const dtype_committed *type, const void *record, uint32_t tag)
{
    const dtype_framing framing = {tag, DTYPE_FRAME_COMPACT};
    char frame[64];
    size_t size;
    check(dtype_encode(type, record, DTYPE_UNBOUNDED, 1, &framing, frame, sizeof frame, &size));
    for (size_t sent = 0; sent < size;) {
        const ssize_t written = write(STDOUT_FILENO, frame + sent, size - sent);
        if (written <= 0)
            exit(1);
        sent += (size_t)written;
    }
}

int main(void)
{
    static const int64_t summary_places[] = {offsetof(summary, valid), offsetof(summary, sum)};
    static const int64_t refused_places[] = {0};
    static const dtype_basic summary_basics[] = {DTYPE_U64, DTYPE_F64};
    dtype_committed *readings = reading_type(), *summaries = commit(2, summary_places, summary_basics),
                    *refusals = commit(1, refused_places, summary_basics);
    const dtype_limits limits = {1 << 20, 10000, 0, 0};
    dtype_decoder *decoder;
    check(dtype_decoder_new(&limits, &decoder));
    static reading room[10000];
    static char bytes[65536];
    ssize_t came;
    while ((came = read(STDIN_FILENO, bytes, sizeof bytes)) > 0) {
        for (size_t at = 0, taken; at < (size_t)came; at += taken) {
            dtype_received *frame;
            check(dtype_decoder_feed(decoder, bytes + at, (size_t)came - at, &taken, &frame));
            if (frame == NULL)
                continue;
            size_t number = 0;
            const dtype_error error = dtype_received_unpack(frame, readings, room, sizeof room, 10000, &number);
            dtype_received_release(frame);
            if (error == DTYPE_ERROR_VALUE) {
                const refused what = {dtype_last_record()};
                answer(refusals, &what, TAG_REFUSED);
                continue;
            }
            check(error);
            summary all = {0, 0.0};
            for (size_t i = 0; i < number; i++)
                if (room[i].valid) {
                    all.valid++;
                    all.sum += room[i].value;
                }
            answer(summaries, &all, TAG_SUMMARY);
        }
    }
    check(dtype_decoder_finish(decoder));
    dtype_decoder_release(decoder);
    dtype_committed_release(readings);
    dtype_committed_release(summaries);
    dtype_committed_release(refusals);
    return came < 0;
}
