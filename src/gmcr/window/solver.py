"""The window solver: from samples alone to pool, supports, count and noise.

It minimises, with the noise σ_m estimated on the way,

    Σ_m ‖x_m − S c_m‖² / σ_m²  +  what supports and amounts cost  +  μ · (number of slots)

by a descent through noise levels (descent.py), moves that change the number of slots (moves.py) or mend rare ones
(rare_slots.py) and, where the count is small, fits at every count from one up (small_counts.py). The price λ of
a selection inside the decoder is the window's L_α² (Theorem 1); the price μ of a slot is what noise alone could
pay for it (problem.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gmcr.noise import Correlation, ErrorCovariance, NoiseLaw, root_mean_square
from gmcr.validation import FloatArray, evenly
from gmcr.window.dense_fit import telling_samples
from gmcr.window.descent import ROUNDS, Listener, Row, descend, settle
from gmcr.window.evidence import SPARSE, Evidence, comes_back, decide
from gmcr.window.first_guess import coarsest_noise, extreme_samples, guesses
from gmcr.window.judging import judged_law
from gmcr.window.moves import merges, unblended
from gmcr.window.problem import State
from gmcr.window.rare_slots import isolations, leftovers, shared_births
from gmcr.window.regime import (
    ENOUGH_SAMPLES,
    MOST,
    MOST_DENSE,
    chosen_state,
    hold_most,
    in_the_middle,
    levelled,
    polish,
    share_held,
)
from gmcr.window.search import Options, Search, leaves_white_noise, prepare
from gmcr.window.small_counts import SMALL_COUNT, cooled, fit_count, fit_counts, profiles_back
from gmcr.window.strength import strength

REFINEMENTS = 3  # rounds of the moves for an all but finished state, as long as supports change
REHEATS = 5  # descents after the first, at most
MOST_TRIED = 5e5  # samples times components squared, up to which all in each is tried where few in each fail
SAMPLES_PER_SLOT = 4  # fewer, and the singular values alone do not speak for many components
ENOUGH_PER_SLOT = 32  # samples, to tell many components apart


@dataclass(frozen=True)
class Solution:
    """What the solver found; `chosen` is the row of the path that `state` stands for."""

    state: State
    law: NoiseLaw
    correlation: Correlation | ErrorCovariance
    path: list[Row]
    chosen: int
    evidence: Evidence
    usage_price: float
    interrupted: bool


def solve(
    D: FloatArray, options: Options, repeats: FloatArray | None = None, listener: Listener | None = None
) -> Solution:
    """Unmix the samples D (checked; NaN where missing), telling `listener` each row of the path as it comes."""
    return _choose(_searched(D, options, repeats, listener))


def _searched(
    D: FloatArray, options: Options, repeats: FloatArray | None, listener: Listener | None
) -> Search:
    search = prepare(D, options, repeats, listener)
    try:
        _run(search)
    except KeyboardInterrupt:
        search.interrupted = True
        if search.path.last is None:
            raise
        search.path.listener = None  # whoever stops the run has seen enough
        if not search.states:
            search.keep(search.path.last)
    return search


def _run(search: Search) -> None:
    """Try what the data may be: many components with few in each sample, or a handful, in every sample."""
    rows = _enough_samples(search)
    if rows is not None and _from_some(search, rows):
        return
    asked, few = search.options.n_components, search.guess.count <= SMALL_COUNT
    if asked is not None:
        if asked <= SMALL_COUNT and _is_dense(search, asked):
            return
        _coarse_to_fine(search)
        if asked <= SMALL_COUNT:
            fit_count(search, asked)
        return
    if few and _is_dense(search, min(search.guess.count, search.most)):
        search.back = profiles_back(search)
        fit_counts(search)
        return
    if search.guess.white or search.of_counts:
        _coarse_to_fine(search)
        count = search.guess.count
        cheap = count**2 * search.problem.n_samples <= MOST_TRIED
        if cheap and count < search.best.count and not leaves_white_noise(search, search.best):
            # Few in each sample leave signal that so many directions do not: perhaps samples hold all of those.
            state = in_the_middle(search, count)
            if state is not None:
                search.keep(state)
        thin = search.of_counts or search.problem.n_samples < SAMPLES_PER_SLOT * count
        if few or (thin and not leaves_white_noise(search, search.best)):
            search.back = profiles_back(search)
            fit_counts(search)
        return
    search.back = profiles_back(search)
    fit_counts(search)
    if comes_back(search.back):
        return
    # Nothing speaks for a handful: perhaps there are more components than the channels can tell.
    _coarse_to_fine(search)
    if search.descended and not leaves_white_noise(search, search.best):
        fit_counts(search)


def _is_dense(search: Search, count: int) -> bool:
    """Whether samples hold so many of so many components that supports cannot tell them; that state is kept.

    Where so many do not leave white noise, supports tell nothing either. Where they could and the middle of what
    fits does not, cooling it tells whether few in each would do. Profiles that may be negative let samples hold
    everything; where noise is white, few in each is tried first.
    """
    if search.problem.constraints.signed and search.guess.white:
        return False
    state = in_the_middle(search, count) if hold_most(search, count) else None
    white = search.guess.white and search.guess.count <= count
    if state is None or (white and (search.held[count] <= MOST or _few_do(search, state))):
        return False
    search.keep(state)
    return True


def _few_do(search: Search, state: State) -> bool:
    """Whether few components in each sample are cheaper where a state with most of them leaves no white noise."""
    if leaves_white_noise(search, state):
        return False
    most, few = polish(search, state.S, 1), polish(search, cooled(search, state.S), 1)
    cheaper = few.count == state.count and search.cost(few) < search.cost(most)
    return cheaper and share_held(search, few) < SPARSE


# Many more samples than the search needs


def _enough_samples(search: Search) -> np.ndarray | None:
    """Samples that tell the components as well as all of them do; None where they would not be much fewer.

    They are spread over all samples, which come in the order of their size. Where noise is white, those that
    they explain least come to them, and there are so many that their singular values show as many components
    as those of all samples.
    """
    X, guess = search.problem.X, search.guess
    n = max(ENOUGH_SAMPLES, ENOUGH_PER_SLOT * guess.count) if guess.white else ENOUGH_SAMPLES
    while search.options.thinned and 2 * n <= len(X):
        if not guess.white:
            return evenly(len(X), n)
        rows = telling_samples(X, n, guess.count)
        if guesses(search.problem.D[rows])[0].count >= guess.count:
            return rows
        n *= 2
    return None


def _from_some(search: Search, rows: np.ndarray) -> bool:
    """Search among some of the samples, and finish on all of them what was found there; whether they were enough.

    What is found at the counts beside the chosen one is finished too: all samples may tell them apart better.
    Only then are components looked for that the others hold.
    """
    problem, options = search.problem, search.options
    sigma = None if options.sigma is None else options.sigma[rows]
    asked = replace(options, sigma=sigma, layout=options.layout[rows], thinned=False)
    if not search.guess.white:
        # A handful, or more than singular values show, which takes all samples to tell.
        asked = replace(asked, max_components=min(options.max_components or MOST_DENSE, MOST_DENSE))
    part = _searched(problem.D[rows], asked, problem.repeats[rows], search.path.listener)
    found = _choose(part)
    if options.n_components is None and not search.guess.white and found.state.count > SMALL_COUNT:
        return False
    search.back, search.interrupted = part.back, part.interrupted
    search.descended = part.descended
    search.middles = {n: levelled(search, state.S) for n, state in part.middles.items()}
    count = found.state.count
    states = part.states | {count: found.state}
    search.keep(problem.decode(found.state.S, search.path.reference))
    search.path.add("all samples", problem, search.best)
    if search.interrupted:
        return True
    for other in sorted({count - 1, count, count + 1, found.evidence.by_cost} & states.keys()):
        state = (polish if search.descended else levelled)(search, states[other].S)
        search.keep(state)
        search.path.add("all samples", problem, state)
    if options.n_components is None and found.evidence.white:
        search.keep(settle(problem, search.best, search.noise, search.path, search.most))
        _refine(search)
    return True


# Many components, few in each sample


def _coarse_to_fine(search: Search) -> None:
    """Descend from spread samples, settle, and descend again from what was found while that lowers the cost."""
    problem, options = search.problem, search.options
    n_free = max(1, min(options.n_components or search.guess.count, search.most) - problem.n_fixed)
    n_free = min(n_free, *problem.D.shape)
    rng = np.random.default_rng(options.seed)
    # The noise to start from: shaped by the guessed law, as large as makes one profile explain the samples.
    fine = search.path.reference
    coarse = coarsest_noise(problem.X) * float(np.median(root_mean_square(problem.D)))
    sigma = fine * max(1.0, coarse / fine.typical)
    for start in range(max(options.n_starts, 1)):
        if start == 0 and options.pool is not None:
            S = options.pool
            # Of more slots than the singular values show components, those that span most. As many slots as
            # samples, say, would be a slot made for each: a trap that no single move leads out of.
            if search.guess.white and len(S) > n_free:
                S = S[np.sort(extreme_samples(S, n_free))]
            S = search.pool(S)
        elif start == 0:
            S = search.pool(problem.X[extreme_samples(problem.X, n_free)])
        else:
            S = search.pool(problem.X[rng.choice(problem.n_samples, n_free, replace=False)])
        for _ in range(REHEATS + 1):
            state = descend(problem, S, sigma, search.coarse_noise, search.path, search.most)
            if search.states and not search.descended and search.cost(state) > search.cost(search.best):
                return  # a handful in every sample does better than this
            search.descended = True
            if options.n_components is None:
                state = settle(problem, state, search.noise, search.path, search.most)
            if search.of_counts:
                # Their noise is that of the mean, of which the counts themselves say little where they are few.
                search.path.reference = state.sigma
            if not search.keep(state) and not _refine(search):
                break
            S = search.best.S
        else:
            _refine(search)


def _refine(search: Search) -> bool:
    """Try on the cheapest state what only makes sense once the rest is right; whether that lowered the cost."""
    if search.options.n_components is not None:
        return False
    problem, cheaper = search.problem, False
    for time in range(REFINEMENTS + 1):
        best = search.best
        state = best if time else unblended(problem, merges(problem, best))
        state = leftovers(problem, isolations(problem, state, search.refined))
        search.refined = best
        if state is best and best.count < search.most:
            state = shared_births(problem, best)
        if state is best:
            break
        cheaper |= search.keep(settle(problem, state, search.noise, search.path, search.most))
        if np.array_equal(search.best.C != 0, best.C != 0):
            break
    return cheaper


# The choice


def _choose(search: Search) -> Solution:
    states, problem = search.states, search.problem
    known = search.options.covariance
    length = (known or Correlation.of(problem.scaled_residual(search.best))).length
    costs = {k: problem.cost(state, search.path.reference, length) for k, state in states.items()}
    by_cost = min(costs, key=lambda k: costs[k])
    agreed = search.guess.white and search.guess.count == by_cost
    white = agreed or leaves_white_noise(search, states[by_cost])
    held = states[by_cost].usage / (by_cost * problem.n_samples) if by_cost else 1.0
    asked = search.options.n_components
    given = problem.n_fixed > 0
    evidence = decide(costs, search.guess, white, search.back, asked, held, given, search.of_counts)
    evidence = replace(evidence, **strength(search, states[by_cost]))
    state = chosen_state(search, evidence.count, white)
    few = held <= SPARSE and state is search.states.get(evidence.count)
    if few and asked is None and not search.interrupted:
        state = _by_usage(search, state)
    if search.of_counts:
        state = replace(problem, usage_price=search.usage_price).decode(state.S, state.sigma)
    law = judged_law(search.problem, state, search.noise)
    search.path.add("chosen", search.problem, state)
    rows = search.path.rows
    sigma = law.sigma(problem.D, state.C @ state.S) if search.noise.given is None else search.noise.given
    held = problem.holders(state) / problem.repeats.sum()
    correlation = known or Correlation.of(problem.scaled_residual(state, sigma), state.S, held)
    price, last = search.usage_price, len(rows) - 1
    return Solution(state, law, correlation, rows, last, evidence, price, search.interrupted)


def _by_usage(search: Search, state: State) -> State:
    """The state with rare slots reconsidered at Eq. 3's own price.

    What it takes to write a state down says how many slots there are; a slot held by few samples then pays more
    than λ for another one, and may keep what belongs to others. Their number given, Theorem 1 speaks of λ.
    """
    problem, tried = replace(search.problem, by_usage=True), None
    for _ in range(REFINEMENTS):
        new = isolations(problem, state, tried)
        if new is state:
            break
        new = problem.rounds(new.S, state.sigma, 2 * ROUNDS)
        if new.count != state.count or problem.cost(new) >= problem.cost(state):
            break
        tried, state = state, new
    return state
