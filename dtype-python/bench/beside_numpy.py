"""The package beside NumPy, in one run: each cell of the table is NumPy's time over this package's.

    python bench/beside_numpy.py            # the whole table
    python bench/beside_numpy.py --check    # small, and fails where the package is slower than it should be

Both are measured in turns, and the least time of many rounds counts: other programs only make a round longer.
"""

import argparse
import sys
import time

import dtype
import numpy as np
from numpy.lib.recfunctions import repack_fields

KINDS = ["i4", "f8", "i1", "f4", "u2"] * 4
LAYOUTS = {
    "{i32,f64,i8,f32}": [("a", "i4"), ("b", "f8"), ("c", "i1"), ("d", "f4")],
    "{u8,f64}": [("a", "u1"), ("b", "f8")],
    "20 fields": [(f"f{i}", kind) for i, kind in enumerate(KINDS)],
    "{f64,f64} contiguous": [("x", "f8"), ("y", "f8")],
}


def times(candidates, least_seconds):
    """The least time of each candidate in rounds of all of them."""
    best = [float("inf")] * len(candidates)
    repeats = []
    for call in candidates:
        call()
        start = time.perf_counter()
        call()
        repeats.append(max(1, int(2e-4 / max(time.perf_counter() - start, 1e-7))))
    end = time.perf_counter() + least_seconds
    rounds = 0
    while time.perf_counter() < end or rounds < 5:
        rounds += 1
        for index, call in enumerate(candidates):
            many = range(repeats[index])
            start = time.perf_counter()
            for _ in many:
                call()
            best[index] = min(best[index], (time.perf_counter() - start) / len(many))
    return best


def filled(names, count):
    a = np.zeros(count, np.dtype(names, align=True))
    for index, name in enumerate(a.dtype.names):
        a[name] = np.arange(count) % (100 + index)
    return a


def measure(name, names, count, seconds):
    a = filled(names, count)
    layout = dtype.Layout(a.dtype)
    packed = layout.pack(a).view(layout.packed)
    raw, bytes_out, items_out = packed.view("u1"), np.empty(packed.nbytes, "u1"), np.empty_like(a)
    swapped = np.empty(count, a.dtype.newbyteorder())
    half = list(a.dtype.names[: max(1, len(a.dtype.names) // 2)])
    some = np.empty(count, np.dtype([(field, a.dtype[field]) for field in half], align=True))
    packed_out, aligned = np.empty_like(packed), a.dtype

    def into(dst, src):
        dst[...] = src

    cells = {
        "pack": (lambda: a.astype(layout.packed), lambda: layout.pack(a, out=bytes_out)),
        "unpack": (lambda: packed.astype(aligned), lambda: layout.unpack(raw, out=items_out)),
        "copy": (lambda: a.astype(layout.packed), lambda: dtype.copy(a, packed_out)),
        "copy, new order": (lambda: into(swapped, a), lambda: dtype.copy(a, swapped)),
        "copy, half": (lambda: repack_fields(a[half]), lambda: dtype.copy(a, some)),
        "pack, new memory": (lambda: (packed.copy(), layout.pack(a, out=bytes_out)), lambda: layout.pack(a)),
        "unpack, new memory": (lambda: packed.astype(aligned), lambda: layout.unpack(raw)),
        "columns": (lambda: {n: np.ascontiguousarray(a[n]) for n in a.dtype.names}, lambda: dtype.columns(a)),
    }
    if hasattr(dtype, "columns"):
        columns = dtype.columns(a)

        def by_field():
            made = np.empty(count, aligned)
            for field in columns:
                made[field] = columns[field]

        cells["records"] = (by_field, lambda: dtype.records(columns))
    else:
        del cells["columns"]
    ratios = {}
    for cell, candidates in cells.items():
        numpy_time, own_time = times(candidates, seconds)
        ratios[cell] = numpy_time / own_time
        speed = a.nbytes / own_time / 1e9
        print(f"{name:22} {count:9,}  {cell:18} {numpy_time * 1e6:10.2f} {own_time * 1e6:10.2f} µs {ratios[cell]:7.1f} {speed:7.1f} GB/s")
    return ratios


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--seconds", type=float, default=0.3, help="for each cell")
    arguments = parser.parse_args()
    print(f"NumPy {np.__version__}\n{'layout':22} {'items':>9}  {'':18} {'NumPy':>10} {'dtype':>10}    {'ratio':>7}")
    asked = {1_000: 4, 100_000: 10, 1_000_000: 6}
    slow = []
    for name, names in LAYOUTS.items():
        for count in [1_000, 100_000] if arguments.check else asked:
            ratios = measure(name, names, count, 0.1 if arguments.check else arguments.seconds)
            for cell, ratio in ratios.items():
                # On a loaded machine, half of what a quiet one shows.
                least = asked[count] / 2 if cell in ("pack", "unpack", "copy") and "contiguous" not in name else 0.7
                if ratio < least:
                    slow.append(f"{name}, {count} items, {cell}: {ratio:.1f} times NumPy, expected {least}")
    a, out = filled(LAYOUTS["{u8,f64}"], 1), np.empty(9, "u1")
    layout = dtype.Layout(a.dtype)
    calls = {
        "Layout(a.dtype)": lambda: dtype.Layout(a.dtype),
        "pack, one item": lambda: layout.pack(a, out=out),
        "unpack, one item": lambda: layout.unpack(out, out=a),
        "pack, one item, new": lambda: layout.pack(a),
    }
    for call, taken in zip(calls, times(list(calls.values()), 0.3)):
        print(f"{call:22} {taken * 1e9:.0f} ns")
    if arguments.check and slow:
        sys.exit("\n".join(slow))


if __name__ == "__main__":
    main()
