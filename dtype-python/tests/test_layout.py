"""Layouts, pack and unpack, compared with what packing means and with NumPy."""

import _thread
import gc
import pickle
import signal
import sys
import threading
import time

import dtype
import numpy as np
import pytest
from dtypes import arrays, dtypes, memory, packed, stale
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.recfunctions import repack_fields

SAMPLE = np.dtype([("id", "u1"), ("value", "<f8"), ("place", "<f4", 3)], align=True)


def sample(count):
    a = np.zeros(count, SAMPLE)
    a["id"], a["value"] = np.arange(count) % 256, np.arange(count)
    a["place"] = np.arange(3 * count).reshape(count, 3)
    return a


@given(st.data())
def test_pack_is_the_values_in_order(data):
    a = data.draw(dtypes(overlap=True).flatmap(arrays))
    layout = dtype.Layout(a.dtype)
    expected = packed(a)
    assert layout.pack(a).tobytes() == expected
    out = bytearray(b"\xaa" * len(expected))
    assert layout.pack(a, out=out) is out and out == expected
    assert layout.packed_size * a.size == len(expected)


@given(st.data())
def test_numpy_packs_the_same(data):
    a = data.draw(dtypes().flatmap(arrays))
    layout = dtype.Layout(a.dtype)
    if not any("[]" in field.name for field in layout.fields):
        # NumPy leaves out the structures in arrays.
        assert layout.packed == repack_fields(a.dtype, recurse=True)
    if layout.packed_size:
        theirs = np.empty(a.size, layout.packed)
        stale(theirs)
        theirs[...] = a.reshape(-1)
        assert dtype.Layout(layout.packed).pack(theirs).tobytes() == theirs.tobytes()
        # NumPy ends texts at zeros, and quiets NaNs of other byte orders, so compare what it read back.
        again = layout.unpack(layout.pack(a))
        assert again.astype(layout.packed).tobytes() == a.reshape(-1).astype(layout.packed).tobytes()


@given(st.data())
def test_unpack_writes_the_values_only(data):
    kind = data.draw(dtypes())
    a = data.draw(arrays(kind))
    layout = dtype.Layout(kind)
    bytes_ = layout.pack(a)
    out = data.draw(arrays(kind, writable=True).filter(lambda out: out.size == a.size or True))
    out = np.empty_like(out)
    if kind.itemsize:
        stale(out)
    if out.size != a.size:
        if layout.packed_size:
            with pytest.raises(ValueError):
                layout.unpack(bytes_, out=out)
        return
    gaps = [i for start, length in layout.gaps for i in range(start, start + length)]
    assert layout.unpack(bytes_, out=out) is out
    assert packed(out) == bytes_.tobytes()
    raw = memory(out)
    for item in range(out.size):
        assert all(raw[item * kind.itemsize + gap] == 0xAA for gap in gaps)


@given(st.data())
def test_aligned_items(data):
    a = data.draw(dtypes().flatmap(arrays))
    layout = dtype.Layout(a.dtype)
    if layout.packed_size == 0:
        return
    aligned = layout.unpack(layout.pack(a), aligned=True)
    assert aligned.dtype == layout.aligned().dtype
    assert packed(aligned) == packed(a)
    reordered = layout.reordered()
    assert reordered.itemsize <= aligned.dtype.itemsize
    assert sorted(field.name for field in reordered.fields) == sorted(field.name for field in layout.fields)


def test_arrays_of_any_axes():
    a = sample(24).reshape(2, 3, 4)
    layout = dtype.Layout(a.dtype)
    for view in [a, a.T, a[:, ::-1], a[1:, :, ::2], a[0, 0, 0], a[()], np.broadcast_to(a, (5, 2, 3, 4)), a[:0]]:
        assert layout.pack(view).tobytes() == packed(np.asarray(view))
    assert layout.pack(a[0, 0, 1]).tobytes() == packed(a[0, 0, 1 : 2])
    windows = np.lib.stride_tricks.sliding_window_view(sample(9), 4)
    assert layout.pack(windows).tobytes() == packed(windows)
    out = np.zeros((4, 6), SAMPLE)
    layout.unpack(layout.pack(a), out=out.T[::-1])
    assert packed(out.T[::-1]) == packed(a)
    with pytest.raises(ValueError, match="more than once|overlap"):
        layout.unpack(layout.pack(windows), out=np.lib.stride_tricks.sliding_window_view(sample(9), 4, writeable=True))


