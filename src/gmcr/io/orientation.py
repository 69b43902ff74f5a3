"""Which way samples run in a table: words, units, monotony and steps are weighed, and the weighing is told.

Each side of a table, the labels over its columns and those beside its rows, speaks for being of channels or of
samples, in points; words weigh more than numbers, because numbers that rise may be times as well as wavelengths.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from gmcr.io.cells import Cells
from gmcr.io.mutations import mutation_types
from gmcr.io.table import BETWEEN
from gmcr.io.units import unit_in
from gmcr.io.words import CHANNELS, OF_ORDER, ORDER, SAMPLES, is_label_of, is_position, says
from gmcr.validation import FloatArray

LEAST = {"nm": 10.0}  # of channels in a unit; in any other, above zero
SURE = 2  # points between the sides from which nobody need be asked
# Points for channels; those of samples are below zero.
TYPES, WORD, AXIS = 5, 4, 2
LABELLED, NAMED, DISORDER, FOLLOWING, TEXT, COUNTED = -4, -3, -2, -2, -1, -1
# A numbering alone is an axis more often than not; beside other labels it is of samples.
DOUBTED = -1  # names that their heading announces, but that look like an axis


@dataclass(frozen=True)
class Orientation:
    """Whether samples are in columns, what speaks for it, and whether that is beyond doubt."""

    columns: bool
    why: str
    sure: bool = True
    headings: tuple[str, str] = ("", "")  # of the rows' labels, and of the columns'

    def told(self, samples_in: str) -> Orientation:
        """As the caller says, if it is not "auto"."""
        return (
            self
            if samples_in == "auto"
            else Orientation(samples_in == "columns", "as told", True, self.headings)
        )

    @property
    def of_samples(self) -> str:
        """The heading of the samples' labels."""
        return self.headings[self.columns]

    @property
    def of_channels(self) -> str:
        return self.headings[not self.columns]

    def sentence(self, samples: FloatArray) -> str:
        """In one line, with what turns it round; samples : (samples, channels) as they were taken."""
        n, d = samples.shape
        here, there = ("columns", "rows") if self.columns else ("rows", "columns")
        turn = f'samples_in="{there}" turns it round' if self.sure else f"could be either: {ASK}"
        return f"Samples are in {here}: {n} x {d} (samples x channels), {self.why}; {turn}."


ASK = 'samples_in="rows" or "columns"'


def orientation_of(top: Cells, left: Cells, corner: str) -> Orientation:
    """Which way samples run, from the labels of columns (`top`) and rows (`left`) and the heading between."""
    if not len(top) and not len(left):
        return Orientation(False, "by custom, since nothing in the file says", sure=False)
    for other, in_columns in ((top, False), (left, True)):
        if is_position(corner, other.first) or is_position(other.first, corner):
            return Orientation(in_columns, "by the positions of the pixels")
    below, beside = _headings(top, left, corner)
    rows, why_rows = _points(left, below, lone=not len(top))
    columns, why_columns = _points(top, beside, lone=not len(left))
    if not len(left) and columns == TEXT:  # names of columns alone are most often those of variables
        columns = 0
    lead = rows - columns
    parts = [f"{why} in the first column" for why in why_rows[:1] if rows * lead > 0]
    parts += [f"{why} in the first row" for why in why_columns[:1] if columns * lead < 0]
    names_alone = rows == TEXT and not len(top)
    return Orientation(
        lead > 0, "by " + (" and ".join(parts) or "custom"), abs(lead) >= SURE or names_alone, (below, beside)
    )


def headings_in(corner: str) -> tuple[str, str]:
    """What a corner says of the rows' labels below it and of the columns' beside it: "time \\ nm", "time/nm"."""
    below, between, beside = corner.partition(BETWEEN)
    if not between:
        parts = re.split(r"\s*(?:/|\||\bvs\.?\b)\s*", corner, maxsplit=1)
        kinds = [says(part) for part in parts]
        if len(parts) < 2 or not all(kinds) or kinds[0] == kinds[1]:
            return corner.strip(), ""
        below, beside = parts
    return below.strip(), beside.strip()


def _headings(top: Cells, left: Cells, corner: str) -> tuple[str, str]:
    """The headings of `left` and of `top`: one alone is of what stands below it, unless that cannot be."""
    below, beside = headings_in(corner)
    kind = says(below)
    if beside or kind not in (CHANNELS, ORDER):
        kinds = kind, says(beside)
        if kinds in ((CHANNELS, ORDER), (ORDER, CHANNELS)):
            sides = (left, top) if kind == CHANNELS else (top, left)
            if _only_second(*sides, below if kind == CHANNELS else beside):
                return beside, below
        return below, beside
    across = top.unlabelled()[0].is_axis()
    down, unit = left.unlabelled()
    if kind == CHANNELS:
        elsewhere = across and (not down.is_axis() or _only_second(left, top, below))
    else:
        elsewhere = across and (not down.is_axis() or (unit is not None and unit not in OF_ORDER))
    return ("", below) if elsewhere and len(left) else (below, beside)


def _only_second(first: Cells, second: Cells, heading: str) -> bool:
    """Whether what a heading of channels says can be so of the second labels only: none is around 0."""
    least = LEAST.get(unit_in(heading) or "", float(np.nextafter(0.0, 1.0)))
    one, other = (float(np.min(cells.unlabelled()[0].numbers, initial=np.inf)) for cells in (first, second))
    return bool(one < least <= other < np.inf)


def _points(labels: Cells, heading: str, *, lone: bool) -> tuple[int, list[str]]:
    """How much the labels of one side are channels' (above zero) or samples' (below), and why."""
    if not len(labels):
        return 0, []
    if types := mutation_types(labels.texts):
        return TYPES, [f"the {len(types)} mutation types"]
    numbers, unit = labels.unlabelled()
    kind = says(heading)
    told = [f"the heading {heading!r:.40}"]
    if kind == CHANNELS:
        return WORD, told
    if numbers is not labels and numbers.is_axis() and unit not in OF_ORDER:
        return WORD, ["the labels"]
    if kind == SAMPLES:
        doubtful = numbers.is_axis() and not numbers.counts and not lone
        return DOUBTED if doubtful else NAMED, told
    if labels.share(lambda text: is_label_of(SAMPLES, text)) or unit in OF_ORDER:
        return LABELLED, ["the labels"]
    if kind == ORDER:
        return FOLLOWING, told
    if labels.share(lambda text: is_label_of(CHANNELS, text)):
        return AXIS, ["the labels"]
    if labels.mostly_text:
        return TEXT, ["the names"]
    if numbers.counts:
        return -COUNTED if lone else COUNTED, ["the numbering"]
    if numbers.is_axis():
        return AXIS, ["the axis"]
    complete = len(numbers) > 2 and bool(np.isfinite(numbers.numbers).all())
    return (DISORDER, ["the numbers that go forth and back"]) if complete else (0, [])
