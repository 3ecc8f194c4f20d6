// dtype.hpp: the types of aggregates and classes, packing, streams, frames.

#include "check.h"

#include <dtype.hpp>

#include <algorithm>
#include <cstring>

namespace app {

enum class colour : std::uint8_t { red, green = 4, blue };
enum sign : int { minus = -1, plus = 1 };

struct empty {};
struct point {
    double x, y;
};
struct plain {
    double place[3];
    std::int8_t charge;
    bool fixed;
    int kind;
};
struct nested {
    point corner;
    std::array<point, 2> ends;
    float grid[2][3];
    plain inner[2];
    std::complex<float> z;
    char name[16];
    colour c;
    long double wide;
};
struct alignas(64) aligned {
    char one;
    alignas(16) char two;
};
struct one_array {
    short all[5];
};
struct many {
    char a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9,
        d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, e0, e1, e2, e3, e4, e5, e6, e7, e8;
    double last;
};
struct flags {
    colour first;
    sign second[2];
    bool third;
};
struct group {
    std::uint16_t id;
    flags all[2];
};

class hidden {
public:
    hidden() = default;
    hidden(int number, float level) : number_(number), level_(level) {}
    bool operator==(const hidden&) const = default;

private:
    friend struct dtype::described<hidden>;
    int number_ = 0;
    float level_ = 0;
    void* cache_ = nullptr; // not sent
};

} // namespace app

DTYPE_FIELDS(app::hidden, number_, level_)
DTYPE_FIELDS(app::flags, first, second, third)
DTYPE_ENUM(app::colour, app::colour::red, app::colour::green, app::colour::blue)
DTYPE_ENUM(app::sign, app::minus, app::plus)

// Counted by the compiler.
static_assert(dtype::detail::field_count<app::point>() == 2);
static_assert(dtype::detail::field_count<app::plain>() == 4);
static_assert(dtype::detail::field_count<app::nested>() == 8);
static_assert(dtype::detail::field_count<app::one_array>() == 1);
static_assert(dtype::detail::field_count<app::many>() == 50);
static_assert(dtype::detail::field_count<app::aligned>() == 2);
static_assert(dtype::detail::field_count<app::empty>() == 0);

// A stream borrows its memory, so it is not made of a temporary vector.
static_assert(!std::is_constructible_v<dtype::packer, std::vector<int>> && std::is_constructible_v<dtype::packer, std::vector<int>&>);
static_assert(!std::is_constructible_v<dtype::unpacker, const std::vector<int>&>);

template <class F>
static dtype_error code_of(F call)
{
    try {
        call();
    } catch (const dtype::error& error) {
        CHECK(std::strlen(error.what()) > 0);
        return error.code();
    }
    return DTYPE_OK;
}

static void offsets()
{
    using app::nested;
    // The same type, made by hand from the compiler's offsets.
    const std::int64_t places[] = {offsetof(nested, corner), offsetof(nested, ends), offsetof(nested, grid), offsetof(nested, inner),
                                   offsetof(nested, z),      offsetof(nested, name), offsetof(nested, c),    offsetof(nested, wide)};
    const std::int64_t lengths[] = {1, 2, 6, 2, 1, 16, 1, 1};
    const dtype::type members[] = {dtype::of<app::point>(),
                                   dtype::of<app::point>(),
                                   dtype::type::basic(DTYPE_F32),
                                   dtype::of<app::plain>(),
                                   dtype::type::basic(DTYPE_C32),
                                   dtype::type::basic(DTYPE_C_CHAR),
                                   dtype::type::basic(DTYPE_C_UCHAR),
                                   dtype::type::basic(DTYPE_C_LONGDOUBLE)};
    const auto by_hand = dtype::type::structure(lengths, places, members);
    CHECK(dtype::of<nested>() == by_hand);
    CHECK(dtype::of<nested>().info().extent == sizeof(nested));
    const auto aligned = dtype::of<app::aligned>().info();
    CHECK(aligned.size == 2 && aligned.true_extent == 17 && aligned.extent == 64);
    CHECK(dtype::of<app::many>().info().size == 57);
    CHECK(dtype::of<app::empty>().info().size == 0);
    CHECK(dtype::of<const int>() == dtype::type::basic(DTYPE_C_INT));
    CHECK((dtype::of<double[2][3]>() == dtype::type::contiguous(6, dtype::type::basic(DTYPE_F64))));
    CHECK(dtype::of<app::hidden>().info().size == 8 && dtype::of<app::hidden>().info().extent == sizeof(app::hidden));
}

