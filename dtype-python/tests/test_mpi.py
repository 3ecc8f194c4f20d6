"""Datatypes of mpi4py. One process, which sends to itself."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("mpi4py")

PROGRAM = """
import dtype, numpy as np
try:
    from mpi4py import MPI
except (ImportError, RuntimeError) as error:
    print("no MPI:", error)
    raise SystemExit(77)
comm = MPI.COMM_SELF

def sent(a, there, to, here):
    request = comm.Isend([a, there], 0)
    comm.Recv([to, here], 0)
    request.Wait()

inner = np.dtype([("x", "<f4"), ("y", ">i2")], align=True)
kind = np.dtype([("id", "u1"), ("at", inner, (2, 3)), ("t", "<M8[ns]"), ("s", "S5"), ("u", "U2"), ("h", "f2"), ("c", "c16"), ("ok", "?")], align=True)
a = np.frombuffer(np.random.default_rng(1).bytes(50 * kind.itemsize), kind).copy()
a["ok"] = a["id"] > 99
layout, packed = dtype.Layout(kind), dtype.Layout(dtype.Layout(kind).packed)
types = [layout.mpi(), packed.mpi()]
lb, extent = types[0].Get_extent()
assert (lb, extent, types[0].Get_size()) == (0, kind.itemsize, layout.packed_size), (lb, extent)
b = np.zeros(50, packed.dtype)
sent(a, types[0], b, types[1])
assert b.tobytes() == layout.pack(a).tobytes()
c = np.zeros(50, kind)
sent(b, types[1], c, types[0])
assert layout.pack(c).tobytes() == layout.pack(a).tobytes()
d = np.empty(50 * layout.packed_size, "u1")
sent(layout.pack(a), MPI.BYTE, d, MPI.BYTE)
assert layout.pack(layout.unpack(d)).tobytes() == layout.pack(a).tobytes()
plain = dtype.Layout(np.dtype([("i", "i4"), ("d", "f8", 2)], align=True)).mpi()
assert plain.Get_envelope() and plain.Pack_size(1, comm) >= 20
x = np.zeros(1, np.dtype([("i", "i4"), ("d", "f8", 2)], align=True))
x["i"], x["d"] = 7, [1.5, 2.5]
y = np.empty(20, "u1")
assert plain.Pack(x, y, 0, comm) == 20 and y.tobytes() == dtype.Layout(x.dtype).pack(x).tobytes()
for one in [*types, plain]:
    one.Free()
"""


def test_items_are_sent_as_they_are():
    # A process of its own: a library that cannot start may end it.
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, env={**os.environ, "OMPI_MCA_rmaps_base_oversubscribe": "1"})
    if done.returncode == 77:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stderr
