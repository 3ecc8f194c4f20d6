"""Each copy beside the same copy by NumPy: `astype`, `repack_fields`, and the assignment of field to field.

NumPy reads a text up to its end, quiets some NaNs, and copies the bytes of the padding or leaves them. So the arrays here hold
values, not any bytes, and are compared value by value.
"""

import dtype
import numpy as np
from dtypes import dtypes
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.lib.recfunctions import repack_fields


def values(random, shape, kind):
    """Random values of a dtype without fields."""
    letter, size = kind.kind, kind.itemsize
    if letter == "b":
        return random.random(shape) < 0.5
    if letter in "fc":
        made = random.normal(0, 100, shape)
        return made + 1j * random.normal(0, 100, shape) if letter == "c" else made
    if letter in "US":
        length = size // 4 if letter == "U" else size
        letters = np.array(list("aé𝄞z") if letter == "U" else list("abyz"))
        made = np.full(shape, "", f"U{max(1, length)}")
        for _ in range(int(random.integers(0, length + 1))):
            made = np.char.add(made, letters[random.integers(0, 4, shape)])
        return made
    if letter == "V":
        return random.integers(0, 256, (*shape, size), "u1").view(f"V{size}")[..., 0] if size else None
    raw = random.integers(0, 256, (*shape, size), "u1").view(f"{'u' if letter == 'u' else 'i'}{size}")[..., 0]
    if letter in "mM":
        return raw.view(kind.newbyteorder("="))
    return raw


def fill(a, random):
    """Fills an array with random values, field by field."""
    if a.dtype.names is not None:
        for name in a.dtype.names:
            fill(a[name], random)
    elif a.dtype.itemsize:
        a[...] = values(random, a.shape, a.dtype)


def assign(dst, src):
    """Assigns field to field, by name."""
    if dst.dtype.names is None:
        dst[...] = src
        return
    for name in dst.dtype.names:
        assign(dst[name], src[name])


def same(one, other):
    """Whether two arrays have the same values, whatever their padding and byte order."""
    assert one.shape == other.shape
    if one.dtype.names is not None:
        assert one.dtype.names == other.dtype.names
        return all(same(one[name], other[name]) for name in one.dtype.names)
    if one.dtype.kind in "fcmM":
        return np.array_equal(one, other, equal_nan=True)
    if one.dtype.kind == "V":
        return one.tobytes() == other.tobytes()
    return np.array_equal(one, other)


def has_size(kind):
    """Whether all values in it have bytes: NumPy makes an `S1` of an `S0`, and has no values of a `V0`."""
    element = kind.base
    if element.names is None:
        return element.itemsize > 0
    return all(has_size(element.fields[name][0]) for name in element.names)


def rebuilt(kind, change):
    """A dtype with the same nesting, in which `change` makes new lists of names, dtypes and titles, and a new scalar."""
    if kind.subdtype is not None:
        return np.dtype((rebuilt(kind.subdtype[0], change), kind.subdtype[1]))
    if kind.names is None:
        return change(kind)
    return change([(name, rebuilt(kind.fields[name][0], change), *kind.fields[name][2:]) for name in kind.names])


def structure(fields, align=False):
    titles = [field[2] if len(field) > 2 else None for field in fields]
    names, formats = [field[0] for field in fields], [field[1] for field in fields]
    return np.dtype({"names": names, "formats": formats, "titles": titles}, align=align)


# The number of items without bytes is in no packed bytes.
structures = dtypes().filter(lambda kind: kind.names is not None and has_size(kind) and dtype.Layout(kind).packed_size)


@st.composite
def views(draw, kind):
    """An array of random values with up to three axes: whole, a slice with any steps, or transposed."""
    shape = draw(st.lists(st.integers(0, 5), max_size=3))
    a = np.zeros([3 * length + 2 for length in shape], kind)
    fill(a, np.random.default_rng(draw(st.integers(0, 2**32 - 1))))
    steps = [draw(st.sampled_from([1, 2, 3, -1, -2])) for _ in shape]
    cuts = [slice(1, 1 + length * step, step) if step > 0 else slice(-2, -2 + length * step or None, step) for length, step in zip(shape, steps)]
    a = a[tuple(cuts)] if shape else a
    return a.transpose(draw(st.permutations(range(a.ndim))))


