"""Frames on sockets and on asyncio's streams."""

import asyncio
import socket
import struct
import threading

import dtype
import numpy as np
import pytest
from dtypes import arrays, dtypes, packed
from hypothesis import given
from hypothesis import strategies as st

KIND = np.dtype([("id", "<u4"), ("at", "<f8", 3), ("ok", "?")], align=True)


def sample(count, kind=KIND):
    a = np.zeros(count, kind)
    a["id"], a["at"], a["ok"] = np.arange(count), np.arange(3 * count).reshape(count, 3), np.arange(count) % 2
    return a


@pytest.fixture
def pair():
    here, there = socket.socketpair()
    here.settimeout(20), there.settimeout(20)
    yield here, there
    here.close(), there.close()


def sent(sock, data):
    thread = threading.Thread(target=lambda: (sock.sendall(data), sock.shutdown(socket.SHUT_WR)))
    thread.start()
    return thread


@given(st.data())
def test_every_array_arrives(data):
    kind = data.draw(dtypes())
    a = data.draw(arrays(kind))
    here, there = socket.socketpair()
    with dtype.connect(here, kind) as s, dtype.connect(there, kind) as peer:
        if kind.itemsize == 0:
            return
        s.send(a), s.send(a[:0] if a.ndim else a)
        got = peer.recv()
        assert got.dtype == kind and got.shape == (a.size,) and packed(got) == packed(a)
        peer.recv()
        s.close()
        assert peer.recv() is None


@pytest.mark.parametrize("count", [0, 1, 1000, 300_000])
def test_long_messages_and_the_way_back(pair, count):
    a = sample(count)
    with dtype.connect(pair[0], KIND) as s, dtype.connect(pair[1], dtype.Layout(KIND).packed) as peer:
        echo = threading.Thread(target=lambda: [peer.send(got) for got in peer])
        echo.start()
        for part in (a, a[::-1], a.reshape(-1, 1)):
            s.send(part)
            assert (s.recv() == part.reshape(-1)).all()
        pair[0].shutdown(socket.SHUT_WR)
        echo.join()


def test_other_byte_orders(pair):
    mixed = np.dtype([("id", ">u4"), ("at", "<f8", 3), ("ok", "?")])
    with dtype.connect(pair[0], mixed) as s, dtype.connect(pair[1], KIND) as peer:
        s.send(sample(5, mixed))
        assert (peer.recv() == sample(5)).all()
        peer.send(sample(5))
        got = s.recv()
        assert got.dtype == mixed and (got == sample(5, mixed)).all()


def frame(kind, payload, count, order=1, signature=None):
    """A full frame, as the documentation of `dtype-message` describes it."""
    layout = dtype.Layout(kind)
    size = layout.packed_size
    head = b"\xd7DTM" + struct.pack("<BBHQQQQI", 1, order, 0, signature or layout.signature_hash, count, size, 0, 0)
    own = struct.pack("<I", crc32c(head))
    return head + own + payload + struct.pack("<I", crc32c(head + payload))


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def test_the_bytes_of_a_frame(pair):
    a = sample(3)
    with dtype.connect(pair[0], KIND, exchange=False) as s:
        s.send(a)
    expected = frame(KIND, packed(a), 3)
    assert pair[1].recv(10_000) == expected


def test_a_frame_from_the_other_byte_order(pair):
    big = sample(4, KIND.newbyteorder())
    # The signature is that of the values, whatever their order.
    sent(pair[0], frame(KIND, packed(big), 4, order=2)).join()
    with dtype.connect(pair[1], KIND) as s:
        assert (s.recv() == sample(4)).all() and s.recv() is None


def test_another_type_is_named_field_by_field(pair):
    other = np.dtype([("id", "<u4"), ("at", "<f4", 3), ("size", "u1")])
    with dtype.connect(pair[0], KIND) as s, dtype.connect(pair[1], other) as peer:
        s.send(sample(2)), s.send(sample(3))
        for _ in range(2):
            with pytest.raises(TypeError) as error:
                peer.recv()
            text = str(error.value)
            assert "`at` is [f64; 3] there and [f32; 3] here" in text, text
            assert "`size: u8` is only here" in text and "`ok: bool` is only there" in text
            assert "ndarray` here" not in text
        peer.send(np.zeros(1, other))
        with pytest.raises(TypeError, match="`at` is .f32; 3. there"):
            s.recv()


def test_names_that_schemas_escape(pair):
    kind, other = np.dtype([("a: b\n[", "u1")]), np.dtype([("a: b\n[", "u2")])
    with dtype.connect(pair[0], kind) as s, dtype.connect(pair[1], other) as peer:
        s.send(np.zeros(1, kind))
        with pytest.raises(TypeError, match="is u8 there and u16 here"):
            peer.recv()


