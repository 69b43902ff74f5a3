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
FEW = 5  # fewer numbers than this are no evidence by their steps alone
LONG = 20  # numbers that go one way for at least so long are an axis even in uneven steps
# Words in the corner cell that say what stands below it: names of samples, or the channel axis.
NAME_WORDS = re.compile(
    r"(sample|spectrum|mixture|file)?[ _]?(name|id|index|label|number|no|nr)?s?\.?", re.IGNORECASE
)
AXIS_WORDS = re.compile(
    r"wave|shift|\bnm\b|cm.?-?1|m/?z|ppm|channel|axis|energy|freq|\bx\b|mass", re.IGNORECASE
)
RUNS_AS_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # as a cell's first character, in a spreadsheet

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
        complete = [value for value in values if value is not None and not np.isnan(value)]
        return np.array(complete) if complete and len(complete) == len(cells) else None

    def is_text(self, cells: Sequence[str]) -> bool:
        """Whether most of the cells are text; a single one among numbers is a mistake, not a label."""
        return 2 * sum(_number(cell, self.decimal) is None for cell in cells) > len(cells)

    def is_axis(self, cells: Sequence[str], *, even: bool = False) -> bool:
        """Whether the cells are numbers that go one way only and, if asked for, in even steps."""
        values = self.numbers(cells)
        if values is None or len(values) < (FEW if even else 3):
            return False
        steps = np.diff(values)
        one_way = bool((steps > 0).all() or (steps < 0).all())
        return one_way and (not even or bool(np.ptp(steps) <= EVEN * np.abs(steps).mean()))


def read_csv(path: str | os.PathLike[str], *, samples_in: str = "auto") -> Table:
    """Read a text table of numbers; how it is written and laid out is inferred, and told in the notes.

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
        f"Samples are in {'columns' if columns else 'rows'}: {values.shape[0]} x {values.shape[1]} "
        "(samples x channels)."
    )
    if labels is not None:
        notes.append(f"The first {'row' if columns else 'column'} holds the names of the samples.")
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
    widths = [len(row) for row in rows[1:] or rows]
    width = max(set(widths), key=lambda width: (widths.count(width), width))
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


def _fitness(lines: list[str], delimiter: str, decimal: str) -> tuple[bool, float, int]:
    """How well a dialect suits: several columns, many numbers in lines of the usual width, many columns."""
    rows = _split(lines, delimiter)
    widths = [len(row) for row in rows]
    usual = max(widths, key=widths.count)
    good = sum(
        _number(cell, decimal) is not None and bool(cell.strip())
        for row in rows
        if len(row) == usual
        for cell in row
    )
    return usual > 1, round(good / sum(widths), 3), usual


# From cells to samples


def _layout(grid: _Grid, notes: list[str]) -> tuple[bool, bool, bool]:
    """Whether there is a header row, whether there is a column of labels, and whether samples are columns."""
    first_row, first_column = grid.rows[0], [row[0] for row in grid.rows]
    corner, top, left = first_row[0].strip(), first_row[1:], first_column[1:]
    if not top:
        return grid.is_text([corner]), False, False
    if grid.number(0, 0) is None or corner == "":  # the corner belongs to a header or to a column of labels
        named, on_axis = bool(NAME_WORDS.fullmatch(corner)), bool(AXIS_WORDS.search(corner))
        # A row of numbers beside a name may be a sample's, even if they happen to rise.
        unsure = (not left or grid.is_text(left)) and len(top) < LONG
        header = grid.is_text(top) or grid.is_axis(top, even=unsure) or on_axis
        header = header or (named and (corner != "" or grid.is_text(left)))
        if header:
            labels = named or on_axis or not grid.is_text(top) or grid.is_text(left) or grid.is_axis(left)
        else:
            labels = grid.is_text(left) or not left
    else:
        named = on_axis = False
        both = grid.is_axis(top, even=True) and grid.is_axis(left, even=True)
        header = both or grid.is_axis(first_row, even=True)
        labels = both or grid.is_axis(first_column, even=True)

    counted = corner == "" and left == [str(index) for index in range(len(left))]
    left_axis = labels and grid.is_axis(left) and not (counted or (named and corner != ""))
    top_axis = header and grid.is_axis(top)
    if left_axis and top_axis:
        notes.append("The first row and the first column could both be the axis; say which if this is wrong.")
    return header, labels, left_axis and (on_axis or not top_axis)


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
        numbers = [_number(cell, grid.decimal) for cell in row[first_column:]]
        if None in numbers:
            column = first_column + numbers.index(None)
            raise InputError(
                f"{path} line {grid.lines[first_row + index]}, column {column + 1} is {row[column]!r:.40}, "
                "which is no number; correct it, or leave the cell empty if the value is missing."
            )
        values[index] = numbers
    return values
