"""Arrays as messages in frames, on sockets and on asyncio's streams."""

import numpy as np

from ._dtype import Frames, Layout, copy

#: The size of the largest message that is accepted, unless the caller says otherwise.
MAX_BYTES = 1 << 30

#: Bytes that are read at a time, at least and at most.
_LEAST, _MOST = 1 << 16, 1 << 20


class _Messages:
    """What both kinds of connection have in common: everything but moving the bytes."""

    def __init__(self, layout, exchange, tag, max_bytes):
        self.layout = layout if isinstance(layout, Layout) else Layout(layout)
        # The numbers of a message have one byte order.
        self._native = Layout(self.layout.dtype.newbyteorder("="))
        self._frames = Frames(self._native, tag, exchange, max_bytes)
        self._protocol = self._frames.protocol() if exchange else b""
        self._read = memoryview(b"")

    def _pieces(self, a):
        if self._native != self.layout:
            # Says what differs, if `a` is no array with this layout.
            self.layout.pack(a[:0] if getattr(a, "ndim", 0) else a)
            native = np.empty(a.shape, self._native.dtype)
            copy(a, native)
            a = native
        frame = self._frames.frame(a)
        yield from self._introduction()
        yield from map(memoryview, frame)

    def _introduction(self):
        """The protocol, once."""
        protocol, self._protocol = self._protocol, b""
        if protocol:
            yield protocol

    def _next(self):
        """The next message in the bytes that were read, or `None`."""
        while self._read:
            taken, message, error = self._frames.feed(self._read)
            self._read = self._read[taken:]
            if error is not None:
                raise error
            if message is not None:
                return self._array(*message)
        return None

    def _is_met(self):
        """Whether the other side's protocol is in the bytes that were read."""
        while self._read and not self._frames.has_begun:
            taken, message, error = self._frames.feed(self._read)
            self._read = self._read[taken:]
            if message is not None or error is not None:
                raise error or ValueError("the other side sent an array, expected its protocol")
        return self._frames.has_begun

    def _array(self, count, is_swapped, packed):
        out = np.empty(count, self.layout.dtype)
        sent = self._native.packed.newbyteorder() if is_swapped else self._native.packed
        if sent == self.layout.packed:
            return self.layout.unpack(packed, out=out)
        copy(np.ndarray(count, sent, packed), out)
        return out

    def _room(self):
        return max(_LEAST, min(_MOST, self._frames.needs()))


class Connection(_Messages):
    """Sends and receives arrays on a socket. :func:`connect` makes it."""

    def __init__(self, sock, *arguments):
        super().__init__(*arguments)
        self._sock = sock
        self._buffer = bytearray(_LEAST)

    def _more(self):
        """Reads more bytes; whether there are any."""
        room = self._room()
        if len(self._buffer) < room:
            self._buffer = bytearray(room)
        count = self._sock.recv_into(self._buffer)
        self._read = memoryview(self._buffer)[:count]
        if count == 0:
            self._frames.finish()
        return count > 0

    def exchange(self):
        """Sends this side's protocol and waits for the other side's: for a program in Rust that calls ``dtype_message::exchange``."""
        for piece in self._introduction():
            self._sock.sendall(piece)
        while not self._is_met():
            if not self._more():
                raise EOFError("the stream ended before the other side's protocol")

    def send(self, a):
        """Sends the items of an array with the layout, of any shape and strides, as one message."""
        for piece in self._pieces(a):
            self._sock.sendall(piece)

    def recv(self):
        """The next message as an array with one axis, or ``None`` if the stream has ended.

        A message that is refused costs only itself, if its header is whole: the next call returns the next one.
        """
        while (a := self._next()) is None:
            if not self._more():
                return None
        return a

    def close(self):
        """Closes the socket."""
        self._sock.close()

    def __iter__(self):
        while (a := self.recv()) is not None:
            yield a

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.close()


class AsyncConnection(_Messages):
    """Sends and receives arrays on asyncio's streams. :func:`connect_async` makes it."""

    def __init__(self, reader, writer, *arguments):
        super().__init__(*arguments)
        self._reader, self._writer = reader, writer

    async def _more(self):
        self._read = memoryview(await self._reader.read(self._room()))
        if not self._read:
            self._frames.finish()
        return len(self._read) > 0

    async def exchange(self):
        """As :meth:`Connection.exchange`."""
        for piece in self._introduction():
            self._writer.write(piece)
        while not self._is_met():
            if not await self._more():
                raise EOFError("the stream ended before the other side's protocol")

    async def send(self, a):
        """As :meth:`Connection.send`. The array must not be changed meanwhile."""
        for piece in self._pieces(a):
            self._writer.write(piece)
            await self._writer.drain()

    async def recv(self):
        """As :meth:`Connection.recv`."""
        while (a := self._next()) is None:
            if not await self._more():
                return None
        return a

    async def close(self):
        """Closes the writer, and waits until it is closed."""
        self._writer.close()
        await self._writer.wait_closed()

    async def __aiter__(self):
        while (a := await self.recv()) is not None:
            yield a

    async def __aenter__(self):
        return self

    async def __aexit__(self, kind, error, trace):
        await self.close()


def connect(sock, layout, *, exchange=True, tag=0, max_bytes=MAX_BYTES):
    """Sends and receives arrays with this layout on a connected socket, in the frames of the Rust crate ``dtype-message``: any
    program that uses it can be the other side.

    Each message has checksums and a hash of the types of its values. A message of another type is a ``TypeError``, a damaged one a
    ``ValueError``, and a stream that ends within one an ``EOFError``. Before its first array, each side sends its protocol, the
    names and types of its fields, so that the error names those that differ. With ``exchange=False`` it sends none: a program in
    Rust that only reads arrays does not expect one. With a program that calls ``dtype_message::exchange``, call
    :meth:`Connection.exchange` first. ``tag`` is the number of this kind of message in Rust. A message of more than ``max_bytes``
    is refused before it is read.

    ``sock`` is a ``socket.socket`` or has its methods ``sendall`` and ``recv_into``. The connection closes it at the end of ``with``.

    >>> import socket, numpy as np, dtype
    >>> here, there = socket.socketpair()
    >>> layout = dtype.Layout([('id', '<u4'), ('value', '<f8')])
    >>> with dtype.connect(here, layout) as s, dtype.connect(there, layout.aligned()) as peer:
    ...     s.send(np.array([(1, 2.5), (2, 3.5)], layout.dtype))
    ...     peer.recv()['value']
    array([2.5, 3.5])
    """
    return Connection(sock, layout, exchange, tag, max_bytes)


def connect_async(reader, writer, layout, *, exchange=True, tag=0, max_bytes=MAX_BYTES):
    """As :func:`connect`, on the streams of asyncio: ``reader`` and ``writer`` are those that ``asyncio.open_connection`` returns,
    or that ``asyncio.start_server`` passes to its function.

    >>> import asyncio, numpy as np, dtype
    >>> async def double(reader, writer):
    ...     async with dtype.connect_async(reader, writer, '<f8') as peer:
    ...         async for a in peer:
    ...             await peer.send(2 * a)
    >>> async def main():
    ...     server = await asyncio.start_server(double, '127.0.0.1', 0)
    ...     streams = await asyncio.open_connection(*server.sockets[0].getsockname())
    ...     async with dtype.connect_async(*streams, '<f8') as s:
    ...         await s.send(np.array([1.5, 2.5]))
    ...         return await s.recv()
    >>> asyncio.run(main())
    array([3., 5.])
    """
    return AsyncConnection(reader, writer, layout, exchange, tag, max_bytes)
