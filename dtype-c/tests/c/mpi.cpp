// dtype::mpi<T>(): the MPI datatype of an aggregate. MPI_Pack and the engine make the same bytes.

// Without the C++ bindings that MPI-3 removed.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include "check.h"

#include <dtype.hpp>

namespace {

struct point {
    double x, y;
};
struct record {
    char tag;
    point where[2];
    std::array<short, 3> counts;
    bool valid;
    long number;
};

} // namespace

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    const std::vector<record> all = {{'a', {{1, 2}, {3, 4}}, {5, 6, 7}, true, 8}, {'b', {{9, 10}, {11, 12}}, {13, 14, 15}, false, 16}};
    int size = 0;
    MPI_Aint lb = 1, extent = 0;
    MPI_Type_size(dtype::mpi<record>(), &size);
    MPI_Type_get_extent(dtype::mpi<record>(), &lb, &extent);
    CHECK(static_cast<std::size_t>(size) == dtype::packed_size<record>(1));
    CHECK(lb == 0 && extent == sizeof(record));
    CHECK(dtype::mpi<record>() == dtype::mpi<record>() && dtype::mpi<double>() == MPI_DOUBLE);
    int length = 0, position = 0;
    MPI_Pack_size(2, dtype::mpi<record>(), MPI_COMM_SELF, &length);
    std::vector<std::byte> packed(static_cast<std::size_t>(length));
    MPI_Pack(all.data(), 2, dtype::mpi<record>(), packed.data(), length, &position, MPI_COMM_SELF);
    packed.resize(static_cast<std::size_t>(position));
    CHECK(packed == dtype::pack(all));

    std::vector<record> back(2);
    MPI_Sendrecv(all.data(), 2, dtype::mpi<record>(), 0, 0, back.data(), 2, dtype::mpi<record>(), 0, 0, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
    CHECK(back[1].where[1].y == 12 && back[1].counts[2] == 15 && back[0].valid && back[1].number == 16);
    int grid[3][4] = {{1}};
    MPI_Type_size(dtype::mpi<decltype(grid)>(), &size);
    CHECK(size == 48 && grid[0][0] == 1);
    MPI_Finalize();
    return 0;
}
