"""What constraints on one factor, the concentrations or the profiles, have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gmcr.constraints.constraint import Constraint, Stage
from gmcr.constraints.layout import Layout
from gmcr.errors import InputError
from gmcr.validation import BoolArray, FloatArray, as_numbers, check_whole, require

Bounds = tuple[FloatArray, FloatArray]
Shaper = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]  # a column's values and bounds (places,)


class Held(NamedTuple):
    """A component that has at least a share of its largest entry at one of these places (or more of them)."""

    component: int
    places: NDArray[np.intp]
    share: float


@dataclass(frozen=True, eq=False)
class FactorConstraint(Constraint):
    """A constraint on concentrations ("C") or on profiles ("S") that holds during the fit.

    A factor has a column for each component here: C (samples, components), or S turned (channels, components).
    A constraint bounds entries (`bounds`), shapes whole columns (`shaper`), asks for entries that are not zero
    (`held`), or all of these.

    of : "C" or "S"
    components : numbers of those that it speaks of; None for all
    shapes : whether it shapes whole columns, so that a column's entries bind each other
    alike : whether it asks the same of all components that it speaks of
    """

    of: str = "C"
    components: tuple[int, ...] | None = field(default=None, kw_only=True)

    stages: ClassVar[frozenset[Stage]] = frozenset({"fit"})
    several: ClassVar[bool] = True
    shapes: ClassVar[bool] = False
    alike: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require(self.of in ("C", "S"), f"of in {type(self).__name__}", '"C" or "S"', self.of)
        name = f"components of {type(self).__name__}"
        object.__setattr__(self, "components", check_components(self.components, name))

    @property
    def name(self) -> str:
        return f"{self.kind} {self.of}"

    @property
    def couples(self) -> bool:  # type: ignore[override]
        return self.shapes and self.of == "C"

    @property
    def by_run(self) -> bool:  # type: ignore[override]
        return self.couples

    @property
    def least_count(self) -> int:
        return 0 if self.components is None else max(self.components) + 1

    def factor(self, C: FloatArray, S: FloatArray) -> FloatArray:
        """The factor that it speaks of, a column for each component."""
        return C if self.of == "C" else S.T

    def speaks_of(self, n_components: int) -> BoolArray:
        """(components,) which ones it speaks of."""
        every = np.arange(n_components)
        return np.full(n_components, True) if self.components is None else np.isin(every, self.components)

    def series(self, n_places: int, layout: Layout | None) -> list[NDArray[np.intp]]:
        """Places that follow each other: the samples of each run in their order, or all channels."""
        if self.of == "S":
            return [np.arange(n_places)]
        if layout is None or layout.order is None:
            raise InputError(
                f"{self.name} goes by the order of samples; give fit order=, and runs= if several."
            )
        return layout.series(n_places)

    def bounds(self, shape: tuple[int, int], layout: Layout) -> Bounds | None:
        """The least and the largest that each entry (places, components) may be; None for no bounds."""
        return None

    def held(self, shape: tuple[int, int], layout: Layout) -> list[Held]:
        """What must be there: places of a component, at least one of which has a share of its largest entry."""
        return []

    def shaper(self, n_places: int, layout: Layout) -> Shaper:
        """What brings one column into shape: the nearest one within bounds, NaN where there is none."""
        raise NotImplementedError

    def shaper_of(self, component: int, n_places: int, layout: Layout) -> Shaper:
        """The same for the column of one component, where components differ."""
        return self.shaper(n_places, layout)


def run_by_run(series: list[NDArray[np.intp]], nearest: Shaper) -> Shaper:
    """The shaper that brings each run of a column into shape by itself."""

    def shaped(values: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
        found = np.empty(len(values))
        for rows in series:
            found[rows] = nearest(values[rows], lower[rows], upper[rows])
        return found

    return shaped


def check_components(given: Any, name: str) -> tuple[int, ...] | None:
    """Numbers of components, or None for all of them."""
    if given is None:
        return None
    numbers = given if isinstance(given, Sequence | np.ndarray) and not isinstance(given, str) else [given]
    found = tuple(check_whole(one, name, least=0) for one in numbers)
    require(len(found) > 0, name, "numbers of components, or None for all", given)
    return found


def check_where(where: Any, name: str) -> Any:
    """A range (low, high) along the channel axis or the order of samples, or a yes or no for each place."""
    given = as_numbers(where, name)
    if isinstance(np.asarray(where).ravel()[0], np.bool_):
        mask = given.astype(bool)
        require(mask.ndim == 1 and mask.any(), name, "(low, high) or a list with a yes", where)
        return mask
    fine = given.shape == (2,) and given[0] <= given[1]
    require(fine, name, "(low, high) or a yes or no for each place", where)
    return float(given[0]), float(given[1])


def range_of(word: str) -> tuple[float, float]:
    """The range that "400:450" tells."""
    low, high = word.split(":")
    return float(low), float(high)


def places(one: FactorConstraint, where: Any, n_places: int, layout: Layout) -> BoolArray:
    """(places,) which channels or samples are meant by `where`."""
    if isinstance(where, np.ndarray):
        if len(where) != n_places:
            what = "samples" if one.of == "C" else "channels"
            raise InputError(f"where of {one.name} has {len(where)} entries for {n_places} {what}.")
        return where
    along = layout.order if one.of == "C" else layout.axis
    if along is None:
        if one.of == "C":
            raise InputError(
                f"{one.name} goes by the order of samples; give fit order=, or a yes or no for each."
            )
        along = np.arange(float(n_places))
    found = (along >= where[0]) & (along <= where[1])
    if not found.any():
        raise InputError(
            f"where of {one.name} is {where[0]:g} to {where[1]:g}, not in {along.min():g} to {along.max():g}."
        )
    return found
