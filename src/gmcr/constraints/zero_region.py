"""Where a component has nothing: channels without bands, times before it elutes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gmcr.constraints.constraint import CONSTRAINTS
from gmcr.constraints.factor import Bounds, FactorConstraint, check_where, places, range_of
from gmcr.constraints.layout import Layout
from gmcr.validation import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class ZeroRegion(FactorConstraint):
    """Concentrations ("C") or profiles ("S") are zero in a region.

    where : (low, high) along the order of samples or the channel axis, or a yes or no for each place
    """

    where: Any = None

    kind = "zero"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "where", check_where(self.where, "where of ZeroRegion"))

    @property
    def by_run(self) -> bool:  # type: ignore[override]
        return self.of == "C"

    def bounds(self, shape: tuple[int, int], layout: Layout) -> Bounds:
        return zero_where(self._region(shape, layout))

    def violation(self, C: FloatArray, S: FloatArray, layout: Layout | None = None) -> float:
        factor = self.factor(C, S)
        return largest_in(factor, self._region(factor.shape, layout or Layout()))

    @classmethod
    def of_words(cls, words: list[str]) -> ZeroRegion:
        of, where, *components = words
        return cls(of, range_of(where), components=tuple(map(int, components)) or None)

    def sentence(self) -> str:
        return f"{'concentrations' if self.of == 'C' else 'profiles'} are zero in a region"

    def _region(self, shape: tuple[int, ...], layout: Layout) -> BoolArray:
        return np.outer(places(self, self.where, shape[0], layout), self.speaks_of(shape[1]))


def zero_where(region: BoolArray) -> Bounds:
    """Bounds of entries (places, components) that are zero in a region."""
    return np.where(region, 0.0, -np.inf), np.where(region, 0.0, np.inf)


def largest_in(factor: FloatArray, region: BoolArray) -> float:
    """The largest entry in a region, over the largest of its component."""
    sizes = np.maximum(np.abs(factor).max(axis=0, initial=0.0), 1e-300)
    return float(np.where(region, np.abs(factor) / sizes, 0.0).max(initial=0.0))


CONSTRAINTS.add(ZeroRegion.kind, ZeroRegion)