def test_subclasses_have_the_memory_of_their_arrays():
    a = sample(5)
    layout = dtype.Layout(SAMPLE)
    assert layout.pack(a.view(np.recarray)).tobytes() == packed(a)
    masked = np.ma.MaskedArray(a, mask=[True] * 5)
    assert layout.pack(masked).tobytes() == packed(a)


def test_every_buffer_is_read():
    a = sample(5)
    layout = dtype.Layout(SAMPLE)
    bytes_ = layout.pack(a).tobytes()
    for buffer in [bytes_, bytearray(bytes_), memoryview(bytes_), np.frombuffer(bytes_, "u1"), np.frombuffer(bytes_, layout.packed)]:
        assert packed(layout.unpack(buffer)) == bytes_
    assert layout.unpack(b"").shape == (0,)
    assert layout.unpack(bytearray()).shape == (0,)
    held = bytearray(bytes_)
    view = memoryview(held)
    layout.unpack(view)
    view.release()
    held.append(0)


def test_overlapping_memory_is_read_first():
    a = sample(1000)
    layout, expected = dtype.Layout(SAMPLE), packed(a)
    raw = a.view("u1").reshape(-1)
    layout.pack(a, out=raw[: len(expected)])
    assert raw[: len(expected)].tobytes() == expected
    layout.unpack(raw[: len(expected)], out=a)
    assert packed(a) == expected


@pytest.mark.parametrize(
    ("made", "field"),
    [
        (np.dtype("O"), "the item"),
        (np.dtype([("a", "u1"), ("b", [("c", "O")])]), r"field `b\.c`"),
        (np.dtype([("a", "O", 3)]), "field `a`"),
    ],
)
def test_objects_are_refused(made, field):
    with pytest.raises(TypeError, match=f"{field} holds Python objects"):
        dtype.Layout(made)


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="NumPy 1")
def test_strings_of_any_length_are_refused():
    with pytest.raises(TypeError, match="the item .*strings"):
        dtype.Layout(np.dtypes.StringDType())


def test_errors():
    a = sample(5)
    layout = dtype.Layout(SAMPLE)
    out = np.empty(5 * layout.packed_size, "u1")
    frozen = out.copy()
    frozen.flags.writeable = False
    with pytest.raises(TypeError, match="expected a NumPy array, found list"):
        layout.pack([1])
    with pytest.raises(TypeError, match=r"field `value` is >f8 in the array, expected float64"):
        layout.pack(np.zeros(5, [("id", "u1"), ("value", ">f8"), ("place", "<f4", 3)]))
    with pytest.raises(TypeError, match="field `value` is at byte 1 of the array's items, expected 8"):
        layout.pack(np.zeros(5, layout.packed))
    with pytest.raises(TypeError, match="field `place` is only in the layout"):
        layout.pack(np.zeros(5, np.dtype([("id", "u1"), ("value", "<f8")], align=True)))
    with pytest.raises(ValueError, match="out has 105 bytes, expected 84"):
        layout.pack(a[:4], out=out)
    for readonly in [frozen, bytes(out)]:
        with pytest.raises(BufferError, match="out is read-only"):
            layout.pack(a, out=readonly)
    with pytest.raises(BufferError, match="out is not contiguous"):
        layout.pack(a, out=np.empty(2 * len(out), "u1")[::2])
    with pytest.raises(ValueError, match="104 bytes are not a whole number of packed items of 21 bytes"):
        layout.unpack(out[1:])
    with pytest.raises(ValueError, match="out has 4 items, expected 5"):
        layout.unpack(out, out=a[:4])
    a.flags.writeable = False
    with pytest.raises(BufferError, match="out is read-only"):
        layout.unpack(out, out=a)
    with pytest.raises(TypeError):
        layout.pack()
    union = np.dtype({"names": ["a", "b"], "formats": ["u4", "u2"], "offsets": [0, 2]})
    with pytest.raises(ValueError, match="more than once|overlap"):
        dtype.Layout(union).unpack(bytes(6))


