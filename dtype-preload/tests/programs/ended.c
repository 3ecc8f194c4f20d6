/* Packs after MPI has ended, by the call that the first argument names. With a second argument, MPI runs in a session. */

#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 1000 };

static double from[2 * COUNT], packed[COUNT];
static MPI_Datatype type;

static void pack(MPI_Comm communicator) {
    int position = 0;
    MPI_Pack(from, 1, type, packed, sizeof packed, &position, communicator);
}

static void pack_external(void) {
    MPI_Aint position = 0;
    MPI_Pack_external("external32", from, 1, type, packed, sizeof packed, &position);
}

static void use(MPI_Comm communicator) {
    MPI_Type_vector(COUNT, 1, 2, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    for (int round = 0; round < 3; round++) {
        pack(communicator);
        pack_external();
    }
}

static void use_session(void) {
#if MPI_VERSION >= 4
    MPI_Session session;
    MPI_Group group;
    MPI_Comm communicator;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "", MPI_INFO_NULL, MPI_ERRORS_RETURN, &communicator);
    use(communicator);
    MPI_Comm_free(&communicator);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
#endif
}

int main(int argc, char **argv) {
    if (argc > 2) {
        use_session();
    } else {
        MPI_Init(&argc, &argv);
        use(MPI_COMM_WORLD);
        MPI_Finalize();
    }
    puts("ended");
    fflush(stdout);
    if (argc > 1 && strcmp(argv[1], "pack") == 0) {
        pack(MPI_COMM_WORLD);
        puts("packed");
    }
    if (argc > 1 && strcmp(argv[1], "external") == 0) {
        pack_external();
        puts("packed");
    }
    return 0;
}
