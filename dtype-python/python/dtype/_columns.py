"""Columns as structured arrays."""

import numpy as np

from . import _dtype


def records(table, *, aligned=False, out=None, threads=1):
    """The structured array of columns: of a dict of arrays of one length, or of a table of pyarrow, polars, pandas or any other
    library with the Arrow PyCapsule interface.

    Its fields are the columns in their order, without padding, or with C's alignment if ``aligned``. With ``out``, the columns
    become the fields with their names of that array, as in :func:`dtype.copy`; it has no others.

    A table's texts become ``U``, its bytes ``S``, its times ``M8`` and ``m8``, its lists of fixed length arrays, its structs
    structures, and its dictionaries (categories) the values. A null is NaN or NaT, and an error where there is neither.

    >>> import numpy as np, dtype
    >>> dtype.records({'id': np.array([1, 2], 'u1'), 'value': np.array([2.5, 3.5])})
    array([(1, 2.5), (2, 3.5)], dtype=[('id', 'u1'), ('value', '<f8')])
    """
    if type(table) is dict:
        pass
    elif not (hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__")):
        table = dict(table)
    else:
        try:
            table = _dtype.arrow_columns(table)
        except ImportError:
            # pandas needs pyarrow for it.
            table = dict(table)
    if out is None:
        return _dtype.new_records(table, aligned, threads)
    names = out.dtype.names or ()
    for here, there, where in [(names, table, "among the columns"), (table, names, "in out")]:
        missing = next((name for name in here if name not in there), None)
        if missing is not None:
            raise ValueError(f"field `{missing}` is not {where}")
    columns = {name: np.asarray(column) for name, column in table.items()}
    columns = {name: a.copy() if np.may_share_memory(a, out) else a for name, a in columns.items()}
    # First without values, so that nothing is copied if a column is wrong.
    for values in [lambda a: a[:0], lambda a: a]:
        for name, column in columns.items():
            try:
                _dtype.copy(values(column), values(out[name]), threads=threads)
            except (TypeError, ValueError) as error:
                raise type(error)(f"field `{name}`: {error}") from None
    return out
