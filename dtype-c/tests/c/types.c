/* Constructors, queries, marshalled bytes, texts. */

#include "check.h"

static dtype_type_info info(const dtype_type *type)
{
    dtype_type_info found;
    OK(dtype_type_get_info(type, &found));
    return found;
}

static void constructors(void)
{
    dtype_type *f64 = basic(DTYPE_F64), *u8 = basic(DTYPE_U8), *made[10];
    const int64_t lengths[] = {2, 0, 1}, places[] = {8, 99, 0};
    const int64_t sizes[] = {4, 6}, parts[] = {2, 3}, starts[] = {1, 2};
    OK(dtype_type_contiguous(3, f64, &made[0]));
    OK(dtype_type_vector(4, 1, -1, u8, &made[1]));
    OK(dtype_type_hvector(3, 2, 100, f64, &made[2]));
    OK(dtype_type_indexed(3, lengths, places, f64, &made[3]));
    OK(dtype_type_hindexed(3, lengths, places, f64, &made[4]));
    OK(dtype_type_indexed_block(3, 2, places, u8, &made[5]));
    OK(dtype_type_hindexed_block(3, 2, places, u8, &made[6]));
    OK(dtype_type_subarray(2, sizes, parts, starts, DTYPE_ORDER_C, u8, &made[7]));
    OK(dtype_type_subarray(2, sizes, parts, starts, DTYPE_ORDER_FORTRAN, u8, &made[8]));
    OK(dtype_type_resized(u8, -4, 16, &made[9]));
    static const uint64_t packed[] = {24, 4, 48, 24, 24, 6, 6, 6, 6, 1};
    static const int64_t extents[] = {24, 4, 216, 80, 24, 101, 101, 24, 24, 16};
    static const int64_t data[] = {0, -3, 0, 0, 0, 0, 0, 8, 9, 0};
    for (int i = 0; i < 10; i++) {
        const dtype_type_info found = info(made[i]);
        CHECK(found.size == packed[i] && found.extent == extents[i] && found.true_lb == data[i]);
        CHECK(found.reserved == 0);
    }
    CHECK(info(made[9]).lb == -4 && info(made[9]).true_extent == 1);
    CHECK(info(made[0]).flags == (DTYPE_FLAG_CONTIGUOUS | DTYPE_FLAG_NO_GAPS));
    CHECK(info(made[1]).elements == 4 && info(f64).align == _Alignof(double));

    /* Parts are kept alive by what is made of them. */
    dtype_type_release(f64);
    dtype_type_release(u8);
    CHECK(info(made[3]).size == 24);
    for (int i = 0; i < 10; i++)
        dtype_type_release(made[i]);

    dtype_type *whole = particle_type();
    CHECK(info(whole).size == 30 && info(whole).extent == sizeof(particle));
    OK(dtype_type_retain(whole));
    dtype_type_release(whole);
    CHECK(info(whole).elements == 6);
    dtype_type_release(whole);
}

static void every_basic(void)
{
    for (dtype_basic code = DTYPE_I8; code <= DTYPE_COMPLEX32; code++) {
        dtype_type *one = basic(code);
        CHECK(info(one).size > 0 && info(one).elements == 1);
        dtype_type_release(one);
    }
    dtype_type *integer = basic(DTYPE_C_INT), *fixed = basic(DTYPE_I32);
    bool answer = false;
    CHECK(info(integer).size == sizeof(int));
    OK(dtype_type_compatible(integer, fixed, &answer));
    CHECK(answer);
    OK(dtype_type_equal(integer, fixed, &answer));
    CHECK(!answer);
    dtype_type_release(integer);
    dtype_type_release(fixed);
}

