"""The package beside NumPy and pandas, in one run. The last lines are the table of the package's page and of the book.

    python bench/beside_numpy.py            # the whole table
    python bench/beside_numpy.py --check    # small, and fails if the package is much slower than it is on any machine

All are measured in turns, and the least time of many rounds counts: other programs only make a round longer. Where NumPy has
several ways, the fastest one counts.
"""

import argparse
import math
import sys
import time

import dtype
import numpy as np
from numpy.lib.recfunctions import repack_fields

try:
    import pandas
except ImportError:
    pandas = None

KINDS = ["i4", "f8", "i1", "f4", "u2"] * 4
LAYOUTS = {
    "{i32, f64, i8, f32}": [("a", "i4"), ("b", "f8"), ("c", "i1"), ("d", "f4")],
    "{u8, f64}": [("a", "u1"), ("b", "f8")],
    "20 fields": [(f"f{i}", kind) for i, kind in enumerate(KINDS)],
    "{f64, f64}, contiguous": [("x", "f8"), ("y", "f8")],
}
# How many times faster than the other a cell should be, by the number of items.
MOVES = {1_000: 4, 100_000: 10, 1_000_000: 6}
ASKED = {"pack": MOVES, "unpack": MOVES, "copy": MOVES, "columns": dict.fromkeys(MOVES, 5), "records": dict.fromkeys(MOVES, 5)}


def times(candidates, least_seconds):
    """The least time of each candidate in rounds of all of them."""
    best = [math.inf] * len(candidates)
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


def cells_of(names, count):
    """For each cell, this package's way, and the others'."""
    a = filled(names, count)
    layout = dtype.Layout(a.dtype)
    packed = layout.pack(a).view(layout.packed)
    raw, bytes_out, items_out, packed_out = packed.view("u1"), np.empty(packed.nbytes, "u1"), np.empty_like(a), np.empty_like(packed)
    swapped = np.empty(count, a.dtype.newbyteorder())
    half = list(a.dtype.names[: max(1, len(a.dtype.names) // 2)])
    some = np.empty(count, np.dtype([(field, a.dtype[field]) for field in half], align=True))
    columns = dtype.columns(a)

    def by_field():
        made = np.empty(count, a.dtype)
        for field in columns:
            made[field] = columns[field]

    cells = {
        "pack": (lambda: layout.pack(a, out=bytes_out), lambda: a.astype(layout.packed), lambda: np.copyto(packed_out, a)),
        "unpack": (lambda: layout.unpack(raw, out=items_out), lambda: packed.astype(a.dtype), lambda: np.copyto(items_out, packed)),
        "copy": (lambda: dtype.copy(a, packed_out), lambda: a.astype(layout.packed), lambda: np.copyto(packed_out, a)),
        "byte order": (lambda: dtype.copy(a, swapped), lambda: a.astype(swapped.dtype), lambda: np.copyto(swapped, a)),
        "half of the fields": (lambda: dtype.copy(a, some), lambda: repack_fields(a[half]), lambda: np.copyto(some, a[half])),
        "pack, new memory": (lambda: layout.pack(a), lambda: a.astype(layout.packed)),
        "unpack, new memory": (lambda: layout.unpack(raw), lambda: packed.astype(a.dtype)),
        "beside a copy and pack": (lambda: layout.pack(a), lambda: (packed.copy(), layout.pack(a, out=bytes_out))),
        "columns": (lambda: dtype.columns(a), lambda: {n: np.ascontiguousarray(a[n]) for n in a.dtype.names}),
        "records": (lambda: dtype.records(columns, aligned=True), by_field),
    }
    if pandas is not None:
        frame = pandas.DataFrame(columns)
        cells["to pandas"] = (lambda: pandas.DataFrame(dtype.columns(a), copy=False), lambda: pandas.DataFrame.from_records(a))
        cells["from pandas"] = (lambda: dtype.records(frame), lambda: frame.to_records(index=False))
    return a.nbytes, cells


def two_digits(ratio):
    return f"{ratio:.{max(0, 1 - math.floor(math.log10(ratio)))}f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--seconds", type=float, default=0.3, help="for each cell")
    arguments = parser.parse_args()
    seconds = 0.1 if arguments.check else arguments.seconds
    print(f"NumPy {np.__version__}; µs, and how many times faster")
    print(f"{'layout':22} {'items':>9}  {'':22} {'others':>10} {'dtype':>10}")
    rows, slow = [], []
    for name, names in LAYOUTS.items():
        for count in [1_000, 100_000] if arguments.check else MOVES:
            size, cells = cells_of(names, count)
            row = {}
            for cell, candidates in cells.items():
                own, *others = times(candidates, seconds)
                ratio = min(others) / own
                row[cell] = own / min(others)
                speed = size / own / 1e9
                print(f"{name:22} {count:9,}  {cell:22} {min(others) * 1e6:10.2f} {own * 1e6:10.2f} {ratio:7.1f} {speed:7.1f} GB/s")
                # Nothing is slower than NumPy by more than 10 %.
                asked = ASKED.get(cell, {}).get(count, 0.9) if "contiguous" not in name else 0.9
                if arguments.check:
                    # Other programs take the caches and the bandwidth meanwhile.
                    asked = 2 if ASKED.get(cell) is MOVES and count == 1_000 else 0.5 if "pandas" not in cell else 0
                if ratio < asked:
                    slow.append(f"{name}, {count} items, {cell}: {ratio:.1f} times as fast, expected {asked}")
            rows.append((name, count, row))
    a, out = filled(LAYOUTS["{u8, f64}"], 1), np.empty(9, "u1")
    layout = dtype.Layout(a.dtype)
    calls = {
        "Layout(a.dtype)": lambda: dtype.Layout(a.dtype),
        "pack, one item": lambda: layout.pack(a, out=out),
        "unpack, one item": lambda: layout.unpack(out, out=a),
        "pack, one item, new": lambda: layout.pack(a),
    }
    for call, taken in zip(calls, times(list(calls.values()), seconds)):
        print(f"{call:22} {taken * 1e9:.0f} ns")
    shown = [cell for cell in rows[0][2] if cell != "beside a copy and pack"]
    print("\n| items | " + " | ".join(shown) + " |\n|---|" + "--:|" * len(shown))
    for name, count, row in rows:
        print(f"| {count:_} of `{name}` | ".replace("_", " ") + " | ".join(two_digits(row[cell]) for cell in shown) + " |")
    if slow:
        print("\n".join(["", "slower than asked:", *slow]))
        sys.exit(1 if arguments.check else 0)


if __name__ == "__main__":
    main()