def test_without_an_exchange(pair):
    with dtype.connect(pair[0], KIND, exchange=False) as s, dtype.connect(pair[1], KIND) as peer:
        s.send(sample(2))
        assert len(peer.recv()) == 2
    here, there = socket.socketpair()
    with dtype.connect(here, KIND, exchange=False) as s, dtype.connect(there, "<u2", exchange=False) as peer:
        s.send(sample(2))
        with pytest.raises(TypeError, match="29 packed bytes.* expected 2 packed bytes"):
            peer.recv()


def test_an_exchange_as_in_rust(pair):
    with dtype.connect(pair[0], KIND, tag=4) as s, dtype.connect(pair[1], "<u2") as peer:
        thread = threading.Thread(target=peer.exchange)
        thread.start()
        s.exchange()
        thread.join()
        s.send(sample(2))
        with pytest.raises(TypeError, match="tag 4.*`at: .f64; 3.` is only there"):
            peer.recv()
    here, there = socket.socketpair()
    with dtype.connect(here, KIND, exchange=False) as s, dtype.connect(there, KIND) as peer:
        s.send(sample(2))
        with pytest.raises(ValueError, match="sent an array, expected its protocol"):
            peer.exchange()
        here.shutdown(socket.SHUT_WR)
        with pytest.raises(EOFError):
            dtype.connect(there, KIND).exchange()


def test_one_side_after_the_other(pair):
    with dtype.connect(pair[0], KIND) as s:
        s.send(sample(9))
    with dtype.connect(pair[1], KIND) as peer:
        assert [len(a) for a in peer] == [9]


def test_damage(pair):
    a = sample(3)
    good = frame(KIND, packed(a), 3)
    payload = bytearray(good)
    payload[60] ^= 1
    sent(pair[0], bytes(payload) + good + b"HTTP/1.1 200 OK and so on, for as long as a header").join()
    with dtype.connect(pair[1], KIND) as s:
        with pytest.raises(ValueError, match="the frame's bytes have the checksum"):
            s.recv()
        assert (s.recv() == a).all()
        with pytest.raises(ValueError, match="expected a frame"):
            s.recv()
        with pytest.raises(ValueError, match="after an earlier error|expected a frame"):
            s.recv()


def test_the_end_of_the_stream(pair):
    good = frame(KIND, packed(sample(3)), 3)
    sent(pair[0], good + good[:70]).join()
    with dtype.connect(pair[1], KIND) as s:
        assert len(s.recv()) == 3
        with pytest.raises(EOFError, match="22 of 87 bytes of a frame's payload"):
            s.recv()


def test_limits(pair):
    with dtype.connect(pair[0], KIND) as s, dtype.connect(pair[1], KIND, max_bytes=200) as peer:
        s.send(sample(10)), s.send(sample(5))
        with pytest.raises(ValueError, match="290 bytes exceeds the limit of 200"):
            peer.recv()
        assert len(peer.recv()) == 5
        # A header alone reserves nothing.
        pair[0].sendall(frame(KIND, b"", 2**50)[:48])
        with pytest.raises(ValueError, match="exceeds the limit"):
            peer.recv()


def test_wrong_arrays_are_not_sent(pair):
    for kind in [KIND, KIND.newbyteorder()]:
        with dtype.connect(pair[0].dup(), kind) as s:
            with pytest.raises(TypeError, match="field `at` is .*<f4"):
                s.send(np.zeros(2, [("id", kind["id"]), ("at", "<f4", 3)]))
            with pytest.raises(TypeError, match="expected a NumPy array, found list"):
                s.send([1])


def test_the_socket_says_when(pair):
    with dtype.connect(pair[1], KIND) as s:
        pair[1].settimeout(0.01)
        with pytest.raises(socket.timeout):
            s.recv()
        pair[1].settimeout(5)
        half = frame(KIND, packed(sample(3)), 3)
        pair[0].sendall(half[:50])
        with pytest.raises(socket.timeout):
            pair[1].settimeout(0.01), s.recv()
        pair[0].sendall(half[50:])
        assert len(s.recv()) == 3


def test_asyncio():
    count = 200_000

    async def serve(reader, writer):
        async with dtype.connect_async(reader, writer, KIND) as peer:
            async for a in peer:
                a["at"] *= 2
                await peer.send(a)

    async def main():
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        address = server.sockets[0].getsockname()
        async with dtype.connect_async(*await asyncio.open_connection(*address), KIND) as s:
            for a in [sample(count), sample(0), sample(7)[::2]]:
                back, _ = await asyncio.gather(s.recv(), s.send(a))
                assert (back["at"] == 2 * a["at"]).all() and (back["id"] == a["id"]).all()
            with pytest.raises(TypeError):
                await s.send(np.zeros(3))
        # A blocking client of the same server.
        def client():
            with dtype.connect(socket.create_connection(address), KIND.newbyteorder()) as s:
                s.send(sample(3, KIND.newbyteorder()))
                return s.recv()

        assert (await asyncio.to_thread(client))["at"][2, 2] == 16
        server.close()

    asyncio.run(asyncio.wait_for(main(), 60))
