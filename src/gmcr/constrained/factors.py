"""What a fit must keep of each factor: bounds of every entry, and the shape of whole columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gmcr.constraints import Constraints, Equal, Layout, ReferenceProfile
from gmcr.constraints.factor import FactorConstraint, Held, Shaper
from gmcr.errors import InputError
from gmcr.validation import BoolArray, FloatArray

INNER = 2  # times that the columns of a factor are gone through before the other factor's turn
PULLS = 10
BISECTIONS = 60
LEAST = 1e-12  # norm of a known profile on its way


@dataclass(frozen=True)
class Factor:
    """What one factor, seen with a column for each component, must obey.

    lower, upper : (places, components) bounds of entries
    shaped_by : by component, the constraint that shapes its column, if there is one;  shapers : what it does
    layout : how samples lie;  n_fixed : the first so many columns are known up to their norm
    near : profiles (known, channels) that the first columns are drawn to, by a `pull`
    held : what must be there
    """

    lower: FloatArray
    upper: FloatArray
    shaped_by: list[FactorConstraint | None]
    shapers: list[Shaper | None]
    layout: Layout
    n_fixed: int
    near: FloatArray
    pull: float
    held: tuple[Held, ...] = ()

    @property
    def has_unit(self) -> BoolArray:
        """(components,) whether bounds settle the column's unit: some entry is bound to more than zero."""
        return np.asarray(self._known.any(axis=0))

    @property
    def _known(self) -> BoolArray:
        """(places, components) entries that are given, other than zeros."""
        return (self.lower == self.upper) & (self.lower != 0)

    @property
    def is_uniform(self) -> bool:
        """Whether all components must obey the same."""
        same = (self.lower == self.lower[:, :1]).all() and (self.upper == self.upper[:, :1]).all()
        shaping = self.shaped_by[0]
        same = same and (shaping is None or shaping.alike) and not self.held
        return bool(same) and not self.n_named and all(one is shaping for one in self.shaped_by)

    @property
    def n_named(self) -> int:
        """The first so many columns are known, exactly or nearly."""
        return max(self.n_fixed, len(self.near))

    def deviations(self, values: FloatArray) -> FloatArray:
        """(components,) the pull on each column (places, components) that is near a known one."""
        out = np.zeros(values.shape[1])
        for j, profile in enumerate(self.near):
            off = values[:, j] - max(float(values[:, j] @ profile), 0.0) * profile
            out[j] = self.pull * float(off @ off)
        return out

    def nearest(self, values: FloatArray, j: int) -> FloatArray:
        """Column j, nearest to these values (places,)."""
        (lower, upper), shaper = self.bounds(values, j), self.shapers[j]
        return np.clip(values, lower, upper) if shaper is None else shaper(values, lower, upper)

    def bounds(self, values: FloatArray, j: int) -> tuple[FloatArray, FloatArray]:
        """(places,) bounds of column j, so that what is nearest to these values (places,) is where it must be.

        Where one of several places must hold it, that is the one at which values are largest.
        """
        lower, upper = self.lower[:, j], self.upper[:, j]
        own = [one for one in self.held if one.component == j]
        if not own or not (lower >= 0).all() or not (values > 0).any():
            return lower, upper
        share = np.zeros(len(values))
        for one in own:
            place = one.places[np.argmax(values[one.places])]
            share[place] = max(share[place], one.share)
        top = _best_top(values, share)
        return np.maximum(lower, share * top), np.maximum(np.minimum(upper, top), lower)

    def obeying(self, values: FloatArray) -> FloatArray:
        """All columns (places, components), each the nearest that obeys."""
        return np.column_stack([self.nearest(column, j) for j, column in enumerate(values.T)])

    def improved(self, values: FloatArray, B: FloatArray, G: FloatArray) -> FloatArray:
        """Columns (places, components) gone through in turn, each made the best that obeys, given the others.

        B, G : for C, the products X S' and S S'; for S turned, X' C and C' C
        """
        values = values.copy()
        for _ in range(INNER):
            for j in range(len(G)):
                if G[j, j] > 0:
                    values[:, j] = self.nearest(values[:, j] + (B[:, j] - values @ G[j]) / G[j, j], j)
        return values

    def units(self, values: FloatArray) -> FloatArray:
        """(components,) what brings columns nearest to the unit that is settled for them; one where none is."""
        given = np.where(self._known, self.lower, 0.0)
        there = np.where(self._known, values, 0.0)
        squares = (there * there).sum(axis=0)
        units = (there * given).sum(axis=0) / np.where(squares > 0, squares, 1.0)
        return np.where(self.has_unit & (units > 0), units, 1.0)

    def distances(self, values: FloatArray) -> FloatArray:
        """How far columns (places, columns), of norm one, are from what each component must obey.

        (components, columns); where a component's unit is settled, at the best unit
        """
        columns = values / np.maximum(np.linalg.norm(values, axis=0), 1e-300)
        out = np.empty((len(self.shapers), columns.shape[1]))
        for i in range(columns.shape[1]):
            units = self.units(np.repeat(columns[:, [i]], len(out), axis=1))
            for j, unit in enumerate(units):
                out[j, i] = np.linalg.norm(self.nearest(columns[:, i] * unit, j) / unit - columns[:, i])
        return out


