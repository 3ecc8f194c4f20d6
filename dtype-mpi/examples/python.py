"""The last rank of a job whose other ranks are `python.rs`: it moves their particles.

    mpirun.openmpi -n 2 target/openmpi/release/examples/python : -n 1 python3 -m mpi4py dtype-mpi/examples/python.py

With `-m mpi4py`, an exception ends all ranks.
"""

import numpy as np
from mpi4py import MPI
from mpi4py.util.dtlib import from_numpy_dtype

# The tags of the messages, as in python.rs.
DTYPE, PARTICLES, MOVED, DAMAGED = range(1, 5)


def receive_text(comm):
    status = MPI.Status()
    comm.Probe(0, DTYPE, status)
    text = bytearray(status.Get_count(MPI.UINT8_T))
    comm.Recv([text, MPI.UINT8_T], 0, DTYPE)
    return text.decode()


def receive(comm, rank, dtype, datatype):
    """The particles of a rank in an array of this dtype."""
    status = MPI.Status()
    comm.Probe(rank, PARTICLES, status)
    particles = np.zeros(status.Get_count(datatype), dtype)
    comm.Recv([particles, len(particles), datatype], rank, PARTICLES)
    return particles


def advance(particles):
    """Advances all particles by one step, as python.rs does."""
    moved = particles["position"] + particles["velocity"]
    beyond = (moved < 0) | (moved >= 1)
    particles["position"] = np.where(beyond, particles["position"], moved)
    particles["velocity"] = np.where(beyond, -particles["velocity"], particles["velocity"])
    particles["history"]["hits"] += beyond.sum(1).astype("u2")
    particles["history"]["reflected"] |= beyond.any(1)


def check(particles, rank):
    number = np.arange(len(particles)) + rank * len(particles)
    if not (particles["number"] == number).all():
        raise ValueError(f"rank {rank}: the numbers are {particles['number']}")
    if not (particles["kind"] == np.where(number % 3, 2, 1)).all():
        raise ValueError(f"rank {rank}: the kinds are {particles['kind']}")


def main():
    comm = MPI.COMM_WORLD
    ranks = range(comm.size - 1)
    # Both programs are parts of one job, so the expressions are as good as code of this file.
    dtypes = [eval(receive_text(comm), {"np": np}) for _ in range(2)]
    datatypes = [from_numpy_dtype(dtype).Commit() for dtype in dtypes]
    steps = np.zeros(1, "u4")
    comm.Recv(steps, 0, DTYPE)
    last = {}
    for step in range(steps[0]):
        dtype, datatype = dtypes[step % 2], datatypes[step % 2]
        for rank in ranks:
            particles = receive(comm, rank, dtype, datatype)
            check(particles, rank)
            advance(particles)
            comm.Send([particles, len(particles), datatype], rank, MOVED)
            last[rank] = particles, datatype
    for rank in ranks:
        particles, datatype = last.get(rank, (np.zeros(1, dtypes[0]), datatypes[0]))
        particles["kind"] = 1
        particles["history"]["reflected"].view("u1")[len(particles) // 2] = 2
        comm.Send([particles, len(particles), datatype], rank, DAMAGED)
    for datatype in datatypes:
        datatype.Free()


if __name__ == "__main__":
    main()
