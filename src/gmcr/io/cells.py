"""Cells of tables: which of them are numbers, and which rows or columns of them look like an axis."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gmcr.io.units import as_unit_alone
from gmcr.io.words import PREFIX
from gmcr.validation import BoolArray, FloatArray

MISSING = {"", "na", "n/a", "nan", "null", "none", "-", "--", "?", "#n/a"}
EVEN = 0.01  # steps that differ by less than this share make a row or column of numbers look like an axis
FEW = 5  # fewer numbers than this are no evidence by their steps alone
LONG = 20  # numbers that go one way for at least so long are an axis even in uneven steps

# None of these patterns can match one text in two ways, so that a cell of a million digits takes no time.
_NUMBER = {
    ".": re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eEdD][+-]?\d+)?"),
    ",": re.compile(r"[+-]?(\d+(,\d+)?|,\d+)([eEdD][+-]?\d+)?"),
}
_IN_LABEL = re.compile(rf"({PREFIX}[ _.=@]?)?([+-]?\d+(?:[.,]\d*)?)(\D*)")  # "X1600", "400 nm"


def as_number(cell: str, decimal: str = ".") -> float | None:
    """The cell's number, NaN if it is marked as missing, None if it is text, or too large for a float."""
    cell = cell.strip()
    if _NUMBER[decimal].fullmatch(cell):
        number = float(cell.replace(",", ".").replace("d", "e").replace("D", "e"))
        return number if np.isfinite(number) else None
    return float("nan") if cell.lower() in MISSING else None


def as_text(value: Any) -> str:
    """A cell's value as it would be written: a whole number without a point."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value).strip()


def goes_one_way(numbers: NDArray[Any]) -> bool:
    """Whether numbers, of any type, only rise or only fall."""
    steps = np.diff(numbers.ravel().astype(float))
    return bool((steps > 0).all() or (steps < 0).all())


@dataclass(frozen=True, eq=False)
class Cells:
    """A row or a column of cells."""

    texts: list[str]  # the cells as written
    numbers: FloatArray  # (cells,) NaN where a cell is missing or text
    is_text: BoolArray  # (cells,)

    @classmethod
    def parse(cls, texts: Sequence[str], decimal: str = ".") -> Cells:
        values = [as_number(text, decimal) for text in texts]
        is_text = np.array([value is None for value in values], dtype=bool)
        numbers = np.array([np.nan if value is None else value for value in values], dtype=float)
        return cls(list(texts), numbers, is_text)

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, part: slice | NDArray[np.intp]) -> Cells:
        texts = [self.texts[place] for place in np.arange(len(self))[part]]
        return Cells(texts, self.numbers[part], self.is_text[part])

    @property
    def mostly_text(self) -> bool:
        """Whether most of the cells are text; a single one among numbers is a mistake, not a label."""
        return 2 * int(self.is_text.sum()) > len(self)

    @property
    def first(self) -> str:
        """The first cell that is not empty."""
        return next((stripped for text in self.texts if (stripped := text.strip())), "")

    @property
    def mostly_numbers(self) -> bool:
        return 2 * int(np.isfinite(self.numbers).sum()) > len(self)

    def is_axis(self, *, even: bool = False) -> bool:
        """Whether the cells are numbers that go one way only and, if asked for, in even steps.

        A few texts among many numbers are passed over: headings of columns that are no channels. So are empty
        cells at the beginning, over columns without a heading.
        """
        begun = np.cumsum([text.strip() != "" for text in self.texts]) > 0
        numbers = self.numbers[~self.is_text & begun] if self.mostly_numbers else self.numbers
        if len(numbers) < (FEW if even else 3) or not np.isfinite(numbers).all():
            return False
        steps = np.diff(numbers)
        return goes_one_way(numbers) and (not even or bool(np.ptp(steps) <= EVEN * np.abs(steps).mean()))

    @property
    def counts(self) -> bool:
        """Whether the cells count 0, 1, 2, ... or 1, 2, 3, ..."""
        start = self.numbers[0] if len(self) else -1
        return start in (0, 1) and bool((self.numbers == start + np.arange(len(self))).all())

    def share(self, is_one: Callable[[str], bool]) -> bool:
        """Whether most of the cells are of a kind."""
        return 2 * sum(is_one(text) for text in self.texts) > len(self)

    def unlabelled(self) -> tuple[Cells, str | None]:
        """Cells such as "X1600", "A260" or "400 nm" as numbers with their unit; other cells as they are."""
        if not self.mostly_text:
            return self, None
        matches = [_IN_LABEL.fullmatch(text.strip()) for text in self.texts]
        found = [match for match in matches if match]
        starts, rests = {match[1] for match in found}, {match[3].strip() for match in found}
        unit = as_unit_alone(next(iter(rests))) if len(rests) == 1 else None
        alike = len(starts) == 1 and (unit is not None or rests == {""})
        if len(found) < 2 or 2 * len(found) <= len(self) or not alike:
            return self, None
        numbers = np.array([float(match[2].replace(",", ".")) if match else np.nan for match in matches])
        cells = Cells(self.texts, numbers, np.array([match is None for match in matches]))
        return (self, None) if unit is None and cells.counts else (cells, unit)


NO_CELLS = Cells.parse(())
