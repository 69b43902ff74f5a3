"""Long tables: a row per sample and channel, as map exports and tidy data write them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gmcr.io.cells import Cells, goes_one_way
from gmcr.io.layout import Grid, Sheet
from gmcr.io.orientation import Orientation
from gmcr.io.table import BETWEEN

FEWEST = 3  # channels of a sample
MOST_LABELS = 3  # columns that say which sample it is, such as its name, x and y
BY_REPEATS = Orientation(False, "one after the other, a row per channel")


def sheet_of_long(grid: Grid) -> tuple[Sheet, dict[str, Any]] | None:
    """A sheet with a row per sample, and what else is said of the samples; None if the table is not long.

    The last column holds the values, the one before it the channels, which repeat for every sample, and those
    before it labels, which stay while the channels run.
    """
    n_columns = grid.numbers.shape[1]
    if not 3 <= n_columns <= MOST_LABELS + 2:
        return None
    header = int(np.isnan(grid.numbers[0, -2:]).all() and (0, n_columns - 1) in grid.texts)
    numbers, axis = grid.numbers[header:], grid.numbers[header:, -2]
    if not np.isfinite(axis).all() or any(
        row >= header and column >= n_columns - 2 for row, column in grid.texts
    ):
        return None
    again = np.flatnonzero(axis[1:] == axis[:1]) + 1
    period = int(again[0]) if again.size else 0
    if period < FEWEST or len(axis) % period or not goes_one_way(axis[:period]):
        return None
    blocks = numbers.reshape(-1, period, n_columns)
    labels = [
        [[grid.text(header + m * period + i, j) for i in (0, period - 1)] for m in range(len(blocks))]
        for j in range(n_columns - 2)
    ]
    stays = all(first == last for column in labels for first, last in column)
    keys = list(zip(*([first for first, _ in column] for column in labels)))
    if not stays or not (blocks[:, :, -2] == axis[:period]).all() or len(set(keys)) < len(keys):
        return None
    headings = [grid.text(0, j).strip() if header else "" for j in range(n_columns)]
    others = {
        headings[j] or f"column {j}": _values([key[j] for key in keys]) for j in range(1, n_columns - 2)
    }
    sheet = Sheet(
        np.ascontiguousarray(blocks[:, :, -1]),
        top=Cells.parse([repr(float(value)) for value in axis[:period]]),
        left=Cells.parse([key[0] for key in keys]),
        corner=f"{headings[0]}{BETWEEN}{headings[-2]}",
        place=lambda row, column: grid.place(header + row * period + column, n_columns - 1),
    )
    return sheet, others


def _values(texts: list[str]) -> list[Any]:
    """Numbers where all are, else texts."""
    cells = Cells.parse(texts)
    return cells.numbers.tolist() if np.isfinite(cells.numbers).all() else texts
