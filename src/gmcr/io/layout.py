"""From cells to samples: header, names, axis and orientation, decided by evidence that is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gmcr.errors import InputError
from gmcr.io.cells import AXIS_WORDS, LONG, NAME_WORDS, NO_CELLS, Cells, goes_one_way
from gmcr.io.formats import Asked
from gmcr.io.mutations import kind_of, mutation_types
from gmcr.io.opening import FilePath
from gmcr.io.table import BETWEEN, Table
from gmcr.io.units import unit_in
from gmcr.validation import FloatArray

Texts = dict[tuple[int, int], str]  # the cells that are text, by row and column
Place = Callable[[int, int], str]  # names a cell for a message, by row and column


@dataclass(frozen=True, eq=False)
class Grid:
    """All cells of a text table or a sheet."""

    numbers: FloatArray  # (rows, columns), NaN where a cell is missing or text
    texts: Texts
    first_row: Cells  # as written
    first_column: Cells
    place: Place

    def rows(self, start: int, stop: int) -> Grid:
        """The rows from `start` on, before `stop`."""
        return Grid(
            self.numbers[start:stop],
            {(i - start, j): text for (i, j), text in self.texts.items() if start <= i < stop},
            self.line(start),
            self.first_column[start:stop],
            lambda row, column: self.place(row + start, column),
        )

    def transposed(self) -> Grid:
        return Grid(
            self.numbers.T,
            {(column, row): text for (row, column), text in self.texts.items()},
            self.first_column,
            self.first_row,
            lambda row, column: self.place(column, row),
        )

    def text(self, row: int, column: int) -> str:
        """A cell as written: a number as short as it can be, since its own writing is not kept."""
        number = float(self.numbers[row, column])
        return self.texts.get((row, column), "" if np.isnan(number) else repr(number).removesuffix(".0"))

    def line(self, row: int) -> Cells:
        """A row's cells as written."""
        if row == 0:
            return self.first_row
        columns = range(self.numbers.shape[1])
        texts = [self.text(row, column) for column in columns]
        return Cells(texts, self.numbers[row], np.array([(row, column) in self.texts for column in columns]))


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table taken apart: a body, and what stands above and beside it."""

    body: FloatArray  # (rows, columns) numbers, NaN where a cell is missing or text
    texts: Texts = field(default_factory=dict)  # of the body
    top: Cells = NO_CELLS  # labels of the columns, where there are any
    left: Cells = NO_CELLS  # labels of the rows, where there are any
    corner: str = ""  # the heading of the labels
    place: Place = lambda row, column: f"row {row + 1}, column {column + 1}"

    def transposed(self) -> Sheet:
        texts = {(column, row): text for (row, column), text in self.texts.items()}
        below, _, beside = self.corner.partition(BETWEEN)
        corner, place = f"{beside}{BETWEEN}{below}", lambda row, column: self.place(column, row)
        return Sheet(self.body.T, texts, self.left, self.top, corner, place)


def take_apart(grid: Grid) -> Sheet:
    """Find whether the first row is a header and the first column holds labels."""
    corner, top, left = grid.first_row.texts[0].strip(), grid.first_row[1:], grid.first_column[1:]
    if not len(top):
        header, labels = bool(grid.first_row.is_text[0]), False
    elif grid.first_row.is_text[0] or corner == "":  # the corner belongs to a header or to a column of labels
        named, on_axis = _says_names(corner), _says_axis(corner)
        # A row of numbers beside a name may be a sample's, even if they happen to rise.
        unsure = (not len(left) or left.mostly_text) and len(top) < LONG
        header = top.mostly_text or top.unlabelled()[0].is_axis(even=unsure) or on_axis
        header = header or (named and (corner != "" or left.mostly_text))
        if header:
            labels = named or on_axis or not top.mostly_text or left.mostly_text or left.is_axis()
        else:
            labels = left.mostly_text or not len(left)
    else:
        both = top.is_axis(even=True) and left.is_axis(even=True)
        header = len(left) > 0 and (both or _stands_out(grid.first_row, grid.numbers[1:2].ravel()))
        labels = both or _stands_out(grid.first_column, grid.numbers[:, 1])
    row, column = int(header), int(labels)
    return Sheet(
        grid.numbers[row:, column:],
        {(i - row, j - column): text for (i, j), text in grid.texts.items() if i >= row and j >= column},
        grid.first_row[column:] if header else NO_CELLS,
        grid.first_column[row:] if labels else NO_CELLS,
        corner if header and labels else "",
        lambda i, j: grid.place(i + row, j + column),
    )


def arrange(
    path: FilePath, sheet: Sheet, asked: Asked, notes: list[str], metadata: dict[str, Any] | None = None
) -> Table:
    """The table's samples in rows, with names and axis, and notes on how that was decided."""
    if 0 in sheet.body.shape:
        raise InputError(f"{path} has a header and no data below it; add a row of numbers per sample.")
    columns, why = _orientation(sheet, notes)
    if asked.samples_in != "auto":
        columns, why = asked.samples_in == "columns", "as told"
    if columns:
        sheet = sheet.transposed()
    types = mutation_types(sheet.top.texts)
    metadata = dict(metadata or {})
    channels, unit = sheet.top.unlabelled()
    if types is None:
        sheet, channels = _set_aside(sheet, channels, metadata, notes)
    if sheet.texts:
        row, column = min(sheet.texts)
        raise InputError(
            f"{sheet.place(row, column)} is {sheet.texts[row, column]!r:.40}, which is no number; "
            "correct it, or leave the cell empty if the value is missing."
        )
    samples = np.ascontiguousarray(sheet.body, dtype=float)
    notes.append(orientation(samples, columns))
    if why:
        notes.append(f"That they are in {'columns' if columns else 'rows'} was decided {why}.")
    names = None
    if len(sheet.left):
        notes.append(f"The first {'row' if columns else 'column'} holds the names of the samples.")
        names = tuple(text.strip() for text in sheet.left.texts)
        heading = sheet.corner.partition(BETWEEN)[0].strip()
        if heading and len(set(names)) < len(names):  # they tell groups, such as runs, and can be asked for
            metadata.setdefault(heading, list(names))
    if types:
        notes.append(f"The channels are {len(types)} {kind_of(types[0])} mutation types.")
        return Table(samples, None, names, tuple(notes), channels=types, metadata=metadata)
    axis = _axis(channels, notes)
    if axis is not None:
        below, between, beside = sheet.corner.partition(BETWEEN)
        unit = unit or unit_in(beside.strip()) or (None if between and below.strip() else unit_in(below))
    unit = unit if axis is not None else None
    labels = tuple(text.strip() for text in channels.texts) if len(channels) and axis is None else None
    return Table(samples, axis, names, tuple(notes), axis_unit=unit, channels=labels, metadata=metadata)