static std::vector<app::nested> records(std::size_t number)
{
    std::vector<app::nested> all(number);
    for (std::size_t i = 0; i < number; i++) {
        auto& one = all[i];
        one.corner = {static_cast<double>(i), 0.5};
        one.ends = {app::point{1, 2}, app::point{3, static_cast<double>(i)}};
        std::fill_n(&one.grid[0][0], 6, static_cast<float>(i));
        one.inner[1] = {{1, 2, 3}, static_cast<std::int8_t>(i % 50), i % 2 == 1, static_cast<int>(i)};
        one.z = {0, 1};
        std::strcpy(one.name, "record");
        one.c = app::colour::green;
        one.wide = static_cast<long double>(i) / 3;
    }
    return all;
}

static bool alike(const app::nested& a, const app::nested& b)
{
    return a.corner.x == b.corner.x && a.ends[1].y == b.ends[1].y && std::equal(&a.grid[0][0], &a.grid[0][0] + 6, &b.grid[0][0]) &&
           a.inner[1].charge == b.inner[1].charge && a.inner[1].fixed == b.inner[1].fixed && a.inner[1].kind == b.inner[1].kind &&
           a.z == b.z && std::strcmp(a.name, b.name) == 0 && a.c == b.c && a.wide == b.wide;
}

static void packing()
{
    const auto all = records(100);
    const auto bytes = dtype::pack(all);
    CHECK(bytes.size() == 100 * dtype::packed_size<app::nested>(1));
    CHECK(bytes.size() == 100 * (16 + 32 + 24 + 2 * 30 + 8 + 16 + 1 + sizeof(long double)));
    auto back = dtype::unpack<app::nested>(bytes);
    CHECK(std::equal(all.begin(), all.end(), back.begin(), back.end(), alike));
    CHECK(code_of([&] { dtype::unpack<app::nested>(std::span(bytes).first(bytes.size() - 1)); }) == DTYPE_ERROR_LENGTH);

    std::ranges::fill(back, app::nested{});
    dtype::packer packer{all};
    dtype::unpacker unpacker{std::span(back)};
    std::array<std::byte, 77> piece;
    while (const std::size_t size = packer.pack(piece))
        CHECK(unpacker.unpack(std::span(piece).first(size)) == size);
    CHECK(packer.remaining() == 0 && unpacker.remaining() == 0 && packer.position() == bytes.size());
    CHECK(std::equal(all.begin(), all.end(), back.begin(), back.end(), alike));

    const std::vector<app::hidden> secrets = {{1, 2.5F}, {3, 4.5F}};
    CHECK(dtype::unpack<app::hidden>(dtype::pack(secrets)) == secrets);
    std::vector<std::byte> room(16);
    CHECK(dtype::pack_into(secrets, room) == 16);
    CHECK(code_of([&] { dtype::pack_into(secrets, std::span(room).first(15)); }) == DTYPE_ERROR_ROOM);
}

static void values()
{
    const std::vector<app::group> all = {{1, {{app::colour::red, {app::minus, app::plus}, true}, {}}}, {}};
    auto good = all;
    for (auto& one : good)
        for (auto& flags : one.all)
            flags.second[0] = flags.second[1] = app::plus;
    auto bytes = dtype::pack(good);
    CHECK(dtype::unpack<app::group>(bytes).size() == 2);
    const auto refused = [&](std::size_t at, unsigned char value) {
        auto wrong = bytes;
        wrong[at] = std::byte{value};
        try {
            dtype::unpack<app::group>(wrong);
        } catch (const dtype::error& error) {
            CHECK(error.code() == DTYPE_ERROR_VALUE);
            return std::to_string(error.record()) + ' ' + error.field();
        }
        return std::string();
    };
    // 2 bytes, and then twice 1 + 2 * 4 + 1.
    CHECK(refused(2, 3) == "0 1[0].first");
    CHECK(refused(22 + 2 + 10 + 5, 7) == "1 1[1].second[1]");
    CHECK(refused(22 + 11, 2) == "1 1[0].third");
    CHECK(refused(0, 77).empty());
}

static void frames()
{
    const auto all = records(3);
    const auto one = dtype::encode(all, {.tag = 7, .flags = DTYPE_FRAME_COMPACT});
    auto stream = one;
    stream.insert(stream.end(), one.begin(), one.end());
    dtype::decoder decoder;
    int found = 0;
    for (std::size_t at = 0; at < stream.size(); at += 10) {
        auto bytes = std::span<const std::byte>(stream).subspan(at, std::min<std::size_t>(10, stream.size() - at));
        while (!bytes.empty())
            if (const auto frame = decoder.feed(bytes)) {
                CHECK(frame->info().tag == 7);
                const auto back = frame->unpack<app::nested>();
                CHECK(std::equal(all.begin(), all.end(), back.begin(), back.end(), alike));
                CHECK(code_of([&] { frame->unpack<app::plain>(); }) == DTYPE_ERROR_SIGNATURE);
                found++;
            }
    }
    decoder.finish();
    CHECK(found == 2);
}

