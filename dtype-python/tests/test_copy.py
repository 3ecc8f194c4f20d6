"""`copy`, `columns` and `records`, compared with NumPy."""

import dtype
import numpy as np
import pytest
from dtypes import arrays, dtypes, packed, scalars, stale
from hypothesis import assume, given
from hypothesis import strategies as st


def assigned(a, dst):
    """What NumPy makes of it, field by field."""
    if dst.dtype.names is None:
        np.copyto(dst, a, casting="safe")
        return
    for name in dst.dtype.names:
        assigned(a[name], dst[name])


@st.composite
def relatives(draw, kind, swaps=True):
    """A dtype with some of the fields of another one, in another order, at other places, perhaps in the other byte order."""
    if kind.subdtype is not None:
        return np.dtype((draw(relatives(kind.subdtype[0], swaps)), kind.subdtype[1]))
    if kind.names is None:
        return kind.newbyteorder() if swaps and draw(st.booleans()) else kind
    names = draw(st.lists(st.sampled_from(kind.names), unique=True, min_size=1))
    fields = [draw(relatives(kind.fields[name][0], swaps)) for name in names]
    offsets, end = [], 0
    for field in fields:
        offsets.append(end + draw(st.integers(0, 9)))
        end = offsets[-1] + field.itemsize
    return np.dtype({"names": names, "formats": fields, "offsets": offsets, "itemsize": end + draw(st.integers(0, 5))})


def same_bytes(a, b):
    return packed(a) == packed(b)


@given(st.data())
def test_fields_are_copied_by_name(data):
    kind = data.draw(dtypes())
    a = data.draw(arrays(kind))
    other = data.draw(relatives(kind))
    dst, expected = np.empty(a.shape, other), np.empty(a.shape, other)
    if other.itemsize:
        stale(dst), stale(expected)
    dtype.copy(a, dst)
    try:
        with np.errstate(all="ignore"):
            assigned(a, expected)
    except (UnicodeError, ValueError):
        # NumPy reads characters, which random bytes are not.
        return
    # NumPy may quiet a signalling NaN; the bytes of numbers are otherwise the same.
    again = np.empty(a.shape, a.dtype)
    if not same_bytes(dst, expected):
        back = np.empty(a.shape, a[()].dtype if a.ndim == 0 else a.dtype)
        del again, back
        assert all_equal(dst, expected)


def all_equal(one, other):
    if one.dtype.names is not None:
        return all(all_equal(one[name], other[name]) for name in one.dtype.names)
    if one.dtype.kind in "fc":
        return np.array_equal(one, other, equal_nan=True)
    return one.tobytes() == other.tobytes()


@given(st.data())
def test_nothing_but_the_fields_is_written(data):
    kind = data.draw(dtypes())
    a = data.draw(arrays(kind))
    dst = np.empty(a.shape, data.draw(relatives(kind)))
    if dst.dtype.itemsize == 0:
        return
    stale(dst)
    dtype.copy(a, dst)
    gaps = [i for start, length in dtype.Layout(dst.dtype).gaps for i in range(start, start + length)]
    raw = np.ascontiguousarray(dst).view((np.void, dst.dtype.itemsize)).tobytes()
    assert all(raw[item * dst.dtype.itemsize + gap] == 0xAA for item in range(dst.size) for gap in gaps)


@given(st.data())
def test_values_are_widened(data):
    one, other = data.draw(scalars), data.draw(scalars)
    assume(one.itemsize and other.itemsize)
    kind = np.dtype([("a", one), ("b", "<u2"), ("c", [("d", one, 2)])], align=True)
    into = np.dtype([("c", [("d", other, 2), ]), ("b", ">u8"), ("a", other)])
    a = data.draw(arrays(kind))
    if one.kind in "US":
        a = np.zeros(a.shape, kind)
        a["a"], a["c"]["d"] = "ab", "c"
    dst, expected = np.zeros(a.shape, into), np.zeros(a.shape, into)
    if not np.can_cast(one, other, "safe") or other.kind == "U" and one.kind != "U":
        before = dst.tobytes()
        with pytest.raises(TypeError, match="field `(a|c.d)` is .* may not fit"):
            dtype.copy(a, dst)
        assert dst.tobytes() == before
        return
    with np.errstate(all="ignore"):
        try:
            assigned(a, expected)
        except OverflowError:
            # NumPy 2.5 does not convert a time that has too many seconds.
            with pytest.raises(OverflowError):
                dtype.copy(a, dst)
            return
        dtype.copy(a, dst)
    assert all_equal(dst, expected)


