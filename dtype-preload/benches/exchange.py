"""One-way times of NumPy arrays of records between two ranks, in the rows of exchange.c.

Argument: seconds for each row.
"""

import sys
import time

import numpy as np
from mpi4py import MPI
from mpi4py.util.dtlib import from_numpy_dtype

DTYPE = np.dtype([("key", "i4"), ("value", "f8"), ("flag", "i1"), ("weight", "f4")], align=True)


def ping_pong(comm, mine, theirs, kind, rounds):
    start = time.perf_counter()
    for _ in range(rounds):
        if comm.rank == 0:
            comm.Send([mine, len(mine), kind], 1)
            comm.Recv([theirs, len(theirs), kind], 1)
        else:
            comm.Recv([theirs, len(theirs), kind], 0)
            comm.Send([mine, len(mine), kind], 0)
    return (time.perf_counter() - start) / (2 * rounds)


def main():
    comm = MPI.COMM_WORLD
    budget = float(sys.argv[1])
    kind = from_numpy_dtype(DTYPE).Commit()
    for count in (16, 1000, 100_000):
        mine, theirs = np.zeros(count, DTYPE), np.zeros(count, DTYPE)
        mine["key"] = np.arange(count)
        mine["value"] = mine["key"] * 0.5
        first = ping_pong(comm, mine, theirs, kind, 2)
        if (theirs != mine).any():
            sys.exit(f"{count} records differ")
        # Both ranks need the same number of rounds.
        rounds = comm.bcast(max(1, int(budget / 100 / first)))
        samples = max(3, int(budget / (first * 2 * rounds)))
        samples = comm.bcast(samples)
        best = min(ping_pong(comm, mine, theirs, kind, rounds) for _ in range(samples))
        if comm.rank == 0:
            print(f"send {kind.Get_size() * count} {best * 1e9:.1f} {{i32,f64,i8,f32}} x {count}, mpi4py", flush=True)
    kind.Free()


if __name__ == "__main__":
    main()
