"""Dtypes made from others, and what they consist of."""

import math
from typing import NamedTuple

import numpy as np


class Field(NamedTuple):
    """A value of a layout, or an array of values.

    >>> import dtype
    >>> dtype.Layout([('id', 'u1'), ('place', '<f4', 3)]).fields[1]
    Field(name='place', offset=1, size=12, dtype=dtype(('<f4', (3,))))
    """

    #: The path: the names with dots between them, and ``[]`` after that of an array of structures.
    name: str
    #: Bytes from the start of the item.
    offset: int
    #: Bytes of the value, or of all values of the array.
    size: int
    dtype: np.dtype


def fields(dtype, path="", offset=0):
    """The values, in the order of the packed bytes."""
    element = dtype
    while element.subdtype is not None:
        element = element.base
    if element.names is None:
        return [Field(path, offset, dtype.itemsize, dtype)]
    if element is not dtype:
        path += "[]"
    all = []
    for name in element.names:
        inner, start = element.fields[name][:2]
        all += fields(inner, f"{path}.{name}" if path else name, offset + start)
    return all


def _used(dtype):
    """Whether each byte belongs to a value."""
    if dtype.subdtype is not None:
        element, shape = dtype.subdtype
        return np.tile(_used(element), math.prod(shape))
    used = np.full(dtype.itemsize, dtype.names is None)
    for name in dtype.names or ():
        inner, start = dtype.fields[name][:2]
        used[start : start + inner.itemsize] |= _used(inner)
    return used


def gaps(dtype):
    """The ranges of bytes that belong to no value: the start and the length of each."""
    edges = np.flatnonzero(np.diff(_used(dtype), prepend=True, append=True)).tolist()
    return [(start, end - start) for start, end in zip(edges[::2], edges[1::2])]


def difference(dtype, other):
    """What an array of another dtype has instead, for an error."""
    here, there = fields(dtype), {field.name: field for field in fields(other)}
    for name, offset, _, ours in here:
        where = f"field `{name}`" if name else "the item"
        if name not in there:
            return f"{where} is only in the layout"
        theirs = there.pop(name)
        if theirs.dtype != ours:
            return f"{where} is {theirs.dtype} in the array, expected {ours}"
        if theirs.offset != offset:
            return f"{where} is at byte {theirs.offset} of the array's items, expected {offset}"
    for name in there:
        return f"field `{name}` is only in the array"
    return f"the array's items have {other.itemsize} bytes, or another order of fields, expected {dtype.itemsize}"


def _rebuilt(dtype, align, key):
    if dtype.subdtype is not None:
        element, shape = dtype.subdtype
        return np.dtype((_rebuilt(element, align, key), shape))
    if dtype.names is None:
        return dtype
    fields = [(name, _rebuilt(dtype.fields[name][0], align, key), *dtype.fields[name][2:]) for name in dtype.names]
    if key is not None:
        fields.sort(key=lambda field: key(field[1]))
    names, formats = [field[0] for field in fields], [field[1] for field in fields]
    titles = [field[2] if len(field) > 2 else None for field in fields]
    made = {"names": names, "formats": formats, "titles": titles}
    return np.dtype(made, align=align)


def packed(dtype):
    """The same fields without padding."""
    return _rebuilt(dtype, False, None)


def aligned(dtype):
    """The same fields with the alignment of C."""
    return _rebuilt(dtype, True, None)


def reordered(dtype):
    """The same fields, the most strictly aligned first: as every size is a multiple of the alignment, no order takes less."""
    return _rebuilt(dtype, True, lambda field: -field.alignment)
