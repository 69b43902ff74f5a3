"""Parquet files: tables with named columns; read by pyarrow, apart."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from gmcr.errors import InputError
from gmcr.io.formats import FORMATS, NOTHING, Asked, Format
from gmcr.io.frames import Column, table_of_columns
from gmcr.io.limits import check_entries
from gmcr.io.opening import FilePath, read_bytes
from gmcr.io.table import Table


def read_parquet(path: FilePath, asked: Asked = NOTHING) -> Table:
    """Samples from the columns of a Parquet file; an index that pandas stored labels the rows."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    # From memory: one file, whatever its name or its folder look like to pyarrow.
    content = pa.BufferReader(read_bytes(path))
    told = parquet.read_metadata(content)
    check_entries(path, told.num_rows * told.num_columns, asked)
    table = parquet.read_table(content, use_threads=False)
    columns: list[Column] = [(name, _values(path, name, table[name])) for name in table.column_names]
    index = [name for name in _index_columns(table.schema.metadata) if name in table.column_names]
    if len(index) != 1:
        return table_of_columns(path, columns, asked)
    names = [str(value) for value in dict(columns)[index[0]].tolist()]
    heading = "" if index[0].startswith("__index_level") else index[0]
    others = [(name, values) for name, values in columns if name != index[0]]
    return table_of_columns(path, others, asked, row_names=names, row_heading=heading)


def _index_columns(metadata: dict[bytes, bytes] | None) -> list[str]:
    try:
        stored = json.loads((metadata or {})[b"pandas"])["index_columns"]
    except (KeyError, TypeError, ValueError):
        return []
    return [name for name in stored if isinstance(name, str)] if isinstance(stored, list) else []


def _values(path: FilePath, name: str, column: Any) -> Any:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=float)
    if pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        raise InputError(f"{path} column {name!r:.40} holds {kind}, which is no number; leave it out.")
    return np.array(["" if value is None else str(value) for value in column.to_pylist()], dtype=str)


FORMATS.add("Parquet", Format(
    (".parquet", ".pq"), read_parquet, takes=("samples_in",), mark=b"PAR1", package="pyarrow", extra="readers",
))  # fmt: skip
