"""Tables out: CSV or XLSX by the file's extension, with names, axis and its unit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from gmcr.errors import InputError
from gmcr.io.csv import write_csv
from gmcr.io.layout import BETWEEN
from gmcr.io.opening import FilePath, need
from gmcr.io.table import Table


def write_rows(path: FilePath, header: Sequence[Any], rows: Iterable[Sequence[Any]]) -> None:
    """Write a header and rows to a .csv or .xlsx file."""
    suffix = Path(path).suffix.lower()
    if suffix == ".xlsx":
        from gmcr.io.xlsx import write_xlsx

        need("openpyxl", path, "written")
        write_xlsx(path, header, rows)
    elif suffix == ".csv":
        write_csv(path, header, rows)
    else:
        raise InputError(f"{path} must end in .csv or .xlsx.")


def write_table(path: FilePath, table: Table) -> None:
    """Write samples in rows below their axis; `gmcr.read` reads all of it back."""
    names = table.sample_names or [f"sample {index}" for index in range(len(table.samples))]
    axis = range(table.samples.shape[1]) if table.axis is None else table.axis
    rows = ([name, *row] for name, row in zip(names, table.samples))
    write_rows(path, [corner("sample", table.axis_unit), *axis], rows)


def corner(below: str, unit: str | None) -> str:
    """The heading over the names and beside an axis with a unit, such as "sample \\ nm"."""
    return below if unit is None else f"{below} {BETWEEN} {unit}"
