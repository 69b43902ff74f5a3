"""Tables in which every spectrum has a column of positions of its own: X, Y, X, Y, as UV/Vis programs export."""

from __future__ import annotations

import numpy as np

from gmcr.io.cells import goes_one_way
from gmcr.io.layout import Grid
from gmcr.io.spectra import Spectrum
from gmcr.io.units import unit_in
from gmcr.io.words import CHANNELS, says
from gmcr.validation import FloatArray

FEWEST = 3  # points of a spectrum


def spectra_in_pairs(grid: Grid, samples_in: str) -> list[Spectrum]:
    """The spectra of a table of pairs of columns, or of rows; none if it is no such table."""
    ways = {"columns": (grid,), "rows": (grid.transposed(),)}.get(samples_in, (grid, grid.transposed()))
    return next((found for way in ways if (found := _in_columns(way))), [])


def _in_columns(grid: Grid) -> list[Spectrum]:
    numbers = grid.numbers
    n_columns = numbers.shape[1]
    if n_columns < 4 or n_columns % 2:
        return []
    filled = np.isfinite(numbers)
    start = int(np.argmax(filled[:, :2].all(axis=1)))
    body = numbers[start:]
    stop = len(body) - int(np.argmax(np.asarray(filled[start:].any(axis=1))[::-1]))
    parts = [_points(body[:stop, place : place + 2]) for place in range(0, n_columns, 2)]
    points = [part for part in parts if part is not None]
    if len(points) < len(parts) or any(start <= row < start + stop for row, _ in grid.texts):
        return []
    headings = [[cell.strip() for cell in grid.line(row).texts] for row in range(start)]
    if not (_repeated(headings) or all(np.array_equal(part[0], points[0][0]) for part in points[1:])):
        return []
    names = _names(headings, n_columns)
    unit = next((unit for row in headings for cell in row[::2] if (unit := unit_in(cell))), None)
    return [Spectrum(values, axis, name, unit) for (axis, values), name in zip(points, names)]


def _points(pair: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Positions and values of one spectrum, which may end before others do; None if these are none."""
    placed = np.isfinite(pair[:, 0])
    count = int(placed.sum())
    whole = placed[:count].all() and not np.isfinite(pair[count:, 1]).any()
    if count < FEWEST or not whole or not goes_one_way(pair[:count, 0]):
        return None
    return pair[:count, 0], pair[:count, 1]


def _repeated(headings: list[list[str]]) -> bool:
    """Whether a row of headings says, over every pair alike, that positions stand in its first column."""
    return any(
        len(set(row[::2])) == 1 and says(row[0]) == CHANNELS and says(row[1]) != CHANNELS for row in headings
    )


def _names(headings: list[list[str]], n_columns: int) -> list[str]:
    """The names of the spectra: texts over one column of each pair that tell them apart, or their numbers."""
    for row in reversed(headings):
        for cells in (row[1::2], row[::2]):
            if all(cells) and len(set(cells)) == len(cells):
                return cells
    return [f"spectrum {number}" for number in range(1, n_columns // 2 + 1)]