def test_errors():
    a = np.zeros((2, 3), [("a", "u1"), ("b", [("c", "f4", 3)])])
    for other, error, text in [
        ([("z", "u1")], ValueError, "field `z` is not in the source"),
        ([("b", [("c", "f4", 2)])], ValueError, r"field `b\.c` has the shape \[3\] in the source, expected \[2\]"),
        ([("b", "f4")], ValueError, "field `b` is a structure in the source, expected '<f4'"),
        ([("a", [("c", "f4")])], ValueError, r"field `a` is '\|u1' in the source, expected a structure"),
        ([("b", [("c", "i4", 3)])], TypeError, r"field `b\.c` is '<f4' in the source, and its values may not fit '<i4'"),
    ]:
        dst = np.zeros((2, 3), other)
        with pytest.raises(error, match=text):
            dtype.copy(a, dst)
    with pytest.raises(ValueError, match=r"a has the shape \(2, 3\), expected \(3, 2\) as dst"):
        dtype.copy(a, np.zeros((3, 2), a.dtype))
    with pytest.raises(BufferError, match="dst is read-only"):
        dtype.copy(a, np.broadcast_to(a[0], (2, 3)))
    with pytest.raises(TypeError, match="dst: expected a NumPy array, found list"):
        dtype.copy(a, [])
    windows = np.lib.stride_tricks.sliding_window_view(np.zeros(4, a.dtype), 3, writeable=True)
    with pytest.raises(ValueError, match="more than once|overlap"):
        dtype.copy(a, windows)


def test_one_array_over_itself():
    kind = np.dtype([("a", "u1"), ("b", "<u4")], align=True)
    a = np.zeros(5000, kind)
    a["a"], a["b"] = np.arange(5000) % 256, np.arange(5000)
    for move in [lambda a: (a[:-1], a[1:]), lambda a: (a, a[::-1]), lambda a: (a[1:], a[:-1])]:
        expected = a.copy()
        source, dst = move(expected)
        dst[...] = source.copy()
        ours = a.copy()
        dtype.copy(*move(ours))
        assert (ours == expected).all()


def test_large_arrays_on_several_threads():
    kind = np.dtype([("a", "u1"), ("b", "<u4"), ("c", ">f8", 2)], align=True)
    a = np.zeros(400_000, kind)
    for name in kind.names:
        a[name] = np.random.default_rng(1).integers(0, 200, a[name].shape)
    dst = np.zeros(len(a), [("c", "<f8", 2), ("a", "u1"), ("b", "<u8")])
    for threads in [1, 3]:
        dst[...] = 0
        dtype.copy(a, dst, threads=threads)
        assert all((dst[name] == a[name]).all() for name in kind.names)
        columns = dtype.columns(a, threads=threads)
        assert all((columns[name] == a[name]).all() and columns[name].flags.c_contiguous for name in kind.names)
        again = dtype.records(columns, aligned=True, threads=threads)
        assert again.dtype == kind and (again == a).all()


@given(st.data())
def test_columns_and_records(data):
    kind = data.draw(dtypes().filter(lambda kind: kind.names is not None))
    a = data.draw(arrays(kind))
    columns = dtype.columns(a)
    assert list(columns) == list(kind.names)
    for name, column in columns.items():
        assert column.shape == a[name].shape
        if a[name].dtype.itemsize and kind[name].itemsize:
            assert column.dtype == a[name].dtype and packed(column) == packed(a[name])
    if a.ndim != 1 or 0 in [kind[name].base.itemsize for name in kind.names]:
        return
    for aligned in [False, True]:
        made = dtype.records(columns, aligned=aligned)
        assert packed(made) == packed(a)
    out = np.zeros(a.shape, kind)
    assert dtype.records(columns, out=out) is out
    assert packed(out) == packed(a)


def test_errors_of_columns():
    with pytest.raises(TypeError, match="expected fields"):
        dtype.columns(np.zeros(3))
    with pytest.raises(ValueError, match="no columns"):
        dtype.records({})
    with pytest.raises(ValueError, match="field `b` has 2 values, expected 3 as in the first column"):
        dtype.records({"a": np.zeros(3), "b": np.zeros(2)})
    with pytest.raises(ValueError, match="field `b` is one value"):
        dtype.records({"a": np.zeros(3), "b": 1})
    with pytest.raises(TypeError, match="field `b`: the item holds Python objects"):
        dtype.records({"a": np.zeros(3), "b": np.array([None] * 3)}, out=np.zeros(3, [("a", "f8"), ("b", "f8")]))
    out = np.zeros(3, [("a", "f8"), ("b", "f4")])
    with pytest.raises(TypeError, match="field `b`: .*may not fit"):
        dtype.records({"a": np.ones(3), "b": np.ones(3)}, out=out)
    assert not out["a"].any()
    for table, text in [({"a": np.ones(3)}, "`b` is not among the columns"), ({"a": np.ones(3), "b": np.ones(3, "f4"), "c": np.ones(3)}, "`c` is not in out")]:
        with pytest.raises(ValueError, match=text):
            dtype.records(table, out=out)
    swapped = np.array([(1, 2), (3, 4)], [("a", "f8"), ("b", "f8")])
    dtype.records({"a": swapped["b"], "b": swapped["a"]}, out=swapped)
    assert swapped.tolist() == [(2, 1), (4, 3)]
