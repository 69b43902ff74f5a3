"""From cells to samples: header, names, axis and orientation, decided by evidence that is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gmcr.errors import InputError
from gmcr.io.cells import LONG, NO_CELLS, Cells, goes_one_way
from gmcr.io.formats import Asked
from gmcr.io.image import as_image
from gmcr.io.mutations import kind_of, mutation_types
from gmcr.io.opening import FilePath
from gmcr.io.orientation import Orientation, headings_in, orientation_of
from gmcr.io.table import BETWEEN, Table
from gmcr.io.units import unit_in
from gmcr.io.words import ORDER, SAMPLES, says
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
        return self.take(np.arange(start, stop))

    def take(self, rows: NDArray[np.intp]) -> Grid:
        """The rows with these numbers."""
        at = {int(row): place for place, row in enumerate(rows)}
        return Grid(
            self.numbers[rows],
            {(at[i], j): text for (i, j), text in self.texts.items() if i in at},
            self.line(int(rows[0])),
            self.first_column[rows],
            lambda row, column: self.place(int(rows[row]), column),
        )

    def headed(self, corner: str) -> Grid:
        """The same with another text in the first cell."""
        row, column = (
            Cells(
                [corner, *cells.texts[1:]],
                np.array([np.nan, *cells.numbers[1:]]),
                np.array([True, *cells.is_text[1:]]),
            )
            for cells in (self.first_row, self.first_column)
        )
        return replace(self, texts=self.texts | {(0, 0): corner}, first_row=row, first_column=column)

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
        below, beside = headings_in(self.corner)
        corner, place = f"{beside}{BETWEEN}{below}", lambda row, column: self.place(column, row)
        return Sheet(self.body.T, texts, self.left, self.top, corner, place)


def take_apart(grid: Grid) -> Sheet:
    """Find whether the first row is a header and the first column holds labels."""
    corner, top, left = grid.first_row.texts[0].strip(), grid.first_row[1:], grid.first_column[1:]
    if not len(top):
        header, labels = bool(grid.first_row.is_text[0]), False
    elif grid.first_row.is_text[0] or corner == "":  # the corner belongs to a header or to a column of labels
        kind = says(headings_in(corner)[0])
        named, on_axis = corner == "" or kind == SAMPLES, kind not in ("", SAMPLES)
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
    path: FilePath,
    sheet: Sheet,
    asked: Asked,
    notes: list[str],
    metadata: dict[str, Any] | None = None,
    known: Orientation | None = None,
) -> Table:
    """The table's samples in rows, with names and axis, and notes on how that was decided.

    known : which way samples run, where the form of the table has told it
    """
    if 0 in sheet.body.shape:
        raise InputError(f"{path} has a header and no data below it; add a row of numbers per sample.")
    way = orientation_of(sheet.top, sheet.left, sheet.corner).told(asked.samples_in)
    way = way if known is None else replace(known, headings=way.headings)
    if way.columns:
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
    notes.append(way.sentence(samples[~np.isnan(samples).all(axis=1)]))
    names, following = None, ""
    if len(sheet.left):
        notes.append(f"The first {'row' if way.columns else 'column'} holds the names of the samples.")
        names = tuple(text.strip() for text in sheet.left.texts)
        heading, numbers = way.of_samples, sheet.left.numbers
        if says(heading) == ORDER and np.isfinite(numbers).all():  # times and the like, to be asked for
            metadata.setdefault(heading, numbers.tolist())
            following = heading
        elif heading and len(set(names)) < len(names):  # they tell groups, such as runs, and can be asked for
            metadata.setdefault(heading, list(names))
    if types:
        notes.append(f"The channels are {len(types)} {kind_of(types[0])} mutation types.")
        return Table(samples, None, names, tuple(notes), channels=types, metadata=metadata)
    axis = _axis(channels, notes)
    if axis is not None:
        unit = unit or unit_in(way.of_channels)
    unit = unit if axis is not None else None
    labels = tuple(text.strip() for text in channels.texts) if len(channels) and axis is None else None
    table = Table(
        samples,
        axis,
        names,
        tuple(notes),
        axis_unit=unit,
        channels=labels,
        metadata=metadata,
        row_label=following,
    )
    first = {headings_in(sheet.corner)[0]: sheet.left.numbers.tolist()} if len(sheet.left) else {}
    return as_image(table, first | metadata | first)


def _stands_out(first: Cells, second: FloatArray) -> bool:
    """Whether a line of numbers is an axis: even steps, or a long way in one direction that the next goes not."""
    if first.is_axis(even=True):
        return True
    return len(first) >= LONG and first.is_axis() and not goes_one_way(second)


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
