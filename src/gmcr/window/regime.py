"""Whether samples hold few of many components or most of a few, and the state that goes with it.

Few of many: supports tell the components apart, and the cheapest state is right. Most of a few: supports tell
nothing, whole ranges of pools fit equally well, and the middle of them is taken (rotations.py), fitted by plain
least squares, since what grows with the signal in measured residuals is misfit more than noise; the law of the
noise only judges what is held. Which of the two it is follows from the share that samples hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from gmcr.noise import Sigma, rounding_floor
from gmcr.validation import FloatArray
from gmcr.window.dense_fit import STRONG, filled, near_pools, sample_sizes, starting_pools
from gmcr.window.descent import FREE, ROUNDS, NoiseModel
from gmcr.window.evidence import SPARSE
from gmcr.window.first_guess import unit_rows
from gmcr.window.problem import Problem, State
from gmcr.window.remembering import remembered
from gmcr.window.rotations import middle_pool
from gmcr.window.search import Search, leaves_white_noise

MOST = 0.7  # share from which supports tell nothing
TRACE = 0.01  # of a sample's signal
SAME = 0.999  # cosine of profiles that are the same
MOST_POLISHING = 20
FINISHING = 10  # rounds of plain least squares from the mean of the pools, which alone need not be a fit
MOST_FINISHING = 20  # times, where they leave much more than the starting pools do
MISFIT_WEIGHT = 10.0  # of its logarithm beside that of the volume, per slot
MISSES = 2.0  # times the squares left over the best pool: then a pool is no fit
MOST_DENSE = 64  # components that samples may all hold; of more, the time goes with their square
ENOUGH_SAMPLES = 1000  # to tell a handful of components apart


def hold_most(search: Search, count: int) -> bool:
    """Whether samples hold most of the components where least squares lets them hold all."""
    return _rotates(search, count) and share_held(search, levelled(search, starts(search, count)[1])) > SPARSE


def share_held(search: Search, state: State) -> float:
    """Share of the components that samples hold more than traces of, which may be errors of the profiles.

    Weak samples, in which noise hides some, are left out.
    """
    size = sample_sizes(search.problem.X, search.problem.constraints.signed)
    parts = state.C[size >= STRONG * size.max()] * np.abs(state.S).sum(axis=1)
    return float((parts > TRACE * parts.sum(axis=1, keepdims=True)).mean())


def in_the_middle(search: Search, count: int) -> State | None:
    """The state over the mean of all pools that fit equally well; None where there are none to choose among.

    Where noise is white, the cheapest state beside it is taken if it leaves white noise and has the same
    profiles: then supports tell, and make profiles sharper.
    """
    if not _rotates(search, count):
        return None
    if count not in search.middles:
        problem, rows = search.problem, some_rows(search)
        levels = problem.levels[rows]
        X = levels.evened(filled(problem.D[rows], count))
        signed = problem.constraints.signed
        pools, least = fitting(problem, starts(search, count))
        evened = [levels.evened_pool(S) for S in pools]
        middle = levels.pool(middle_pool(X, problem.repeats[rows], evened, problem.n_fixed, signed))
        S = finished(problem, _hedged(middle, _smallest_pool(search, count), problem.n_fixed))
        S = _unless_it_misses(problem, S, pools, least)
        state = levelled(search, weighted(problem, S, search.noise) if search.noise.known else S)
        search.held[count] = share_held(search, state)
        cheaper = polish(search, state.S, near=True) if search.guess.white else state
        same = _same_slots(cheaper.S, state.S)
        search.middles[count] = cheaper if same and leaves_white_noise(search, cheaper) else state
    return search.middles[count]


def chosen_state(search: Search, count: int, white: bool) -> State:
    """The state to return at a count: with few components in each sample, or the middle of what fits equally."""
    found = search.states.get(count) if search.descended else None
    if found is not None and share_held(search, found) <= SPARSE and (white or not hold_most(search, count)):
        return found
    if found is not None and white and search.problem.constraints.signed:
        return found  # which no sign of the profiles bounds, but supports do
    return in_the_middle(search, count) or search.states[count]


def polish(search: Search, S: FloatArray, most: int = MOST_POLISHING, near: bool = False) -> State:
    """Decode, refit and re-estimate the noise until the cost stands still, or `most` times.

    near : no longer than the profiles stay the same
    """
    problem = search.problem
    state = problem.decode(S, search.path.reference)
    cost = np.inf
    for _ in range(most):
        sigma, _ = search.noise.sigma(problem, state)
        state = problem.rounds(state.S, sigma, 2 * ROUNDS)
        before, cost = cost, search.cost(state)
        if before - cost < 1.0 or (near and not _same_slots(state.S, S)):
            break
    return state


def _same_slots(S: FloatArray, other: FloatArray) -> bool:
    return len(S) == len(other) and bool((S * other).sum(axis=1).min() >= SAME)


def _rotates(search: Search, count: int) -> bool:
    """Whether there are pools of so many slots with non-negative amounts to choose among."""
    problem = search.problem
    enough = problem.n_fixed < count < min(*problem.D.shape, MOST_DENSE + 1)
    return enough and not problem.constraints.signed_amounts and search.options.pool is None


def starts(search: Search, count: int) -> list[FloatArray]:
    """Starting pools of `count` slots, from some of the samples; computed once."""
    if count not in search.starts:
        search.starts[count] = _pools(starting_pools, search, count)
    return search.starts[count]


def _smallest_pool(search: Search, count: int) -> FloatArray:
    """Of the pools that stay near samples and pure channels, the smallest at no misfit it would not repay."""
    return fitting(search.problem, _pools(near_pools, search, count))[0][0]


def _pools(make: Callable[..., list[FloatArray]], search: Search, count: int) -> list[FloatArray]:
    problem, rows = search.problem, some_rows(search)
    levels = problem.levels[rows]
    X = levels.evened(problem.constraints.positive(filled(problem.D[rows], count)))
    pools = make(X, count - problem.n_fixed, problem.constraints.signed)
    return [search.pool(levels.pool(S)) for S in pools]


def _hedged(S: FloatArray, other: FloatArray, n_fixed: int = 0) -> FloatArray:
    """The pool S, moved towards another one where they differ so much that one of them must be wrong.

    The other profile weighs the squared sine of the angle between the two beside one: nothing within the range
    that fits equally well, whose middle is S, but half of the answer where they have nothing in common. A mean of
    two guesses is never as wrong as the wrong one. The first `n_fixed` are known, and no guess.
    """
    free, other = S[n_fixed:], other[n_fixed:]
    other = other[linear_sum_assignment(-(free @ other.T))[1]]
    weight = 1.0 - np.minimum((free * other).sum(axis=1, keepdims=True), 1.0) ** 2
    return np.vstack([S[:n_fixed], unit_rows(free + weight * other)])


def fitting(problem: Problem, pools: list[FloatArray]) -> tuple[list[FloatArray], float]:
    """The pools that fit about as well as the best, by volume and misfit, and the least that one leaves."""
    left = [left_over(problem, S) for S in pools]
    fit = [n for n, own in enumerate(left) if own <= MISSES * min(left)]
    fit.sort(key=lambda n: _volume_and_misfit(pools[n], left[n]))
    return [pools[n] for n in fit], min(left)


@remembered
def finished(problem: Problem, S: FloatArray) -> FloatArray:
    """The pool after a few rounds of plain least squares, which also make it obey what profiles must."""
    for _ in range(FINISHING):
        refitted, sizes = problem.refit(problem.decode(S, _no_noise(problem)))
        S = np.where(sizes[:, None] > 0, refitted, S)
    return S


@remembered
def weighted(problem: Problem, S: FloatArray, noise: NoiseModel) -> FloatArray:
    """The pool after as many rounds of least squares in which each entry weighs as its noise is known to be."""
    free = replace(problem, usage_price=FREE)
    state = free.decode(S, _no_noise(problem))
    for _ in range(FINISHING):
        sigma = noise.given or noise.sigma(problem, state)[1].sigma(problem.D, state.C @ state.S).bounded()
        refitted, sizes = free.refit(free.decode(state.S, sigma))
        state = free.decode(np.where(sizes[:, None] > 0, refitted, state.S), sigma)
    return state.S


def left_over(problem: Problem, S: FloatArray) -> float:
    """What plain least squares over a pool leaves of the samples."""
    return float(problem.repeats @ problem.decode(S, _no_noise(problem)).misfit)


def _volume_and_misfit(S: FloatArray, left: float) -> float:
    """What chooses among pools where nothing else does: a small volume, at no misfit that it would not repay."""
    return float(np.linalg.slogdet(S @ S.T)[1]) / len(S) + MISFIT_WEIGHT * float(np.log(max(left, 1e-300)))


def _unless_it_misses(problem: Problem, S: FloatArray, others: list[FloatArray], least: float) -> FloatArray:
    """The pool S, or one of the others where it leaves much more than they do, all obeying what they must.

    Before it is given up it is finished further: a mean of pools may be a good start that only fits slowly.
    """
    own = left_over(problem, S)
    for _ in range(MOST_FINISHING):
        if own <= MISSES * least:
            return S
        S = finished(problem, S)
        own = left_over(problem, S)
    others = [finished(problem, other) for other in others]
    left = [left_over(problem, other) for other in others]
    least = min(left)
    return S if own <= MISSES * least else next(S for S, one in zip(others, left) if one <= MISSES * least)


def levelled(search: Search, S: FloatArray) -> State:
    """The pool as it is, decoded at the noise that is left where samples hold all that they can."""
    problem = search.problem
    full = problem.decode(S, _no_noise(problem))
    return problem.decode(S, search.noise.sigma(problem, full)[0])


def _no_noise(problem: Problem) -> Sigma:
    """Noise so small that samples hold all that they can, the same for all but for what is known of it."""
    return problem.levels.sigma(float(rounding_floor(problem.D).max()), problem.D.shape)


def some_rows(search: Search) -> np.ndarray:
    """All samples, or a thousand drawn at random: plenty to tell a handful of components."""
    n_samples = search.problem.n_samples
    if n_samples <= ENOUGH_SAMPLES:
        return np.arange(n_samples)
    drawn = np.random.default_rng(search.options.seed).choice(n_samples, ENOUGH_SAMPLES, replace=False)
    return np.sort(drawn)
