"""Reads what records.c wrote."""

import sys

import numpy as np

records = np.load(sys.argv[1])
assert records.dtype.names == ("time", "valid", "sensor", "values"), records.dtype
assert len(records) == 1000 and records.itemsize == 25, records.dtype
assert (records["time"] == np.arange(1000) * 0.5).all()
assert (records["valid"] == (np.arange(1000) % 3 == 0)).all()
assert (records["sensor"] == np.arange(1000)).all()
assert (records["values"][:, 2] == np.arange(1000)).all()
print(records[:3])
