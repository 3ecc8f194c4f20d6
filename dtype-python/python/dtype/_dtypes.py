"""Dtypes made from others."""

import numpy as np


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
