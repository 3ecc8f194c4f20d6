// dtype.hpp: dtype.h for C++20. Header only; link libdtype.
//
// The datatype of a plain aggregate needs no annotation: its fields are found at compile time.
//
//     struct particle { double place[3]; std::int8_t charge; };
//
//     std::vector<particle> all(1000);
//     std::vector<std::byte> bytes = dtype::pack(all);            // 25 bytes each, without the padding
//     std::vector<particle> back = dtype::unpack<particle>(bytes);
//
// A class, a struct with more than 50 fields, or one whose fields should have their names in errors, says which they are, and an
// enumeration says what its values are, outside all namespaces:
//
//     DTYPE_FIELDS(app::particle, place, charge)
//     DTYPE_ENUM(app::colour, app::colour::red, app::colour::green)
//
// Every function throws `dtype::error`, with the code of dtype.h, and does nothing then; `dtype::attempt` returns it in a
// `std::expected` instead, where the standard library has that (C++23). Objects own their handle: a copy of a type or of a
// committed type is another reference to the same object.

#ifndef DTYPE_HPP
#define DTYPE_HPP

#include <dtype.h>

#include <algorithm>
#include <array>
#include <bit>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
#include <version>
#if defined(__cpp_lib_expected)
#include <expected>
#endif

namespace dtype {

// ---- Errors ------------------------------------------------------------------------------------------------------------------

// What a function of dtype.h returned, with the details of its message.
class error : public std::runtime_error {
public:
    explicit error(dtype_error code)
        : std::runtime_error(dtype_last_message()), code_(code), record_(dtype_last_record()), field_(dtype_last_field())
    {
    }
    dtype_error code() const noexcept { return code_; }
    // The record and the field that were refused; UINT64_MAX and "" after another error.
    std::uint64_t record() const noexcept { return record_; }
    const std::string& field() const noexcept { return field_; }

private:
    dtype_error code_;
    std::uint64_t record_;
    std::string field_;
};

inline void check(dtype_error code)
{
    if (code != DTYPE_OK)
        throw error(code);
}

#if defined(__cpp_lib_expected)
// What a call returns, or the error that it threw:
//
//     auto back = dtype::attempt([&] { return dtype::unpack<particle>(bytes); });
//     if (!back)
//         std::cerr << back.error().what() << '\n';
template <class Call>
auto attempt(Call&& call) -> std::expected<std::remove_cvref_t<std::invoke_result_t<Call>>, error>
{
    try {
        if constexpr (std::is_void_v<std::invoke_result_t<Call>>) {
            std::forward<Call>(call)();
            return {};
        } else
            return std::forward<Call>(call)();
    } catch (const error& caught) {
        return std::unexpected(caught);
    }
}
#endif

namespace detail {

// Calls a function that fills an array, first for the size and then with room.
template <class Buffer, class Fill>
Buffer filled(Fill fill)
{
    std::size_t size = 0;
    if (const dtype_error code = fill(nullptr, std::size_t{0}, &size); code != DTYPE_ERROR_ROOM)
        check(code);
    Buffer buffer(size, {});
    check(fill(buffer.data(), buffer.size(), &size));
    return buffer;
}

template <class Fill>
std::string filled_text(Fill fill)
{
    std::string text = filled<std::string>(fill);
    text.pop_back(); // the zero at the end
    return text;
}

// The only owner of a handle.
template <class Handle, void (*Release)(Handle*)>
struct release {
    void operator()(Handle* handle) const noexcept { Release(handle); }
};
template <class Handle, void (*Release)(Handle*)>
using unique = std::unique_ptr<Handle, release<Handle, Release>>;

// One of the owners of a handle. Moved from, it owns none.
template <class Handle, dtype_error (*Retain)(const Handle*), void (*Release)(Handle*)>
class shared {
public:
    explicit shared(Handle* owned) noexcept : handle_(owned) {}
    shared(const shared& other) : handle_(other.handle_)
    {
        if (handle_ != nullptr)
            check(Retain(handle_));
    }
    shared(shared&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    shared& operator=(shared other) noexcept
    {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~shared() { Release(handle_); }
    // For functions of dtype.h; owned by this object.
    const Handle* get() const noexcept { return handle_; }

private:
    Handle* handle_;
};

} // namespace detail

// ---- Types -------------------------------------------------------------------------------------------------------------------

// A datatype.
class type : public detail::shared<dtype_type, dtype_type_retain, dtype_type_release> {
public:
    using shared::shared;

