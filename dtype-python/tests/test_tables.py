"""Tables with the Arrow PyCapsule interface."""

import datetime
import decimal

import dtype
import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")

TABLE = {
    "i": pa.array([1, -2, 3], "int16"),
    "u": pa.array([1, 2, 2**63], "uint64"),
    "f": pa.array([1.5, None, -0.0], "float32"),
    "h": pa.array(np.array([1, 2, 3], "f2")),
    "b": pa.array([True, False, True]),
    "s": pa.array(["a", "", "grüße"]),
    "ls": pa.array(["a", "𝄞", "c"], "large_string"),
    "v": pa.array(["x", "a longer text than fits a view", ""], pa.string_view()),
    "y": pa.array([b"ab", b"", b"c"], "binary"),
    "x": pa.array([b"ab", b"cd", b"ef"], pa.binary(2)),
    "t": pa.array([1, None, 3], pa.timestamp("us", "UTC")),
    "d": pa.array([datetime.date(2020, 1, 2), None, datetime.date(1969, 12, 31)]),
    "d64": pa.array([0, 86_400_000, None], pa.date64()),
    "td": pa.array([1, 2, None], pa.duration("ms")),
    "t32": pa.array([1, 2, 3], pa.time32("s")),
    "l": pa.array([[1, 2], [3, 4], [5, 6]], pa.list_(pa.int32(), 2)),
    "st": pa.array([{"a": 1, "b": [0.5]}, {"a": 2, "b": [1.5]}, {"a": 3, "b": [2.5]}], pa.struct({"a": pa.int8(), "b": pa.list_(pa.float64(), 1)})),
    "c": pa.array(["red", "blue", "red"]).dictionary_encode(),
}


def table(parts):
    whole = pa.table(TABLE)
    return whole if parts == 1 else pa.concat_tables([whole.slice(0, 1), whole.slice(1)])


@pytest.mark.parametrize("parts", [1, 2])
def test_arrow(parts):
    a = dtype.records(table(parts))
    assert list(a.dtype.names) == list(TABLE)
    kinds = {name: a.dtype[name].str for name in a.dtype.names}
    assert kinds["s"] == "<U5" and kinds["ls"] == "<U1" and kinds["y"] == "|S2" and kinds["x"] == "|V2"
    assert kinds["t"] == "<M8[us]" and kinds["d"] == "<M8[D]" and kinds["d64"] == "<M8[ms]" and kinds["t32"] == "<m8[s]"
    assert a["i"].tolist() == [1, -2, 3] and a["u"].tolist() == [1, 2, 2**63] and a["h"].tolist() == [1, 2, 3]
    assert np.array_equal(a["f"], np.array([1.5, np.nan, -0.0], "f4"), equal_nan=True)
    assert a["b"].tolist() == [True, False, True]
    assert a["s"].tolist() == ["a", "", "grüße"] and a["ls"].tolist() == ["a", "𝄞", "c"]
    assert a["v"].tolist() == ["x", "a longer text than fits a view", ""]
    assert a["y"].tolist() == [b"ab", b"", b"c"] and a["x"].tobytes() == b"abcdef"
    assert np.array_equal(a["t"], np.array([1, "NaT", 3], "M8[us]"), equal_nan=True)
    assert np.array_equal(a["d"], np.array(["2020-01-02", "NaT", "1969-12-31"], "M8[D]"), equal_nan=True)
    assert np.array_equal(a["td"], np.array([1, 2, "NaT"], "m8[ms]"), equal_nan=True)
    assert np.array_equal(a["d64"], np.array([0, 86_400_000, "NaT"], "M8[ms]"), equal_nan=True)
    assert a["l"].tolist() == [[1, 2], [3, 4], [5, 6]]
    assert a["st"]["a"].tolist() == [1, 2, 3] and a["st"]["b"].tolist() == [[0.5], [1.5], [2.5]]
    assert a["c"].tolist() == ["red", "blue", "red"]


def test_slices_begin_where_they_begin():
    a = dtype.records(pa.table(TABLE).slice(1))
    assert len(a) == 2 and a["l"].tolist() == [[3, 4], [5, 6]] and a["st"]["a"].tolist() == [2, 3]
    assert a["b"].tolist() == [False, True] and a["x"].tobytes() == b"cdef" and a["c"].tolist() == ["blue", "red"]


def test_nothing():
    a = dtype.records(pa.table(TABLE).slice(0, 0))
    assert len(a) == 0 and list(a.dtype.names) == list(TABLE)


def test_into_an_array_with_wider_fields():
    out = np.zeros(3, [("u", "<u8"), ("i", ">i8")])
    assert dtype.records(pa.table({"i": TABLE["i"], "u": TABLE["u"]}), out=out) is out
    assert out["i"].tolist() == [1, -2, 3]


@pytest.mark.parametrize(
    ("column", "error", "text"),
    [
        (pa.array([1, None]), ValueError, "field `z` has a null, and Int64 has no value for that"),
        (pa.array([[1], [2, 3]]), TypeError, "field `z` is List"),
        (pa.array([decimal.Decimal("1.5")] * 2), TypeError, "field `z` is Decimal"),
        (pa.array(["a", None]).dictionary_encode(), ValueError, "field `z` has nulls"),
        (pa.array([[1], [None]], pa.list_(pa.int32(), 1)), ValueError, r"field `z\[\]` has a null"),
        (pa.array([{"a": 1}, {"a": None}]), ValueError, r"field `z\.a` has a null"),
    ],
)
def test_errors(column, error, text):
    with pytest.raises(error, match=text):
        dtype.records(pa.table({"a": pa.array([1.0, 2.0]), "z": column}))


def test_names_twice():
    twice = pa.Table.from_arrays([TABLE["i"], TABLE["u"]], names=["a", "a"])
    with pytest.raises(ValueError, match="two columns have the name `a`"):
        dtype.records(twice)


def test_polars():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"a": [1, 2], "b": [0.5, 1.5], "s": ["x", "yz"], "c": pl.Series(["r", "b"], dtype=pl.Categorical)})
    a = dtype.records(frame)
    assert a.tolist() == [(1, 0.5, "x", "r"), (2, 1.5, "yz", "b")]
    assert pl.DataFrame(dtype.columns(a[["a", "b", "s"]])).equals(frame.select("a", "b", "s"))


def test_pandas():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5], "t": pd.to_datetime([0, 10**18]), "c": pd.Categorical(["r", "b"])})
    a = dtype.records(frame)
    assert a["a"].tolist() == [1, 2] and a["t"].dtype.kind == "M" and a["c"].tolist() == ["r", "b"]
    assert pd.DataFrame(dtype.columns(a))["b"].tolist() == [0.5, 1.5]


def test_one_array_of_structs():
    class Exports:
        """Only the interface of an array."""

        def __init__(self, one):
            self.one = one

        def __arrow_c_array__(self, requested_schema=None):
            return self.one.__arrow_c_array__(requested_schema)

    batch = pa.record_batch({"i": TABLE["i"], "c": TABLE["c"], "l": TABLE["l"]})
    a = dtype.records(Exports(batch))
    assert a["i"].tolist() == [1, -2, 3] and a["c"].tolist() == ["red", "blue", "red"] and a["l"].tolist() == [[1, 2], [3, 4], [5, 6]]
    with pytest.raises(TypeError, match="an array of Int16, expected structs"):
        dtype.records(Exports(TABLE["i"]))
    nulls = pa.array([{"a": 1}, None], pa.struct({"a": pa.int8()}))
    with pytest.raises(ValueError, match="rows that are null"):
        dtype.records(Exports(nulls))
