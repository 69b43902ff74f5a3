"""What the rules say about a table, and whether they agree: a report that prints."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from gmcr.rank.rules import RULES
from gmcr.text import text_html
from gmcr.validation import FloatArray


@dataclass(frozen=True, eq=False)
class RankReport:
    """What each rule says about the number of components, and whether they agree.

    Attributes
    ----------
    count : the recommended count: the median over the rules under `scaling`, or, when the remainder is not
        white, over those that do not need white noise; of two middle ones, the smaller
    agree : whether all rules give the same count under `scaling`
    scaling : the scaling under which the remainder looks most like white noise
    white : whether it looks like white noise well enough
    counts : count by (rule, scaling)
    table : rule, scaling, count, threshold (singular values above it are counted; NaN for rules without
        one), kept and dropped (the singular values on either side of the count)
    singular_values : per scaling, largest first
    noise : per scaling, the standard deviation of an entry in the units of the scaled table
    misfit : per scaling, how many places the values under the edge are away from those of white noise, at
        most
    notes : what was done to the table on the way
    """

    count: int
    agree: bool
    scaling: str
    white: bool
    counts: dict[tuple[str, str], int]
    table: pd.DataFrame
    singular_values: dict[str, FloatArray]
    noise: dict[str, float]
    misfit: dict[str, float]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        grid = self._grid()
        lines = [f"{'':26}" + "".join(f"{name:>18}" for name in grid)]
        for title, row in zip(grid.index, grid.to_numpy()):
            lines.append(f"{title:26}" + "".join(f"{value!s:>18}" for value in row))
        return "\n".join([*lines, "", self._verdict(), *self.notes])

    def _repr_html_(self) -> str:
        return text_html(self._verdict(), self._grid().rename_axis("rule").reset_index(), self.notes)

    def _grid(self) -> pd.DataFrame:
        """Counts by the rules' titles and by scaling, the chosen one marked."""
        names = {name: name + " *" * (name == self.scaling) for name in self.singular_values}
        rules = {rule: RULES[rule].title for rule in self.table["rule"].unique()}
        grid = self.table.pivot(index="rule", columns="scaling", values="count").loc[list(rules), list(names)]
        return grid.astype(object).where(grid.notna(), "skipped").rename(index=rules, columns=names)

    def _verdict(self) -> str:
        place = f'"{self.scaling}" (*)'
        if not self.white:
            return (
                f"The quick look suggests {self.count}, with little weight: under no scaling does the "
                f"remainder look like white noise (closest: {place}), so rules that need it count too many."
            )
        there = f"{place}, where the remainder looks like white noise"
        if self.agree:
            return f"All rules agree on {self.count} under {there}."
        answers = sorted({count for (_, scaling), count in self.counts.items() if scaling == self.scaling})
        said = ", ".join(map(str, answers))
        return f"The rules do not agree: under {there}, they say {said}; the median is {self.count}."
