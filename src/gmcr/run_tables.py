"""The tables of a run: what they hold, the workbook that holds them all, and new names of components in them."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gmcr.decomposition import Decomposition
from gmcr.estimators.window import GMCR
from gmcr.io.cells import as_number
from gmcr.io.csv import unescaped, write_csv
from gmcr.io.table import Table, corner
from gmcr.io.xlsx import write_book

if TYPE_CHECKING:
    from gmcr.estimators.eb import EBgMCR  # needs torch

AMOUNTS = "amounts.csv"  # in units, of a calibrated model
TABLES = ("profiles.csv", "concentrations.csv", "supports.csv", "path.csv")
BY_COMPONENT = ("profiles.csv", "concentrations.csv", "supports.csv", "fractions.csv", "areas.csv")
WORKBOOK = "run.xlsx"  # all tables, a sheet each

SHEETS = (*TABLES, "fractions.csv", AMOUNTS, "areas.csv", "rates.csv", "bands.csv", "history.csv")
Tables = dict[str, tuple[list[Any], Any]]  # by file name: header and rows


def common_tables(found: Decomposition, table: Table) -> Tables:
    components, names = found.names, names_of(table)
    over, header = [corner("component", table.axis_unit), *table.labels], ["sample", *components]
    return {
        "profiles.csv": (over, _labelled(components, found.components)),
        "concentrations.csv": (header, _labelled(names, found.concentrations)),
        "supports.csv": (header, _labelled(names, found.supports.astype(int))),
    }


def own_tables(model: GMCR | EBgMCR, table: Table) -> Tables:
    """Those that one solver has and the other has not."""
    if isinstance(model, GMCR):
        tables: Tables = {"path.csv": (list(model.path_.columns), model.path_.itertuples(index=False))}
        if model.fractions_ is not None:
            rows = _labelled(names_of(table), model.fractions_)
            tables["fractions.csv"] = (["sample", *model.decomposition_.names], rows)
        if model.calibration_ is not None and hasattr(model, "decoding_"):
            amounts = model.decoding_.amounts.table()
            tables[AMOUNTS] = (["sample", *amounts.columns], _labelled(names_of(table), amounts.to_numpy()))
        areas = model.areas_
        if areas is not None:
            tables["areas.csv"] = (["run", *areas.columns], _labelled(areas.index, areas.to_numpy()))
        if model.rates_ is not None:
            rates = model.rates_
            columns = (rates.steps, rates.values, rates.errors, *rates.intervals())
            tables["rates.csv"] = (["step", "rate", "error", "low", "high"], zip(*columns))
        return tables
    of_bands = ["low", "high", "epoch", "count", "r2", "usage"]
    return {
        "bands.csv": (of_bands, ([getattr(band, name) for name in of_bands] for band in model.bands_)),
        "history.csv": (list(model.history_.columns), model.history_.itertuples(index=False)),
    }


def names_of(table: Table) -> Sequence[str]:
    """The samples' names, or their numbers."""
    return table.sample_names or [str(index) for index in range(len(table.samples))]


def _labelled(labels: Any, rows: Any) -> Iterator[list[Any]]:
    """Rows of a table, each behind its label."""
    return ([label, *row] for label, row in zip(labels, rows, strict=True))


def write_workbook(folder: Path, names: Sequence[str]) -> None:
    """All tables of these names, as the files have them, in one workbook."""
    write_book(folder / WORKBOOK, {Path(name).stem: map(_cells, _rows(folder / name)) for name in names})


def rename_in_tables(folder: Path, names: Mapping[str, str]) -> None:
    """Give components other names in the tables of a folder, and in its workbook; names : new by old."""
    for name in BY_COMPONENT:
        if not (folder / name).exists():
            continue
        header, *rows = _rows(folder / name)
        if name == "profiles.csv":
            rows = [[names.get(label, label), *row] for label, *row in rows]
        else:
            header = [header[0], *(names.get(label, label) for label in header[1:])]
        write_csv(folder / name, header, rows)
    there = sorted(path.name for path in folder.glob("*.csv") if path.name in SHEETS)
    if (folder / WORKBOOK).exists():
        write_workbook(folder, sorted(there, key=SHEETS.index))


def _rows(path: Path) -> list[list[str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return [[unescaped(cell) for cell in row] for row in csv.reader(file)]


def _cells(row: list[str]) -> list[Any]:
    """Cells as numbers where they are, nothing where they are empty."""
    return [None if cell == "" else cell if (number := as_number(cell)) is None else number for cell in row]
