"""Where one component is alone: a selective channel, a pure sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gmcr.constraints.constraint import CONSTRAINTS
from gmcr.constraints.factor import Bounds, FactorConstraint, check_where, places, range_of
from gmcr.constraints.layout import Layout
from gmcr.constraints.zero_region import largest_in, zero_where
from gmcr.errors import InputError
from gmcr.validation import BoolArray, FloatArray, check_whole


@dataclass(frozen=True, eq=False)
class Selectivity(FactorConstraint):
    """In a region of samples ("C") or channels ("S") there is this component and no other.

    where : (low, high) along the order of samples or the channel axis, or a yes or no for each place
    component : its number
    """

    where: Any = None
    component: int = 0

    kind = "selectivity"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "where", check_where(self.where, "where of Selectivity"))
        check_whole(self.component, "component of Selectivity", least=0)
        if self.components is not None:
            raise InputError("Selectivity speaks of one component; give component= and not components=.")

    @property
    def by_run(self) -> bool:  # type: ignore[override]
        return self.of == "C"

    @property
    def least_count(self) -> int:
        return self.component + 1

    def bounds(self, shape: tuple[int, int], layout: Layout) -> Bounds:
        return zero_where(self._others(shape, layout))

    def violation(self, C: FloatArray, S: FloatArray, layout: Layout | None = None) -> float:
        factor = self.factor(C, S)
        return largest_in(factor, self._others(factor.shape, layout or Layout()))

    @classmethod
    def of_words(cls, words: list[str]) -> Selectivity:
        of, where, component = words
        return cls(of, range_of(where), int(component))

    def sentence(self) -> str:
        what = "samples" if self.of == "C" else "channels"
        return f"in a region of {what} there is component {self.component} alone"

    def _others(self, shape: tuple[int, ...], layout: Layout) -> BoolArray:
        return np.outer(places(self, self.where, shape[0], layout), np.arange(shape[1]) != self.component)


CONSTRAINTS.add(Selectivity.kind, Selectivity)
