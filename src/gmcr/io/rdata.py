"""R's files (.RData, .rda, .rds): matrices, arrays and data frames; read by rdata, apart."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from gmcr.errors import InputError
from gmcr.io.formats import FORMATS, NOTHING, Asked, Format
from gmcr.io.frames import table_of_columns
from gmcr.io.limits import COPIES, check_room
from gmcr.io.opening import FilePath, read_bytes
from gmcr.io.table import Table
from gmcr.io.variables import Variable, last, table_of

PART = 1 << 22  # bytes that are unpacked at a time
DEEPEST = 8  # lists within lists that are looked into


def read_rdata(path: FilePath, asked: Asked = NOTHING) -> Table:
    """Samples from the objects of an R file; elements of lists are named list/element."""
    objects = load_objects(path, asked)
    frames = {key: value for key, value in _flat(objects) if hasattr(value, "columns")}
    variables = [_variable(key, value) for key, value in _flat(objects) if not hasattr(value, "columns")]
    variables = [variable for variable in variables if variable.values.dtype.kind in "fiucU"]
    chosen = [key for key in frames if asked.name in (key, last(key))]
    matrices = [v for v in variables if v.values.ndim > 1 and v.is_numeric]
    if asked.name is None and not matrices:
        known = [key for key in frames for wanted in asked.called if last(key).lower() == wanted.lower()]
        chosen = known[:1] or (list(frames) if len(frames) == 1 else [])
        if frames and not chosen:
            raise InputError(f"{path} holds the tables {', '.join(frames)}; say the name of one.")
    if chosen:
        frame = frames[chosen[0]]
        columns = [(str(key), _column(frame[key])) for key in frame.columns]
        row_names = [str(label) for label in frame.index]
        notes = [f"The data frame {chosen[0]!r} was taken: {' x '.join(map(str, frame.shape))}."]
        return table_of_columns(path, columns, asked, row_names=row_names, notes=notes)
    return table_of(path, variables, asked)


def load_objects(path: FilePath, asked: Asked = NOTHING) -> dict[str, Any]:
    """R's objects by name: arrays (xarray's, if their dimensions are named), data frames (pandas'), dicts."""
    import rdata

    content = _unpacked(path, read_bytes(path), asked)
    with warnings.catch_warnings():  # of classes that rdata does not know; their content is read all the same
        warnings.simplefilter("ignore")
        loaded = rdata.conversion.convert(rdata.parser.parse_data(content))
    return loaded if isinstance(loaded, dict) else {"object": loaded}


def _unpacked(path: FilePath, content: bytes, asked: Asked) -> bytes:
    opener: Any = {b"\x1f\x8b": gzip.open, b"BZ": bz2.open, b"\xfd7": lzma.open}.get(content[:2])
    if opener is None:
        return content
    with opener(io.BytesIO(content)) as file:
        unpacked = bytearray()
        while part := file.read(PART):
            unpacked += part
            check_room(path, COPIES * len(unpacked), asked)
    return bytes(unpacked)


def _flat(objects: dict[str, Any], prefix: str = "", depth: int = DEEPEST) -> Iterator[tuple[str, Any]]:
    for key, value in objects.items():
        if isinstance(value, dict) and depth:
            yield from _flat(value, f"{prefix}{key}/", depth - 1)
        elif isinstance(value, np.ndarray) or hasattr(value, "columns") or hasattr(value, "dims"):
            yield f"{prefix}{key}", value


def _variable(name: str, value: Any) -> Variable:
    """An array; R's names of rows and columns are its labels."""
    if not hasattr(value, "dims"):
        array = np.ma.filled(value, np.nan) if isinstance(value, np.ma.MaskedArray) else value
        return Variable(name, _texts(array) if array.dtype.kind == "O" else array)
    labels = [
        [str(label) for label in value.coords[dim].values] if dim in value.coords else None
        for dim in value.dims
    ]
    pair = (labels[0], labels[1]) if len(labels) == 2 else (None, None)
    return Variable(name, np.asarray(value.values), labels=pair)


def _column(series: Any) -> Any:
    values = series.to_numpy()
    return values if values.dtype.kind in "fiu" else _texts(values)


def _texts(values: Any) -> Any:
    return np.array([str(value) for value in np.asarray(values, dtype=object).ravel()], dtype=str)


FORMATS.add("R", Format(
    (".rdata", ".rda", ".rds"), read_rdata, takes=("samples_in", "name"), package="rdata", extra="readers",
))  # fmt: skip