    static type basic(dtype_basic code)
    {
        return made([&](auto out) { return dtype_type_basic(code, out); });
    }
    static type contiguous(std::int64_t count, const type& old)
    {
        return made([&](auto out) { return dtype_type_contiguous(count, old.get(), out); });
    }
    static type vector(std::int64_t count, std::int64_t blocklength, std::int64_t stride, const type& old)
    {
        return made([&](auto out) { return dtype_type_vector(count, blocklength, stride, old.get(), out); });
    }
    static type hvector(std::int64_t count, std::int64_t blocklength, std::int64_t stride, const type& old)
    {
        return made([&](auto out) { return dtype_type_hvector(count, blocklength, stride, old.get(), out); });
    }
    using list = std::span<const std::int64_t>;
    static type indexed(list lengths, list displacements, const type& old)
    {
        same(lengths.size(), displacements.size());
        return made([&](auto out) {
            return dtype_type_indexed(lengths.size(), lengths.data(), displacements.data(), old.get(), out);
        });
    }
    static type hindexed(list lengths, list displacements, const type& old)
    {
        same(lengths.size(), displacements.size());
        return made([&](auto out) {
            return dtype_type_hindexed(lengths.size(), lengths.data(), displacements.data(), old.get(), out);
        });
    }
    static type indexed_block(std::int64_t length, list displacements, const type& old)
    {
        return made([&](auto out) {
            return dtype_type_indexed_block(displacements.size(), length, displacements.data(), old.get(), out);
        });
    }
    static type hindexed_block(std::int64_t length, list displacements, const type& old)
    {
        return made([&](auto out) {
            return dtype_type_hindexed_block(displacements.size(), length, displacements.data(), old.get(), out);
        });
    }
    static type structure(list lengths, list displacements, std::span<const type> members)
    {
        same(lengths.size(), displacements.size());
        same(lengths.size(), members.size());
        std::vector<const dtype_type*> handles;
        for (const type& member : members)
            handles.push_back(member.get());
        return made([&](auto out) {
            return dtype_type_struct(lengths.size(), lengths.data(), displacements.data(), handles.data(), out);
        });
    }
    static type subarray(list sizes, list subsizes, list starts, const type& old, dtype_order order = DTYPE_ORDER_C)
    {
        same(sizes.size(), subsizes.size());
        same(sizes.size(), starts.size());
        return made([&](auto out) {
            return dtype_type_subarray(sizes.size(), sizes.data(), subsizes.data(), starts.data(), order, old.get(), out);
        });
    }
    static type resized(const type& old, std::int64_t lb, std::int64_t extent)
    {
        return made([&](auto out) { return dtype_type_resized(old.get(), lb, extent, out); });
    }
    static type from_text(std::string_view text, dtype_form form)
    {
        return made([&](auto out) { return dtype_type_from_text(text.data(), text.size(), form, out); });
    }
    static type unmarshal(std::span<const std::byte> bytes)
    {
        return made([&](auto out) { return dtype_type_unmarshal(bytes.data(), bytes.size(), out); });
    }

    std::vector<std::byte> marshal() const
    {
        return detail::filled<std::vector<std::byte>>(
            [&](auto out, auto room, auto size) { return dtype_type_marshal(get(), out, room, size); });
    }
    std::string text(dtype_form form = DTYPE_FORM_PICTURE) const
    {
        return detail::filled_text(
            [&](auto out, auto room, auto size) { return dtype_type_text(get(), form, out, room, size); });
    }
    dtype_type_info info() const
    {
        dtype_type_info found;
        check(dtype_type_get_info(get(), &found));
        return found;
    }
    bool compatible(const type& other) const
    {
        bool answer = false;
        check(dtype_type_compatible(get(), other.get(), &answer));
        return answer;
    }
    friend bool operator==(const type& a, const type& b)
    {
        bool answer = false;
        check(dtype_type_equal(a.get(), b.get(), &answer));
        return answer;
    }

private:
    template <class Make>
    static type made(Make make)
    {
        dtype_type* out = nullptr;
        check(make(&out));
        return type(out);
    }
    static void same(std::size_t one, std::size_t other)
    {
        if (one != other)
            throw std::invalid_argument("the arrays differ in length");
    }
};

// A type that was compiled for packing. `memory` is the address of the first instance.
class committed : public detail::shared<dtype_committed, dtype_committed_retain, dtype_committed_release> {
public:
    using shared::shared;
    explicit committed(const type& of, dtype_representation representation = DTYPE_NATIVE)
        : committed(made([&](auto out) { return dtype_commit_as(of.get(), representation, out); }))
    {
    }
    committed(const type& of, const dtype_architecture& machine)
        : committed(made([&](auto out) { return dtype_commit_for(of.get(), &machine, out); }))
    {
    }
    committed checked(std::span<const dtype_values> fields = {}) const
    {
        return made([&](auto out) { return dtype_checked(get(), fields.data(), fields.size(), out); });
    }

