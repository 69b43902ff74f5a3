"""The fit at a known count under all constraints, from what the search has found.

Constraints leave whole ranges of pools that fit about equally well, of which a descent ends wherever it started.
So several starts tell how well such pools can fit; then the middle of all of them (middle.py) is taken as far as
needed to fit as well, within ENOUGH. Where samples hold few of many components, supports told them apart: those
stay, and there is no range to choose from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from scipy.optimize import linear_sum_assignment

from gmcr.constrained.alternating import Fit, alternate
from gmcr.constrained.closed import closed
from gmcr.constrained.factors import Factor, factor_of
from gmcr.constrained.jointly import jointly
from gmcr.constrained.middle import middle_of
from gmcr.constraints import Closure, Constraints, Layout, Trilinear
from gmcr.validation import BoolArray, FloatArray, evenly
from gmcr.window.dense_fit import filled, starting_pools
from gmcr.window.regime import ENOUGH_SAMPLES, MOST_DENSE

ENOUGH = 1.005  # times the least squares left: what the middle may leave


@dataclass(frozen=True)
class Table:
    """What is fitted: samples (samples, channels), NaN where missing; their weights (samples,); how they lie."""

    D: FloatArray
    weight: FloatArray
    layout: Layout


def finish(
    table: Table,
    constraints: Constraints,
    S: FloatArray,
    supports: BoolArray | None = None,
    others: bool = True,
) -> Fit:
    """Concentrations and profiles that obey, at the count of the pool S (components, channels).

    supports : (samples, components) what samples hold at most; None where they may hold all
    others : whether to start from other pools beside S
    """
    of_C, of_S = factors(table, constraints, len(S), supports)
    alone = supports is not None or not others
    starts = [S] if alone else [S, *_other_starts(table, constraints, len(S))]
    fits = [_from(table, pool, of_C, of_S) for pool in starts]
    best = min(fits, key=lambda fit: fit.left)
    if supports is not None or constraints.signed_amounts or not _rotates(table, constraints, len(S)):
        return best
    X = filled(table.D, len(S))
    S = middle_of(X, table.weight, [fit.profiles for fit in fits], of_C, of_S)
    fit = _from(table, S, of_C, of_S, ENOUGH * best.left)
    return fit if fit.left <= ENOUGH * best.left else best


def factors(
    table: Table, constraints: Constraints, count: int, supports: BoolArray | None = None
) -> tuple[Factor, Factor]:
    """What concentrations and profiles must obey."""
    n_samples, n_channels = table.D.shape
    of_C = factor_of("C", constraints, table.layout, (n_samples, count), constraints.signed_amounts)
    of_S = factor_of("S", constraints, table.layout, (n_channels, count), constraints.signed)
    if supports is not None:
        supports = supports.copy()
        for held in of_C.held:
            supports[held.places, held.component] = True
        lower, upper = (np.where(supports, one, 0.0) for one in (of_C.lower, of_C.upper))
        of_C = replace(of_C, lower=lower, upper=upper)
    closure = constraints.find(Closure)
    if closure is not None and closure.when == "fit":
        of_C = closed(of_C, closure, table.D)
        if any(one is not None for one in of_C.shaped_by):
            of_C = jointly(of_C)
    return of_C, of_S


def _from(table: Table, S: FloatArray, of_C: Factor, of_S: Factor, enough: float = 0.0) -> Fit:
    """The fit from a pool, whose components take the places that suit them best."""
    X = filled(table.D, len(S))
    C: FloatArray = scipy.linalg.lstsq(S.T, X.T)[0].T
    if not (of_C.is_uniform and of_S.is_uniform):
        apart = of_C.distances(C) ** 2 + of_S.distances(S.T) ** 2
        places = linear_sum_assignment(apart)[1]
        C, S = C[:, places], S[places]
    # Where bounds settle a column's unit, the start takes it on.
    units = of_C.units(C) / of_S.units(S.T)
    return alternate(table.D, table.weight, (C * units, S / units[:, None]), of_C, of_S, enough)


def _other_starts(table: Table, constraints: Constraints, count: int) -> list[FloatArray]:
    n_free = count - constraints.n_fixed
    if n_free <= 0 or constraints.signed_amounts or not count < min(*table.D.shape, MOST_DENSE + 1):
        return []
    X = constraints.positive(filled(table.D[evenly(len(table.D), ENOUGH_SAMPLES)], count))
    pools = starting_pools(X, n_free, constraints.signed)
    return pools if constraints.fixed is None else [np.vstack([constraints.fixed, S]) for S in pools]


def _rotates(table: Table, constraints: Constraints, count: int) -> bool:
    """Whether constraints leave a range of pools: a trilinear fit is unique (Kruskal 1977)."""
    settled = any(isinstance(one, Trilinear) and one.components is None for one in constraints.given)
    settled = settled or constraints.n_named > constraints.n_fixed  # what they are near chooses
    return not settled and constraints.n_fixed < count < min(*table.D.shape, MOST_DENSE + 1)
