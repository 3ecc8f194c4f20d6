/* Two processes exchange the borders of a grid over a socket, without copying what they send: the pieces of the border column go
 * to `writev` where they lie in the grid. */

#define _DEFAULT_SOURCE
#include <dtype.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS = 1000, COLUMNS = 64, PIECES = 64 };

/* A grid with a column of the neighbour on either side. */
static double grid[ROWS][COLUMNS + 2];

static void check(dtype_error error)
{
    if (error == DTYPE_OK)
        return;
    fprintf(stderr, "%s: %s\n", dtype_error_text(error), dtype_last_message());
    exit(1);
}

/* One column of the grid. */
static dtype_committed *column_type(void)
{
    dtype_type *element, *column;
    dtype_committed *committed;
    check(dtype_type_basic(DTYPE_F64, &element));
    check(dtype_type_vector(ROWS, 1, COLUMNS + 2, element, &column));
    check(dtype_commit(column, &committed));
    dtype_type_release(element);
    dtype_type_release(column);
    return committed;
}

static void send_column(int to, const dtype_committed *type, const double *column)
{
    size_t size;
    check(dtype_packed_size(type, 1, &size));
    for (uint64_t position = 0; position < size;) {
        struct iovec pieces[PIECES];
        size_t number;
        uint64_t next;
        check(dtype_segments(type, column, DTYPE_UNBOUNDED, 1, position, pieces, PIECES, &number, &next));
        const ssize_t written = writev(to, pieces, (int)number);
        if (written < 0) {
            perror("writev");
            exit(1);
        }
        /* A socket may take fewer bytes: the next look-up begins behind them. */
        position += (uint64_t)written;
    }
}

static void receive_column(int from, const dtype_committed *type, double *column)
{
    dtype_unpacker *unpacker;
    check(dtype_unpacker_new(type, column, DTYPE_UNBOUNDED, 1, &unpacker));
    uint64_t remaining;
    check(dtype_unpacker_where(unpacker, NULL, &remaining));
    while (remaining > 0) {
        char bytes[1000];
        const ssize_t came = read(from, bytes, remaining < sizeof bytes ? (size_t)remaining : sizeof bytes);
        if (came <= 0) {
            perror("read");
            exit(1);
        }
        size_t unpacked;
        check(dtype_unpacker_unpack(unpacker, bytes, (size_t)came, &unpacked));
        remaining -= unpacked;
    }
    dtype_unpacker_release(unpacker);
}

/* The left process owns the columns before those of the right one. */
static int run(int socket, int is_right)
{
    for (int row = 0; row < ROWS; row++)
        for (int column = 1; column <= COLUMNS; column++)
            grid[row][column] = row + 10000.0 * (column + is_right * COLUMNS);
    dtype_committed *type = column_type();
    double *border = is_right ? &grid[0][1] : &grid[0][COLUMNS];
    double *halo = is_right ? &grid[0][0] : &grid[0][COLUMNS + 1];
    if (is_right)
        send_column(socket, type, border);
    receive_column(socket, type, halo);
    if (!is_right)
        send_column(socket, type, border);
    dtype_committed_release(type);
    const int theirs = is_right ? COLUMNS : COLUMNS + 1;
    int wrong = 0;
    for (int row = 0; row < ROWS; row++)
        wrong += halo[row * (COLUMNS + 2)] != row + 10000.0 * theirs;
    return wrong;
}

int main(void)
{
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
        return 1;
    const pid_t child = fork();
    if (child < 0)
        return 1;
    if (child == 0)
        return run(sockets[1], 1) != 0;
    const int wrong = run(sockets[0], 0);
    int status = 1;
    if (waitpid(child, &status, 0) != child || status != 0 || wrong != 0) {
        fprintf(stderr, "%d values are wrong here\n", wrong);
        return 1;
    }
    printf("%d values from each neighbour\n", ROWS);
    return 0;
}
