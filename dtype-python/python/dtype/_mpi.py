"""Datatypes of mpi4py."""

import numpy as np

#: The names of the basic datatypes, by kind and size. All else is bytes.
_BASIC = {
    **{f"{kind}{size}": f"{name}{8 * size}_T" for kind, name in [("i", "INT"), ("u", "UINT")] for size in (1, 2, 4, 8)},
    **{"f4": "FLOAT", "f8": "DOUBLE", "c8": "C_FLOAT_COMPLEX", "c16": "C_DOUBLE_COMPLEX", "b1": "C_BOOL"},
    **{f"{kind}8": "INT64_T" for kind in "mM"},
}


def _made(dtype, MPI, made):
    """The datatype; those that are derived are added to `made`, to be freed."""
    if dtype.subdtype is not None:
        element, shape = dtype.subdtype
        new = _made(element, MPI, made).Create_contiguous(int(np.prod(shape)))
    elif dtype.names is not None:
        parts = [dtype.fields[name][:2] for name in dtype.names]
        types = [_made(inner, MPI, made) for inner, _ in parts]
        whole = MPI.Datatype.Create_struct([1] * len(parts), [offset for _, offset in parts], types)
        made.append(whole)
        new = whole.Create_resized(0, dtype.itemsize)
    elif dtype.kind == "S":
        new = MPI.CHAR.Create_contiguous(dtype.itemsize)
    elif dtype.isnative and f"{dtype.kind}{dtype.itemsize}" in _BASIC:
        return getattr(MPI, _BASIC[f"{dtype.kind}{dtype.itemsize}"])
    else:
        new = MPI.BYTE.Create_contiguous(dtype.itemsize)
    made.append(new)
    return new


def committed(dtype):
    """The committed datatype of the items of an array."""
    from mpi4py import MPI

    made = []
    new = _made(dtype, MPI, made).Dup().Commit()
    for one in made:
        one.Free()
    return new
