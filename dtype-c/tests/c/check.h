/* What the test programs check with. Valid in C11 and in C++20. */

#ifndef CHECK_H
#define CHECK_H

#include <dtype.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                          \
    do {                                                                                          \
        if (!(condition)) {                                                                       \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                       \
            exit(1);                                                                              \
        }                                                                                         \
    } while (0)

/* A call that must succeed. */
#define OK(call) FAILS(DTYPE_OK, call)

/* A call that must fail with a code. */
#define FAILS(expected, call)                                                                     \
    do {                                                                                          \
        const dtype_error error_ = (call);                                                        \
        if (error_ != (expected)) {                                                               \
            fprintf(stderr, "%s:%d: %s\nreturned %d, %s: %s\nexpected %d, %s\n", __FILE__, __LINE__, #call,  \
                    (int)error_, dtype_error_text(error_), dtype_last_message(), (int)(expected), \
                    dtype_error_text(expected));                                                  \
            exit(1);                                                                              \
        }                                                                                         \
    } while (0)

#define MESSAGE(expected)                                                                         \
    do {                                                                                          \
        if (strcmp(dtype_last_message(), expected) != 0) {                                        \
            fprintf(stderr, "%s:%d: found \"%s\", expected \"%s\"\n", __FILE__, __LINE__,         \
                    dtype_last_message(), expected);                                              \
            exit(1);                                                                              \
        }                                                                                         \
    } while (0)

static inline dtype_type *basic(dtype_basic code)
{
    dtype_type *made = NULL;
    OK(dtype_type_basic(code, &made));
    return made;
}

/* Takes the reference to the type. */
static inline dtype_committed *committed(dtype_type *type)
{
    dtype_committed *made = NULL;
    OK(dtype_commit(type, &made));
    dtype_type_release(type);
    return made;
}

/* struct { members of these types at these displacements }, with an extent. */
static inline dtype_type *structure(size_t number, const int64_t *lengths, const int64_t *places,
                                    const dtype_basic *members, int64_t extent)
{
    dtype_type *types[16], *all = NULL, *whole = NULL;
    for (size_t i = 0; i < number; i++)
        types[i] = basic(members[i]);
    OK(dtype_type_struct(number, lengths, places, (const dtype_type *const *)types, &all));
    OK(dtype_type_resized(all, 0, extent, &whole));
    for (size_t i = 0; i < number; i++)
        dtype_type_release(types[i]);
    dtype_type_release(all);
    return whole;
}

typedef struct particle {
    double place[3];
    int8_t charge;
    bool fixed;
    int32_t kind;
} particle;

static inline dtype_type *particle_type(void)
{
    static const int64_t lengths[] = {3, 1, 1, 1};
    static const int64_t places[] = {offsetof(particle, place), offsetof(particle, charge),
                                     offsetof(particle, fixed), offsetof(particle, kind)};
    static const dtype_basic members[] = {DTYPE_F64, DTYPE_I8, DTYPE_BOOL, DTYPE_C_INT};
    return structure(4, lengths, places, members, (int64_t)sizeof(particle));
}

static inline void fill(particle *all, size_t number)
{
    memset(all, 0xEE, number * sizeof *all);
    for (size_t i = 0; i < number; i++) {
        const particle one = {{(double)i, 0.5, -1.0}, (int8_t)(i % 100), i % 2 == 0, (int32_t)(i * 7)};
        memcpy(all[i].place, one.place, sizeof one.place);
        all[i].charge = one.charge;
        all[i].fixed = one.fixed;
        all[i].kind = one.kind;
    }
}

static inline bool same(const particle *a, const particle *b, size_t number)
{
    for (size_t i = 0; i < number; i++)
        if (memcmp(a[i].place, b[i].place, sizeof a[i].place) != 0 || a[i].charge != b[i].charge ||
            a[i].fixed != b[i].fixed || a[i].kind != b[i].kind)
            return false;
    return true;
}

#endif
