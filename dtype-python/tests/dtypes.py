"""Random dtypes and arrays, and what packing means, said in the simplest way."""

import numpy as np
from hypothesis import strategies as st

SCALARS = (
    ["?", "i1", "u1", "V0", "V1", "V7", "S0", "S1", "S5"]
    + [order + kind for order in "<>" for kind in ["i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16", "U0", "U1", "U3"]]
    + [f"{order}{kind}8[{unit}]" for order in "<>" for kind in "mM" for unit in ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "25s"]]
    + ["<M8", ">m8", "g", "G"]
)
scalars = st.sampled_from(SCALARS).map(np.dtype)
names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=4)


@st.composite
def structures(draw, inner, overlap=False):
    count = draw(st.integers(1, 5))
    fields = [draw(inner) for _ in range(count)]
    unique = draw(st.lists(names, min_size=count, max_size=count, unique=True))
    if draw(st.booleans()):
        titles = [f"title of {name}" if draw(st.booleans()) else None for name in unique]
        return np.dtype({"names": unique, "formats": fields, "titles": titles}, align=draw(st.booleans()))
    offsets, end = [], 0
    for field in fields:
        offsets.append(draw(st.integers(0, 12)) if overlap else end + draw(st.integers(0, 9)))
        end = max(end, offsets[-1] + field.itemsize)
    order = draw(st.permutations(range(count)))
    pick = lambda all: [all[index] for index in order]
    return np.dtype({"names": unique, "formats": pick(fields), "offsets": pick(offsets), "itemsize": end + draw(st.integers(0, 9))})


def subarrays(inner):
    shapes = st.lists(st.integers(0, 3), min_size=1, max_size=2).map(tuple)
    # NumPy has no array of the unsized types.
    return st.builds(lambda element, shape: np.dtype((element, shape)), inner.filter(lambda one: one.itemsize), shapes)


def dtypes(overlap=False):
    values = st.recursive(scalars, lambda inner: structures(inner, overlap) | subarrays(inner), max_leaves=6)
    # An array has no dtype with a shape.
    return values.filter(lambda dtype: dtype.subdtype is None) | structures(values, overlap)


@st.composite
def arrays(draw, dtype, writable=False):
    """An array of any bytes with up to three axes, and any strides."""
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=3)))
    whole = tuple(draw(st.integers(1, 3)) * length + draw(st.integers(0, 2)) for length in shape)
    size = int(np.prod(whole, dtype=int)) * dtype.itemsize
    seed = draw(st.integers(0, 2**32 - 1))
    raw = np.random.default_rng(seed).integers(0, 256, size, "u1")
    a = np.ndarray(whole, dtype, raw.data if size else b"")
    a = a[tuple(slice(None, None, draw(st.sampled_from([1, 2, -1]))) for _ in shape)] if shape else a
    a = a[tuple(slice(0, length) for length in shape)] if shape else a
    a = a.transpose(draw(st.permutations(range(a.ndim))))
    if not writable and a.ndim and draw(st.integers(0, 4)) == 0:
        a = np.broadcast_to(a, (2, *a.shape))
    return a


def packed_item(item, dtype):
    """The bytes of an item's values, in the order of the fields."""
    if dtype.subdtype is not None:
        element, shape = dtype.subdtype
        count = int(np.prod(shape, dtype=int))
        size = element.itemsize
        return b"".join(packed_item(item[i * size : (i + 1) * size], element) for i in range(count))
    if dtype.names is None:
        return item
    parts = []
    for name in dtype.names:
        field, offset = dtype.fields[name][:2]
        parts.append(packed_item(item[offset : offset + field.itemsize], field))
    return b"".join(parts)


def memory(a):
    """The bytes of an array's items in C order, padding included."""
    size = a.dtype.itemsize
    return a.view((np.void, size)).tobytes() if size else b""


def packed(a):
    """The packed bytes of an array's items."""
    size, raw = a.dtype.itemsize, memory(a)
    return b"".join(packed_item(raw[i * size : (i + 1) * size], a.dtype) for i in range(a.size))


def stale(a):
    """Fills an array's memory, padding included, with bytes that stand out."""
    a.view((np.void, a.dtype.itemsize))[...] = b"\xaa" * a.dtype.itemsize
