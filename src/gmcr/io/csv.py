"""Tables of numbers as text: CSV and its relatives, with what a file does not say inferred and told."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gmcr.errors import FileError, InputError
from gmcr.io.table import Table
from gmcr.validation import FloatArray

SNIFFED_LINES = 40  # lines looked at to find the delimiter and the decimal mark
MISSING = {"", "na", "n/a", "nan", "null", "none", "-", "--", "?", "#n/a"}
EVEN = 0.01  # steps that differ by less than this share make a row or column of numbers look like an axis
# Words in the corner cell that say what stands below it: names of samples, or the channel axis.
NAME_WORDS = re.compile(r"sample|name|id\b|index|label|spectrum|mixture|n[or]\b", re.IGNORECASE)
AXIS_WORDS = re.compile(
    r"wave|shift|nm\b|cm.?-?1|m/?z|ppm|channel|axis|energy|freq|x\b|time|mass", re.IGNORECASE
)
RUNS_AS_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # first characters on which a spreadsheet starts to compute

_NUMBER = {
    ".": re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eEdD][+-]?\d+)?"),
    ",": re.compile(r"[+-]?(\d+(,\d+)?|,\d+)([eEdD][+-]?\d+)?"),
}
_DIALECTS = [("\t", "."), ("\t", ","), (";", "."), (";", ","), (",", "."), (" ", "."), (" ", ",")]
_SPOKEN = {"\t": "tabs", ";": "semicolons", ",": "commas", " ": "spaces"}


@dataclass(frozen=True)
class _Grid:
    """The file's cells: text with the line it stands on, and how numbers are written."""

    rows: list[list[str]]
    lines: list[int]
    decimal: str

    def number(self, row: int, column: int) -> float | None:
        return _number(self.rows[row][column], self.decimal)

    def numbers(self, cells: Sequence[str]) -> FloatArray | None:
        """The cells as numbers, or None if one of them is text or missing."""
        values = [_number(cell, self.decimal) for cell in cells]
        return None if not values or None in values or np.isnan(values).any() else np.array(values)


def read_csv(path: str | os.PathLike[str], *, samples_in: str = "auto") -> Table:
    """Read a text table of numbers; delimiter, decimal mark, header, names, axis and orientation are inferred.

    Parameters
    ----------
    path : a file with one row of cells per line; lines that begin with # are skipped
    samples_in : "rows", "columns" or "auto", which goes by where the axis stands

    Returns
    -------
    Table
    """
    if samples_in not in ("auto", "rows", "columns"):
        raise InputError(f'samples_in must be "auto", "rows" or "columns", not {samples_in!r}.')
    grid, notes = _read_grid(path)
    has_header, has_labels, columns = _layout(grid, notes)
    first_row, first_column = int(has_header), int(has_labels)
    header = grid.rows[0][first_column:] if has_header else None
    labels = [row[0] for row in grid.rows[first_row:]] if has_labels else None
    values = _values(grid, first_row, first_column, path)
    if samples_in != "auto":
        columns = samples_in == "columns"
    if columns:
        values, header, labels = np.ascontiguousarray(values.T), labels, header
    notes.append(
        f"Samples are in {'columns' if columns else 'rows'}: {values.shape[0]} samples x "
        f"{values.shape[1]} channels."
    )
    axis = _axis(grid, header, notes)
    names = None if labels is None else tuple(_unescaped(label.strip()) for label in labels)
    return Table(values, axis, names, tuple(notes))


def write_csv(path: str | os.PathLike[str], header: Sequence[Any], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table, whole or not at all; numbers read back exactly, and no text runs as a formula."""
    from gmcr.storage import write_whole

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([_cell(value) for value in header])
    writer.writerows([_cell(value) for value in row] for row in rows)
    write_whole(path, text.getvalue().encode())


# Cells


def _number(cell: str, decimal: str) -> float | None:
    """The cell's number, NaN if it is marked as missing, None if it is text."""
    cell = cell.strip()
    if _NUMBER[decimal].fullmatch(cell):
        return float(cell.replace(",", ".").replace("d", "e").replace("D", "e"))
    return float("nan") if cell.lower() in MISSING else None


def _cell(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else repr(float(value))
    text = str(value)
    harmless = not text.startswith(RUNS_AS_FORMULA) or _NUMBER["."].fullmatch(text)
    return text if harmless else "'" + text


def _unescaped(text: str) -> str:
    return text[1:] if text.startswith("'") and text[1:].startswith(RUNS_AS_FORMULA) else text


# From text to cells


def _read_grid(path: str | os.PathLike[str]) -> tuple[_Grid, list[str]]:
    lines = _numbered_lines(path)
    texts = [text for _, text in lines]
    delimiter, decimal = max(_DIALECTS, key=lambda dialect: _fitness(texts[:SNIFFED_LINES], *dialect))
    rows = _split(texts, delimiter)
    width = max(len(row) for row in rows[1:2] or rows)
    if len(rows) > 1 and len(rows[0]) == width - 1:
        rows[0] = ["", *rows[0]]  # a header without a cell over the names
    for (line, _), row in zip(lines, rows):
        if len(row) != width:
            raise InputError(
                f"{path} line {line} has {len(row)} columns where {width} are expected; "
                "give every line the same number of cells, separated the same way."
            )
    mark = ", decimal commas" if decimal == "," else ""
    notes = [f"Cells are separated by {_SPOKEN[delimiter]}{mark}." if width > 1 else "There is one column."]
    return _Grid(rows, [line for line, _ in lines], decimal), notes


def _numbered_lines(path: str | os.PathLike[str]) -> list[tuple[int, str]]:
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise FileError(f"{path} could not be read: {error.strerror or error}.") from error
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    else:
        encoding = "utf-8-sig"
        if b"\0" in content:
            raise FileError(f"{path} is not a text table: it holds binary data; export it as CSV.")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1)]
    lines = [(number, line) for number, line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not lines:
        raise FileError(f"{path} is empty; give a table with a row of numbers per sample.")
    return lines


def _split(lines: list[str], delimiter: str) -> list[list[str]]:
    if delimiter == " ":
        return [line.split() for line in lines]
    return [next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [""]) for line in lines]


