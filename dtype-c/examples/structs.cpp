// Structs without annotation: packed, sent in frames, and shown.

#include <dtype.hpp>

#include <iostream>

namespace {

enum class unit : std::uint8_t { celsius, pascal, metres = 5 };

struct point {
    double x, y;
};

struct reading {
    point where;
    float values[3];
    unit measured;
    bool valid;
};

} // namespace

// Other values are refused when they are unpacked.
DTYPE_ENUM(unit, unit::celsius, unit::pascal, unit::metres)

int main()
{
    const std::vector<reading> readings(100, {{1, 2}, {3, 4, 5}, unit::pascal, true});
    std::cout << dtype::of<reading>().text();

    auto bytes = dtype::pack(readings);
    std::cout << sizeof(reading) << " bytes in memory, " << bytes.size() / readings.size() << " packed\n";
    if (dtype::unpack<reading>(bytes).back().values[2] != 5)
        return 1;

    bytes[28] = std::byte{3};
    try {
        dtype::unpack<reading>(bytes);
        return 1;
    } catch (const dtype::error& error) {
        std::cout << error.what() << '\n';
    }
    return 0;
}