static void wrong_arguments(void)
{
    dtype_type *u8 = basic(DTYPE_U8), *made = (dtype_type *)&made;
    dtype_type *const before = made;
    FAILS(DTYPE_ERROR_ARGUMENT, dtype_type_basic(0, &made));
    MESSAGE("basic is 0, which is unknown");
    FAILS(DTYPE_ERROR_ARGUMENT, dtype_type_basic(62, &made));
    FAILS(DTYPE_ERROR_ARGUMENT, dtype_type_contiguous(-1, u8, &made));
    MESSAGE("count is -1, expected at least 0");
    FAILS(DTYPE_ERROR_LIMIT, dtype_type_vector(INT64_MAX, 2, 1, u8, &made));
    FAILS(DTYPE_ERROR_LIMIT, dtype_type_resized(u8, INT64_MAX, 1, &made));
    FAILS(DTYPE_ERROR_NULL, dtype_type_contiguous(1, NULL, &made));
    MESSAGE("old is NULL");
    FAILS(DTYPE_ERROR_NULL, dtype_type_contiguous(1, u8, NULL));
    MESSAGE("out is NULL");
    const int64_t negative[] = {1, -2};
    FAILS(DTYPE_ERROR_ARGUMENT, dtype_type_indexed(2, negative, negative, u8, &made));
    MESSAGE("blocklengths is -2, expected at least 0");
    FAILS(DTYPE_ERROR_NULL, dtype_type_indexed(2, NULL, negative, u8, &made));
    FAILS(DTYPE_ERROR_ARGUMENT, dtype_type_indexed_block(SIZE_MAX / 4, 1, negative, u8, &made));
    FAILS(DTYPE_ERROR_ARGUMENT, dtype_type_subarray(0, NULL, NULL, NULL, DTYPE_ORDER_C, u8, &made));
    FAILS(DTYPE_ERROR_ARGUMENT, dtype_type_subarray(0, NULL, NULL, NULL, 2, u8, &made));
    const dtype_type *members[] = {u8, NULL};
    const int64_t ones[] = {1, 1};
    FAILS(DTYPE_ERROR_NULL, dtype_type_struct(2, ones, ones, members, &made));
    CHECK(made == before);
    /* Nothing at all is a type. */
    OK(dtype_type_struct(0, NULL, NULL, NULL, &made));
    CHECK(info(made).size == 0);
    dtype_type_release(made);
    dtype_type_release(u8);
    dtype_type_release(NULL);
}

/* A handle that was released, or is of another kind, is told from a live one. */
static void dead_handles(void)
{
    dtype_type *one = basic(DTYPE_I32), *made = NULL;
    dtype_type_info found;
    dtype_type_release(one);
    FAILS(DTYPE_ERROR_HANDLE, dtype_type_get_info(one, &found));
    MESSAGE("object is not a type that lives");
    FAILS(DTYPE_ERROR_HANDLE, dtype_type_contiguous(2, one, &made));
    dtype_type_release(one);
    FAILS(DTYPE_ERROR_HANDLE, dtype_type_retain(one));

    dtype_committed *other = committed(basic(DTYPE_I32));
    FAILS(DTYPE_ERROR_HANDLE, dtype_type_get_info((const dtype_type *)other, &found));
    size_t size;
    dtype_type_release((dtype_type *)other);
    OK(dtype_packed_size(other, 1, &size));
    dtype_committed_release(other);
    FAILS(DTYPE_ERROR_HANDLE, dtype_packed_size(other, 1, &size));

    /* Also when many others were made since. */
    enum { MANY = 200 };
    dtype_type *many[MANY];
    for (int i = 0; i < MANY; i++)
        many[i] = basic(DTYPE_U8);
    FAILS(DTYPE_ERROR_HANDLE, dtype_type_get_info(one, &found));
    for (int i = 0; i < MANY; i++)
        dtype_type_release(many[i]);
}

static void marshalled(void)
{
    dtype_type *whole = particle_type(), *back = NULL;
    size_t size = 0;
    FAILS(DTYPE_ERROR_ROOM, dtype_type_marshal(whole, NULL, 0, &size));
    CHECK(size > 0 && size < 200);
    unsigned char bytes[200], untouched[200];
    memset(bytes, 0xA5, sizeof bytes);
    memcpy(untouched, bytes, sizeof bytes);
    size_t again = 0;
    FAILS(DTYPE_ERROR_ROOM, dtype_type_marshal(whole, bytes, size - 1, &again));
    CHECK(again == size && memcmp(bytes, untouched, sizeof bytes) == 0);
    OK(dtype_type_marshal(whole, bytes, sizeof bytes, &size));
    CHECK(bytes[size] == 0xA5);
    OK(dtype_type_unmarshal(bytes, size, &back));
    bool answer = false;
    OK(dtype_type_equal(whole, back, &answer));
    CHECK(answer);
    dtype_type_release(back);
    back = NULL;
    for (size_t few = 0; few < size; few++)
        FAILS(DTYPE_ERROR_MARSHALLED, dtype_type_unmarshal(bytes, few, &back));
    FAILS(DTYPE_ERROR_NULL, dtype_type_unmarshal(NULL, 1, &back));
    CHECK(back == NULL);
    dtype_type_release(whole);
}

