"""Concentrations that sum to a total in every sample: each sample's least squares under that sum, exactly.

A sum binds the components of a sample, so columns cannot be taken in turn: what one component gains another must
lose. Two at a time can be: the pair that gains most moves until none gains anything (Platt 1998; Keerthi et al.
2001), which for these convex problems is the optimum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy.optimize import nnls

from gmcr.constrained.factors import Factor
from gmcr.constraints import Closure
from gmcr.errors import InputError
from gmcr.validation import BoolArray, FloatArray

MOVES = 100  # of pairs and single components in a sample, for each component
STILL = 1e-15  # gain of moves, relative to the squares of the sample's fit
BISECTIONS = 100


@dataclass(frozen=True)
class Closed(Factor):
    """Concentrations of which some components (`members`) sum to `total` in the samples that are `held`."""

    total: float
    members: BoolArray
    held: BoolArray

    @property
    def has_unit(self) -> BoolArray:
        return self.members | self._known.any(axis=0)

    @property
    def is_uniform(self) -> bool:
        return bool(self.members.all()) and super().is_uniform

    def obeying(self, values: FloatArray) -> FloatArray:
        return _nearest(values, self)

    def improved(self, values: FloatArray, B: FloatArray, G: FloatArray) -> FloatArray:
        found = values.copy()  # which obeys, and so does what it becomes
        _solve(found, B, G, self.lower, self.upper, self.members, self.held)
        return found

    def units(self, values: FloatArray) -> FloatArray:
        held = np.maximum(values[self.held][:, self.members], 0.0)
        found = nnls(held, np.full(len(held), self.total))[0]
        usual = self.total / max(float(held.sum(axis=1).mean()), 1e-300)
        units = np.ones(len(self.members))
        units[self.members] = np.where(found > 0, found, usual)
        return units


def closed(factor: Factor, closure: Closure, X: FloatArray) -> Closed:
    """The factor C, closed in all samples X (samples, channels) that hold anything."""
    n_components = factor.lower.shape[1]
    shaping = next((one for one in factor.shaped_by if one is not None), None)
    if shaping is not None:
        raise InputError(f"closure and {shaping.name} cannot hold together; give one of them.")
    members = closure.speaks_of(n_components)
    held: BoolArray = np.asarray(np.nan_to_num(X).any(axis=1))
    lower, upper = (np.where(held[:, None] | ~members, one, 0.0) for one in (factor.lower, factor.upper))
    low, high = ((one * members)[held].sum(axis=1) for one in (lower, np.where(members, upper, 0.0)))
    if (low > closure.total).any() or (high < closure.total).any():
        row = int(np.flatnonzero(held)[np.flatnonzero((low > closure.total) | (high < closure.total))[0]])
        raise InputError(
            f"closure cannot be met: what sample {row} may hold cannot sum to {closure.total:g}."
        )
    shapes = factor.shaped_by, factor.shapers, factor.layout, factor.n_fixed, factor.near, factor.pull
    return Closed(lower, upper, *shapes, closure.total, members, held)


def _nearest(C: FloatArray, to: Closed) -> FloatArray:
    """The concentrations nearest to C within bounds and sums: all members less one number, within bounds."""
    here = np.ix_(np.flatnonzero(to.held), np.flatnonzero(to.members))
    found = np.clip(C, to.lower, to.upper)
    own, lower, upper = C[here], to.lower[here], to.upper[here]
    spread = np.abs(own).max(axis=1, initial=0.0) + to.total
    low, high = -2.0 * spread, 2.0 * spread
    for _ in range(BISECTIONS):
        less = (low + high) / 2
        too_much = np.clip(own - less[:, None], lower, upper).sum(axis=1) > to.total
        low, high = np.where(too_much, less, low), np.where(too_much, high, less)
    own = np.clip(own - high[:, None], lower, upper)
    lacking = to.total - own.sum(axis=1)  # by rounding
    widest = np.argmax(np.minimum(upper, 2 * to.total) - own, axis=1)
    own[np.arange(len(own)), widest] += lacking
    found[here] = own
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def _solve(C, B, G, lower, upper, members, held):
    """Least squares of each sample, in place: C, B (samples, components), from C that obeys."""
    n_components = C.shape[1]
    for m in range(len(C)):
        c = C[m]
        g = G @ c - B[m]
        size = np.abs(B[m] * c).sum() + 1e-300
        for _ in range(MOVES * n_components):
            gain = 0.0
            for j in range(n_components):
                if (not members[j] or not held[m]) and G[j, j] > 0.0:
                    step = min(max(c[j] - g[j] / G[j, j], lower[m, j]), upper[m, j]) - c[j]
                    if step != 0.0:
                        gain += 0.5 * step * step * G[j, j]
                        c[j] += step
                        g += step * G[:, j]
            up, down = -1, -1
            for j in range(n_components):
                if members[j] and held[m]:
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
