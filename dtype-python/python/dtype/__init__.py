"""Packs, unpacks and converts NumPy's structured arrays at the speed of memory."""

from ._dtype import Field, Layout, copy

__all__ = ["Field", "Layout", "copy"]
