"""Runs that repeat each other: each component has the same concentrations in all of them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gmcr.constraints.constraint import CONSTRAINTS
from gmcr.constraints.factor import FactorConstraint, Shaper
from gmcr.constraints.layout import Layout
from gmcr.errors import InputError
from gmcr.validation import FloatArray


@dataclass(frozen=True, eq=False)
class Equal(FactorConstraint):
    """A component's concentrations at the same place of the order are equal in all runs."""

    of: str = field(default="C", init=False)

    kind = "equal"
    shapes = True

    @property
    def name(self) -> str:
        return self.kind

    def shaper(self, n_places: int, layout: Layout) -> Shaper:
        return self._of_means(n_places, layout, lambda means, low, high: np.clip(means, low, high))

    def beside(self, other: FactorConstraint, n_places: int, layout: Layout) -> Shaper:
        """The shaper of runs that are equal, and of a shape: the mean of all runs is brought into it."""
        order = np.unique(layout.order if layout.order is not None else [])
        return self._of_means(n_places, layout, other.shaper(len(order), Layout(order=order)))

    def _of_means(self, n_places: int, layout: Layout, nearest: Shaper) -> Shaper:
        place = self._places(n_places, layout)
        times = np.bincount(place)

        def shaped(values: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
            low, high = np.full(len(times), -np.inf), np.full(len(times), np.inf)
            np.maximum.at(low, place, lower)
            np.minimum.at(high, place, upper)
            if (low > high).any():
                return np.full(len(values), np.nan)
            return nearest(np.bincount(place, weights=values) / times, low, high)[place]

        return shaped

    def violation(self, C: FloatArray, S: FloatArray, layout: Layout | None = None) -> float:
        place = self._places(len(C), layout or Layout())
        chosen = C[:, self.speaks_of(C.shape[1])]
        low, high = (
            np.full((place.max() + 1, chosen.shape[1]), np.inf),
            np.full((place.max() + 1, chosen.shape[1]), -np.inf),
        )
        np.minimum.at(low, place, chosen)
        np.maximum.at(high, place, chosen)
        return float(((high - low) / np.maximum(np.abs(chosen).max(axis=0), 1e-300)).max(initial=0.0))

    @classmethod
    def of_words(cls, words: list[str]) -> Equal:
        return cls(*words)

    def sentence(self) -> str:
        return "concentrations at the same place of the order are equal in all runs"

    def _places(self, n_places: int, layout: Layout) -> NDArray[np.intp]:
        """(samples,) number of each sample's place, the same in all runs."""
        if layout.runs is None or layout.order is None:
            raise InputError("equal compares runs place by place; give fit runs= and order=.")
        place = np.unique(layout.order, return_inverse=True)[1]
        if len(place) != n_places:
            raise InputError(f"equal was given the order of {len(place)} samples, and there are {n_places}.")
        if (np.bincount(place) < len(np.unique(layout.runs))).any():
            raise InputError("equal needs the same places of the order in every run.")
        return place


CONSTRAINTS.add(Equal.kind, Equal)