    std::size_t packed_size(std::size_t count) const
    {
        std::size_t size = 0;
        check(dtype_packed_size(get(), count, &size));
        return size;
    }
    std::size_t pack(const void* memory, std::size_t count, std::span<std::byte> out,
                     std::size_t memory_size = DTYPE_UNBOUNDED) const
    {
        std::size_t packed = 0;
        check(dtype_pack(get(), memory, memory_size, count, out.data(), out.size(), &packed));
        return packed;
    }
    void unpack(std::span<const std::byte> packed, void* memory, std::size_t count,
                std::size_t memory_size = DTYPE_UNBOUNDED) const
    {
        check(dtype_unpack(get(), packed.data(), packed.size(), memory, memory_size, count));
    }
    // Copies instances to those of another type with the same basic datatypes in the same order.
    void copy(const void* memory, std::size_t count, const committed& other, void* to, std::size_t to_count,
              std::size_t memory_size = DTYPE_UNBOUNDED, std::size_t to_size = DTYPE_UNBOUNDED) const
    {
        check(dtype_copy(get(), memory, memory_size, count, other.get(), to, to_size, to_count));
    }
#if !defined(_WIN32)
    // The pieces of memory that hold the packed bytes from `position` on, for `writev` or `readv`.
    std::vector<iovec> segments(const void* memory, std::size_t count, std::uint64_t position = 0,
                                std::size_t memory_size = DTYPE_UNBOUNDED) const
    {
        std::uint64_t number = 0, next = 0;
        check(dtype_segment_count(get(), count, position, &number));
        std::vector<iovec> all(number);
        std::size_t found = 0;
        check(dtype_segments(get(), memory, memory_size, count, position, all.data(), all.size(), &found, &next));
        return all;
    }
#endif

private:
    template <class Make>
    static committed made(Make make)
    {
        dtype_committed* out = nullptr;
        check(make(&out));
        return committed(out);
    }
};

// ---- The type of a C++ type --------------------------------------------------------------------------------------------------

// The fields of a class, which DTYPE_FIELDS lists. A class with private fields makes `dtype::described<T>` a friend.
template <class T>
struct described;

// The values of an enumeration, which DTYPE_ENUM lists: packed bytes with others are refused.
template <class T>
struct enumerators;

namespace detail {

template <class T>
concept is_described = requires { described<T>::names; };
template <class T>
concept has_values = std::is_enum_v<T> && requires { enumerators<T>::values; };

template <class T>
struct is_std_array : std::false_type {};
template <class T, std::size_t N>
struct is_std_array<std::array<T, N>> : std::true_type {};

// The code of a C++ type that is one basic datatype; 0 for any other.
template <class T>
consteval dtype_basic basic_code()
{
    if constexpr (std::is_enum_v<T> && !std::same_as<T, std::byte>)
        return basic_code<std::underlying_type_t<T>>();
    else {
        constexpr auto is = []<class... U>() { return (std::same_as<T, U> || ...); };
        // clang-format off
        return is.template operator()<bool>() ? DTYPE_BOOL : is.template operator()<char>() ? DTYPE_C_CHAR
             : is.template operator()<signed char>() ? DTYPE_C_SCHAR : is.template operator()<unsigned char>() ? DTYPE_C_UCHAR
             : is.template operator()<std::byte>() ? DTYPE_BYTE : is.template operator()<wchar_t>() ? DTYPE_C_WCHAR
             : is.template operator()<char8_t>() ? DTYPE_U8 : is.template operator()<char16_t>() ? DTYPE_U16
             : is.template operator()<char32_t>() ? DTYPE_U32 : is.template operator()<short>() ? DTYPE_C_SHORT
             : is.template operator()<unsigned short>() ? DTYPE_C_USHORT : is.template operator()<int>() ? DTYPE_C_INT
             : is.template operator()<unsigned>() ? DTYPE_C_UINT : is.template operator()<long>() ? DTYPE_C_LONG
             : is.template operator()<unsigned long>() ? DTYPE_C_ULONG : is.template operator()<long long>() ? DTYPE_C_LONGLONG
             : is.template operator()<unsigned long long>() ? DTYPE_C_ULONGLONG : is.template operator()<float>() ? DTYPE_F32
             : is.template operator()<double>() ? DTYPE_F64 : is.template operator()<long double>() ? DTYPE_C_LONGDOUBLE
             : is.template operator()<std::complex<float>>() ? DTYPE_C32
             : is.template operator()<std::complex<double>>() ? DTYPE_C64
             : is.template operator()<std::complex<long double>>() ? DTYPE_C_LONGDOUBLE_COMPLEX : 0;
        // clang-format on
    }
}

// Becomes any type but the one whose fields are counted.
template <class Outer>
struct any {
    template <class U>
        requires(!std::same_as<std::remove_cvref_t<U>, Outer>)
    constexpr operator U() const noexcept; // never defined
};

template <class T, std::size_t>
using any_at = any<T>;

// Whether T{any, any, …} is valid, with braces around the argument behind the first `Before`.
template <class T, std::size_t... I>
consteval bool takes(std::index_sequence<I...>)
{
    return requires { T{any_at<T, I>{}...}; };
}
template <class T, std::size_t... I, std::size_t... J>
consteval bool takes_braced(std::index_sequence<I...>, std::index_sequence<J...>)
{
    return requires { T{any_at<T, I>{}..., {any<T>{}}, any_at<T, J>{}...}; };
}

// The greatest number of arguments. An aggregate takes any smaller number, too.
template <class T, std::size_t Least, std::size_t Most>
consteval std::size_t most_arguments()
{
    if constexpr (Least == Most)
        return Least;
    else {
        constexpr std::size_t middle = Least + (Most - Least + 1) / 2;
        if constexpr (takes<T>(std::make_index_sequence<middle>()))
            return most_arguments<T, middle, Most>();
        else
            return most_arguments<T, Least, middle - 1>();
    }
}

// The greatest number of arguments behind a braced one that `Before` precede.
template <class T, std::size_t Before, std::size_t Least, std::size_t Most>
consteval std::size_t most_behind()
{
    if constexpr (Least == Most)
        return Least;
    else {
        constexpr std::size_t middle = Least + (Most - Least + 1) / 2;
        if constexpr (takes_braced<T>(std::make_index_sequence<Before>(), std::make_index_sequence<middle>()))
            return most_behind<T, Before, middle, Most>();
        else
            return most_behind<T, Before, Least, middle - 1>();
    }
}

// The arguments that the fields from the argument `First` on take: an array takes one for each element, because its braces may
// be left out, and any other field takes one. Braces around an argument close the whole array.
template <class T, std::size_t First, std::size_t All>
consteval std::size_t fields_from()
{
    if constexpr (First == All)
        return 0;
    else if constexpr (!takes_braced<T>(std::make_index_sequence<First>(), std::index_sequence<>()))
        return 1 + fields_from<T, First + 1, All>();
    else
        return 1 + fields_from<T, All - most_behind<T, First, 0, All - First - 1>(), All>();
}

template <class T>
consteval std::size_t field_count()
{
    static_assert(sizeof(T) <= 8192, "this struct is too large to count its fields: list them with DTYPE_FIELDS");
    return fields_from<T, 0, most_arguments<T, 0, sizeof(T)>()>();
}

// References to all fields.
#define DTYPE_BIND_(NUMBER, ...)                                                                                                 \
    if constexpr (count == NUMBER) {                                                                                             \
        auto& [__VA_ARGS__] = value;                                                                                             \
        return std::tie(__VA_ARGS__);                                                                                            \
    } else
template <class T>
constexpr auto bound([[maybe_unused]] T& value)
{
    constexpr std::size_t count = field_count<T>();
    static_assert(count <= 50, "this struct has more than 50 fields: list them with DTYPE_FIELDS");
    // clang-format off
    DTYPE_BIND_(1, a) DTYPE_BIND_(2, a, b) DTYPE_BIND_(3, a, b, c) DTYPE_BIND_(4, a, b, c, d) DTYPE_BIND_(5, a, b, c, d, e)
    DTYPE_BIND_(6, a, b, c, d, e, f) DTYPE_BIND_(7, a, b, c, d, e, f, g) DTYPE_BIND_(8, a, b, c, d, e, f, g, h)
    DTYPE_BIND_(9, a, b, c, d, e, f, g, h, i) DTYPE_BIND_(10, a, b, c, d, e, f, g, h, i, j)
    DTYPE_BIND_(11, a, b, c, d, e, f, g, h, i, j, k) DTYPE_BIND_(12, a, b, c, d, e, f, g, h, i, j, k, l)
    DTYPE_BIND_(13, a, b, c, d, e, f, g, h, i, j, k, l, m) DTYPE_BIND_(14, a, b, c, d, e, f, g, h, i, j, k, l, m, n)
    DTYPE_BIND_(15, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o) DTYPE_BIND_(16, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
    DTYPE_BIND_(17, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q)
    DTYPE_BIND_(18, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r)
    DTYPE_BIND_(19, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s)
    DTYPE_BIND_(20, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t)
    DTYPE_BIND_(21, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u)
    DTYPE_BIND_(22, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v)
    DTYPE_BIND_(23, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w)
    DTYPE_BIND_(24, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x)
    DTYPE_BIND_(25, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y)
    DTYPE_BIND_(26, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z)
    DTYPE_BIND_(27, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A)
    DTYPE_BIND_(28, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B)
    DTYPE_BIND_(29, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C)
    DTYPE_BIND_(30, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D)
    DTYPE_BIND_(31, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E)
    DTYPE_BIND_(32, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F)
    DTYPE_BIND_(33, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G)
    DTYPE_BIND_(34, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G, H)
    DTYPE_BIND_(35, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G, H, I)
    DTYPE_BIND_(36, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G, H, I, J)
    DTYPE_BIND_(37, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G, H, I, J, K)
    DTYPE_BIND_(38, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G, H, I, J, K, L)
    DTYPE_BIND_(39, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G, H, I, J, K, L, M)
    DTYPE_BIND_(40, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G, H, I, J, K, L, M, N)
    DTYPE_BIND_(41, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G, H, I, J, K, L, M, N, O)
    DTYPE_BIND_(42, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P)
    DTYPE_BIND_(43, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q)
    DTYPE_BIND_(44, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R)
    DTYPE_BIND_(45, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S)
    DTYPE_BIND_(46, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, U)
    DTYPE_BIND_(47, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, U, V)
    DTYPE_BIND_(48, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, U, V, W)
    DTYPE_BIND_(49, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, U, V, W, X)
    DTYPE_BIND_(50, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, U, V, W, X, Y)
    // clang-format on
        return std::tuple<>();
}
#undef DTYPE_BIND_

// Calls `visit` with the type, the offset and the name of each field. The name of a field without one is its number.
template <class T, class Visit>
void each_field(Visit visit)
{
    if constexpr (is_described<T>) {
        described<T>::each(visit);
    } else {
        static_assert(std::is_aggregate_v<T> && std::is_trivially_copyable_v<T>,
                      "neither a number nor a plain aggregate: list its fields with DTYPE_FIELDS");
        // An aggregate begins to live in an array of bytes, and only the addresses of its fields are used.
        alignas(T) static std::byte storage[sizeof(T)];
        auto& value = *reinterpret_cast<T*>(storage);
        [[maybe_unused]] std::size_t number = 0;
        std::apply(
            [&](auto&... fields) {
                [[maybe_unused]] const auto one = [&]<class F>(F& field) {
                    const auto* address = reinterpret_cast<const std::byte*>(std::addressof(field));
                    visit(std::type_identity<std::remove_cv_t<F>>(), static_cast<std::size_t>(address - storage),
                          std::to_string(number++));
                };
                (one(fields), ...);
            },
            bound(value));
    }
}

// A type as a number of elements that are no arrays.
template <class T>
struct elements {
    using type = T;
    static constexpr std::size_t count = 1;
};
template <class T, std::size_t N>
struct elements<T[N]> {
    using type = typename elements<T>::type;
    static constexpr std::size_t count = N * elements<T>::count;
};
template <class T, std::size_t N>
struct elements<std::array<T, N>> : elements<T[N]> {
    static_assert(sizeof(std::array<T, N>) == sizeof(T[N]));
};

template <class T>
type type_of();

template <class T>
type structure_of()
{
    std::vector<std::int64_t> lengths, places;
    std::vector<type> members;
    each_field<T>([&]<class F>(std::type_identity<F>, std::size_t offset, const std::string&) {
        lengths.push_back(static_cast<std::int64_t>(elements<F>::count));
        places.push_back(static_cast<std::int64_t>(offset));
        members.push_back(type_of<typename elements<F>::type>());
    });
    type all = type::structure(lengths, places, members);
    const auto bounds = all.info();
    constexpr auto size = static_cast<std::int64_t>(sizeof(T));
    return bounds.lb == 0 && bounds.extent == size ? all : type::resized(all, 0, size);
}

template <class T>
type type_of()
{
    if constexpr (elements<T>::count != 1 || !std::same_as<T, typename elements<T>::type>)
        return type::contiguous(static_cast<std::int64_t>(elements<T>::count), type_of<typename elements<T>::type>());
    else if constexpr (basic_code<T>() != 0)
        return type::basic(basic_code<T>());
    else {
        static_assert(!std::is_pointer_v<T> && !std::is_reference_v<T> && !std::is_union_v<T>,
                      "pointers, references and unions are no data that another program can read");
        static const type made = structure_of<T>();
        return made;
    }
}

// The fields with constants, in the order of the type map.
struct value_list {
    std::vector<dtype_values> fields;
    std::vector<std::unique_ptr<std::string>> names;
    std::vector<std::unique_ptr<std::vector<std::uint64_t>>> values;
    std::uint64_t element = 0;

    template <class T>
    void add(const std::string& path)
    {
        using one = typename elements<T>::type;
        constexpr std::size_t count = elements<T>::count;
        if constexpr (std::same_as<one, bool> || has_values<one>) {
            auto list = std::make_unique<std::vector<std::uint64_t>>();
            if constexpr (has_values<one>)
                for (one value : enumerators<one>::values)
                    list->push_back(static_cast<std::uint64_t>(static_cast<std::underlying_type_t<one>>(value)));
            else
                *list = {0, 1};
            names.push_back(std::make_unique<std::string>(path));
            fields.push_back({element, count, names.back()->data(), names.back()->size(), list->data(), list->size()});
            values.push_back(std::move(list));
            element += count;
        } else if constexpr (basic_code<one>() != 0) {
            element += count;
        } else {
            for (std::size_t i = 0; i < count; i++) {
                const std::string here = count == 1 ? path : path + '[' + std::to_string(i) + ']';
                each_field<one>([&]<class F>(std::type_identity<F>, std::size_t, const std::string& name) {
                    add<F>(here.empty() ? name : here + '.' + name);
                });
            }
        }
    }
};

template <class R>
using value_of = std::ranges::range_value_t<R>;

// An array, a vector or a span of items that can be written.
template <class R>
concept writable = std::ranges::contiguous_range<R> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

// The items of an array, a vector or a span.
template <class R>
std::span<const value_of<R>> items_of(const R& items)
{
    return items;
}

} // namespace detail

// The type of `T`: a number, an enumeration, an array, a plain aggregate of these, or a class with DTYPE_FIELDS.
template <class T>
type of()
{
    return detail::type_of<std::remove_cv_t<T>>();
}

// The same, committed, with checks of every `bool` and every enumeration with DTYPE_ENUM.
template <class T>
const committed& committed_of()
{
    static const committed made = [] {
        detail::value_list list;
        list.add<std::remove_cv_t<T>>("");
        return committed(of<T>()).checked(list.fields);
    }();
    return made;
}

// ---- Packing -----------------------------------------------------------------------------------------------------------------

template <class T>
std::size_t packed_size(std::size_t count)
{
    return committed_of<T>().packed_size(count);
}

// Packs to the front of `out`; returns the number of bytes.
template <std::ranges::contiguous_range R>
std::size_t pack_into(const R& items, std::span<std::byte> out)
{
    const auto all = detail::items_of(items);
    return committed_of<detail::value_of<R>>().pack(all.data(), all.size(), out, all.size_bytes());
}

template <std::ranges::contiguous_range R>
std::vector<std::byte> pack(const R& items)
{
    std::vector<std::byte> bytes(packed_size<detail::value_of<R>>(std::ranges::size(items)));
    pack_into(items, bytes);
    return bytes;
}

// Unpacks exactly as many items as there are; padding is unchanged.
template <detail::writable R>
void unpack_into(std::span<const std::byte> bytes, R&& items)
{
    const std::span<detail::value_of<R>> all(items);
    committed_of<detail::value_of<R>>().unpack(bytes, all.data(), all.size(), all.size_bytes());
}

// As many items as the bytes hold.
template <class T>
std::vector<T> unpack(std::span<const std::byte> bytes)
{
    const std::size_t one = packed_size<T>(1);
    std::vector<T> items(one == 0 ? 0 : bytes.size() / one);
    unpack_into(bytes, items);
    return items;
}

// The packed stream in pieces. The memory must live as long as the packer.
class packer {
public:
    packer(const committed& of, const void* memory, std::size_t count, std::size_t memory_size = DTYPE_UNBOUNDED)
    {
        dtype_packer* out = nullptr;
        check(dtype_packer_new(of.get(), memory, memory_size, count, &out));
        handle_.reset(out);
    }
    template <std::ranges::contiguous_range R>
        requires std::ranges::borrowed_range<R>
    explicit packer(R&& items) : packer(committed_of<detail::value_of<R>>(), detail::items_of(items))
    {
    }
    // The next bytes; returns their number, 0 at the end.
    std::size_t pack(std::span<std::byte> out)
    {
        std::size_t packed = 0;
        check(dtype_packer_pack(handle_.get(), out.data(), out.size(), &packed));
        return packed;
    }
    void seek(std::uint64_t position) { check(dtype_packer_seek(handle_.get(), position)); }
    std::uint64_t position() const { return where().first; }
    std::uint64_t remaining() const { return where().second; }

private:
    template <class T>
    packer(const committed& of, std::span<const T> items) : packer(of, items.data(), items.size(), items.size_bytes())
    {
    }
    std::pair<std::uint64_t, std::uint64_t> where() const
    {
        std::pair<std::uint64_t, std::uint64_t> both;
        check(dtype_packer_where(handle_.get(), &both.first, &both.second));
        return both;
    }
    detail::unique<dtype_packer, dtype_packer_release> handle_;
};

class unpacker {
public:
    unpacker(const committed& of, void* memory, std::size_t count, std::size_t memory_size = DTYPE_UNBOUNDED)
    {
        dtype_unpacker* out = nullptr;
        check(dtype_unpacker_new(of.get(), memory, memory_size, count, &out));
        handle_.reset(out);
    }
    template <detail::writable R>
        requires std::ranges::borrowed_range<R>
    explicit unpacker(R&& items) : unpacker(committed_of<detail::value_of<R>>(), std::span<detail::value_of<R>>(items))
    {
    }
    std::size_t unpack(std::span<const std::byte> bytes)
    {
        std::size_t unpacked = 0;
        check(dtype_unpacker_unpack(handle_.get(), bytes.data(), bytes.size(), &unpacked));
        return unpacked;
    }
    void seek(std::uint64_t position) { check(dtype_unpacker_seek(handle_.get(), position)); }
    std::uint64_t remaining() const
    {
        std::uint64_t remaining = 0;
        check(dtype_unpacker_where(handle_.get(), nullptr, &remaining));
        return remaining;
    }

private:
    template <class T>
    unpacker(const committed& of, std::span<T> items) : unpacker(of, items.data(), items.size(), items.size_bytes())
    {
    }
    detail::unique<dtype_unpacker, dtype_unpacker_release> handle_;
};

// ---- Columns -----------------------------------------------------------------------------------------------------------------

// The columns of a type: one for each field of a struct.
class columns {
public:
    explicit columns(const type& of)
    {
        dtype_columns* out = nullptr;
        check(dtype_columns_new(of.get(), &out));
        handle_.reset(out);
    }
    std::size_t size() const
    {
        std::size_t number = 0;
        check(dtype_columns_number(handle_.get(), &number));
        return number;
    }
    // Bytes of one record in a column.
    std::size_t width(std::size_t column) const
    {
        std::size_t bytes = 0;
        check(dtype_columns_width(handle_.get(), column, &bytes));
        return bytes;
    }
    // Copies records to columns, or back. A column without an address is left out.
    template <std::ranges::contiguous_range R>
    void split(const R& items, std::span<const std::span<std::byte>> arrays) const
    {
        const list to(arrays);
        const auto all = detail::items_of(items);
        check(dtype_columns_split(handle_.get(), all.data(), all.size_bytes(), all.size(), to.addresses.data(), to.sizes.data(),
                                  arrays.size()));
    }
    template <detail::writable R>
    void join(std::span<const std::span<std::byte>> arrays, R&& items) const
    {
        const list from(arrays);
        const std::span<detail::value_of<R>> all(items);
        check(dtype_columns_join(handle_.get(), from.addresses.data(), from.sizes.data(), arrays.size(), all.data(),
                                 all.size_bytes(), all.size()));
    }

private:
    struct list {
        explicit list(std::span<const std::span<std::byte>> arrays)
        {
            for (const auto& array : arrays) {
                addresses.push_back(array.data());
                sizes.push_back(array.size());
            }
        }
        std::vector<void*> addresses;
        std::vector<std::size_t> sizes;
    };
    detail::unique<dtype_columns, dtype_columns_release> handle_;
};

// ---- Frames ------------------------------------------------------------------------------------------------------------------

// The frame of these records, which a program in Rust reads with dtype-message.
template <std::ranges::contiguous_range R>
std::vector<std::byte> encode(const R& items, dtype_framing framing = {})
{
    const auto all = detail::items_of(items);
    return detail::filled<std::vector<std::byte>>([&](auto out, auto room, auto size) {
        return dtype_encode(committed_of<detail::value_of<R>>().get(), all.data(), all.size_bytes(), all.size(), &framing, out,
                            room, size);
    });
}

// A verified frame.
class frame {
public:
    explicit frame(dtype_received* owned) noexcept : handle_(owned) {}
    dtype_received_info info() const
    {
        dtype_received_info found;
        check(dtype_received_get_info(handle_.get(), &found));
        return found;
    }
    template <class T>
    std::vector<T> unpack() const
    {
        // Memory is taken for records that are in the frame, and not for those that it announces.
        const auto found = info();
        std::vector<T> items(found.payload_size / std::max<std::size_t>(packed_size<T>(1), 1));
        std::size_t count = 0;
        check(dtype_received_unpack(handle_.get(), committed_of<T>().get(), items.data(), items.size() * sizeof(T), items.size(),
                                 &count));
        items.resize(count);
        return items;
    }

private:
    detail::unique<dtype_received, dtype_received_release> handle_;
};

// Finds the frames in bytes that arrive in pieces of any size.
class decoder {
public:
    decoder() : decoder(nullptr) {}
    explicit decoder(const dtype_limits& limits) : decoder(&limits) {}