def _fitness(lines: list[str], delimiter: str, decimal: str) -> tuple[float, int]:
    """How well a dialect suits: share of cells that are numbers in lines of the usual width, then the width."""
    rows = _split(lines, delimiter)
    widths = [len(row) for row in rows]
    usual = max(widths, key=widths.count)
    good = sum(
        _number(cell, decimal) is not None and bool(cell.strip())
        for row in rows
        if len(row) == usual
        for cell in row
    )
    return round(good / sum(widths), 3), usual


# From cells to samples


def _layout(grid: _Grid, notes: list[str]) -> tuple[bool, bool, bool]:
    """Whether there is a header row, whether there is a column of labels, and whether samples are columns."""
    height, width = len(grid.rows), len(grid.rows[0])
    top, left = grid.rows[0][1:], [row[0] for row in grid.rows[1:]]
    corner = grid.rows[0][0].strip()
    corner_is_text = grid.number(0, 0) is None or corner == ""
    top_axis, left_axis = _looks_like_axis(grid.numbers(top)), _looks_like_axis(grid.numbers(left))
    top_text, left_text = _has_text(top, grid.decimal), _has_text(left, grid.decimal)
    even_top, even_left = (
        _looks_like_axis(grid.numbers(cells), even=True)
        for cells in (grid.rows[0], [row[0] for row in grid.rows])
    )
    if height == 1 or width == 1:
        return top_text or (height > 1 and corner_is_text), False, False
    if corner_is_text and not (left_text or top_text) and not (top_axis or left_axis):
        raise InputError(
            f"line {grid.lines[0]} begins with {corner!r} but neither the first row nor the first column is an "
            "axis; remove that cell, or add a header row."
        )
    has_header = top_text or corner_is_text or (even_top and not even_left)
    has_labels = left_text or corner_is_text or (even_left and not even_top)
    if even_top and even_left and not (corner_is_text or top_text or left_text):
        notes.append("Both the first row and the first column look like an axis; neither was taken as one.")
    if has_header and top_text and not corner_is_text and not left_text:
        has_labels = even_left
    columns = False
    if left_axis and has_labels:
        named = bool(NAME_WORDS.search(corner))
        columns = not named and (not top_axis or bool(AXIS_WORDS.search(corner)))
        if top_axis and not named and not columns:
            notes.append(
                "Both the first row and the first column could be the axis; the first row was taken. "
                "Say that samples are in columns if that is wrong."
            )
    return has_header, has_labels, columns


def _has_text(cells: Sequence[str], decimal: str) -> bool:
    return any(_number(cell, decimal) is None for cell in cells)


def _looks_like_axis(values: FloatArray | None, *, even: bool = False) -> bool:
    """Whether numbers go one way only, and, if asked for, in even steps."""
    if values is None or len(values) < 3:
        return False
    steps = np.diff(values)
    one_way = bool((steps > 0).all() or (steps < 0).all())
    return one_way and (not even or bool(np.ptp(steps) <= EVEN * np.abs(steps).mean()))


def _axis(grid: _Grid, cells: Sequence[str] | None, notes: list[str]) -> FloatArray | None:
    axis = None if cells is None else grid.numbers(cells)
    if axis is not None:
        notes.append(f"The axis runs from {axis[0]:g} to {axis[-1]:g}.")
    elif cells is not None:
        notes.append("The labels of the channels are not numbers; the axis is the channel number.")
    else:
        notes.append("There is no axis; it is the channel number.")
    return axis


def _values(grid: _Grid, first_row: int, first_column: int, path: str | os.PathLike[str]) -> FloatArray:
    rows = grid.rows[first_row:]
    if not rows:
        raise InputError(f"{path} has a header and no data below it; add a row of numbers per sample.")
    values = np.empty((len(rows), len(rows[0]) - first_column))
    for index, row in enumerate(rows):
        for column, cell in enumerate(row[first_column:], start=first_column):
            number = _number(cell, grid.decimal)
            if number is None:
                raise InputError(
                    f"{path} line {grid.lines[first_row + index]}, column {column + 1} holds {cell!r:.40}, which "
                    "is no number; correct it, or leave the cell empty if the value is missing."
                )
            values[index, column - first_column] = number
    return values
