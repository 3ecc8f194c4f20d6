"""Packs, unpacks and converts NumPy's structured arrays at the speed of memory."""

from ._columns import records
from ._connection import AsyncConnection, Connection, connect, connect_async
from ._dtype import Layout, columns, copy
from ._dtypes import Field

__all__ = ["AsyncConnection", "Connection", "Field", "Layout", "columns", "connect", "connect_async", "copy", "records"]
