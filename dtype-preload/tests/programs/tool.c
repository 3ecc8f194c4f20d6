/* A tool that a program is linked with: says which calls it has seen. */

#include <mpi.h>
#include <stdio.h>

int MPI_Type_commit(MPI_Datatype *type) {
    puts("commit");
    return PMPI_Type_commit(type);
}

int MPI_Pack(const void *from, int count, MPI_Datatype type, void *out, int room, int *position, MPI_Comm comm) {
    puts("pack");
    return PMPI_Pack(from, count, type, out, room, position, comm);
}

int MPI_Type_free(MPI_Datatype *type) {
    puts("free");
    return PMPI_Type_free(type);
}
