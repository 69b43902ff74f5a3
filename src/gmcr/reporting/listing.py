"""What a table of the page is: columns, and cells of text or numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from gmcr.reporting.words import number
from gmcr.validation import FloatArray


@dataclass(frozen=True)
class Column:
    """A heading; whether numbers stand below it, or long texts, or pictures, which nothing sorts by."""

    heading: str
    numeric: bool = False
    wordy: bool = False
    pictures: bool = False


@dataclass(frozen=True, eq=False)
class Cell:
    """Text, with what to sort it by where the text does not tell; a status; or a curve to draw small."""

    text: str
    sort: float | None = None
    status: str = ""
    curve: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class Listing:
    """A table of a report: its rows hold a cell for each column, and `note` tells what to know about it.

    tall : whether it can be long, so that it scrolls by itself
    folded : what stands for it until it is asked for; by default it is seen at once
    """

    name: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    tall: bool = False
    folded: str = ""

    @classmethod
    def of(cls, name: str, caption: str, frame: pd.DataFrame) -> Listing:
        """A DataFrame as a table of a report."""
        columns = [Column(str(name), pd.api.types.is_numeric_dtype(frame[name])) for name in frame.columns]
        rows = [[any_cell(value) for value in row] for row in frame.itertuples(index=False)]
        return cls(name, caption, columns, rows)


def texts(*headings: str) -> list[Column]:
    return [Column(heading) for heading in headings]


def numbers(*headings: str) -> list[Column]:
    return [Column(heading, numeric=True) for heading in headings]


def number_cell(value: Any, digits: int = 4) -> Cell:
    return Cell(number(value, digits), finite(value))


def count_cell(value: Any) -> Cell:
    return Cell("skipped" if value is None else f"{int(value):,}", finite(value))


def share_cell(value: float) -> Cell:
    return Cell(f"{value:.1%}" if np.isfinite(value) else "–", finite(value))


def fixed_cell(value: float) -> Cell:
    return Cell(f"{value:.3f}", float(value))


def finite(value: Any) -> float | None:
    return float(value) if value is not None and np.isfinite(value) else None


def any_cell(value: Any) -> Cell:
    if isinstance(value, bool | np.bool_):
        return Cell("yes" if value else "", float(value))
    if isinstance(value, float | np.floating):
        return number_cell(value, 6)
    if isinstance(value, int | np.integer):
        return count_cell(value)
    return Cell(str(value))