def orientation(samples: FloatArray, columns: bool) -> str:
    """Which way samples run, in words."""
    n, d = samples.shape
    return f"Samples are in {'columns' if columns else 'rows'}: {n} x {d} (samples x channels)."


def _stands_out(first: Cells, second: FloatArray) -> bool:
    """Whether a line of numbers is an axis: even steps, or a long way in one direction that the next goes not."""
    if first.is_axis(even=True):
        return True
    return len(first) >= LONG and first.is_axis() and not goes_one_way(second)


def _says_names(heading: str) -> bool:
    return bool(NAME_WORDS.fullmatch(heading.partition(BETWEEN)[0].strip()))


def _says_axis(heading: str) -> bool:
    below = heading.partition(BETWEEN)[0].strip()
    return bool(AXIS_WORDS.search(below) or (below and unit_in(below)))


def _orientation(sheet: Sheet, notes: list[str]) -> tuple[bool, str]:
    """Whether samples are in columns, and what speaks for it ("" where the usual was taken without saying)."""
    top, left, corner = sheet.top, sheet.left, sheet.corner
    named, on_axis = corner.strip() != "" and _says_names(corner), _says_axis(corner)
    numbers = left.unlabelled()[0]
    counted = corner == "" and len(top) > 0 and numbers.counts
    left_axis = numbers.is_axis() and not (counted or named)
    top_axis = top.unlabelled()[0].is_axis()
    if mutation_types(left.texts):
        return True, "by the mutation types in the rows"
    if mutation_types(top.texts):
        return False, "by the mutation types in the columns"
    if left_axis and top_axis:
        notes.append("The first row and the first column could both be the axis; say which if this is wrong.")
        return on_axis, ""
    if left_axis:
        if numbers.counts and not on_axis:
            notes.append("The first column counts; if it numbers samples, say that samples are in rows.")
        return True, "by the axis in the first column"
    if top_axis:
        return False, "by the axis in the first row"
    if top.label("samples") and not left.label("samples"):
        return True, "by the names in the first row"
    if left.label("channels") and not top.label("channels"):
        return True, "by the names in the first column"
    if len(left) or len(top):
        return False, ""
    return False, "by custom, since nothing in the file says"


def _set_aside(
    sheet: Sheet, channels: Cells, metadata: dict[str, Any], notes: list[str]
) -> tuple[Sheet, Cells]:
    """Take what is no channel (text beside an axis of numbers, leading columns of text) into the metadata."""
    n_samples, n_columns = sheet.body.shape
    texts = np.zeros(n_columns, dtype=int)
    for _, column in sheet.texts:
        texts[column] += 1
    if channels.mostly_numbers:
        aside = np.isnan(channels.numbers)
    else:  # only leading columns; text further in is a mistake
        aside = np.cumprod(2 * texts > n_samples).astype(bool)
    if not aside.any() or aside.all():
        return sheet, channels
    for column in np.flatnonzero(aside).tolist():
        heading = (sheet.top.texts[column].strip() if len(sheet.top) else "") or f"column {column + 1}"
        metadata[heading] = [
            sheet.texts.get((row, column), number)
            for row, number in enumerate(sheet.body[:, column].tolist())
        ]
        notes.append(f"{heading!r:.60} is no channel; it was set aside as metadata.")
    kept = np.flatnonzero(~aside)
    position = {int(column): index for index, column in enumerate(kept)}
    moved = {(i, position[j]): text for (i, j), text in sheet.texts.items() if j in position}
    place = lambda row, column: sheet.place(row, int(kept[column]))  # noqa: E731
    remaining = replace(sheet, body=sheet.body[:, kept], texts=moved, place=place)
    return remaining, channels[kept] if len(channels) else channels


def _axis(channels: Cells, notes: list[str]) -> FloatArray | None:
    if len(channels) and np.isfinite(channels.numbers).all():
        notes.append(f"The axis runs from {channels.numbers[0]:g} to {channels.numbers[-1]:g}.")
        return channels.numbers
    if len(channels):
        notes.append("The labels of the channels are not numbers; the axis is the channel number.")
    else:
        notes.append("There is no axis; it is the channel number.")
    return None
