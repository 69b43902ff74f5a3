"""One workbook with all tables of a run, and new names of components in tables and workbook."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gmcr.io.cells import as_number
from gmcr.io.csv import unescaped, write_csv
from gmcr.io.xlsx import write_book

WORKBOOK = "run.xlsx"
PROFILES = "profiles.csv"
BY_COMPONENT = (PROFILES, "concentrations.csv", "supports.csv", "fractions.csv", "areas.csv")
SHEETS = (
    *BY_COMPONENT[:3], "path.csv", "fractions.csv", "amounts.csv", "areas.csv", "rates.csv", "bands.csv",
    "history.csv",
)  # fmt: skip


def write_workbook(folder: Path, *others: Path) -> None:
    """All tables of a folder, as its files have them, a sheet each; those it lacks are from the others."""
    found = {name: _found(name, folder, *others) for name in SHEETS}
    sheets = {path.stem: map(_cells, _rows(path)) for path in found.values() if path is not None}
    write_book(folder / WORKBOOK, sheets)


def rename_in_tables(folder: Path, target: Path, names: Mapping[str, str]) -> None:
    """A folder's tables and workbook with other names of components, to `target`; names : new by old."""
    for name in BY_COMPONENT:
        if not (folder / name).exists():
            continue
        header, *rows = _rows(folder / name)
        if name == PROFILES:
            rows = [[names.get(label, label), *row] for label, *row in rows]
        else:
            header = [header[0], *(names.get(label, label) for label in header[1:])]
        write_csv(target / name, header, rows)
    if (folder / WORKBOOK).exists():
        write_workbook(target, folder)


def _found(name: str, *folders: Path) -> Path | None:
    return next((folder / name for folder in folders if (folder / name).exists()), None)


def _rows(path: Path) -> list[list[str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return [[unescaped(cell) for cell in row] for row in csv.reader(file)]


def _cells(row: list[str]) -> list[Any]:
    """Cells as numbers where they are, nothing where they are empty."""
    return [None if cell == "" else cell if (number := as_number(cell)) is None else number for cell in row]
