"""Packs, unpacks and converts NumPy's structured arrays at the speed of memory."""

from ._columns import records
from ._dtype import Field, Layout, columns, copy

__all__ = ["Field", "Layout", "columns", "copy", "records"]
