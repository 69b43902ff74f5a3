"""Rows out, to any format that writes: by the file's extension."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from gmcr.errors import InputError
from gmcr.io.formats import FORMATS
from gmcr.io.opening import FilePath, need

BETWEEN = "\\"  # in a corner such as "sample \\ nm": what stands below it, and what beside it


def write_rows(path: FilePath, header: Sequence[Any], rows: Iterable[Sequence[Any]]) -> None:
    """Write a header and rows to a .csv or .xlsx file."""
    writers = {form.suffixes[0]: form for form in FORMATS.values() if form.write is not None}
    form = writers.get(Path(path).suffix.lower())
    if form is None or form.write is None:
        raise InputError(f"{path} must end in {' or '.join(writers)}.")
    need(form.package, form.extra, path, "written")
    form.write(path, header, rows)


def corner(below: str, unit: str | None) -> str:
    """The heading over the names and beside an axis with a unit, such as "sample \\ nm"."""
    return below if unit is None else f"{below} {BETWEEN} {unit}"