    // Takes bytes from the front of `bytes`, up to the end of a frame, and returns the frame if it is whole.
    std::optional<frame> feed(std::span<const std::byte>& bytes)
    {
        std::size_t taken = 0;
        dtype_received* out = nullptr;
        const dtype_error code = dtype_decoder_feed(handle_.get(), bytes.data(), bytes.size(), &taken, &out);
        bytes = bytes.subspan(taken);
        check(code);
        return out == nullptr ? std::nullopt : std::optional<frame>(std::in_place, out);
    }
    void finish() const { check(dtype_decoder_finish(handle_.get())); }

private:
    explicit decoder(const dtype_limits* limits)
    {
        dtype_decoder* out = nullptr;
        check(dtype_decoder_new(limits, &out));
        handle_.reset(out);
    }
    detail::unique<dtype_decoder, dtype_decoder_release> handle_;
};

// ---- MPI, if mpi.h was included before --------------------------------------------------------------------------------------

#ifdef MPI_VERSION
namespace detail {

inline void check_mpi(int code)
{
    if (code != MPI_SUCCESS)
        throw std::runtime_error("an MPI call failed with the code " + std::to_string(code));
}

template <class T>
MPI_Datatype mpi_basic()
{
    switch (basic_code<T>()) {
    case DTYPE_BOOL: return MPI_CXX_BOOL;
    case DTYPE_C_CHAR: return MPI_CHAR;
    case DTYPE_C_SCHAR: return MPI_SIGNED_CHAR;
    case DTYPE_C_UCHAR: return MPI_UNSIGNED_CHAR;
    case DTYPE_BYTE: return MPI_BYTE;
    case DTYPE_C_WCHAR: return MPI_WCHAR;
    case DTYPE_U8: return MPI_UINT8_T;
    case DTYPE_U16: return MPI_UINT16_T;
    case DTYPE_U32: return MPI_UINT32_T;
    case DTYPE_C_SHORT: return MPI_SHORT;
    case DTYPE_C_USHORT: return MPI_UNSIGNED_SHORT;
    case DTYPE_C_INT: return MPI_INT;
    case DTYPE_C_UINT: return MPI_UNSIGNED;
    case DTYPE_C_LONG: return MPI_LONG;
    case DTYPE_C_ULONG: return MPI_UNSIGNED_LONG;
    case DTYPE_C_LONGLONG: return MPI_LONG_LONG;
    case DTYPE_C_ULONGLONG: return MPI_UNSIGNED_LONG_LONG;
    case DTYPE_F32: return MPI_FLOAT;
    case DTYPE_F64: return MPI_DOUBLE;
    case DTYPE_C_LONGDOUBLE: return MPI_LONG_DOUBLE;
    case DTYPE_C32: return MPI_CXX_FLOAT_COMPLEX;
    case DTYPE_C64: return MPI_CXX_DOUBLE_COMPLEX;
    default: return MPI_CXX_LONG_DOUBLE_COMPLEX;
    }
}

template <class T>
MPI_Datatype mpi_of();

template <class T>
MPI_Datatype mpi_structure()
{
    std::vector<int> lengths;
    std::vector<MPI_Aint> places;
    std::vector<MPI_Datatype> members;
    each_field<T>([&]<class F>(std::type_identity<F>, std::size_t offset, const std::string&) {
        lengths.push_back(static_cast<int>(elements<F>::count));
        places.push_back(static_cast<MPI_Aint>(offset));
        members.push_back(mpi_of<typename elements<F>::type>());
    });
    MPI_Datatype all, whole;
    const int number = static_cast<int>(lengths.size());
    check_mpi(MPI_Type_create_struct(number, lengths.data(), places.data(), members.data(), &all));
    check_mpi(MPI_Type_create_resized(all, 0, static_cast<MPI_Aint>(sizeof(T)), &whole));
    check_mpi(MPI_Type_free(&all));
    check_mpi(MPI_Type_commit(&whole));
    return whole;
}

template <class T>
MPI_Datatype mpi_array()
{
    MPI_Datatype all;
    check_mpi(MPI_Type_contiguous(static_cast<int>(elements<T>::count), mpi_of<typename elements<T>::type>(), &all));
    check_mpi(MPI_Type_commit(&all));
    return all;
}

template <class T>
MPI_Datatype mpi_of()
{
    if constexpr (elements<T>::count != 1 || !std::same_as<T, typename elements<T>::type>) {
        static const MPI_Datatype made = mpi_array<T>();
        return made;
    } else if constexpr (basic_code<T>() != 0)
        return mpi_basic<T>();
    else {
        static const MPI_Datatype made = mpi_structure<T>();
        return made;
    }
}

} // namespace detail

// The committed MPI datatype of `T`, made once, between MPI_Init and MPI_Finalize. It is never freed.
template <class T>
MPI_Datatype mpi()
{
    return detail::mpi_of<std::remove_cv_t<T>>();
}
#endif

} // namespace dtype

// ---- Fields and values by hand -----------------------------------------------------------------------------------------------

#define DTYPE_PARENS_ ()
#define DTYPE_EXPAND_(...) DTYPE_EXPAND3_(DTYPE_EXPAND3_(DTYPE_EXPAND3_(DTYPE_EXPAND3_(__VA_ARGS__))))
#define DTYPE_EXPAND3_(...) DTYPE_EXPAND2_(DTYPE_EXPAND2_(DTYPE_EXPAND2_(DTYPE_EXPAND2_(__VA_ARGS__))))
#define DTYPE_EXPAND2_(...) DTYPE_EXPAND1_(DTYPE_EXPAND1_(DTYPE_EXPAND1_(DTYPE_EXPAND1_(__VA_ARGS__))))
#define DTYPE_EXPAND1_(...) __VA_ARGS__
#define DTYPE_EACH_(MACRO, ...) __VA_OPT__(DTYPE_EXPAND_(DTYPE_EACH_ONE_(MACRO, __VA_ARGS__)))
#define DTYPE_EACH_ONE_(MACRO, FIRST, ...) MACRO(FIRST) __VA_OPT__(DTYPE_EACH_AGAIN_ DTYPE_PARENS_(MACRO, __VA_ARGS__))
#define DTYPE_EACH_AGAIN_() DTYPE_EACH_ONE_
#define DTYPE_NAME_(FIELD) #FIELD,
#define DTYPE_VISIT_(FIELD)                                                                                                      \
    visit(std::type_identity<std::remove_cv_t<decltype(described_::FIELD)>>(), offsetof(described_, FIELD), std::string(#FIELD));

// The fields of a class that are part of its type, in this order.
#define DTYPE_FIELDS(TYPE, ...)                                                                                                  \
    template <>                                                                                                                  \
    struct dtype::described<TYPE> {                                                                                              \
        using described_ = TYPE;                                                                                                 \
        static constexpr const char* names[] = {DTYPE_EACH_(DTYPE_NAME_, __VA_ARGS__) nullptr};                                  \
        template <class Visit>                                                                                                   \
        static void each(Visit& visit)                                                                                           \
        {                                                                                                                        \
            static_assert(std::is_standard_layout_v<TYPE>, "the offsets of these fields are not fixed");                         \
            DTYPE_EACH_(DTYPE_VISIT_, __VA_ARGS__)                                                                               \
        }                                                                                                                        \
    };

// The values of an enumeration.
#define DTYPE_ENUM(TYPE, ...)                                                                                                    \
    template <>                                                                                                                  \
    struct dtype::enumerators<TYPE> {                                                                                            \
        static constexpr TYPE values[] = {__VA_ARGS__};                                                                          \
    };

#endif // DTYPE_HPP
