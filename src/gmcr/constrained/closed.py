"""Concentrations that sum to a total in every sample: each sample's least squares under that sum, exactly.

A sum binds the components of a sample, so columns cannot be taken in turn: what one component gains another must
lose. Two at a time can be: the pair that gains most moves until none gains anything (Platt 1998; Keerthi et al.
2001), which for these convex problems is the optimum.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np
from numba import njit
from scipy.optimize import nnls

from gmcr.constrained.factors import Factor
from gmcr.constraints import Closure
from gmcr.errors import InputError
from gmcr.validation import BoolArray, FloatArray

MOVES = 100  # of pairs and single components in a sample, for each component
STILL = 1e-15  # gain of moves, relative to the squares of the sample's fit
BISECTIONS = 200
ROUNDING = 4 * float(np.finfo(float).eps)


@dataclass(frozen=True)
class Closed(Factor):
    """Concentrations of which some components (`members`) sum to `total` in the samples that are `full`."""

    total: float = 1.0
    members: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    full: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=bool))

    @property
    def has_unit(self) -> BoolArray:
        return self.members | self._known.any(axis=0)

    @property
    def is_uniform(self) -> bool:
        return bool(self.members.all()) and super().is_uniform

    def obeying(self, values: FloatArray) -> FloatArray:
        return self.summed(values)

    def improved(self, values: FloatArray, B: FloatArray, G: FloatArray) -> FloatArray:
        return self.best_sums(values, B, G)

    def summed(self, values: FloatArray) -> FloatArray:
        """The samples (samples, components) that sum to the total, nearest to these values."""
        return _nearest(values, self._all_bounds(values), self)

    def best_sums(self, values: FloatArray, B: FloatArray, G: FloatArray) -> FloatArray:
        """Each sample's least squares under its sum, from values that obey; B, G as in `improved`."""
        bounds = self._all_bounds(values)
        found = _nearest(values, bounds, self) if self.held else values.copy()
        _solve(found, B, G, *bounds, self.members, self.full)
        return found

    def _all_bounds(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Bounds of entries (samples, components)."""
        if not self.held:
            return self.lower, self.upper
        by_column = [self.bounds(column, j) for j, column in enumerate(values.T)]
        lower, upper = (np.column_stack(one) for one in zip(*by_column))
        return lower, upper

    def units(self, values: FloatArray) -> FloatArray:
        held = np.maximum(values[self.full][:, self.members], 0.0)
        found = nnls(held, np.full(len(held), self.total))[0]
        usual = self.total / max(float(held.sum(axis=1).mean()), 1e-300)
        units = np.ones(len(self.members))
        units[self.members] = np.where(found > 0, found, usual)
        return units


def closed(factor: Factor, closure: Closure, X: FloatArray) -> Closed:
    """The factor C, closed in all samples X (samples, channels) that hold anything."""
    members = closure.speaks_of(factor.lower.shape[1])
    full: BoolArray = np.asarray(np.nan_to_num(X).any(axis=1))
    lower, upper = (np.where(full[:, None] | ~members, one, 0.0) for one in (factor.lower, factor.upper))
    low, high = ((one * members)[full].sum(axis=1) for one in (lower, np.where(members, upper, 0.0)))
    if (low > closure.total).any() or (high < closure.total).any():
        row = int(np.flatnonzero(full)[np.flatnonzero((low > closure.total) | (high < closure.total))[0]])
        raise InputError(
            f"closure cannot be met: what sample {row} may hold cannot sum to {closure.total:g}."
        )
    same = {one.name: getattr(factor, one.name) for one in fields(factor)} | {"lower": lower, "upper": upper}
    return Closed(**same, total=closure.total, members=members, full=full)


def _nearest(C: FloatArray, bounds: tuple[FloatArray, FloatArray], to: Closed) -> FloatArray:
    """The concentrations nearest to C within bounds and sums."""
    found = np.clip(C, *bounds)
    _sum_up(C, found, *bounds, to.members, to.full, to.total)
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def _sum_up(C, found, lower, upper, members, full, total):
    """All members of a sample less one number, within bounds: into `found`.

    The sum falls with that number, a straight line between bounds: Newton's steps, kept between ends, end on it.
    """
    for m in range(len(C)):
        if not full[m]:
            continue
        spread = total
        for j in range(len(members)):
            if members[j]:
                spread = max(spread, abs(C[m, j]) + total)
        low, high, less = -2.0 * spread, 2.0 * spread, 0.0
        for _ in range(BISECTIONS):
            over, free = -total, 0
            for j in range(len(members)):
                if members[j]:
                    value = C[m, j] - less
                    found[m, j] = min(max(value, lower[m, j]), upper[m, j])
                    over += found[m, j]
                    free += lower[m, j] < value < upper[m, j]
            if abs(over) <= ROUNDING * total:
                break
            if over > 0.0:
                low = less
            else:
                high = less
            step = less + over / free if free > 0 else np.inf
            less = step if low < step < high else 0.5 * (low + high)


@njit(cache=True, nogil=True, error_model="numpy")
def _solve(C, B, G, lower, upper, members, full):
    """Least squares of each sample, in place: C, B (samples, components), from C that obeys."""
    n_components = C.shape[1]
    for m in range(len(C)):
        c = C[m]
        g = G @ c - B[m]
        size = np.abs(B[m] * c).sum() + 1e-300
        for _ in range(MOVES * n_components):
            gain = 0.0
            for j in range(n_components):
                if (not members[j] or not full[m]) and G[j, j] > 0.0:
                    step = min(max(c[j] - g[j] / G[j, j], lower[m, j]), upper[m, j]) - c[j]
                    if step != 0.0:
                        gain += 0.5 * step * step * G[j, j]
                        c[j] += step
                        g += step * G[:, j]
            up, down = -1, -1
            for j in range(n_components):
                if members[j] and full[m]:
                    if c[j] < upper[m, j] and (up < 0 or g[j] < g[up]):
                        up = j
                    if c[j] > lower[m, j] and (down < 0 or g[j] > g[down]):
                        down = j
            if up >= 0 and down >= 0 and g[down] > g[up]:
                bend = max(G[up, up] + G[down, down] - 2.0 * G[up, down], 1e-300)
                step = min((g[down] - g[up]) / bend, upper[m, up] - c[up], c[down] - lower[m, down])
                gain += step * (g[down] - g[up]) - 0.5 * step * step * bend
                c[up] += step
                c[down] -= step
                g += step * (G[:, up] - G[:, down])
            if gain <= STILL * size:
                break