static const char *text(const dtype_type *type, dtype_form form)
{
    static char buffer[1 << 16];
    size_t size = 0, needed = 0;
    FAILS(DTYPE_ERROR_ROOM, dtype_type_text(type, form, NULL, 0, &needed));
    CHECK(needed <= sizeof buffer);
    OK(dtype_type_text(type, form, buffer, needed, &size));
    CHECK(size == needed && strlen(buffer) == size - 1);
    return buffer;
}

static void texts(void)
{
    dtype_type *made = NULL, *f64 = basic(DTYPE_F64);
    OK(dtype_type_vector(4, 1, 6, f64, &made));
    CHECK(strstr(text(made, DTYPE_FORM_PICTURE), "extent 152") != NULL);
    CHECK(strncmp(text(made, DTYPE_FORM_SVG), "<svg ", 5) == 0);
    CHECK(strstr(text(made, DTYPE_FORM_CALLS), "vector: count 4, blocklength 1, stride 6") != NULL);
    CHECK(strcmp(text(made, DTYPE_FORM_MPI_C), "MPI_Datatype t1;\nMPI_Type_vector(4, 1, 6, MPI_DOUBLE, &t1);\n"
                                               "MPI_Type_commit(&t1);\n") == 0);
    CHECK(strcmp(text(made, DTYPE_FORM_RUST), "let t1 = Type::vector(4, 1, 6, &Type::basic(Basic::F64))?;\n") == 0);
    CHECK(strncmp(text(made, DTYPE_FORM_NUMPY), "np.dtype(", 9) == 0);
    CHECK(strcmp(text(made, DTYPE_FORM_NUMPY_PACKED), "np.dtype(('<f8', (4,)))") == 0);
    size_t size;
    FAILS(DTYPE_ERROR_ARGUMENT, dtype_type_text(made, 9, NULL, 0, &size));
    dtype_type_release(made);
    OK(dtype_type_resized(f64, 0, 4, &made));
    FAILS(DTYPE_ERROR_UNSUPPORTED, dtype_type_text(made, DTYPE_FORM_NUMPY, NULL, 0, &size));
    dtype_type_release(made);
    dtype_type_release(f64);
}

static void from_numpy(void)
{
    static const char source[] = "[('place', '<f8', (3,)), ('charge', 'i1'), ('fixed', '?'), ('', 'V2'), ('kind', '<i4')]!";
    dtype_type *made = NULL, *whole = particle_type();
    bool answer = false;
    /* The text ends before the exclamation mark, and without a zero byte. */
    OK(dtype_type_from_text(source, sizeof source - 2, DTYPE_FORM_NUMPY, &made));
    OK(dtype_type_compatible(whole, made, &answer));
    CHECK(answer && info(made).extent == sizeof(particle));
    dtype_type_release(made);
    made = NULL;
    FAILS(DTYPE_ERROR_TEXT, dtype_type_from_text(source, sizeof source - 1, DTYPE_FORM_NUMPY, &made));
    FAILS(DTYPE_ERROR_TEXT, dtype_type_from_text("\xFF", 1, DTYPE_FORM_NUMPY, &made));
    FAILS(DTYPE_ERROR_TEXT, dtype_type_from_text("'>f8'", 5, DTYPE_FORM_NUMPY, &made));
    FAILS(DTYPE_ERROR_TEXT, dtype_type_from_text(NULL, 0, DTYPE_FORM_NUMPY, &made));
    FAILS(DTYPE_ERROR_NULL, dtype_type_from_text(NULL, 1, DTYPE_FORM_NUMPY, &made));
    FAILS(DTYPE_ERROR_ARGUMENT, dtype_type_from_text("'i1'", 4, DTYPE_FORM_NUMPY_PACKED, &made));
    FAILS(DTYPE_ERROR_NULL, dtype_type_from_text("'i1'", 4, DTYPE_FORM_NUMPY, NULL));
    CHECK(made == NULL);
    dtype_type_release(whole);
}