@given(st.data())
def test_pack_is_astype(data):
    a = data.draw(structures.flatmap(views))
    layout = dtype.Layout(a.dtype)
    packed = layout.pack(a)
    assert packed.dtype == np.uint8 and packed.ndim == 1
    assert same(packed.view(layout.packed).reshape(a.shape), a.astype(layout.packed))


@given(st.data())
def test_pack_is_repack_fields(data):
    a = data.draw(structures.flatmap(views))
    # Of an array of structures in an item, `repack_fields` leaves the structures as they are.
    assume(not any("[]" in field.name for field in dtype.Layout(a.dtype).fields))
    theirs = repack_fields(a, recurse=True)
    layout = dtype.Layout(a.dtype)
    assert theirs.dtype == layout.packed
    assert same(layout.pack(a).view(layout.packed).reshape(a.shape), theirs)


@given(st.data())
def test_unpack_is_astype(data):
    a = data.draw(structures.flatmap(views))
    layout = dtype.Layout(a.dtype)
    packed = np.ascontiguousarray(a.astype(layout.packed)).reshape(-1)
    assert same(layout.unpack(packed), a.astype(a.dtype).reshape(-1))
    # `align` makes the same dtype as NumPy's own constructor.
    aligned = rebuilt(a.dtype, lambda part: structure(part, align=True) if isinstance(part, list) else part)
    assert layout.aligned().dtype == aligned
    assert same(layout.unpack(packed, aligned=True), packed.astype(aligned))
    out = np.zeros(a.shape, a.dtype).T
    assert same(layout.unpack(packed.reshape(a.shape).T.copy(), out=out), a.T)


@given(st.data())
def test_copy_is_the_assignment_of_fields(data):
    kind = data.draw(structures)
    a = data.draw(views(kind))

    def other(part):
        if not isinstance(part, list):
            wider = {"i": "i8", "u": "u8", "f": "f8", "c": "c16"}.get(part.kind)
            if wider and np.can_cast(part, wider, "safe") and data.draw(st.booleans()):
                part = np.dtype(wider)
            return part.newbyteorder() if data.draw(st.booleans()) else part
        some = data.draw(st.lists(st.sampled_from(part), min_size=1, unique_by=lambda field: field[0]))
        return structure(some, align=data.draw(st.booleans()))

    into = rebuilt(kind, other)
    dst, expected = np.zeros(a.shape, into), np.zeros(a.shape, into)
    dtype.copy(a, dst)
    assign(expected, a)
    assert same(dst, expected)
    whole = np.zeros(a.shape, dtype.Layout(kind).packed)
    dtype.copy(a, whole)
    assert same(whole, a.astype(whole.dtype))


@given(st.data())
def test_columns_are_the_fields(data):
    a = data.draw(structures.flatmap(views))
    columns = dtype.columns(a)
    assert list(columns) == list(a.dtype.names)
    for name, column in columns.items():
        assert column.flags.c_contiguous and not np.may_share_memory(column, a)
        # NumPy makes new arrays of the type `>m8` as `<m8`, and a field without bytes is a new array.
        assert column.dtype == a[name].dtype or not column.size
        assert same(column, a[name])


@given(st.data(), st.booleans())
def test_records_are_the_assignment_of_fields(data, aligned):
    a = data.draw(structures.flatmap(views).filter(lambda a: a.ndim == 1))
    # As a table has them: not all of them contiguous.
    columns = {name: a[name] if data.draw(st.booleans()) else a[name].copy() for name in a.dtype.names}
    made = dtype.records(columns, aligned=aligned)
    fields = [(name, column.dtype, column.shape[1:]) for name, column in columns.items()]
    expected = np.zeros(len(a), np.dtype(fields, align=aligned))
    for name in columns:
        expected[name] = columns[name]
    assert made.dtype == expected.dtype and same(made, expected)


@given(st.data())
def test_an_item_is_an_array_without_axes(data):
    kind = data.draw(structures)
    a = data.draw(views(kind).filter(lambda a: a.size > 0)).reshape(-1)
    layout = dtype.Layout(kind)
    assert layout.pack(a[0]).tobytes() == layout.pack(a[:1]).tobytes()
    item = np.zeros((), kind)
    assert same(layout.unpack(layout.pack(a[0]), out=item), a[:1].reshape(()))
