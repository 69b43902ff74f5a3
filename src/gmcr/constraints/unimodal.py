"""Columns with one maximum: peaks that elute, bands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gmcr.constraints.constraint import CONSTRAINTS
from gmcr.constraints.factor import FactorConstraint, Shaper, run_by_run
from gmcr.constraints.isotonic import nearest_unimodal
from gmcr.constraints.layout import Layout
from gmcr.validation import FloatArray, check_number, require


@dataclass(frozen=True, eq=False)
class Unimodal(FactorConstraint):
    """Each concentration over the order of a run ("C"), or each profile ("S"), has one maximum.

    tolerance : factor by which a step may go the wrong way, 1 or more
    """

    tolerance: float = 1.0

    kind = "unimodal"
    shapes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        fine = 1.0 <= check_number(self.tolerance, "tolerance of Unimodal") < np.inf
        require(fine, "tolerance of Unimodal", "a factor of 1 or more", self.tolerance)

    def shaper(self, n_places: int, layout: Layout) -> Shaper:
        def nearest(values: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
            return nearest_unimodal(values, lower, upper, self.tolerance)

        return run_by_run(self.series(n_places, layout), nearest)

    def violation(self, C: FloatArray, S: FloatArray, layout: Layout | None = None) -> float:
        factor = self.factor(C, S)
        series = self.series(len(factor), layout)
        chosen = factor[:, self.speaks_of(factor.shape[1])]
        return max(
            (
                _second_rise(chosen[rows, j], self.tolerance)
                for rows in series
                for j in range(chosen.shape[1])
            ),
            default=0.0,
        )

    @classmethod
    def of_words(cls, words: list[str]) -> Unimodal:
        of, *tolerance = words
        return cls(of, *map(float, tolerance))

    def sentence(self) -> str:
        what = "concentration has one maximum in a run" if self.of == "C" else "profile has one maximum"
        return f"each {what}" + (
            "" if self.tolerance == 1 else f", within a factor of {self.tolerance:g} a step"
        )


def _second_rise(x: FloatArray, tolerance: float) -> float:
    """The largest step towards another maximum, over the largest value; the least for any place of the top."""
    size = max(float(np.abs(x).max(initial=0.0)), 1e-300)
    falls, rises = x[:-1] - tolerance * x[1:], x[1:] - tolerance * x[:-1]  # positive: against rising, falling
    before = np.concatenate([[0.0], np.maximum.accumulate(np.maximum(falls, 0.0))])
    after = np.concatenate([np.maximum.accumulate(np.maximum(rises, 0.0)[::-1])[::-1], [0.0]])
    return float(np.maximum(before, after).min(initial=np.inf if len(x) else 0.0)) / size


CONSTRAINTS.add(Unimodal.kind, Unimodal)
