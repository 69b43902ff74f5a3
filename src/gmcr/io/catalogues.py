"""Catalogues of mutations and signatures: tables of mutation types by samples, either way round."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gmcr.errors import InputError
from gmcr.io.cells import NO_CELLS, Cells
from gmcr.io.layout import Grid, Sheet
from gmcr.io.mutations import MOST_LABELS, MOST_TYPES, leading_types
from gmcr.validation import BoolArray

TOTALS = re.compile(
    r"(?i)(grand[ _]?)?(total|sum)s?([ _](number[ _]of[ _])?mutations)?|number[ _]of[ _]mutations"
)
_LIKE_A_TYPE = re.compile(r"(?i)>|\b(del|ins)\b")


def mutation_sheet(grid: Grid, samples_in: str, notes: list[str]) -> Sheet | None:
    """The sheet of a table of mutation types by samples, without totals and what stands around it.

    None if the table is none, or if the caller says that samples run the other way.
    """
    for across in (False, True):
        told_otherwise = samples_in == ("columns" if across else "rows")
        n_lines, n_cells = grid.numbers.shape[::-1] if across else grid.numbers.shape
        if told_otherwise or n_lines > MOST_TYPES:
            continue
        cell = (lambda i, j: grid.text(j, i)) if across else grid.text
        for start in (0, 1):  # a column that numbers the lines may come first
            labels = range(start, min(start + MOST_LABELS, n_cells - 1))
            width, keys = leading_types([[cell(line, j) for line in range(n_lines)] for j in labels])
            if width:
                sheet = _Lines(grid.transposed() if across else grid, start, start + width, keys).sheet(notes)
                return sheet.transposed() if across else sheet
    return None


@dataclass(frozen=True, eq=False)
class _Lines:
    """A grid with a mutation type in most lines; the others are the header, totals, footers, or mistakes.

    labels, body : the first cell of a line that labels it, and the first one of its numbers
    keys : of each line, None where it is no mutation type
    """

    grid: Grid
    labels: int
    body: int
    keys: list[str | None]

    @cached_property
    def kept(self) -> list[int]:
        return [line for line, key in enumerate(self.keys) if key is not None]

    @cached_property
    def has_number(self) -> BoolArray:
        """Which lines hold a number behind their labels."""
        return np.asarray(np.isfinite(self.grid.numbers[:, self.body :]).any(axis=1))

    def sheet(self, notes: list[str]) -> Sheet:
        """The body, with keys at the left and the names of the samples on top."""
        grid, kept, header = self.grid, self.kept, self._header()
        keys = [str(self.keys[line]) for line in kept]
        if len(set(keys)) < len(keys):
            place = next(place for place, key in enumerate(keys) if key in keys[:place])
            where = grid.place(kept[place], self.labels)
            raise InputError(f"{where} is {keys[place]} for the second time; remove one of the two.")
        aside = self._aside(header)
        if aside:
            those = ", ".join(repr(grid.line(line).first)[:40] for line in aside[:3])
            notes.append(f"What stands around the mutation types was left out: {those}.")
        names = NO_CELLS if header is None else grid.line(header)[self.body :]
        samples = self._samples(names)
        if len(samples) < grid.numbers.shape[1] - self.body:
            notes.append("The total of all samples was left out.")
        rows, columns = ({int(place): at for at, place in enumerate(some)} for some in (kept, samples))
        return Sheet(
            grid.numbers[kept][:, samples],
            {
                (rows[i], columns[j]): text
                for (i, j), text in grid.texts.items()
                if i in rows and j in columns
            },
            names[samples - self.body] if len(names) else names,
            Cells.parse(keys),
            place=lambda row, column: grid.place(kept[row], int(samples[column])),
        )

    def _header(self) -> int | None:
        """The line with the samples' names: the last above that is text and tells them apart, or the last."""
        above = {line: self.grid.line(line)[self.body :] for line in range(self.kept[0])}
        above = {line: cells for line, cells in above.items() if cells.first}
        spoken = {line: cells for line, cells in above.items() if cells.mostly_text}
        apart = [line for line, cells in spoken.items() if len(set(cells.texts)) == len(cells)]
        chosen = apart or list(spoken) or list(above)
        if not chosen:
            return None
        if _LIKE_A_TYPE.search(self._label(chosen[-1])):
            raise self._no_type(chosen[-1])  # a channel that is written wrongly must not end as a header
        return chosen[-1]

    def _aside(self, header: int | None) -> list[int]:
        """The lines that are left out; numbers among them must be totals."""
        others = [line for line in range(len(self.keys)) if self.keys[line] is None and line != header]
        aside = [line for line in others if self.grid.line(line).first]
        for line in aside:
            total = TOTALS.fullmatch(self._label(line))
            if self.kept[0] < line < self.kept[-1] or (self.has_number[line] and not total):
                raise self._no_type(line)
        return aside

    def _samples(self, names: Cells) -> NDArray[np.intp]:
        """The columns of the samples, without a last one that is called the total and is their sum."""
        columns = np.arange(self.body, self.grid.numbers.shape[1])
        if len(names) > 2 and TOTALS.fullmatch(names.texts[-1].strip()):
            numbers = self.grid.numbers[self.kept, self.body :]
            if np.allclose(numbers[:, :-1].sum(axis=1), numbers[:, -1]):
                return columns[:-1]
        return columns

    def _label(self, line: int) -> str:
        cells = [self.grid.text(line, cell) for cell in range(self.labels, self.body)]
        return " ".join(filter(None, cells))

    def _no_type(self, line: int) -> InputError:
        return InputError(
            f"{self.grid.place(line, self.labels)} is {self._label(line)!r:.40}, which is no mutation type as "
            "those beside it are; correct it, or remove it."
        )
