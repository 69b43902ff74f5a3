"""Columns that only rise or only fall: what a reaction makes or uses up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gmcr.constraints.constraint import CONSTRAINTS
from gmcr.constraints.factor import FactorConstraint, Shaper, run_by_run
from gmcr.constraints.isotonic import nearest_falling, nearest_rising
from gmcr.constraints.layout import Layout
from gmcr.validation import FloatArray, require


@dataclass(frozen=True, eq=False)
class Monotonic(FactorConstraint):
    """Concentrations over the order of a run ("C"), or profiles ("S"), never fall, or never rise.

    direction : "up" or "down"
    """

    direction: str = "up"

    kind = "monotonic"
    shapes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.direction in ("up", "down"), "direction of Monotonic", '"up" or "down"', self.direction)

    def shaper(self, n_places: int, layout: Layout) -> Shaper:
        nearest = nearest_rising if self.direction == "up" else nearest_falling
        return run_by_run(self.series(n_places, layout), nearest)

    def violation(self, C: FloatArray, S: FloatArray, layout: Layout | None = None) -> float:
        factor = self.factor(C, S)
        series = self.series(len(factor), layout)
        chosen = factor[:, self.speaks_of(factor.shape[1])]
        sign = 1.0 if self.direction == "up" else -1.0
        wrong = [np.max(-sign * np.diff(chosen[rows], axis=0), axis=0, initial=0.0) for rows in series]
        sizes = np.maximum(np.abs(chosen).max(axis=0, initial=0.0), 1e-300)
        return float(max(((one / sizes).max(initial=0.0) for one in wrong), default=0.0))

    @classmethod
    def of_words(cls, words: list[str]) -> Monotonic:
        return cls(*words)

    def sentence(self) -> str:
        what = "concentrations over a run" if self.of == "C" else "profiles"
        return f"{what} never {'fall' if self.direction == 'up' else 'rise'}"


CONSTRAINTS.add(Monotonic.kind, Monotonic)
