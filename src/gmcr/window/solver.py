"""The window solver: from samples alone to pool, supports, count and noise.

It minimises, with the noise σ_m estimated on the way,

    Σ_m ‖x_m − S c_m‖² / σ_m²  +  what supports and amounts cost  +  μ · (number of slots)

by a descent through noise levels (path.py), moves that change the number of slots (moves.py) or mend rare ones
(rare.py) and, where the count is small, fits at every count from one up (dense.py). The price λ of a selection
inside the decoder is the window's L_α² (Theorem 1); the price μ of a slot is what noise alone could pay for it
(problem.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from gmcr.decoding import ALPHA, usage_price
from gmcr.noise import NoiseLaw, root_mean_square
from gmcr.validation import FloatArray
from gmcr.window.count import Evidence, comes_back, correlation_length, decide, is_white
from gmcr.window.dense import factorise, leading_vectors, reproducibility, starting_pools
from gmcr.window.moves import births, merges
from gmcr.window.path import ROUNDS, NoiseModel, Path, Row, descend, settle, typical
from gmcr.window.problem import Problem, State
from gmcr.window.rare import isolations, leftovers, reweighed, shared_births
from gmcr.window.start import Guess, coarsest_noise, guesses, spread_samples, unit_rows

SMALL_COUNT = 12  # up to here every count is fitted in turn and tested for reproducibility
REFINEMENTS = 3  # rounds of the moves for an all but finished state, as long as supports change
REHEATS = 5  # descents after the first, at most
MOST_POLISHING = 20
SPARSE = 0.5  # share of the components that samples hold, up to which they are few
COOLING = (16, 8, 4, 2)  # times the noise at which a pool of given count is refitted first
SAMPLES_PER_SLOT = 4  # fewer, and the singular values alone do not speak for many components
ENOUGH_SAMPLES = 1000  # to tell a handful of components apart


@dataclass(frozen=True)
class Options:
    """What the caller knows or wants beforehand."""

    n_components: int | None = None
    max_components: int | None = None
    fixed: FloatArray | None = None
    pool: FloatArray | None = None
    signed: bool = False
    noise: str = "auto"
    sigma: FloatArray | None = None
    k_max: int | None = None
    alpha: float = ALPHA
    n_starts: int = 1
    seed: int = 0


@dataclass(frozen=True)
class Solution:
    """What the solver found; `chosen` is the row of the path that `state` stands for."""

    state: State
    law: NoiseLaw
    path: list[Row]
    chosen: int
    evidence: Evidence
    usage_price: float
    interrupted: bool


@dataclass
class Search:
    """One run: the problem, what is known of its noise, the path so far and the cheapest state at each count."""

    problem: Problem
    options: Options
    guess: Guess
    noise: NoiseModel
    path: Path
    states: dict[int, State] = field(default_factory=dict)
    back: dict[int, float] = field(default_factory=dict)
    refined: State | None = None  # the last state that was tried to be refined

    def cost(self, state: State) -> float:
        return self.problem.cost(state, self.path.reference)

    def keep(self, state: State) -> bool:
        """Remember the state if it is the cheapest at its count; whether it is clearly the cheapest of all."""
        cost = self.cost(state)
        lowest = min((self.cost(other) for other in self.states.values()), default=np.inf)
        rival = self.states.get(state.count)
        if rival is None or cost < self.cost(rival):
            self.states[state.count] = state
        return cost < lowest - self.problem.usage_price

    @property
    def best(self) -> State:
        return min(self.states.values(), key=self.cost)

    def pool(self, profiles: FloatArray) -> FloatArray:
        """A starting pool: the fixed profiles, then these."""
        fixed = self.options.fixed
        return unit_rows(profiles if fixed is None else np.vstack([fixed, profiles]))

    @property
    def most(self) -> int:
        """The largest count allowed: what was asked for, or as many as samples can tell apart."""
        options = self.options
        return options.n_components or options.max_components or max(self.problem.n_samples // 2, 1)


def solve(
    D: FloatArray,
    options: Options,
    repeats: FloatArray | None = None,
    listener: Callable[[Row, State], None] | None = None,
) -> Solution:
    """Unmix the samples D (checked; NaN where missing), telling `listener` each row of the path as it comes."""
    search = _prepare(D, options, repeats, listener)
    interrupted = False
    try:
        _run(search)
    except KeyboardInterrupt:
        interrupted = True
        if search.path.last is None:
            raise
        search.path.listener = None  # whoever stops the run has seen enough
        if not search.states:
            search.keep(search.path.last)
    return _choose(search, interrupted)


def _run(search: Search) -> None:
    """Try what the data may be: many components with few in each sample, or a handful, in every sample."""
    asked, few = search.options.n_components, search.guess.count <= SMALL_COUNT
    if asked is not None:
        _coarse_to_fine(search)
        if asked <= SMALL_COUNT:
            _fit_count(search, asked)
        return
    if search.guess.white:
        _coarse_to_fine(search)
        thin = search.problem.n_samples < SAMPLES_PER_SLOT * search.guess.count
        if few or (thin and not _leaves_white_noise(search, search.best)):
            search.back = _reproducibility(search)
            _fit_counts(search)
        return
    search.back = _reproducibility(search)
    if comes_back(search.back):
        _fit_counts(search)
        return
    # Nothing speaks for a handful: perhaps there are more components than the channels can tell.
    _coarse_to_fine(search)
    if not _leaves_white_noise(search, search.best):
        _fit_counts(search)


def _fit_counts(search: Search) -> None:
    for count in range(1, _most_to_fit(search) + 1):
        _fit_count(search, count)


def _prepare(
    D: FloatArray,
    options: Options,
    repeats: FloatArray | None,
    listener: Callable[[Row, State], None] | None,
) -> Search:
    found = guesses(D)
    guess = next((g for g in found if g.law.kind == options.noise), found[0])
    n_slots = options.n_components or guess.count
    problem = Problem(
        D,
        np.nan_to_num(D) if np.isnan(D).any() else D,
        np.ones(len(D)) if repeats is None else repeats,
        usage_price=usage_price(n_slots, len(D), options.alpha),
        signed=options.signed,
        n_fixed=0 if options.fixed is None else len(options.fixed),
        k_max=options.k_max,
    )
    reference = options.sigma
    if reference is None:
        reference = guess.law.sigma(D, np.maximum(problem.X, 0.0))
    path = Path(reference, listener)
    return Search(problem, options, guess, NoiseModel(options.noise, options.sigma), path)


def _most_to_fit(search: Search) -> int:
    """The largest count worth fitting by itself: a few beyond the rank where noise is white."""
    promising = search.guess.count + 3 if search.guess.white else SMALL_COUNT
    return int(min(promising, SMALL_COUNT, search.most, *np.subtract(search.problem.D.shape, 1)))


# Many components, few in each sample


def _coarse_to_fine(search: Search) -> None:
    """Descend from spread samples, settle, and descend again from what was found while that lowers the cost."""
    problem, options = search.problem, search.options
    n_free = max(1, min(options.n_components or search.guess.count, search.most) - problem.n_fixed)
    n_free = min(n_free, *problem.D.shape)
    rng = np.random.default_rng(options.seed)
    for start in range(max(options.n_starts, 1)):
        if start == 0 and options.pool is not None:
            S = search.pool(_thinned(search, options.pool, n_free))
        elif start == 0:
            S = search.pool(problem.X[spread_samples(problem.X, n_free)])
        else:
            S = search.pool(problem.X[rng.choice(problem.n_samples, n_free, replace=False)])
        for _ in range(REHEATS + 1):
            state = descend(problem, S, _coarse_sigma(search), search.noise, search.path, search.most)
            if options.n_components is None:
                state = settle(problem, state, search.noise, search.path, search.most)
            if not search.keep(state) and not _refine(search):
                break
            S = search.best.S
        else:
            _refine(search)


def _thinned(search: Search, pool: FloatArray, n: int) -> FloatArray:
    """Of a starting pool with more slots than the singular values show components, the slots that span most.

    As many slots as samples, say, would be a slot made for each: a trap that no single move leads out of.
    """
    if search.guess.white and len(pool) > n:
        return pool[np.sort(spread_samples(pool, n))]
    return pool


def _refine(search: Search) -> bool:
    """Try on the cheapest state what only makes sense once the rest is right; whether that lowered the cost."""
    if search.options.n_components is not None:
        return False
    problem, cheaper = search.problem, False
    for time in range(REFINEMENTS + 1):
        best = search.best
        state = isolations(problem, best if time else merges(problem, best), search.refined)
        state = leftovers(problem, state)
        search.refined = best
        if state is best and best.count < search.most:
            state = shared_births(problem, best)
        if state is best:
            break
        cheaper |= search.keep(settle(problem, state, search.noise, search.path, search.most))
        if np.array_equal(search.best.C != 0, best.C != 0):
            break
    return cheaper


def _coarse_sigma(search: Search) -> FloatArray:
    """The noise to start from: shaped by the guessed law, as large as makes one profile explain the samples."""
    problem = search.problem
    fine = search.path.reference
    coarse = coarsest_noise(problem.X) * float(np.median(root_mean_square(problem.D)))
    return fine * max(1.0, coarse / typical(fine))


# A handful of components, most of them in every sample


def _fit_count(search: Search, count: int) -> None:
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
        search.keep(_polish(search, S))
        search.keep(_polish(search, _cooled(search, S)))
    if count in search.states:
        search.path.add("count", problem, search.states[count])


def _cooled(search: Search, S: FloatArray) -> FloatArray:
    """The pool after a descent from a coarser noise: what small amounts blur, sparse supports sharpen."""
    problem = search.problem
    sigma, _ = search.noise.sigma(problem, problem.decode(S, search.path.reference))
    for coarser in COOLING:
        S = problem.rounds(S, coarser * sigma, 2 * ROUNDS).S
    return S


def _polish(search: Search, S: FloatArray) -> State:
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
    X = _some(_whitened(search), search.options.seed)
    if search.options.signed:
        return [leading_vectors(X, n)]
    return [factorise(X, S) for S in starting_pools(X, n)]


def _whitened(search: Search) -> FloatArray:
    """The samples, missing entries zero, each divided by its noise up to a common factor."""
    problem = search.problem
    law = search.guess.law
    if law.kind != "proportional":
        return problem.X
    return problem.X / np.maximum(root_mean_square(problem.D), np.finfo(float).tiny)[:, None]


# The choice


def _choose(search: Search, interrupted: bool) -> Solution:
    states, problem = search.states, search.problem
    length = correlation_length(_scaled_residual(problem, search.best))
    by_cost = min(states, key=lambda k: problem.cost(states[k], search.path.reference, length))
    agreed = search.guess.white and search.guess.count == by_cost
    white = agreed or _leaves_white_noise(search, states[by_cost])
    sparse = states[by_cost].usage <= SPARSE * by_cost * problem.n_samples
    asked = search.options.n_components
    evidence = decide(by_cost, search.guess, white, list(states), search.back, asked, sparse)
    state = states[evidence.count]
    if sparse and asked is None and not interrupted:
        state = _by_usage(search, state)
    law = search.noise.sigma(search.problem, state)[1]
    search.path.add("chosen", search.problem, state)
    rows = search.path.rows
    return Solution(state, law, rows, len(rows) - 1, evidence, search.problem.usage_price, interrupted)


def _by_usage(search: Search, state: State) -> State:
    """The state with rare slots reconsidered at Eq. 3's own price.

    What it takes to write a state down says how many slots there are; a slot held by few samples then pays more
    than λ for another one, and may keep what belongs to others. Their number given, Theorem 1 speaks of λ.
    """
    problem, tried = replace(search.problem, by_usage=True), None
    for _ in range(REFINEMENTS):
        new = reweighed(problem, state, tried)
        if new is state:
            break
        new = problem.rounds(new.S, state.sigma, 2 * ROUNDS)
        if new.count != state.count or problem.cost(new) >= problem.cost(state):
            break
        tried, state = state, new
    return state


def _leaves_white_noise(search: Search, state: State) -> bool:
    """Whether a state leaves nothing but white noise, with at least two samples to a slot."""
    if 2 * state.count > search.problem.n_samples:
        return False
    return is_white(_scaled_residual(search.problem, state))


def _scaled_residual(problem: Problem, state: State) -> FloatArray:
    """What a state leaves of the samples, in units of the noise, zero where missing."""
    residual = (problem.X - state.C @ state.S) / (
        state.sigma if state.sigma.ndim == 2 else state.sigma[:, None]
    )
    residual[np.isnan(problem.D)] = 0.0
    return residual


def _reproducibility(search: Search) -> dict[int, float]:
    """How well profiles come back from halves of the samples, for every small count."""
    X, signed = search.problem.X, search.options.signed
    X = X if signed else np.maximum(X, 0.0)
    X = _some(X, search.options.seed)
    most = min(_most_to_fit(search), len(X) // 2 - 1)
    return reproducibility(X, most, 0, signed) if most > 0 else {}


def _some(X: FloatArray, seed: int) -> FloatArray:
    """The samples, or a thousand of them drawn at random: plenty to tell a handful of components."""
    if len(X) <= ENOUGH_SAMPLES:
        return X
    return X[np.sort(np.random.default_rng(seed).choice(len(X), ENOUGH_SAMPLES, replace=False))]