def factor_of(
    name: str, constraints: Constraints, layout: Layout, shape: tuple[int, int], signed: bool
) -> Factor:
    """What the factor C or S, of this shape (places, components), must obey."""
    own = [one for one in constraints.at("fit") if isinstance(one, FactorConstraint) and one.of == name]
    lower, upper = np.full(shape, -np.inf if signed else 0.0), np.full(shape, np.inf)
    for one in own:
        bounds = one.bounds(shape, layout)
        if bounds is not None:
            lower, upper = np.maximum(lower, bounds[0]), np.minimum(upper, bounds[1])
    n_fixed = constraints.n_fixed if name == "S" else 0
    shaped_by = [None if j < n_fixed else _shaping(own, j, shape[1]) for j in range(shape[1])]
    shapers = [
        None if one is None else _shaper(own, one, j, shape, layout) for j, one in enumerate(shaped_by)
    ]
    reference = constraints.find(ReferenceProfile) if name == "S" else None
    soft = reference is not None and reference.weight is not None
    near = reference.profiles if reference is not None and soft else np.empty((0, shape[0]))
    if len(near) > shape[1]:
        raise InputError(
            f"there are {len(near)} reference profiles and {shape[1]} components; give n_components."
        )
    pull = float(reference.weight or 0.0) if reference is not None else 0.0
    held = tuple(_possible(one, upper) for own_one in own for one in own_one.held(shape, layout))
    found = Factor(lower, upper, shaped_by, shapers, layout, n_fixed, near, pull, held)
    _check(found, own, name)
    for j in range(len(near)):
        if shapers[j] is not None:
            raise InputError(f"reference profile with a weight and {own[0].name} cannot hold together.")
        found.shapers[j] = _near(near[j], pull)
    for j in range(n_fixed):
        found.shapers[j] = _along(np.asarray(constraints.fixed)[j])
    return found


def _best_top(values: FloatArray, share: FloatArray) -> float:
    """The largest entry of the column nearest to values of which each is at least a share of the largest.

    What it costs to lower those above and to raise those below is convex in it: its slope is zero there.
    """
    low, high = 0.0, float(values.max())
    for _ in range(BISECTIONS):
        top = 0.5 * (low + high)
        slope = np.minimum(top - values, 0.0).sum() + (share * np.maximum(share * top - values, 0.0)).sum()
        low, high = (low, top) if slope > 0 else (top, high)
    return high


def _along(profile: FloatArray) -> Shaper:
    """What makes a column a multiple of a known profile of unit norm, never none of it."""
    return lambda values, lower, upper: max(float(values @ profile), LEAST) * profile


def _near(profile: FloatArray, pull: float) -> Shaper:
    """What draws a column towards multiples of a known profile of unit norm."""

    def shaped(values: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
        found = values
        for _ in range(PULLS):  # of the multiple and the column in turn
            multiple = max(float(found @ profile), LEAST)
            found = np.clip((values + pull * multiple * profile) / (1.0 + pull), lower, upper)
        return found

    return shaped


def _shaping(own: list[FactorConstraint], j: int, n_components: int) -> FactorConstraint | None:
    """The constraint that shapes column j; one that makes runs equal may stand beside it."""
    shaping = [one for one in own if one.shapes and one.speaks_of(n_components)[j]]
    alone = [one for one in shaping if not isinstance(one, Equal)] or shaping
    goes_along = all(
        one.by_run for one in shaping
    )  # Equal brings another's runs together, if it goes by them
    if len(alone) > 1 or (len(shaping) > 1 and not goes_along):
        first, second = shaping[:2]
        raise InputError(
            f"{first.name} and {second.name} cannot shape the same component together; give one of them."
        )
    return alone[0] if alone else None


def _shaper(
    own: list[FactorConstraint], one: FactorConstraint, j: int, shape: tuple[int, int], layout: Layout
) -> Shaper:
    equal = next((other for other in own if isinstance(other, Equal) and other.speaks_of(shape[1])[j]), None)
    if equal is not None and equal is not one:
        return equal.beside(one, shape[0], layout)
    return one.shaper_of(j, shape[0], layout)


def _possible(one: Held, upper: FloatArray) -> Held:
    """What must be there, without places where it cannot be."""
    places = one.places[upper[one.places, one.component] > 0]
    if not len(places):
        told = f"component {one.component} in sample {one.places[0]}" + " or others" * (len(one.places) > 1)
        raise InputError(f"presence asks for {told}, where another constraint has none of it.")
    return one._replace(places=places)


def _check(factor: Factor, own: list[FactorConstraint], name: str) -> None:
    """Refuse what nothing can obey."""
    for j in range(len(factor.shapers)):
        impossible = (factor.lower[:, j] > factor.upper[:, j]).any()
        if impossible or not np.isfinite(factor.nearest(np.zeros(len(factor.lower)), j)).all():
            told = ", ".join(dict.fromkeys(one.name for one in own)) or "the constraints"
            what = "concentrations" if name == "C" else "profile"
            raise InputError(f"no {what} of component {j} can obey {told} together.")
