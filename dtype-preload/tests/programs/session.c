/* A receive that the program frees in a session: what was received is there when the session has ended. */

#include <mpi.h>
#include <stdio.h>

enum { COUNT = 1000 };
struct record {
    char kind;
    double value;
};
static struct record from[COUNT], to[COUNT];

int main(void) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm self;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://SELF", &group);
    MPI_Comm_create_from_group(group, "self", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &self);
    MPI_Group_free(&group);
    MPI_Datatype packed, type;
    MPI_Type_create_struct(2, (const int[]){1, 1}, (const MPI_Aint[]){0, 8}, (const MPI_Datatype[]){MPI_CHAR, MPI_DOUBLE},
                           &packed);
    MPI_Type_create_resized(packed, 0, sizeof *from, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&packed);
    for (int i = 0; i < COUNT; i++)
        from[i].kind = (char)i, from[i].value = i + 0.5;
    MPI_Request request;
    MPI_Irecv(to, COUNT, type, 0, 1, self, &request);
    MPI_Request_free(&request);
    MPI_Send(from, COUNT, type, 0, 1, self);
    MPI_Type_free(&type);
    MPI_Comm_free(&self);
    MPI_Session_finalize(&session);
    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += to[i].kind != from[i].kind || to[i].value != from[i].value;
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
