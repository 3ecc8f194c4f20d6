/* Commits a type, unless there is an argument. Knows no library's header. */

int MPI_Init(int *, char ***);
int MPI_Type_commit(void *);

int main(int argc, char **argv) {
    int type = 1;
    MPI_Init(&argc, &argv);
    return argc > 1 ? 0 : MPI_Type_commit(&type);
}
