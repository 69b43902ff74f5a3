"""Lines that instruments write around a table: told apart from it, left out, and said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gmcr.io.catalogues import mutation_sheet
from gmcr.io.cells import FEW, Cells
from gmcr.io.formats import Asked
from gmcr.io.layout import Grid, arrange, take_apart
from gmcr.io.long import BY_REPEATS, sheet_of_long
from gmcr.io.marks import marks_of
from gmcr.io.opening import FilePath
from gmcr.io.pairs import spectra_in_pairs
from gmcr.io.spectra import join
from gmcr.io.table import Table
from gmcr.io.units import as_unit_alone, unit_in
from gmcr.io.words import says
from gmcr.validation import BoolArray


def table_of_grid(path: FilePath, grid: Grid, asked: Asked, notes: list[str]) -> Table:
    """The samples of a text table or of a sheet, with notes on what was inferred."""
    grid = _without_empty_edges(grid, notes)
    if asked.marks:
        return marks_of(path, grid)
    sheet = mutation_sheet(grid, asked.samples_in, notes)
    if sheet is not None:
        return arrange(path, sheet, asked, notes)
    if spectra := spectra_in_pairs(grid, asked.samples_in):
        return join(path, spectra, [*notes, "Each spectrum has a column of positions of its own."], asked)
    grid = _without_preamble(grid, notes)
    if long := sheet_of_long(grid):
        return arrange(path, long[0], asked, notes, long[1], BY_REPEATS)
    return arrange(path, take_apart(grid), asked, notes)


def _without_preamble(grid: Grid, notes: list[str]) -> Grid:
    """The table's own cells, without the texts above and below it.

    The line right above the first row of numbers is kept, since it may be the header. A line further up is left
    out if it is text where the table has numbers; one that is not lets everything stay, to be refused later.
    """
    is_text = np.zeros(grid.numbers.shape, dtype=bool)
    if grid.texts:
        is_text[tuple(np.array(list(grid.texts)).T)] = True
    start = _first_row(grid, is_text)
    if start > 0:
        grid, is_text = grid.rows(start, len(is_text)), is_text[start:]
        notes.append(_left_out(start, "above"))
    end = _end(grid, is_text)
    if end < len(grid.numbers):
        notes.append(_left_out(len(grid.numbers) - end, "below"))
        grid = grid.rows(0, end)
    return _without_units(grid, notes)


def _without_units(grid: Grid, notes: list[str]) -> Grid:
    """The table without a row of units under its header; that of the axis goes to the heading above it."""
    n_rows, n_columns = grid.numbers.shape
    unit = grid.texts.get((1, 0), "")
    corner = grid.first_row.texts[0].strip()
    is_row = n_rows > 3 and n_columns > 1 and bool(np.isnan(grid.numbers[1]).all())
    if not is_row or as_unit_alone(unit) is None or not (corner == "" or grid.first_row.is_text[0]):
        return grid
    others = [grid.text(1, column) for column in range(1, n_columns)]
    notes.append(f"The row of units was taken for that: {', '.join(dict.fromkeys([unit, *others]))}.")
    heading = corner if unit_in(corner) else f"{corner} ({unit.strip('()[]')})".strip()
    return grid.take(np.array([0, *range(2, n_rows)])).headed(heading)


def _left_out(count: int, where: str) -> str:
    lines, were = ("The line", "was") if count == 1 else (f"The {count} lines", "were")
    return f"{lines} {where} the table {were} left out."


def _without_empty_edges(grid: Grid, notes: list[str]) -> Grid:
    """Without the empty rows at top and bottom and the empty columns at the right that spreadsheets leave."""
    filled = ~np.isnan(grid.numbers)
    for row, column in grid.texts:
        filled[row, column] = True
    if not filled.any():
        return grid
    top = int(np.argmax(filled.any(axis=1)))
    if top and not any(text.strip() for text in grid.first_row.texts + grid.first_column[:top].texts):
        return _without_empty_edges(grid.rows(top, len(filled)), notes)
    height, width = np.flatnonzero(filled.any(axis=1))[-1] + 1, np.flatnonzero(filled.any(axis=0))[-1] + 1
    width, height = max(width, _written(grid.first_row)), max(height, _written(grid.first_column))
    if (height, width) == grid.numbers.shape:
        return grid
    notes.append("Empty rows at the bottom and empty columns at the right were left out.")
    grid = grid.rows(0, height)
    return replace(grid, numbers=grid.numbers[:, :width], first_row=grid.first_row[:width])


def _written(cells: Cells) -> int:
    """The number of cells up to the last one with a text."""
    return max((place + 1 for place, text in enumerate(cells.texts) if text.strip()), default=0)


def _first_row(grid: Grid, is_text: BoolArray) -> int:
    """How many rows stand above the table, its header not among them."""
    n_rows, n_columns = grid.numbers.shape
    if n_columns < 2 or not grid.texts:
        return 0
    named = 2 * int(is_text[:, 0].sum()) > n_rows
    numeric = 2 * (~np.isnan(grid.numbers[:, 1:])).sum(axis=1) >= n_columns - 1
    data = numeric & ~is_text[:, 1:].any(axis=1) & (is_text[:, 0] == named)
    body = int(np.argmax(data)) if data.any() else 0
    if body == 0:
        return 0
    missing = np.isnan(grid.numbers[:body, 1:]) & ~is_text[:body, 1:]
    full = np.flatnonzero(~missing.any(axis=1) & is_text[:body, 1:].all(axis=1))
    if full.size and n_columns > 2:
        # A header; what stands between it and the numbers is about the samples.
        speaking = [row for row in full.tolist() if _speaks(grid.texts.get((row, 0), ""))]
        body = (speaking[0] if speaking else int(full[-1])) + 1
    above = slice(0, body - 1)
    mostly_text = 2 * is_text[above, 1:].sum(axis=1) > n_columns - 1
    no_numbers = np.isnan(grid.numbers[above, 1:]).all(axis=1)
    # "Integration time, 100" over a spectrum in two columns has a number too, but no place in it.
    spectrum = n_columns == 2 and not named and grid.first_column[body:].is_axis() and n_rows - body >= FEW
    if not (mostly_text | no_numbers | (is_text[above, 0] & spectrum)).all():
        return 0
    lone = not is_text[body - 1, 1:].any() and bool(np.isnan(grid.numbers[body - 1, 1:]).all())
    if lone and n_columns > 2:
        return body  # no header
    last = grid.texts.get((body - 1, 0), "")
    return body if spectrum and not _speaks(last) and not is_text[body - 1, 1] else body - 1


def _speaks(heading: str) -> bool:
    """Whether a first cell is the heading of names or of an axis; an empty one may be."""
    return heading == "" or says(heading) != ""


def _end(grid: Grid, is_text: BoolArray) -> int:
    """The number of rows up to the last one that is not a lone text below numbers."""
    n_rows, n_columns = grid.numbers.shape
    if n_columns < 2 or 2 * int(is_text[:, 0].sum()) > n_rows:
        return n_rows
    lone = is_text[:, 0] & ~is_text[:, 1:].any(axis=1) & np.isnan(grid.numbers[:, 1:]).all(axis=1)
    return n_rows - int(np.argmin(lone[::-1])) if not lone.all() else n_rows
