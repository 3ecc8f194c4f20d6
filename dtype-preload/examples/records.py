"""Two ranks exchange a NumPy array of records with padding, as it is in memory.

    mpirun -n 2 python3 records.py
    LD_PRELOAD=target/release/libdtype_preload.so DTYPE_PRELOAD=stats mpirun -n 2 python3 records.py
"""

import sys
import time

import numpy as np
from mpi4py import MPI
from mpi4py.util.dtlib import from_numpy_dtype

ROUNDS = 20


def main():
    comm = MPI.COMM_WORLD
    rank, other = comm.rank, 1 - comm.rank
    dtype = np.dtype([("key", "i4"), ("value", "f8"), ("flag", "i1"), ("weight", "f4")], align=True)
    mine, theirs = np.zeros(100_000, dtype), np.zeros(100_000, dtype)
    mine["key"] = np.arange(len(mine)) + rank
    mine["value"] = mine["key"] * 0.5
    mine["weight"] = mine["key"] % 7
    kind = from_numpy_dtype(dtype).Commit()
    start = time.perf_counter()
    for _ in range(ROUNDS):
        comm.Sendrecv([mine, len(mine), kind], other, 0, [theirs, len(theirs), kind], other, 0)
    duration = (time.perf_counter() - start) / ROUNDS
    expected = np.arange(len(theirs)) + other
    right = (
        (theirs["key"] == expected).all()
        and (theirs["value"] == expected * 0.5).all()
        and (theirs["weight"] == expected % 7).all()
    )
    right = comm.allreduce(bool(right), MPI.LAND)
    kind.Free()
    if rank == 0:
        print(f"{len(mine)} records each way,", "right" if right else "WRONG")
        print(f"{duration * 1e3:.2f} milliseconds", file=sys.stderr)
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