def test_a_layout_is_remembered_by_its_dtype():
    a = sample(3)
    layout = dtype.Layout(a.dtype)
    assert dtype.Layout(a.dtype) is layout
    assert layout == dtype.Layout(np.dtype(SAMPLE.descr[0:0] or SAMPLE))
    assert pickle.loads(pickle.dumps(layout)) == layout
    assert hash(pickle.loads(pickle.dumps(layout))) == hash(layout)
    renamed = np.dtype([("a", "u1"), ("b", "f8")])
    assert [field.name for field in dtype.Layout(renamed).fields] == ["a", "b"]
    renamed.names = ("b", "a")
    assert [field.name for field in dtype.Layout(renamed).fields] == ["b", "a"]
    # More dtypes than are remembered, whose memory is used again.
    for number in range(2000):
        kind = np.dtype([(f"a{number}", "u1", number % 7 + 1), ("b", "u2")])
        assert dtype.Layout(kind).packed_size == number % 7 + 3
        del kind
    gc.collect()


def test_what_a_layout_says():
    layout = dtype.Layout(np.dtype([("id", "u1"), ("at", [("x", "<f4"), ("y", "<f4")], 2), ("t", "<M8[ns]")], align=True))
    told = [(field.name, field.offset, field.size, field.dtype.str) for field in layout.fields]
    assert told == [("id", 0, 1, "|u1"), ("at[].x", 4, 4, "<f4"), ("at[].y", 8, 4, "<f4"), ("t", 24, 8, "<M8[ns]")]
    assert layout.gaps == [(1, 3), (20, 4)]
    assert (layout.itemsize, layout.packed_size) == (32, 25)
    assert layout.reordered().itemsize == 32 and layout.reordered().gaps == [(25, 7)]
    assert dtype.Layout("f8").fields[0].name == ""


@pytest.fixture
def interruptible():
    """Python's own handler of SIGINT: a shell has its jobs in the background ignore the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_long_copies_let_others_run_and_can_be_interrupted(interruptible):
    a = sample(3_000_000)
    layout = dtype.Layout(a.dtype)
    out = np.empty(len(a) * layout.packed_size, "u1")
    for threads in [1, 2, 5]:
        out[...] = 0
        layout.pack(a, out=out, threads=threads)
        assert (out.view(layout.packed) == a.astype(layout.packed)).all()
        assert (layout.unpack(out, threads=threads) == a).all()
    interrupted = 0
    for _ in range(20):
        timer = threading.Timer(0.002, _thread.interrupt_main)
        try:
            timer.start()
            while True:
                layout.pack(a, out=out)
        except KeyboardInterrupt:
            interrupted += 1
        timer.join()
    assert interrupted == 20


def test_a_signal_ends_one_long_copy(interruptible):
    # One call of a second or so, which must not go on to its end.
    a = np.broadcast_to(sample(1000), (100_000, 1000))
    layout = dtype.Layout(SAMPLE)
    a = a[: 2**31 // (1000 * layout.packed_size)]
    timer = threading.Timer(0.05, _thread.interrupt_main)
    out = np.empty(a.size * layout.packed_size, "u1")
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        layout.pack(a, out=out)
    stopped = time.perf_counter() - start
    start = time.perf_counter()
    layout.pack(a, out=out)
    assert stopped < max(0.5 * (time.perf_counter() - start), 0.15)


def test_threads_share_a_layout():
    a = sample(20_000)
    layout = dtype.Layout(a.dtype)
    expected, wrong = packed(a), []

    def work(number):
        for _ in range(30):
            made = np.dtype([("a", "u1"), ("b", "<f8", number + 1)])
            if dtype.Layout(made).packed_size != 9 + 8 * number or layout.pack(a[::-1][::-1]).tobytes() != expected:
                wrong.append(number)

    all_ = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for one in all_:
        one.start()
    for one in all_:
        one.join()
    assert not wrong


def test_nothing_is_leaked():
    a = sample(100)
    layout = dtype.Layout(a.dtype)
    out = bytearray(100 * layout.packed_size)
    counts = []
    for _ in range(3):
        for _ in range(200):
            layout.pack(a, out=out)
            layout.unpack(out)
            dtype.copy(a, a.copy())
            with pytest.raises(ValueError):
                layout.unpack(out[1:])
        counts.append((sys.getrefcount(a), sys.getrefcount(a.dtype), sys.getrefcount(out), sys.getrefcount(layout)))
    assert counts[0] == counts[1] == counts[2]
