"""A handful of components, most of them in every sample: each count fitted in turn, from several starts."""

from __future__ import annotations

import numpy as np

from gmcr.noise import root_mean_square
from gmcr.validation import FloatArray
from gmcr.window.dense_fit import factorise, leading_vectors, reproducibility, starting_pools
from gmcr.window.descent import ROUNDS
from gmcr.window.moves import births
from gmcr.window.problem import State
from gmcr.window.search import Search

SMALL_COUNT = 12  # up to here every count is fitted in turn and tested for reproducibility
MOST_POLISHING = 20
COOLING = (16, 8, 4, 2)  # times the noise at which a pool of given count is refitted first
ENOUGH_SAMPLES = 1000  # to tell a handful of components apart


def _most_to_fit(search: Search) -> int:
    """The largest count worth fitting by itself: a few beyond the rank where noise is white."""
    promising = search.guess.count + 3 if search.guess.white else SMALL_COUNT
    return int(min(promising, SMALL_COUNT, search.most, *np.subtract(search.problem.D.shape, 1)))


def fit_counts(search: Search) -> None:
    """The best state found at every count worth fitting by itself."""
    for count in range(1, _most_to_fit(search) + 1):
        fit_count(search, count)


def fit_count(search: Search, count: int) -> None:
    """The best state found with `count` slots, from several starts."""
    problem = search.problem
    n_free = count - problem.n_fixed
    if n_free < 0:
        return
    before, given = search.states.get(count - 1), search.options.pool
    pools = [search.pool(S) for S in _dense_pools(search, n_free)] if n_free else [search.pool(problem.X[:0])]
    if before is not None:
        born = births(problem, before, 1)
        pools += [np.vstack([before.S, born])] if len(born) else []
    if given is not None and len(given) == n_free:
        pools.append(search.pool(given))
    for S in pools:
        search.keep(polish(search, S))
        search.keep(polish(search, _cooled(search, S)))
    if count in search.states:
        search.path.add("count", problem, search.states[count])


def _cooled(search: Search, S: FloatArray) -> FloatArray:
    """The pool after a descent from a coarser noise: what small amounts blur, sparse supports sharpen."""
    problem = search.problem
    sigma, _ = search.noise.sigma(problem, problem.decode(S, search.path.reference))
    for coarser in COOLING:
        S = problem.rounds(S, sigma * coarser, 2 * ROUNDS).S
    return S


def polish(search: Search, S: FloatArray) -> State:
    """Decode, refit and re-estimate the noise until the cost stands still."""
    problem = search.problem
    state = problem.decode(S, search.path.reference)
    cost = np.inf
    for _ in range(MOST_POLISHING):
        sigma, _ = search.noise.sigma(problem, state)
        state = problem.rounds(state.S, sigma, 2 * ROUNDS)
        before, cost = cost, search.cost(state)
        if before - cost < 1.0:
            break
    return state


def _dense_pools(search: Search, n: int) -> list[FloatArray]:
    X = search.problem.X  # missing entries zero
    if search.guess.law.relative:  # then each sample divided by its noise, up to a common factor
        X = X / np.maximum(root_mean_square(search.problem.D), np.finfo(float).tiny)[:, None]
    X = _some(X, search.options.seed)
    if search.problem.constraints.signed:
        return [leading_vectors(X, n)]
    return [factorise(X, S) for S in starting_pools(X, n)]


def profiles_back(search: Search) -> dict[int, float]:
    """How well profiles come back from halves of the samples, for every small count."""
    constraints = search.problem.constraints
    X = _some(constraints.positive(search.problem.X), search.options.seed)
    most = min(_most_to_fit(search), len(X) // 2 - 1)
    return reproducibility(X, most, 0, constraints.signed) if most > 0 else {}


def _some(X: FloatArray, seed: int) -> FloatArray:
    """The samples, or a thousand of them drawn at random: plenty to tell a handful of components."""
    if len(X) <= ENOUGH_SAMPLES:
        return X
    return X[np.sort(np.random.default_rng(seed).choice(len(X), ENOUGH_SAMPLES, replace=False))]
