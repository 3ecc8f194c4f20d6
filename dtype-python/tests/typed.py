"""Not a test that runs: mypy and pyright check that a user's program has the types that it expects.

Each line that ends with `# type: ignore` is a mistake, which mypy must report: it says so if a comment is not needed.
"""

import asyncio
import socket
from typing import Any

import dtype
import numpy as np
from numpy.typing import NDArray
from typing_extensions import assert_type

a = np.zeros(3, [("id", "u1"), ("value", "f8")])
layout = dtype.Layout(a.dtype)
dtype.Layout([("id", "u1"), ("value", "f8")])
dtype.Layout("struct Sample { char id; double value; };")

assert_type(layout, dtype.Layout)
assert_type(layout.dtype, np.dtype[Any])
assert_type(layout.fields[0].offset, int)
assert_type(layout.gaps, list[tuple[int, int]])
assert_type(layout.reordered(), dtype.Layout)

packed = layout.pack(a)
assert_type(packed, NDArray[np.uint8])
assert_type(layout.pack(a[0]), NDArray[np.uint8])
assert_type(layout.pack(a, bytearray(27)), bytearray)
assert_type(layout.pack(a, out=packed, threads=2), NDArray[np.uint8])
assert_type(layout.unpack(packed), np.ndarray[Any, Any])
assert_type(layout.unpack(b"", aligned=True), np.ndarray[Any, Any])
again: np.ndarray[Any, Any] = layout.unpack(packed, out=a)
layout.pack([1, 2])  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
layout.pack(a, threads="2")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
layout.packed = a.dtype  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
print(layout.extent)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]

dtype.copy(a, a.copy())
assert_type(dtype.columns(a), dict[str, np.ndarray[Any, Any]])
assert_type(dtype.records({"x": [1, 2], "y": np.zeros(2)}, aligned=True), np.ndarray[Any, Any])


def blocking(sock: socket.socket) -> None:
    with dtype.connect(sock, layout) as connection:
        assert_type(connection, dtype.Connection)
        connection.send(a)
        assert_type(connection.recv(), np.ndarray[Any, Any] | None)
        for received in connection:
            assert_type(received, np.ndarray[Any, Any])


async def asynchronous(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    async with dtype.connect_async(reader, writer, a.dtype, tag=3) as connection:
        await connection.send(a)
        assert_type(await connection.recv(), np.ndarray[Any, Any] | None)
        async for received in connection:
            assert_type(received, np.ndarray[Any, Any])
