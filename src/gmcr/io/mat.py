"""MATLAB's files up to version 7 (later ones are HDF5); read by scipy, apart, since damaged ones crash it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from gmcr.io.formats import FORMATS, NOTHING, Asked, Format
from gmcr.io.limits import check_entries
from gmcr.io.opening import FilePath
from gmcr.io.table import Table
from gmcr.io.variables import Variable, table_of

DEEPEST = 8  # structures within structures that are looked into


def read_mat(path: FilePath, asked: Asked = NOTHING) -> Table:
    """Samples from the matrices of a MAT file; fields of structures are named structure/field."""
    from scipy.io import loadmat, whosmat

    # Of a sparse matrix too: it becomes a dense one.
    check_entries(path, sum(math.prod(shape) for _, shape, _ in whosmat(path)), asked)
    content = loadmat(path, chars_as_strings=True)
    variables = [
        variable
        for key, value in content.items()
        if not key.startswith("__")
        for variable in _variables(key, value, DEEPEST)
    ]
    return table_of(path, variables, asked)


def _variables(name: str, value: Any, depth: int) -> Iterator[Variable]:
    if hasattr(value, "toarray"):  # a sparse matrix
        value = value.toarray()
    if not isinstance(value, np.ndarray) or not depth:
        return
    if value.dtype.names and value.size == 1:
        for field in value.dtype.names:
            yield from _variables(f"{name}/{field}", value[field].ravel()[0], depth - 1)
    elif value.dtype.kind == "O":
        texts = [
            item.ravel()[0] if isinstance(item, np.ndarray) and item.size == 1 else None
            for item in value.flat
        ]
        if texts and all(isinstance(text, str) for text in texts):
            yield Variable(name, np.array(texts))
    elif value.dtype.kind in "fiucbU":
        yield Variable(name, value)


FORMATS.add("MATLAB", Format(
    (".mat",), read_mat, takes=("samples_in", "name"), mark=rb"MATLAB 5\.0", package="scipy",
))  # fmt: skip