static void objects()
{
    auto one = dtype::of<app::plain>();
    auto two = one;
    auto three = std::move(one);
    one = two;
    CHECK(one == three && two.compatible(three));
    CHECK(dtype::type::unmarshal(three.marshal()) == three);
    CHECK(dtype::type::from_text("[('x', '<f8'), ('y', '<f8')]", DTYPE_FORM_NUMPY).compatible(dtype::of<app::point>()));
    CHECK(three.text(DTYPE_FORM_SVG).starts_with("<svg"));
    CHECK(dtype::committed(three).packed_size(10) == 300);
    CHECK(code_of([] { dtype::type::basic(99); }) == DTYPE_ERROR_ARGUMENT);
    const std::int64_t few[] = {1}, more[] = {1, 2};
    bool refused = false;
    try {
        dtype::type::indexed(few, more, three);
    } catch (const std::invalid_argument&) {
        refused = true;
    }
    CHECK(refused);
    const dtype::committed big(three, DTYPE_BIG_ENDIAN);
    const app::plain plain = {{1, 2, 3}, 4, true, 5};
    std::vector<std::byte> bytes(30);
    CHECK(big.pack(&plain, 1, bytes, sizeof plain) == 30 && bytes[0] == std::byte{0x3F});
    app::plain back = {};
    big.checked().unpack(bytes, &back, 1, sizeof back);
    CHECK(back.kind == 5 && back.fixed);
}

static void layouts()
{
    // The same values in another order of memory: a struct of arrays and an array of structs.
    const auto point = dtype::of<app::point>();
    const dtype::committed rows(dtype::type::contiguous(2, point));
    const app::point points[] = {{1, 2}, {3, 4}};
    double all[4] = {};
    rows.copy(points, 1, dtype::committed(dtype::of<double[4]>()), all, 1, sizeof points, sizeof all);
    CHECK(all[0] == 1 && all[1] == 2 && all[2] == 3 && all[3] == 4);
    CHECK(code_of([&] { rows.copy(points, 1, dtype::committed(dtype::of<float[4]>()), all, 1); }) == DTYPE_ERROR_SIGNATURE);

    const dtype::committed column(dtype::type::vector(2, 1, 2, dtype::type::basic(DTYPE_F64)));
    const auto pieces = column.segments(points, 1, 4, sizeof points);
    CHECK(pieces.size() == 2 && pieces[0].iov_base == reinterpret_cast<const char*>(points) + 4 && pieces[0].iov_len == 4);
    CHECK(pieces[1].iov_base == &points[1].x && pieces[1].iov_len == 8);

    const dtype::columns columns(point);
    CHECK(columns.size() == 2 && columns.width(1) == sizeof(double));
    double x[2], y[2];
    const std::span<std::byte> arrays[] = {std::as_writable_bytes(std::span(x)), std::as_writable_bytes(std::span(y))};
    columns.split(points, arrays);
    CHECK(x[0] == 1 && x[1] == 3 && y[0] == 2 && y[1] == 4);
    app::point back[2] = {};
    const std::span<std::byte> only_y[] = {{}, arrays[1]};
    columns.join(only_y, back);
    CHECK(back[0].x == 0 && back[0].y == 2 && back[1].y == 4);
}

#if defined(__cpp_lib_expected)
static void attempts()
{
    const std::vector<app::point> all(3);
    const auto bytes = dtype::attempt([&] { return dtype::pack(all); });
    CHECK(bytes && bytes->size() == 48);
    const auto refused = dtype::attempt([&] { return dtype::unpack<app::plain>(*bytes); });
    CHECK(!refused && refused.error().code() == DTYPE_ERROR_LENGTH);
    std::vector<app::point> back(3);
    CHECK(dtype::attempt([&] { dtype::unpack_into(*bytes, back); }));
}
#endif

int main()
{
#if defined(__cpp_lib_expected)
    attempts();
#elif __cplusplus > 202002L && defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__)
#error "this standard library has std::expected"
#endif
    layouts();
    offsets();
    packing();
    values();
    frames();
    objects();
    return 0;
}
