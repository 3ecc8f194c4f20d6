"""Layouts from text, gaps, and progress."""

import dtype
import numpy as np
import pytest
from dtypes import dtypes, packed_item
from hypothesis import given


@pytest.mark.parametrize(
    "text",
    [
        "struct Sample { uint8_t id; double at[3]; float x; };",
        "typedef struct { unsigned char id; double at[3]; float x; } sample;",
        "#[repr(C)] struct Sample { id: u8, at: [f64; 3], x: f32 }",
    ],
)
def test_declarations(text):
    expected = np.dtype([("id", "u1"), ("at", "f8", 3), ("x", "f4")], align=True)
    layout = dtype.Layout(text)
    assert layout.dtype == expected and layout.itemsize == 40 and layout.packed_size == 29
    assert layout == dtype.Layout(expected) or layout.dtype.fields == expected.fields


def test_texts_of_numpy():
    for text in ["<f8", "u1,f8", "f4", "[('id', 'u1'), ('x', '<f8')]", "np.dtype([('id', 'u1')])", "{'a': ('<i4', 0)}"]:
        assert dtype.Layout(text).itemsize
    assert dtype.Layout("[('id', 'u1'), ('x', '<f8')]").dtype == np.dtype([("id", "u1"), ("x", "<f8")])


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("struct Sample { double *x; };", "field `x` is a pointer"),
        ("struct Sample { uint8_t id; unknown x; };", "unknown"),
        ("[('id', 'f3')]", "unknown format `f3`"),
    ],
)
def test_mistakes_in_texts(text, error):
    with pytest.raises(ValueError, match=error):
        dtype.Layout(text)


@given(dtypes())
def test_gaps(kind):
    layout = dtype.Layout(kind)
    numbers = bytes(index % 251 for index in range(kind.itemsize))
    gaps = {byte for start, length in layout.gaps for byte in range(start, start + length)}
    if kind.itemsize <= 251:
        assert set(numbers) - set(packed_item(numbers, kind)) == gaps
    assert all(length > 0 for _, length in layout.gaps)


def test_progress():
    kind = np.dtype([("id", "u1"), ("x", "<f8")], align=True)
    a = np.zeros(2_000_000, kind)
    a["id"] = 3
    layout = dtype.Layout(kind)
    whole = len(a) * 9
    for threads in (1, 2):
        seen = []
        packed = layout.pack(a, progress=lambda *one: seen.append(one), threads=threads)
        assert len(seen) > (3 if threads == 1 else 0) and seen == sorted(seen) and {total for _, total in seen} == {whole}
        assert seen[-1] == (whole, whole) and len({done for done, _ in seen}) == len(seen)
    seen.clear()
    layout.unpack(packed, progress=lambda done, total: seen.append(done / total))
    dtype.copy(a[:5], np.zeros(5, layout.packed), progress=lambda done, total: seen.append(total))
    assert seen[-2:] == [1.0, 45]

    def stop(done, total):
        raise KeyError("enough")

    out = np.zeros(whole, "u1")
    with pytest.raises(KeyError, match="enough"):
        layout.pack(a, out=out, progress=stop)
    assert out.any() and not out[-9:].any()


def test_files_in_memory(tmp_path):
    kind = np.dtype([("id", "u1"), ("x", "<f8")], align=True)
    a = np.memmap(tmp_path / "items", kind, "w+", shape=1000)
    a["id"], a["x"] = np.arange(1000) % 200, np.arange(1000)
    layout = dtype.Layout(kind)
    out = np.memmap(tmp_path / "packed", "u1", "w+", shape=9000)
    layout.pack(a, out=out, progress=lambda done, total: None)
    out.flush()
    assert (np.fromfile(tmp_path / "packed", layout.packed)["x"] == np.arange(1000)).all()
