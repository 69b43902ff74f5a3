"""What a table of the page is, and its cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from gmcr.reporting.words import number


@dataclass(frozen=True)
class Cell:
    """Text, and what to sort it by where the text does not tell; or markup of our own."""

    text: str
    sort: float | None = None
    markup: Markup | None = None
    status: str = ""


@dataclass(frozen=True)
class Listing:
    """A table: columns as (heading, whether it holds numbers), rows of cells, and what to know about it."""

    name: str
    caption: str
    columns: list[tuple[str, bool]]
    rows: list[list[Cell]]
    note: str = ""


def number_cell(value: Any, digits: int = 4) -> Cell:
    return Cell(number(value, digits), finite(value))


def count_cell(value: Any) -> Cell:
    return Cell("skipped" if value is None else f"{int(value):,}", finite(value))


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