/* The forms that not every library has. */
static void declarations(void)
{
    static const char source[] =
        "typedef struct { double x, y; } point;\n"
        "enum kind { NONE, SOME };\n"
        "struct particle { double place[3]; int8_t charge; bool fixed; int kind; };\n";
    dtype_type *made = NULL, *whole = particle_type();
    const dtype_error error = dtype_type_from_text(source, sizeof source - 1, DTYPE_FORM_STRUCT, &made);
    size_t size = 0;
    bool answer = false;
    if (error == DTYPE_ERROR_UNSUPPORTED) {
        puts("without the notation and C");
        FAILS(DTYPE_ERROR_UNSUPPORTED, dtype_type_from_text("u8", 2, DTYPE_FORM_NOTATION, &made));
        FAILS(DTYPE_ERROR_UNSUPPORTED, dtype_type_text(whole, DTYPE_FORM_NOTATION, NULL, 0, &size));
        FAILS(DTYPE_ERROR_UNSUPPORTED, dtype_type_text(whole, DTYPE_FORM_STRUCT, NULL, 0, &size));
        dtype_type_release(whole);
        return;
    }
    /* Two structs, of which neither is part of the other. */
    CHECK(error == DTYPE_ERROR_TEXT && made == NULL);
    const char *alone = strstr(source, "struct particle");
    OK(dtype_type_from_text(alone, strlen(alone), DTYPE_FORM_STRUCT, &made));
    OK(dtype_type_compatible(whole, made, &answer));
    CHECK(answer && info(made).extent == sizeof(particle) && info(made).true_extent == info(whole).true_extent);
    dtype_type_release(made);

    OK(dtype_type_from_text("vector(4, 1, 6, f64)", 20, DTYPE_FORM_NOTATION, &made));
    dtype_type *back = NULL;
    for (int form = 0; form < 2; form++) {
        const dtype_form forms[] = {DTYPE_FORM_NOTATION, DTYPE_FORM_STRUCT};
        const char *as_text = text(made, forms[form]);
        OK(dtype_type_from_text(as_text, strlen(as_text), forms[form], &back));
        OK(dtype_type_compatible(made, back, &answer));
        CHECK(answer && info(back).true_extent == info(made).true_extent);
        dtype_type_release(back);
    }
    CHECK(strcmp(text(made, DTYPE_FORM_NOTATION), "vector(4, 1, 6, f64)") == 0);
    dtype_type_release(made);
    made = NULL;

    FAILS(DTYPE_ERROR_TEXT, dtype_type_from_text("struct p { double *x; };", 24, DTYPE_FORM_STRUCT, &made));
    CHECK(strncmp(dtype_last_message(), "byte 18 of the text: field `x` is a pointer", 43) == 0);
    FAILS(DTYPE_ERROR_TEXT, dtype_type_from_text("vector(4, 5, 6, u46)", 20, DTYPE_FORM_NOTATION, &made));
    CHECK(strstr(dtype_last_message(), "did you mean `u64`?") != NULL);
    for (size_t few = 0; few < strlen(alone) - 2; few++)
        FAILS(DTYPE_ERROR_TEXT, dtype_type_from_text(alone, few, DTYPE_FORM_STRUCT, &made));
    char *deep = malloc(1 << 20);
    CHECK(deep);
    memset(deep, '[', 1 << 20);
    FAILS(DTYPE_ERROR_TEXT, dtype_type_from_text(deep, 1 << 20, DTYPE_FORM_NOTATION, &made));
    FAILS(DTYPE_ERROR_TEXT, dtype_type_from_text(deep, 1 << 20, DTYPE_FORM_STRUCT, &made));
    free(deep);
    CHECK(made == NULL);
    dtype_type_release(whole);
}

int main(void)
{
    CHECK(dtype_version() == (DTYPE_VERSION_MAJOR << 16 | DTYPE_VERSION_MINOR << 8 | DTYPE_VERSION_PATCH));
    CHECK(strcmp(dtype_last_message(), "") == 0 && dtype_last_record() == UINT64_MAX);
    for (dtype_error code = DTYPE_OK; code <= DTYPE_ERROR_INTERNAL; code++)
        CHECK(strcmp(dtype_error_text(code), "an unknown code") != 0);
    CHECK(strcmp(dtype_error_text(-1), "an unknown code") == 0);
    constructors();
    every_basic();
    wrong_arguments();
    dead_handles();
    marshalled();
    texts();
    from_numpy();
    declarations();
    return 0;
}
