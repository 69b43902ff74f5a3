"""A handful of components, most of them in every sample: each count fitted in turn, from several starts."""

from __future__ import annotations

import numpy as np

from gmcr.validation import FloatArray, evenly
from gmcr.window.dense_fit import leading_vectors, reproducibility
from gmcr.window.descent import ROUNDS
from gmcr.window.evidence import RESEMBLES, comes_back
from gmcr.window.regime import SAME, finished, fitting, left_over, levelled, polish, some_rows, starts
from gmcr.window.search import Search

SMALL_COUNT = 12  # up to here every count is fitted in turn and tested for reproducibility
COOLING = (16, 8, 4, 2)  # times the noise at which a pool of given count is refitted first
ENOUGH_HALVED = 500  # samples, to tell whether profiles come back from halves of them
BEYOND = 2  # counts fitted beyond the last one whose profiles come back at all


def _most_to_fit(search: Search) -> int:
    """The largest count worth fitting by itself: a few beyond the rank where noise is white."""
    promising = search.guess.count + 3 if search.guess.white else SMALL_COUNT
    return int(min(promising, SMALL_COUNT, search.most, *np.subtract(search.problem.D.shape, 1)))


def fit_counts(search: Search) -> None:
    """The best state found at every count worth fitting by itself."""
    most = _most_to_fit(search)
    if comes_back(search.back):
        # Far beyond the last count whose profiles resemble each other there is nothing to find.
        alike = max((count for count, value in search.back.items() if value >= RESEMBLES), default=1)
        most = min(most, BEYOND + alike)
    for count in range(1, most + 1):
        fit_count(search, count)


def fit_count(search: Search, count: int) -> None:
    """The best state found with `count` slots, from least squares that let every sample hold everything."""
    problem = search.problem
    n_free = count - problem.n_fixed
    if n_free < 0:
        return
    given = search.options.pool
    pools = _dense_pools(search, n_free) if n_free else [search.pool(problem.X[:0])]
    if given is not None and len(given) == n_free:
        pools.append(search.pool(given))
    if search.descended:
        # Few components in each sample were looked for, and these may be they: usage decides their profiles too.
        pools = _distinct(fitting(problem, pools)[0])
        begun = [polish(search, start, 1) for S in pools for start in (S, cooled(search, S))]
        best = min(begun, key=lambda state: (state.count != count, search.cost(state)))
        states = [*begun, polish(search, best.S)]
    else:
        best_fit = min(pools, key=lambda S: left_over(problem, S))
        states = [levelled(search, finished(problem, best_fit))]
    for state in states:
        search.keep(state)
    if count in search.states:
        search.path.add("count", problem, search.states[count])


def _distinct(pools: list[FloatArray]) -> list[FloatArray]:
    """The pools without those that have the same profiles, in whatever order, as one before."""
    kept = list[FloatArray]()
    for S in pools:
        if not any((S @ other.T).max(axis=1).min() >= SAME for other in kept):
            kept.append(S)
    return kept


def cooled(search: Search, S: FloatArray) -> FloatArray:
    """The pool after a descent from a coarser noise: what small amounts blur, sparse supports sharpen."""
    problem = search.problem
    sigma, _ = search.noise.sigma(problem, problem.decode(S, search.path.reference))
    for coarser in COOLING:
        S = problem.rounds(S, sigma * coarser, 2 * ROUNDS).S
    return S


def _dense_pools(search: Search, n: int) -> list[FloatArray]:
    if search.problem.constraints.signed_amounts:
        return [search.pool(leading_vectors(search.problem.X[some_rows(search)], n))]
    return list(starts(search, n + search.problem.n_fixed))


def profiles_back(search: Search) -> dict[int, float]:
    """How well profiles come back from halves of the samples, for every small count."""
    constraints = search.problem.constraints
    rows = some_rows(search)
    X = constraints.positive(search.problem.X[rows[evenly(len(rows), ENOUGH_HALVED)]])
    most = min(_most_to_fit(search), len(X) // 2 - 1)
    return reproducibility(X, most, 0, constraints.signed) if most > 0 else {}
