"""Columns as structured arrays."""

import numpy as np

from . import _dtype


def records(table, *, aligned=False, out=None, threads=1):
    """The structured array of columns: of a dict of arrays of one length.

    Its fields are the columns in their order, without padding, or with C's alignment if ``aligned``. With ``out``, the columns
    become the fields with their names of that array, as in :func:`dtype.copy`; it has no others.

    >>> import numpy as np, dtype
    >>> dtype.records({'id': np.array([1, 2], 'u1'), 'value': np.array([2.5, 3.5])})
    array([(1, 2.5), (2, 3.5)], dtype=[('id', 'u1'), ('value', '<f8')])
    """
    table = dict(table)
    if out is None:
        return _dtype.new_records(table, aligned, threads)
    names = out.dtype.names or ()
    for here, there, where in [(names, table, "among the columns"), (table, names, "in out")]:
        missing = next((name for name in here if name not in there), None)
        if missing is not None:
            raise ValueError(f"field `{missing}` is not {where}")
    arrays = []
    for name, column in table.items():
        column = np.asarray(column)
        arrays.append((name, column.copy() if np.may_share_memory(column, out) else column, out[name]))
    _dtype.copy_all(arrays, len(out), threads)
    return out
