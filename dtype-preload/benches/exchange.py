"""One-way times of NumPy arrays of records between two ranks, in the rows of exchange.c.

Arguments: seconds for each row; a part of the names of the rows.
"""

import ctypes
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


def moved():
    """The bytes that dtype-preload has moved so far, if it is loaded and counts."""
    function = getattr(ctypes.CDLL(None), "dtype_preload_moved", None)
    if function is None:
        return 0
    function.restype = ctypes.c_uint64
    return function()


def main():
    comm = MPI.COMM_WORLD
    budget, wanted = float(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    kind = from_numpy_dtype(DTYPE).Commit()
    for count in (16, 1000, 100_000):
        name = f"{{i32,f64,i8,f32}} x {count}, mpi4py"
        if wanted not in name:
            continue
        mine, theirs = np.zeros(count, DTYPE), np.zeros(count, DTYPE)
        mine["key"] = np.arange(count)
        mine["value"] = mine["key"] * 0.5
        before = moved()
        first = ping_pong(comm, mine, theirs, kind, 2)
        if (theirs != mine).any():
            sys.exit(f"{count} records differ")
        # Both ranks need the same number of rounds.
        rounds = comm.bcast(max(1, int(budget / 100 / first)))
        samples = max(3, int(budget / (first * 2 * rounds)))
        samples = comm.bcast(samples)
        best = min(ping_pong(comm, mine, theirs, kind, rounds) for _ in range(samples))
        taken = int(moved() != before)
        if comm.rank == 0:
            print(f"send {kind.Get_size() * count} {best * 1e9:.1f} {taken} {name}", flush=True)
    kind.Free()


if __name__ == "__main__":
    main()
